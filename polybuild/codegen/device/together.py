"""A loop of the host as one kernel, whose blocks wait for each other where one of its kernels ends.

As many blocks are launched as a device runs at once, each of which takes the work of several blocks of a
kernel in turn::

    for (t)                                        the loop of the host
      for (block = blockIdx.x; block < all; block += gridDim.x)
        ...                                        one kernel
      all blocks meet
      for (block ...)
        ...                                        the next one
      all blocks meet

Threads are numbered as each kernel wants them. Kernels with fewer threads than others leave some without
work, which only those can that have no barriers. What kernels keep in shared memory has one place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import islpy as isl

from polybuild.codegen.c.guards import GuardSimplifier
from polybuild.codegen.c.nodes import FOR, kind_of, parts
from polybuild.codegen.device.ast import NO_LAUNCH, KernelAst, Launch
from polybuild.codegen.device.descriptions import described
from polybuild.codegen.device.kernels import KernelPrinter, KernelText, keeps_rolled, named_tiles
from polybuild.codegen.device.statements import KernelSource
from polybuild.codegen.file.names import fresh
from polybuild.poly.marks import Mark
from polybuild.targets.device import BlockCopy, Kernel, SharedTile, ThreadTile, Tile
from polybuild.targets.gpu.placement import bytes_of
from polybuild.targets.languages import KernelLanguage
from polybuild.values import dataclass

_INDENT = "  "
_ALIGNED = 16


@dataclass(frozen=True, slots=True)
class Part:
    """A kernel in a loop of the host: its launch, and what it keeps."""

    launch: Launch
    kernel: Kernel
    tiles: tuple[Tile, ...]

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return math.prod(axis.size for axis in self.kernel.threads)

    @property
    def meets(self) -> bool:
        """Whether the threads of a block wait for each other."""
        combined = (isinstance(each, ThreadTile) and each.reduction is not None for each in self.tiles)
        return self.kernel.in_steps or bool(_shared(self.tiles)) or any(combined)


def parts_of(
    loop: isl.AstNode,
    ast: KernelAst,
    kernels: Mapping[Mark, Kernel],
    tiles: Mapping[Mark, tuple[Tile, ...]],
    copies: Mapping[Mark, tuple[BlockCopy, ...]],
) -> dict[str, Part]:
    """The kernels in ``loop`` of the host, by their annotations; none if they cannot be one kernel."""
    found: dict[str, Part] = {}
    pending = [loop]
    while pending:
        node = pending.pop()
        kind = kind_of(node)
        known = node.get_annotation() if kind in {FOR, isl.ast_node_type.mark} else None
        name = known.get_name() if known else NO_LAUNCH
        if name in ast.launches:
            launch = ast.launches[name]
            found[name] = Part(launch, kernels[launch.kernel], tiles[launch.kernel])
        elif kind == isl.ast_node_type.user or name in ast.dynamic:
            return {}
        else:
            pending += parts(node)
    if any(each.launch.kernel in copies for each in found.values()):
        return {}
    threads = max((each.threads for each in found.values()), default=0)
    idle = (each for each in found.values() if each.threads < threads)
    return {} if any(each.meets for each in idle) else found


class TogetherPrinter(KernelPrinter):
    """Prints a loop of the host as a kernel; ``parts`` are those in it, by their annotations."""

    def __init__(
        self,
        source: KernelSource,
        language: KernelLanguage,
        names: Mapping[str, str],
        *,
        counter_type: str,
        parts: Mapping[str, Part],
    ) -> None:
        super().__init__(source, language, names, counter_type=counter_type)
        self._parts = parts
        self._named: dict[str, dict[str, str]] = {}
        self._own: dict[str, str] = {}
        sizes = {tuple(axis.size for axis in reversed(each.kernel.threads)) for each in parts.values()}
        self._threads = sizes.pop() if len(sizes) == 1 else (max(each.threads for each in parts.values()),)
        self._alike = not sizes

    def loop(self, node: isl.AstNode) -> KernelText:
        """The text of the kernel that the loop ``node`` is."""
        taken = self._taken(*(each.kernel for each in self._parts.values()))
        for name, part in self._parts.items():
            self._named[name] = named_tiles(part.tiles, taken)
            taken |= set(self._named[name].values())
        for name in ("shared", "block", "blocks", "blocks0", "blocks1", "blocks2"):
            self._own[name] = fresh(name, taken)
            taken.add(self._own[name])
        self._names.taken = frozenset(taken)
        tiles = [each for part in self._parts.values() for each in part.tiles]
        self._statements.shifted = any(isinstance(each, SharedTile) and each.stages > 1 for each in tiles)
        lines = self._node(node, _INDENT, None)
        used, arguments, outer = self._passed()
        declared = [
            *self._memory(),
            *self._statements.stages.declarations,
            *self._variables(used),
            *self._shifts(used),
        ]
        x, y, z = [*self._threads, 1, 1, 1][:3]
        body = (*(f"{_INDENT}{line}" for line in declared), *lines)
        words = [line for each in self._parts.values() for line in described(each.kernel, each.tiles)]
        return KernelText(tuple(arguments), (x, y, z), body, tuple(outer), described=tuple(words))

    def _memory(self) -> list[str]:
        """The shared memory of the kernel that needs most."""
        room = max(sum(map(_room, _shared(each.tiles))) for each in self._parts.values())
        qualifiers = self._language.qualifiers
        return (
            [f"{qualifiers.shared} {qualifiers.aligned} unsigned char {self._own['shared']}[{room}];"]
            if room
            else []
        )

    def _mark(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        known = node.get_annotation()
        part = self._parts.get(known.get_name()) if known else None
        if part is None:
            return super()._mark(node, indent, before)
        assert self._language.exchange.meeting is not None  # noqa: S101 - else there is no such kernel
        self._tile_names.clear()
        self._tile_names.update(self._named[known.get_name()])
        if self._source.ast.full:
            self._known = GuardSimplifier(self._source.scop, self._names, part.kernel)
        self._heads_of_loops.rolled = keeps_rolled(part.kernel, part.tiles)
        inner = indent + _INDENT
        declared = self._names.enter()
        lines = self._node(node.mark_get_node(), inner + _INDENT, None)
        self._names.leave(declared)
        self._known, self._heads_of_loops.rolled = None, False
        block, blocks = self._own["block"], f"(int){self._language.exchange.meeting.blocks}"
        head = f"for (int {block} = (int){self._language.block[0]}; {block} < {self._own['blocks']};"
        head += f" {block} += {blocks}) {{"
        return [
            f"{indent}{{",
            *(f"{inner}{line}" for line in self._counts(part)),
            f"{inner}{head}",
            *(f"{inner}{_INDENT}{line}" for line in self._begin(part)),
            *lines,
            *([f"{inner}{_INDENT}{self._language.barrier}"] if _shared(part.tiles) else []),
            f"{inner}}}",
            f"{indent}}}",
            f"{indent}{self._language.exchange.meeting.text}",
        ]

    def _counts(self, part: Part) -> list[str]:
        """How many blocks the kernel has along each axis, and in all."""
        names = [self._own[f"blocks{position}"] for position in range(len(part.launch.grid))]
        text = self._expression().text
        lines = [
            f"const int {name} = {text(each)};" for name, each in zip(names, part.launch.grid, strict=True)
        ]
        return [*lines, f"const int {self._own['blocks']} = {' * '.join(names) or '1'};"]

    def _begin(self, part: Part) -> list[str]:
        """The indices of the block at hand and of its threads, and what it keeps."""
        thread = f"(int){self._language.thread[0]}"
        spelled = [f"(int){each}" for each in self._language.thread[: len(part.kernel.threads)]]
        if self._alike:
            threads = spelled[::-1]
        else:
            threads = _digits(thread, [str(axis.size) for axis in part.kernel.threads])
        sizes = [self._own[f"blocks{position}"] for position in range(len(part.kernel.blocks))]
        values = (*_digits(self._own["block"], sizes), *threads)
        idle = part.threads < math.prod(self._threads)
        lines = [f"if ({thread} >= {part.threads}) continue;"] if idle else []
        lines += [
            f"const int {self._names[axis.parameter]} = {value};"
            for axis, value in zip(part.kernel.axes, values, strict=True)
            if self._names[axis.parameter] in self._in_use.variables
        ]
        at = 0
        for tile in part.tiles:
            lines.append(self._placed(tile, at))
            lines += self._exchanged(tile)
            at += _room(tile) if isinstance(tile, SharedTile) else 0
        return lines

    def _placed(self, tile: Tile, at: int) -> str:
        """The declaration of ``tile``, whose place in shared memory is ``at``."""
        if not isinstance(tile, SharedTile):
            return self._tile(tile)
        extents = "".join(f"[{size}]" for size in tile.extents)
        kind = self._type(tile.array)
        place = f"{self._own['shared']} + {at}" if at else self._own["shared"]
        return f"{kind} (&{self._tile_names[tile.name]}){extents} = *({kind} (*){extents})({place});"


def _digits(number: str, sizes: Sequence[str]) -> list[str]:
    """The digits of ``number``, outermost first, each below one of ``sizes``; it has no more of them."""
    digits = []
    for position, size in enumerate(sizes):
        inner = " * ".join(sizes[position + 1 :])
        text = f"{number} / ({inner})" if inner else number
        digits.append(f"{text} % {size}" if position else text)
    return digits


def _shared(tiles: Sequence[Tile]) -> list[SharedTile]:
    return [each for each in tiles if isinstance(each, SharedTile)]


def _room(tile: SharedTile) -> int:
    """The bytes that ``tile`` takes of shared memory."""
    return -(-bytes_of(tile) // _ALIGNED) * _ALIGNED
