"""Temporary arrays in scalar variables: the report's kernels at small sizes, and what each array becomes."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from benchmarks.contraction.__main__ import ALL, SETTINGS, build, memory, without_extents, wrong
from polybuild.options import Options

# smaller than a tile of four, just one, and with a rest
SIZES = (1, 2, 3, 4, 6, 13, 24)

# Without optimisation, where variables pay most. The first two are the report's scenarios (section IV-A).
KEPT = {
    "blur": "'t' is kept in 12 variables: [i][j] in (i mod 4, j mod 3)",
    "blur_permuted": "'t' is kept in 3 variables: [i][j] in (j mod 3)",
    "blur_stages": "elements of 'in' are copied to 3 variables while they are in use: [i][j] in (j mod 3)",
    "fibonacci": "'t' is kept in 2 variables: [i] in (i mod 2)",
    "pc_1d": "'t' is kept in 3 variables: [i] in (i mod 3)",
    "pc_2d_interleaved": "'t' is kept in a variable",
    "pc_2d": "",
    "cnn": "'t' is kept in a variable",
    "two_products": "'t' is kept in a variable",
    "gemm": "'t' is kept in a variable",
    "poly": "'t' is kept in a variable",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    options = Options(parallel=False, min_work=0)
    return build(tmp_path_factory.mktemp("scalars") / "O0", SETTINGS["O0"], options)


@pytest.mark.fast
def test_what_each_array_is_kept_in(programs):
    before = " instead of (n - 2) x n elements"
    assert programs.remarks["blur"] == KEPT["blur"].replace(":", f"{before}:")
    assert {name: without_extents(each) for name, each in programs.remarks.items()} == KEPT


@pytest.mark.parametrize("kernel", ALL, ids=lambda each: each.name)
def test_results(programs, kernel):
    assert [n for n in SIZES if wrong(programs, kernel, n)] == []


def test_whole_tiles_have_no_conditions(programs):
    text = programs.contracted.with_suffix(".c").read_text()
    start = text.index("static void blur(")
    core = text[text.index("for (register long long tile_y", start) :]
    core = core[: core.index("}")]
    assert core.count("t_buffer_3_2") > 1
    assert "if (" not in core


def test_unoptimised_loops_keep_counters_and_bounds_in_registers(programs):
    text = programs.contracted.with_suffix(".c").read_text()
    start = text.index("static void poly(")
    core = text[start : text.index("the original", start)]
    assert core.count("for (register long long") == core.count("for (") == 2
    assert core.count("_end = ") == 2
    assert "register const long long pb_n = n;" in core


def test_with_threads_and_few_variables(tmp_path):
    options = replace(Options(min_work=0), contract_arrays="scalars", scalars=7)
    few = build(tmp_path / "few", SETTINGS["O0"], options)
    assert without_extents(few.remarks["blur"]) == "'t' is kept in 6 variables: [i][j] in (i mod 2, j mod 3)"
    assert few.remarks["pc_1d"] == ""  # its loops would not run on threads
    kernels = [each for each in ALL if each.name in {"blur", "blur_permuted", "cnn", "poly"}]
    assert [each.name for each in kernels for n in SIZES if wrong(few, each, n)] == []


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_compilers_have_nothing_to_say(programs, level):
    source = programs.contracted.with_suffix(".c")
    flags = [level, "-Wall", "-Wextra", "-Wno-unknown-pragmas"]
    done = subprocess.run(
        ["gcc", *flags, "-c", str(source), "-o", "/dev/null"], check=True, capture_output=True, text=True
    )
    assert done.stderr == ""


def test_untouched_temporaries_take_no_memory(tmp_path):
    before, after = memory(tmp_path, 3000)
    assert before - after > 0.9 * 3000 * 3000 * 4 / 1024
