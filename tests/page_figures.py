"""The measured figures on the pages for people, and the files of ``benchmarks/results`` that they come from.

A comment before a paragraph, an item or a table says where its figures are from, and how they follow::

    <!-- figures of peers-2026-11-22.txt: 5.9 = mean([gcc] / [polybuild]) -->
    <!-- table of peers-2026-11-22.txt: count([gcc] / [*]) | mean([gcc] / [*]) -->

In the first, each figure stands before what gives it. The second has a part for each column of the page's
table but the first, where a part gives the figures of a cell in order, and ``()`` is none; ``*`` is the name
in the first cell of the row. ``[name]`` is a column of the results, ``[name 2]`` the second of this name;
where a part of a table gives a whole column, the figure is that of the row ``*``. What begins the line above
a table in the file, after ``#``, picks one of several. Figures have to be right to their last digit.
"""

from __future__ import annotations

import json
import math
import operator
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from page_blocks import FENCE, ROOT

RESULTS = ROOT / "benchmarks" / "results"

_NUMBER = r"(?<![\w.,/^-])\d+(?:\.\d+)?(?![\w/]|[.,]\d)"
_UNIT = (
    r"(?: ?(?:ms|µs|us|ns|s|seconds|milliseconds|minutes|GB/s|GFLOP/s|%)(?!\w)"
    r"| times (?:as|slower|faster|the|longer)| of the time)"
)
_MEASURED = re.compile(rf"{_NUMBER}(?={_UNIT}| (?:to|and) {_NUMBER}{_UNIT})|(?=\d+\.\d){_NUMBER}")
_VERSION = r"\b(?:Python|CMake|PoCL|gcc|clang|glibc|SARIF|OpenMP|version|sections?|table|before|from|C) $"
_COMMENT = re.compile(r"<!-- (?P<kind>figures|table) of (?P<file>[^:]+):\s(?P<rules>.*?)\s*-->\s*", re.DOTALL)


@dataclass(frozen=True)
class Column:
    """The numbers of one column, by number of the row; arithmetic is by rows that both have."""

    cells: dict[int, float]

    def _with(self, other: Column | float, rule: Callable[[float, float], float]) -> Column:
        if not isinstance(other, Column):
            return Column({row: rule(cell, other) for row, cell in self.cells.items()})
        both = self.cells.keys() & other.cells.keys()
        return Column({row: rule(self.cells[row], other.cells[row]) for row in sorted(both)})

    def __truediv__(self, other: Column | float) -> Column:
        return self._with(other, operator.truediv)

    def __sub__(self, other: Column | float) -> Column:
        return self._with(other, operator.sub)

    def __mul__(self, other: Column | float) -> Column:
        return self._with(other, operator.mul)

    def below(self, limit: float) -> Column:
        """The cells that are less."""
        return Column({row: cell for row, cell in self.cells.items() if cell < limit})

    def above(self, limit: float) -> Column:
        """The cells that are more."""
        return Column({row: cell for row, cell in self.cells.items() if cell > limit})

    def where(self, other: Column, value: float) -> Column:
        """The cells of the rows in which ``other`` is ``value``."""
        return Column({row: cell for row, cell in self.cells.items() if other.cells.get(row) == value})

    def rows_of(self, other: Column) -> Column:
        """The cells of the rows that ``other`` has, too."""
        return Column({row: cell for row, cell in self.cells.items() if row in other.cells})


FUNCTIONS: dict[str, Callable[[Column], float]] = {
    "mean": lambda column: math.exp(statistics.fmean(map(math.log, column.cells.values()))),
    "median": lambda column: statistics.median(column.cells.values()),
    "least": lambda column: min(column.cells.values()),
    "most": lambda column: max(column.cells.values()),
    "count": lambda column: len(column.cells),
}
"""What rules may ask of a column; ``mean`` is the geometric one."""


@dataclass(frozen=True)
class Table:
    """A table of results: the names of its rows, which may repeat, and its columns."""

    names: list[str]
    columns: dict[str, Column]

    def row(self, name: str, column: Column) -> float:
        """The cell of a row, the first if there are several."""
        return column.cells[self.names.index(name)]

    def named(self, column: Column, *names: str) -> Column:
        """The cells of the rows of these names."""
        return Column({row: cell for row, cell in column.cells.items() if self.names[row] in names})

    def figures(self, rule: str, name: str = "") -> list[float]:
        """What a rule gives, in the row ``name`` of a page's table."""
        used: list[Column] = []

        def column(match: re.Match[str]) -> str:
            used.append(self.columns[name if match[1] == "*" else match[1]])
            return f"_used[{len(used) - 1}]"

        known = FUNCTIONS | {"row": self.row, "named": self.named, "_used": used}
        found = eval(re.sub(r"\[([^]]+)\]", column, rule.replace('"*"', repr(name))), known)  # noqa: S307 -- rules of our own pages
        parts = found if isinstance(found, tuple) else (found,)
        return [self.row(name, each) if isinstance(each, Column) else each for each in parts]


def results(name: str) -> Table:
    """The table in a file of results, ``FILE`` or ``FILE#what begins the line above it``."""
    file, _, title = name.partition("#")
    text = (RESULTS / file).read_text("utf-8")
    if not file.endswith(".json"):
        return _table(text[text.index(f"\n{title}") + 1 if title else 0 :].splitlines()[bool(title) :])
    return _table_of_records(next(each for each in json.loads(text).values() if isinstance(each, list)))


def _table_of_records(records: Sequence[dict[str, Any]]) -> Table:
    """Of records whose first field is the name; ``[field of list]`` is the median in a list of records."""
    columns: dict[str, dict[int, float]] = {}
    for number, record in enumerate(records):
        for field, value in record.items():
            if isinstance(value, float | int):
                columns.setdefault(field, {})[number] = value
            elif isinstance(value, list):
                for part in value[0]:
                    found = statistics.median(each[part] for each in value)
                    columns.setdefault(f"{part} of {field}", {})[number] = found
    names = [str(next(iter(record.values()))) for record in records]
    return Table(names, {name: Column(cells) for name, cells in columns.items()})


def _table(lines: Sequence[str]) -> Table:
    """The first table: a head without numbers, rows with as many cells, two spaces or a bar between them."""
    cells = [re.split(r" {2,}|\s*\|\s*", line.strip(" |")) for line in lines]
    start = next(
        number
        for number, (head, row) in enumerate(pairwise(cells))
        if len(head) == len(row) > 1 and not any(map(_number, head)) and any(map(_number, row))
    )
    end = next((number for number in range(start, len(cells)) if cells[number] == [""]), len(cells))
    rows = [row for row in cells[start + 1 : end] if len(row) == len(cells[start])]
    return Table(
        [row[0] for row in rows],
        {
            name: Column(
                {number: float(row[place]) for number, row in enumerate(rows) if _number(row[place])}
            )
            for place, name in enumerate(_distinct(cells[start]))
        },
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, where the second of a name has a 2."""
    before = [names[:place].count(name) for place, name in enumerate(names)]
    return [f"{name} {count + 1}" if count else name for name, count in zip(names, before, strict=True)]


def _number(cell: str) -> bool:
    return bool(re.fullmatch(r"\d+(\.\d+)?(e-?\d+)?", cell))


@dataclass(frozen=True)
class Part:
    """A paragraph, an item or a table of a page, and the comment before it; empty if there is none."""

    page: str
    kind: str
    file: str
    rules: str
    text: str

    def measured(self) -> list[str]:
        """What may be the figures of measurements in it."""
        text = re.sub(r"`[^`]*`", lambda code: " " * len(code[0]), self.text)
        return [each[0] for each in _MEASURED.finditer(text) if not re.search(_VERSION, text[: each.start()])]

    def wrong(self) -> Iterator[str]:
        """What is not as its results give it, a line each."""
        table = results(self.file)
        for shown, rule, name in self._table_rules() if self.kind == "table" else self._rules():
            figures = re.findall(_NUMBER, shown)
            given = table.figures(rule, name)
            if len(figures) != len(given) or not all(map(_right, figures, given)):
                yield f"{self.page}: {name} {shown} is {', '.join(f'{each:.4g}' for each in given)}: {rule}"

    def _rules(self) -> Iterator[tuple[str, str, str]]:
        for each in self.rules.split("; "):
            shown, _, rule = each.partition(" = ")
            yield (
                shown if re.search(rf"(?<![\w.]){re.escape(shown)}(?![\w]|\.\d)", self.text) else "none",
                rule,
                "",
            )

    def _table_rules(self) -> Iterator[tuple[str, str, str]]:
        rules = self.rules.split(" | ")
        for line in self.text.strip().splitlines()[2:]:
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            for cell, rule in zip(cells, rules, strict=True):
                yield cell, rule, name

    def without(self) -> list[str]:
        """The figures that no rule has."""
        if self.kind == "table":
            return []
        known = [each.partition(" = ")[0] for each in self.rules.split("; ")] if self.kind else []
        return [each for each in self.measured() if each not in known]


def _right(shown: str, value: float) -> bool:
    """Whether a figure is a value, as exactly as it is shown."""
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - value) <= 0.5 * 10**-digits * (1 + 1e-9)


def parts_of(text: str, page: str = "") -> Iterator[Part]:
    """The parts of a page, without its blocks of code."""
    apart = _COMMENT.sub(lambda found: f"\n\n{found[0].rstrip()}\n", FENCE.sub("", text))
    for each in re.split(r"\n{2,}|(?<!-->)\n(?= *[-*] )", apart):
        if mark := _COMMENT.match(each):
            yield Part(page, mark["kind"], mark["file"], " ".join(mark["rules"].split()), each[mark.end() :])
        else:
            yield Part(page, "", "", "", each)
