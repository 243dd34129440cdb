"""Arrays that live on after a region and are set anew in each iteration: private to all but the last one."""

from __future__ import annotations

import itertools

import pytest
from pool_programs import compare_around, function

from polybuild.analysis.dependences import compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.schedule.legality import check_schedule
from polybuild.scop.extract import extract_scop
from polybuild.source.reader import read_source
from polybuild.storage import work_arrays

SIZES = [*itertools.product((0, 1, 2, 7, 33), repeat=2)]
COLUMNS = "for (int i = 0; i < 30; i++)"
AFTER = f"{COLUMNS} C[i] = w[i];"

# name: (declarations before, region, what is done with the last values)
PRIVATE = {
    "rows": (
        "static double w[30];",
        f"for (int j = 0; j < n; j++) {{ {COLUMNS} w[i] = 2 * A[j*30+i]; {COLUMNS} B[j*30+i] = w[29-i]; }}",
        AFTER,
    ),
    "recurrences": (
        "static double w[30];",
        """for (int j = 0; j < n; j++) {
          w[0] = A[j*30];
          for (int i = 1; i < 30; i++) w[i] = A[j*30+i] - w[i-1] / 2;
          for (int i = 28; i >= 0; i--) A[j*30+i] = w[i] - A[j*30+i+1] / 4; }""",
        AFTER,
    ),
    "variables": (
        "static double w[30];",
        """for (int j = 0; j < n; j++) {
          w[0] = A[j*30];
          for (int i = 1; i < 30; i++) { double f = 2 - w[i-1] / 4; w[i] = A[j*30+i] * f; }
          for (int i = 28; i >= 0; i--) A[j*30+i] = w[i] - A[j*30+i+1] / 4; }""",
        AFTER,
    ),
    "over_time": (
        "static double w[30];",
        f"""for (int t = 0; t < m; t++) for (int j = 0; j < n; j++) {{
          {COLUMNS} w[i] = A[j*30+i] / 2;
          for (int i = 1; i < 30; i++) A[j*30+i] = w[i-1] + 1; }}""",
        AFTER,
    ),
    "squares": (
        "static double w[5][6];",
        """for (int j = 0; j < n; j++) {
          for (int k = 0; k < 5; k++) for (int i = 0; i < 6; i++) w[k][i] = A[j*30+k*6+i];
          for (int k = 0; k < 5; k++) for (int i = 0; i < 6; i++) B[j*30+i*5+k] = w[k][i]; }""",
        "for (int k = 0; k < 5; k++) for (int i = 0; i < 6; i++) C[k*6+i] = w[k][i];",
    ),
    "planes": (
        "static double w[30];",
        f"""for (int k = 0; k < m; k++) for (int j = 0; j < n && j < 33; j++) {{
          {COLUMNS} w[i] = 2 * A[(k*33+j)*30+i];
          {COLUMNS} B[(k*33+j)*30+i] = w[29-i] + k; }}""",
        AFTER,
    ),
    "sums": (
        "static double w[30]; static double sum; sum = 0;",
        f"""for (int j = 0; j < n; j++) {{
          {COLUMNS} w[i] = A[j*30+i] / 2;
          {COLUMNS} B[j*30+i] = w[29-i];
          {COLUMNS} sum += w[i]; }}""",
        f"{AFTER} C[50] = sum;",
    ),
    "two_of_them": (
        "static double w[30], v[30];",
        f"""for (int j = 0; j < n; j++) {{
          {COLUMNS} {{ v[i] = A[j*30+i]; w[i] = v[i] + i; }}
          {COLUMNS} B[j*30+i] = w[29-i] - v[i]; }}""",
        f"{AFTER} {COLUMNS} C[40+i] = v[i];",
    ),
}
ROW = "for (int i = 0; i < m; i++)"
ROWS = f"for (int j = 0; j < n; j++) {{ {ROW} w[i] = 2 * A[j*m+i]; {ROW} B[j*m+i] = w[m-1-i]; }}"
USED = f"{ROW} C[i] = w[i];"
# the same of as many elements as the call says, in whatever memory the program has for them
PASSED = {
    "passed": ("double *restrict w = C + 100;", ROWS, ""),
    "passed and maybe another": ("double *w = C + 100;", ROWS, ""),
    "an array of the function": ("double w[n + m + 1];", ROWS, f"if (n > 0) {USED}"),
    "of large constant size": ("static double w[40000];", ROWS, USED),
    "a member": ("struct { int k; double *w; } s = {1, C + 100};", ROWS.replace("w[", "s.w["), ""),
    "a member behind a pointer": (
        "struct { int k; double *restrict w; } s = {1, C + 100}, *at = &s;",
        ROWS.replace("w[", "at->w["),
        "",
    ),
    "integers": (
        "static long w[40000];",
        f"for (int j = 0; j < n; j++) {{ {ROW} w[i] = (long)A[j*m+i]; {ROW} B[j*m+i] = w[m-1-i] / 2; }}",
        USED,
    ),
    "planes in a row": (
        "double *restrict w = C + 100;",
        """for (int j = 0; j < n; j++) {
          for (int k = 0; k < 5; k++) for (int i = 0; i < m; i++) w[k*m+i] = A[j*m+i] + k;
          for (int i = 0; i < m; i++) for (int k = 0; k < 5; k++) B[(j*m+i)*5+k] = w[k*m+i]; }""",
        "",
    ),
    "planes with rows": (
        "double (*restrict w)[m + 1] = (double (*)[m + 1])(C + 100);",
        """for (int j = 0; j < n; j++) {
          for (int k = 0; k < 5; k++) for (int i = 0; i < m; i++) w[k][i] = A[j*m+i] + k;
          for (int i = 0; i < m; i++) for (int k = 0; k < 5; k++) B[(j*m+i)*5+k] = w[k][i]; }""",
        "",
    ),
    "rows of planes": (
        "double *restrict w = C + 100;",
        f"""for (int k = 0; k < 3; k++) for (int j = 0; j < n && j < 33; j++) {{
          {ROW} w[i] = 2 * A[(k*33+j)*m+i];
          {ROW} B[(k*33+j)*m+i] = w[m-1-i] + k; }}""",
        "",
    ),
    "two that are passed": (
        "double *restrict w = C + 100, *restrict v = C + 200;",
        f"""for (int j = 0; j < n; j++) {{
          {ROW} {{ v[i] = A[j*m+i]; w[i] = v[i] + i; }}
          {ROW} B[j*m+i] = w[m-1-i] - v[i]; }}""",
        "",
    ),
    "after each other": (
        "double *restrict w = C + 100;",
        """for (int j = 0; j < n; j++) {
          w[0] = A[j*m];
          for (int i = 1; i < m; i++) w[i] = A[j*m+i] - w[i-1] / 2;
          for (int i = m - 2; i >= 0; i--) A[j*m+i] = w[i] - A[j*m+i+1] / 4; }""",
        "",
    ),
    "of products": (
        "double *restrict w = C + 100;",
        f"""for (int j = 0; j < n; j++) {{
          {ROW} {{ w[i] = 0; for (int k = 0; k < m; k++) w[i] += A[j*m+k] * C[k*m+i+200]; }}
          {ROW} A[j*m+i] = w[i]; }}""",
        "",
    ),
}
SHARED = {
    "some of it": (
        "static double w[30];",
        """for (int j = 0; j < n && j < 30; j++) {
          for (int i = 0; i < 30 - j; i++) w[i] = A[j*30+i];
          for (int i = 0; i < 30 - j; i++) B[j*30+i] = w[29-j-i]; }""",
        AFTER,
    ),
    "under conditions": (
        "static double w[30];",
        f"""for (int j = 0; j < n; j++) {{
          {COLUMNS} if (A[j*30+i] > 60) w[i] = A[j*30+i];
          {COLUMNS} B[j*30+i] = w[29-i]; }}""",
        AFTER,
    ),
    "of steps over time": (
        "static double w[30];",
        """for (int t = 0; t < m; t++) {
          for (int i = 0; i < 30; i++) w[i] = A[i] + A[i+1] / 2;
          for (int i = 0; i < 30; i++) A[i] = w[29-i]; }""",
        AFTER,
    ),
    "of steps over a grid of the region": (
        "static double w[30]; double own[31]; for (int i = 0; i < 31; i++) own[i] = A[i];",
        f"""for (int t = 0; t < m; t++) {{
          {COLUMNS} w[i] = own[i] + own[i+1] / 2;
          {COLUMNS} own[i] = w[29-i];
          {COLUMNS} B[t*30+i] = w[i]; }}""",
        AFTER,
    ),
    "beside one that is kept": (
        "static double w[30], v[30];",
        f"""for (int j = 0; j < n; j++) {{
          {COLUMNS} {{ v[i] += A[j*30+i]; w[i] = v[i] + i; }}
          {COLUMNS} B[j*30+i] = w[29-i]; }}""",
        AFTER,
    ),
    "added up": (
        "static double w[30];",
        f"for (int j = 0; j < n; j++) {{ {COLUMNS} w[i] += A[j*30+i]; {COLUMNS} B[j*30+i] = w[29-i]; }}",
        AFTER,
    ),
    "of the iteration before": (
        "static double w[30];",
        f"for (int j = 0; j < n; j++) {{ {COLUMNS} B[j*30+i] = w[29-i]; {COLUMNS} w[i] = A[j*30+i]; }}",
        AFTER,
    ),
}
CASES = PRIVATE | PASSED | SHARED


def compared(folder, cases):
    return compare_around(folder, cases, SIZES)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("work"), CASES)


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_original_ones(comparison, name):
    calls = comparison.calls[function(name)]
    assert [each.transformed for each in calls] == [each.original for each in calls]
    assert comparison.regions[function(name)].status == "transformed"


@pytest.mark.parametrize("name", PRIVATE | PASSED)
def test_threads_share_the_loop(comparison, name):
    assert comparison.regions[function(name)].parallel_loops


@pytest.mark.parametrize("name", PRIVATE | SHARED)
def test_which_are_private(tmp_path, name):
    before, body, _ = CASES[name]
    path = tmp_path / "one.c"
    top = "void f(int n, int m, double *restrict A, double *restrict B)"
    path.write_text(f"{top} {{\n{before}\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    (region,) = read_source(str(path), ["gcc"], []).regions
    scop = extract_scop(region)
    changed = work_arrays.keep_last_work_arrays(scop, live_after(region), frozenset())
    assert {each.name for each in changed.arrays if each.local and each.extents} == (
        {f"{each.name}_own" for each in scop.arrays if each.extents and each.name not in "AB"}
        if name in PRIVATE
        else set()
    )
    check_schedule(changed.schedule, compute_dependences(changed, live_after(region)), changed.domain)


def test_an_array_that_only_the_last_iteration_may_set_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(work_arrays, "_sets_all", lambda *_: True)
    comparison = compared(tmp_path, {"some of it": SHARED["some of it"]})
    assert any(each.transformed != each.original for each in comparison.calls[function("some of it")])
