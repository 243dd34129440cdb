"""Small loop programs as values, which styles rewrite.

Expressions are C text. Elements of arrays have one subscript for each dimension in them; how they are
written in the end is a matter of ``addressing``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Assign:
    """``target operator value;``, as in ``s += a[i] * b[i]``."""

    target: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class Define:
    """A local variable; of the kernel's type unless it has one, without a value if that is empty."""

    name: str
    value: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A local array of the kernel's type."""

    name: str
    extents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class When:
    """``body`` where ``condition`` holds; a plain block if that is empty."""

    condition: str
    body: Body


@dataclass(frozen=True, slots=True)
class Loop:
    """``counter`` from ``first`` to before ``end``. The iterations of ``parallel`` loops may change places.

    ``form`` says how it is written (``printing``), ``type`` what type the counter has; the counter is
    declared outside if that is empty.
    """

    counter: str
    first: str
    end: str
    body: Body
    parallel: bool = False
    step: int = 1
    form: str = "for"
    type: str = "int"


@dataclass(frozen=True, slots=True)
class Sum:
    """Variables that start with values, what adds to them, and what they are used for.

    ``declared`` is false where the variables stand outside.
    """

    starts: tuple[tuple[str, str], ...]
    body: Body
    results: Body
    declared: bool = True


@dataclass(frozen=True, slots=True)
class While:
    """``body`` as long as ``condition`` holds, with ``step`` behind it in a header if there is one."""

    condition: str
    body: Body
    step: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of C that is none of the other nodes: a call, a label, ``else``."""

    text: str


Node = Assign | Define | Buffer | When | Loop | Sum | While | Line
Body = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function that computes ``body`` and returns the variable ``result``, if it returns something.

    ``scalars`` have their types.
    """

    name: str
    arrays: tuple[str, ...]
    scalars: tuple[tuple[str, str], ...]
    body: Body
    result: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """What is computed: ``arrays`` have the extents of each parameter, in terms of ``n``.

    ``types`` are those of arrays that have not ``type``, ``fills`` the values of elements ``i`` of arrays
    that are no random numbers. The largest array has ``factor * (n + 8) ** power`` elements. ``restored``
    arrays are read and written. ``size`` is what to time. ``unsuited`` are the styles that would change the
    kernel's results.
    """

    name: str
    type: str
    arrays: Mapping[str, tuple[str, ...]]
    body: Body
    size: int
    power: int = 2
    factor: int = 1
    types: Mapping[str, str] = field(default_factory=dict)
    fills: Mapping[str, str] = field(default_factory=dict)
    restored: tuple[str, ...] = ()
    unsuited: frozenset[str] = frozenset()
    scratch: tuple[str, ...] = ()
    functions: tuple[Function, ...] = ()

    def type_of(self, array: str) -> str:
        """The type of an array's elements."""
        return self.types.get(array, self.type)


Change = Callable[[Node], Body]


def rewritten(body: Body, change: Change) -> Body:
    """``body`` with each node replaced by what ``change`` makes of it, from the innermost outwards."""
    out: list[Node] = []
    for node in body:
        match node:
            case Loop() | When() | While():
                inside: Node = replace(node, body=rewritten(node.body, change))
            case Sum():
                inside = replace(
                    node, body=rewritten(node.body, change), results=rewritten(node.results, change)
                )
            case _:
                inside = node
        out += change(inside)
    return tuple(out)


def in_text(body: Body, change: Callable[[str], str]) -> Body:
    """``body`` with all its expressions changed."""

    def each(node: Node) -> Body:
        match node:
            case Assign():
                return (replace(node, target=change(node.target), value=change(node.value)),)
            case Define():
                return (replace(node, value=change(node.value)),)
            case When():
                return (replace(node, condition=change(node.condition)),)
            case While():
                return (replace(node, condition=change(node.condition), step=change(node.step)),)
            case Line():
                return (replace(node, text=change(node.text)),)
            case Loop():
                return (replace(node, first=change(node.first), end=change(node.end)),)
            case Sum():
                starts = tuple((name, change(start)) for name, start in node.starts)
                return (replace(node, starts=starts),)
        return (node,)

    return rewritten(body, each)


def nodes(body: Body) -> Iterator[Node]:
    """All nodes, outer ones first."""
    for node in body:
        yield node
        match node:
            case Loop() | When() | While():
                yield from nodes(node.body)
            case Sum():
                yield from nodes(node.body)
                yield from nodes(node.results)


def texts(body: Body) -> Iterator[str]:
    """All expressions."""
    for node in nodes(body):
        match node:
            case Assign():
                yield from (node.target, node.value)
            case Define():
                yield node.value
            case When():
                yield node.condition
            case While():
                yield from (node.condition, node.step)
            case Line():
                yield node.text
            case Loop():
                yield from (node.first, node.end)
            case Sum():
                yield from (start for _, start in node.starts)


def words(text: str) -> set[str]:
    """The identifiers of an expression."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


def uses(body: Body, name: str) -> bool:
    """Whether an expression in ``body`` has the identifier ``name``."""
    return any(name in words(text) for text in texts(body))


def renamed(body: Body, name: str, expression: str) -> Body:
    """``body`` with ``expression`` in place of the identifier ``name``."""
    return in_text(body, lambda text: re.sub(rf"\b{name}\b", expression, text))


def retargeted(body: Body, name: str, target: str) -> Body:
    """``body`` with ``target`` in place of the variable ``name``."""

    def change(node: Node) -> Body:
        if isinstance(node, Assign) and node.target == name:
            return (replace(node, target=target),)
        return (node,)

    return renamed(rewritten(body, change), name, target)


def innermost(node: Node) -> bool:
    """Whether ``node`` is a loop without loops in it."""
    return isinstance(node, Loop) and not any(isinstance(each, Loop) for each in nodes(node.body))


def nest(ranges: str, *body: Node, parallel: bool = False) -> Loop:
    """Loops around ``body``; ``ranges`` are ``i=0:n j=0:i+1`` and the like, outermost first."""
    first, *rest = ranges.split()
    counter, _, limits = first.partition("=")
    start, _, end = (re.sub(r"(?<=\w)([+-])(?=\w)", r" \1 ", each) for each in limits.partition(":"))
    inside: Body = (nest(" ".join(rest), *body, parallel=parallel),) if rest else body
    return Loop(counter, start, end, inside, parallel)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array that an expression has from ``start`` to before ``stop``."""

    array: str
    subscripts: tuple[str, ...]
    start: int
    stop: int


def elements(text: str, arrays: Mapping[str, tuple[str, ...]]) -> list[Element]:
    """The elements of ``arrays`` in an expression, without those in subscripts of others."""
    found = []
    position = 0
    for match in re.finditer(r"\b([A-Za-z_]\w*)\[", text):
        if match.start() < position or match[1] not in arrays:
            continue
        stop, subscripts = match.end() - 1, []
        for _ in arrays[match[1]]:
            begin = stop
            depth = 0
            while True:
                depth += {"[": 1, "]": -1}.get(text[stop], 0)
                stop += 1
                if not depth:
                    break
            subscripts.append(text[begin + 1 : stop - 1])
        position = stop
        found.append(Element(match[1], tuple(subscripts), match.start(), stop))
    return found


def with_elements(text: str, arrays: Mapping[str, tuple[str, ...]], write: Callable[[Element], str]) -> str:
    """``text`` with each element of ``arrays`` as ``write`` has it, those in subscripts first."""
    out, position = "", 0
    for element in elements(text, arrays):
        inside = tuple(with_elements(each, arrays, write) for each in element.subscripts)
        out += text[position : element.start] + write(replace(element, subscripts=inside))
        position = element.stop
    return out + text[position:]
