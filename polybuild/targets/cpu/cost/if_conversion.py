"""Which loops with conditions a compiler computes in lanes: if-conversion, and what keeps it from that.

All lanes compute both sides of a condition, and each takes its own (Allen, Kennedy, Porterfield and Warren,
POPL 1983). A compiler that has to respect traps of floating-point operations computes nothing that the
program would not, and none accesses memory that the program may not be allowed to, but with masks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from pycparser import c_ast

from polybuild.analysis.operations import DIVISIONS
from polybuild.c.basic_types import INT
from polybuild.c.syntax_tree import COMPARISONS, TRUTHS, always_evaluates, key, numbered, walk
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.context import CompilerRules, Masks
from polybuild.poly.memory import Itself, remembered
from polybuild.scop.model import AccessKind, Statement
from polybuild.targets.cpu.cost.folded_choices import NumberChoices, are_folded
from polybuild.targets.cpu.lane_bodies import declared_type
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.targets.cpu.tilesizes import element_size
from polybuild.values import dataclass

_LOGICAL = TRUTHS - COMPARISONS


def converts(
    accesses: Sequence[Reference],
    member: int,
    type_names: Mapping[str, Type],
    compiler: CompilerRules,
    types: Mapping[str, Type] | None = None,
    *,
    hoisted: Collection[int] = (),
    branch_free: frozenset[int] = frozenset(),
) -> bool:
    """Whether ``compiler`` takes member ``member`` of a band to lanes in spite of its conditions.

    ``accesses`` are those below the band; ``type_names`` has the types that names of the file stand for.
    Where subscripts are computed as the program says, ``types`` has those of its parameters; generated ones
    are wide. What nodes of the identities ``hoisted`` read is in variables; those of ``branch_free`` compute
    both of their sides.
    """
    if compiler.vectors.speculates:
        return True
    statements = {each.statement.name: each.statement for each in accesses if not each.statement.dynamic}
    found = {
        name: _conditions_of(Itself(each), Itself(type_names), compiler, branch_free)
        for name, each in statements.items()
    }
    if not all(converted for _, converted in found.values()):
        return False
    if compiler.vectors.masks is not Masks.ARITHMETIC and _has_folded_choices(statements, found):
        return False
    parts = {name: conditions for name, (conditions, _) in found.items()}
    uncertain = [each for each in _uncertain(accesses, parts) if id(each.access.node) not in hoisted]
    rows = {_row(each) for each in accesses if each not in uncertain}
    return all(
        _has_masks(each, compiler)
        and each.stride(member) is not Stride.NONE
        and (types is None or _row(each) in rows or not _may_wrap(each, types))
        for each in uncertain
    )


def _has_folded_choices(
    statements: Mapping[str, Statement], found: Mapping[str, tuple[_Conditions, bool]]
) -> bool:
    """Whether arithmetic goes into the branches of choices, all at one depth, and is conditional there."""
    at_depth: dict[int, list[NumberChoices]] = defaultdict(list)
    for name, each in statements.items():
        at_depth[len(each.iterators)].append(found[name][0].choices)
    return any(map(are_folded, at_depth.values()))


@remembered  # bands, versions and candidates have most statements in common
def _conditions_of(
    statement: Itself[Statement],
    type_names: Itself[Mapping[str, Type]],
    compiler: CompilerRules,
    branch_free: frozenset[int],
) -> tuple[_Conditions, bool]:
    """The parts of ``statement``, and whether ``compiler`` computes what is conditional for all lanes."""
    parts = _Conditions.of(statement.value, type_names.value, branch_free)
    return parts, parts.converts(compiler)


def _has_masks(reference: Reference, compiler: CompilerRules) -> bool:
    """Whether vectors have masks for the elements of ``reference``: few have any for bytes."""
    if compiler.vectors.masks is Masks.MEMORY:
        return 8 * element_size(reference) >= INT.width
    return compiler.vectors.masks is not Masks.NONE


def _row(reference: Reference) -> object:
    """The last subscript of ``reference``, but for numbers that are added."""
    node = reference.access.node
    subscript = node.subscript if isinstance(node, c_ast.ArrayRef) else node
    while isinstance(subscript, c_ast.BinaryOp) and subscript.op in {"+", "-"}:
        if not isinstance(subscript.right, c_ast.Constant):
            break
        subscript = subscript.left
    return key(subscript)


def _may_wrap(reference: Reference, types: Mapping[str, Type]) -> bool:
    """Whether the last subscript of ``reference`` is a sum of narrow integers, as far as a compiler knows.

    That they do not overflow is known only of what is computed in any case.
    """
    node = reference.access.node
    if not isinstance(node, c_ast.ArrayRef) or not isinstance(node.subscript, c_ast.BinaryOp):
        return False
    known = {**types, **{each.name: each.type for each in reference.statement.iterators}}
    names = {each.name for each in walk(node.subscript) if isinstance(each, c_ast.ID)}
    kinds = [known.get(each) for each in names]
    sums = any(isinstance(each, c_ast.BinaryOp) and each.op == "*" for each in walk(node.subscript))
    return sums and all(isinstance(each, IntegerType) and each.width <= INT.width for each in kinds)


def _uncertain(accesses: Sequence[Reference], parts: Mapping[str, _Conditions]) -> list[Reference]:
    """Those of ``accesses`` to elements that an iteration may not read, or not write.

    Both sides of a choice store behind it, for compilers, what they store to the same element.
    """
    known = [each for each in accesses if each.statement.name in parts and not each.access.array.is_scalar]
    conditional = [each for each in known if id(each.access.node) in parts[each.statement.name].conditional]
    certain = {_what(each) for each in known if each not in conditional}
    together: dict[object, list[Reference]] = defaultdict(list)
    for each in conditional:
        together[each.statement.name, _what(each)].append(each)
    for sides in together.values():
        if always_evaluates(sides[0].statement.body, *(each.access.node for each in sides)):
            certain.add(_what(sides[0]))
    return [each for each in conditional if _what(each) not in certain]


def _what(reference: Reference) -> tuple[bool, object]:
    """Whether ``reference`` is a read, and the element."""
    return reference.access.kind is AccessKind.READ, key(reference.access.node)


@dataclass(frozen=True, slots=True)
class _Conditions:
    """The parts of a statement, but for subscripts; the ``conditional`` ones by identity.

    ``numbers`` has those that are floating-point numbers, ``choices`` what variables of these are given.
    """

    body: c_ast.Node
    conditional: frozenset[int]
    numbers: frozenset[int]
    choices: NumberChoices

    @classmethod
    def of(
        cls, statement: Statement, type_names: Mapping[str, Type], branch_free: frozenset[int]
    ) -> _Conditions:
        """The parts of ``statement``; what is ``branch_free`` has no condition."""
        numbers = _FloatingParts(statement, type_names)
        body = statement.body
        conditional = frozenset(map(id, _conditional(body, numbers.elements, branch_free)))
        found = (each for each in walk(body) if numbers.has(each))
        return cls(body, conditional, frozenset(map(id, found)), NumberChoices.of(body, numbers.has))

    def converts(self, compiler: CompilerRules) -> bool:
        """Whether a compiler computes for all lanes what is under conditions, if not in any case already."""
        parts = list(walk(self.body))
        said = numbered(parts)
        known = {said[id(each)] for each in parts if id(each) not in self.conditional}
        guarded = (each for each in parts if id(each) in self.conditional and said[id(each)] not in known)
        return all(self._is_computed(each, compiler) for each in guarded) and not any(
            self._compares(each) for each in _values(self.body, test=False)
        )

    def _is_computed(self, node: c_ast.Node, compiler: CompilerRules) -> bool:
        """Whether a compiler computes ``node`` where the program may not: masks have no conversions."""
        terms = _terms(node)
        if not terms:
            return True
        operator = "" if isinstance(node, c_ast.TernaryOp | c_ast.Cast) else node.op
        if not any(id(each) in self.numbers for each in terms):
            return operator not in DIVISIONS
        if operator not in {"", "="} and compiler.vectors.masks is not Masks.ARITHMETIC:
            return False
        return all(id(each) in self.numbers or isinstance(each, c_ast.Constant) for each in terms)

    def _compares(self, node: c_ast.Node) -> bool:
        """Whether the second operand of ``node``, a truth value that is kept, compares numbers."""
        return any(
            isinstance(each, c_ast.BinaryOp)
            and each.op in COMPARISONS
            and (id(each.left) in self.numbers or id(each.right) in self.numbers)
            for each in walk(node.right)
        )


def _terms(node: c_ast.Node) -> tuple[c_ast.Node, ...]:
    """What arithmetic, an assignment, a conversion or a choice has to do with; nothing for other nodes."""
    if isinstance(node, c_ast.BinaryOp) and node.op not in TRUTHS:
        return node.left, node.right
    if isinstance(node, c_ast.Assignment):
        return node.lvalue, node.rvalue
    if isinstance(node, c_ast.Cast):
        return node, node.expr
    return (node.iftrue, node.iffalse) if isinstance(node, c_ast.TernaryOp) else ()


def _conditional(
    node: c_ast.Node, elements: frozenset[int], branch_free: frozenset[int], *, under: bool = False
) -> Iterator[c_ast.Node]:
    """The parts of ``node`` that a condition may leave out, all if it is ``under`` one; no subscripts."""
    if under:
        yield node
    if id(node) in elements:
        return
    certain: list[c_ast.Node] = list(node)
    if isinstance(node, c_ast.If | c_ast.TernaryOp):
        certain = [node.cond]
    elif isinstance(node, c_ast.BinaryOp) and node.op in _LOGICAL and id(node) not in branch_free:
        certain = [node.left]
    for child in node:
        yield from _conditional(child, elements, branch_free, under=under or child not in certain)


def _values(node: c_ast.Node, *, test: bool) -> Iterator[c_ast.Node]:
    """The operations ``&&`` and ``||`` in ``node`` whose value is kept: no ``test`` that decides."""
    logical = isinstance(node, c_ast.BinaryOp) and node.op in _LOGICAL
    if logical and not test:
        yield node
    negation = isinstance(node, c_ast.UnaryOp) and node.op == "!"
    for child in node:
        decides = isinstance(node, c_ast.If | c_ast.TernaryOp) and child is node.cond
        yield from _values(child, test=decides or (test and (logical or negation)))


class _FloatingParts:
    """Which parts of a statement are floating-point numbers."""

    def __init__(self, statement: Statement, type_names: Mapping[str, Type]) -> None:
        nodes = (each for each in statement.accesses if not isinstance(each.node, c_ast.If))
        self._types = {id(each.node): each.array.element for each in nodes}
        self.elements = frozenset(self._types)
        self._names: dict[str, Type | None] = {
            node.name: array.element for node, array in statement.locals if isinstance(node, c_ast.ID)
        }
        self._type_names = type_names
        for each in walk(statement.body):
            if isinstance(each, c_ast.Decl):
                self._names[each.name] = declared_type(each.type, type_names)

    def has(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is a floating-point number."""
        if id(node) in self._types:
            return isinstance(self._types[id(node)], FloatingType)
        if isinstance(node, c_ast.ID):
            return isinstance(self._names.get(node.name), FloatingType)
        if isinstance(node, c_ast.Constant):
            return node.type in {"float", "double", "long double"}
        if isinstance(node, c_ast.Cast):
            return isinstance(declared_type(node.to_type.type, self._type_names), FloatingType)
        if isinstance(node, c_ast.BinaryOp) and node.op in TRUTHS:
            return False
        if isinstance(node, c_ast.UnaryOp):
            return node.op != "!" and self.has(node.expr)
        if isinstance(node, c_ast.FuncCall):
            return node.args is not None and any(map(self.has, node.args.exprs))
        return any(map(self.has, _terms(node)))
