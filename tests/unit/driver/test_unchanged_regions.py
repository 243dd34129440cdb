"""Regions of which the compiler makes as much as they are keep their text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polybuild.cli import main as cli
from polybuild.diagnostics import Unsupported
from polybuild.driver import file_regions, trials
from polybuild.driver.file import compile_source
from polybuild.driver.region import compile_region
from polybuild.effort import DETECTED_SHARE
from polybuild.options import Options
from polybuild.report.explain import explanation
from polybuild.report.explain.gather import gather
from polybuild.report.explain.page import page
from polybuild.report.explain.terminal import Style

CHAIN = """\
int main(int count, char **words)
{
  double a[90];
  a[0] = count;
#pragma scop %s
  for (int i = 1; i < 90; i++)
    a[i] = a[i - 1] * 0.5 + i; // in order
#pragma endscop
  return a[89] > 0;
}
"""


def compiled(tmp_path, text=CHAIN % "", **options):
    path = tmp_path / "in.c"
    path.write_text(text)
    return compile_source(str(path), Options(**options), ["gcc"], ["-O3"])


@pytest.mark.parametrize("option", ["", "verify", "adapt", "paranoid"])
def test_the_text_is_the_very_text(tmp_path, option):
    result = compiled(tmp_path, **({option: True} if option else {}))
    assert result.text == CHAIN % ""
    (report,) = result.regions
    assert (report.status, report.fate, report.gains) == ("unchanged", "unchanged", ())
    assert report.reason
    assert (report.assumptions, result.diagnostics) == ((), ())


@pytest.mark.parametrize(
    "clauses", ["schedule(original)", "fusion(max)", "tile_sizes(8)", "contract_arrays(on)", "min_work(0)"]
)
def test_what_is_asked_for_by_hand_is_done(tmp_path, clauses):
    (report,) = compiled(tmp_path, CHAIN % clauses).regions
    assert report.status == "transformed"


def test_the_text_is_the_very_text_after_a_crash(tmp_path, monkeypatch):
    monkeypatch.setattr(file_regions, "begin_region", lambda *_: 1)
    result = compiled(tmp_path)
    assert result.text == CHAIN % ""
    assert result.regions[0].status == "unchanged"


def test_others_of_the_file_are_transformed(tmp_path):
    other = "#pragma scop\n  for (int i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n"
    result = compiled(tmp_path, f"{CHAIN % ''}void f(int n, double *a)\n{{\n{other}}}\n")
    assert [each.status for each in result.regions] == ["unchanged", "transformed"]
    assert CHAIN % "" in result.text


def test_it_is_no_failure(tmp_path, capfd):
    (tmp_path / "in.c").write_text(CHAIN % "")
    words = ["compile", str(tmp_path / "in.c"), "-o", str(tmp_path / "out.c"), "--on-unsupported", "error"]
    assert cli.run([*words, "--verbose"]) == 0
    assert "in.c:5: remark: region stays unchanged: in no order" in capfd.readouterr().err
    marked = CHAIN.replace("#pragma scop %s", "/* #pragma scop */ ").replace(
        "#pragma endscop", "/* #pragma endscop */"
    )
    assert (tmp_path / "out.c").read_text() == marked


def test_runs_are_counted_where_that_is_asked_for(tmp_path):
    result = compiled(tmp_path, runtime_report=True)
    assert result.text.count("// in order") == 1
    assert "polybuild_run_ends(&polybuild_run, 1)" in result.text
    assert "else" not in result.text[result.text.index("int main") : result.text.index("return a[89]")]


def test_orders_with_parallel_loops_that_lost_are_told(tmp_path):
    """Its tiles could run in waves, on a machine whose threads take long to start."""
    loops = (
        "for (int i = 1; i < N; i++)\n for (int j = 1; j < N; j++)\n  a[i][j] = a[i - 1][j] + a[i][j - 1];"
    )
    text = f"enum {{ N = 2000 }};\nvoid f(double a[N][N])\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"
    (tmp_path / "machine.toml").write_text('version = 1\n[threads]\nstart = "10 ms"\nwork = 0.0001\n')
    (report,) = compiled(tmp_path, text, machine=str(tmp_path / "machine.toml")).regions
    assert report.status == "unchanged"
    assert report.reason == "it is faster than the orders with parallel loops, by their predicted costs"


def test_it_is_explained(tmp_path):
    found = gather(compiled(tmp_path))
    text = explanation.explain("in.c", *found, Style())
    assert "in main: unchanged\n" in text
    assert "expected" in text
    assert "new loops" not in text
    assert "i (line 6) carries" in text
    assert "Unchanged</span>: in no order" in page("in.c", *found)


def test_nobody_is_told_of_loops_without_marks(tmp_path):
    text = (CHAIN % "").replace("#pragma scop \n", "").replace("#pragma endscop\n", "").replace("90", "90000")
    result = compiled(tmp_path, text, autodetect=True)
    assert (result.text, result.regions) == (text, ())
    assert [each.remark.code for each in result.refused] == ["no-parallel-order"]


SUM = """double f(int n, const double *x, double *y)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
  return s;
}
"""
SMALL = SUM.replace("s += x[i] * y[i]", "y[i] = x[i]").replace("i < n", "i < 4")


@pytest.mark.parametrize(("text", "code"), [(SUM, "sums-in-order"), (SMALL, "not-worthwhile")])
def test_why_modelled_loops_are_left_alone_is_told_apart(tmp_path, text, code):
    (refused,) = compiled(tmp_path, text, autodetect=True).refused
    assert refused.remark.code == code
    assert ("--allow-reassociation" in refused.remark.hint) == (text == SUM)


BOXES = """\
double a[90];
void draw(int n, int x)
{
%s  for (int i = 0; i < n; i++)
    a[x + i < 0 ? 0 : x + i > 89 ? 89 : x + i] += a[x - i < 0 ? 0 : x - i > 89 ? 89 : x - i];
%s}
"""


def test_loops_whose_subscripts_have_too_many_cases_are_looked_at_where_they_are_marked(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("polybuild.analysis.bounded.EXACT_PAIRS", 10)
    found = compiled(tmp_path, BOXES % ("", ""), autodetect=True)
    (refused,) = found.refused
    assert (refused.diagnostic.code, refused.first_line) == ("too-complex", 4)
    assert "'a' have too many cases" in refused.diagnostic.message
    (report,) = compiled(tmp_path, BOXES % ("#pragma scop\n", "#pragma endscop\n"), autodetect=True).regions
    assert report.status != "kept"
    monkeypatch.undo()
    assert compiled(tmp_path, BOXES % ("", ""), autodetect=True).refused[0].diagnostic.code != "too-complex"


def test_loops_that_nobody_marked_get_less_after_each_that_took_all(tmp_path, monkeypatch):
    loop = "  for (int i = 1; i < n; i++)\n    a[i] = a[i - 1];\n  g();\n"
    text = "double a[90];\nvoid f(int n)\n{\n" + 3 * loop + "}\n"
    shares = []

    def recorded(region, *arguments, share, **named):
        shares.append(share)
        if region.begin.line == 4:
            raise Unsupported("too-complex", "", region.begin)
        text, report, details = compile_region(region, *arguments, share=share, **named)
        return text, report, replace(details, took_all=region.begin.line == 7)

    monkeypatch.setattr(trials, "compile_region", recorded)
    assert len(compiled(tmp_path, text, autodetect=True).refused) == 3
    assert shares == [DETECTED_SHARE, 2 * DETECTED_SHARE, 2 * DETECTED_SHARE]  # enough for usual loops


def test_over_approximated_dependences_and_simpler_strategies_take_all(tmp_path, monkeypatch):
    loop = "  for (int i = 0; i < n; i++)\n    a[i] += 1;\n"
    text = "double a[90];\nvoid f(int n)\n{\n#pragma scop\n" + loop + "#pragma endscop\n}\n"
    (details,) = compiled(tmp_path, text).details
    assert not details.took_all
    monkeypatch.setattr("polybuild.analysis.bounded.EXACT_DEPENDENCES", 1e-7)
    (details,) = compiled(tmp_path, text).details
    assert details.took_all
