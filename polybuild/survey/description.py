"""A survey as text for a terminal, as a page and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from polybuild.diagnostics import Severity
from polybuild.report.explain.page import whole_page
from polybuild.report.explain.sentences import count
from polybuild.report.explain.terminal import Style
from polybuild.survey.model import Survey, SurveyedNest, Verdict

SCHEMA = "urn:polybuild:survey:1"


def as_text(survey: Survey, style: Style, limit: int) -> str:
    """The totals, and a line for each of the ``limit`` nests that do the most work (0: for all)."""
    lines = [style.bold(_head(survey))]
    shown = survey.nests[: limit or None]
    rows = [(_percent(each), _expected(each), _place(each)) for each in shown]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for each, row in zip(shown, rows, strict=True):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines += style.wrapped(f"  {cells}  {_painted(each, style)}")
    if len(shown) < len(survey.nests):
        lines.append(f"  and {len(survey.nests) - len(shown)} more, which do less (--limit 0 tells of all)")
    lines += _totals(survey)
    lines += [f"{each.path}: not looked at: {each.problem}" for each in survey.files if each.problem]
    return "\n".join(lines) + "\n"


def as_page(survey: Survey) -> str:
    """The same as a page of HTML, with all nests."""
    body = [f"<h1>{escape(_head(survey))}</h1>"]
    body += [f"<p>{escape(line)}</p>" for line in _totals(survey)]
    body.append("<table><tr><th>work</th><th>expected</th><th>loops</th><th></th></tr>")
    for each in survey.nests:
        kind = "good" if each.gains else "bad" if each.verdict is Verdict.KEPT else "faint"
        body.append(
            f"<tr><td>{_percent(each)}</td><td>{_expected(each)}</td><td><code>{escape(_place(each))}</code></td>"
            f'<td class="{kind}">{escape(_said(each))}</td></tr>'
        )
    body.append("</table>")
    body += [
        f"<p>{escape(each.path)}: not looked at: {escape(each.problem)}</p>"
        for each in survey.files
        if each.problem
    ]
    return whole_page([each.path for each in survey.files], ["\n".join(body)], "survey")


def as_json(survey: Survey) -> bytes:
    """The same for tools: schemas/survey.json says what is in it."""
    record = {
        "schema": SCHEMA,
        "nests": list(map(_record, survey.nests)),
        "files": [
            {"file": each.path, "problem": each.problem, "seconds": each.seconds} for each in survey.files
        ],
    }
    return (json.dumps(record, indent=2) + "\n").encode("ascii")


def _record(each: SurveyedNest) -> Mapping[str, Any]:
    one, every = each.speedups or (None, None)
    return {
        "file": each.file,
        "function": each.nest.function,
        "line": each.nest.first_line,
        "end_line": each.nest.last_line,
        "depth": each.nest.depth,
        "share": each.share,
        "verdict": each.verdict.value,
        "gains": each.gains,
        "one_thread_speedup": one,
        "all_threads_speedup": every,
        "code": each.code,
        "reason": each.reason,
    }


def _head(survey: Survey) -> str:
    numbers = ", ".join(f"{survey.count(verdict)} {verdict.value}" for verdict in Verdict)
    return f"{count(len(survey.nests), 'loop nest')} in {count(len(survey.files), 'file')}: {numbers}"


def _totals(survey: Survey) -> Iterator[str]:
    if survey.nests:
        yield f"{survey.share_that_gains:.0%} of the work is in nests that gain"
    if codes := survey.codes():
        yield "kept because of " + ", ".join(f"{code} ({number})" for code, number in codes)


def _percent(each: SurveyedNest) -> str:
    return f"{each.share:6.1%}"


def _expected(each: SurveyedNest) -> str:
    """How many times as fast a nest is expected to be on one thread, and on all."""
    if each.speedups is None:
        return ""
    one, every = each.speedups
    every = max(one, every)  # one thread runs what threads do not pay for
    return f"{one:.2g} x, {every:.2g} x on threads" if f"{one:.2g}" != f"{every:.2g}" else f"{one:.2g} x"


def _place(each: SurveyedNest) -> str:
    return f"{each.file}:{each.nest.first_line}-{each.nest.last_line} {each.nest.function}"


def _said(each: SurveyedNest) -> str:
    said = ", ".join(filter(None, [" and ".join(each.gains), each.reason]))
    code = f" [{each.code}]" if each.code else ""
    return f"{each.verdict.value}: {said}{code}" if said else each.verdict.value


def _painted(each: SurveyedNest, style: Style) -> str:
    said = _said(each)
    if each.gains:
        return style.good(said)
    kept = each.verdict is Verdict.KEPT
    return style.severity(Severity.WARNING if kept else Severity.REMARK, said)
