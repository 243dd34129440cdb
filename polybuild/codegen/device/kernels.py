"""Kernels as text: a function for each, with what the host must pass to it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import islpy as isl

from polybuild.c.types import IntegerType
from polybuild.codegen.c.accumulators import OpenAccumulator
from polybuild.codegen.c.bodies import BodyPrinter
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.expressions import ADDITIVE, UNARY, identifiers_in, is_atom
from polybuild.codegen.c.guards import GuardSimplifier
from polybuild.codegen.c.layout import CodeLine
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.c.nodes import FOR, identifier_of, kind_of, nodes_below, parts, users_below
from polybuild.codegen.device.arrays import Argument, ArgumentPrinter, element_type
from polybuild.codegen.device.ast import FullTile
from polybuild.codegen.device.descriptions import described
from polybuild.codegen.device.exchanges import IDENTITIES, LANE_THREADS, exchange_of
from polybuild.codegen.device.matrices import MatrixPrinter, unconditional
from polybuild.codegen.device.statements import KernelSource, KernelStatementPrinter, may_run_idle
from polybuild.codegen.device.whole_loops import (
    COPIES,
    WholeLoop,
    last_of,
    remaining,
    tightest_bounds,
    whole_loop,
)
from polybuild.codegen.file.names import fresh
from polybuild.poly.marks import Mark, MarkKind
from polybuild.scop.model import AccessKind, Array
from polybuild.targets.device import MEETINGS, Axis, Kernel, SharedTile, ThreadTile, Tile
from polybuild.targets.kernel_file import KernelFunction
from polybuild.targets.languages import KernelLanguage
from polybuild.targets.model import LoopDirective
from polybuild.values import dataclass

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel: ``body`` is all but the head of the function, ``arguments`` its parameters in order.

    ``block`` has its threads along x, y and z. ``outer`` are the variables of the host that are among the
    arguments: parameters, and counters around the kernel. At least ``resident`` blocks have to fit a
    multiprocessor at once, if that is not 0. It is ``described`` in words.
    """

    arguments: tuple[Argument, ...]
    block: tuple[int, int, int]
    body: tuple[str, ...]
    outer: tuple[str, ...]
    resident: int = 0
    described: tuple[str, ...] = ()

    def function(self, name: str) -> KernelFunction:
        """The kernel as a function called ``name``."""
        parameters = ", ".join(each.declaration for each in self.arguments)
        return KernelFunction(name, self.block, parameters, self.body, self.resident)


def named_tiles(tiles: Sequence[Tile], taken: Collection[str]) -> dict[str, str]:
    """Names for ``tiles``, and for what threads exchange them through, none of which is ``taken``."""
    names: dict[str, str] = {}
    for tile in tiles:
        for each in (tile.name, exchange_of(tile)):
            names[each] = fresh(each, {*taken, *names.values()})
    return names


class _HeadPrinter(DirectivePrinter):
    """Prints the heads of a kernel's loops; compilers leave those that are to be ``rolled`` as they are.

    nvcc 13.0 (ptxas, from -O1 on) unrolls the steps of some tiles over time that work in shared memory into
    code with other results: staggered grids in tiles of 4 by 32 by 64 on an H200, where nothing races, and
    the same loops are right without unrolling, without ptxas' optimisation, and compiled by gcc and clang.
    """

    rolled = False

    def above(
        self,
        head: CodeLine,
        directive: LoopDirective | None,
        accumulators: Sequence[OpenAccumulator] = (),
        mentioned: Collection[str] = (),
        *,
        team: str = "",
    ) -> list[str]:
        """The lines above a loop, and its ``head``."""
        lines = super().above(head, directive, accumulators, mentioned, team=team)
        indent = head[: len(head) - len(head.lstrip())]
        return [f"{indent}#pragma unroll 1", *lines] if self.rolled else lines


def keeps_rolled(kernel: Kernel, tiles: Sequence[Tile]) -> bool:
    """Whether compilers are to leave the loops of ``kernel``, which keeps ``tiles``, as they are."""
    return kernel.in_steps and any(isinstance(each, SharedTile) for each in tiles)


class _TileState:
    """What is known of the tile at hand.

    It ``is_full``, at least as far as its points may run idle where they are not there: then there is what
    names it (``counters``). Where ``sums`` holds all terms of a whole tile belong to each point that is
    there, and where sums ``run_whole`` that has been asked. It may be a strip of tiles
    over time, the steps of which are at hand (``in_strip``). The number of the thread may be ``known_anew``
    in each tile.
    """

    def __init__(self) -> None:
        self.is_full = False
        self.counters: frozenset[str] | None = None
        self.sums: isl.AstExpr | None = None
        self.run_whole = False
        self.in_strip = False
        self.known_anew = False


class KernelPrinter(LoopPrinter):
    """Prints the loops of one kernel.

    ``names`` gives the C text, in the host's code, of each parameter and of the
    counter of each of the host's loops around the kernel, ``counter_type`` the C
    type that their values fit.
    """

    def __init__(
        self, source: KernelSource, language: KernelLanguage, names: Mapping[str, str], *, counter_type: str
    ) -> None:
        self._heads_of_loops = _HeadPrinter({}, NamesInUse())
        super().__init__(source.ast, NamesInScope(names, frozenset()), self._heads_of_loops, sizes={})
        self.counter_type = counter_type
        self._source = source
        self._language = language
        self._outer = dict(names)
        self._tile_names: dict[str, str] = {}
        self._statements = KernelStatementPrinter(
            source, language, self._expression(), self._tile_names, self._instances.open_loops
        )
        self._known: GuardSimplifier | None = None
        self._parting: FullTile | None = None  # what the pieces between barriers have to ask first
        self._around_tile: frozenset[str] = frozenset()
        self._tile_state = _TileState()
        self._matrices: MatrixPrinter | None = None  # where warps compute products together

    def kernel(self, node: isl.AstNode, kernel: Kernel, tiles: Sequence[Tile]) -> KernelText:
        """The text of the kernel whose AST is ``node``; ``tiles`` are those that it keeps."""
        taken = self._taken(kernel)
        self._tile_names.update(named_tiles(tiles, taken))
        taken |= set(self._tile_names.values())
        for copy in self._source.copies.get(kernel.mark(), ()):
            self._statements.copies[copy.array.name] = fresh(f"{copy.array.name}_block", taken), copy
        counter = fresh("copied", taken)
        self._names.taken = frozenset(taken)
        if self._source.ast.full:
            self._known = GuardSimplifier(self._source.scop, self._names, kernel)
        self._heads_of_loops.rolled = keeps_rolled(kernel, tiles)
        self._statements.shifted = any(isinstance(each, SharedTile) and each.stages > 1 for each in tiles)
        if kernel.warp is not None:
            number = self._statements.stages.number = fresh("thread", taken)
            self._names.taken |= {number}
        if kernel.product is not None:
            own = (self._expression(), self._tile_names, self._names)
            self._matrices = MatrixPrinter(kernel, kernel.product, *own)
        lines = self._node(node, _INDENT, None)
        used, arguments, outer = self._passed()
        waiting = self._statements.stages.declarations
        declared = [*self._indices(kernel), *map(self._tile, tiles), *waiting, *self._variables(used)]
        declared += [each for tile in tiles for each in self._exchanged(tile)]
        before, after = self._copies(kernel, counter)
        before = [*self._shifts(used), *before]
        body = (
            *(f"{_INDENT}{line}" for line in (*declared, *before)),
            *lines,
            *(f"{_INDENT}{line}" for line in after),
        )
        sizes = [axis.size for axis in reversed(kernel.threads)]
        x, y, z = [*sizes, 1, 1, 1][:3]
        in_lanes = any(isinstance(each, ThreadTile) and each.reduction is not None for each in tiles)
        # left to itself nvcc 13 takes 32 registers for a warp's row of a sparse matrix, and spills
        resident = LANE_THREADS // (x * y * z) if in_lanes else kernel.resident
        return KernelText(tuple(arguments), (x, y, z), body, tuple(outer), resident, described(kernel, tiles))

    def _taken(self, *kernels: Kernel) -> set[str]:
        """Name the indices of ``kernels``; what no other name may be."""
        arrays = self._source.arrays
        taken = set(self._language.reserved.union(self._names.values(), arrays.names.values()))
        for axis in itertools.chain.from_iterable(kernel.axes for kernel in kernels):
            if axis.parameter not in self._names:
                self._names[axis.parameter] = fresh(axis.parameter.removeprefix("pb_"), taken)
        return taken | set(self._names.values())

    def _passed(self) -> tuple[list[Array], list[Argument], list[str]]:
        """The arrays that the text uses, the kernel's parameters, and the host's variables among them."""
        used = [each for each in self._source.scop.arrays if each.name in self._statements.used]
        outer = [name for name in self._outer.values() if name in self._in_use.variables]
        printer = ArgumentPrinter(self._source.arrays, self._language)
        return used, printer.arguments(used, outer, self.counter_type), outer

    def _indices(self, kernel: Kernel) -> list[str]:
        """The declarations of the indices of blocks and threads that the text mentions."""
        if kernel.warp is not None:
            blocks = self._declared(kernel.blocks, self._language.block)
            outer = self._declared(kernel.threads[:-2], self._language.thread[2:])
            return [*blocks, *outer, *self._in_warps(kernel, kernel.warp)]
        pairs = ((kernel.blocks, self._language.block), (kernel.threads, self._language.thread))
        return [line for axes, spelled in pairs for line in self._declared(axes, spelled)]

    def _in_warps(self, kernel: Kernel, warp: tuple[int, int]) -> list[str]:
        """The indices of a thread where a ``warp`` lies along the last two loops, and its number."""
        down, across = kernel.threads[-2:]
        number = self._statements.stages.number
        (high, wide), count = warp, math.prod(warp)
        beside = across.size // wide
        x, y = self._language.thread[:2]
        values = (
            f"{number} / {count * beside} * {high} + {number} % {count} / {wide}",
            f"{number} / {count} % {beside} * {wide} + {number} % {wide}",
        )
        pairs = zip((down, across), values, strict=True)
        kind = "int" if self._tile_state.known_anew else "const int"
        return [
            f"{kind} {number} = (int)({y} * {across.size} + {x});",
            *(f"const int {self._names[axis.parameter]} = {value};" for axis, value in pairs),
        ]

    def _declared(self, axes: Sequence[Axis], spelled: Sequence[str]) -> list[str]:
        """The declarations of those indices along ``axes`` that the text mentions, x first in ``spelled``."""
        pairs = zip(axes, reversed(spelled[: len(axes)]), strict=True)
        return [
            f"const int {self._names[axis.parameter]} = (int){index};"
            for axis, index in pairs
            if self._names[axis.parameter] in self._in_use.variables
        ]

    def _variables(self, used: Sequence[Array]) -> list[str]:
        """The declarations of what each thread has of its own: buffers, and those of the arrays ``used``."""
        arrays = self._source.arrays
        lines = [
            f"{self._type(each.array)} {each.variables[0]};"
            for each in arrays.buffers
            if each.name in self._statements.used
        ]
        for array in used:
            if array.name in arrays.private:
                declarator = arrays.names[array.name] + "".join(f"[{size}]" for size in array.sizes or ())
                lines.append(f"{self._type(array)} {declarator};")
        return lines

    def _shifts(self, used: Sequence[Array]) -> list[str]:
        """What makes pointers to the arrays ``used`` count from their first elements, if they do."""
        arrays = self._source.arrays
        names = (arrays.names[each.name] for each in used if each.name not in arrays.private | arrays.values)
        return [f"{name} -= {name}_first;" for name in names] if self._statements.shifted else []

    def _copies(self, kernel: Kernel, counter: str) -> tuple[list[str], list[str]]:
        """What the threads of a block do with its copies, before and after all else."""
        before: list[str] = []
        after: list[str] = []
        for name, copy in self._statements.copies.values():
            element = copy.array.element
            assert isinstance(element, IntegerType)  # noqa: S101 - others have no atomic operations
            kind = self._language.types.of(IntegerType("", element.width, signed=False))
            array, nothing = self._source.arrays.names[copy.array.name], IDENTITIES[copy.operator]
            head = f"for (int {counter} = (int){self._language.thread[0]}; {counter} < {copy.size};"
            head += f" {counter} += {kernel.threads[0].size})"
            subscript = f"{counter} + {copy.first}" if copy.first else counter
            place = f"({self._language.qualifiers.pointer}{kind} *)&{array}[{subscript} - {array}_first]"
            update = f"{self._language.atomics.names[copy.operator]}({place}, {name}[{counter}]);"
            before += [
                f"{self._language.qualifiers.shared} {kind} {name}[{copy.size}];",
                f"{head} {name}[{counter}] = {nothing};",
            ]
            after += [f"{head} if ({name}[{counter}] != {nothing}) {update}"]
        barrier = [self._language.barrier] if before else []
        return [*before, *barrier], [*barrier, *after]

    def _tile(self, tile: Tile) -> str:
        """The declaration of a tile."""
        where, sizes = "", tile.extents if isinstance(tile, SharedTile) else tile.sizes
        if isinstance(tile, SharedTile):
            qualifiers = self._language.qualifiers
            where = f"{qualifiers.shared} {qualifiers.aligned} " if tile.run > 1 else f"{qualifiers.shared} "
        extents = "".join(f"[{size}]" for size in sizes)
        kind = self._type(tile.array)
        if isinstance(tile, ThreadTile) and tile.reduction is not None:
            kind = self._language.types.of(tile.reduction.type) or kind
        return f"{where}{kind} {self._tile_names[tile.name]}{extents};"

    def _exchanged(self, tile: Tile) -> list[str]:
        """The declaration of what threads exchange parts of ``tile`` through, where they need memory."""
        if not isinstance(tile, ThreadTile) or tile.reduction is None or self._language.exchange.shuffle:
            return []
        kind, count = self._language.types.of(tile.reduction.type), math.prod(x.size for x in tile.threads)
        return [f"{self._language.qualifiers.shared} {kind} {self._tile_names[exchange_of(tile)]}[{count}];"]

    def _type(self, array: Array) -> str:
        """The type of the elements of ``array``."""
        return element_type(array, self._language)

    # What differs from the loops of the host

    def _mark(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        full = self._source.ast.full.get(node.get_annotation().get_name())
        if full is None:
            return super()._mark(node, indent, before)
        if Mark.of_id(node.mark_get_id()).kind is MarkKind.THREADS:
            self._tile_state.sums = full.condition
            lines = super()._mark(node, indent, before)
            self._tile_state.sums = None
            return lines
        if Mark.of_id(node.mark_get_id()).kind is MarkKind.STEPS:
            return self._of_strip(node.mark_get_node(), full, indent, before)
        self._parting, self._around_tile = full, frozenset(self._names)
        lines = self._node(node.mark_get_node(), indent, before)
        self._parting = None
        return [*self._anew(indent), *lines]

    def _anew(self, indent: str) -> list[str]:
        """What makes compilers compute from the number of a thread for each tile again.

        nvcc does it once for all tiles of a block, and has no registers for that beside those of the sums.
        """
        number, anew = self._statements.stages.number, self._language.exchange.anew
        self._tile_state.known_anew = bool(number and anew)
        return [indent + anew.format(value=number)] if self._tile_state.known_anew else []

    def _parted(
        self, nodes: Sequence[isl.AstNode], full: FullTile, indent: str, before: Mark | None
    ) -> list[str]:
        """Lines for full tiles and lines for others, once if they are the same.

        What computes nothing but values in registers that are not stored may run for missing points, too.
        """
        assert self._known is not None  # noqa: S101 - kernels with full tiles have it
        if full.alike and all(map(self._may_run_idle, nodes)):
            self._tile_state.counters = self._around_tile
            lines = self._for_full(nodes, full, indent, before)
            self._tile_state.counters = None
            return lines
        inner = indent + _INDENT
        declared = self._names.enter()
        otherwise = [line for each in nodes for line in self._node(each, inner, before)]
        self._names.leave(declared)
        lines = self._for_full(nodes, full, inner, before)
        if lines == otherwise:
            self._names.leave(declared)
            return [line for each in nodes for line in self._node(each, indent, before)]
        head = f"{indent}if ({self._expression().text(full.condition)}) {{ /* a full tile */"
        return [head, *lines, f"{indent}}} else {{", *otherwise, f"{indent}}}"]

    def _of_strip(self, node: isl.AstNode, full: FullTile, indent: str, before: Mark | None) -> list[str]:
        """Lines for the steps of full strips, in which all threads go one way, and for those of others."""
        inner, declared = indent + _INDENT, self._names.enter()
        otherwise = self._node(node, inner, before)
        self._names.leave(declared)
        self._tile_state.in_strip = True
        lines = self._for_full([node], full, inner, before)
        self._tile_state.in_strip = False
        return self._branches(full.condition, lines, otherwise, indent)

    def _for_full(
        self, nodes: Sequence[isl.AstNode], full: FullTile, indent: str, before: Mark | None
    ) -> list[str]:
        """Lines that need not ask whether the points of a thread are there."""
        assert self._known is not None  # noqa: S101 - kernels with full tiles have it
        back, self._tile_state.is_full = self._known.learn(full.condition), True
        lines = [line for each in nodes for line in self._node(each, indent, before)]
        self._tile_state.is_full = False
        self._known.leave(back)
        return lines

    def _may_run_idle(self, node: isl.AstNode) -> bool:
        """Whether ``node`` computes registers from registers, and from tiles that have zeros elsewhere."""
        names = [each.get_annotation().get_name() for each in users_below(node)]
        ast = self._source.ast
        return all(
            name in ast.instances and may_run_idle(ast.instances[name].statement, ast.placed[name])
            for name in names
        )

    def _node(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """As for the host; of a tile that may be full, each piece between barriers asks whether it is."""
        full = self._parting
        if full is None:
            return super()._node(node, indent, before)
        lines: list[str] = []
        pieces = parts(node) if kind_of(node) == isl.ast_node_type.block else [node]
        for asks, together in itertools.groupby(pieces, self._asks):
            if asks:
                self._parting = None
                lines += self._parted(list(together), full, indent, before)
                self._parting = full
                continue
            for each in together:
                lines += super()._node(each, indent, before)
        return lines

    def _asks(self, node: isl.AstNode) -> bool:
        """Whether ``node`` works for points of threads. What copies to shared memory asks for itself."""
        copies = self._source.ast.copies
        if self._meets(node):
            return False
        names = (each.get_annotation().get_name() for each in users_below(node))
        return any(name not in copies or copies[name].added.staged is None for name in names)

    def _meets(self, node: isl.AstNode) -> bool:
        """Whether all threads of a block have to come to something in ``node``."""
        names = [each.get_annotation().get_name() for each in users_below(node)]
        copies = self._source.ast.copies
        return any(copies[name].added.purpose in MEETINGS for name in names if name in copies)

    def _for(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        if self._known is None:
            return self._plain(node, indent, before)
        back = self._known.enter(node)
        if self._tile_state.in_strip:
            lines = self._tightened(node, indent)
        else:
            lines = self._whole(node, indent) if self._tile_state.is_full else []
        with self._below(node.for_get_init(), node.for_get_cond()):
            lines = lines or self._plain(node, indent, before)
        self._known.leave(back)
        return lines

    def _plain(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """The loop ``node`` with its own bounds.

        nvcc makes copies of its code only where the last one is computed before.
        """
        known = node.get_annotation()
        kept = self._heads_of_loops.rolled or (known and known.get_name() in self._ast.dynamic)
        last = last_of(node) if self._adds_up(node) and whole_loop(node) is None else None
        if last is None or kept:
            return super()._for(node, indent, before)
        return self._in_copies(node, (node.for_get_init(), last), f"#pragma unroll {COPIES}", indent)

    def _tightened(self, node: isl.AstNode, indent: str) -> list[str]:
        """The loop ``node`` of a full strip between bounds of its own; empty if they are not known."""
        known = node.get_annotation()
        restored = known and known.get_name() in self._ast.dynamic
        ends = None if restored or node.for_is_degenerate() else tightest_bounds(node, self._holds)
        if ends is None:
            return []
        rolled = self._heads_of_loops.rolled or not all(map(is_atom, ends))
        pragma = f"{indent}#pragma unroll {1 if rolled else COPIES}"
        return self._in_copies(node, ends, pragma, indent)

    def _adds_up(self, node: isl.AstNode) -> bool:
        """Whether the loop ``node`` does nothing but accumulate in registers: it had better read ahead."""
        body, ast = node.for_get_body(), self._source.ast
        name = body.get_annotation().get_name() if kind_of(body) == isl.ast_node_type.user else ""
        if name not in ast.instances:
            return False
        tiles = {id(each.access.node): each.tile for each in ast.placed[name]}
        written = [
            each for each in ast.instances[name].statement.accesses if each.kind is not AccessKind.READ
        ]
        return all(isinstance(tiles.get(id(each.node)), ThreadTile) for each in written)

    def _whole(self, node: isl.AstNode, indent: str) -> list[str]:
        """The innermost loop ``node`` where it is as long as its tile, and else; empty if it has no tile."""
        inside = any(kind_of(each) == FOR for each in nodes_below(node.for_get_body()))
        known = node.get_annotation()
        whole = None if inside or (known and known.get_name() in self._ast.dynamic) else whole_loop(node)
        if whole is None:
            return []
        text, inner = self._expression().text, indent + _INDENT
        holds = [f"{text(low, ADDITIVE)} <= {text(high, ADDITIVE)}" for low, high in whole.holds]
        sums = self._tile_state.sums
        if sums is not None and not unconditional(node.for_get_body(), self._holds):
            self._tile_state.run_whole = True
            sums_lines = self._copied(node, whole, inner)
            self._tile_state.run_whole = False
            head = f"{indent}if ({text(sums)}) {{ /* all terms of a whole tile */"
            return [head, *sums_lines, f"{indent}}} else {{", *super()._for(node, inner, None), f"{indent}}}"]
        lines = self._copied(node, whole, inner)
        if not holds:
            return lines
        otherwise = super()._for(node, inner, None)
        return [
            f"{indent}if ({' && '.join(holds)}) {{",
            *lines,
            f"{indent}}} else {{",
            *otherwise,
            f"{indent}}}",
        ]

    def _copied(self, node: isl.AstNode, whole: WholeLoop, indent: str) -> list[str]:
        """The loop ``node`` as long as its tile: by matrix instructions, or with copies of its code."""
        multiplied = [f"{indent}{line}" if line[0] != "#" else line for line in self._multiplied(node, whole)]
        if multiplied:
            return multiplied
        return self._in_copies(node, (whole.first, whole.last), whole.pragma, indent)

    def _in_copies(
        self, node: isl.AstNode, ends: tuple[isl.AstExpr, isl.AstExpr], pragma: str, indent: str
    ) -> list[str]:
        """The loop ``node`` from one of ``ends`` to the other."""
        text, identifier = self._expression().text, identifier_of(node)
        declared, outer = self._names.enter(), self._names.get(identifier)
        self._names[identifier] = counter = self._names.fresh(identifier)
        first, last = map(text, ends)
        if not is_atom(ends[1]) and whole_loop(node) is None:
            first, last = f"{first}, {counter}_last = {last}", f"{counter}_last"
        head = f"for ({self.counter_type} {counter} = {first}; {counter} <= {last};"
        lines = [
            pragma,
            f"{indent}{head} {counter}++) {{",
            *self._block(node.for_get_body(), indent + _INDENT),
            f"{indent}}}",
        ]
        self._names.restore(identifier, outer)
        self._names.leave(declared)
        return lines

    def _multiplied(self, node: isl.AstNode, whole: WholeLoop) -> list[str]:
        """The whole loop ``node`` by matrix instructions; empty if it is no product of whole warps."""
        if self._matrices is None:
            return []
        users = unconditional(node.for_get_body(), self._holds)
        return self._matrices.whole(whole, users, self._source.ast, self._statements)

    def _below(self, *expressions: isl.AstExpr) -> AbstractContextManager[None]:
        """What ``expressions`` decide."""
        return self._matrices.below(*expressions) if self._matrices is not None else nullcontext()

    def _holds(self, condition: isl.AstExpr) -> bool:
        """Whether ``condition`` need not be asked.

        Where points may run idle it must say of a point that it is there, whatever the sequential loops do.
        """
        if self._tile_state.run_whole:
            return True
        if not self._tile_state.is_full or self._known is None or not self._known.implies(condition):
            return False
        return self._tile_state.counters is None or identifiers_in(condition) <= self._tile_state.counters

    def _if(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        if self._holds(node.if_get_cond()):
            return self._node(node.if_get_then_node(), indent, before)
        left = remaining(node.if_get_cond(), self._holds) if self._tile_state.in_strip else None
        if left is not None and not node.if_has_else_node() and not self._meets(node):
            lines = self._node(node.if_get_then_node(), indent + _INDENT, before)
            return [f"{indent}if ({self._expression().text(left)}) {{", *lines, f"{indent}}}"]
        with self._below(node.if_get_cond()):
            return self._asked(node, indent, before)

    def _asked(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """The branches of ``node``, whose condition has to be asked."""
        if not (self._language.loops_for_branches and self._meets(node)):
            return super()._if(node, indent, before)
        branches = [self._node(each, indent + _INDENT, before) for each in parts(node)]
        return self._branches(node.if_get_cond(), branches[0], branches[1] if branches[1:] else [], indent)

    def _branches(self, asked: isl.AstExpr, lines: list[str], otherwise: list[str], indent: str) -> list[str]:
        """The ``lines`` where what is ``asked`` holds, else the others; all threads of a block meet there."""
        if not self._language.loops_for_branches:
            last = [f"{indent}}} else {{", *otherwise, f"{indent}}}"] if otherwise else [f"{indent}}}"]
            return [f"{indent}if ({self._expression().text(asked)}) {{", *lines, *last]
        found: list[str] = []
        condition = self._expression().text(asked, UNARY)
        for holds, branch in ((condition, lines), (f"!{condition}", otherwise)):
            head = f"{indent}for (int polybuild_once = {holds}; polybuild_once; polybuild_once = 0) {{"
            found += [head, *branch, f"{indent}}}"] if branch else []
        return found

    def _bounds_printer(self, inside: str, counters: Mapping[str, str]) -> BodyPrinter:
        ast = self._source.ast
        return self._statements.printer(ast.instances[inside], ast.placed[inside], counters)

    def _statement(self, node: isl.AstNode, indent: str) -> list[str]:
        return [f"{indent}{line}" for line in self._statements.lines(node, self._names)]
