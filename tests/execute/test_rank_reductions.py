"""Reductions that ranks run in parts: the bits of one process in integers and minima, and close in sums."""

from __future__ import annotations

import math
import subprocess

import pytest
from kernel_programs import SANITIZERS
from test_parallel_reductions import BODIES, FLAGS, INEXACT, program

from polybuild.driver.file import compile_source
from polybuild.options import Options
from tests.mpi_libraries import assert_all_print

pytestmark = pytest.mark.mpi

# what ranks have in parts though a loop around, or other loops, are theirs, too
NESTED = {
    "in steps": """for (int t = 0; t < 4; t++) {
      for (int i = 0; i < n; i++) s += a[i];
      for (int i = 0; i < n; i++) a[i] = b[i] ^ s; }""",
    "of what ranks made": """for (int i = 0; i < n; i++) b[i] = a[i] ^ i;
      for (int i = 0; i < n; i++) s += b[i];""",
    "elements": "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) x[j % n] += 1;",
    "kept whole": """for (int i = 0; i < n; i++) if (a[i] > s) s = a[i];
      for (int i = 0; i < n; i++) u |= b[i];""",
}


def built(folder, mpi, text, options):
    """The program ``text`` on ranks, as one process, and what was said of its regions."""
    (folder / "in.c").write_text(_in_whole_lines(text))
    flags = [*FLAGS[:2], "-O1", "-w"]
    result = compile_source(str(folder / "in.c"), options, [mpi.compiler], flags)
    assert {each.status for each in result.regions} == {"transformed"}
    (folder / "out.c").write_text(result.text)
    # sums of random numbers wrap around in the original, too
    sanitizers = [each.replace("undefined", "undefined,float-divide-by-zero") for each in SANITIZERS]
    command = [mpi.compiler, *flags, "-fopenmp", *sanitizers, "-fno-sanitize=signed-integer-overflow"]
    subprocess.run([*command, folder / "out.c", "-o", folder / "out", "-lm"], check=True)
    subprocess.run(["gcc", *flags, folder / "in.c", "-o", folder / "in", "-lm"], check=True)
    expected = subprocess.run([folder / "in"], check=True, capture_output=True, text=True)
    return folder / "out", expected.stdout.splitlines(), result.regions


def _in_whole_lines(text):
    """The program with each of its lines, which are short then, written at once: those of ranks mix."""
    for before, after in (
        ("int main(void)\n{", "int main(void)\n{\n  setvbuf(stdout, 0, _IOLBF, 0);"),
        (
            "  printf(",
            "  double w = 0;\n  for (int i = 0; i < n; i++) w += isnan(x[i]) ? i : i * x[i];\n  printf(",
        ),
        (' %llu", number', ' %llu %.17g\\n", number'),
        (", sum);\n", ", sum, w);\n"),
        ('  for (int i = 0; i < n; i++) printf(" %.17g", x[i]);\n  puts("");\n', ""),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    return text


def test_exact_reductions(some_mpi, tmp_path):
    shared, expected, regions = built(
        tmp_path, some_mpi, program(BODIES | NESTED, 2147483647), Options(min_work=0, distribute="mpi")
    )
    told = [" ".join(each.remarks) for each in regions]
    parts = {name for name, each in zip(BODIES | NESTED, told, strict=True) if "their parts of" in each}
    assert {"sum", "maximum", "bits", "largest magnitude", "in steps", "of what ranks made"} <= parts
    assert not parts & {"read in between", "prefix", "rows", "local"}
    for ranks in (1, 3, 4):
        assert_all_print(some_mpi.run(shared, ranks), expected, ranks)


def test_sums_in_another_order_are_the_same_on_all_ranks(mpi, tmp_path):
    """Ranks may not wait for whoever comes first: they and each run have the same bits."""
    options = Options(min_work=0, distribute="mpi", allow_reassociation=True)
    shared, expected, regions = built(tmp_path, mpi, program(INEXACT, 1000), options)
    assert any("their parts of 'f'" in remark for each in regions for remark in each.remarks)
    runs = [mpi.run(shared, ranks) for ranks in (1, 3, 3)]
    first = [line for position, line in enumerate(sorted(runs[1].stdout.splitlines())) if position % 3 == 0]
    assert_all_print(runs[1], first, 3)
    assert sorted(runs[1].stdout.splitlines()) == sorted(runs[2].stdout.splitlines())
    for found in (sorted(runs[0].stdout.splitlines()), first):
        for one, other in zip(found, sorted(expected), strict=True):
            assert all(map(_close, one.split(), other.split())), (one, other)


def _close(one: str, other: str) -> bool:
    first, second = float(one), float(other)
    return math.isclose(first, second, rel_tol=1e-6) or (math.isnan(first) and math.isnan(second))


def test_proof_of_a_block_asks_for_the_order_of_its_instances_alone(some_mpi, tmp_path):
    """All that a loop of two levels accumulates in one element, every second iteration of the inner one."""
    body = """for (int i = 3; i < n + 2; i++)
      for (int j = n - 2; j >= 3; j = j - 2) b[0] += (unsigned)a[j];"""
    options = Options(min_work=0, distribute="mpi", fusion="max")
    shared, expected, (region,) = built(
        tmp_path, some_mpi, program({"every second": body}, 2147483647), options
    )
    assert "their parts of 'b'" in " ".join(region.remarks)
    for ranks in (1, 3):
        assert_all_print(some_mpi.run(shared, ranks), expected, ranks)
