"""MODE LAUNCHER, installed targets, toolchain files and presets."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cmake_project import CONFIGURATION, GENERATORS, PROJECTS, Project, copy_of, subdirectory_settings
from test_cmake_functions import result as kinds_result
from test_cmake_rebuilds import result

pytestmark = [pytest.mark.cmake, pytest.mark.usefixtures("own_cache")]

LAUNCHER = "-DPOLYBUILD_MODE=LAUNCHER"


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))


def parallel_objects(project: Project) -> set[str]:
    """The object files that call the OpenMP runtime, by the names of their sources."""
    return {
        path.name.removesuffix(".o")
        for path in project.build_directory.rglob("*.o")
        if b"GOMP_parallel" in path.read_bytes()
    }


@pytest.mark.fast(generator=["Ninja"])
@pytest.mark.parametrize("generator", GENERATORS)
def test_build_and_rebuild(tmp_path: Path, generator: str) -> None:
    app = copy_of("app", tmp_path, generator, [*subdirectory_settings(), LAUNCHER])
    app.build()
    assert app.run("app") == result()
    assert parallel_objects(app) == {"kernels.c"}
    assert not list(app.build_directory.rglob("kernels.c"))
    assert "1 region in 1 file: 1 parallel" in app.build("--target", "polybuild-summary")

    before = app.state()
    app.build()
    assert app.state() == before
    app.edit("include/factor.h", "FACTOR 2", "FACTOR 3")
    app.build()
    assert app.run("app") == result(factor=3)
    app.edit("src/kernels.c", "OFFSET 0", "OFFSET 5")
    app.build()
    assert app.run("app") == result(factor=3, offset=5)
    app.edit("CMakeLists.txt", "TILE_SIZES 16 16", "PARALLEL off")
    app.build()
    assert app.run("app") == result(factor=3, offset=5)
    assert parallel_objects(app) == set()


def test_disabled(tmp_path: Path) -> None:
    settings = [*subdirectory_settings(), LAUNCHER, "-DPOLYBUILD_DISABLE=ON"]
    app = copy_of("app", tmp_path, "Ninja", settings)
    app.build()
    assert app.run("app") == result()
    assert parallel_objects(app) == set()


def test_the_variable_of_cmake_alone(tmp_path: Path, polybuild_on_path: Path) -> None:
    """A project that does not know polybuild: launchers given on CMake's command line."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("fill.c", "fill.h"):
        (source / name).write_bytes((PROJECTS / "package" / "library" / name).read_bytes())
    (source / "main.c").write_bytes((PROJECTS / "package" / "consumer" / "main.c").read_bytes())
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(plain C)\n"
        "add_library(fill STATIC fill.c)\nadd_executable(app main.c)\n"
        "target_include_directories(app PRIVATE .)\ntarget_link_libraries(app PRIVATE fill)\n"
    )
    project = Project(source, tmp_path / "build", "Ninja")
    launcher = f"{polybuild_on_path / 'polybuild'};cc;--"
    project.configure(*(f"-DCMAKE_C_{kind}_LAUNCHER={launcher}" for kind in ("COMPILER", "LINKER")))
    project.build()
    assert parallel_objects(project) == {"fill.c"}
    assert project.run("app") == str(50000**2)
    commands = (
        json.loads((project.build_directory / "compile_commands.json").read_text())
        if (project.build_directory / "compile_commands.json").exists()
        else []
    )
    assert all("polybuild" in entry["command"] for entry in commands)


@pytest.mark.cxx
def test_every_kind_of_target(tmp_path: Path) -> None:
    kinds = copy_of("kinds", tmp_path, "Ninja", [*subdirectory_settings(), LAUNCHER])
    kinds.build()
    programs = (
        "from_static",
        "from_shared",
        "from_object",
        "elsewhere/elsewhere",
        "unity",
        "fetched",
        "plain",
    )
    for program in programs:
        assert kinds.run(program) == kinds_result()
    assert kinds.run("mixed") == str(int(kinds_result()) + 1)
    # One source in targets of one directory, with definitions and options of their own.
    assert kinds.run("generated") == kinds_result(factor=3)
    assert kinds.run("precompiled") == kinds_result(factor=6)
    assert kinds.run("awkward") == f'{kinds_result()}\nit\'s "5 $" x 1'
    assert {"fill.c", "unity_0_c.c"} <= parallel_objects(kinds)


@pytest.mark.parametrize("mode", ["REWRITE", "LAUNCHER"])
def test_installed_targets(tmp_path: Path, mode: str) -> None:
    settings = [*subdirectory_settings(), f"-DPOLYBUILD_MODE={mode}"]
    (tmp_path / "library").mkdir()
    library = copy_of("package/library", tmp_path / "library", "Ninja", settings)
    library.build()
    prefix = tmp_path / "prefix"
    subprocess.run(
        ["cmake", "--install", library.build_directory, "--prefix", prefix, "--config", CONFIGURATION],
        check=True,
        capture_output=True,
    )
    # Neither the build tree nor polybuild is needed from here on.
    library.build_directory.rename(tmp_path / "gone")
    (tmp_path / "consumer").mkdir()
    consumer = copy_of("package/consumer", tmp_path / "consumer", "Ninja", [f"-DCMAKE_PREFIX_PATH={prefix}"])
    consumer.build()
    for kind in ("static", "shared", "objects"):
        assert consumer.run(f"with_{kind}") == str(50000**2)
    assert b"GOMP_parallel" in (prefix / "lib" / "libfill_static.a").read_bytes()


@pytest.mark.clang
@pytest.mark.links("-fopenmp")
def test_toolchain_file_and_preset(tmp_path: Path) -> None:
    app = copy_of("app", tmp_path, "Ninja", subdirectory_settings())
    (app.source / "toolchain.cmake").write_text(
        "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_C_COMPILER clang)\nset(CMAKE_C_FLAGS_INIT -DSHIFT_UNUSED)\n"
    )
    settings = dict(setting.removeprefix("-D").split("=", 1) for setting in subdirectory_settings())
    preset = {
        "name": "cross",
        "generator": "Ninja",
        "binaryDir": str(tmp_path / "cross"),
        "toolchainFile": "toolchain.cmake",
        "cacheVariables": {**settings, "SHIFT": "4", "CMAKE_BUILD_TYPE": CONFIGURATION},
    }
    presets = {"version": 3, "configurePresets": [preset]}
    (app.source / "CMakePresets.json").write_text(json.dumps(presets))
    cross = Project(app.source, tmp_path / "cross", "Ninja")
    command = ["cmake", "--preset", "cross"]
    subprocess.run(command, cwd=app.source, check=True, capture_output=True)
    cross.build()
    assert cross.run("app") == result(shift=4)
    assert b"__kmpc_fork_call" in (cross.build_directory / "app").read_bytes()
