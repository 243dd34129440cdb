"""The statements of kernels: the user's, copies between memories, and barriers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.reductions import Reduction
from polybuild.c.syntax_tree import walk
from polybuild.c.types import FloatingType, Type
from polybuild.codegen.c.ast import Instance
from polybuild.codegen.c.dynamic import unguarded
from polybuild.codegen.c.expressions import ADDITIVE, ATOM, MULTIPLICATIVE, UNARY, ExpressionPrinter, Operand
from polybuild.codegen.c.lazy_texts import LazyTexts
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.device.addresses import Neighbour, Neighbourhood, neighbourhoods
from polybuild.codegen.device.arrays import DeviceArrays
from polybuild.codegen.device.ast import AddedInstance, KernelAst, Placed
from polybuild.codegen.device.bodies import BodyTexts, CallableFunctions, KernelBodyPrinter
from polybuild.codegen.device.exchanges import IDENTITIES, begun, combined
from polybuild.codegen.device.stages import StagePrinter
from polybuild.poly.marks import Mark
from polybuild.scop.model import Access, AccessKind, Array, DynamicLoop, Scop, Statement
from polybuild.source.model import Region
from polybuild.targets.device import BlockCopy, Purpose, SharedTile, ThreadTile, Tile
from polybuild.targets.languages import KernelLanguage
from polybuild.values import dataclass

_PLAIN = (
    c_ast.BinaryOp,
    c_ast.Assignment,
    c_ast.ArrayRef,
    c_ast.ID,
    c_ast.Constant,
)
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NONE: Mapping[int, Callable[[], str]] = MappingProxyType({})
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class KernelSource:
    """What kernels are printed from: the region, its AST, how its arrays are passed, and its functions.

    ``atomics`` are the reductions that many threads make at the same time, by their statements, ``copies``
    those of blocks in which they do.
    """

    scop: Scop
    region: Region
    ast: KernelAst
    arrays: DeviceArrays
    functions: CallableFunctions
    atomics: Mapping[str, Reduction]
    copies: Mapping[Mark, tuple[BlockCopy, ...]]


class KernelStatementPrinter:
    """Prints the statements of one kernel.

    ``expressions`` prints what isl made of subscripts and counters, ``tiles`` has the names of the tiles.
    ``used`` collects the names of the arrays that the text mentions, ``open_loops`` has the dynamic loops
    around. ``copies`` has the block's copies of arrays, each with its name. Arrays are ``shifted`` where the
    kernel takes their first elements' subscripts from its pointers once: that leaves more registers.
    """

    def __init__(
        self,
        source: KernelSource,
        language: KernelLanguage,
        expressions: ExpressionPrinter,
        tiles: Mapping[str, str],
        open_loops: Collection[DynamicLoop],
    ) -> None:
        self._source = source
        self._language = language
        self._expressions = expressions
        self._tiles = tiles
        self._open_loops = open_loops
        self._build = isl.AstBuild.from_context(isl.Set.universe(source.scop.context.get_space()))
        self.used: set[str] = set()
        self.shifted = False
        self.copies: dict[str, tuple[str, BlockCopy]] = {}
        self.stages = StagePrinter(language, expressions, tiles, self._element, self._sizes_of)

    def lines(self, node: isl.AstNode, names: NamesInScope) -> list[str]:
        """The statement at a user node, where ``names`` are in scope."""
        name, ast = node.get_annotation().get_name(), self._source.ast
        if name in ast.copies:
            copy = ast.copies[name]
            return self._added(copy) if copy.added.staged is None else self.stages.lines(copy, names)
        return self._body(ast.instances[name], ast.placed[name], names)

    def _added(self, added: AddedInstance) -> list[str]:
        tile, purpose = added.added.tile, added.added.purpose
        if tile is None:
            return [self._language.barrier]
        if isinstance(tile, ThreadTile) and purpose is Purpose.BEGIN:
            return begun(tile, self._tiles)
        if isinstance(tile, ThreadTile) and purpose is Purpose.COMBINE:
            return combined(tile, self._tiles, self._language)
        place = self._place(tile, added.subscripts)
        condition = f"if ({self._expressions.text(added.wanted)}) " if added.wanted is not None else ""
        if purpose is Purpose.MOVE:
            return [f"{condition}{place} = {self._place(tile, added.element)};"]
        element = self._element(tile.array, [self._expressions.operand(each) for each in added.element])
        if purpose is not Purpose.STORE:
            return [f"{condition}{place} = {element};"]
        reduction = tile.reduction if isinstance(tile, ThreadTile) else None
        return [f"{condition}{element} {'' if reduction is None else reduction.operator}= {place};"]

    def _place(self, tile: Tile, subscripts: Sequence[isl.AstExpr]) -> str:
        return self._tiles[tile.name] + "".join(f"[{self._expressions.text(each)}]" for each in subscripts)

    def _body(self, instance: Instance, placed: Sequence[Placed], names: NamesInScope) -> list[str]:
        """The code of an instance, after the addresses that several of its accesses count from."""
        body, _ = unguarded(instance.statement, instance.statement.body, self._open_loops)
        declared, addresses = names.enter(), list[str]()
        near: dict[int, Callable[[], str]] = {}
        for each in self._neighbourhoods(instance, placed):
            name = names.declare(f"{self._own(each.base.access.array)}_at")
            addresses.append(f"const long {name} = {self._address(each.base)};")
            near |= {
                id(other.access.node): partial(self._near, name, each.base, other) for other in each.members
            }
        text = self.printer(instance, placed, near=near).statement(body)
        names.leave(declared)
        lines = [line for line in text.splitlines() if line.strip()]
        return ["{", *(_INDENT + line for line in (*addresses, *lines)), "}"] if addresses else lines

    def _neighbourhoods(self, instance: Instance, placed: Sequence[Placed]) -> list[Neighbourhood]:
        """Those of the accesses of ``instance`` to buffers in the device's memory."""
        arrays = self._source.arrays
        elsewhere = arrays.private | arrays.values | set(self.copies)
        tiled = {id(each.access.node) for each in placed}
        return neighbourhoods(
            (access, at)
            for access, at in instance.accesses
            if id(access.node) not in tiled
            and access.array.name not in elsewhere
            and not any(access.array.suffixes)
        )

    def _address(self, base: Neighbour) -> str:
        """How far the element of ``base`` is from where its array's pointer points."""
        array, subscripts = base.access.array, self._expressions.subscripts(base.at)
        name, flat = self._own(array), self._flat(array, subscripts)
        return flat if self.shifted else f"{flat} - {name}_first"

    def _near(self, address: str, base: Neighbour, other: Neighbour) -> str:
        """The element of ``other``, from the ``address`` of that of ``base``."""
        array, text = other.access.array, address
        sizes = self._sizes_of(array)[len(array.extents) - len(other.distance) :]
        for k, distance in enumerate(other.distance):
            if distance is None:
                there, here = (self._expressions.subscripts(each.at)[k] for each in (other, base))
                factors = [f"((long){there.bound(ATOM)} - {here.bound(ADDITIVE + 1)})", *sizes[k:]]
            else:
                number = [str(abs(distance))] if abs(distance) > 1 or not sizes[k:] else []
                factors = [*number, *sizes[k:]]
                factors[0] = f"{'(long)' if len(factors) > 1 else ''}{factors[0]}"
            if distance != 0:
                text += f" {'-' if (distance or 0) < 0 else '+'} {' * '.join(factors)}"
        return f"{self._own(array)}[{text}]"

    def printer(
        self,
        instance: Instance,
        placed: Sequence[Placed],
        known: Mapping[str, str] = _NOTHING,
        near: Mapping[int, Callable[[], str]] = _NONE,
    ) -> KernelBodyPrinter:
        """Prints the code of ``instance``.

        ``known`` has the texts of some of its counters, ``near`` those of accesses whose address is known.
        """
        statement = instance.statement
        accesses: dict[int, Callable[[], str]] = {}
        accesses |= {id(node): partial(self._own, array) for node, array in statement.locals}
        accesses |= {id(access.node): partial(self._access, access, at) for access, at in instance.accesses}
        accesses |= near
        accesses |= {
            id(each.node): partial(self._zero, each.array.element)
            for each in instance.never
            if each.kind is AccessKind.READ
        }
        accesses |= {
            id(each.access.node): partial(self._place, each.tile, each.subscripts) for each in placed
        }
        counters = LazyTexts(
            {
                iterator.name: partial(self._counter, iterator.type, value)
                for iterator, value in zip(statement.iterators, instance.iterators, strict=True)
            },
            known,
        )
        operator, pointer = "", self._language.qualifiers.pointer
        atomic = self._source.atomics.get(statement.name)
        if atomic is not None:  # the old value is not read here: what leaves it as it is stands for it
            operator = atomic.operator
            (target,) = (id(each.node) for each in statement.accesses if each.kind is not AccessKind.READ)
            accesses |= {node: partial(str, IDENTITIES[operator]) for node in atomic.own - {target}}
            if self._is_whole(atomic.array):
                pointer = self._language.qualifiers.shared_pointer
        texts = BodyTexts(
            LazyTexts(accesses),
            counters.get,
            self._element,
            self._source.functions,
            operator,
            pointer,
            self._copied,
        )
        return KernelBodyPrinter(statement.accesses, self._source.region, self._language, texts)

    def _access(self, access: Access, at: isl.AstExpr) -> str:
        return self._element(access.array, self._expressions.subscripts(at))

    def _zero(self, kind: Type) -> str:
        return f"({self._language.types.of(kind)})0"

    def _counter(self, kind: Type, value: isl.AstExpr) -> str:
        return f"({self._language.types.of(kind)}){self._expressions.text(value, UNARY + 1)}"

    def _own(self, array: Array) -> str:
        """The name of ``array``, which is used from now on."""
        self.used.add(array.name)
        return self._source.arrays.names[array.name]

    def _element(self, array: Array, subscripts: Sequence[Operand]) -> str:
        """An element of ``array``: a variable of the thread, a value, or a place in the buffer."""
        name, arrays = self._own(array), self._source.arrays
        if array.name in arrays.private | arrays.values:
            return name + "".join(f"[{each.text}]" for each in subscripts)
        if self._is_whole(array):
            return self._in_block(array, subscripts)
        if any(array.suffixes):
            first = len(array.extents) - len(subscripts)
            terms = [f"{each.bound(ATOM)} * {name}_step{first + k}" for k, each in enumerate(subscripts)]
            flat = " + ".join(terms)
            return f"{name}[{flat}]" if self.shifted else f"{name}[{flat} - {name}_first]"
        flat = self._flat(array, subscripts)
        return f"{name}[{flat}]" if self.shifted else f"{name}[{flat} - {name}_first]"

    def _is_whole(self, array: Array) -> bool:
        """Whether the block has a copy of all elements of ``array`` that it updates."""
        return array.name in self.copies and self.copies[array.name][1].whole

    def _in_block(self, array: Array, subscripts: Sequence[Operand]) -> str:
        """The element in the block's copy."""
        name, copy = self.copies[array.name]
        back = f" - {copy.first}" if copy.first else ""
        return f"{name}[{subscripts[0].bound(ADDITIVE)}{back}]"

    def _copied(self, array: Array, subscripts: Sequence[Operand]) -> tuple[str, str] | None:
        """When the block has a copy of an element, and the copy, if it has one of some."""
        if array.name not in self.copies or self._is_whole(array):
            return None
        copy, subscript = self.copies[array.name][1], subscripts[0].bound(ADDITIVE)
        wide = self._language.types.widest
        place = f"(unsigned {wide})({subscript}{f' - {copy.first}' if copy.first else ''})"
        return f"{place} < {copy.size}", self._in_block(array, subscripts)

    def _flat(self, array: Array, subscripts: Sequence[Operand]) -> str:
        """The place of an element in ``array``, row after row."""
        flat = subscripts[0].bound(ATOM) if subscripts else "0"
        sizes = self._sizes_of(array)[len(array.extents) - len(subscripts) :]
        for position, (size, subscript) in enumerate(zip(sizes, subscripts[1:], strict=True)):
            row = f"(long){flat}" if position == 0 else f"({flat})"
            flat = f"{row} * {size} + {subscript.bound(ATOM)}"
        return flat

    def _sizes_of(self, array: Array) -> list[str]:
        """The extents of all dimensions of ``array`` but the first."""
        return [
            self._expressions.text(
                self._build.expr_from_pw_aff(each.project_domain_on_params()), MULTIPLICATIVE + 1
            )
            for each in array.extents[1:]
            if each is not None
        ]


def may_run_idle(statement: Statement, placed: Sequence[Placed]) -> bool:
    """Whether ``statement`` does no harm for a point that is not there.

    It changes registers alone, which are not stored then, reads these and staged tiles, which have zeros
    where there is nothing, and cannot trap: it adds, subtracts and multiplies floating-point numbers.
    """
    tiles = {id(each.access.node): each.tile for each in placed}
    for each in statement.accesses:
        tile = tiles.get(id(each.node))
        kept = isinstance(tile, ThreadTile) or (isinstance(tile, SharedTile) and tile.stages > 1)
        constant = each.array.is_scalar and each.kind is AccessKind.READ
        if not (kept or constant) or not isinstance(each.array.element, FloatingType):
            return False
    nodes = list(walk(statement.body))
    operators = {each.op for each in nodes if isinstance(each, c_ast.BinaryOp | c_ast.Assignment)}
    return (
        not statement.locals
        and operators <= {"+", "-", "*", "=", "+=", "-=", "*="}
        and all(isinstance(each, _PLAIN) for each in nodes)
    )
