"""The CMake functions: every way to have sources transformed, and the ways to have them left alone."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cmake_project import GENERATORS, ROOT, Project, copy_of, run_or_fail, subdirectory_settings

pytestmark = [pytest.mark.cmake, pytest.mark.cxx]  # the project of all kinds has sources in C++

GENERATOR = "Ninja"


def result(factor: int = 2, n: int = 200) -> str:
    """What the programs of the project ``kinds`` print."""
    return str(sum((i + 3 * j) % 7 * factor * (i + 2 * j) for i in range(n) for j in range(n)))


@pytest.fixture(scope="module", params=GENERATORS)
def kinds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project ``kinds``, built; tests leave it as it is."""
    project = copy_of("kinds", tmp_path_factory.mktemp("kinds"), request.param, subdirectory_settings())
    project.build()
    return project


def transformed_sources(project: Project, owner: str) -> set[str]:
    """The files of a target (or output variable) with a transformed region, by name."""
    folders = [folder for folder in project.build_directory.rglob(f"polybuild/{owner}") if folder.is_dir()]
    return {
        Path(region["file"]).name
        for folder in folders
        for report in folder.rglob("*.json")
        for region in json.loads(report.read_text())["regions"]
        if region["status"] == "transformed"
    }


@pytest.mark.fast(kinds=["Ninja"])
@pytest.mark.parametrize(
    ("program", "owner", "expected"),
    [
        ("from_static", "fill_static", result()),
        ("from_shared", "fill_shared", result()),
        ("from_object", "fill_object", result()),
        ("existing", "existing", result()),
        ("elsewhere/elsewhere", "elsewhere", result()),
        ("transpiled", "files", result(factor=5)),
        ("mixed", "mixed", str(int(result()) + 1)),
        ("generated", "generated", result(factor=3)),
        ("precompiled", "precompiled", result(factor=6)),
        ("awkward", "awkward", f'{result()}\nit\'s "5 $" x 1'),
        ("unity", "unity", result()),
        ("fetched", "foreign_fill", result()),
    ],
)
def test_way_to_transform(kinds: Project, program: str, owner: str, expected: str) -> None:
    assert kinds.run(program) == expected
    assert transformed_sources(kinds, owner) == {"fill.c"}


def test_options_of_one_source(kinds: Project) -> None:
    assert kinds.run("tuned") == result()
    (region,) = json.loads(kinds.generated("tuned.c.json").read_text())["regions"]
    assert region["tile_sizes"] == [[4, 16]]


def test_source_shared_with_a_plain_target(kinds: Project) -> None:
    assert kinds.run("plain") == result()
    assert not list(kinds.build_directory.rglob("polybuild/plain"))
    objects = [path for path in kinds.build_directory.rglob("fill.c.o") if "plain.dir" in path.parts]
    assert len(objects) == 1


def test_only_the_named_source(kinds: Project) -> None:
    folder = kinds.build_directory / "polybuild" / "existing"
    assert {path.name for path in folder.rglob("*.c")} == {"fill.c"}


def test_header_that_the_build_makes(kinds: Project) -> None:
    assert kinds.run("generated") == result(factor=3)
    for old, new in ((3, 4), (4, 3)):
        kinds.edit("made.txt", str(old), str(new))
        assert "Transforming fill.c" in kinds.build("--target", "generated")
        assert kinds.run("generated") == result(factor=new)


@pytest.mark.parametrize("way", ["variable", "environment"])
def test_disabled(tmp_path: Path, way: str) -> None:
    kinds = copy_of("kinds", tmp_path, GENERATOR, subdirectory_settings())
    if way == "variable":
        kinds.configure("-DPOLYBUILD_DISABLE=ON")
    else:
        kinds.configure(env={"POLYBUILD_DISABLE": "1"})
    targets = ("--target", "from_static", "transpiled")
    assert "Transforming" not in kinds.build(*targets)
    assert not list(kinds.build_directory.rglob("polybuild/*/*.json"))
    assert kinds.run("from_static") == result()
    assert kinds.run("transpiled") == result(factor=5)
    kinds.configure("-DPOLYBUILD_DISABLE=OFF")
    kinds.build(*targets)
    assert transformed_sources(kinds, "fill_static") == {"fill.c"}


def test_without_openmp(tmp_path: Path) -> None:
    settings = [*subdirectory_settings(), "-DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON"]
    app = copy_of("app", tmp_path, GENERATOR, settings)
    assert "one thread" in app.configure()
    app.build()
    before = app.run("app")
    app.configure("-DPOLYBUILD_DISABLE=ON")
    app.build()
    assert app.run("app") == before


def test_region_that_is_kept(tmp_path: Path) -> None:
    app = copy_of("app", tmp_path, GENERATOR, subdirectory_settings())
    app.edit("src/kernels.c", "#pragma endscop", "  goto end;\n{ end:; }\n#pragma endscop")
    log = app.build()
    assert re.search(r"kernels\.c:\d+(:\d+)?: warning: .*\[-Wpolybuild-", log), log
    assert app.run("app")
    app.edit("CMakeLists.txt", "MIN_WORK 0", "MIN_WORK 0 ON_UNSUPPORTED error")
    log = app.build(check=False)
    assert re.search(r"kernels\.c:\d+(:\d+)?: error: ", log), log


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose text is for each test to write; what CMake finds out of the compiler, it does once."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "src").mkdir()
    (folder / "src" / "main.c").write_text("int main(void) { return 0; }\n")
    return Project(folder, folder / "build", GENERATOR)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("polybuild_add_executable(app src/main.c FUSION)", "option FUSION needs a value"),
        ("add_executable(app src/main.c)\npolybuild_target(app nonsense)", "'nonsense' is not an option"),
        ("add_executable(app src/main.c)\npolybuild_target(app SOURCES none.c)", "is not a C source of"),
        ("polybuild_target(nothing)", "there is no target 'nothing'"),
        ("add_library(i INTERFACE)\npolybuild_target(i)", "compiles nothing"),
        ("polybuild_transpile(src/main.c)", "OUTPUT_VARIABLE"),
        ("polybuild_add_executable(app src/main.c MODE other)", "REWRITE or LAUNCHER, not 'OTHER'"),
        (
            "add_executable(app src/main.c)\npolybuild_target(app SOURCES src/main.c MODE LAUNCHER)",
            "SOURCES needs MODE REWRITE",
        ),
    ],
)
def test_wrong_use(wrong: Project, call: str, message: str) -> None:
    (wrong.source / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.21)\nproject(wrong C)\nadd_subdirectory({ROOT} tool)\n{call}\n"
    )
    log = wrong.configure(*subdirectory_settings(), check=False)
    assert message in " ".join(log.split())


@pytest.mark.network
def test_dependencies_are_installed_into_the_build_tree(tmp_path: Path) -> None:
    """A subdirectory build whose Python has nothing but the standard library."""
    bare = tmp_path / "bare"
    run_or_fail(sys.executable, "-m", "venv", "--without-pip", bare)
    settings = [f"-DPOLYBUILD_TREE={ROOT}", f"-DPython3_EXECUTABLE={bare / 'bin' / 'python'}"]
    app = copy_of("app", tmp_path, GENERATOR, settings)
    app.build()
    assert transformed_sources(app, "app") == {"kernels.c"}


@pytest.mark.network
def test_installation_knows_its_cmake_files(installation: Path) -> None:
    def ask(question: str) -> Path:
        command = [installation / "bin" / "polybuild", question]
        return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())

    assert ask("--cmakedir") == installation / "share" / "cmake" / "polybuild"
    shipped = {path.name for path in ask("--cmakedir").iterdir()}
    assert shipped == {
        "polybuildConfig.cmake",
        "polybuildConfigVersion.cmake",
        "PolybuildCompile.sh",
        "PolybuildFunctions.cmake",
        "PolybuildOptions.cmake",
    }
    assert (ask("--includedir") / "polybuild.h").is_file()


@pytest.mark.network
def test_found_without_being_told_when_the_environment_is_active(tmp_path: Path, installation: Path) -> None:
    path = f"{installation / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    project = Project(ROOT / "tests" / "projects" / "app", tmp_path / "build", "Unix Makefiles")
    project.configure(env={"PATH": path})
    cache = (tmp_path / "build" / "CMakeCache.txt").read_text()
    assert f"polybuild_DIR:PATH={installation}/share/cmake/polybuild" in cache


@pytest.mark.fast(arguments=["FUSION maximal"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("FUSION maximal", "FUSION must be one of auto, min, max, depth, not 'maximal'"),
        ("TILE maybe", "TILE must be one of on, off, not 'maybe'"),
        (
            "TILE_SIZES 32 99999999999",
            "TILE_SIZES must be whole numbers from 1 to 1048576, not '32,99999999999'",
        ),
        ("VECTOR_SIZE 7", "VECTOR_SIZE must be one of 0, 8, 16, 32, 64, not '7'"),
        ("MIN_WORK -1", "MIN_WORK must be whole numbers from 0 to 4611686018427387903, not '-1'"),
        ("BLOCK_SIZES 1 2 3 4", "BLOCK_SIZES must be at most 3 numbers"),
        ("TEMPORARY a-b", "TEMPORARY must be names separated by commas, not 'a-b'"),
        ("TILE_SIZE 32", "unknown option 'TILE_SIZE'; known are MODE, BACKEND, "),
    ],
)
def test_wrong_options_stop_the_configuration(tmp_path: Path, arguments: str, message: str) -> None:
    project = one_file(tmp_path, f"polybuild_add_executable(one one.c {arguments})\n")
    said = project.configure(*subdirectory_settings(), check=False)
    assert message in " ".join(said.split())


def test_the_file_of_the_machine_lies_beside_the_project(tmp_path: Path) -> None:
    project = one_file(
        tmp_path,
        "polybuild_add_executable(one one.c MACHINE Target.toml)\n"
        "polybuild_add_executable(two one.c)\n"
        "set_source_files_properties(one.c PROPERTIES POLYBUILD_MACHINE Target.toml)\n",
    )
    region = "#pragma scop\n  for (int i = 0; i < 100; i++) a[i] = i;\n#pragma endscop\n"
    (project.source / "one.c").write_text(f"int a[100];\nint main(void) {{\n{region}  return a[0];\n}}\n")
    (project.source / "Target.toml").write_text("version = 1\n[l2]\nsize = 3\n")
    project.configure(*subdirectory_settings())
    said = " ".join(project.build().split())
    assert f"{project.source}/Target.toml:3: warning: unknown figure 'l2.size' of a machine" in said
    (project.source / "Target.toml").write_text("version = 1\n")
    assert "warning" not in project.build()


def test_wrong_options_of_a_source_stop_the_configuration(tmp_path: Path) -> None:
    project = one_file(
        tmp_path,
        "polybuild_add_executable(one one.c)\n"
        "set_source_files_properties(one.c PROPERTIES POLYBUILD_FUSION maximal)\n",
    )
    said = project.configure(*subdirectory_settings(), check=False)
    assert "FUSION must be one of auto, min, max, depth" in " ".join(said.split())


def test_right_options_and_files_in_capitals_are_taken(tmp_path: Path) -> None:
    project = one_file(
        tmp_path,
        "polybuild_add_executable(\n"
        "  one WIN32 one.c README TILE_SIZES 32 16 TILE ON FUSION MAX TEMPORARY T,u MIN_WORK 0)\n",
    )
    (project.source / "README").write_text("read me")
    project.configure(*subdirectory_settings())


def test_regions_in_cxx_are_told_of(tmp_path: Path) -> None:
    project = one_file(tmp_path, "enable_language(CXX)\npolybuild_add_executable(one one.c two.cpp)\n")
    (project.source / "two.cpp").write_text("void f() {\n  #pragma scop\n  #pragma endscop\n}\n")
    said = project.configure(*subdirectory_settings())
    assert "two.cpp is C++, so its marked regions stay as they are" in " ".join(said.split())


STRICT = """\
add_compile_options(-Wall -Werror -Wno-polybuild)
polybuild_add_executable(one one.c)
polybuild_transpile(two.c OUTPUT_VARIABLE two)
target_sources(one PRIVATE ${two})
"""
KEPT = """\
int %s(void) {
  int s = 0;
#pragma scop
  for (int i = 0; i < 9; i++) if (i == 7) goto end; else s++;
  { end: ; }
#pragma endscop
  return s;
}
"""


@pytest.mark.parametrize("settings", [["-DPOLYBUILD_DISABLE=ON"], [], ["-DPOLYBUILD_MODE=LAUNCHER"]])
def test_marks_that_stay_are_no_errors(tmp_path: Path, settings: list[str]) -> None:
    project = one_file(tmp_path, STRICT)
    (project.source / "one.c").write_text(KEPT % "main")
    (project.source / "two.c").write_text(KEPT % "two")
    project.configure(*subdirectory_settings(), *settings)
    project.build()


ITS_NAME = """\
#include <stdio.h>
int main(void) {
  puts(__FILE__);
  puts(__BASE_FILE__);
  return 0;
}
"""


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("mode", ["REWRITE", "LAUNCHER"])
def test_the_users_own_files_are_compiled(tmp_path: Path, generator: str, mode: str) -> None:
    project = one_file(tmp_path, f"polybuild_add_executable(one one.c fill.c MODE {mode})\n", generator)
    (project.source / "one.c").write_text(ITS_NAME)
    (project.source / "fill.c").write_text(
        "void fill(int n, double *a) {\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) a[i] = i;\n#pragma endscop\n}\n"
    )
    project.configure(*subdirectory_settings(), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    project.build()
    assert project.run("one").splitlines() == [str(project.source / "one.c")] * 2
    commands = json.loads((project.build_directory / "compile_commands.json").read_text())
    assert {each["file"] for each in commands} == {str(project.source / name) for name in ("one.c", "fill.c")}
    for each in commands:
        compiler, *words = shlex.split(each["command"])
        assert "cc" in Path(compiler).name
        assert words[-1] == each["file"]
    (made,) = (path for path in project.build_directory.rglob("fill.c.o") if "one.dir" in path.parts)
    assert b"GOMP_parallel" in made.read_bytes()


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_a_file_that_comes_to_be_transformed_is_compiled_again(tmp_path: Path, generator: str) -> None:
    """The option changes what is made of the file, not the file, nor its command line."""
    project = one_file(tmp_path, "polybuild_add_executable(one one.c ${OPTIONS})\n", generator)
    (project.source / "one.h").write_text(
        "static void fill(int n, double *a) {\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) a[i] = i;\n#pragma endscop\n}\n"
    )
    (project.source / "one.c").write_text(
        '#include "one.h"\ndouble a[99];\nint main(int n, char **v) { fill(n, a); return !v; }\n'
    )
    for options, parallel in (("", False), ("HEADERS on", True), ("HEADERS off", False)):
        project.configure(*subdirectory_settings(), f"-DOPTIONS={options.replace(' ', ';')}")
        project.build()
        (made,) = (path for path in project.build_directory.rglob("one.c.o") if "one.dir" in path.parts)
        assert (b"GOMP_parallel" in made.read_bytes()) == parallel
    before = project.state()
    project.build()
    assert project.state() == before


def one_file(directory: Path, rules: str, generator: str = GENERATOR) -> Project:
    """A project of one C file with a region."""
    source = directory / "source"
    source.mkdir()
    head = "cmake_minimum_required(VERSION 3.21)\nproject(one C)\n"
    head += "add_subdirectory(${POLYBUILD_TREE} polybuild)\n"
    (source / "CMakeLists.txt").write_text(head + rules)
    (source / "one.c").write_text("int main(void) { return 0; }\n")
    return Project(source, directory / "build", generator)


def test_the_summary_of_a_build(kinds):
    told = kinds.build("--target", "polybuild-summary")
    assert re.search(r"fill\.c: 1 region\n +\d+-\d+ +fill +(parallel|tiled|vectorised)", told)
    assert re.search(r"\d+ regions in \d+ files: .*\d+ (parallel|tiled|vectorised)", told)
