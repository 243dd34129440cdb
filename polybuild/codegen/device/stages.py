"""Copies to shared memory in two halves, as text: vectors that a thread fetches, and puts later.

    if (all of the box is there, and vectors begin where they may)
      for (q < own vectors) next[q] = *(const float4 *)&A[first + row][first + column];
    else
      for (q < own vectors) next[q].x = there ? A[...][...] : 0; ...
    ...
    for (q < own vectors) shared[stage][column][row] = next[q].x; ...

Threads side by side fetch vectors side by side. A tile that lies there as in memory gets whole vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import islpy as isl

from polybuild.codegen.c.expressions import ADDITIVE, AND, ATOM, ExpressionPrinter, Operand
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.device.ast import COORDINATES, AddedInstance
from polybuild.scop.model import Array
from polybuild.storage.buffers import element_size
from polybuild.targets.device import Axis, Purpose, SharedTile
from polybuild.targets.languages import KernelLanguage

_INDENT = "  "


class StagePrinter:
    """Prints what is fetched and put.

    ``tiles`` has the names of the tiles, ``element`` prints an element of an array, ``sizes`` its inner
    extents. ``declarations`` collects those of the registers; ``number`` has the number of the thread in its
    block where it does not follow from the indices.
    """

    def __init__(
        self,
        language: KernelLanguage,
        expressions: ExpressionPrinter,
        tiles: Mapping[str, str],
        element: Callable[[Array, Sequence[Operand]], str],
        sizes: Callable[[Array], list[str]],
    ) -> None:
        self._language = language
        self._expressions = expressions
        self._tiles = tiles
        self._element = element
        self._sizes = sizes
        self._waiting: dict[str, str] = {}
        self.number = ""
        self.declarations: list[str] = []

    def lines(self, copy: AddedInstance, names: NamesInScope) -> list[str]:
        """The lines of one half of a copy."""
        tile, staged = copy.added.tile, copy.added.staged
        assert isinstance(tile, SharedTile)  # noqa: S101 - no other tile is staged
        assert staged is not None  # noqa: S101 - who asks has looked
        if staged.asynchronous and copy.added.purpose is Purpose.PUT:
            return ["__pipeline_commit();", "__pipeline_wait_prior(0);"]
        rows, columns = math.prod(tile.box.sizes[:-1]), tile.box.sizes[-1] // tile.vector
        threads = math.prod(each.size for each in staged.threads)
        own = -(-rows * columns // threads)
        before = names.enter()
        number, vector = names.declare("own"), names.declare("vector")
        fetches = copy.added.purpose is Purpose.FETCH
        coordinates = _coordinates(tile, vector, columns)
        register = "" if staged.asynchronous else f"{self._register(tile, own, names)}[{number}]"
        body = (
            self._fetched(copy, tile, register, coordinates, names)
            if fetches
            else [self._put(copy, tile, register, coordinates)]
        )
        names.leave(before)
        every = rows * columns % threads == 0
        head = [
            "#pragma unroll",
            f"for (int {number} = 0; {number} < {own}; {number}++) {{",
            f"{_INDENT}const int {vector} = {threads} * {number} + {self._thread(staged.threads)};",
        ]
        guard = [] if every else [f"{_INDENT}if ({vector} < {rows * columns})"]
        loops = [[*head, *guard, *(f"{_INDENT}{line}" for line in each), "}"] for each in body]
        if len(loops) == 1:
            return loops[0]
        condition = self._condition(copy, tile)
        inner = [[f"{_INDENT}{line}" if line[0] != "#" else line for line in each] for each in loops]
        return [f"if ({condition}) {{", *inner[0], "} else {", *inner[1], "}"]

    def _thread(self, axes: Sequence[Axis]) -> str:
        """The number of the thread in its block, that along x first."""
        text = self.number
        for axis in () if text else axes:
            index = self._expressions.text(isl.AstExpr.from_id(isl.Id(axis.parameter)))
            text = f"({text} * {axis.size} + {index})" if text else index
        return text

    def _register(self, tile: SharedTile, own: int, names: NamesInScope) -> str:
        """The registers of a thread in which ``own`` vectors wait for their place in ``tile``."""
        if tile.name not in self._waiting:
            name = names.declare_stem(f"{self._tiles[tile.name]}_next")
            names.taken |= {name}
            self._waiting[tile.name] = name
            self.declarations.append(f"{self._vector(tile)} {name}[{own}];")
        return self._waiting[tile.name]

    def _vector(self, tile: SharedTile) -> str:
        """The type of as many elements as are copied at once."""
        kind = self._language.types.of(tile.array.element)
        return f"{kind}{tile.vector}" if tile.vector > 1 else str(kind)

    def _parts(self, tile: SharedTile, register: str) -> list[str]:
        """The elements of a vector."""
        return [f"{register}.{each}" for each in "xyzw"[: tile.vector]] if tile.vector > 1 else [register]

    def _condition(self, copy: AddedInstance, tile: SharedTile) -> str:
        """Whether all of the box is there, and vectors of it begin where they may."""
        assert copy.whole is not None  # noqa: S101 - staged copies have it
        array, holds = tile.array, [self._expressions.text(copy.whole, AND)]
        if tile.vector > 1:
            first = self._element(array, [self._expressions.operand(each) for each in copy.element])
            holds.append(f"(unsigned long)&{first} % {tile.vector * element_size(array)} == 0")
            sizes = self._sizes(array)
            holds += [f"{sizes[-1]} % {tile.vector} == 0"] if sizes else []
        return " && ".join(holds)

    def _fetched(
        self,
        copy: AddedInstance,
        tile: SharedTile,
        register: str,
        coordinates: Sequence[str],
        names: NamesInScope,
    ) -> list[list[str]]:
        """What a thread does for a vector where all is there, and where each element asks for itself."""
        assert copy.wanted is not None  # noqa: S101 - staged copies have it
        array = tile.array
        pointer = f"*({self._language.qualifiers.pointer}const {self._vector(tile)} *)&"
        corner = [self._expressions.operand(each) for each in copy.element]
        elements = [
            Operand(own if first.is_zero else f"{first.bound(ADDITIVE)} + {own}", ADDITIVE)
            for first, own in zip(corner, coordinates, strict=True)
        ]
        at_once = self._element(array, elements)
        whole = [f"{register} = {pointer if tile.vector > 1 else ''}{at_once};"]
        if not register:
            whole = self._sent(copy, tile, coordinates, at_once)
        named = [names.declare("at") for _ in elements]
        for dim, name in enumerate(named):
            names[f"{COORDINATES}{dim}"] = name
        test = self._expressions.text(copy.wanted, AND)
        for dim in range(len(named)):
            del names[f"{COORDINATES}{dim}"]
        one = self._element(array, [Operand(name, ATOM) for name in named])
        kind = self._language.types.of(array.element)
        declared = [
            f"const int {name} = {place.text};" for name, place in zip(named[:-1], elements, strict=False)
        ]
        declared.append(f"int {named[-1]} = {elements[-1].text};")
        steps = [f"{part} = {test} ? {one} : ({kind})0;" for part in self._parts(tile, register)]
        if not register:
            size = element_size(array)
            places = self._subscripted(copy, tile, coordinates)
            steps = [_send(place, one, size, f", {test} ? 0 : {size}") for place in places]
        between = [line for step in steps for line in (step, f"{named[-1]}++;")][:-1]
        return [_block(whole), _block([*declared, *between])]

    def _sent(
        self, copy: AddedInstance, tile: SharedTile, coordinates: Sequence[str], first: str
    ) -> list[str]:
        """What a thread sends to shared memory of a vector whose ``first`` element is known."""
        size, places = element_size(tile.array), self._subscripted(copy, tile, coordinates)
        if tile.lies_alike and tile.vector > 1:
            return [_send(places[0], first, tile.vector * size)]
        return [
            f"__pipeline_memcpy_async(&{place}, &{first}{f' + {number}' if number else ''}, {size});"
            for number, place in enumerate(places)
        ]

    def _put(
        self, copy: AddedInstance, tile: SharedTile, register: str, coordinates: Sequence[str]
    ) -> list[str]:
        """What a thread does for a vector."""
        places = self._subscripted(copy, tile, coordinates)
        if tile.lies_alike and tile.vector > 1:
            pointer = f"*({self._language.qualifiers.shared_pointer}{self._vector(tile)} *)&"
            return [f"{_INDENT}{pointer}{places[0]} = {register};"]
        parts = zip(places, self._parts(tile, register), strict=True)
        return _block([f"{place} = {part};" for place, part in parts])

    def _subscripted(self, copy: AddedInstance, tile: SharedTile, coordinates: Sequence[str]) -> list[str]:
        """The places of the elements of a vector in shared memory."""
        stage = self._expressions.text(copy.subscripts[0])
        found = []
        for number in range(tile.vector):
            own = [*coordinates[:-1], f"{coordinates[-1]} + {number}" if number else coordinates[-1]]
            found.append(
                f"{self._tiles[tile.name]}[{stage}]" + "".join(f"[{own[dim]}]" for dim in tile.order)
            )
        return found


def _send(place: str, element: str, size: int, more: str = "") -> str:
    """An asynchronous copy of so many bytes, or, with ``more``, of zeros where nothing is there."""
    return f"__pipeline_memcpy_async(&{place}, &{element}, {size}{more});"


def _block(lines: Sequence[str]) -> list[str]:
    return [f"{_INDENT}{{", *(f"{_INDENT * 2}{line}" for line in lines), f"{_INDENT}}}"]


def _coordinates(tile: SharedTile, vector: str, columns: int) -> list[str]:
    """Where in the box of ``tile`` the ``vector`` of that number begins, by its ``columns`` in each row."""
    column = f"{vector} % {columns}" if columns > 1 else "0"
    found = [f"{tile.vector} * ({column})" if tile.vector > 1 and columns > 1 else column]
    before = columns
    for position, size in reversed(list(enumerate(tile.box.sizes[:-1]))):
        row = f"{vector} / {before}" if before > 1 else vector
        above = math.prod(tile.box.sizes[:position])
        found.insert(0, "0" if size == 1 else f"{row} % {size}" if above > 1 else row)
        before *= size
    return found
