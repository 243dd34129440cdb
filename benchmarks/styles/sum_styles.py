"""Other places for sums: elements of arrays, variables outside, rows; two sums; functions."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.styles.loop_styles import Pass, beginning
from benchmarks.styles.tree import (
    Assign,
    Body,
    Buffer,
    Define,
    Element,
    Function,
    Kernel,
    Loop,
    Node,
    Sum,
    When,
    elements,
    in_text,
    innermost,
    nest,
    nodes,
    renamed,
    retargeted,
    rewritten,
    texts,
    with_elements,
    words,
)


def outside(kernel: Kernel) -> Kernel:
    """The variables of sums before all loops."""
    names: dict[str, None] = {}

    def change(node: Node) -> Body:
        if isinstance(node, Sum):
            names.update(dict.fromkeys(name for name, _ in node.starts))
            return (replace(node, declared=False),)
        return (node,)

    body = rewritten(kernel.body, change)
    return replace(kernel, body=(*(Define(name) for name in names), *body))


def in_elements(kernel: Kernel) -> Kernel:
    """Sums in the elements that they are computed for."""

    def change(node: Node) -> Body:
        if not isinstance(node, Sum):
            return (node,)
        pairs = list(zip(node.starts, node.results, strict=False))
        results, body, starts = node.results, node.body, []
        for (name, start), result in pairs:
            if not isinstance(result, Assign) or "[" not in result.target or result.operator != "=":
                return (node,)
            body = retargeted(body, name, result.target)
            results = retargeted(results, name, result.target)
            if start != result.target:
                starts.append(Assign(result.target, "=", start))
        if len(pairs) < len(node.starts):
            return (node,)
        kept = [each for each in results if not isinstance(each, Assign) or each.target != each.value]
        return (*starts, *body, *kept)

    return replace(kernel, body=rewritten(kernel.body, change))


def _turned(body: Body, loop: Loop) -> Body | None:
    """``loop`` inside the loops of ``body``; none where their limits depend on it."""
    if len(body) != 1 or not isinstance(body[0], Loop):
        return (replace(loop, body=body),)
    only = body[0]
    if loop.counter in words(f"{only.first} {only.end}"):
        return None
    inside = _turned(only.body, loop)
    return None if inside is None else (replace(only, body=inside),)


def rows(kernel: Kernel) -> Kernel:
    """The parallel loop around a sum inside the loops of the sum; for sums in elements."""

    def change(node: Node) -> Body:
        if not isinstance(node, Loop) or not node.parallel:
            return (node,)
        places = [number for number, each in enumerate(node.body) if isinstance(each, Loop)]
        if len(places) != 1 or any(isinstance(each, Sum | Define) for each in node.body):
            return (node,)
        (place,) = places
        inner = node.body[place]
        turned = _turned((inner,), node)
        if turned is None or (isinstance(inner, Loop) and inner.parallel):
            return (node,)
        before, after = node.body[:place], node.body[place + 1 :]
        return (
            *((replace(node, body=before),) if before else ()),
            *turned,
            *((replace(node, body=after),) if after else ()),
        )

    return replace(kernel, body=rewritten(kernel.body, change))


def row_buffers(kernel: Kernel) -> Kernel:
    """Sums in a row that is computed at once and copied to its place."""

    def change(node: Node, depth: int) -> Body:
        if not isinstance(node, Loop):
            return (node,)
        only = node.body[0]
        if not (depth and node.parallel and len(node.body) == 1 and isinstance(only, Sum)):
            return (replace(node, body=within(node.body, depth + 1)),)
        body, results = only.body, only.results
        buffers, starts = [], []
        for name, start in only.starts:
            cell = f"{name}_row[{node.counter}]"
            buffers.append(Buffer(f"{name}_row", (node.end,)))
            starts.append(Assign(cell, "=", start))
            body, results = retargeted(body, name, cell), retargeted(results, name, cell)
        turned = _turned(body, node)
        if turned is None:
            return (node,)
        return (
            *buffers,
            replace(node, body=tuple(starts)),
            *turned,
            replace(node, body=results),
        )

    def within(body: Body, depth: int) -> Body:
        return tuple(new for node in body for new in change(node, depth))

    return replace(kernel, body=within(kernel.body, 0))


def packed(kernel: Kernel) -> Kernel:
    """What a loop around a sum reads in each of its iterations, copied to a row before."""
    written = {each.target.partition("[")[0] for each in nodes(kernel.body) if isinstance(each, Assign)}

    def change(node: Node) -> Body:
        only = node.body[0] if isinstance(node, Loop) else None
        if not isinstance(node, Loop) or not isinstance(only, Sum) or len(node.body) != 1:
            return (node,)
        loop = only.body[0]
        if not isinstance(loop, Loop) or not innermost(loop) or node.counter in words(loop.end):
            return (node,)
        found = {
            text[each.start : each.stop]: each.array
            for text in texts(loop.body)
            for each in elements(text, kernel.arrays)
            if each.array not in written
            and len(each.subscripts) > 1
            and each.subscripts[-1] == loop.counter
            and node.counter not in words(" ".join(each.subscripts))
        }
        before: Body = ()
        rows = {element: f"{array}_row[{loop.counter}]" for element, array in found.items()}
        for element, row in rows.items():
            copy = replace(loop, body=(Assign(row, "=", element),))
            before += (Buffer(row.partition("[")[0], (loop.end,)), copy)

        def shorter(text: str) -> str:
            for element, row in rows.items():
                text = text.replace(element, row)
            return text

        return (*before, replace(node, body=(replace(only, body=in_text(only.body, shorter)),)))

    return replace(kernel, body=rewritten(kernel.body, change))


def transposed(kernel: Kernel) -> Kernel:
    """An array that is read down its columns, through a copy."""
    written = {each.target.partition("[")[0] for each in nodes(kernel.body) if isinstance(each, Assign)}
    counters = {each.counter for each in nodes(kernel.body) if innermost(each) and isinstance(each, Loop)}
    wanted = sorted(
        {
            each.array
            for text in texts(kernel.body)
            for each in elements(text, kernel.arrays)
            if len(each.subscripts) == 2 and each.subscripts[0] in counters and each.array not in written
        }
    )
    if not wanted:
        return kernel
    array = wanted[0]
    copy = f"{array}_t"
    height, width = kernel.arrays[array]
    arrays = {**kernel.arrays, copy: (width, height)}

    def write(text: str) -> str:
        def element(each: Element) -> str:
            name, subscripts = each.array, list(each.subscripts)
            if name == array:
                name, subscripts = copy, subscripts[::-1]
            return name + "".join(f"[{subscript}]" for subscript in subscripts)

        return with_elements(text, kernel.arrays, element)

    first = nest(f"r=0:{width} q=0:{height}", Assign(f"{copy}[r][q]", "=", f"{array}[q][r]"), parallel=True)
    return replace(
        kernel,
        arrays=arrays,
        body=(first, *in_text(kernel.body, write)),
        scratch=(*kernel.scratch, copy),
    )


def two_sums(*, apart: bool) -> Pass:
    """Even terms of innermost sums in one variable, odd ones in another, in one loop or in two."""

    def one(only: Sum) -> Sum:
        ((name, start),) = only.starts

        def change(node: Node) -> Body:
            if not isinstance(node, Loop) or not innermost(node):
                return (node,)
            first = retargeted(node.body, name, f"{name}0")
            second = retargeted(node.body, name, f"{name}1")
            if apart:
                following = "1" if node.first == "0" else f"{node.first} + 1"
                return (
                    replace(node, body=first, step=2),
                    replace(node, first=following, body=second, step=2),
                )
            next_one = renamed(second, node.counter, f"({node.counter} + 1)")
            both = (When("", first), When("", next_one)) if len(first) > 1 else (*first, *next_one)
            main = replace(node, end=f"{node.end} - 1", step=2, body=both)
            return (main, replace(node, first=beginning(node, 2), body=first))

        total = f"({name}0 + {name}1)"
        return Sum(
            ((f"{name}0", start), (f"{name}1", "0")),
            rewritten(only.body, change),
            renamed(only.results, name, total),
            only.declared,
        )

    def visit(node: Node) -> Body:
        if isinstance(node, Sum) and len(node.starts) == 1:
            return (one(node),)
        return (node,)

    return lambda kernel: replace(kernel, body=rewritten(kernel.body, visit))


def _pointers(kernel: Kernel) -> dict[str, str]:
    """The types of local pointers and arrays, as parameters have them."""
    types = {}
    for each in nodes(kernel.body):
        if isinstance(each, Buffer):
            types[each.name] = f"{kernel.type} *"
        elif isinstance(each, Define) and each.type.endswith("*"):
            types[each.name] = each.type
    return types


def by_functions(kernel: Kernel) -> Kernel:
    """Each sum computed by a function of its own."""
    functions: list[Function] = []
    counters = {each.counter for each in nodes(kernel.body) if isinstance(each, Loop)}

    def change(node: Node) -> Body:
        if not isinstance(node, Sum) or len(node.starts) != 1:
            return (node,)
        ((name, start),) = node.starts
        used = {word for text in (*texts(node.body), start) for word in words(text)}
        inner = {each.counter for each in nodes(node.body) if isinstance(each, Loop)}
        scalars = tuple(("int", each) for each in sorted((used & counters) - inner))
        own = {each.name for each in nodes(node.body) if isinstance(each, Define)}
        pointers = {name: kind for name, kind in _pointers(kernel).items() if name in used - own}
        arrays = tuple(each for each in kernel.arrays if each in used)
        function = Function(
            f"{name}_of{len(functions) or ''}",
            arrays,
            (*scalars, *((kind, each) for each, kind in pointers.items())),
            (Define(name, start), *node.body),
            name,
        )
        functions.append(function)
        passed = ", ".join(("n", *arrays, *(each for _, each in function.scalars)))
        value = f"{function.name}({passed})"
        only = node.results[0]
        if isinstance(only, Assign) and only.value == name and len(node.results) == 1:
            return (replace(only, value=value),)
        return (Define(name, value), *node.results)

    body = rewritten(kernel.body, change)
    return replace(kernel, body=body, functions=(*kernel.functions, *functions))
