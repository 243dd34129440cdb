"""The polyhedral model of one region: what runs, what it touches, in which order.

Spaces. Every set and map shares the parameters of ``Scop.context``. A
statement's domain lives in ``S<k>[i0, ..., in]``, one dimension per enclosing
loop of the region, outermost first, each the *value of the C iterator*. An
access relation maps it to ``array[x0, ..., xm]``, subscripts outermost first,
zero dimensions for a scalar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

import islpy as isl
from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import walk
from polybuild.c.types import Type
from polybuild.diagnostics import Diagnostic, Location
from polybuild.effort import COALESCED_PIECES
from polybuild.poly.relations import coalesced_union, union_of
from polybuild.poly.spaces import constant, constant_value
from polybuild.values import dataclass


class AccessKind(Enum):
    """How an access touches its elements; a may-write might leave the old value."""

    READ = "read"
    WRITE = "write"
    MAY_WRITE = "may-write"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that is the same for the whole region.

    ``name`` is the isl identifier, ``expression`` the C expression it stands
    for (often the same text), ``type`` that expression's C type. Where ``reached`` is
    given, the expression may be evaluated only for these values of the parameters
    before it; elsewhere its value does not matter. ``is_limit`` marks the limits of the types
    of counters, which say nothing of the values they have.
    """

    name: str
    expression: c_ast.Node
    type: Type
    reached: isl.Set | None = None
    is_limit: bool = False


@dataclass(frozen=True, slots=True)
class Interleaving:
    """What a member is of structures that have ``count`` such numbers and nothing else: that at ``place``."""

    count: int
    place: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the elements of an array live, and what may overlap them.

    ``by_pointer`` is true when other arrays reached by pointers may overlap it (function
    parameters, pointers), ``restrict`` if the program promised otherwise. ``target`` names
    the pointer that leads to it; two arrays with one are two members. ``followed`` has after how many
    subscripts a pointer is followed that is an element itself (once after the first of ``double **a``):
    these lead to rows, which the model takes to be apart. ``interleaving`` is given where the elements are
    members of structures that have numbers of one type alone. Inner subscripts of a flat array start at
    ``starts``, and are less than start and extent together: rows of Fortran's matrices start at 1, those of
    grids with borders before 0 if a pointer leads to the first element inside. Memory of
    an array that the region itself needs is ``allocated`` before it runs, for ``each_thread`` or once.
    """

    storage: StorageClass
    by_pointer: bool = False
    restrict: bool = False
    target: str = ""
    address_taken: bool = False
    followed: tuple[int, ...] = ()
    interleaving: Interleaving | None = None
    starts: tuple[isl.PwAff, ...] = ()
    allocated: bool = False
    each_thread: bool = False

    @property
    def is_reachable(self) -> bool:
        """Whether a pointer from elsewhere can point to the elements.

        Nobody but its function names a variable that is static in it.
        """
        return self.address_taken or self.storage is StorageClass.GLOBAL


@dataclass(frozen=True, slots=True)
class Array:
    """A variable that the region accesses: an array, or a scalar (no extents).

    ``name`` is the isl tuple name and unique in the scop; ``expression`` is the
    C expression to subscript (``A``, ``p->grid``). ``extents`` has one entry per
    dimension, outermost first, each a ``{ [] -> [n] }`` piecewise expression of
    the parameters, None where unknown (an outermost ``[]`` or a pointer).
    ``local`` is true for a variable declared inside the region; ``declared`` is
    its declaration then. ``suffixes`` has one entry per dimension: the member
    accesses written after that subscript (``a[i].x`` is ``a`` with the suffix ``.x``).
    Extents are as declared; C does not bind a function's array parameter to its outermost one.
    Of one that polybuild added ``copied`` names the array whose elements it holds, ``expanded`` the
    private variable that it has many values of; else they are empty.
    The first ``flat`` dimensions (of a row, where there are ``row_subscripts``) are a view: C reaches
    them by one subscript, row-major in the extents of all but the first of them.
    """

    name: str
    expression: c_ast.Node
    element: Type
    extents: tuple[isl.PwAff | None, ...]
    provenance: Provenance
    location: Location
    local: bool = False
    declared: c_ast.Decl | None = None
    suffixes: tuple[str, ...] = ()
    flat: int = 1
    copied: str = ""
    expanded: str = ""

    @property
    def source_name(self) -> str:
        """The name of a variable in the user's file."""
        return str(self.expression.name) if isinstance(self.expression, c_ast.ID) else self.name

    @property
    def spelling(self) -> str:
        """The name of a variable in the generated code, where those of the region are declared anew."""
        return self.name if self.local else self.source_name

    @property
    def row_subscripts(self) -> int:
        """How many subscripts choose a row that a pointer leads to; 0 for arrays that lie in one piece."""
        followed = self.provenance.followed
        return followed[-1] if followed else 0

    @property
    def view(self) -> range:
        """The dimensions that C reaches by one subscript."""
        return range(self.row_subscripts, self.row_subscripts + self.flat)

    def start(self, position: int) -> isl.PwAff:
        """The smallest subscript of dimension ``position``, as far as that is known."""
        own = position - self.row_subscripts - 1
        starts = self.provenance.starts
        return starts[own] if 0 <= own < len(starts) else constant(0, 0)

    @property
    def is_scalar(self) -> bool:
        """True for a variable without subscripts."""
        return not self.extents

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """The extents, outermost first, if all of them are numbers."""
        found = [None if each is None else constant_value(each) for each in self.extents]
        sizes = tuple(each for each in found if each is not None)
        return sizes if len(sizes) == len(found) else None


@dataclass(frozen=True, slots=True)
class Access:
    """One reference in a statement's body: ``node`` is that very node of the tree.

    Where ``exact`` is false, ``relation`` holds more elements than one evaluation of
    ``node`` touches (a subscript is not affine, or an inner loop evaluates it again
    and again), so ``node`` cannot be written in terms of it. A may-write with ``within``
    happens for certain in each iteration of the ``within`` outermost loops that runs at
    all: the innermost of them is dynamic. A ``certain`` access happens in all instances
    that ``relation`` has: no condition on data is in the way.
    """

    array: Array
    relation: isl.Map
    kind: AccessKind
    node: c_ast.Node
    exact: bool = True
    within: int | None = None
    certain: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class DynamicLoop:
    """A counted loop with bounds that depend on data (Zhao, Kruse, Cohen, CC 2018), compared by identity.

    Dimension ``position`` of its statements is its counter, counted by ``step``, or where
    ``stride`` is given by its value, in the direction of ``step``. Their
    domains have a static range instead of the bounds, ``domain`` in the space of the
    loop and those around it; ``predicate``, a C condition on the counter, says for
    which values of it the loop runs: from ``start`` to before or at ``limit``. The
    region does not change these while it runs.
    """

    header: c_ast.For
    position: int
    step: int
    start: c_ast.Node
    limit: c_ast.Node
    predicate: c_ast.Node
    domain: isl.Set
    stride: c_ast.Node | None = None


@dataclass(frozen=True, slots=True)
class Iterator:
    """The counter of one loop: its C name, its C type, and the loop's place."""

    name: str
    type: Type
    location: Location


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and the set of its instances.

    ``body`` is a C expression (an expression statement's) or, for a statement
    that is kept whole, a C statement. A declaration with an initialiser became
    an assignment. ``accesses`` is in evaluation-safe order: reads before the
    write they feed. What an instance certainly wrote before it reads it is not
    listed as read. ``locals`` gives the array of each name in ``body`` that is a
    variable of the region. ``dynamic`` are the loops around with dynamic bounds,
    outermost first: ``body`` is that many ``if``s, each on the predicate of one, and
    inside of them the statement itself. A part of a statement is ``conditional`` if
    conditions of the source part it from the rest, or choices along rows, and a
    ``border`` if it has a few of the iterations.
    """

    name: str
    domain: isl.Set
    iterators: tuple[Iterator, ...]
    body: c_ast.Node
    accesses: tuple[Access, ...]
    location: Location
    end_line: int
    locals: tuple[tuple[c_ast.Node, Array], ...] = ()
    dynamic: tuple[DynamicLoop, ...] = ()
    conditional: bool = False
    border: bool = False

    def accesses_to(self, array: Array) -> list[Access]:
        """Its accesses to ``array``."""
        return [each for each in self.accesses if each.array.name == array.name]

    @property
    def element_nodes(self) -> frozenset[int]:
        """The nodes of the elements that are accessed, subscripts included, by identity.

        What both sides of a choice write is said of the choice, which is no element.
        """
        nodes = (each.node for each in self.accesses if not isinstance(each.node, c_ast.If))
        return frozenset(id(part) for node in nodes for part in walk(node))


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something the transformation relies on, checked at run time before the region.

    ``condition`` is a set of parameter values, each parameter read as a signed
    64-bit integer.
    """

    condition: isl.Set
    reason: str
    location: Location


@dataclass(frozen=True, slots=True)
class ProductLimit:
    """That the product of ``factors``, piecewise expressions of the parameters, is at most ``limit``.

    It is checked like an assumption, but no set of the parameters says it.
    """

    factors: tuple[isl.PwAff, ...]
    limit: int
    reason: str
    location: Location


@dataclass(frozen=True, slots=True)
class WholeMultiple:
    """That the ``product``, a parameter, is a multiple of the ``factor``, another one, which is positive.

    It is checked like an assumption, but no set of the parameters says it.
    """

    product: isl.PwAff
    factor: isl.PwAff
    reason: str
    location: Location


@dataclass(frozen=True, slots=True)
class FinalValue:
    """The value a variable declared before the region has after it.

    ``value`` is a piecewise expression of the parameters; outside its domain
    the variable keeps the value it had. A pointer's value is ``value`` elements
    past ``base``. Where ``value`` is None, ``source`` is the C expression of the
    value, of variables that have their values on entry.
    """

    name: str
    expression: c_ast.Node
    type: Type
    value: isl.PwAff | None
    base: c_ast.Node | None = None
    source: c_ast.Node | None = None


@dataclass(frozen=True, slots=True)
class ExitTests:
    """Tests of early exits, each an ``if`` that jumps to a label where the region would be left.

    They run before the region, in the order of ``schedule``; the region runs if none jumps.
    """

    statements: tuple[Statement, ...]
    schedule: isl.Schedule


@dataclass(frozen=True, slots=True)
class Scop:
    """A region as a polyhedral program; ``schedule`` is the original order.

    ``context`` holds what the types say of the parameters (unsigned values are
    not negative) and the conditions of the assumptions, as the transformed code
    runs only where they hold; bounds of 32 bits and more stay out of it.
    ``remarks`` name the constructs that are kept whole, and why. ``exits`` has the tests of early exits:
    the statements are those that run if none happens. ``type_names`` has the arithmetic types that names
    of the file in their bodies stand for.
    """

    context: isl.Set
    parameters: tuple[Parameter, ...]
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]
    schedule: isl.Schedule
    assumptions: tuple[Assumption, ...]
    final_values: tuple[FinalValue, ...]
    location: Location
    remarks: tuple[Diagnostic, ...] = ()
    limits: tuple[ProductLimit | WholeMultiple, ...] = ()
    exits: ExitTests | None = None
    type_names: Mapping[str, Type] = field(default_factory=dict)

    @property
    def domain(self) -> isl.UnionSet:
        """All instances of all statements."""
        union = isl.UnionSet.empty(self.context.get_space())
        for statement in self.statements:
            union = union.union(isl.UnionSet.from_set(statement.domain))
        return union

    def without_limits(self, elements: isl.Set) -> isl.Set:
        """``elements`` without what the limits of counters' types say of them: those are no bounds."""
        space = elements.get_space().params()
        for parameter in self.parameters:
            position = elements.find_dim_by_name(isl.dim_type.param, parameter.name)
            if parameter.is_limit and position >= 0:
                elements = elements.project_out(isl.dim_type.param, position, 1)
        return elements.align_params(space)

    def accesses(self, *kinds: AccessKind, array: str | None = None) -> isl.UnionMap:
        """The union of the access relations of the given kinds, where the context holds; of one ``array``."""
        maps: list[isl.Map] = []
        for statement in self.statements:
            of_arrays: dict[str, list[isl.Map]] = {}
            for access in statement.accesses:
                if access.kind in kinds and array in {None, access.array.name}:
                    of_arrays.setdefault(access.array.name, []).append(access.relation)
            for relations in of_arrays.values():
                few = len(relations) <= COALESCED_PIECES
                maps += relations if few else [coalesced_union(relations, COALESCED_PIECES)]
        return union_of(maps, self.context.get_space()).intersect_params(self.context)
