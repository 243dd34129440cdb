"""Options, and what happens where a tool or a library is missing that only some tests need.

Such tests are skipped, unless POLYBUILD_TESTS_NEED_ALL is set, as it is where everything
should have been installed.
"""

from __future__ import annotations

import functools
import gc
import os
import re
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from toolchains import TOOLCHAINS, install

from polybuild import effort
from polybuild.diagnostics import SourceError

TESTS = Path(__file__).parent

SHORT = {"unit", "golden"}
"""Folders whose tests are all short; of the others, those marked ``fast`` stand for all in the short run."""

MARKED = {
    "aarch64": TOOLCHAINS["aarch64"].tools,
    "autotools": ("autoreconf", "automake", "libtoolize", "make"),
    "ccache": ("ccache",),
    "clang": ("clang",),
    "cmake": ("cmake",),
    "cvise": ("cvise",),
    "cxx": ("c++",),
    "distcc": ("distcc", "distccd"),
    "gdb": ("gdb",),
    "make": ("make",),
    "mkdocs": ("mkdocs",),
    "oclgrind": ("oclgrind",),
    "musl": TOOLCHAINS["musl"].tools,
    "opencl": ("clinfo",),
    "mpi": ("mpicc", "mpirun", "make"),
}
"""What a test with this marker needs."""

PYTHON_H = Path(sysconfig.get_path("include")) / "Python.h"

COMPILERS = ("gcc", "clang")
"""Values of parameters that are the compiler of a test."""

PARAMETERS = {"clang": "clang", "Unix Makefiles": "make", "make": "make"}
"""What a test needs that gets this compiler, generator or the like as a parameter."""

FIXTURES = dict.fromkeys(("emulator", "stand_ins", "workshop"), "c++")
"""What a test needs that uses this fixture: emulated kernels are compiled as C++."""

OTHER_PROCESSOR = re.compile(r"option .-m|for .-march|-m\\w+. is not supported")
"""How compilers refuse flags of processors that are not theirs."""

PROBE = """\
#ifdef _OPENMP
#include <omp.h>
#endif
int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 9; i++) sum += i;
  return sum != 36;
}
"""
"""A program that needs the library behind ``-fopenmp`` or ``-fsanitize``, compiled with it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the texts of tests/golden anew from what comes out",
    )
    parser.addoption(
        "--turn",
        choices=("0", "1"),
        help="leave out one half of the tests that are only in the long run, or the other",
    )
    parser.addoption(
        "--toolchain",
        choices=sorted(TOOLCHAINS),
        help="have this toolchain build and run what tests compile with gcc",
    )
    parser.addoption(
        "--device",
        action="store_true",
        help="have tests of tests/execute run CUDA's kernels on this machine's device, not under emulation",
    )


def pytest_configure(config: pytest.Config) -> None:
    name = config.getoption("--toolchain")
    if name is not None:
        folder = Path(tempfile.mkdtemp(prefix="polybuild-toolchain-"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        install(TOOLCHAINS[name], folder)
        os.environ["PATH"] = os.pathsep.join([str(folder), os.environ["PATH"]])
    # shells start background jobs with Ctrl-C ignored, which programs under test would inherit
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Skips, with another toolchain, what wants a processor that it does not compile for."""
    try:
        return (yield)
    except SourceError as error:
        if pyfuncitem.config.getoption("--toolchain") and OTHER_PROCESSOR.search(str(error)):
            pytest.skip(f"is for another processor: {error}")
        raise


def pytest_collection_finish() -> None:
    """Look for garbage as seldom as the process at work on a region does: tests do that work in this one."""
    gc.freeze()
    gc.set_threshold(effort.COLLECTED_OBJECTS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    turn = config.getoption("--turn")
    kept, others = [], []
    for item in items:
        long = item.path.relative_to(TESTS).parts[0] not in SHORT and not in_sample(item)
        if long:
            item.add_marker(pytest.mark.slow)
        has_turn = turn is None or zlib.crc32(item.nodeid.encode()) % 2 == int(turn)
        (others if long and not has_turn else kept).append(item)
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = kept


def in_sample(item: pytest.Item) -> bool:
    """Whether ``item`` has a marker ``fast``, and the parameters that it names."""
    given = {
        name: getattr(value, "name", getattr(value, "__name__", value))
        for name, value in parameters(item).items()
    }
    return any(
        all(given[name] in wanted for name, wanted in marker.kwargs.items())
        for marker in item.iter_markers("fast")
    )


def name_of(value: object) -> object:
    """What a marker calls a parameter: its name, if it is something with a name."""
    return getattr(value, "name", getattr(value, "__name__", value))


def pytest_runtest_setup(item: pytest.Item) -> None:
    missing = sorted({tool for tool in tools_for(item) if shutil.which(tool) is None})
    if not missing:
        missing = [f"{compiler} {flag}" for compiler, flag in linked_by(item) if not links(compiler, flag)]
    if item.get_closest_marker("python_headers") and not PYTHON_H.is_file():
        missing.append("Python.h")
    if not missing:
        return
    reason = f"needs {', '.join(missing)}"
    if os.environ.get("POLYBUILD_TESTS_NEED_ALL"):
        pytest.fail(reason)
    pytest.skip(reason)


def tools_for(item: pytest.Item) -> Iterator[str]:
    """The optional tools that ``item`` needs, by its markers, its fixtures and its parameters."""
    for marker in item.iter_markers():
        yield from MARKED.get(marker.name, ())
    for fixture in getattr(item, "fixturenames", ()):
        if fixture in FIXTURES:
            yield FIXTURES[fixture]
    for value in parameters(item).values():
        name = getattr(value, "compiler", value)
        if isinstance(name, str) and name in PARAMETERS:
            yield PARAMETERS[name]


def linked_by(item: pytest.Item) -> Iterator[tuple[str, str]]:
    """The flags that stand for a library, with their compiler: of marker ``links``, and of toolchains."""
    given = parameters(item)
    usual = "clang" if item.get_closest_marker("clang") else "gcc"
    compiler = next((each for each in given.values() if isinstance(each, str) and each in COMPILERS), usual)
    for marker in item.iter_markers("links"):
        yield from ((compiler, flag.format_map(given)) for flag in marker.args)
    for value in given.values():
        for flag in getattr(value, "flags", ()):
            if flag.startswith(("-fopenmp", "-fsanitize=")):
                yield value.compiler, flag


def parameters(item: pytest.Item) -> dict[str, Any]:
    """What ``item`` was parametrised with."""
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


@functools.cache
def links(compiler: str, flag: str) -> bool:
    """Whether ``compiler`` links a program with ``flag``: not every clang brings its libraries."""
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, flag, "-w", "-x", "c", "-", "-o", f"{folder}/probe"]
        done = subprocess.run(command, check=False, input=PROBE, text=True, capture_output=True)
    return done.returncode == 0
