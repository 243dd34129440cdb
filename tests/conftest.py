"""Options, and what happens where a tool is missing that only some tests need.

Such tests are skipped, unless POLYBUILD_TESTS_NEED_ALL is set, as it is where everything
should have been installed.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

MARKED = {
    "autotools": ("autoreconf", "automake", "libtoolize", "make"),
    "ccache": ("ccache",),
    "clang": ("clang",),
    "cmake": ("cmake",),
    "cxx": ("c++",),
    "distcc": ("distcc", "distccd"),
    "make": ("make",),
    "oclgrind": ("oclgrind",),
    "opencl": ("clinfo",),
    "mpi": ("mpicc", "mpirun", "make"),
}
"""What a test with this marker needs."""

PYTHON_H = Path(sysconfig.get_path("include")) / "Python.h"

PARAMETERS = {"clang": "clang", "Unix Makefiles": "make", "make": "make"}
"""What a test needs that gets this compiler, generator or the like as a parameter."""

FIXTURES = dict.fromkeys(("emulator", "stand_ins", "workshop"), "c++")
"""What a test needs that uses this fixture: emulated kernels are compiled as C++."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the texts of tests/golden anew from what comes out",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    missing = sorted({tool for tool in tools_for(item) if shutil.which(tool) is None})
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
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        for value in item.callspec.params.values():
            name = getattr(value, "compiler", value)
            if isinstance(name, str) and name in PARAMETERS:
                yield PARAMETERS[name]
