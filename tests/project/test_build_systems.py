"""One program and its kernels through Make, autotools and Meson: built, built again after edits, run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cmake_project import PROJECTS

pytestmark = pytest.mark.usefixtures("polybuild_on_path")

CC = "polybuild cc -- gcc"


class Build:
    """A copy of the project, with the commands that configure and build it."""

    def __init__(self, folder: Path, program: str, library: str) -> None:
        self.folder, self.program, self.library = folder, program, library
        self.make: list[str] = []
        shutil.copytree(PROJECTS / "program", folder)

    def run(self, *command: str | Path, **environment: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env=os.environ | environment,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def build(self, **environment: str) -> str:
        return self.run(*self.make, **environment)

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new))

    def result(self) -> tuple[int, bool]:
        """What the program prints, and whether its kernels run on several threads."""
        library = (self.folder / self.library).read_bytes()
        return int(self.run(self.folder / self.program)), b"GOMP_parallel" in library


def total(factor: int = 2, offset: int = 1) -> int:
    return sum(factor * i + offset for i in range(50000))


def with_make(folder: Path) -> Build:
    build = Build(folder, "program", "kernels.o")
    build.make = ["make", "-j2", f"CC={CC}", "check"]
    return build


def with_autotools(folder: Path) -> Build:
    build = Build(folder, "program", ".libs/kernels.o")
    (folder / "Makefile").unlink()
    build.run("autoreconf", "-i")
    build.run("./configure", f"CC={CC}")
    build.make = ["make", "-j2", "check"]
    return build


def with_meson(folder: Path) -> Build:
    build = Build(folder, "build/program", "build/libkernels.a.p/kernels.c.o")
    build.run("meson", "setup", "build", CC=CC)
    build.make = ["meson", "test", "-C", "build"]
    return build


def with_generator(folder: Path) -> Build:
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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("meson_on_path")
def test_build_and_rebuild(tmp_path, way):
    build = way(tmp_path / "project")
    build.build()
    assert build.result() == (total(), True)
    before = (build.folder / build.program).stat().st_mtime_ns
    build.build()
    assert (build.folder / build.program).stat().st_mtime_ns == before
    build.edit("kernels.h", "FACTOR 2", "FACTOR 3")
    build.build()
    assert build.result() == (total(3), True)
    build.edit("kernels.c", "+ 1", "+ 5")
    build.build()
    assert build.result() == (total(3, 5), True)
    build.edit("pyproject.toml", "true", "false")
    build.build()
    assert build.result() == (total(3, 5), False)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("meson_on_path")
def test_disabled(tmp_path, monkeypatch, way):
    monkeypatch.setenv("POLYBUILD_DISABLE", "1")
    build = way(tmp_path / "project")
    build.build()
    assert build.result() == (total(), False)


@pytest.mark.autotools
def test_configure_sees_an_ordinary_compiler(tmp_path):
    found = []
    for name, compiler in (("bare", "gcc"), ("wrapped", CC)):
        build = Build(tmp_path / name, "program", "")
        (build.folder / "Makefile").unlink()
        build.run("autoreconf", "-i")
        checks = [
            line for line in build.run("./configure", f"CC={compiler}").splitlines() if "checking" in line
        ]
        found.append((checks, (build.folder / "config.h").read_text()))
    assert len(found[0][0]) > 40
    assert [line for line in found[0][0] if "gcc" not in line] == [
        line for line in found[1][0] if "gcc" not in line
    ]
    assert found[0][1] == found[1][1]


@pytest.mark.mpi
@pytest.mark.parametrize("way", ["make", "cmake"])
def test_mpi(tmp_path, way):
    """The example with the halo exchange: the same picture on any number of ranks."""
    build = Build.__new__(Build)
    build.folder = tmp_path / "heat-mpi"
    shutil.copytree(
        PROJECTS.parent.parent / "examples" / "heat-mpi",
        build.folder,
        ignore=shutil.ignore_patterns("build", "*.o"),
    )
    if way == "make":
        build.run("make", "CC=polybuild cc -- mpicc")
        program = "./heat-mpi"
    else:
        launchers = [f"-DCMAKE_C_{kind}_LAUNCHER=polybuild;cc;--" for kind in ("COMPILER", "LINKER")]
        build.run("cmake", "-S", ".", "-B", "build", *launchers)
        build.run("cmake", "--build", "build")
        program = "build/heat-mpi"
    assert "omp" in build.run("ldd", program)

    def printed(ranks: int, threads: int) -> list[str]:
        environment = {"OMP_NUM_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1"}
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        command = ["mpirun", "--oversubscribe", "-n", str(ranks), program, "96", "40"]
        lines = build.run(*command, **environment).splitlines()
        assert f"{ranks} ranks of {threads} threads" in lines[0]
        return lines[1:]

    first = printed(1, 1)
    assert len(first) == 2
    assert printed(2, 2) == first
    assert printed(4, 1) == first
