"""Generated code as compilers, debuggers and coverage see it: no warnings, and no lines but the user's."""

from __future__ import annotations

import itertools
import re
import subprocess

import pytest
from compiling import transform, write
from feature_programs import FEATURES

from polybuild.integrations.locations import include_dir

WARNINGS = (
    *("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow"),
    *("-Wcast-qual", "-Wstrict-aliasing=2", "-Wundef", "-Wfloat-conversion", "-Wvla", "-Werror"),
)
PLAIN = (*WARNINGS, "-Wno-unknown-pragmas")

HEAT = """\
#include <stdio.h>
enum { N = 300, STEPS = 40 };
static double now[N][N], next[N][N];
static void heat(void)
{
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        next[i][j] = (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]) / 4;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        now[i][j] = next[i][j];
  }
#pragma endscop
}
static double A[N][N], B[N][N], C[N][N];
static void product(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0;
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      now[i][j] = i * j % 7;
      A[i][j] = now[i][j];
      B[i][j] = i - j;
    }
  heat();
  product();
  printf("%g %g\\n", now[9][9], C[9][9]);
  return 0;
}
"""
REGIONS = {"heat": range(6, 16), "product": range(20, 28)}
HEADS = {4, 18}
"""The heads of the functions, which a compiler may inline or not."""
CODE = [7, 8, 9, 10, 13, 21, 22, 23, 24, 25]
"""The lines of statements, and of loops that share no generated loop with one before them."""


def compiled(command, source, *flags):
    """What ``source`` becomes, beside it; no messages are allowed."""
    target = source.with_suffix(".o" if "-c" in flags else ".exe")
    done = subprocess.run(
        [*command, *flags, str(source), "-o", str(target)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=source.parent,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return target


def line_table(program):
    """The lines that instructions belong to, by the name of their file."""
    command = ["objdump", "--dwarf=decodedline", str(program)]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    found: dict[str, set[int]] = {}
    for file, line in re.findall(r"^(\S+)\s+(\d+)\s+0", text, flags=re.MULTILINE):
        found.setdefault(file.rpartition("/")[2], set()).add(int(line))
    return {file: lines - {0} for file, lines in found.items()}  # clang has 0 for what is of no line


@pytest.mark.fast(name=["register tiles", "counters of the user's"])
@pytest.mark.parametrize("name", FEATURES)
def test_there_are_no_warnings(name, tmp_path):
    feature = FEATURES[name]
    source = tmp_path / "in.c"
    text = transform(source, feature.text, *feature.flags, **feature.options).text
    assert feature.sign in text
    written = write(tmp_path / "out.c", text)
    include = f"-I{include_dir()}"
    for compiler in ("gcc", "clang"):
        compiled([compiler], source, *PLAIN, *feature.flags, "-c")
        for openmp in ((), ("-fopenmp",)):
            compiled([compiler], written, *PLAIN, *feature.flags, *openmp, include, "-c")


@pytest.mark.parametrize("name", FEATURES)
def test_every_instruction_is_on_a_line_of_the_region(name, tmp_path):
    feature = FEATURES[name]
    source = tmp_path / "in.c"
    result = transform(source, feature.text, *feature.flags, **feature.options)
    written = write(tmp_path / "out.c", result.text)
    (region,) = result.regions
    wanted = set(range(region.line, region.end_line + 1))
    include = f"-I{include_dir()}"
    for compiler in ("gcc", "clang"):
        for level in ("-O0", "-O2"):
            flags = (*feature.flags, level, "-g", "-fopenmp", "-c")
            original = line_table(compiled([compiler], source, "-Wno-unknown-pragmas", *flags))
            table = line_table(compiled([compiler], written, *flags, include))
            assert table["in.c"] - original["in.c"] <= wanted
            assert "out.c" not in table


@pytest.mark.fast(compiler=["gcc"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_lines_of_two_regions(compiler, tmp_path):
    source = tmp_path / "in.c"
    written = write(tmp_path / "out.c", transform(source, HEAT, "-O2").text)
    original: set[int] = set()
    for level in ("-O0", "-O2"):
        original |= line_table(compiled([compiler], source, "-Wno-unknown-pragmas", level, "-g"))["in.c"]
        lines = line_table(compiled([compiler], written, level, "-g", "-fopenmp"))["in.c"]
        assert lines - original <= HEADS.union(*REGIONS.values())
        assert set(CODE) <= lines


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_coverage_is_of_one_file(compiler, tmp_path):
    source = tmp_path / "in.c"
    written = write(tmp_path / "out.c", transform(source, HEAT, "-O2").text)
    program = compiled([compiler], written, "-O0", "--coverage")
    subprocess.run([str(program)], check=True, capture_output=True, timeout=60, cwd=tmp_path)
    (notes,) = tmp_path.glob("*.gcno")
    tool = {"gcc": ["gcov"], "clang": ["llvm-cov", "gcov"]}[compiler]
    subprocess.run([*tool, notes.name], check=True, capture_output=True, timeout=60, cwd=tmp_path)
    found = [path.name for path in tmp_path.glob("*.gcov")]
    assert found == ["in.c.gcov"]
    counts = re.findall(
        r"^ *(\d+|#+|-)\*?: *(\d+):", (tmp_path / "in.c.gcov").read_text(), flags=re.MULTILINE
    )
    counted = {int(line): int(count) for count, line in counts if count.isdigit()}
    if compiler == "gcc":  # clang books the ends of loops on their last statements
        assert counted[10] == counted[13] == 40 * 298 * 298
    assert all(counted.get(line, 0) for line in CODE)
    assert max(counted) <= HEAT.count("\n")


@pytest.mark.gdb
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_debugger_stays_in_the_region(compiler, tmp_path):
    source = tmp_path / "in.c"
    written = write(tmp_path / "out.c", transform(source, HEAT, "-O0").text)
    program = compiled([compiler], written, "-O0", "-g")
    first = [(f"tbreak in.c:{line}", "run", "kill") for line in CODE]
    assert stops(program, tmp_path, *itertools.chain.from_iterable(first)) == CODE
    region = REGIONS["heat"]
    seen = stops(program, tmp_path, "break heat", "run", *["next"] * 60, "kill")
    inside = seen[: next((at for at, line in enumerate(seen) if line > region[-1]), len(seen))]
    assert set(inside[1:]) <= set(region)
    assert len(inside) > 20 or seen[len(inside)] == region[-1] + 1


def stops(program, folder, *script):
    """The lines that a debugger shows itself at after these commands."""
    command = ["gdb", "-nx", "-batch", *(word for each in script for word in ("-ex", each)), str(program)]
    text = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
    ).stdout
    return [int(each) for each in re.findall(r"^(\d+)\t", text, flags=re.MULTILINE)]
