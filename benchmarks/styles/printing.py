"""Loop programs as C text."""

from __future__ import annotations

from benchmarks.styles.tree import Assign, Body, Buffer, Define, Loop, Node, Sum, When


def text(body: Body, kind: str) -> str:
    """The C statements of ``body``; ``kind`` is the kernel's type."""
    return "\n".join(_node(node, kind) for node in body)


def _node(node: Node, kind: str) -> str:
    match node:
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
            return "\n".join((*starts, text(node.body, kind), text(node.results, kind)))
        case Loop():
            return _loop(node, kind)


def _block(body: Body, kind: str, last: str = "") -> str:
    inside = text(body, kind) + (f"\n{last}" if last else "")
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
