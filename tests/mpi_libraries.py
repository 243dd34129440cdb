"""The implementations of MPI that are here, and programs run on several ranks of one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "ASAN_OPTIONS": "detect_leaks=0",  # of the MPI library
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}

_PROBE = """\
#include <mpi.h>
int main(void) { return MPI_Init(0, 0) || MPI_Barrier(MPI_COMM_WORLD) || MPI_Finalize(); }
"""


@dataclass(frozen=True, slots=True)
class Mpi:
    """An implementation: its compiler, and what starts ranks."""

    name: str
    compiler: str
    launcher: str

    def starts(self, folder: Path) -> bool:
        """Whether two ranks meet here: that needs more than its files."""
        (folder / "probe.c").write_text(_PROBE)
        subprocess.run([self.compiler, folder / "probe.c", "-o", folder / "probe"], check=True)
        return self.run(folder / "probe", 2).returncode == 0

    def run(
        self, program: Path, ranks: int, *arguments: object, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """What ``ranks`` of ``program`` printed, one after the other: launchers mix what they pass on."""
        with tempfile.TemporaryDirectory() as printed:
            to_file = f'exec "$0" "$@" > "{printed}/$$"'
            done = subprocess.run(
                [self.launcher, "-n", str(ranks), "sh", "-c", to_file, str(program), *map(str, arguments)],
                check=False,
                capture_output=True,
                text=True,
                timeout=120,
                env=os.environ | ENVIRONMENT | environment,
            )
            done.stdout += "".join(each.read_text() for each in sorted(Path(printed).iterdir()))
        return done


_NAMED = [Mpi(name, f"mpicc.{name}", f"mpirun.{name}") for name in ("openmpi", "mpich")]
"""What Debian calls them where it has several."""

LIBRARIES = [each for each in _NAMED if shutil.which(each.compiler) and shutil.which(each.launcher)] or [
    Mpi("mpi", "mpicc", "mpirun")
]


def assert_all_print(done: subprocess.CompletedProcess[str], expected: list[str], ranks: int) -> None:
    """Each of ``ranks`` printed ``expected``, in whatever order theirs came."""
    assert done.returncode == 0, done.stderr
    found = Counter(each for each in done.stdout.splitlines() if not each.startswith("seconds"))
    assert found == {line: count * ranks for line, count in Counter(expected).items()}
