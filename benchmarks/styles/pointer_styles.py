"""Elements through pointers: to the rows of arrays, or walking along with the innermost loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

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
    While,
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


@dataclass(frozen=True, slots=True)
class Along:
    """The elements that move with a loop by their text: the name of a pointer for each, and its stride."""

    loop: Loop
    found: Mapping[str, tuple[str, str, Element]]

    def start(self, element: str) -> str:
        """The text of an element in the first iteration."""
        _, _, each = self.found[element]
        return _nested(replace(each, subscripts=tuple(_at(part, self.loop) for part in each.subscripts)))

    def body(self, kernel: Kernel, write: Callable[[str], str]) -> Body:
        """The body of the loop with each of these elements as it is to be written."""

        def element(each: Element) -> str:
            whole = _nested(each)
            return write(whole) if whole in self.found else whole

        return in_text(self.loop.body, lambda text: with_elements(text, kernel.arrays, element))


def elements_along(loop: Loop, kernel: Kernel) -> Along:
    """The elements that move with ``loop`` by a stride that is always the same."""
    found: dict[str, tuple[str, str, Element]] = {}
    for text in texts(loop.body):
        for element in elements(text, kernel.arrays):
            stride = _stride(element, loop.counter, kernel.arrays[element.array])
            if stride is not None:
                found.setdefault(_nested(element), (f"p_{element.array}{len(found)}", stride, element))
    return Along(loop, found)


def _walked(loop: Loop, kernel: Kernel, written: set[str], inline: bool) -> Body:
    along = elements_along(loop, kernel)
    if not along.found or any(isinstance(each, When) for each in nodes(loop.body)):
        return (loop,)
    count = [_nested(each) for text in texts(loop.body) for each in elements(text, kernel.arrays)]
    at_once = {
        each
        for each, (_, stride, _) in along.found.items()
        if inline and stride == "1" and count.count(each) == 1
    }
    body = along.body(kernel, lambda each: f"*{along.found[each][0]}{'++' if each in at_once else ''}")
    pointers = []
    for whole, (name, stride, element) in along.found.items():
        const = "" if element.array in written else "const "
        kind = f"{const}{kernel.type_of(element.array)} *"
        pointers.append(Define(name, f"&{along.start(whole)}", kind))
        if whole not in at_once:
            body += (Assign(name, "+=", stride),)
    return (When("", (*pointers, replace(loop, body=body))),)


def _counts_only(node: Node) -> tuple[Body, Loop] | None:
    """The pointers and the loop of a block in which pointers walk, if the counter does nothing else."""
    if not isinstance(node, When) or node.condition or not node.body:
        return None
    *pointers, loop = node.body
    if not isinstance(loop, Loop) or not all(
        isinstance(each, Define) and each.type.endswith("*") for each in pointers
    ):
        return None
    used = any(loop.counter in words(text) for text in texts(loop.body))
    return None if used or not pointers else (tuple(pointers), loop)


def _length(loop: Loop) -> str:
    end = loop.end if loop.end.isalnum() else f"({loop.end})"
    return loop.end if loop.first == "0" else f"{end} - {_operand(loop.first)}"


def _operand(text: str) -> str:
    return text if text.isalnum() else f"({text})"


def counted_down(kernel: Kernel) -> Kernel:
    """Pointers that walk while a variable counts down what is left."""

    def change(node: Node) -> Body:
        found = _counts_only(node)
        if found is None:
            return (node,)
        pointers, loop = found
        left = Define("left", _length(loop), "int")
        return (When("", (*pointers, left, While("left-- > 0", loop.body))),)

    return replace(kernel, body=rewritten(walking(inline=True)(kernel).body, change))


def up_to_pointers(kernel: Kernel) -> Kernel:
    """Pointers that walk until the first of them is at an end."""

    def change(node: Node) -> Body:
        found = _counts_only(node)
        if found is None:
            return (node,)
        pointers, loop = found
        text = " ".join(texts(loop.body))
        first = next(
            (each for each in pointers if isinstance(each, Define) and f"*{each.name}++" in text), None
        )
        if first is None:
            return (node,)
        last = Define("last", f"{first.name} + {_operand(_length(loop))}", first.type)
        return (When("", (*pointers, last, While(f"{first.name} < last", loop.body))),)

    return replace(kernel, body=rewritten(walking(inline=True)(kernel).body, change))


def numbered(kernel: Kernel) -> Kernel:
    """Innermost loops that count elements of whole arrays, one number for each of the elements."""
    arrays: dict[str, None] = {}
    written = _written(kernel)
    count = itertools.count()

    def change(node: Node) -> Body:
        if not isinstance(node, Loop) or not innermost(node) or node.form != "for" or node.step != 1:
            return (node,)
        along = elements_along(node, kernel)
        own = f"at{next(count) or ''}_"  # loops around this one count, too
        numbers = {each: name.replace("p_", own) for each, (name, _, _) in along.found.items()}
        body = along.body(kernel, lambda each: f"all_{along.found[each][2].array}[{numbers[each]}]")
        fast = next((each for each, (_, stride, _) in along.found.items() if stride == "1"), None)
        if fast is None or any(node.counter in words(text) for text in texts(body)):
            return (node,)
        arrays.update(dict.fromkeys(each.array for _, _, each in along.found.values()))
        starts = {each: f"&{along.start(each)} - all_{along.found[each][2].array}" for each in along.found}
        names = tuple(Define(numbers[each], starts[each], "long") for each in along.found)
        last = Define("last", f"{numbers[fast]} + {_operand(_length(node))}", "long")
        steps = (
            f"{numbers[each]}++" if stride == "1" else f"{numbers[each]} += {stride}"
            for each, (_, stride, _) in along.found.items()
        )
        return (When("", (*names, last, While(f"{numbers[fast]} < last", body, ", ".join(steps)))),)

    body = rewritten(kernel.body, change)
    pointers = []
    for array in arrays:
        kind = f"{'' if array in written else 'const '}{kernel.type_of(array)} *"
        first = f"&{array}" + "[0]" * len(kernel.arrays[array])
        pointers.append(Define(f"all_{array}", first, kind))
    return replace(kernel, body=(*pointers, *body))


def _at(subscript: str, loop: Loop) -> str:
    """A subscript in the first iteration of ``loop``."""
    if subscript == loop.counter:
        return loop.first
    first = loop.first if loop.first.isalnum() else f"({loop.first})"
    return " ".join(first if each == loop.counter else each for each in subscript.split(" "))
