"""A file and its regions as they are read; blocks whose arrays stay on a device, or distributed.

Every syntax tree node keeps a pycparser ``coord`` whose file and line are the
user's (``#line`` markers of the preprocessor are followed).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from pycparser import c_ast

from polybuild.c.symbols import VisibleNames
from polybuild.diagnostics import Diagnostic, Location
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of offsets into ``Source.text``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Effects:
    """What is declared of a function's accesses to memory, apart from the values of its arguments.

    ``reads`` and ``writes`` name parameters (by name, or by position from 1) and
    global variables; ``reads_everything`` stands for any memory it can reach.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads_everything: bool = False


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that a region calls.

    Either ``body`` is its definition in the shape of a region (``visible`` are the
    names visible in its outermost block), or ``effects`` are declared, or
    ``problem`` says why nothing is known. Where it ``stays`` a call, the body only says what is set.
    Where the file has its address ``taken``, pointers may lead to it.
    """

    name: str
    parameters: tuple[c_ast.Node, ...]
    body: Region | None = None
    effects: Effects | None = None
    problem: str = ""
    stays: bool = False
    taken: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """The statements between one ``#pragma scop`` and its ``#pragma endscop``.

    ``span`` covers both marker lines whole, including the line end of the last;
    ``body`` is what lies strictly between them. ``clauses`` is the text after
    ``scop``. ``function`` is the parsed enclosing function; in it, the region
    is the block items between the ``Pragma`` nodes whose strings are
    ``polybuild begin <index>`` and ``polybuild end <index>``. ``visible`` are the
    names visible at the start of the region. ``callees`` has the functions it
    calls, also through each other, of which something is known.

    ``span`` starts and ends inside a line where a marker (``_Pragma``) shares its
    line with code. Code that cannot be represented (statement expressions,
    inline assembly) appears as a call of ``c.dialects.OPAQUE``. ``detected`` is true
    for a region that nobody marked; ``span`` and ``body`` are then the same. ``temporaries`` are
    arrays of which nothing is needed before or after the region, as the user says.
    """

    index: int
    span: Span
    body: Span
    begin: Location
    end: Location
    clauses: str
    statements: tuple[c_ast.Node, ...]
    function: c_ast.FuncDef
    visible: VisibleNames
    callees: Mapping[str, Callee] = field(default_factory=dict)
    detected: bool = False
    temporaries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectedRegion:
    """A region that could not be read; the diagnostic says why, the text stays as it is."""

    index: int
    span: Span
    begin: Location
    end: Location
    diagnostic: Diagnostic


class BlockKind(Enum):
    """Where arrays may stay from region to region of a block; the values are the names of the pragmas."""

    RESIDENT = "resident"  # on a device
    DISTRIBUTED = "distributed"  # on the ranks that computed their elements

    @property
    def refusal(self) -> str:
        """How a message begins that says why a block is left alone."""
        where = "on the device" if self is BlockKind.RESIDENT else "distributed"
        return f"no array stays {where} here"


@dataclass(frozen=True, slots=True)
class ResidentArray:
    """An array of a resident block: C expressions of its address and of its size in bytes."""

    address: str
    size: str


@dataclass(frozen=True, slots=True)
class ResidentBlock:
    """A block of statements between whose regions ``arrays`` may stay on a device, or distributed.

    ``pragma`` covers the marker as that of a region does, ``body`` the block with its braces.
    """

    pragma: Span
    body: Span
    location: Location
    arrays: tuple[ResidentArray, ...]
    kind: BlockKind = BlockKind.RESIDENT


@dataclass(frozen=True, slots=True)
class Source:
    """One file as the user wrote it.

    ``text`` is decoded as UTF-8 with ``surrogateescape`` and untouched line
    ends, so writing it back gives the same bytes. ``dependencies`` are the
    files the preprocessor read, the file itself first. ``names`` are those of
    files that stand in the text by other names.
    """

    path: str
    text: str
    regions: tuple[Region | RejectedRegion, ...]
    dependencies: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    residents: tuple[ResidentBlock, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
