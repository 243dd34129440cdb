"""Elements through pointers: to the rows of arrays, or walking along with the innermost loop."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.styles.loop_styles import Pass
from benchmarks.styles.tree import (
    Assign,
    Body,
    Define,
    Element,
    Kernel,
    Loop,
    Node,
    Sum,
    When,
    elements,
    in_text,
    innermost,
    nodes,
    rewritten,
    texts,
    with_elements,
    words,
)


def _written(kernel: Kernel) -> set[str]:
    return {each.target.partition("[")[0] for each in nodes(kernel.body) if isinstance(each, Assign)}


def _nested(element: Element) -> str:
    return element.array + "".join(f"[{each}]" for each in element.subscripts)


def row_pointers(kernel: Kernel) -> Kernel:
    """A pointer to each row that a loop's iteration works on, declared where its number is known."""
    written = _written(kernel)
    counters = {each.counter for each in nodes(kernel.body) if isinstance(each, Loop)}

    def known(element: Element, bound: set[str], newest: str) -> bool:
        used = words(" ".join(element.subscripts[:-1])) & counters
        return len(element.subscripts) > 1 and used <= bound and newest in used

    def change(loop: Loop, bound: set[str]) -> Loop:
        bound = bound | {loop.counter}
        names: dict[tuple[str, ...], str] = {}

        def write(element: Element) -> str:
            if not known(element, bound, loop.counter):
                return _nested(element)
            key = (element.array, *element.subscripts[:-1])
            name = names.setdefault(key, f"{element.array}_{loop.counter}{len(names)}")
            return f"{name}[{element.subscripts[-1]}]"

        inside = in_text(loop.body, lambda text: with_elements(text, kernel.arrays, write))
        pointers: list[Node] = [
            Define(
                name,
                f"&{array}" + "".join(f"[{each}]" for each in leading) + "[0]",
                f"{'' if array in written else 'const '}{kernel.type_of(array)} *",
            )
            for (array, *leading), name in names.items()
        ]
        return replace(loop, body=(*pointers, *within(inside, bound)))

    def within(body: Body, bound: set[str]) -> Body:
        out: Body = ()
        for node in body:
            match node:
                case Loop():
                    out += (change(node, bound),)
                case When():
                    out += (replace(node, body=within(node.body, bound)),)
                case Sum():
                    results = within(node.results, bound)
                    out += (replace(node, body=within(node.body, bound), results=results),)
                case _:
                    out += (node,)
        return out

    return replace(kernel, body=within(kernel.body, set()))


def _stride(element: Element, counter: str, extents: tuple[str, ...]) -> str | None:
    """How many elements an element moves with each iteration of a loop; none if not always the same."""
    places = [number for number, each in enumerate(element.subscripts) if counter in words(each)]
    if len(places) != 1 or "[" in element.subscripts[places[0]]:
        return None
    terms = element.subscripts[places[0]].replace(" - ", " + ").split(" + ")
    if terms.count(counter) != 1 or any(counter in words(each) for each in terms if each != counter):
        return None
    return " * ".join(f"({each})" for each in extents[places[0] + 1 :]) or "1"


def walking(*, inline: bool) -> Pass:
    """Pointers that move along with innermost loops; read and moved at once (``*p++``) if ``inline``."""

    def apply(kernel: Kernel) -> Kernel:
        written = _written(kernel)

        def change(node: Node) -> Body:
            if not isinstance(node, Loop) or not innermost(node) or node.form != "for" or node.step != 1:
                return (node,)
            return _walked(node, kernel, written, inline)

        return replace(kernel, body=rewritten(kernel.body, change))

    return apply


def _walked(loop: Loop, kernel: Kernel, written: set[str], inline: bool) -> Body:
    found: dict[str, tuple[str, str, Element]] = {}
    count: dict[str, int] = {}
    for text in texts(loop.body):
        for element in elements(text, kernel.arrays):
            stride = _stride(element, loop.counter, kernel.arrays[element.array])
            if stride is not None:
                name = f"p_{element.array}{len(found)}"
                found.setdefault(_nested(element), (name, stride, element))
                count[_nested(element)] = count.get(_nested(element), 0) + 1
    at_once = {
        each for each, (_, stride, _) in found.items() if inline and stride == "1" and count[each] == 1
    }
    if not found or any(isinstance(each, When) for each in nodes(loop.body)):
        return (loop,)

    def write(element: Element) -> str:
        whole = _nested(element)
        if whole not in found:
            return whole
        return f"*{found[whole][0]}++" if whole in at_once else f"*{found[whole][0]}"

    body = in_text(loop.body, lambda text: with_elements(text, kernel.arrays, write))
    pointers = []
    for whole, (name, stride, element) in found.items():
        subscripts = tuple(_at(each, loop) for each in element.subscripts)
        start = "&" + _nested(replace(element, subscripts=subscripts))
        const = "" if element.array in written else "const "
        pointers.append(Define(name, start, f"{const}{kernel.type_of(element.array)} *"))
        if whole not in at_once:
            body += (Assign(name, "+=", stride),)
    return (When("", (*pointers, replace(loop, body=body))),)


def _at(subscript: str, loop: Loop) -> str:
    """A subscript in the first iteration of ``loop``."""
    if subscript == loop.counter:
        return loop.first
    first = loop.first if loop.first.isalnum() else f"({loop.first})"
    return " ".join(first if each == loop.counter else each for each in subscript.split(" "))
