"""Marks keep what they say through isl."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import insert_mark, is_mark, mark_of


@pytest.mark.parametrize("kind", MarkKind)
@pytest.mark.parametrize("index", [None, 0, 12])
def test_a_mark_is_found_as_it_was_inserted(kind, index):
    root = isl.Schedule.from_domain(isl.UnionSet("{ S[i] : 0 <= i < 9 }")).get_root()
    node = insert_mark(root.child(0), Mark(kind, index))
    assert mark_of(node) == Mark(kind, index)
    assert is_mark(node, kind)
    assert mark_of(node.parent()) is None
    assert not is_mark(node.parent(), kind)


def test_a_name_of_no_kind_is_refused():
    with pytest.raises(ValueError, match="nonsense"):
        Mark.of_id(isl.Id("nonsense3"))
