"""Doors without code of their own: cffi, pybind11, FetchContent, cross toolchains, and a missing command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cmake_project import ROOT, run_or_fail

FILL = """\
void fill(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2.0 * i;
#pragma endscop
}
"""
MAIN = """\
#include <stdio.h>
void fill(int n, double *a);
static double a[50000];
int main(void) {
  fill(50000, a);
  printf("%g\\n", a[49999]);
  return 0;
}
"""
FETCHED = """\
include(FetchContent)
FetchContent_Declare(polybuild SOURCE_DIR "${CMAKE_CURRENT_SOURCE_DIR}/third-party/polybuild")
FetchContent_MakeAvailable(polybuild)
polybuild_add_executable(app main.c fill.c)
"""
FOUND = """\
find_package(polybuild REQUIRED)
polybuild_add_executable(app main.c fill.c)
"""
TOOLCHAIN = """\
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER gcc)
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}/sysroot")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
"""
MODULE = """\
#include <pybind11/pybind11.h>
#include <vector>
extern "C" void fill(int n, double *a);
PYBIND11_MODULE(tables, module) {
  module.def("last", [](int n) {
    std::vector<double> a(n);
    fill(n, a.data());
    return a[n - 1];
  });
}
"""
PYBIND11 = """\
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 CONFIG REQUIRED)
find_package(polybuild REQUIRED)

pybind11_add_module(tables module.cpp kernels.c)
polybuild_target(tables)
"""
CFFI = """\
from cffi import FFI

builder = FFI()
builder.cdef("void fill(int n, double *a);")
builder.set_source("tables", "void fill(int n, double *a);", sources=["kernels.c"])
"""


def project(folder: Path, text: str, *, languages: str = "C") -> Path:
    """A program of two files with the CMakeLists.txt that ``text`` completes."""
    folder.mkdir()
    (folder / "fill.c").write_text(FILL)
    (folder / "main.c").write_text(MAIN)
    head = f"cmake_minimum_required(VERSION 3.21)\nproject(doors {languages})\n"
    (folder / "CMakeLists.txt").write_text(head + text)
    return folder


def configure(folder: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    command = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    return subprocess.run([*command, *settings], check=False, capture_output=True, text=True)


def built(folder: Path, *settings: str) -> str:
    """What the program prints; its region must run on several threads."""
    done = configure(folder, *settings)
    assert done.returncode == 0, done.stderr
    run_or_fail("cmake", "--build", folder / "build")
    assert b"GOMP_parallel" in (folder / "build" / "app").read_bytes()
    return subprocess.run([folder / "build" / "app"], check=True, capture_output=True, text=True).stdout


@pytest.mark.cmake
def test_fetched_content(tmp_path):
    """A source tree of polybuild within a project."""
    folder = project(tmp_path / "project", FETCHED)
    (folder / "third-party").mkdir()
    (folder / "third-party" / "polybuild").symlink_to(ROOT)
    assert built(folder, f"-DPython3_EXECUTABLE={sys.executable}") == "99998\n"


@pytest.mark.cmake
def test_a_toolchain_that_looks_for_packages_in_its_sysroot_alone(tmp_path):
    folder = project(tmp_path / "project", FOUND)
    (folder / "sysroot").mkdir()
    (folder / "board.cmake").write_text(TOOLCHAIN)
    settings = [f"-DCMAKE_TOOLCHAIN_FILE={folder / 'board.cmake'}", f"-DPython3_EXECUTABLE={sys.executable}"]
    cmake_dir = ROOT / "cmake"  # what polybuild --cmakedir prints
    assert "polybuild" in configure(folder, *settings).stderr
    assert built(folder, *settings, f"-Dpolybuild_DIR={cmake_dir}") == "99998\n"


@pytest.mark.cmake
@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (None, "Activate the environment that polybuild is"),
        ("#!/nowhere/python\n", "Its environment may have moved"),
        ("#!/bin/sh\necho 'no islpy here' >&2\nexit 3\n", "no islpy here"),
    ],
)
def test_an_installation_without_its_command(tool, message, tmp_path, monkeypatch):
    """What find_package says where the CMake files are found and polybuild cannot be run."""
    files = tmp_path / "prefix" / "share" / "cmake" / "polybuild"
    shutil.copytree(ROOT / "cmake", files, ignore=shutil.ignore_patterns("PolybuildCheckout.cmake", "*.py"))
    if tool is not None:
        command = tmp_path / "prefix" / "bin" / "polybuild"
        command.parent.mkdir()
        command.write_text(tool)
        command.chmod(0o755)
    folders = [
        each for each in ("/usr/local/bin", "/usr/bin", "/bin") if not Path(each, "polybuild").exists()
    ]
    for name in ("cmake", "ninja"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", ":".join([str(tmp_path), *folders]))
    done = configure(project(tmp_path / "project", FOUND), f"-Dpolybuild_DIR={files}")
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())


@pytest.fixture
def python_tools(once, build_tools):
    """The Python of an installation with cffi and pybind11."""
    pip = (build_tools / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet")
    once("doors", lambda _: run_or_fail(*pip, "cffi>=1.16", "pybind11>=2.12"))
    return build_tools / "bin" / "python"


@pytest.mark.cmake
@pytest.mark.cxx
@pytest.mark.network
@pytest.mark.python_headers
def test_pybind11_with_c(tmp_path, python_tools):
    folder = project(tmp_path / "project", PYBIND11, languages="C CXX")
    (folder / "fill.c").rename(folder / "kernels.c")
    (folder / "module.cpp").write_text(MODULE)
    where = subprocess.run(
        [python_tools, "-m", "pybind11", "--cmakedir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    settings = [f"-Dpybind11_DIR={where}", f"-Dpolybuild_DIR={ROOT / 'cmake'}"]
    settings += [f"-DPython{each}_EXECUTABLE={python_tools}" for each in ("", "3")]
    done = configure(folder, *settings)
    assert done.returncode == 0, done.stderr
    run_or_fail("cmake", "--build", folder / "build")
    (module,) = (folder / "build").glob("tables*.so")
    assert b"GOMP_parallel" in module.read_bytes()
    script = (
        f"import sys; sys.path.insert(0, {str(module.parent)!r}); import tables; print(tables.last(50000))"
    )
    run = [python_tools, "-c", script]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == "99998.0\n"


@pytest.mark.network
@pytest.mark.python_headers
def test_cffi(tmp_path, python_tools):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kernels.c").write_text(FILL)
    (folder / "build_tables.py").write_text(CFFI)
    (folder / "setup.py").write_text(
        "from setuptools import setup\nsetup(name='tables', cffi_modules=['build_tables.py:builder'])\n"
    )
    (folder / "pyproject.toml").write_text("[tool.polybuild]\nparallel = true\n")
    command = [python_tools, "setup.py", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (module,) = folder.glob("tables*.so")
    assert b"GOMP_parallel" in module.read_bytes()
    script = (
        "import tables; a = tables.ffi.new('double[]', 50000); tables.lib.fill(50000, a); print(a[49999])"
    )
    run = [python_tools, "-c", script]
    assert subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True).stdout == "99998.0\n"
