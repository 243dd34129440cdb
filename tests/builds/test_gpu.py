"""Regions on a device in the builds of users: CMake, the compiler wrapper, setuptools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cmake_project import PROJECTS, ROOT, Project, copy_of, run_or_fail, subdirectory_settings

sys.path.insert(0, str(ROOT))

from tests.emulator.stand_ins import StandIns, build

WITHOUT = "98952.190156936646 device 0 host 2"
WITH = "98952.190156936646 device 2 host 0"


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> StandIns:
    return build(tmp_path_factory.mktemp("emulator"))


def run(program: Path, environment: dict[str, str]) -> str:
    done = subprocess.run([program], check=False, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def host() -> dict[str, str]:
    return {**os.environ, "POLYBUILD_BACKEND": "openmp"}


@pytest.mark.cmake
@pytest.mark.parametrize("mode", ["REWRITE", "LAUNCHER"])
def test_cuda_with_cmake(tmp_path: Path, stand_ins: StandIns, mode: str) -> None:
    """No CUDA language, no CUDA to link; the same binary with a driver and without."""
    settings = [*subdirectory_settings(), f"-DPOLYBUILD_NVCC={stand_ins.nvcc}", f"-DPOLYBUILD_MODE={mode}"]
    os.environ["NVCC"] = stand_ins.nvcc  # for the options of one source
    try:
        project = copy_of("gpu", tmp_path, "Ninja", [*settings, "-DCMAKE_C_FLAGS=-ffp-contract=off"])
        project.build()
    finally:
        del os.environ["NVCC"]
    app = project.build_directory / "app"
    launched = mode == "LAUNCHER"  # where the options of one source are not heeded
    assert run(app, host()) == (WITHOUT.replace("host 2", "host 1") if launched else WITHOUT)
    assert run(app, stand_ins.environment()) == (WITH.replace("device 2", "device 1") if launched else WITH)
    assert project.run("plain") == "6.875"
    linked = subprocess.run(["ldd", app], check=True, capture_output=True, text=True).stdout
    assert "cuda" not in linked.lower()
    before = project.state()
    project.build()
    assert project.state() == before


@pytest.mark.cmake
@pytest.mark.opencl
@pytest.mark.parametrize("generator", ["Ninja Multi-Config", "Unix Makefiles"])
def test_opencl_with_cmake(tmp_path: Path, generator: str) -> None:
    settings = [*subdirectory_settings(), "-DBACKEND=OPENCL", "-DCMAKE_C_FLAGS=-ffp-contract=off"]
    project = copy_of("gpu", tmp_path, generator, settings)
    project.build()
    app = project.build_directory / ("Release/app" if "Multi" in generator else "app")
    assert run(app, host()) == WITHOUT
    assert run(app, {**os.environ, "POLYBUILD_BACKEND": "opencl"}) == WITH


@pytest.mark.cmake
def test_without_nvcc_cmake_says_so_once(tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / "gpu", tmp_path / "source")
    project = Project(tmp_path / "source", tmp_path / "build", "Ninja")
    project.edit("CMakeLists.txt", "BACKEND ${BACKEND} MIN_WORK 0)", "BACKEND CUDA WITHOUT_NVCC OPENMP)")
    project.edit("CMakeLists.txt", "STATIC steps.c)", "STATIC steps.c BACKEND CUDA WITHOUT_NVCC OPENMP)")
    project.edit("CMakeLists.txt", 'POLYBUILD_BACKEND "${BACKEND}" ', "")
    told = project.configure(*subdirectory_settings(), "-DPOLYBUILD_NVCC=OFF")
    assert told.count("nvcc was not found, so regions are built for openmp") == 1


@pytest.mark.make
def test_the_compiler_wrapper_links_the_runtime_where_it_is_needed(
    tmp_path: Path, stand_ins: StandIns, polybuild_on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVCC", stand_ins.nvcc)
    for name in ("main.c", "steps.c", "steps.h", "plain.c"):
        shutil.copy(PROJECTS / "gpu" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    wrapper = [
        str(polybuild_on_path / "polybuild"),
        "cc",
        "--backend",
        "cuda",
        "--min-work",
        "0",
        "--",
        "gcc",
    ]
    header = f"-I{ROOT / 'polybuild' / 'runtime' / 'include'}"
    flags = ["-O1", "-ffp-contract=off", header]
    run_or_fail(*wrapper, *flags, "-c", "main.c")
    run_or_fail(*wrapper, *flags, "-c", "steps.c")
    run_or_fail(*wrapper, "main.o", "steps.o", "-o", "app")
    run_or_fail("ar", "rcs", "libsteps.a", "steps.o")
    run_or_fail(*wrapper, *flags, "plain.c", "-L.", "-lsteps", "-o", "plain")
    run_or_fail(*wrapper, *flags, "main.c", "steps.c", "-o", "at-once")
    for program in ("app", "at-once"):
        assert run(tmp_path / program, host()) == WITHOUT
        assert run(tmp_path / program, stand_ins.environment()) == WITH
    assert run(tmp_path / "plain", stand_ins.environment()) == "6.875"


@pytest.mark.python_headers
def test_an_extension_built_by_setuptools(
    tmp_path: Path, stand_ins: StandIns, build_tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVCC", stand_ins.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(PROJECTS / "extension", tmp_path / "extension")
    settings = 'polybuild={"backend": "cuda", "min-work": 0}'
    (tmp_path / "extension" / "setup.py").write_text(
        "from setuptools import Extension, setup\n"
        'sources = ["module.c", "kernels.c"]\n'
        f'setup(name="tables", version="1", ext_modules=[Extension("tables", sources)], {settings})\n'
    )
    monkeypatch.chdir(tmp_path / "extension")
    run_or_fail(build_tools / "bin" / "python", "setup.py", "-q", "build_ext", "--inplace")
    (library,) = (tmp_path / "extension").glob("tables*.so")
    assert b"polybuild_open" in library.read_bytes()
    run_or_fail(build_tools / "bin" / "python", "-c", "import tables; assert tables.total()")
