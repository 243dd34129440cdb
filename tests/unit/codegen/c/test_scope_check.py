"""Scopes of register tiles that isl might write: each has to fill what it uses."""

from __future__ import annotations

import dataclasses

import pytest
from contexts import context_of

from polybuild.codegen.c.ast import build_ast
from polybuild.codegen.c.ast_checks import check_scopes
from polybuild.codegen.c.vectors import Lanes, Move, Packing
from polybuild.schedule.legality import IllegalSchedule
from polybuild.targets.cpu.choice import choose_mapping

PRODUCT = """
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++)
    C[i][j] += A[i][k] * B[k][j];"""


@pytest.fixture
def tiled(model):
    """The AST of a product in register tiles; ``size`` makes its loops so long that some run once."""

    def make(size="n"):
        arrays = ", ".join(f"double {name}[restrict {size}][{size}]" for name in "ABC")
        found = model(PRODUCT.replace("N", size), f"int n, {arrays}")
        mapping = choose_mapping(found.scop, found.dependences, context_of(vector_size=16, tile_sizes=(8,)))
        return build_ast(found.scop, mapping.schedule, registers=mapping.registers)

    return make


@pytest.mark.parametrize("size", ["n", "8", "9", "12", "16"])
def test_real_ones_do(tiled, size):
    ast = tiled(size)
    assert {type(each) for each in ast.vectors.values()} == {Lanes, Move, Packing}
    check_scopes(ast.root, ast.tiles, ast.vectors)


@pytest.mark.parametrize(
    ("kind", "store", "message"),
    [(Packing, None, "a buffer of 'S0'"), (Move, False, "a block of 'C'"), (Move, True, "a block of 'C'")],
)
def test_a_scope_that_lacks_something_is_refused(tiled, kind, store, message):
    ast = tiled()

    def lost(each):
        if not isinstance(each, kind) or (store is not None and each.store is not store):
            return each
        return dataclasses.replace(each, domain=each.domain.empty(each.domain.get_space()))

    vectors = {name: lost(each) for name, each in ast.vectors.items()}
    with pytest.raises(IllegalSchedule, match=message):
        check_scopes(ast.root, ast.tiles, vectors)
