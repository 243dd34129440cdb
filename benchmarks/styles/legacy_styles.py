"""Ways to write loops that older programs have: names declared first, flags, bounds with names, jumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchmarks.styles.loop_styles import Pass, on_loops
from benchmarks.styles.tree import (
    Assign,
    Body,
    Buffer,
    Define,
    Function,
    Kernel,
    Line,
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

_KINDS = ("size_t", "unsigned", "long", "int")


def declared_first(*, register: bool = False) -> Pass:
    """All counters and variables declared before all loops, one of each name, and used again and again."""
    storage = "register " if register else ""

    def apply(kernel: Kernel) -> Kernel:
        kinds: dict[str, str] = {}

        def change(node: Node) -> Body:
            match node:
                case Loop() if node.type:
                    kinds[node.counter] = node.type
                    return (replace(node, type=""),)
                case Define():
                    kinds[node.name] = node.type or kernel.type
                    return (Assign(node.name, "=", node.value),) if node.value else ()
                case Sum():
                    kinds.update((name, kernel.type) for name, _ in node.starts)
                    return (replace(node, declared=False),)
            return (node,)

        body = rewritten(kernel.body, change)
        first = tuple(Define(name, type=f"{storage}{kind}") for name, kind in kinds.items())
        return replace(kernel, body=(*first, *body))

    return apply


def _by_depth(body: Body, change: Callable[[Loop, int], Body], depth: int = 0) -> Body:
    """``body`` with each loop changed, given the number of loops around it; outer ones before inner ones."""
    out: Body = ()
    for node in body:
        match node:
            case Loop():
                out += tuple(
                    replace(each, body=_by_depth(each.body, change, depth + 1))
                    if isinstance(each, Loop)
                    else each
                    for each in change(node, depth)
                )
            case When():
                out += (replace(node, body=_by_depth(node.body, change, depth)),)
            case Sum():
                inside, results = (_by_depth(each, change, depth) for each in (node.body, node.results))
                out += (replace(node, body=inside, results=results),)
            case _:
                out += (node,)
    return out


def mixed_counters(kernel: Kernel) -> Kernel:
    """Counters of another type in each loop than in the one around it."""
    return replace(
        kernel,
        body=_by_depth(kernel.body, lambda loop, depth: (replace(loop, type=_KINDS[depth % len(_KINDS)]),)),
    )


def named_bounds(kernel: Kernel) -> Kernel:
    """Bounds in variables that are set before each loop, as translators from Fortran write them."""
    names: dict[str, None] = {}

    def change(loop: Loop, depth: int) -> Body:
        name = f"i__{depth + 1}"
        names[name] = None
        plain = loop.end.removesuffix(" + 1")
        behind = " + 1" if plain != loop.end and loop.form == "up-to" else ""
        value = plain if behind else loop.end
        return Assign(name, "=", value), replace(loop, end=f"{name}{behind}")

    body = _by_depth(kernel.body, change)
    return replace(kernel, body=(*(Define(each, type="int") for each in names), *body))


def remainder_first(*, cases: bool) -> Pass:
    """Innermost loops with four copies of the body, after what is left: in a loop, or as ``cases``."""

    def change(loop: Loop) -> Body:
        counter, first = loop.counter, loop.first
        length = loop.end if first == "0" and loop.end.isalnum() else f"({loop.end} - {first})"
        copies: Body = ()
        for number in range(4):
            at = counter if number == 0 else f"({counter} + {number})"
            copies += _inside(renamed(loop.body, counter, at))
        main = replace(loop, first=counter, body=copies, step=4, type="")
        if not cases:
            until = f"{length} % 4" if first == "0" else f"{first} + {length} % 4"
            return (When("", (Define(counter, type=loop.type), replace(loop, end=until, type=""), main)),)
        parts: Body = ()
        for number in (3, 2, 1):
            parts += (Line(f"case {number}:"), *_inside(loop.body), Assign(counter, "++", ""))
        start = Define(counter, first, loop.type)
        return (When("", (start, Line(f"switch ({length} % 4)"), When("", parts), main)),)

    return on_loops(change, lambda loop: innermost(loop) and loop.step == 1 and not loop.end.isdigit())


def _inside(body: Body) -> Body:
    """A copy of a body, in braces where it declares something."""
    return (When("", body),) if any(isinstance(each, Define) for each in body) else body


def _stored(only: Sum) -> bool:
    """Whether each variable of a sum is just stored in an element of its own."""
    return len(only.starts) == len(only.results) and all(
        isinstance(each, Assign) and "[" in each.target and each.operator == "=" and name in words(each.value)
        for (name, _), each in zip(only.starts, only.results, strict=True)
    )


def into_pointers(kernel: Kernel) -> Kernel:
    """Sums in the elements that they are for, which pointers lead to."""

    def change(node: Node) -> Body:
        if not isinstance(node, Sum) or not _stored(node):
            return (node,)
        body, pointers, starts, results = node.body, [], [], []
        for (name, start), result in zip(node.starts, node.results, strict=True):
            if not isinstance(result, Assign):
                return (node,)
            place = f"*to_{name}"
            pointers.append(Define(f"to_{name}", f"&{result.target}", f"{kernel.type} *"))
            starts.append(Assign(place, "=", place if start == result.target else start))
            body = retargeted(body, name, place)
            if result.value != name:
                results += retargeted((replace(result, target=place),), name, f"(*to_{name})")
        starts = [each for each in starts if each.target != each.value]
        return (When("", (*pointers, *starts, *body, *results)),)

    return replace(kernel, body=rewritten(kernel.body, change))


def out_parameters(kernel: Kernel) -> Kernel:
    """Sums by functions that store them where their last parameters point."""
    functions: list[Function] = []
    counters = {each.counter for each in nodes(kernel.body) if isinstance(each, Loop)}
    own = {each.name for each in nodes(kernel.body) if isinstance(each, Buffer)}

    def change(node: Node) -> Body:
        if not isinstance(node, Sum):
            return (node,)
        used = {word for text in texts(node.body) for word in words(text)}
        used |= {word for _, start in node.starts for word in words(start)}
        if used & own:
            return (node,)
        inner = {each.counter for each in nodes(node.body) if isinstance(each, Loop)}
        body: Body = node.body
        for name, _ in node.starts:
            body = retargeted(body, name, f"*to_{name}")
        outer = sorted((used & counters) - inner)
        scalars = (
            *(("int", each) for each in outer),
            *((f"{kernel.type} *", f"to_{name}") for name, _ in node.starts),
        )
        arrays = tuple(each for each in kernel.arrays if each in used)
        starts = tuple(Assign(f"*to_{name}", "=", start) for name, start in node.starts)
        function = Function(f"sum_to{len(functions) or ''}", arrays, scalars, (*starts, *body), "")
        functions.append(function)
        passed = ", ".join(("n", *arrays, *outer, *(f"&{name}" for name, _ in node.starts)))
        return (
            *(Define(name) for name, _ in node.starts),
            Line(f"{function.name}({passed});"),
            *node.results,
        )

    body = rewritten(kernel.body, change)
    return replace(kernel, body=body, functions=(*kernel.functions, *functions))


def _one_term(only: Sum) -> tuple[str, str, Loop] | None:
    """The variable, its start and the loop of a sum over one innermost loop that runs for sure."""
    if len(only.starts) != 1 or len(only.body) != 1:
        return None
    loop = only.body[0]
    if not isinstance(loop, Loop) or not innermost(loop) or loop.first != "0":
        return None
    return (*only.starts[0], loop) if loop.end == "n" or loop.end.isdigit() else None


def flagged(kernel: Kernel) -> Kernel:
    """Sums that start with their first term, of which a flag tells."""

    def change(node: Node) -> Body:
        found = _one_term(node) if isinstance(node, Sum) else None
        if found is None or found[1] != "0" or len(found[2].body) != 1:
            return (node,)
        _, _, loop = found
        (add,) = loop.body
        if not isinstance(add, Assign) or not isinstance(node, Sum):
            return (node,)
        begin = When("first", (replace(add, operator="="), Assign("first", "=", "0")))
        body = (begin, Line("else"), When("", (add,)))
        return (When("", (Define("first", "1", "int"), replace(node, body=(replace(loop, body=body),)))),)

    return replace(kernel, body=rewritten(kernel.body, change))


def set_in_loops(kernel: Kernel) -> Kernel:
    """Sums in elements that get their start in the first iteration of the loop that adds the terms."""

    def change(node: Node) -> Body:
        found = _one_term(node) if isinstance(node, Sum) else None
        if found is None or not isinstance(node, Sum) or not _stored(node):
            return (node,)
        name, start, loop = found
        (result,) = node.results
        if not isinstance(result, Assign) or result.value != name:
            return (node,)
        set_first = When(f"{loop.counter} == 0", (Assign(result.target, "=", start),))
        return (replace(loop, body=(set_first, *retargeted(loop.body, name, result.target))),)

    return replace(kernel, body=rewritten(kernel.body, change))


def stored_in_loops(kernel: Kernel) -> Kernel:
    """Sums that are stored in the last iteration of the loop that adds the terms."""

    def change(node: Node) -> Body:
        found = _one_term(node) if isinstance(node, Sum) else None
        if found is None or not isinstance(node, Sum):
            return (node,)
        loop = found[2]
        last = When(f"{loop.counter} == {loop.end} - 1", node.results)
        return (replace(node, body=(replace(loop, body=(*loop.body, last)),), results=()),)

    return replace(kernel, body=rewritten(kernel.body, change))


def in_small_arrays(kernel: Kernel) -> Kernel:
    """Sums in the elements of a small array."""

    def change(node: Node) -> Body:
        if not isinstance(node, Sum):
            return (node,)
        array = f"all_{node.starts[0][0]}"
        body, results, starts = node.body, node.results, []
        for place, (name, start) in enumerate(node.starts):
            cell = f"{array}[{place}]"
            starts.append(Assign(cell, "=", start))
            body, results = retargeted(body, name, cell), retargeted(results, name, cell)
        return (Buffer(array, (str(len(node.starts)),)), *starts, *body, *results)

    return replace(kernel, body=rewritten(kernel.body, change))


def in_one_loop(kernel: Kernel) -> Kernel:
    """Two parallel loops as one over all of their iterations, which computes both counters."""

    def change(node: Node) -> Body:
        if not isinstance(node, Loop) or not node.parallel or len(node.body) != 1:
            return (node,)
        inner = node.body[0]
        if not isinstance(inner, Loop) or not inner.parallel or node.first != "0" or inner.first != "0":
            return (node,)
        if not (node.end.isalnum() and inner.end.isalnum()) or node.counter in words(inner.end):
            return (node,)
        both = node.counter + inner.counter
        counters = (
            Define(node.counter, f"{both} / {inner.end}", "int"),
            Define(inner.counter, f"{both} % {inner.end}", "int"),
        )
        return (replace(node, counter=both, end=f"{node.end} * {inner.end}", body=(*counters, *inner.body)),)

    return replace(kernel, body=rewritten(kernel.body, change))


def in_headers(kernel: Kernel) -> Kernel:
    """Sums of which all is in the header of a loop."""

    def change(node: Node) -> Body:
        if not isinstance(node, Sum) or len(node.starts) != 1 or len(node.body) != 1:
            return (node,)
        ((name, start),) = node.starts
        loop = node.body[0]
        if not isinstance(loop, Loop) or not innermost(loop) or len(loop.body) != 1:
            return (node,)
        add = loop.body[0]
        if not isinstance(add, Assign):
            return (node,)
        begin = f"{name} = {start}, {loop.counter} = {loop.first}"
        step = f"{add.target} {add.operator} {add.value}, {loop.counter}++"
        head = Line(f"for ({begin}; {loop.counter} < {loop.end}; {step});")
        return (When("", (Define(name), Define(loop.counter, type=loop.type), head, *node.results)),)

    return replace(kernel, body=rewritten(kernel.body, change))
