"""Pages are typed from top to bottom: their files compile, their commands run and print what stands there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from page_blocks import ROOT, Block, all_blocks, blocks_of, elsewhere, printed_as, treatment

import polybuild
from polybuild.integrations.function_arguments import FunctionParameter, _value
from polybuild.integrations.loading import LoadedFunction

SIZE = 37
"""What every size is where the functions of a page are called."""

SESSIONS: dict[str, list[Block]] = {}
for _each in all_blocks():
    if treatment(_each) == "session":
        SESSIONS.setdefault(_each.page, []).append(_each)

CALLER = """\
void multiply(int n, double a[n][n], double b[n][n], double c[n][n]);
static double a[200][200], b[200][200], c[200][200];
int main(void)
{
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 200; j++) {
      a[i][j] = i;
      b[i][j] = j;
    }
  multiply(200, a, b, c);
  return c[3][5] != 200 * 3 * 5;
}
"""
HEAD = "cmake_minimum_required(VERSION 3.21)\nproject(first LANGUAGES C)\n"
FIND = "find_package(polybuild REQUIRED)\n"


def first_program(folder: Path) -> None:
    """The program of README.md, under the names that pages use, as a project of CMake and of Make."""
    shown = {
        each.language: each.text for each in reversed(blocks_of((ROOT / "README.md").read_text("utf-8")))
    }
    for name in ("multiply.c", "kernels.c", "in.c", "in.reduced.c", "heat.c", "solver.c"):
        (folder / name).write_text(shown["c"])
    (folder / "main.c").write_text(CALLER)
    (folder / "CMakeLists.txt").write_text(HEAD + shown["cmake"])
    (folder / "Makefile").write_text("app: main.c multiply.c\n\t$(CC) -O2 -o $@ $^\n")
    (folder / "board.cmake").write_text("set(CMAKE_C_COMPILER gcc)\n")
    (folder / "include").mkdir()


def example(name: str) -> Callable[[Path], None]:
    """What makes a copy of a folder of the tree the place where a page is read."""
    ignored = shutil.ignore_patterns("build", "*.o", "*.d", "__pycache__")
    return lambda folder: shutil.copytree(ROOT / name, folder, dirs_exist_ok=True, ignore=ignored) and None


def clone(folder: Path) -> None:
    """The program of README.md beside the examples."""
    first_program(folder)
    example("examples")(folder / "examples")


def make_and_cmake(folder: Path) -> None:
    """A project of Make that CMake builds, too."""
    example("tests/projects/program")(folder)
    (folder / "CMakeLists.txt").write_text(f"{HEAD}add_executable(program main.c kernels.c)\n")


PLACES = {
    "docs/guide/compiler-wrapper.md": make_and_cmake,
    "docs/guide/mpi.md": clone,
    "docs/guide/survey.md": clone,
    "docs/guide/what-ran.md": example("tests/projects/reports"),
    "examples/heat-mpi/README.md": example("examples/heat-mpi"),
    "examples/legacy/README.md": example("examples/legacy"),
    "examples/waves-ranks/README.md": example("examples/waves-ranks"),
}
"""Where pages are read; others in a folder with the program of README.md."""

MARKS = {
    "README.md": ["cmake"],
    "docs/guide/ci.md": ["cmake"],
    "docs/guide/cmake.md": ["cmake"],
    "docs/guide/compiler-wrapper.md": ["ccache", "cmake", "make"],
    "docs/guide/gpu.md": ["cmake"],
    "docs/guide/mpi.md": ["mpi"],
    "docs/guide/reporting.md": ["make"],
    "docs/guide/survey.md": ["cmake"],
    "docs/reference/cli.md": ["make", "cmake"],
    "examples/heat-mpi/README.md": ["mpi", "cmake"],
    "examples/legacy/README.md": ["make"],
    "examples/waves-ranks/README.md": ["mpi", "cmake"],
}
"""What pages need besides gcc."""

BACKENDS = {"docs/guide/gpu.md": "opencl"}

QUIET = {"MAKEFLAGS": "B", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
QUIET |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "polybuild_DIR": str(ROOT / "cmake")}


def typed(command: str, folder: Path) -> str:
    """What a command prints; it has to end well."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | QUIET | {"VIRTUAL_ENV": str(folder / "environment")},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def argument(parameter: FunctionParameter, seed: int) -> object:
    """A value for a parameter: sizes for integers; ascending integers, or small numbers, for arrays."""
    kind = np.dtype({"float": "f4", "double": "f8"}.get(parameter.type.name, "i4"))
    if not parameter.is_array:
        return SIZE if kind.kind == "i" else 0.5
    names = dict.fromkeys(("n", "m", "clusters", "features", "steps"), SIZE)
    # of a pointer alone nobody knows how far it goes: pages multiply sums of two sizes
    extents = [_value(each, names) or 16 * SIZE * SIZE for each in parameter.extents]
    if kind.kind == "i":
        return np.sort(np.arange(np.prod(extents)) % SIZE).astype(kind).reshape(extents)
    return np.random.default_rng(seed).random(extents).astype(kind) - kind.type(0.5)


def results(function: LoadedFunction) -> list[object]:
    """What a function returns and leaves in its arrays."""
    arguments = [argument(each, seed) for seed, each in enumerate(function._parameters)]
    returned = function(*arguments)
    return [returned, *(each.tobytes() for each in arguments if isinstance(each, np.ndarray))]


def check_file(
    path: Path, backend: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Functions with regions give the same through polybuild, which has nothing to say of the file."""
    found = []
    with monkeypatch.context() as change:
        change.setenv("POLYBUILD_CACHE", "off")
        for disabled in ("", "1"):
            change.setenv("POLYBUILD_DISABLE", disabled)
            flags = ["-O2", "-ffp-contract=off"]
            module = polybuild.load(str(path), flags=flags, min_work=0, backend=backend)
            found.append([results(getattr(module, name)) for name in module.functions])
    assert found[0] == found[1] != []
    assert "warning" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[getattr(pytest.mark, each) for each in MARKS.get(page, ())])
        for page in SESSIONS
    ],
)
def test_a_page(page, polybuild_on_path, tmp_path, monkeypatch, capfd):
    assert polybuild_on_path.is_dir()
    folder = tmp_path / "place"
    folder.mkdir()
    PLACES.get(page, first_program)(folder)
    (folder / "environment" / "share" / "cmake").mkdir(parents=True)
    (folder / "environment" / "share" / "cmake" / "polybuild").symlink_to(ROOT / "cmake")
    for block in SESSIONS[page]:
        read(block, folder)
        if block.language == "c" and block.title.endswith(".c") and "int main(" not in block.text:
            check_file(folder / block.title, BACKENDS.get(page, "openmp"), monkeypatch, capfd)


def read(block: Block, folder: Path) -> None:
    """Do what a block tells."""
    if " " in block.title:
        assert printed_as(typed(block.title, folder), block.text), typed(block.title, folder)
    elif block.title:
        (folder / block.title).write_text(block.text)
        if block.language == "make":
            typed("make", folder)
    elif block.language == "cmake":
        build = folder / f"cmake-{block.number}"
        build.mkdir()
        (build / "CMakeLists.txt").write_text(
            HEAD + ("" if "find_package" in block.text else FIND) + block.text
        )
        for each in folder.glob("*.c"):
            shutil.copy(each, build)
        typed("cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build && build/app", build)
    elif block.language == "python":
        (folder / "typed.py").write_text(block.text)
        typed(f"PYTHONPATH={ROOT} python3 typed.py", folder)
    elif block.language == "console":
        for part in block.text.removeprefix("$ ").split("\n$ "):
            command, _, lines = part.partition("\n")
            printed = typed(command, folder)
            assert printed_as(printed, lines), f"{command}\n{printed}"
    else:
        lines = [each for each in block.lines if not elsewhere(each)]
        typed("\n".join(lines), folder)
