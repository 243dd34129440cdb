"""How the elements of arrays are written, and the functions around loops."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.styles.printing import text
from benchmarks.styles.tree import Element, Function, Kernel, with_elements

Write = Callable[[Element, tuple[str, ...]], str]
"""The C text of an element of an array with these extents."""


@dataclass(frozen=True, slots=True)
class Addressing:
    """``parameter`` makes the parameter of an array from type, name and extents; ``passed`` what is passed.

    ``top`` stands before all functions, ``first`` makes what stands before the loops for each array.
    ``apart`` says how a function of their own is called where that has other parameters.
    """

    write: Write
    parameter: Callable[[str, str, tuple[str, ...]], str]
    passed: Callable[[str, tuple[str, ...]], str] = lambda name, _: f"(void *){name}"
    top: str = ""
    first: Callable[[str, str, tuple[str, ...]], str] | None = None
    apart: Callable[[Kernel, str], Apart] | None = None


@dataclass(frozen=True, slots=True)
class Apart:
    """A function with loops: what is declared before it, its ``parameters``, what is done before its call.

    ``passed`` are its arguments, ``size`` is what it has for ``n``.
    """

    parameters: str
    passed: str
    before: str = ""
    declared: str = ""
    size: str = "n"


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


def _from_one(subscript: str) -> str:
    """A subscript that counts from zero, as one that counts from one."""
    found = re.fullmatch(r"\((\w+) - 1\)", subscript)
    return found[1] if found else f"{subscript} + 1"


def _fortran(element: Element, extents: tuple[str, ...]) -> str:
    """Columns first, and from one."""
    if len(extents) != 2:
        return _flat(element, extents)
    row, column = map(_from_one, element.subscripts)
    return f"FORTRAN({element.array}, {extents[1]}, {column}, {row})"


def _one_based(element: Element, extents: tuple[str, ...]) -> str:
    if len(extents) > 2:
        return _flat(element, extents)
    subscripts = ", ".join(map(_from_one, element.subscripts))
    width = f"{extents[1]}, " if len(extents) == 2 else ""
    return f"{'MATRIX' if width else 'VECTOR'}({element.array}, {width}{subscripts})"


def _shifted(element: Element, extents: tuple[str, ...]) -> str:
    """From one, by pointers that were moved before."""
    if len(extents) > 2:
        return _flat(element, extents)
    *row, column = map(_from_one, element.subscripts)
    start = f" + {_factor(row[0])} * {element.array}_dim1" if row else ""
    return f"{element.array}[{column}{start}]"


def _move(_: str, name: str, extents: tuple[str, ...]) -> str:
    if len(extents) > 2:
        return ""
    if len(extents) == 1:
        return f"--{name};"
    return f"int {name}_dim1 = {extents[1]}, {name}_offset = 1 + {name}_dim1;\n{name} -= {name}_offset;"


def _got(element: Element, _: tuple[str, ...]) -> str:
    return f"*{element.array}_at_FUNCTION(job, {', '.join(element.subscripts)})"


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


def _globals(kernel: Kernel, _: str) -> Apart:
    return Apart("int n", "n", "".join(f"g_{each} = {each};\n" for each in kernel.arrays))


def _by_address(kernel: Kernel, _: str) -> Apart:
    """All parameters by their addresses, as in Fortran."""
    arrays = [f"{kernel.type_of(each)} *{each}" for each in kernel.arrays]
    return Apart(", ".join(("int *size", *arrays)), ", ".join(("&n", *kernel.arrays)), size="(*size)")


def _tables(kernel: Kernel, _: str) -> Apart:
    """Pointers to rows in tables."""
    parameters, passed, before = ["int n"], ["n"], ""
    for each, extents in kernel.arrays.items():
        kind = kernel.type_of(each)
        if len(extents) != 2:
            parameters.append(f"{kind} *{each}")
            passed.append(each)
            continue
        parameters.append(f"{kind} **{each}")
        passed.append(f"rows_{each}")
        height, width = extents
        before += f"{kind} *rows_{each}[{height} + 1];\n"
        before += f"for (int row = 0; row < {height}; row++) rows_{each}[row] = {each} + row * {width};\n"
    return Apart(", ".join(parameters), ", ".join(passed), before)


def _task(kernel: Kernel, name: str) -> Apart:
    """A structure with the size and all arrays."""
    members = "".join(f" {kernel.type_of(each)} *{each};" for each in kernel.arrays)
    values = ", ".join(("n", *kernel.arrays))
    return Apart(
        f"struct task_{name} *job",
        "&task",
        f"struct task_{name} task = {{{values}}};\n",
        f"struct task_{name} {{ int n;{members} }};\n",
        "job->n",
    )


def _getters(kernel: Kernel, name: str) -> Apart:
    """The same, and functions that tell where elements are."""
    plain = _task(kernel, name)
    getters = ""
    for each, extents in kernel.arrays.items():
        subscripts = ("i", "j", "k", "l")[: len(extents)]
        place = re.sub(r"\bn\b", "job->n", _offset(subscripts, extents))
        counters = "".join(f", int {one}" for one in subscripts)
        getters += (
            f"static inline {kernel.type_of(each)} *{each}_at_{name}(struct task_{name} *job{counters})\n"
            f"{{\n  return &job->{each}[{place}];\n}}\n"
        )
    return replace(plain, declared=plain.declared + getters)


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
    "one-based": Addressing(
        _one_based,
        _pointer,
        top="#define VECTOR(v, i) (v)[(i) - 1]\n#define MATRIX(m, w, i, j) (m)[((i) - 1) * (w) + (j) - 1]\n",
    ),
    "fortran": Addressing(
        _fortran, _pointer, top="#define FORTRAN(m, ld, i, j) (m)[((i) - 1) + ((j) - 1) * (ld)]\n"
    ),
    "shifted": Addressing(_shifted, _pointer, first=_move, apart=_by_address),
    "tables": Addressing(
        lambda element, extents: (_nested if len(extents) == 2 else _flat)(element, extents),
        _pointer,
        apart=_tables,
    ),
    "task": Addressing(lambda element, extents: f"job->{_flat(element, extents)}", _pointer, apart=_task),
    "getters": Addressing(_got, _pointer, apart=_getters),
    "globals": Addressing(lambda element, extents: f"g_{_flat(element, extents)}", _pointer, apart=_globals),
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
        body = written(text(function.body, kernel.type))
        body += f"\nreturn {function.result};" if function.result else ""
        taken = parameters(list(function.arrays), function.scalars)
        kind = kernel.type if function.result else "void"
        return f"static {kind} {function.name}_{name}({taken})\n{{\n{body}\n}}\n"

    body = written(text(kernel.body, kernel.type)).replace("_at_FUNCTION(", f"_at_{name}(")
    callees = "".join(called(each) for each in kernel.functions)
    for each in kernel.functions:
        body = body.replace(f"{each.name}(", f"{each.name}_{name}(")
    first = ""
    if addressing.first is not None:
        for array, extents in kernel.arrays.items():
            first += addressing.first(kernel.type_of(array), array, extents) + "\n"
    loops = f"{first}#pragma scop\n{body}\n#pragma endscop\n"
    if addressing.apart is not None:
        apart = addressing.apart(kernel, name)
        loops = re.sub(r"\bn\b", apart.size, loops)
        callees = f"{apart.declared}{callees}"
        callees += f"__attribute__((noinline)) void {name}_loops({apart.parameters})\n{{\n{loops}}}\n"
        loops = f"{apart.before}{name}_loops({apart.passed});\n"
    head = f"__attribute__((noinline)) void {name}({parameters(list(kernel.arrays))})"
    return f"{callees}{head}\n{{\n{loops}}}\n"
