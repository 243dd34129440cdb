"""The first and the last value of subscripts in statements that are kept whole, as loops that ``break`` are.

::

    for (k = row[i]; k < row[i + 1]; k++)          a[k] is one of a[row[i]], ..., a[row[i + 1] - 1],
      if (column[k] == i) {                        if row[i] < row[i + 1]
        d[i] = a[k];
        break;
      }

That is a bound of what is touched, and no promise that all of it is there: enough to compare memory, not to
read it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polybuild.c.basic_types import INT, LONG_LONG
from polybuild.c.syntax_tree import has_side_effect, names_addressed_in, names_in, names_set_in, walk
from polybuild.c.synthetic import number, type_name
from polybuild.c.types import IntegerType, Type
from polybuild.scop.model import Parameter, Statement
from polybuild.values import dataclass

REPEATED = (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Switch, c_ast.Label, c_ast.Goto)
"""What evaluates its parts as often as it says itself."""
_STEPS = {"<": "++", "<=": "++", ">": "--", ">=": "--"}


@dataclass(frozen=True, slots=True)
class CountedSubscript:
    """What a subscript in the construct ``inside`` is at most and at least, one of ``ends``.

    Where it is evaluated at all, each of ``conditions`` holds.
    """

    inside: c_ast.Node
    ends: tuple[c_ast.Node, ...]
    conditions: tuple[c_ast.Node, ...]


@dataclass(frozen=True, slots=True)
class NumberTypes:
    """What is known of the names in a statement: the types of elements by node, and of numbers by name."""

    elements: dict[int, Type]
    numbers: dict[str, Type]

    @classmethod
    def of(cls, statement: Statement, parameters: tuple[Parameter, ...]) -> NumberTypes:
        """What accesses, counters and parameters say."""
        numbers = {each.name: each.type for each in statement.iterators}
        for each in parameters:
            if isinstance(each.expression, c_ast.ID):
                numbers[each.expression.name] = each.type
        return cls({id(each.node): each.array.element for each in statement.accesses}, numbers)

    def is_exact(self, node: c_ast.Node, width: int = LONG_LONG.width) -> bool:
        """Whether C computes ``node`` in so many bits, and its value is none that needs the last of 64."""
        if id(node) in self.elements:
            return _fits(self.elements[id(node)], width)
        if isinstance(node, c_ast.ID):
            return _fits(self.numbers.get(node.name), width)
        if isinstance(node, c_ast.Constant):
            return node.type.endswith("int") and not node.type.startswith("unsigned")
        if isinstance(node, c_ast.BinaryOp):
            parts = self.is_exact(node.left, width), self.is_exact(node.right, width)
            return node.op in {"+", "-", "*"} and all(parts)
        return False


def _fits(kind: Type | None, width: int) -> bool:
    if not isinstance(kind, IntegerType):
        return False
    return kind.width <= width and (kind.signed or kind.width <= INT.width)


def counted_subscript(
    subscript: c_ast.Node, place: c_ast.Node, statement: Statement, body: c_ast.Node, known: NumberTypes
) -> CountedSubscript | None:
    """The ends of ``subscript``, which ``place`` in ``body`` of ``statement`` has; None if they are not told.

    It reads no elements, and its numbers change with the outermost loop around it alone, or not at all.
    """
    inside = next((each for each in _path(body, place) if isinstance(each, REPEATED)), None)
    if inside is None or any(isinstance(each, c_ast.ArrayRef | c_ast.StructRef) for each in walk(subscript)):
        return None
    set_inside = names_set_in(list(walk(body))) | names_addressed_in(walk(body))
    changing = set_inside.intersection(names_in(subscript))
    if not changing:
        return CountedSubscript(inside, (subscript,), ())
    counter = next(iter(changing))
    if len(changing) > 1 or not isinstance(inside, c_ast.For) or not _counts(inside, counter, body):
        return None
    kind = _counter_type(inside, statement)
    if kind is None or kind.width < INT.width:
        return None
    first = _first(inside)
    limit = inside.cond.right
    widest = LONG_LONG.width if kind.signed else kind.width  # else it may wrap around before the limit
    if first is None or has_side_effect(first):
        return None
    if not (known.is_exact(first) and known.is_exact(limit, widest)):
        return None
    if not set_inside.isdisjoint([*names_in(first), *names_in(limit)]):
        return None
    start = c_ast.Cast(type_name(kind), first, first.coord)
    last = c_ast.BinaryOp("+", c_ast.Cast(type_name(LONG_LONG), limit), number(_behind(inside.cond.op)))
    ends = [_moved(subscript, counter, each) for each in (start, last)]
    told = tuple(each for each in ends if each is not None)
    if len(told) < len(ends):
        return None
    return CountedSubscript(inside, told, (c_ast.BinaryOp(inside.cond.op, start, limit, inside.coord),))


def _path(body: c_ast.Node, place: c_ast.Node) -> Iterator[c_ast.Node]:
    """The parts of ``body`` around ``place``, outermost first."""
    while body is not place:
        yield body
        inner = next((each for each in body if any(part is place for part in walk(each))), None)
        if inner is None:
            return
        body = inner


def _counts(loop: c_ast.For, counter: str, body: c_ast.Node) -> bool:
    """Whether ``loop`` counts ``counter`` by one, and nothing else in ``body`` sets or declares one."""
    cond, step = loop.cond, loop.next
    if not (isinstance(cond, c_ast.BinaryOp) and cond.op in _STEPS and _is(cond.left, counter)):
        return False
    if not (isinstance(step, c_ast.UnaryOp) and _is(step.expr, counter) and _STEPS[cond.op] in step.op):
        return False
    if _first(loop) is None or counter in names_addressed_in(walk(body)) or has_side_effect(cond):
        return False
    declared = [each for each in walk(body) if isinstance(each, c_ast.Decl) and each.name == counter]
    inside = {id(each) for each in walk(loop.init)}
    return counter not in names_set_in(list(walk(loop.stmt))) and all(id(each) in inside for each in declared)


def _first(loop: c_ast.For) -> c_ast.Node | None:
    """What the counter of ``loop`` starts with; None if it has several, or starts elsewhere."""
    init = loop.init
    if isinstance(init, c_ast.DeclList):
        return init.decls[0].init if len(init.decls) == 1 else None
    if isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        return init.rvalue if _is(init.lvalue, getattr(loop.cond.left, "name", "")) else None
    return None


def _counter_type(loop: c_ast.For, statement: Statement) -> IntegerType | None:
    """The type of the counter of ``loop``, a variable of the region or of the loop."""
    name = loop.cond.left.name
    kinds = {each.array.element for each in statement.accesses if _is(each.node, name)}
    kinds |= {array.element for node, array in statement.locals if _is(node, name)}
    if isinstance(loop.init, c_ast.DeclList) and not kinds:
        names = getattr(getattr(loop.init.decls[0].type, "type", None), "names", None)
        kinds = {INT} if names == ["int"] else {LONG_LONG} if names == ["long", "long"] else set()
    (kind,) = kinds if len(kinds) == 1 else (None,)
    return kind if isinstance(kind, IntegerType) else None


def _behind(op: str) -> int:
    """How far behind its limit a loop with the comparison ``op`` ends."""
    if "=" in op:
        return 0
    return -1 if op == "<" else 1


def _moved(subscript: c_ast.Node, counter: str, value: c_ast.Node) -> c_ast.Node | None:
    """``subscript`` for a ``value`` of ``counter``; None if it is not that number, and a constant."""
    if _is(subscript, counter):
        return value
    if not isinstance(subscript, c_ast.BinaryOp) or subscript.op not in {"+", "-"}:
        return None
    if not isinstance(subscript.right, c_ast.Constant):
        return None
    moved = _moved(subscript.left, counter, value)
    wide = None if moved is None else c_ast.Cast(type_name(LONG_LONG), moved)
    return None if wide is None else c_ast.BinaryOp(subscript.op, wide, subscript.right, subscript.coord)


def _is(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name
