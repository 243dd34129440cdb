"""The checks before a region: addresses are taken only of elements that are touched."""

from __future__ import annotations

from polybuild.driver.file import compile_source
from polybuild.options import Options

COPY = """\
void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = b[i];
#pragma endscop
}
"""


def conditions(tmp_path, min_work):
    file = tmp_path / "copy.c"
    file.write_text(COPY)
    (region,) = compile_source(str(file), Options(min_work=min_work), ["gcc"], []).regions
    return [str(each) for each in region.assumptions]


def test_nothing_is_compared_where_nothing_is_touched(tmp_path):
    (overlap,) = conditions(tmp_path, 0)
    assert overlap.startswith(("(n <= 0 || ", "(!(n >= 1) || "))


def test_enough_work_means_that_something_is_touched(tmp_path):
    work, threads, overlap = conditions(tmp_path, 1000)
    assert "n >= 10000" in work
    assert threads.startswith("polybuild_team() > 1 ")
    assert overlap.startswith("((const char *)")
