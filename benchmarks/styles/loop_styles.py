"""Other ways to write loops: their form, their order, blocks, copies of their bodies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from benchmarks.styles.tree import (
    Assign,
    Body,
    Define,
    Kernel,
    Loop,
    Node,
    Sum,
    When,
    innermost,
    nodes,
    renamed,
    retargeted,
    rewritten,
    texts,
    words,
)

Pass = Callable[[Kernel], Kernel]


def on_loops(change: Callable[[Loop], Body], where: Callable[[Loop], bool] = lambda _: True) -> Pass:
    """The pass that changes each loop that ``where`` chooses."""

    def visit(node: Node) -> Body:
        return change(node) if isinstance(node, Loop) and where(node) else (node,)

    return lambda kernel: replace(kernel, body=rewritten(kernel.body, visit))


def written_as(form: str, kind: str = "int", where: Callable[[Loop], bool] = lambda _: True) -> Pass:
    """Loops in another form, with another type of counter."""
    return on_loops(lambda loop: (replace(loop, form=form, type=kind),), where)


def from_one(kernel: Kernel) -> Kernel:
    """Loops that count from one, as in Fortran, and elements from zero."""

    def change(loop: Loop) -> Body:
        body = renamed(loop.body, loop.counter, f"({loop.counter} - 1)")
        return (replace(loop, first="1", end=f"{loop.end} + 1", body=body, form="up-to"),)

    return on_loops(change, lambda loop: loop.first == "0" and loop.step == 1)(kernel)


def in_any_order(loop: Loop) -> bool:
    """Whether iterations may change places."""
    return loop.parallel


def _inside(body: Body) -> Body:
    """A copy of a body, in braces where it declares something."""
    return (When("", body),) if any(isinstance(each, Define) for each in body) else body


def unrolled(count: int, remainder: str) -> Pass:
    """Innermost loops with ``count`` copies of the body.

    What remains runs in a loop that begins at a value computed for it (``own``), that has the same counter
    (``shared``), or, of two, under a condition (``odd``).
    """

    def change(loop: Loop) -> Body:
        first, end, counter = loop.first, loop.end, loop.counter
        copies: Body = ()
        for number in range(count):
            at = counter if number == 0 else f"({counter} + {number})"
            copies += _inside(renamed(loop.body, counter, at))
        main = replace(loop, end=f"{end} - {count - 1}", step=count, body=copies)
        if remainder == "shared":
            rest = replace(loop, first=counter, type="")
            return (When("", (Define(counter, type=loop.type), replace(main, type=""), rest)),)
        if remainder == "odd":
            last = f"({end} - 1)"
            odd = f"{end} % 2 == 1" if first == "0" and end.isalnum() else f"({end} - ({first})) % 2 == 1"
            return (main, When(odd, renamed(loop.body, counter, last)))
        return (main, replace(loop, first=beginning(loop, count)))

    return on_loops(change, lambda loop: innermost(loop) and loop.step == 1)


def beginning(loop: Loop, count: int) -> str:
    """Where the iterations begin that remain after steps of ``count``."""
    if loop.first == "0" and loop.end.isalnum():
        return f"{loop.end} - {loop.end} % {count}"
    return f"{loop.first} + ({loop.end} - ({loop.first})) / {count} * {count}"


def jammed(kernel: Kernel) -> Kernel:
    """Two iterations of a parallel loop at once, with sums of their own."""

    def change(loop: Loop) -> Body:
        if not loop.parallel or len(loop.body) != 1 or not isinstance(loop.body[0], Sum):
            return (loop,)
        only = loop.body[0]
        counter = loop.counter
        if any(
            isinstance(each, Loop) and counter in words(f"{each.first} {each.end}")
            for each in nodes(only.body)
        ):
            return (loop,)
        copies = [_numbered(only, counter, number) for number in range(2)]
        both = Sum(
            copies[0].starts + copies[1].starts,
            _joined(copies[0].body, copies[1].body),
            copies[0].results + copies[1].results,
        )
        main = replace(loop, end=f"{loop.end} - 1", step=2, body=(both,))
        return (main, replace(loop, first=beginning(loop, 2)))

    return on_loops(change)(kernel)


def _numbered(only: Sum, counter: str, number: int) -> Sum:
    """The sum in iteration ``counter + number``, its variables with that number."""
    at = counter if number == 0 else f"({counter} + {number})"
    body, results = only.body, only.results
    for name, _ in only.starts:
        body = retargeted(body, name, f"{name}{number}")
        results = retargeted(results, name, f"{name}{number}")
    starts = tuple((f"{name}{number}", re.sub(rf"\b{counter}\b", at, start)) for name, start in only.starts)
    return replace(
        only, starts=starts, body=renamed(body, counter, at), results=renamed(results, counter, at)
    )


def _joined(first: Body, second: Body) -> Body:
    """The same loops, with the bodies of both."""
    if len(first) == 1 and isinstance(first[0], Loop) and isinstance(second[0], Loop):
        return (replace(first[0], body=_joined(first[0].body, second[0].body)),)
    return _inside(first) + _inside(second)


def peeled(*, last: bool) -> Pass:
    """The first or last iteration of innermost loops before or after them."""

    def change(loop: Loop) -> Body:
        at = f"{loop.end} - 1" if last else loop.first
        one = renamed(loop.body, loop.counter, at if at.isalnum() else f"({at})")
        if last:
            rest = replace(loop, end=f"{loop.end} - 1")
        else:
            rest = replace(loop, first="1" if loop.first == "0" else f"{loop.first} + 1")
        order = (rest, *_inside(one)) if last else (*_inside(one), rest)
        return order if loop.end.isdigit() else (When(f"{loop.first} < {loop.end}", order),)

    return on_loops(change, innermost)


def started(kernel: Kernel) -> Kernel:
    """Sums that start with their first term, where there is one for sure."""

    def change(node: Node) -> Body:
        if not isinstance(node, Sum) or len(node.starts) != 1 or len(node.body) != 1:
            return (node,)
        ((name, start),) = node.starts
        loop = node.body[0]
        if start != "0" or not innermost(loop) or not isinstance(loop, Loop):
            return (node,)
        if loop.first != "0" or not (loop.end == "n" or loop.end.isdigit()) or len(loop.body) != 1:
            return (node,)
        (add,) = renamed(loop.body, loop.counter, "0")
        if not isinstance(add, Assign):
            return (node,)
        return (replace(node, starts=((name, add.value),), body=(replace(loop, first="1"),)),)

    return replace(kernel, body=rewritten(kernel.body, change))


def _chain(loop: Loop, wanted: Callable[[Loop], bool]) -> list[Loop]:
    """``loop`` and the loops directly in each other, as long as they are ``wanted``."""
    found = [loop]
    while len(found[-1].body) == 1 and isinstance(found[-1].body[0], Loop) and wanted(found[-1].body[0]):
        found.append(found[-1].body[0])
    return found


def _around(loops: list[Loop], body: Body) -> Body:
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    return body


def _blocks(chain: list[Loop], size: int) -> Body:
    """Blocks of the loops whose limits are the same in every iteration of the others."""
    counters = {each.counter for each in chain}
    free = [each for each in chain if counters.isdisjoint(words(each.first) | words(each.end))]
    inner, outer = [], []
    for loop in chain:
        if loop not in free:
            inner.append(loop)
            continue
        block = loop.counter * 2
        end = f"({block} + {size} < {loop.end} ? {block} + {size} : {loop.end})"
        inner.append(replace(loop, first=block, end=end))
        outer.append(replace(loop, counter=block, step=size))
    return _around(outer + inner, chain[-1].body)


def blocked(kernel: Kernel, size: int = 32) -> Kernel:
    """Blocks of the outermost parallel loops."""
    return replace(kernel, body=_outermost(kernel.body, in_any_order, lambda chain: _blocks(chain, size)))


def all_blocked(kernel: Kernel, size: int = 16) -> Kernel:
    """Blocks of all loops that stand directly in each other, outermost parallel ones first."""

    def change(chain: list[Loop]) -> Body:
        return _blocks(chain, size) if len(chain) > 2 else _around(chain, chain[-1].body)

    return replace(kernel, body=_outermost(kernel.body, lambda _: True, change))


def _outermost(body: Body, wanted: Callable[[Loop], bool], change: Callable[[list[Loop]], Body]) -> Body:
    """``body`` with its outermost chains of ``wanted`` loops changed."""
    out: Body = ()
    for node in body:
        if isinstance(node, Loop) and wanted(node):
            out += change(_chain(node, wanted))
        elif isinstance(node, Loop):
            out += (replace(node, body=_outermost(node.body, wanted, change)),)
        else:
            out += (node,)
    return out


def swapped(kernel: Kernel) -> Kernel:
    """The two outermost parallel loops in the other order."""

    def change(chain: list[Loop]) -> Body:
        body = chain[-1].body
        if len(chain) > 1 and chain[0].counter not in words(f"{chain[1].first} {chain[1].end}"):
            chain[:2] = chain[1], chain[0]
        return _around(chain, body)

    return replace(kernel, body=_outermost(kernel.body, in_any_order, change))


def hoisted(*, negative: bool = False) -> Pass:
    """The first factor of what is added in an innermost loop, computed before it where it stays the same."""

    def change(loop: Loop) -> Body:
        if len(loop.body) != 1 or not isinstance(loop.body[0], Assign):
            return (loop,)
        add = loop.body[0]
        factor, star, rest = add.value.partition(" * ")
        if not star or loop.counter in words(factor) or "(" in factor or not words(factor):
            return (loop,)
        if add.operator == "+=" and not negative:
            operator = "+="
        elif add.operator == "-=" and negative:
            factor, operator = f"-{factor}", "+="
        else:
            return (loop,)
        again = replace(add, operator=operator, value=f"factor * {rest}")
        return (When("", (Define("factor", factor), replace(loop, body=(again,)))),)

    return on_loops(change, innermost)


def split(kernel: Kernel) -> Kernel:
    """Parallel loops with one statement each, where no local variable is in the way."""

    def change(loop: Loop) -> Body:
        if not loop.parallel or any(isinstance(each, Define | Sum) for each in loop.body):
            return (loop,)
        if _carried(loop):
            return (loop,)
        return tuple(replace(loop, body=(each,)) for each in loop.body)

    return on_loops(change)(kernel)


def _carried(loop: Loop) -> bool:
    """Whether an element that the loop writes is read at other places, too."""
    targets = {each.target for each in nodes(loop.body) if isinstance(each, Assign)}
    written = {target.partition("[")[0] for target in targets}
    for text in texts(loop.body):
        left = text
        for target in targets:
            left = left.replace(target, "")
        if written & words(left):
            return True
    return False


def written_out(kernel: Kernel) -> Kernel:
    """``s = s + t`` for ``s += t``."""

    def change(node: Node) -> Body:
        if isinstance(node, Assign) and node.operator in {"+=", "-="}:
            value = node.value if " - " not in node.value and " + " not in node.value else f"({node.value})"
            return (Assign(node.target, "=", f"{node.target} {node.operator[0]} {value}"),)
        return (node,)

    return replace(kernel, body=rewritten(kernel.body, change))


def in_steps(kernel: Kernel) -> Kernel:
    """Each term has a name before it is added."""

    def change(node: Node) -> Body:
        if isinstance(node, Assign) and node.operator in {"+=", "-="}:
            return (When("", (Define("step", node.value), replace(node, value="step"))),)
        return (node,)

    return replace(kernel, body=rewritten(kernel.body, change))
