from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.driver import output
from polybuild.driver.file import FileResult, compile_source
from polybuild.options import Options
from polybuild.report.explain import explanation
from polybuild.report.explain.explanation import Level, remark
from polybuild.report.explain.gather import gather
from polybuild.report.explain.terminal import Style
from polybuild.report.record.json import as_json
from polybuild.report.record.model import PredictedCandidate, Prediction, RegionReport

PLAIN = Style()
DONE = RegionReport(
    "in.c",
    3,
    9,
    "transformed",
    backend="openmp",
    parallel_loops=1,
    tile_sizes=((32, 16), (8,)),
    statements=2,
    assumptions=("n < 100 (an index would overflow)",),
    remarks=("the loops i and j were interchanged",),
)
KEPT = RegionReport("in.c", 12, 15, "kept", code="loop-bound", message="not affine")


def explain(path, regions, diagnostics, style):
    return explanation.explain(path, *gather(FileResult("", tuple(regions), tuple(diagnostics), ())), style)


def refusal(line, file="in.c"):
    return Diagnostic(Severity.WARNING, "loop-bound", "not affine", Location(file, line, 1))


def test_a_transformed_region_tells_all_that_is_known():
    text = explain("in.c", [DONE], [], PLAIN)
    for part in ("in.c:3-9:", "openmp", "2 statements", "1 parallel loop,", "32x16 and 8"):
        assert part in text
    assert DONE.assumptions[0] in text
    assert DONE.remarks[0] in text


def test_what_costs_are_expected_is_told():
    parts = dict.fromkeys(("arithmetic", "accesses", "caches", "memory", "pages", "conflicts"), 0.0)
    original, new = {**parts, "waiting": 4e6, "memory": 1e6}, {**parts, "waiting": 5e5, "memory": 1e6}
    prediction = Prediction(
        4e6,
        1e6,
        5e5,
        {"n": 1000},
        {"original": original, "one_thread": new, "all_threads": new},
        (PredictedCandidate("tiles", 1e6, 5e5), PredictedCandidate("fused", 8e6, 8e6)),
    )
    text = explain("in.c", [replace(DONE, prediction=prediction)], [], PLAIN)
    assert (
        "expected for n = 1000: 4 times the original on one thread, 8 times on all;"
        " waiting for results 4 -> 0.5 ms; not chosen: 'fused' 0.5 times"
    ) in text


def test_a_kept_region_has_its_diagnostic_below_it():
    text = explain("in.c", [DONE, KEPT], [refusal(13)], PLAIN)
    assert "in.c: 2 regions\n  3-9      parallel and tiled: " in text
    text = text[text.index("in.c:3-9:") :]
    assert text.index("in.c:12-15:") < text.index("in.c:13:1: warning: not affine [-Wpolybuild-loop-bound]")
    assert text.count("not affine") == 1


def test_a_diagnostic_in_a_header_still_belongs_to_its_region():
    text = explain("in.c", [KEPT], [refusal(99, "macros.h")], PLAIN)
    assert text.count("not affine") == 1


def test_a_kept_region_without_a_diagnostic_says_why():
    assert "not affine [-Wpolybuild-loop-bound]" in explain("in.c", [KEPT], [], PLAIN)


def test_what_concerns_no_region_comes_last():
    stray = Diagnostic(Severity.WARNING, "stray-end", "no region ends here", Location("in.c", 40))
    text = explain("in.c", [KEPT], [stray, refusal(12)], PLAIN)
    assert text.index("not affine") < text.index("no region ends here")


def test_a_file_without_regions_says_how_to_mark_one():
    assert "#pragma scop" in explain("in.c", [], [], PLAIN)
    assert "survey" not in explain("in.c", [], [], PLAIN)


def test_where_loops_were_looked_for_it_is_told_how_to_learn_why_none_is_taken():
    text = explanation.explain("in.c", (), (), PLAIN, detected=True)
    assert "no loop is taken by itself: 'polybuild survey in.c' says why" in text


def test_the_remark_names_place_and_shape():
    assert remark(DONE).location == Location("in.c", 3)
    assert "1 parallel loop, tiles of 32x16 and 8" in remark(DONE).message


def test_the_report_has_every_key_in_order():
    record = json.loads(as_json([DONE, KEPT]))
    wanted = ["file", "line", "end_line", "status", "code", "message", "backend", "parallel_loops"]
    wanted += [
        "tile_sizes",
        "statements",
        "compile_seconds",
        "assumptions",
        "remarks",
        "detected",
        "function",
        "advice",
        "kernels",
        "vector_loops",
        "reason",
        "prediction",
        "device",
    ]
    assert [list(region) for region in record["regions"]] == [wanted, wanted]
    assert record["regions"][0]["tile_sizes"] == [[32, 16], [8]]
    assert as_json([DONE, KEPT]) == as_json([DONE, KEPT])


def test_the_report_of_no_regions_is_the_one_written_without_importing_json():
    assert as_json([]) == output.EMPTY_REPORT


SEVERAL = """\
void product(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
void shift(int n, double *c, const double *a) {
#pragma scop
  for (int i = 0; i < n; i++) c[i] = a[i];
#pragma endscop
}
void stop(int n, double *x) {
#pragma scop
  for (int i = 0; i < n; i++) if (x[i] > 3) break;
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    path = tmp_path_factory.mktemp("several") / "in.c"
    path.write_text(SEVERAL)
    return gather(compile_source(str(path), Options(), ["gcc"], ["-O2"]))


def told(several, level):
    place = several[0][0].report.file
    return explanation.explain(place, *several, PLAIN, level).replace(place, "in.c")


def test_several_regions_have_an_index_with_their_functions(several):
    index = told(several, Level.INDEX).splitlines()
    assert index[0] == "in.c: 3 regions"
    assert [line.split(":")[0].split() for line in index[1:]] == [
        ["2-6", "product", "parallel,", "tiled", "and", "vectorised"],
        ["9-11", "shift", "parallel"],
        ["14-16", "stop", "kept"],
    ]
    assert index[-1].endswith(
        "kept: a search that ends at its first match is left as it is: what lies behind may not be there"
    )
    text = told(several, Level.DEPENDENCES)
    assert text.startswith("\n".join(index))
    assert "in.c:9-11 in shift: parallel for openmp" in text


def test_conditions_on_pointers_are_told_in_words(several):
    assert "    'a' and 'c' must not overlap (line 10)\n" in told(several, Level.ORDER)
    assert "char *" not in told(several, Level.DEPENDENCES)
    assert "(const char *)(&a[n - 1] + 1) <= (const char *)&c[0]" in told(several, Level.EVERYTHING)


def test_levels_tell_more_and_more(several):
    index, order, dependences, everything = (told(several, level) for level in Level)
    assert "new loops:" not in index
    assert "new loops:" in order
    assert "loops of the source:" not in order
    assert "c[i][j] is" not in order
    assert "flow dependence" in dependences
    assert len(index) < len(order) < len(dependences) < len(everything)


def test_copies_of_packed_operands_are_labelled(several):
    text = told(several, Level.ORDER)
    assert re.search(r"for \w+\n +copy of b into a packed buffer", text)
    assert text.count("into a packed buffer") == 2


def test_a_region_with_kernels_tells_of_them(tmp_path):
    path = tmp_path / "in.c"
    path.write_text(SEVERAL)
    result = compile_source(str(path), Options(backend="opencl"), ["gcc"], ["-O2"])
    regions, rest = gather(result)
    text = explanation.explain(str(path), regions, rest, PLAIN)
    kernels = text.partition("  kernels:\n")[2].partition("  new loops, where there is no device:\n")[0]
    first, *kept = kernels.splitlines()
    assert first == "    polybuild_product_2_0"
    assert "      at most 256 x 256 blocks of 8 x 16 threads, for tiles of 64 x 128 x 8" in kept
    assert "      c: 8 x 8 elements in registers of each thread" in kept
    assert "      a: 64 x 8 elements in shared memory in 2 stages" in kept
    assert any(re.fullmatch(r" +\d+ bytes of shared memory for each block", line) for line in kept)
    assert "for opencl\n  1 statement, 1 kernel, " in text
    assert "__kernel __attribute__" in explanation.explain(str(path), regions, rest, PLAIN, Level.EVERYTHING)


def test_examples_have_no_absurd_numbers(tmp_path):
    path = tmp_path / "in.c"
    path.write_text(
        "void rows(int n, const short *row, double *restrict y) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int k = row[i]; k < row[i + 1]; k++) y[k] += 1;\n"
        "#pragma endscop\n}\n"
    )
    text = explanation.explain(str(path), *gather(compile_source(str(path), Options(), ["gcc"], [])), PLAIN)
    assert "y[0] is written at i = 0, k = 0, read at i = 1, k = 0" in text
    assert "-" not in text.split("loops of the source")[1]


def test_a_region_that_gains_nothing_is_called_unchanged(tmp_path):
    path = tmp_path / "in.c"
    path.write_text(
        """\
void wave(int n, double *a)
{
#pragma scop
  for (int i = 2; i < n; i++)
    a[i] = a[i - 1] * a[i - 2];
#pragma endscop
}
"""
    )
    found = gather(compile_source(str(path), Options(), ["gcc"], ["-O2"]))
    text = explanation.explain(str(path), *found, PLAIN, Level.INDEX)
    assert text.endswith("unchanged: in no order that was found does a loop carry nothing\n")
    report = found[0][0].report
    assert "region stays unchanged: " in explanation.remark(report).message
    assert (report.gains, report.status) == ((), "unchanged")
