from __future__ import annotations

import json

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.driver import output
from polybuild.driver.file import FileResult
from polybuild.report.explain import explanation
from polybuild.report.explain.explanation import remark
from polybuild.report.explain.gather import gather
from polybuild.report.explain.terminal import Style
from polybuild.report.record.json import as_json
from polybuild.report.record.model import RegionReport

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


def test_a_kept_region_has_its_diagnostic_below_it():
    text = explain("in.c", [DONE, KEPT], [refusal(13)], PLAIN)
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


def test_the_remark_names_place_and_shape():
    assert remark(DONE).location == Location("in.c", 3)
    assert "1 parallel loop, tiles of 32x16 and 8" in remark(DONE).message


def test_the_report_has_every_key_in_order():
    record = json.loads(as_json([DONE, KEPT]))
    wanted = ["file", "line", "end_line", "status", "code", "message", "backend", "parallel_loops"]
    wanted += ["tile_sizes", "statements", "compile_seconds", "assumptions", "remarks", "detected"]
    assert [list(region) for region in record["regions"]] == [wanted, wanted]
    assert record["regions"][0]["tile_sizes"] == [[32, 16], [8]]
    assert as_json([DONE, KEPT]) == as_json([DONE, KEPT])


def test_the_report_of_no_regions_is_the_one_written_without_importing_json():
    assert as_json([]) == output.EMPTY_REPORT
