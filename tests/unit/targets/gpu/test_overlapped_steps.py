"""Steps in tiles that overlap: what is loaded, passed on and stored, and the proof of that."""

import pytest

from polybuild.context import CompileContext
from polybuild.options import Options
from polybuild.scop.model import AccessKind
from polybuild.targets.device import SharedTile
from polybuild.targets.gpu.overlapped_steps import OverlappedModel
from polybuild.targets.gpu.overlapped_versions import VersionStatements
from polybuild.targets.gpu.target import CUDA
from polybuild.transform.tiling.stencil import find_stencil

LINE = """
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
    for (int i = 1; i < n - 1; i++) a[i] = b[i];
  }"""
PARITY = """
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      a[(t + 1) % 2][i] = a[t % 2][i - 1] + a[t % 2][i + 1];"""
SWEEP = """
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      a[i] = a[i - 1] + a[i + 1];"""
FAR = """
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++) b[i] = a[i] + a[n - 1 - i];
    for (int i = 0; i < n; i++) a[i] = b[i];
  }"""
TWO = "int n, int steps, double *restrict a, double *restrict b"


@pytest.fixture
def built(model):
    def make(body, parameters=TWO, sizes=(4, 16)):
        found = model(body, parameters)
        stencil = find_stencil(found.scop.schedule.get_root().child(0), found.dependences.validity)
        return OverlappedModel(found.scop, stencil, sizes, found.live).build()

    return make


def assignments(found):
    """From where to where values are copied, by the names of arrays."""
    pairs = [[each.array.name for each in statement.accesses] for statement in found.scop.statements]
    return [
        tuple(each) for each in pairs if len(each) == 2 and each[0].split("_")[0] == each[1].split("_")[0]
    ]


def test_what_no_tile_needs_of_another_is_neither_loaded_nor_passed_on(built):
    """Each step writes all of b before it is read; the last tile leaves it behind."""
    assert assignments(built(LINE)) == [
        ("a", "a_versions"),
        ("a_versions", "a_tile"),
        ("a_tile", "a_versions"),
        ("a_tile", "a"),
        ("b_tile", "b"),
    ]


def test_planes_that_the_last_tile_does_not_write_are_passed_on(built):
    """Of 4 m + 1 steps the last tile has one, which writes one plane."""
    found = built(PARITY, "int n, int steps, double a[restrict 2][n]")
    assert assignments(found) == [
        ("a", "a_versions"),
        ("a_versions", "a_tile"),
        ("a_tile", "a_versions"),
        ("a_tile", "a"),
    ]


def test_a_block_has_room_for_what_its_tile_needs(model):
    """Each of four steps needs a neighbour more on either side, and the copy reaches as far: 16 + 2 * 8."""
    found = model(LINE, TWO)
    context = CompileContext(Options(tile_sizes=(4, 16)))
    _, plan = CUDA.plan_overlapped(found.scop, found.dependences, context, frozenset())
    (tiles,) = (each for each in plan.tree.tiles.values() if each)
    assert {each.array.name: each.extents for each in tiles if isinstance(each, SharedTile)} == {
        "a_tile": (1, 1, 32),
        "b_tile": (1, 1, 30),
    }
    assert {each.array.name for each in plan.transfers} == {"a", "b", "a_versions"}
    assert "overlapped tiles of 4x16 over time, one kernel for 4 steps" in plan.remarks[0]


def test_tiles_that_compute_too_little_are_found_out(built, monkeypatch):
    """Without what is around a tile, values of its borders would be old ones."""
    needed = OverlappedModel._tiles
    monkeypatch.setattr(OverlappedModel, "_tiles", lambda model, **_: needed(model, own=True))
    assert built(LINE) is None


def test_versions_that_are_mixed_up_are_found_out(built, monkeypatch):
    """A tile that stores into the version that others still read, or loads what none has stored."""
    version = VersionStatements._version

    def same(model, domain, array, ahead):
        return version(model, domain, array, 0 * ahead)

    monkeypatch.setattr(VersionStatements, "_version", same)
    assert built(LINE) is None


@pytest.mark.parametrize("body", [SWEEP, FAR, "for (int i = 0; i < n; i++) a[i] += b[i];"])
def test_what_has_no_such_tiles(model, body):
    found = model(body, TWO)
    context = CompileContext(Options())
    with pytest.raises(ValueError, match="not one loop over steps, in each of which values go a few places"):
        CUDA.plan_overlapped(found.scop, found.dependences, context, frozenset())


def test_each_element_of_a_part_is_stored_once(built):
    found = built(LINE)
    stores = [
        access
        for statement in found.scop.statements
        for access in statement.accesses
        if access.kind is AccessKind.WRITE and access.array.name in {"a", "b"}
    ]
    assert len(stores) == 2
    assert all(each.relation.is_injective() for each in stores)
