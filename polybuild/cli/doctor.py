"""``polybuild doctor``: whether this machine has what a build needs."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from polybuild.cli.arguments import Parser, add_knobs, command_parser
from polybuild.diagnostics import Severity
from polybuild.machine.host import host_figures
from polybuild.report.explain.terminal import Style
from polybuild.targets.gpu.nvcc import find_nvcc
from polybuild.values import dataclass

_HELLO = """\
#include <stdio.h>
int main(void) { printf("%d\\n", 6 * 7); return 0; }
"""
_OPENMP = """\
#include <stdio.h>
#include <omp.h>
int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  printf("%d\\n", threads == omp_get_max_threads() ? threads : -1);
  return 0;
}
"""
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked for: found or not, with a remedy, or no more than a fact (``ok`` is None).

    ``needed`` things are those without which the main job, C to OpenMP C to a
    running program, cannot be done.
    """

    name: str
    ok: bool | None
    detail: str
    remedy: str = ""
    needed: bool = True


def parser() -> Parser:
    """The options of ``polybuild doctor``."""
    parser = command_parser("doctor", "Check that this machine has what a build needs.")
    parser.usage = "polybuild doctor [--cc COMMAND] | --bundle FILE FILE.c [options] [-- [compiler] flags]"
    parser.epilog = (
        "The bundle has versions, figures of the machine, the preprocessed regions of FILE.c and what was\n"
        "done with them, and nothing else of yours. Read it before you send it."
    )
    parser.add_argument("--bundle", metavar="FILE", help="write what a report of a mistake needs")
    parser.add_argument("source", metavar="FILE.c", nargs="?", help="the C file that the bundle is about")
    add_knobs(parser)
    return parser


def examine(compiler: Sequence[str]) -> tuple[Check, ...]:
    """Look at this machine, with ``compiler`` as the command of its C compiler."""
    works = _compiler(compiler)
    return (
        _python(),
        _package("islpy", "the library of integer sets"),
        _package("pycparser", "the parser of C"),
        works,
        _openmp(compiler) if works.ok else Check("OpenMP", False, "not tried: it needs the C compiler"),
        _cmake(),
        _cmake_package(),
        Check("nvcc", None, find_nvcc() or "none; kernels for CUDA need it, those for OpenCL do not"),
        Check("processor", None, _processor()),
        Check("caches", None, _caches()),
    )


def can_build(checks: Sequence[Check]) -> bool:
    """Whether everything needed was found."""
    return not any(check.needed and check.ok is False for check in checks)


def describe(checks: Sequence[Check], style: Style) -> str:
    """One line a check, with a line below for the remedy; ends with the verdict."""
    lines = []
    for check in checks:
        if check.ok is None:
            word = "fact   "
        elif check.ok:
            word = style.good("ok     ")
        else:
            word = style.severity(Severity.ERROR if check.needed else Severity.WARNING, "missing")
        lines.append(f"{word}  {check.name}: {check.detail}")
        if check.ok is False and check.remedy:
            lines.append(f"{'':9}{style.bold('remedy:')} {check.remedy}")
    lines.append(
        "polybuild can do its work here." if can_build(checks) else "polybuild cannot work here yet."
    )
    return "\n".join(lines) + "\n"


def _python() -> Check:
    version = platform.python_version()
    return Check(
        "Python", sys.version_info >= (3, 11), f"{version} ({sys.executable})", "use Python 3.11 or newer"
    )


def _package(name: str, what: str) -> Check:
    remedy = f"{sys.executable} -m pip install {name}"
    try:
        importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 -- a broken library may fail in any way
        return Check(name, False, f"{what} cannot be imported: {error}", remedy)
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = "of unknown version"
    return Check(name, True, version)


def _compiler(compiler: Sequence[str]) -> Check:
    name = "C compiler"
    remedy = "install gcc or clang, or name the compiler with --cc or $CC"
    path = shutil.which(compiler[0])
    if path is None:
        return Check(name, False, f"'{compiler[0]}' is not found", remedy)
    printed, problem = _compile_and_run(compiler, _HELLO, ())
    if printed != "42":
        return Check(name, False, f"{path} does not make a program that runs: {problem}", remedy)
    return Check(name, True, f"{path} ({_first_line([*compiler, '--version'])})")


def _openmp(compiler: Sequence[str]) -> Check:
    printed, problem = _compile_and_run(compiler, _OPENMP, ("-fopenmp",))
    if not printed.isdigit():
        return Check(
            "OpenMP",
            False,
            f"no program with -fopenmp runs: {problem or 'it had too few threads'}",
            "install the compiler's OpenMP library (gcc has its own; for clang: libomp-dev)",
        )
    return Check("OpenMP", True, f"{printed} thread{'s' if printed != '1' else ''}")


def _cmake() -> Check:
    path = shutil.which("cmake")
    if path is None:
        return Check(
            "CMake", False, "not found", "install CMake 3.21 or newer, if a build uses it", needed=False
        )
    return Check("CMake", True, f"{path} ({_first_line([path, '--version'])})")


def _cmake_package() -> Check:
    from polybuild.integrations import locations  # noqa: PLC0415 -- importable or not, it is a check

    try:
        return Check("CMake package", True, str(locations.cmake_dir()))
    except FileNotFoundError as error:
        return Check("CMake package", False, str(error), "reinstall polybuild", needed=False)


def _processor() -> str:
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                model = value.strip()
                break
    except OSError:
        pass
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model}, {usable} of {os.cpu_count()} hardware threads usable"


def _caches() -> str:
    sizes = {path.partition(".")[0]: size for path, size in host_figures().items() if path.endswith(".bytes")}
    found = (f"{level.upper()} {size // 1024}K" for level, size in sizes.items())
    return ", ".join(found) or "unknown; set --l1-size and --l2-size if they are unusual"


def _compile_and_run(compiler: Sequence[str], program: str, flags: Sequence[str]) -> tuple[str, str]:
    """What ``program`` prints, and the first line of what went wrong."""
    with tempfile.TemporaryDirectory(prefix="polybuild-") as folder:
        source, binary = Path(folder) / "check.c", Path(folder) / "check"
        source.write_text(program, encoding="ascii")
        for command in ([*compiler, *flags, str(source), "-o", str(binary)], [str(binary)]):
            try:
                done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                return "", str(error)
            if done.returncode:
                said = done.stderr.decode(errors="replace").strip().splitlines()
                return "", said[0] if said else f"exit code {done.returncode}"
        return done.stdout.decode(errors="replace").strip(), ""


def _first_line(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "version unknown"
    lines = done.stdout.decode(errors="replace").splitlines()
    return lines[0].strip() if lines else "version unknown"
