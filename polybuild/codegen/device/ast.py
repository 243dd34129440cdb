"""From a tree with kernels to isl's AST, with the number of blocks at each launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import islpy as isl

from polybuild.codegen.c.ast import Instance, instance_at, is_made
from polybuild.codegen.c.buffers import NamedBuffer
from polybuild.codegen.c.callbacks import AstCallbacks, generate_ast
from polybuild.codegen.c.dynamic import RestoredLoop, restored_loop
from polybuild.codegen.c.loop_origins import LoopOrigin
from polybuild.codegen.c.nodes import called_by
from polybuild.codegen.c.vector_blocks import Packing, Tiles, VectorBlock
from polybuild.poly import spaces
from polybuild.poly.marks import Mark
from polybuild.scop.model import Access, Scop, Statement
from polybuild.targets.device import (
    AddedStatement,
    FullTiles,
    KernelTree,
    Purpose,
    SharedTile,
    StagedCopy,
    ThreadTile,
    Tile,
)
from polybuild.values import dataclass

NO_LAUNCH = "none"
COORDINATES = "pb_x"
"""How the names of an element's subscripts begin that a thread counts itself."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel reached by the host: its mark and the blocks along each axis, outermost first."""

    kernel: Mark
    grid: tuple[isl.AstExpr, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """An access whose element is in ``tile``, at ``subscripts``."""

    access: Access
    tile: Tile
    subscripts: tuple[isl.AstExpr, ...]


@dataclass(frozen=True, slots=True)
class AddedInstance:
    """An instance of an added statement: with a tile, the place in it and the element of the array.

    What is moved has its place before for the element. Of a staged copy these are the first of the box; all
    of it is there where ``whole`` holds, and an element where ``wanted`` does, whose subscripts are called
    ``COORDINATES``.
    """

    added: AddedStatement
    subscripts: tuple[isl.AstExpr, ...] = ()
    element: tuple[isl.AstExpr, ...] = ()
    whole: isl.AstExpr | None = None
    wanted: isl.AstExpr | None = None


@dataclass(frozen=True, slots=True)
class FullTile:
    """The condition under which a tile is full; ``alike`` as in ``FullTiles``."""

    condition: isl.AstExpr
    alike: bool


@dataclass(frozen=True, slots=True)
class KernelAst:
    """The AST of host and kernels.

    The annotation of a user node names its entry in ``instances`` or ``copies``, that of a
    kernel's mark its entry in ``launches``, that of the mark around a tile its entry in ``full``
    (when the tile is full), that of another mark is ``NO_LAUNCH``, that of a loop its entry in ``dynamic``
    if its bounds are data. Kernels have no ``vectors``.
    """

    root: isl.AstNode
    schedule: isl.Schedule
    instances: Mapping[str, Instance]
    launches: Mapping[str, Launch]
    placed: Mapping[str, tuple[Placed, ...]]
    copies: Mapping[str, AddedInstance]
    full: Mapping[str, FullTile]
    dynamic: Mapping[str, RestoredLoop]
    loops: Mapping[str, LoopOrigin] = field(default_factory=dict)
    vectors: Mapping[str, VectorBlock | Packing] = field(default_factory=dict)
    tiles: Tiles = field(default_factory=lambda: Tiles(()))

    @property
    def everything(self) -> Mapping[str, Instance]:
        """What stands at each user node but for ``copies``."""
        return self.instances


def build_kernel_ast(scop: Scop, tree: KernelTree, buffers: Sequence[NamedBuffer] = ()) -> KernelAst:
    """Generate the AST of ``tree``; what ``buffers`` stand for is accessed there."""
    builder = _KernelAstBuilder(scop, tree, buffers)
    root = generate_ast(scop.context, tree.schedule, builder)
    return KernelAst(
        root,
        tree.schedule,
        builder.instances,
        builder.launches,
        builder.placed,
        builder.copies,
        builder.full,
        builder.dynamic,
    )


class _KernelAstBuilder(AstCallbacks):
    """Annotates the nodes of an AST with kernels, and keeps what the annotations mean."""

    def __init__(self, scop: Scop, tree: KernelTree, buffers: Sequence[NamedBuffer]) -> None:
        self._tree = tree
        self._statements = {statement.name: statement for statement in scop.statements}
        self._buffers = {each.buffer.array.name: each for each in buffers}
        self._tiles = [tile for each in tree.tiles.values() for tile in each]
        self.instances: dict[str, Instance] = {}
        self.launches: dict[str, Launch] = {}
        self.placed: dict[str, tuple[Placed, ...]] = {}
        self.copies: dict[str, AddedInstance] = {}
        self.full: dict[str, FullTile] = {}
        self.dynamic: dict[str, RestoredLoop] = {}

    def before_for(self, build: isl.AstBuild) -> isl.Id:
        """The name of the loop with dynamic bounds that a loop is."""
        restored = restored_loop(build, self._statements)
        if restored is None:
            return super().before_for(build)
        self.dynamic[name := f"dynamic{len(self.dynamic)}"] = restored
        return isl.Id(name)

    def at_domain(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        """Find what stands at a statement instance, or at one of a statement that was added."""
        called = called_by(node)
        if called in self._tree.added:
            name = f"copy{len(self.copies)}"
            self.copies[name] = copy_at(self._tree.added[called], build)
        else:
            name = f"instance{len(self.instances)}"
            statement = self._statements[called]
            self.instances[name] = instance_at(statement, build, self._buffers)
            self.placed[name] = placed_at(statement, self._tiles, build)
        return node.set_annotation(isl.Id(name))

    def after_mark(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        """Find what begins at a mark: a tile that may be full, or a kernel."""
        mark, tree = Mark.of_id(node.mark_get_id()), self._tree
        if mark in tree.full:
            name = f"full{len(self.full)}"
            self.full[name] = FullTile(full_at(tree.full[mark], build), tree.full[mark].alike)
            return node.set_annotation(isl.Id(name))
        if mark not in tree.grids:
            return node.set_annotation(isl.Id(NO_LAUNCH))
        name = f"launch{len(self.launches)}"
        loops = _function(
            isl.Map.from_union_map(build.get_schedule().reverse().apply_range(tree.hosts[mark]))
        )
        grid = (each.pullback_pw_multi_aff(loops) for each in tree.grids[mark])
        self.launches[name] = Launch(mark, tuple(build.expr_from_pw_aff(each) for each in grid))
        return node.set_annotation(isl.Id(name))


def full_at(full: FullTiles, build: isl.AstBuild) -> isl.AstExpr:
    """Whether the tile at the place of ``build`` is full."""
    loops = _function(isl.Map.from_union_map(build.get_schedule().reverse().apply_range(full.loops)))
    return build.expr_from_set(full.tiles.preimage_pw_multi_aff(loops).coalesce())


def placed_at(statement: Statement, tiles: Sequence[Tile], build: isl.AstBuild) -> tuple[Placed, ...]:
    """Where the accesses of ``statement`` that are in ``tiles`` find their elements.

    Those that the instances here never make, on the side of a choice that is impossible, find none.
    """
    own = [
        (tile, [each for each in tile.references if each.statement.name == statement.name]) for tile in tiles
    ]
    if not any(references for _, references in own):
        return ()
    found = []
    schedule = isl.Map.from_union_map(build.get_schedule())
    here = schedule.domain()
    to_instance = isl.PwMultiAff.from_map(schedule.reverse())
    for tile, references in own:
        made = [each for each in references if is_made(each.access, statement, here)]
        if not made or tile.loops[statement.name].domain().is_disjoint(here):
            continue  # another kernel has these instances
        loops = _loops(tile.loops[statement.name], schedule)
        if isinstance(tile, SharedTile):
            for each in made:
                element = isl.PwMultiAff.from_map(each.access.relation).pullback_pw_multi_aff(to_instance)
                places = _in_box(tile, _functions(element), loops)
                if tile.stages > 1:
                    places.insert(0, _stage(tile, _functions(loops)))
                found.append(Placed(each.access, tile, tuple(map(build.expr_from_pw_aff, places))))
        else:  # all accesses of an instance are to one point
            points = tile.points[statement.name].pullback_pw_multi_aff(to_instance)
            places = _in_registers(tile, _functions(points), _functions(loops))
            point = tuple(map(build.expr_from_pw_aff, places))
            found += [Placed(each.access, tile, point) for each in made]
    return tuple(found)


def _loops(loops: isl.PwMultiAff, schedule: isl.Map) -> isl.PwMultiAff:
    """The loops around an instance in terms of those that isl generated.

    It generates none where the value is known, and its dimensions are not numbered as ours.
    What equals one of them, or a number, is found by what is known of all.
    """
    return _function(schedule.reverse().apply_range(isl.Map.from_pw_multi_aff(loops)))


def _function(values: isl.Map) -> isl.PwMultiAff:
    return isl.PwMultiAff.from_map(values.coalesce().detect_equalities())


def _functions(values: isl.PwMultiAff) -> list[isl.PwAff]:
    return [values.get_pw_aff(dim) for dim in range(values.dim(isl.dim_type.out))]


def copy_at(added: AddedStatement, build: isl.AstBuild) -> AddedInstance:
    """The place and the element of a copy, a load or a store."""
    tile = added.tile
    if tile is None or added.purpose in {Purpose.BEGIN, Purpose.COMBINE}:
        return AddedInstance(added)
    here = isl.PwMultiAff.from_map(isl.Map.from_union_map(build.get_schedule()).reverse())
    dims = _functions(here)
    if added.staged is not None and isinstance(tile, SharedTile):
        return _staged_at(added, added.staged, tile, here, build)
    loops, rest = dims[: added.depth], dims[added.depth :]
    if isinstance(tile, SharedTile):
        outer = isl.PwMultiAff.from_multi_aff(spaces.outer_loops(here.get_space().range(), tile.depth))
        elements = rest if added.element is None else _functions(added.element.pullback_pw_multi_aff(here))
        places = _in_box(tile, elements, outer.pullback_pw_multi_aff(here))
        if added.purpose is Purpose.MOVE:
            elements = _in_box(tile, elements, _before(outer).pullback_pw_multi_aff(here))
    else:
        assert added.element is not None  # noqa: S101 - loads and stores have one
        elements = _functions(added.element.pullback_pw_multi_aff(here))
        places = _in_registers(tile, rest, loops)
    subscripts, element = (tuple(map(build.expr_from_pw_aff, each)) for each in (places, elements))
    return AddedInstance(added, subscripts, element, wanted=_only_at(added, here, build))


def _only_at(added: AddedStatement, here: isl.PwMultiAff, build: isl.AstBuild) -> isl.AstExpr | None:
    """What must hold for the instance ``here``, beside what does at its place; None: nothing."""
    if added.only is None:
        return None
    pieces = [each.get_pieces() for each in _functions(here)]
    if any(len(each) > 1 for each in pieces):
        return build.expr_from_set(added.only.preimage_pw_multi_aff(here).coalesce())
    anywhere = isl.MultiAff.zero(here.get_space())  # what is known of its instances is no condition
    for dim, ((_, value),) in enumerate(pieces):
        anywhere = anywhere.set_aff(dim, value)
    return build.expr_from_set(added.only.preimage_multi_aff(anywhere).coalesce())


def _staged_at(
    added: AddedStatement, staged: StagedCopy, tile: SharedTile, here: isl.PwMultiAff, build: isl.AstBuild
) -> AddedInstance:
    """The stage of the instance ``here``, the first element of its box, and which elements are wanted."""
    loops = here.reset_tuple_id(isl.dim_type.out)
    corner = [isl.PwAff.from_aff(each).pullback_pw_multi_aff(loops).coalesce() for each in tile.box.offset]
    wanted = staged.wanted
    for dim in range(len(corner)):
        wanted = wanted.add_dims(isl.dim_type.param, 1)
        position = wanted.dim(isl.dim_type.param) - 1
        wanted = wanted.set_dim_name(isl.dim_type.param, position, f"{COORDINATES}{dim}")
        wanted = wanted.equate(isl.dim_type.param, position, isl.dim_type.set, added.depth + dim)
    wanted = wanted.project_out(isl.dim_type.set, added.depth, len(corner))
    sets = [each.reset_tuple_id() if each.has_tuple_id() else each for each in (staged.whole, wanted)]
    whole, one = (build.expr_from_set(each.preimage_pw_multi_aff(loops).coalesce()) for each in sets)
    stage = build.expr_from_pw_aff(_stage(tile, _functions(loops)))
    elements = tuple(build.expr_from_pw_aff(each) for each in corner)
    return AddedInstance(added, (stage,), elements, whole, one)


def _stage(tile: SharedTile, loops: list[isl.PwAff]) -> isl.PwAff:
    """The stage of ``tile`` that belongs to values of the ``loops`` around it."""
    return loops[tile.depth - 1].mod_val(isl.Val(tile.stages)).coalesce()


def _in_box(tile: SharedTile, elements: list[isl.PwAff], loops: isl.PwMultiAff) -> list[isl.PwAff]:
    """The places of ``elements`` in ``tile``."""
    places = []
    for dim in tile.order:
        if tile.ring is not None and tile.ring[0] == dim:
            places.append(elements[dim].mod_val(isl.Val(tile.ring[1])).coalesce())
            continue
        corner = isl.PwAff.from_aff(tile.box.offset[dim]).pullback_pw_multi_aff(loops)
        places.append(elements[dim].sub(corner).coalesce())
    return places


def _before(loops: isl.PwMultiAff) -> isl.PwMultiAff:
    """``loops`` with the value before of the last of them."""
    last = loops.dim(isl.dim_type.out) - 1
    return loops.set_pw_aff(last, loops.get_pw_aff(last).add_constant_val(isl.Val(-1)))


def _in_registers(tile: ThreadTile, points: list[isl.PwAff], loops: list[isl.PwAff]) -> list[isl.PwAff]:
    """The places in ``tile`` of ``points``, the turns of the threads and then the values of the loops.

    The points of a thread are numbered from the first of the tile on, run by run.
    """
    places = []
    count = len(tile.sizes)
    turns, values, blocks = points[:count], points[count:], loops[-count:]
    for turn, value, block, size, axis in zip(turns, values, blocks, tile.sizes, tile.threads, strict=True):
        domain = isl.Set.universe(value.get_domain_space())
        thread = isl.PwAff.param_on_domain_id(domain, spaces.identifier(axis.parameter))
        first = turn.scale_val(isl.Val(axis.turn)).add(thread.scale_val(isl.Val(axis.run)))
        earlier = turn.scale_val(isl.Val(axis.run)).sub(block.scale_val(isl.Val(size)))
        places.append(value.sub(first).add(earlier).coalesce())
    return places
