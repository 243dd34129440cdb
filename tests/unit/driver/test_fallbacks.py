"""What is tried where a region's best order cannot be had: simpler ones, and in the end the original."""

from __future__ import annotations

import islpy as isl
import pytest
from compiling import output, write

from polybuild import effort
from polybuild.driver import file as pipeline
from polybuild.driver.file_regions import results_of
from polybuild.driver.region import operations_for
from polybuild.options import Options
from polybuild.schedule.legality import IllegalSchedule
from polybuild.source.reader import read_source
from polybuild.targets.cpu import reduction_parallelisation as relaxing

TWO_REGIONS = """\
#include <stdio.h>
static double A[40][40], B[40][40], C[40][40];
int main(void) {
  double sum = 0;
  for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++) A[i][j] = i + j, B[i][j] = i - j;
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      for (int k = 0; k < 40; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
#pragma scop
  for (int i = 0; i < 40; i++) A[i][0] = 2;
#pragma endscop
  for (int i = 0; i < 40; i++) sum += A[i][0] + i * C[i][39 - i];
  printf("%f\\n", sum);
  return 0;
}
"""
BEST, RECTANGULAR = (True, "auto", "auto"), (True, "rectangular", "isl")
UNTILED, ORIGINAL = (False, "auto", "isl"), (False, "auto", "original")


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Compile the file while the first ``failing`` attempts at a mapping fail."""
    monkeypatch.delenv("POLYBUILD_DEBUG", raising=False)
    whole = lambda source, tuning, work, _: (source, results_of(source, tuning, work))  # noqa: E731
    monkeypatch.setattr(pipeline, "with_inner_regions", whole)
    choose_mapping = relaxing.choose_mapping

    def make(fail, failing, **options):
        tried = []

        def choose(scop, dependences, attempt, *others, **named):
            if dependences.reductions:  # tried beside the exact dependences
                return choose_mapping(scop, dependences, attempt, *others, **named)
            options = attempt.options
            tried.append((options.tile, options.tile_shape, options.schedule))
            if len(tried) <= failing:
                fail()
            return choose_mapping(scop, dependences, attempt, *others, **named)

        monkeypatch.setattr(relaxing, "choose_mapping", choose)
        path = tmp_path / "two.c"
        path.write_text(TWO_REGIONS)
        result = pipeline.compile_source(str(path), Options(min_work=0, **options), ["gcc"], [])
        assert output(write(tmp_path / "out.c", result.text)) == output(path)
        return result, tried

    return make


def spend_the_budget():
    isl.DEFAULT_CONTEXT.set_max_operations(1)


def break_the_order():
    raise IllegalSchedule("planted")


SETBACKS = pytest.mark.parametrize("fail", [spend_the_budget, break_the_order])


def test_the_best_first(compiled):
    result, tried = compiled(lambda: None, 0, tile_sizes=(8,))
    assert tried == [BEST, BEST]
    assert [region.status for region in result.regions] == ["transformed"] * 2
    assert result.regions[0].tile_sizes


@SETBACKS
def test_then_with_rectangular_tiles(fail, compiled):
    result, tried = compiled(fail, 1, tile_sizes=(8,))
    assert tried == [BEST, RECTANGULAR, BEST]
    assert [region.status for region in result.regions] == ["transformed"] * 2
    assert result.regions[0].tile_sizes
    assert "packed" not in result.text


@SETBACKS
def test_then_without_tiles(fail, compiled):
    result, tried = compiled(fail, 2, tile_sizes=(8,))
    assert tried == [BEST, RECTANGULAR, UNTILED, BEST]
    assert [region.status for region in result.regions] == ["transformed"] * 2
    assert result.regions[0].tile_sizes == ()
    assert result.regions[0].parallel_loops


@SETBACKS
def test_then_in_the_original_order(fail, compiled):
    result, tried = compiled(fail, 3)
    assert tried == [BEST, RECTANGULAR, UNTILED, ORIGINAL, BEST]
    assert [region.status for region in result.regions] == ["transformed"] * 2
    assert result.regions[0].parallel_loops
    assert result.diagnostics == ()


@pytest.mark.parametrize(
    ("fail", "code"), [(spend_the_budget, "too-complex"), (break_the_order, "illegal-schedule")]
)
def test_then_the_region_is_kept_and_only_that(fail, code, compiled):
    result, tried = compiled(fail, 4)
    assert tried == [BEST, RECTANGULAR, UNTILED, ORIGINAL, BEST]
    assert [(region.status, region.code) for region in result.regions] == [
        ("kept", code),
        ("transformed", ""),
    ]
    (diagnostic,) = result.diagnostics
    assert (diagnostic.code, diagnostic.location.line) == (code, 6)
    assert diagnostic.hint
    assert "#pragma scop\n  for (int i = 0; i < 40; i++)\n    for" in result.text


@SETBACKS
def test_no_step_is_tried_twice(fail, compiled):
    assert compiled(fail, 1, tile=False, schedule="isl", contract_arrays="off")[1] == [
        UNTILED,
        ORIGINAL,
        UNTILED,
    ]
    assert compiled(fail, 1, tile=False, schedule="original", contract_arrays="off")[1] == [
        ORIGINAL,
        ORIGINAL,
    ]


@SETBACKS
def test_statements_that_cannot_share_loops_are_tried_apart(fail, compiled):
    fused, apart = (False, "auto", "auto"), (False, "auto", "isl")
    assert compiled(fail, 2, tile=False, fusion="max")[1] == [fused, UNTILED, apart, fused]
    assert compiled(fail, 3, tile=False, fusion="max")[1] == [fused, UNTILED, apart, ORIGINAL, fused]


def test_a_fault_is_not_tried_again(compiled):
    def fault():
        raise ZeroDivisionError("planted")

    result, tried = compiled(fault, 1)
    assert tried == [BEST, BEST]
    assert [region.code for region in result.regions] == ["internal", ""]


def test_the_budget_is_lifted_afterwards(compiled):
    compiled(spend_the_budget, 4)
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0
    assert compiled(lambda: None, 0)[0].diagnostics == ()


def test_an_order_that_breaks_a_dependence_never_comes_out(tmp_path, monkeypatch):
    """The mapping runs everything backwards and believes that it is parallel; the proof does not."""
    choose_mapping = relaxing.choose_mapping
    path = tmp_path / "one.c"
    path.write_text(
        "void f(double *restrict a) {\n#pragma scop\n"
        "  for (int i = 1; i < 40; i++) a[i] = a[i - 1];\n#pragma endscop\n}\n"
    )

    def backwards(scop, dependences, attempt, *others, **named):
        mapping = choose_mapping(scop, dependences, attempt, *others, **named)
        reverse = isl.MultiUnionPwAff.from_union_map(scop.schedule.get_map()).neg()
        schedule = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(reverse)
        return type(mapping)(schedule, {}, 1, (), 0)

    monkeypatch.setattr(relaxing, "choose_mapping", backwards)
    result = pipeline.compile_source(str(path), Options(min_work=0), ["gcc"], [])
    assert result.text == path.read_text()
    assert [region.code for region in result.regions] == ["illegal-schedule"]


def test_when_the_effort_of_the_search_is_spent_the_original_order_remains(compiled, monkeypatch):
    monkeypatch.setattr(effort, "SEARCH_OPERATIONS", 0)
    result, tried = compiled(lambda: None, 0)
    assert [each.status for each in result.regions] == ["transformed"] * 2
    assert tried == [ORIGINAL] * 2
    assert all("may cost is spent" in " ".join(each.remarks) for each in result.regions)


def test_a_search_that_comes_to_its_end_says_nothing(compiled):
    result, _ = compiled(lambda: None, 0)
    assert not any("may cost is spent" in " ".join(each.remarks) for each in result.regions)


@pytest.mark.parametrize(
    ("lines", "inner", "most"),
    [(0, 0, 1), (80, 0, 1), (120, 0, 2), (0, 120, 2), (60, 60, 2)],
)
def test_what_is_called_counts_for_how_long_a_region_may_take(tmp_path, lines, inner, most):
    path = tmp_path / "calls.c"
    path.write_text(
        "static double half(double x) {\n" + "  x = x / 2;\n" * inner + "  return x;\n}\n"
        "void f(int n, double *a) {\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
        + "    a[i] = 1;\n" * (lines - 4)
        + "    a[i] = half(a[i]);\n  }\n#pragma endscop\n}\n"
    )
    (region,) = read_source(str(path), ["gcc"], []).regions
    assert operations_for(region) == most * effort.REGION_OPERATIONS
