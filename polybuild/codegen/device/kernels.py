"""Kernels as text: a function for each, with what the host must pass to it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.codegen.c.ast import Instance
from polybuild.codegen.c.bodies import c_text
from polybuild.codegen.c.buffers import NamedBuffer
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.expressions import MULTIPLICATIVE, UNARY
from polybuild.codegen.c.guards import Known
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.nodes import kind_of, parts, users_below
from polybuild.codegen.device.ast import Copy, KernelAst, Placed
from polybuild.codegen.device.bodies import BodyTexts, CallableFunctions, KernelBodyPrinter
from polybuild.codegen.file.names import fresh
from polybuild.poly import spaces
from polybuild.poly.marks import Mark
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.source.model import Region
from polybuild.targets.device import Kernel, Purpose, SharedTile, Tile
from polybuild.targets.languages import KernelLanguage

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a kernel, and the C initialiser of the ``polybuild_argument`` for it."""

    declaration: str
    initialiser: str


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel: ``body`` is all but the head of the function, ``arguments`` its parameters in order."""

    arguments: tuple[Argument, ...]
    body: tuple[str, ...]

    def function(self, name: str, language: KernelLanguage) -> str:
        """The text of the kernel as a function called ``name``."""
        parameters = ", ".join(each.declaration for each in self.arguments)
        return "\n".join([f"{language.qualifiers.kernel} {name}({parameters})", "{", *self.body, "}", ""])


@dataclass(frozen=True, slots=True)
class DeviceArrays:
    """How the arrays of a region are known to its kernels.

    ``names`` gives each its name there. Those in ``private`` are variables of a
    thread, as are ``buffers``, those in ``values`` scalars that are only read, passed by value; the
    others lie in the device's memory. Those in ``written`` are not only read.
    """

    names: Mapping[str, str]
    private: frozenset[str]
    values: frozenset[str]
    written: frozenset[str]
    buffers: tuple[NamedBuffer, ...]


def device_arrays(
    scop: Scop, private: Sequence[Array], language: KernelLanguage, buffers: Sequence[NamedBuffer] = ()
) -> DeviceArrays:
    """Name the arrays of ``scop`` and tell how each is passed.

    Each thread has a copy of the ``private`` ones, and of the ``buffers`` that stand for others.
    """
    names = {each.name: each.name for each in buffers}
    for array in scop.arrays:
        names[array.name] = fresh(array.name, language.reserved.union(names.values()))
    written = {
        access.array.name
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    }
    own = frozenset([*(each.name for each in private), *(each.name for each in buffers)])
    values = (array.name for array in scop.arrays if array.is_scalar and array.name not in written)
    return DeviceArrays(names, own, frozenset(values) - own, frozenset(written), tuple(buffers))


@dataclass(frozen=True, slots=True)
class KernelSource:
    """What kernels are printed from: the region, its AST, how its arrays are passed, and its functions."""

    scop: Scop
    region: Region
    ast: KernelAst
    arrays: DeviceArrays
    functions: CallableFunctions


class KernelPrinter(LoopPrinter):
    """Prints the loops of one kernel.

    ``names`` gives the C text, in the host's code, of each parameter and of the
    counter of each of the host's loops around the kernel, ``counter_type`` the C
    type that their values fit.
    """

    def __init__(
        self, source: KernelSource, language: KernelLanguage, names: Mapping[str, str], *, counter_type: str
    ) -> None:
        helpers: set[str] = set()
        super().__init__(source.ast, names, frozenset(), DirectivePrinter({}, helpers), helpers, sizes={})
        self.counter_type = counter_type
        self._scop = source.scop
        self._region = source.region
        self._arrays = source.arrays
        self._functions = source.functions
        self._language = language
        self._outer = dict(names)
        self._ast_of_kernels = source.ast
        self._tiles: dict[str, str] = {}
        self._known: Known | None = None
        self._is_full = False  # whether this is printed for full tiles
        self._parting: isl.AstExpr | None = None  # what the pieces between barriers have to ask first
        self._build = isl.AstBuild.from_context(isl.Set.universe(source.scop.context.get_space()))

    def kernel(self, node: isl.AstNode, kernel: Kernel, tiles: Sequence[Tile]) -> KernelText:
        """The text of the kernel whose AST is ``node``; ``tiles`` are those that it keeps."""
        taken = set(self._language.reserved.union(self._names.values(), self._arrays.names.values()))
        for axis in kernel.axes:
            self._names[axis.parameter] = fresh(axis.parameter.removeprefix("pb_"), taken)
        taken |= set(self._names.values())
        for tile in tiles:
            self._tiles[tile.name] = fresh(tile.name, taken | set(self._tiles.values()))
        self._taken = frozenset(taken | set(self._tiles.values()))
        if self._ast_of_kernels.full:
            self._known = Known(self._scop, self._names, kernel)
        lines = self._node(node, _INDENT, None)
        used = frozenset(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))
        body = (*self._indices(kernel, used), *map(self._tile, tiles), *self._variables(used), *lines)
        return KernelText(tuple(self._arguments(used)), body)

    def _indices(self, kernel: Kernel, used: frozenset[str]) -> list[str]:
        lines = []
        for axes, spelled in ((kernel.blocks, self._language.block), (kernel.threads, self._language.thread)):
            for axis, index in zip(axes, reversed(spelled[: len(axes)]), strict=True):
                name = self._names[axis.parameter]
                if name in used:
                    lines.append(f"{_INDENT}const int {name} = (int){index};")
        return lines

    def _used(self, used: frozenset[str]) -> list[Array]:
        return [array for array in self._scop.arrays if self._arrays.names[array.name] in used]

    def _variables(self, used: frozenset[str]) -> list[str]:
        lines = [
            f"{_INDENT}{self._type(each.array.element)} {each.variables[0]};"
            for each in self._arrays.buffers
            if each.name in used
        ]
        for array in self._used(used):
            if array.name in self._arrays.private:
                sizes = [spaces.constant_value(each) for each in array.extents if each is not None]
                declarator = self._own(array) + "".join(f"[{size}]" for size in sizes)
                lines.append(f"{_INDENT}{self._type(array.element)} {declarator};")
        return lines

    def _arguments(self, used: frozenset[str]) -> list[Argument]:
        arrays = self._used(used)
        buffers = [each for each in arrays if each.name not in self._arrays.private | self._arrays.values]
        values = [each for each in arrays if each.name in self._arrays.values]
        outer = [name for name in self._outer.values() if name in used]
        return [
            *(self._pointer(each) for each in buffers),
            *(self._first(each) for each in buffers),
            *(step for each in buffers for step in self._steps(each)),
            *(
                _by_value(
                    self._type(each.element), self._own(each), each.element.name, c_text(each.expression)
                )
                for each in values
                if isinstance(each.element, IntegerType | FloatingType)
            ),
            *(_by_value(self._counter_type_there(), name, self.counter_type, name) for name in outer),
        ]

    def _pointer(self, array: Array) -> Argument:
        qualifiers = self._language.qualifiers
        const = "" if array.name in self._arrays.written else "const "
        kind = f"{qualifiers.pointer}{const}{self._type(array.element)} *{qualifiers.restrict}"
        return Argument(f"{kind} {self._own(array)}", f"{{.buffer = {buffer_name(array)}}}")

    def _first(self, array: Array) -> Argument:
        name = first_name(array)
        return Argument(f"long {self._own(array)}_first", f"{{.value = &{name}, .size = sizeof {name}}}")

    def _steps(self, array: Array) -> list[Argument]:
        names = step_names(array) if any(array.suffixes) else []
        return [
            Argument(
                f"long {self._own(array)}_step{position}", f"{{.value = &{name}, .size = sizeof {name}}}"
            )
            for position, name in enumerate(names)
        ]

    def _counter_type_there(self) -> str:
        return "int" if self.counter_type == "int" else self._language.types.widest

    def _type(self, kind: Type) -> str:
        name = self._language.types.of(kind)
        assert name is not None  # noqa: S101 - arrays of other types stay on the host
        return name

    # What differs from the loops of the host

    def _mark(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        full = self._ast_of_kernels.full.get(node.get_annotation().get_name())
        if full is None:
            return super()._mark(node, indent, before)
        self._parting = full
        lines = self._node(node.mark_get_node(), indent, before)
        self._parting = None
        return lines

    def _parted(
        self, nodes: Sequence[isl.AstNode], full: isl.AstExpr, indent: str, before: Mark | None
    ) -> list[str]:
        """Lines for full tiles and lines for others, once if they are the same."""
        assert self._known is not None  # noqa: S101 - kernels with full tiles have it
        inner = indent + _INDENT
        otherwise = [line for each in nodes for line in self._node(each, inner, before)]
        back, self._is_full = self._known.learn(full), True
        lines = [line for each in nodes for line in self._node(each, inner, before)]
        self._is_full = False
        self._known.leave(back)
        if lines == otherwise:
            return [line.removeprefix(_INDENT) for line in lines]
        head = f"{indent}if ({self._expression().text(full)}) {{ /* a full tile */"
        return [head, *lines, f"{indent}}} else {{", *otherwise, f"{indent}}}"]

    def _node(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """As for the host; of a tile that may be full, each piece between barriers asks whether it is."""
        full = self._parting
        if full is None:
            return super()._node(node, indent, before)
        lines: list[str] = []
        pieces = parts(node) if kind_of(node) == isl.ast_node_type.block else [node]
        for meets, together in itertools.groupby(pieces, self._meets):
            if not meets:
                self._parting = None
                lines += self._parted(list(together), full, indent, before)
                self._parting = full
                continue
            for each in together:
                lines += super()._node(each, indent, before)
        return lines

    def _meets(self, node: isl.AstNode) -> bool:
        """Whether there is a barrier in ``node``."""
        names = [each.get_annotation().get_name() for each in users_below(node)]
        added = [
            self._ast_of_kernels.copies[name].added for name in names if name in self._ast_of_kernels.copies
        ]
        return any(each.purpose is Purpose.BARRIER for each in added)

    def _for(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        if self._known is None:
            return super()._for(node, indent, before)
        back = self._known.enter(node)
        lines = super()._for(node, indent, before)
        self._known.leave(back)
        return lines

    def _if(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        if self._is_full and self._known is not None and self._known.settles(node.if_get_cond()):
            return self._node(node.if_get_then_node(), indent, before)
        if not (self._language.loops_for_branches and self._meets(node)):
            return super()._if(node, indent, before)
        lines: list[str] = []
        condition = self._expression().text(node.if_get_cond(), UNARY)
        for holds, branch in zip((condition, f"!{condition}"), parts(node), strict=False):
            head = f"{indent}for (int polybuild_once = {holds}; polybuild_once; polybuild_once = 0) {{"
            lines += [head, *self._node(branch, indent + _INDENT, before), f"{indent}}}"]
        return lines

    def _statement(self, node: isl.AstNode, indent: str) -> list[str]:
        name = node.get_annotation().get_name()
        if name in self._ast_of_kernels.copies:
            return [f"{indent}{self._copy(self._ast_of_kernels.copies[name])}"]
        body = self._kernel_body(self._ast.instances[name], self._ast_of_kernels.placed[name])
        return [f"{indent}{line}" for line in body.splitlines() if line.strip()]

    def _copy(self, copy: Copy) -> str:
        tile = copy.added.tile
        if tile is None:
            return self._language.barrier
        place = self._place(tile, copy.subscripts)
        expressions = self._expression()
        element = self._element(tile.array, [expressions.text(each) for each in copy.element])
        target, source = (element, place) if copy.added.purpose is Purpose.STORE else (place, element)
        return f"{target} = {source};"

    def _place(self, tile: Tile, subscripts: Sequence[isl.AstExpr]) -> str:
        expressions = self._expression()
        return self._tiles[tile.name] + "".join(f"[{expressions.text(each)}]" for each in subscripts)

    def _tile(self, tile: Tile) -> str:
        """The declaration of a tile."""
        if isinstance(tile, SharedTile):
            sizes, where = (*tile.box.sizes[:-1], tile.row), f"{self._language.qualifiers.shared} "
        else:
            sizes, where = tile.sizes, ""
        extents = "".join(f"[{size}]" for size in sizes)
        return f"{_INDENT}{where}{self._type(tile.array.element)} {self._tiles[tile.name]}{extents};"

    def _kernel_body(self, instance: Instance, placed: Sequence[Placed]) -> str:
        statement = instance.statement
        expressions = self._expression()
        accesses = {id(node): self._own(array) for node, array in statement.locals} | {
            id(access.node): self._element(access.array, expressions.subscripts(subscript))
            for access, subscript in instance.accesses
        }
        accesses |= {
            id(each.node): f"({self._type(each.array.element)})0"
            for each in instance.never
            if each.kind is AccessKind.READ
        }
        accesses |= {id(each.access.node): self._place(each.tile, each.subscripts) for each in placed}
        values = {
            iterator.name: f"({self._type(iterator.type)}){expressions.text(value, UNARY + 1)}"
            for iterator, value in zip(statement.iterators, instance.iterators, strict=True)
        }
        texts = BodyTexts(accesses, values.get, self._element, self._functions)
        printer = KernelBodyPrinter(statement.accesses, self._region, self._language, texts)
        return printer.statement(statement.body)

    def _own(self, array: Array) -> str:
        return self._arrays.names[array.name]

    def _element(self, array: Array, subscripts: Sequence[str]) -> str:
        """An element of ``array``: a variable of the thread, a value, or a place in the buffer."""
        name = self._own(array)
        if array.name in self._arrays.private | self._arrays.values:
            return name + "".join(f"[{each}]" for each in subscripts)
        if any(array.suffixes):
            first = len(array.extents) - len(subscripts)
            terms = [f"{_operand(each)} * {name}_step{first + k}" for k, each in enumerate(subscripts)]
            return f"{name}[{' + '.join(terms)} - {name}_first]"
        flat = _operand(subscripts[0]) if subscripts else "0"
        sizes = self._sizes_of(array)[len(array.extents) - len(subscripts) :]
        for position, (size, subscript) in enumerate(zip(sizes, subscripts[1:], strict=True)):
            row = f"(long){flat}" if position == 0 else f"({flat})"
            flat = f"{row} * {size} + {_operand(subscript)}"
        return f"{name}[{flat} - {name}_first]"

    def _sizes_of(self, array: Array) -> list[str]:
        """The extents of all dimensions of ``array`` but the first."""
        printer = self._expression()
        return [
            printer.text(self._build.expr_from_pw_aff(each.project_domain_on_params()), MULTIPLICATIVE + 1)
            for each in array.extents[1:]
            if each is not None
        ]


def buffer_name(array: Array) -> str:
    """The variable of the host that holds the buffer of ``array``."""
    return f"pb_{array.name}_buffer"


def first_name(array: Array) -> str:
    """The variable of the host that holds what kernels subtract from subscripts of ``array``."""
    return f"pb_{array.name}_first"


def step_names(array: Array) -> list[str]:
    """The variables of the host that say how far apart the elements of an array of structures are."""
    return [f"pb_{array.name}_step{position}" for position in range(len(array.extents))]


def _by_value(kind: str, name: str, host_kind: str, value: str) -> Argument:
    return Argument(
        f"const {kind} {name}", f"{{.value = &(const {host_kind}){{{value}}}, .size = sizeof({host_kind})}}"
    )


def _operand(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"
