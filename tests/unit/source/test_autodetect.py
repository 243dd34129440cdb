"""Which loops without marks become regions, and where they are in the user's text."""

from __future__ import annotations

import pytest

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.source.autodetect import detect_regions

FILE = """\
#include "other.h"
#define EACH(i) for (int i = 0; i < 9; i++)
double a[9], b[9];
void f(int n) {
  for (int i = 0; i < n; i++) /* up */
    a[i] = 0;
  b[0] = 1;
  for (int i = 0; i < n; i++) {
    b[i] = 1;  // one
  }
}
void g(int n) {
  int k = 0;
  while (k < n) {
    for (int i = 0; i < n; i++)
      a[i] = k;
    do
      b[k] = 1;
    while (b[k] > 2);
    k++;
  }
  EACH(i) a[i] = 1;
  if (n) for (int i = 0; i < n; i++)
    a[i] = 2;
  for (int i = 0; i < n; i++)
#if 1
    a[i] = 3;
#endif
  for (int i = 0; i < n; i++) a[i] = 4; n++;
}
void h(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 5;
#pragma endscop
  for (int i = 0; i < n; i++)
    a[i] = 6;
}
void o(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = 7;
}
"""
HINTED = """void f(int n, double *a) {
  for (int i = 0; i < n; i++) {
#pragma HINT
    for (int j = 0; j < n; j++)
      a[i * n + j] = 1;
  }
}
"""


@pytest.fixture
def detect(tmp_path):
    (tmp_path / "other.h").write_text(
        "static inline void e(double *x) {\n  for (int i = 0; i < 9; i++)\n    x[i] = 0;\n}\n"
    )
    path = tmp_path / "file.c"
    path.write_text(FILE)

    def run(accept):
        return detect_regions(str(path), ["gcc"], [], accept)

    return run


def texts(detection):
    regions = detection.source.regions
    return [detection.source.text[each.span.start : each.span.end] for each in regions if each.detected]


def test_outermost_loops_are_taken_and_neighbours_joined(detect):
    found = detect(lambda _: None)
    lines = FILE.splitlines(keepends=True)
    assert texts(found) == ["".join(lines[4:10]), "".join(lines[13:22])]
    assert [(each.begin.line, each.end.line) for each in found.source.regions if each.detected] == [
        (5, 10),
        (14, 22),
    ]
    assert not found.refused


def test_marked_regions_stay_what_they_are(detect):
    marked = [each for each in detect(lambda _: None).source.regions if not each.detected]
    assert [each.begin.line for each in marked] == [32]


def test_a_refused_loop_gives_way_to_those_inside_and_a_refused_join_to_its_parts(detect):
    def accept(region):
        lines = region.end.line - region.begin.line
        return Diagnostic(Severity.WARNING, "big", "big", Location("", 0)) if lines > 2 else None

    found = detect(accept)
    assert [each.begin.line for each in found.source.regions if each.detected] == [5, 8, 15, 17, 22]
    (refused,) = found.refused
    assert (refused.first_line, refused.last_line) == (14, 21)
    assert (refused.remark.severity, refused.remark.code) == (Severity.REMARK, "big")


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ("for (int i = 0; i < n; i++) a[i] = 1;", "for (int i = 0; i < n; i++) a[i] = a[i] * 2 + a[i] / 3;"),
        (
            "for (int i = 0; i < n; i++) a[i] = 1;",
            "for (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++) a[i] *= j;",
        ),
        ("for (int i = 0; i < 9; i++) a[i] = 1;", "for (int i = 0; i < 99; i++) a[i] = 1;"),
        ("int i = 0;\nwhile (i < n) a[i++] = 1;", "int k = 0;\nwhile (k < n) { a[k] = a[k] * a[k];\n k++; }"),
        (
            "for (double *p = a; p < a + n; p++)\n*p = 1;",
            "for (double *p = a; p < a + n; p++)\n*p = 1 / (*p + 2);",
        ),
    ],
)
def test_the_loop_that_seems_to_do_the_most_is_tried_first(tmp_path, small, large):
    path = tmp_path / "file.c"
    path.write_text(f"void f(int n, double *a) {{\n{small}\n}}\nvoid g(int n, double *a) {{\n{large}\n}}\n")
    tried = []
    detect_regions(str(path), ["gcc"], [], lambda region: tried.append(region.function.decl.name))
    assert tried == ["g", "f"]


def test_loops_inside_of_a_refused_one_come_before_smaller_ones(tmp_path):
    path = tmp_path / "file.c"
    path.write_text(
        "void f(int n, double *a) {\n  for (int i = 0; i < n; i++)\n    a[i] = 1;\n}\n"
        "void g(int n, double *a) {\n  for (int i = 0; i < n; i++) {\n"
        "    for (int j = 0; j < n; j++)\n      a[i] += j;\n  }\n}\n"
    )
    tried = []

    def accept(region):
        tried.append(region.begin.line)
        return Diagnostic(Severity.WARNING, "x", "x", Location("", 0)) if region.begin.line == 6 else None

    found = detect_regions(str(path), ["gcc"], [], accept)
    assert tried == [6, 7, 2]
    assert [each.begin.line for each in found.source.regions] == [2, 7]


def test_files_with_line_directives_are_left_alone(tmp_path):
    path = tmp_path / "file.c"
    path.write_text('#line 7 "real.c"\n' + FILE.partition("\n")[2])
    assert not detect_regions(str(path), ["gcc"], [], lambda _: None).source.regions[0].detected


@pytest.mark.parametrize(
    ("hint", "found"),
    [
        ("ivdep", True),
        ("GCC ivdep", True),
        ("GCC unroll 4", True),
        ("clang loop vectorize(enable)", True),
        ("omp simd reduction(+ : s)", True),
        ("omp parallel for", False),
        ("STDC FP_CONTRACT ON", False),
    ],
)
def test_hints_do_not_hide_the_loops_around(tmp_path, hint, found):
    path = tmp_path / "hinted.c"
    path.write_text(HINTED.replace("HINT", hint))
    detection = detect_regions(str(path), ["gcc"], [], lambda _region: None)
    assert any(each.count("for") == 2 for each in texts(detection)) == found


@pytest.mark.parametrize(
    ("longest", "tried", "taken"),
    [
        (9, [(2, 2), (3, 3), (4, 4), (2, 4)], [(2, 4)]),
        (1, [(2, 2), (3, 3), (4, 4), (2, 4), (2, 3), (2, 4)], [(2, 3), (4, 4)]),
    ],
)
def test_a_run_of_neighbours_is_tried_as_a_whole_first(tmp_path, longest, tried, taken):
    path = tmp_path / "file.c"
    loop = "  for (int i = 0; i < n; i++) x[i] = i;\n"
    path.write_text(f"void f(int n, double *x) {{\n{3 * loop}}}\n")
    asked = []

    def accept(region):
        asked.append((region.begin.line, region.end.line))
        lines = region.end.line - region.begin.line
        return Diagnostic(Severity.WARNING, "big", "big", Location("", 0)) if lines > longest else None

    found = detect_regions(str(path), ["gcc"], [], accept)
    assert asked == tried
    assert [(each.begin.line, each.end.line) for each in found.source.regions] == taken
