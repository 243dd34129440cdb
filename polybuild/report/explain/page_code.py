"""C on the page of an explanation: the source of a region, the new loops, the kernels of a device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from polybuild.codegen.c.layout import CodeLine
from polybuild.codegen.device.model import DeviceText
from polybuild.diagnostics import Diagnostic
from polybuild.driver.details import Details
from polybuild.report.explain.gather import Explained

_TOKENS = re.compile(
    r"(?P<c>/\*.*?\*/|//[^\n]*)|(?P<s>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')"
    r"|(?P<p>^[ \t]*\#[^\n]*|\bPOLYBUILD_OMP\((?:[^()\n]|\([^()\n]*\))*\)|\bPOLYBUILD_SIMD(?:_IN\(\d+\)|\b))"
    r"|(?P<w>\b(?:auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if"
    r"|inline|int|long|register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union"
    r"|unsigned|void|volatile|while|_Bool|_Complex)\b)",
    re.DOTALL | re.MULTILINE,
)


def source(explained: Explained) -> str:
    """The text of a region; where it is kept, each line that stands in the way with a caret below it."""
    begin = explained.report.line
    lines = explained.details.original.splitlines() if explained.details else explained.source
    if not lines:
        return ""
    carets: dict[int | None, list[str]] = {}
    if explained.details is None:
        for each in explained.diagnostics:
            if each.location.file == explained.report.file:
                carets.setdefault(each.location.line, []).append(_caret(each))
    return _code("the source", list(enumerate(lines, begin)), carets)


def generated(details: Details) -> str:
    """The new loops, each line with the number of that of the source which it belongs to."""
    numbered = [
        (line.source or None if isinstance(line, CodeLine) else None, each)
        for line in details.text.loops
        for each in line.split("\n")
    ]
    where = " (where there is no device)" if details.text.kernels else ""
    return _code(f"the new loops{where}, with the source line that each belongs to", numbered)


def kernels(device: DeviceText) -> str:
    """The kernels of a region, and what launches them."""
    texts = [line for kernel in device.kernel_texts for line in kernel.splitlines()]
    host = [line for text in device.lines for line in text.splitlines()]
    called = [line for function in device.functions.values() for line in function.splitlines()]
    return _code("the kernels", [(None, line) for line in [*called, *texts]]) + _code(
        "what launches them", [(None, line) for line in host]
    )


def _caret(diagnostic: Diagnostic) -> str:
    blanks = " " * max(diagnostic.location.column - 1, 0)
    return f'{blanks}<span class="bad">^ {escape(diagnostic.message)}</span>'


def _code(
    title: str,
    numbered: Sequence[tuple[int | None, str]],
    below: dict[int | None, list[str]] | None = None,
) -> str:
    """A figure with lines of C, each with its number; ``below`` has lines of HTML to put under some."""
    width = max((len(str(number)) for number, _ in numbered if number), default=1)
    text = _coloured("\n".join(line for _, line in numbered)).split("\n")
    lines = []
    for (number, _), line in zip(numbered, text, strict=True):
        lines.append(f'<span class="n">{str(number or "").rjust(width)} </span>{line}')
        lines += [f"{' ' * (width + 1)}{each}" for each in (below or {}).get(number, ())]
    joined = "\n".join(lines)
    return f"<figure><figcaption>{escape(title)}</figcaption><pre>{joined}</pre></figure>"


def _coloured(text: str) -> str:
    """C text as HTML, with its comments, strings, directives and keywords told apart."""
    pieces = []
    position = 0
    for match in _TOKENS.finditer(text):
        pieces.append(escape(text[position : match.start()]))
        lines = escape(match.group()).split("\n")
        pieces.append("\n".join(f'<span class="{match.lastgroup}">{line}</span>' for line in lines))
        position = match.end()
    return "".join([*pieces, escape(text[position:])])
