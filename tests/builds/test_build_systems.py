"""One program and its kernels through Make, autotools and Meson: built, built again after edits, run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cmake_project import PROJECTS, ROOT
from workplace import Workplace, check_edits, total

pytestmark = pytest.mark.usefixtures("polybuild_on_path")

CC = "polybuild cc -- gcc"


class Build(Workplace):
    """A copy of the project ``program``, with the command that builds it."""

    def __init__(self, folder: Path, program: str, library: str, origin: Path = PROJECTS / "program") -> None:
        super().__init__(folder)
        self.program, self.library = program, library
        self.make: list[str] = []
        shutil.copytree(origin, folder)

    def build(self, **environment: str) -> None:
        self.run(*self.make, **environment)

    def result(self) -> tuple[int, bool]:
        library = (self.folder / self.library).read_bytes()
        return int(self.run(self.folder / self.program)), b"GOMP_parallel" in library


def with_make(folder: Path, _: pytest.FixtureRequest) -> Build:
    build = Build(folder, "program", "kernels.o")
    build.make = ["make", "-j2", f"CC={CC}", "check"]
    return build


def with_autotools(folder: Path, request: pytest.FixtureRequest) -> Build:
    build = Build(folder, "program", ".libs/kernels.o", request.getfixturevalue("autotools_project"))
    build.run("./configure", f"CC={CC}")
    build.make = ["make", "-j2", "check"]
    return build


def with_meson(folder: Path, _: pytest.FixtureRequest) -> Build:
    build = Build(folder, "build/program", "build/libkernels.a.p/kernels.c.o")
    build.run("meson", "setup", "build", CC=CC)
    build.make = ["meson", "test", "-C", "build"]
    return build


def with_generator(folder: Path, _: pytest.FixtureRequest) -> Build:
    build = Build(folder, "build/program", "build/libkernels.a.p/meson-generated_kernels.c.o")
    build.run("meson", "setup", "build", "-Dgenerate=true")
    build.make = ["meson", "test", "-C", "build"]
    return build


WAYS = [
    pytest.param(with_make, id="make", marks=pytest.mark.make),
    pytest.param(with_autotools, id="autotools", marks=pytest.mark.autotools),
    pytest.param(with_meson, id="meson", marks=pytest.mark.network),
    pytest.param(with_generator, id="meson-generator", marks=pytest.mark.network),
]


@pytest.fixture
def meson_on_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Meson, where it is asked for, from the environment with the tools."""
    if "meson" in request.node.name:
        tools = request.getfixturevalue("build_tools") / "bin"
        folder = request.getfixturevalue("tmp_path") / "tools"
        folder.mkdir()
        for name in ("meson", "ninja"):
            (folder / name).symlink_to(tools / name)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return


@pytest.mark.fast(way=["with_make"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("meson_on_path")
def test_build_and_rebuild(tmp_path, request, way):
    build = way(tmp_path / "project", request)
    build.build()
    before = (build.folder / build.program).stat().st_mtime_ns
    build.build()
    assert (build.folder / build.program).stat().st_mtime_ns == before
    check_edits(build, ("pyproject.toml", "true", "false"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("meson_on_path")
def test_disabled(tmp_path, request, monkeypatch, way):
    monkeypatch.setenv("POLYBUILD_DISABLE", "1")
    build = way(tmp_path / "project", request)
    build.build()
    assert build.result() == (total(), False)


@pytest.mark.autotools
def test_configure_sees_an_ordinary_compiler(tmp_path, autotools_project):
    found = []
    for name, compiler in (("bare", "gcc"), ("wrapped", CC)):
        build = Build(tmp_path / name, "program", "", autotools_project)
        checks = [
            line for line in build.run("./configure", f"CC={compiler}").splitlines() if "checking" in line
        ]
        found.append((checks, (build.folder / "config.h").read_text()))
    assert len(found[0][0]) > 40
    assert [line for line in found[0][0] if "gcc" not in line] == [
        line for line in found[1][0] if "gcc" not in line
    ]
    assert found[0][1] == found[1][1]


class Plate(Workplace):
    """The example with the halo exchange, through Make or CMake."""

    def __init__(self, folder: Path, way: str) -> None:
        super().__init__(folder)
        ignored = shutil.ignore_patterns("build", "*.o", "*.d", "heat-mpi")
        shutil.copytree(ROOT / "examples" / "heat-mpi", folder, ignore=ignored)
        (folder / "pyproject.toml").write_text("[tool.polybuild]\nparallel = true\n")
        if way == "make":
            self.program, self.object = "./heat-mpi", "solver.o"
            self.make = ["make", "CC=polybuild cc -- mpicc"]
        else:
            self.program, self.object = "build/heat-mpi", "build/CMakeFiles/heat-mpi.dir/solver.c.o"
            self.make = ["cmake", "--build", "build"]
            launchers = [f"-DCMAKE_C_{kind}_LAUNCHER=polybuild;cc;--" for kind in ("COMPILER", "LINKER")]
            self.run("cmake", "-S", ".", "-B", "build", *launchers)

    def build(self, **environment: str) -> None:
        self.run(*self.make, **environment)

    def is_parallel(self) -> bool:
        return b"GOMP_parallel" in (self.folder / self.object).read_bytes()

    def printed(self, ranks: int, threads: int, program: str = "") -> list[str]:
        """The sum of all temperatures and the hottest point, to the last digit."""
        environment = {"OMP_NUM_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1"}
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        command = ["mpirun", "--oversubscribe", "-n", str(ranks), program or self.program, "96", "40"]
        lines = self.run(*command, **environment).splitlines()[-3:]  # before them, mpirun may have its say
        assert f"{ranks} ranks of {threads} threads" in lines[0]
        return lines[1:]

    def expected(self) -> list[str]:
        """What the sources of this moment print as they are."""
        self.run("mpicc", "-O3", "-std=c11", "main.c", "solver.c", "-lm", "-o", "plain")
        return self.printed(1, 1, "./plain")


@pytest.mark.mpi
@pytest.mark.parametrize("way", ["make", "cmake"])
def test_mpi(tmp_path, way):
    """The same picture on any number of ranks, after every edit, and as it is."""
    plate = Plate(tmp_path / "heat-mpi", way)
    plate.build()
    first = plate.expected()
    assert "omp" in plate.run("ldd", plate.program)
    assert [plate.printed(1, 1), plate.printed(4, 1)] == [first, first]
    seen = [first]
    for edit, parallel, disabled in (
        (("solver.c", "4.0 * u", "3.9 * u"), True, ""),
        (("solver.h", "RATE 0.2", "RATE 0.1"), True, ""),
        (("pyproject.toml", "true", "false"), False, ""),
        (("pyproject.toml", "false", "true"), False, "1"),
    ):
        plate.edit(*edit)
        plate.build(POLYBUILD_DISABLE=disabled)
        assert plate.is_parallel() == parallel
        assert plate.printed(2, 2) == plate.expected()
        seen.append(plate.expected())
    assert seen[0] != seen[1] != seen[2] == seen[3] == seen[4]


@pytest.mark.mpi
@pytest.mark.parametrize("way", ["make", "cmake", "make for devices"])
def test_a_program_for_one_machine_on_ranks(tmp_path, way):
    """The example prints, once, what it does as an ordinary program."""
    folder = tmp_path / "waves"
    shutil.copytree(ROOT / "examples" / "waves-ranks", folder, ignore=shutil.ignore_patterns("build", "*.o"))
    place = Workplace(folder)
    place.run("gcc", "-O2", "-ffp-contract=off", "waves.c", "-lm", "-o", "plain")
    if way != "cmake":
        device = ["CC=polybuild cc --distribute mpi --backend opencl -- mpicc"] if "device" in way else []
        place.run("make", "CFLAGS=-O3 -std=c11 -Wall -Werror -ffp-contract=off", *device)
    else:
        settings = [f"-Dpolybuild_DIR={ROOT / 'cmake'}", "-DCMAKE_C_FLAGS=-ffp-contract=off"]
        place.run("cmake", "-S", ".", "-B", "build", *settings)
        place.run("cmake", "--build", "build")
    program = "build/waves" if way == "cmake" else "./waves"
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
    for ranks in (1, 3):
        command = ["mpirun", "--oversubscribe", "-n", str(ranks), program, "61", "70"]
        lines = place.run(*command, **allowed).splitlines()
        said = [each for each in lines if each.startswith(("step", "energy"))]
        assert len(said) == 3
        assert said == place.run("./plain", "61", "70").splitlines()
