"""A budget may end anywhere: inside a callback of isl's as well. The region is kept, nothing else happens."""

from __future__ import annotations

import re
from pathlib import Path

import islpy as isl
import pytest

import polybuild
from polybuild import effort
from polybuild.codegen.c.callbacks import Failures
from polybuild.driver import file as pipeline
from polybuild.options import Options
from polybuild.poly.budget import (
    effort_is_spent,
    effort_limit,
    found_within,
    operation_budget,
    operations_done,
    was_spent,
)
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import descendants, insert_mark, map_bottom_up, mark_of

INNER, OUTER = Mark(MarkKind.BUFFER, 1), Mark(MarkKind.SERIAL)
PACKAGE = Path(polybuild.__file__).parent
# temporary arrays, several statements, conditions: all that walks trees has something to do
REGION = """\
void f(int n, int p, double A[p + 4][n + 1], double B[restrict p + 1], double C[n + 21][p + 12]) {
#pragma scop
  for (int i = n / 3; i < p / 3; i++)
    if (i % 3 == 1)
      for (int j = 2; j < i + 1; j++) {
        double t[5];
        for (int k = 0; k < p - 2; k++) C[i][k] -= C[i % 2 ? i : 0][3 * j] + C[k][i];
        for (int k = 0; k < 5; k++) t[k] = 2;
        A[i][j - 2] = j > 1 ? B[(j + 1) % 5] : t[1];
      }
#pragma endscop
}
"""
CHOICES = [
    {"schedule": "pluto", "fusion": "max", "tile_sizes": (3, 2)},
    {"schedule": "isl"},
    {"backend": "opencl"},
]


@pytest.mark.parametrize("options", CHOICES)
def test_wherever_the_budget_ends(options, tmp_path, monkeypatch, capfd):
    path = tmp_path / "in.c"
    path.write_text(REGION)
    seen = set()
    for power in range(7):
        monkeypatch.setattr(effort, "REGION_OPERATIONS", 500 * 4**power)
        result = pipeline.compile_source(str(path), Options(**options), ["gcc"], [])
        region, *_ = result.regions
        seen.add((region.status, region.code))
        assert isl.DEFAULT_CONTEXT.get_max_operations() == 0
    assert seen == {("kept", "too-complex"), ("transformed", "")}
    assert capfd.readouterr() == ("", "")


def test_trees_are_walked_without_callbacks():
    """An error inside one of isl's own walks leaves it with memory that is not its any more."""
    walks = re.compile(r"\.(foreach_descendant|every_descendant|map_descendant|foreach_ancestor|foreach_ast)")
    for file in PACKAGE.rglob("*.py"):
        assert not walks.search(file.read_text(encoding="utf-8")), file


def test_callbacks_for_pieces_only_collect():
    calls = re.compile(r"\.(?:foreach_\w+|every_\w+)\(([^()]*(?:\([^()]*\))?)")
    found = [
        called for file in PACKAGE.rglob("*.py") for called in calls.findall(file.read_text(encoding="utf-8"))
    ]
    assert found
    assert [each for each in found if ".append" not in each and each != "add"] == []


def test_an_error_leaves_a_walk():
    tree = isl.Schedule.from_domain(isl.UnionSet("{ S[i] : 0 <= i < 9 }")).get_root()
    tree = insert_mark(tree.child(0), OUTER).root()
    assert [mark_of(each) for each in descendants(tree)] == [None, OUTER, None]

    def walk():
        with operation_budget(1):
            for each in descendants(tree):
                each.get_domain().coalesce().subtract(each.get_domain()).is_empty()

    with pytest.raises(isl.Error) as raised:
        walk()
    assert was_spent(raised.value)


def test_nodes_are_replaced_from_the_bottom():
    tree = isl.Schedule.from_domain(isl.UnionSet("{ S[i] : 0 <= i < 9 }")).get_root()
    tree = insert_mark(insert_mark(tree.child(0), INNER), OUTER).root()
    order = []

    def remember(node):
        order.append(mark_of(node))
        return node.delete() if mark_of(node) == INNER else node

    changed = map_bottom_up(tree, remember)
    assert order == [None, INNER, OUTER, None]
    assert [mark_of(each) for each in descendants(changed)] == [None, OUTER, None]


def test_the_first_failure_of_callbacks_is_raised_afterwards():
    failures = Failures()
    failures.check()
    for text in ("one", "two"):
        with failures:
            raise ValueError(text)
    with pytest.raises(ValueError, match="one") as raised:
        failures.check()
    assert "test_budget" in raised.value.__notes__[0]
    with pytest.raises(KeyboardInterrupt), failures:
        raise KeyboardInterrupt


def test_after_the_effort_limit_nothing_optional_is_begun():
    asked = []
    with effort_limit(0):
        assert effort_is_spent()
        assert found_within(1000, lambda: asked.append(1)) is None
        with effort_limit(60_000):
            assert found_within(1000, lambda: 7) == 7
    assert not asked
    assert not effort_is_spent()


def work(operations):
    for _ in range(operations):
        isl.Val.zero(isl.DEFAULT_CONTEXT)


@pytest.mark.parametrize("parts", [1, 10, 50])
def test_an_effort_limit_counts_the_operations_of_all_budgets_under_it(parts):
    with effort_limit(100_000):
        for _ in range(parts):
            assert not effort_is_spent()
            assert found_within(1_000_000, lambda: work(80_000 // parts)) is None
        with operation_budget(1_000_000):
            work(50_000)
            assert effort_is_spent()
        assert effort_is_spent()


def test_what_a_budget_did_not_suffice_for_counts_as_well():
    with effort_limit(100_000):
        for _ in range(2):
            assert not effort_is_spent()
            assert found_within(60_000, lambda: work(80_000)) is None
        assert effort_is_spent()


def test_operations_are_the_same_each_time():
    def counted():
        before = operations_done()
        for size in range(1, 40):
            with operation_budget(100_000):
                isl.Set(f"{{ [i, j] : 0 <= i < {size} and 0 <= 3j <= i }}").coalesce().is_empty()
        return operations_done() - before

    assert counted() == counted() > 39 * 100
