"""Loop programs as C text."""

from __future__ import annotations

import re

from benchmarks.styles.tree import Assign, Body, Buffer, Define, Line, Loop, Node, Sum, When, While

_LABEL = "again_"


def text(body: Body, kind: str) -> str:
    """The C statements of a function's ``body``; ``kind`` is the kernel's type."""
    return _with_numbers(_text(body, kind))


def _with_numbers(text: str) -> str:
    """``text`` with numbers behind labels: each loop that jumps back has its own."""
    open_labels: list[int] = []
    parts = re.split(rf"(goto {_LABEL}|{_LABEL})", text)
    numbers = 0
    for place, part in enumerate(parts):
        if part == _LABEL:
            numbers += 1
            open_labels.append(numbers)
            parts[place] = f"{part}{numbers}"
        elif part == f"goto {_LABEL}":
            parts[place] = f"{part}{open_labels.pop()}"
    return "".join(parts)


def _text(body: Body, kind: str) -> str:
    return "\n".join(_node(node, kind) for node in body)


def _node(node: Node, kind: str) -> str:
    match node:
        case Assign(operator="++" | "--"):
            return f"{node.target}{node.operator};"
        case Assign():
            return f"{node.target} {node.operator} {node.value};".replace("  ", " ")
        case Define():
            return f"{node.type or kind} {node.name}" + (f" = {node.value};" if node.value else ";")
        case Buffer():
            return f"{kind} {node.name}" + "".join(f"[{each}]" for each in node.extents) + ";"
        case When():
            return (f"if ({node.condition}) " if node.condition else "") + _block(node.body, kind)
        case Sum():
            declared = f"{kind} " if node.declared else ""
            starts = [f"{declared}{name} = {start};" for name, start in node.starts]
            return "\n".join((*starts, _text(node.body, kind), _text(node.results, kind)))
        case Loop():
            return _loop(node, kind)
        case While():
            head = f"for (; {node.condition}; {node.step})" if node.step else f"while ({node.condition})"
            return f"{head} {_block(node.body, kind)}"
        case Line():
            return node.text


def _block(body: Body, kind: str, last: str = "", first: str = "") -> str:
    inside = "\n".join(each for each in (first, _text(body, kind), last) if each)
    return "{\n" + "\n".join("  " + line for line in inside.splitlines()) + "\n}"


def _loop(loop: Loop, kind: str) -> str:
    counter = loop.counter
    start = f"{loop.type} {counter} = {loop.first}".strip() if loop.first != counter else ""
    step = f"{counter}++" if loop.step == 1 else f"{counter} += {loop.step}"
    while_inside = _condition(loop)
    match loop.form:
        case "while":
            return f"{{\n{start};\nwhile ({while_inside}) {_block(loop.body, kind, step + ';')}\n}}"
        case "do":
            guard = _condition(loop).replace(counter, f"({loop.first})", 1)
            again = f"do {_block(loop.body, kind, step + ';')} while ({while_inside});"
            return f"if ({guard}) {{\n{start};\n{again}\n}}"
        case "endless":
            inside = _block(loop.body, kind, step + ";", f"if (!({while_inside})) break;")
            return f"{{\n{start};\nfor (;;) {inside}\n}}"
        case "left":
            guard = _condition(loop).replace(counter, f"({loop.first})", 1)
            inside = _block(loop.body, kind, f"{step};\nif (!({while_inside})) break;")
            return f"if ({guard}) {{\n{start};\nfor (;;) {inside}\n}}"
        case "jumps":
            inside = _block(loop.body, kind, f"{step};\ngoto {_LABEL};")
            return f"{{\n{start};\n{_LABEL}:\nif ({while_inside}) {inside}\n}}"
        case "before":
            head = f"{loop.type} {counter} = {loop.first} - 1; ++{counter} < {loop.end};"
        case "unequal":
            head = f"{start}; {counter} != {loop.end}; {step}"
        case "down":
            last = loop.end.removesuffix(" - 1")
            start = f"{loop.type} {counter} = {last} - {1 if last == loop.end else 2}"
            head = f"{start}; {counter} >= {loop.first}; {counter}--"
        case "down-before":
            head = f"{loop.type} {counter} = {loop.end}; {counter}-- > {loop.first};"
        case "up-to":
            head = f"{start}; {counter} <= {_last(loop)}; {step}"
        case _:
            head = f"{start}; {while_inside}; {step}"
    return f"for ({head}) {_block(loop.body, kind)}"


def _condition(loop: Loop) -> str:
    """Whether there is another iteration; without negative numbers, for counters without a sign."""
    shorter = loop.end.removesuffix(" - 1")
    if shorter != loop.end:
        return f"{loop.counter} + 1 < {shorter}"
    return f"{loop.counter} < {loop.end}"


def _last(loop: Loop) -> str:
    """The last value of the counter."""
    shorter = loop.end.removesuffix(" + 1")
    if shorter != loop.end:
        return shorter
    return f"{loop.end} - 1" if not loop.end.endswith(" - 1") else f"{loop.end[:-4]} - 2"
