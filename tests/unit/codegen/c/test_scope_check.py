"""Scopes of register tiles that isl might write: each has to fill what it uses."""

from __future__ import annotations

import dataclasses

import islpy as isl
import pytest
from contexts import context_of

from polybuild.codegen.c.ast import build_ast
from polybuild.codegen.c.ast_checks import check_scopes
from polybuild.codegen.c.vector_blocks import Packing, VectorBlock
from polybuild.schedule.legality import IllegalSchedule
from polybuild.targets.cpu.choice import choose_mapping

PRODUCT = """
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++)
    C[i][j] += A[i][k] * B[k][j];"""


@pytest.fixture
def tiled(model):
    """The AST of a product in register tiles; ``size`` makes its loops so long that some run once."""

    def make(size="n", only="true", product=PRODUCT):
        arrays = ", ".join(f"double {name}[restrict {size}][{size}]" for name in "ABC")
        found = model(product.replace("N", size), f"int n, {arrays}")
        mapping = choose_mapping(found.scop, found.dependences, context_of(vector_size=16, tile_sizes=(8,)))
        schedule = mapping.schedule.intersect_domain(isl.UnionSet(f"{{ S0[i, j, k] : {only} }}"))
        return build_ast(found.scop, schedule, registers=mapping.registers)

    return make


@pytest.mark.parametrize("size", ["n", "8", "9", "12", "16"])
def test_real_ones_do(tiled, size):
    ast = tiled(size)
    blocks = [each for each in ast.vectors.values() if isinstance(each, VectorBlock)]
    assert all(any(getattr(each, kind) for each in blocks) for kind in ("loads", "computes", "stores"))
    assert any(isinstance(each, Packing) for each in ast.vectors.values())
    check_scopes(ast.root, ast.tiles, ast.everything)


@pytest.mark.parametrize(
    ("kind", "message"),
    [("packs", "a buffer of 'S0'"), ("loads", "a block of 'C'"), ("stores", "a block of 'C'")],
)
def test_a_scope_that_lacks_something_is_refused(tiled, kind, message):
    ast = tiled()

    def lost(each):
        if not (kind == "packs" if isinstance(each, Packing) else getattr(each, kind, False)):
            return each
        return dataclasses.replace(each, domain=each.domain.empty(each.domain.get_space()))

    vectors = {name: lost(each) for name, each in ast.vectors.items()}
    with pytest.raises(IllegalSchedule, match=message):
        check_scopes(ast.root, ast.tiles, ast.everything | vectors)


def readers(ast, name):
    """Whether each instance of a product in no block reads a buffer."""
    return {bool(each.packed) for each in ast.instances.values() if each.statement.name == name}


def test_what_is_in_no_block_reads_the_copy_where_its_lanes_are_far_apart(tiled):
    """The last columns of ``A * B`` lie side by side in B, those of ``A`` times its transpose do not."""
    assert readers(tiled(), "S0") == {False}
    transposed = tiled(product=PRODUCT.replace("B[k][j]", "B[j][k]"))
    assert readers(transposed, "S0") == {True}
    check_scopes(transposed.root, transposed.tiles, transposed.everything)


def test_a_copy_that_only_blocks_fill_is_refused_for_what_is_in_none(tiled):
    ast = tiled(product=PRODUCT.replace("B[k][j]", "B[j][k]"))

    def whole(each):
        if not isinstance(each, Packing) or not each.packed.shared:
            return each
        panels = isl.Set("[n] -> { packed0[i0, i1, i2, i3, i4] : 4 i2 + 3 < n }")
        return dataclasses.replace(each, domain=each.domain.intersect(panels))

    nodes = {name: whole(each) for name, each in ast.everything.items()}
    with pytest.raises(IllegalSchedule, match="a buffer of 'S0'"):
        check_scopes(ast.root, ast.tiles, nodes)


@pytest.mark.parametrize("few", ["i mod 4 != 3", "j mod 2 = 0", "j mod 4 < 2"])
def test_a_block_that_is_not_whole_is_refused(tiled, few):
    with pytest.raises(IllegalSchedule, match="not whole"):
        tiled(only=few)
