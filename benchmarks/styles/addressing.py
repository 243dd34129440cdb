"""How the elements of arrays are written, and the functions around loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.styles.printing import text
from benchmarks.styles.tree import Element, Function, Kernel, with_elements

Write = Callable[[Element, tuple[str, ...]], str]
"""The C text of an element of an array with these extents."""


@dataclass(frozen=True, slots=True)
class Addressing:
    """``parameter`` makes the parameter of an array from type, name and extents; ``passed`` what is passed.

    ``top`` stands before all functions, ``first`` makes what stands before the loops for each array. With
    ``outside``, the arrays are variables of the program.
    """

    write: Write
    parameter: Callable[[str, str, tuple[str, ...]], str]
    passed: Callable[[str, tuple[str, ...]], str] = lambda name, _: f"(void *){name}"
    top: str = ""
    first: Callable[[str, str, tuple[str, ...]], str] | None = None
    outside: bool = False


def _nested(element: Element, _: tuple[str, ...]) -> str:
    return element.array + "".join(f"[{each}]" for each in element.subscripts)


def _factor(text: str) -> str:
    """An expression as a factor, in parentheses where it needs them."""
    return text if text.isalnum() or (text[0] == "(" and text.find(")") == len(text) - 1) else f"({text})"


def _offset(subscripts: tuple[str, ...], extents: tuple[str, ...], cast: str = "") -> str:
    """The number of an element in its array."""
    offset, *rest = subscripts
    if cast:
        offset = f"{cast}{_factor(offset)}"
    for extent, each in zip(extents[1:], rest, strict=True):
        last = f"{cast}{_factor(each)}" if cast else each
        offset = f"{_factor(offset) if not cast else offset} * {cast}{_factor(extent)} + {last}"
        if cast:
            offset = f"({offset})"
    return offset


def _flat(element: Element, extents: tuple[str, ...]) -> str:
    return f"{element.array}[{_offset(element.subscripts, extents)}]"


def _macro(element: Element, extents: tuple[str, ...]) -> str:
    if len(extents) != 2:
        return _flat(element, extents)
    return f"AT({element.array}, {extents[1]}, {element.subscripts[0]}, {element.subscripts[1]})"


def _wide(element: Element, extents: tuple[str, ...]) -> str:
    if len(extents) != 2:
        return f"{element.array}[{_offset(element.subscripts, extents, '(size_t)')}]"
    return f"WIDE({element.array}, {extents[1]}, {element.subscripts[0]}, {element.subscripts[1]})"


def _leading(element: Element, extents: tuple[str, ...]) -> str:
    if len(extents) != 2:
        return _flat(element, extents)
    return f"{element.array}[{_factor(element.subscripts[0])} * ld_{element.array} + {element.subscripts[1]}]"


def _struct(access: str) -> Write:
    def write(element: Element, extents: tuple[str, ...]) -> str:
        if len(extents) != 2:
            return _flat(element, extents)
        first, second = element.subscripts
        matrix = f"{element.array}{access}"
        return f"{matrix}v[{_factor(first)} * {matrix}cols + {second}]"

    return write


def _pointer(kind: str, name: str, _: tuple[str, ...]) -> str:
    return f"{kind} *{name}"


def _array(kind: str, name: str, extents: tuple[str, ...]) -> str:
    return f"{kind} {name}" + "".join(f"[{each}]" for each in extents)


def _rows(kind: str, name: str, extents: tuple[str, ...]) -> str:
    return f"{kind} (*{name})" + "".join(f"[{each}]" for each in extents[1:])


def _matrix(star: str) -> Callable[[str, str, tuple[str, ...]], str]:
    def parameter(kind: str, name: str, extents: tuple[str, ...]) -> str:
        return f"struct matrix {star}{name}" if len(extents) == 2 else f"{kind} *{name}"

    return parameter


def _made(star: str) -> Callable[[str, tuple[str, ...]], str]:
    def passed(name: str, extents: tuple[str, ...]) -> str:
        if len(extents) != 2:
            return name
        return f"{star}(struct matrix){{{extents[0]}, {extents[1]}, {name}}}"

    return passed


def _with_width(kind: str, name: str, extents: tuple[str, ...]) -> str:
    return f"{kind} *{name}" + (f", int ld_{name}" if len(extents) == 2 else "")


def _and_width(name: str, extents: tuple[str, ...]) -> str:
    return name + (f", {extents[1]}" if len(extents) == 2 else "")


def _view(kind: str, name: str, extents: tuple[str, ...]) -> str:
    tail = "".join(f"[{each}]" for each in extents[1:])
    return f"{kind} (*{name}){tail} = (void *)flat_{name};" if tail else f"{kind} *{name} = flat_{name};"


ADDRESSING = {
    "nested": Addressing(_nested, _array),
    "rows": Addressing(_nested, _rows),
    "flat": Addressing(_flat, _pointer),
    "macro": Addressing(_macro, _pointer, top="#define AT(m, w, i, j) (m)[(i) * (w) + (j)]\n"),
    "wide-macro": Addressing(
        _wide,
        _pointer,
        top="#define WIDE(m, w, i, j) ((m)[(size_t)(i) * (size_t)(w) + (size_t)(j)])\n",
    ),
    "leading": Addressing(_leading, _with_width, _and_width),
    "struct": Addressing(_struct("."), _matrix(""), _made("")),
    "struct-pointer": Addressing(_struct("->"), _matrix("*"), _made("&")),
    "view": Addressing(_nested, lambda kind, name, _: f"{kind} *flat_{name}", first=_view),
    "globals": Addressing(lambda element, extents: f"g_{_flat(element, extents)}", _pointer, outside=True),
}


def functions(kernel: Kernel, addressing: Addressing, name: str) -> str:
    """The C function ``name`` that computes ``kernel``, its loops marked, and what it calls."""

    def written(body: str) -> str:
        return with_elements(
            body, kernel.arrays, lambda each: addressing.write(each, kernel.arrays[each.array])
        )

    def parameters(arrays: list[str], more: tuple[tuple[str, str], ...] = ()) -> str:
        parts = [addressing.parameter(kernel.type_of(each), each, kernel.arrays[each]) for each in arrays]
        return ", ".join(("int n", *parts, *(f"{kind} {each}" for kind, each in more)))

    def called(function: Function) -> str:
        body = written(text(function.body, kernel.type)) + f"\nreturn {function.result};"
        taken = parameters(list(function.arrays), function.scalars)
        return f"static {kernel.type} {function.name}_{name}({taken})\n{{\n{body}\n}}\n"

    body = written(text(kernel.body, kernel.type))
    callees = "".join(called(each) for each in kernel.functions)
    for each in kernel.functions:
        body = body.replace(f"{each.name}(", f"{each.name}_{name}(")
    first = ""
    if addressing.first is not None:
        for array, extents in kernel.arrays.items():
            first += addressing.first(kernel.type_of(array), array, extents) + "\n"
    marked = f"#pragma scop\n{body}\n#pragma endscop\n"
    if addressing.outside:
        callees += f"__attribute__((noinline)) void {name}_loops(int n)\n{{\n{marked}}}\n"
        marked = "".join(f"g_{each} = {each};\n" for each in kernel.arrays) + f"{name}_loops(n);\n"
    head = f"__attribute__((noinline)) void {name}({parameters(list(kernel.arrays))})"
    return f"{callees}{head}\n{{\n{first}{marked}}}\n"
