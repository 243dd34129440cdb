"""What is built again, and what not: each generator, polybuild installed and as a subdirectory."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cmake_project import CONFIGURATION, Project, copy_of

PLACES = [
    ("Ninja", "installed"),
    ("Ninja", "subdirectory"),
    ("Unix Makefiles", "installed"),
    ("Ninja Multi-Config", "subdirectory"),
]
"""A generator, and where polybuild is found, which makes no difference to what a generator does with it."""

pytestmark = [
    pytest.mark.cmake,
    pytest.mark.network,
    pytest.mark.parametrize(("generator", "polybuild_settings"), PLACES, indirect=True, scope="module"),
]


def result(factor: int = 2, shift: int = 1, offset: int = 0, n: int = 50) -> str:
    """What the program of the project ``app`` prints."""
    return str(sum((i + 3 * j) * (factor * (i + 2 * j) + shift + offset) for i in range(n) for j in range(n)))


def transformed(log: str) -> set[str]:
    return set(re.findall(r"Transforming (\S+) with polybuild", log))


def test_first_build(first_build: tuple[Project, str]) -> None:
    app, log = first_build
    assert transformed(log) == {"main.c", "kernels.c"}
    assert app.run("app") == result()
    (region,) = json.loads(app.generated("kernels.c.json").read_text())["regions"]
    assert region["status"] == "transformed", region
    assert Path(region["file"]).name == "kernels.c"
    assert region["backend"] == "openmp"
    assert region["parallel_loops"] == 1
    assert region["tile_sizes"] == [[16, 16]]
    assert CONFIGURATION in str(app.generated("kernels.c")) or "Multi" not in app.generator


def test_no_edit_builds_nothing(app: Project) -> None:
    before = app.state()
    assert len(before) > 8
    log = app.build()
    assert app.state() == before
    if app.generator.startswith("Ninja"):
        assert "no work to do" in log
    else:
        assert not re.search(r"Transforming|Building|Linking|Generating", log), log


def test_source_edit(app: Project) -> None:
    app.edit("src/kernels.c", "OFFSET 0", "OFFSET 5")
    assert transformed(app.build()) == {"kernels.c"}
    assert app.run("app") == result(offset=5)


def test_header_edit(app: Project) -> None:
    app.edit("include/factor.h", "FACTOR 2", "FACTOR 3")
    assert transformed(app.build()) == {"kernels.c"}
    assert app.run("app") == result(factor=3)
    app.edit("src/kernels.h", "void fill", "extern void fill")
    assert transformed(app.build()) >= {"kernels.c"}
    assert app.run("app") == result(factor=3)


def test_flag_edit(app: Project) -> None:
    app.configure("-DSHIFT=7")
    assert "kernels.c" in transformed(app.build())
    assert app.run("app") == result(shift=7)
    app.configure(f"-DCMAKE_C_FLAGS_{CONFIGURATION.upper()}=-O1 -DFACTOR_UNUSED='a b'")
    assert "kernels.c" in transformed(app.build())
    assert app.run("app") == result(shift=7)


def test_option_edit(app: Project) -> None:
    app.edit("CMakeLists.txt", "TILE_SIZES 16 16", "TILE_SIZES 8 4")
    assert "kernels.c" in transformed(app.build())
    (region,) = json.loads(app.generated("kernels.c.json").read_text())["regions"]
    assert [8, 4] in region["tile_sizes"]
    assert app.run("app") == result()


@pytest.mark.parametrize("name", ["path of wärme (a+b)"])
def test_awkward_path(tmp_path: Path, generator: str, polybuild_settings: list[str], name: str) -> None:
    (tmp_path / name).mkdir()
    app = copy_of("app", tmp_path / name, generator, polybuild_settings)
    app.build()
    assert app.run("app") == result()
    app.edit("include/factor.h", "FACTOR 2", "FACTOR 3")
    app.build()
    assert app.run("app") == result(factor=3)
    before = app.state()
    app.build()
    assert app.state() == before
