"""Lint, format, types, tests: everything that must pass, in an environment made for it.

usage: python3 tests/run.py [--all | --half] [arguments for pytest]

Without --all, of the tests that run whole programs and builds only a sample; with --half also half of the
others, those whose turn it is today.

Needs Python 3.11 or newer, a C compiler, make and the package registry. CMake and
Ninja come from the registry if they are missing. The environment is .venv-test.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv-test"
BIN = ENVIRONMENT / "bin"
AMOUNTS = {"--all": [], "--half": ["--turn", str(int(time.time() // 86_400) % 2)]}
"""How much is run, as arguments for pytest."""


def main() -> int:
    """Run all steps, even after one fails; 0 if none does."""
    if sys.version_info < (3, 11):  # noqa: UP036 -- an older one is what this line is for
        sys.exit(f"polybuild needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    arguments = [each for each in sys.argv[1:] if each not in AMOUNTS]
    chosen = next((AMOUNTS[each] for each in sys.argv[1:] if each in AMOUNTS), ["-m", "not slow"])
    prepare()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # programs under test start thousands of times
    os.environ["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    workers = str(max(2, len(os.sched_getaffinity(0))))
    steps = {
        "lint": ["ruff", "check", "."],
        "format": ["ruff", "format", "--check", "."],
        "types": ["mypy"],
        "tests": ["pytest", "-n", workers, "--durations=10", *chosen, *arguments],
    }
    failed = [name for name, command in steps.items() if not passes(name, command)]
    print(f"\n{'FAILED: ' + ', '.join(failed) if failed else 'all passed'}")
    return 1 if failed else 0


def prepare() -> None:
    """Make the environment, or bring it up to date; ends the program if that fails."""
    wanted = ["-e", f"{ROOT}[dev]"]
    wanted += [name for name in ("cmake", "ninja") if not shutil.which(name)]
    key = hashlib.sha256(
        (ROOT / "pyproject.toml").read_bytes() + repr((wanted, sys.version)).encode()
    ).hexdigest()
    stamp = ENVIRONMENT / "prepared"
    if stamp.is_file() and stamp.read_text() == key:
        return
    print(f"== preparing {ENVIRONMENT}", flush=True)
    if subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=False).returncode:
        sys.exit("A virtual environment cannot be made; on Debian and Ubuntu, install python3-venv.")
    install = [BIN / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *wanted]
    if subprocess.run(install, check=False).returncode:
        sys.exit("The packages for the tests cannot be installed.")
    stamp.write_text(key)


def passes(name: str, command: list[str]) -> bool:
    """Run one step in the tree; whether it succeeds."""
    print(f"\n== {name}: {' '.join(command)}", flush=True)
    return subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
