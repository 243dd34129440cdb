"""Build a program for one machine with mpicc, and run it on one rank and on several.

usage: python run.py [RANKS]
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import side_by_side  # noqa: E402 -- it lies beside the examples

POINTS, STEPS = 800, 540
OVERSUBSCRIBE = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""How Open MPI 4 and 5 are told to start more ranks than there are cores; other libraries do without."""


def main() -> None:
    """Build, run, compare and show."""
    if missing := [tool for tool in ("mpicc", "mpirun") if shutil.which(tool) is None]:
        sys.exit(f"needs {' and '.join(missing)}; on Debian 'apt install openmpi-bin libopenmpi-dev'")
    build = HERE / "build"
    build.mkdir(exist_ok=True)
    ranks = sys.argv[1] if len(sys.argv) > 1 else str(min(4, max(2, os.cpu_count() or 1)))
    plain, shared = build / "plain", build / "shared"
    words = [*side_by_side.FLAGS, "-ffp-contract=off", str(HERE / "waves.c"), "-lm", "-o"]
    side_by_side.run(*side_by_side.COMPILER, "-Wno-unknown-pragmas", *words, plain)
    side_by_side.run(*side_by_side.polybuild("cc", "--distribute", "mpi", "--", "mpicc"), *words, shared)
    seconds, heights, pictures = {}, [], []
    for name, command in {
        "as it is": [plain],
        "1 rank": ["mpirun", "-n", "1", shared],
        f"{ranks} ranks": ["mpirun", "-n", ranks, shared],
    }.items():
        pictures.append(build / f"{name.replace(' ', '-')}.pgm")
        text = side_by_side.run(
            *command,
            str(POINTS),
            str(STEPS),
            pictures[-1],
            OMP_NUM_THREADS="1",
            POLYBUILD_VERBOSE="1",
            **OVERSUBSCRIBE,
        )
        seconds[name] = side_by_side.seconds_in(text)
        told = [each for each in text.splitlines() if each.startswith(("step", "energy"))]
        heights.append((told, pictures[-1].read_bytes()))
    side_by_side.tell(seconds)
    print(*heights[0][0][-2:], sep="\n")
    side_by_side.must_agree(all(each == heights[0] for each in heights), "waves")
    side_by_side.Image.read(pictures[-1]).smaller(2).write_png(build / "waves.png")
    print(f"picture: {build / 'waves.png'}")


if __name__ == "__main__":
    main()
