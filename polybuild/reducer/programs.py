"""Programs of a file as it is and through polybuild: whether their results differ, and whose fault it is.

A program that reads what it never wrote, or beyond its arrays, may print anything: it counts only where
sanitizers find nothing, and where it prints the same whatever memory held before.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from polybuild.reducer.setting import Setting

_ALIKE = ("-ffp-contract=off",)
"""Products and sums stay two operations on both sides."""
_CLEAN = tuple(f"-Werror={each}" for each in ("implicit-function-declaration", "implicit-int", "return-type"))
_CHECKED = (
    ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    ("-O1", "-ftrivial-auto-var-init=pattern"),
    ("-O1", "-ftrivial-auto-var-init=zero"),
)
_SECONDS = 10.0
_RUNS = 3
_PERTURBED = {"MALLOC_PERTURB_": "165"}
"""What has glibc fill memory before it gives it away."""

Result = tuple[int, str]
"""The exit code of a program and what it printed; -999 for one that does not end."""
_ENDLESS = (-999, "")


def differs(source: Path, setting: Setting) -> bool:
    """Whether the program of ``source`` ends well, and gives something else through polybuild."""
    with tempfile.TemporaryDirectory(prefix="polybuild-reduce-") as folder:
        plain = _built(setting.compiler, source, setting, Path(folder) / "plain", _CLEAN)
        if plain is None:
            return False
        expected = _run(plain, setting)
        if expected == _ENDLESS or expected[0] < 0:
            return False
        through = (sys.executable, "-m", "polybuild", "cc", *setting.options, "--", *setting.compiler)
        new = _built(through, source, setting, Path(folder) / "new")
        if new is None or all(_run(new, setting) == expected for _ in range(_RUNS)):
            return False
        return all(each == expected for each in _checked(source, setting, Path(folder)))


def _checked(source: Path, setting: Setting, folder: Path) -> Iterator[Result]:
    """What the program gives, checked and with other values in memory; of what this compiler can do."""
    for number, flags in enumerate(_CHECKED):
        program = _built(setting.compiler, source, setting, folder / f"checked-{number}", flags)
        if program is not None:
            yield _run(program, setting, **(_PERTURBED if "pattern" in flags[-1] else {}))


def _built(
    compiler: Sequence[str], source: Path, setting: Setting, program: Path, more: Sequence[str] = ()
) -> Path | None:
    """The program of ``source``; None if there is none."""
    flags = [*setting.flags, *_ALIKE, setting.include, *more]
    done = setting.ran([*compiler, *flags, str(source), *setting.link, "-o", str(program)])
    return program if done.returncode == 0 and program.is_file() else None


def _run(program: Path, setting: Setting, **variables: str) -> Result:
    try:
        done = setting.ran([str(program), *setting.arguments], _SECONDS, **variables)
    except subprocess.TimeoutExpired:
        return _ENDLESS
    return done.returncode, done.stdout
