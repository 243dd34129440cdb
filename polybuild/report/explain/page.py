"""The explanation of one file as a page of its own: no scripts, no other files, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape

import islpy as isl

from polybuild.diagnostics import Diagnostic
from polybuild.driver.details import Details
from polybuild.poly.budget import operation_budget
from polybuild.report.explain import page_code, ranks, sentences
from polybuild.report.explain.gather import Explained
from polybuild.report.explain.obstacles import SourceLoop
from polybuild.report.explain.pictures.footprints import footprints
from polybuild.report.explain.pictures.iterations import iteration_space, nests
from polybuild.report.explain.pictures.tiling import tiling
from polybuild.report.explain.pictures.tree import schedule_tree
from polybuild.report.explain.wavefronts import wavefronts
from polybuild.report.record.model import KEPT
from polybuild.scop.model import Statement

_MAXIMUM_OPERATIONS = 2_000_000  # of isl, for one picture: about two seconds
_MAXIMUM_NESTS = 6
_MAXIMUM_OBSTACLES = 12

_STYLE = """
:root{color-scheme:light dark;--ink:#1f2328;--faint:#57606a;--line:#d0d7de;--paper:#fff;--soft:#f6f8fa;
--good:#116329;--bad:#9a3412;--word:#8250df;--note:#6e7781;--text:#0a3069;--mark:#953800}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--faint:#9198a1;--line:#3d444d;--paper:#0d1117;
--soft:#151b23;--good:#3fb950;--bad:#f0883e;--word:#d2a8ff;--note:#8b949e;--text:#a5d6ff;--mark:#ffa657}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;
max-width:1500px;padding:1.5rem}
a{color:var(--text)}h2 code{font-size:.9em}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.6rem 0 .4rem}
code,pre{font:12.5px/1.5 ui-monospace,monospace}
.sides{display:flex;flex-wrap:wrap;gap:1rem}
.sides>figure{flex:1 1 30rem;min-width:0;margin:0}
figcaption{color:var(--faint);font-size:.85rem}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.7rem;overflow:auto;
margin:.2rem 0;max-height:40rem}
.n{color:var(--faint);user-select:none}
.w{color:var(--word)}.c{color:var(--note);font-style:italic}.s{color:var(--text)}.p{color:var(--mark);font-weight:600}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
.faint{color:var(--faint)}
table{border-collapse:collapse}td:first-child{white-space:nowrap}
td{overflow-wrap:anywhere}summary{cursor:pointer}details code{overflow-wrap:anywhere}
td,th{text-align:left;vertical-align:top;padding:.25rem .9rem .25rem 0;
border-bottom:1px solid var(--line)}
ul{margin:.2rem 0;padding-left:1.2rem}li{margin:.25rem 0}
svg{max-width:100%;height:auto}
@media(max-width:700px){body{padding:.8rem}h1{font-size:1.25rem}h1 code{overflow-wrap:anywhere}
table,tbody,tr,td{display:block}td:first-child{white-space:normal;border:0;padding-bottom:0}
nav td:nth-child(2){border:0;padding:0}ul{padding-left:1rem}
.sides>figure{flex-basis:100%;overflow-x:auto}svg{max-width:none}}
"""


def page(path: str, regions: Sequence[Explained], rest: Sequence[Diagnostic]) -> str:
    """The page of one file, as HTML."""
    return whole_page([path], [file_body(path, regions, rest)])


def file_body(path: str, regions: Sequence[Explained], rest: Sequence[Diagnostic], prefix: str = "") -> str:
    """What a page says of one file; names of places in it begin with ``prefix``."""
    body = [f"<h1>What polybuild makes of <code>{escape(path)}</code></h1>"]
    body += _index(regions, prefix)
    for number, region in enumerate(regions, 1):
        body += _region(region, f"{prefix}region{number}")
    if not regions:
        body.append(
            "<p>No regions: mark loops with <code>#pragma scop</code> and <code>#pragma endscop</code>.</p>"
        )
    body += [_diagnostic(each) for each in rest]
    return "\n".join(body)


def whole_page(paths: Sequence[str], bodies: Sequence[str], command: str = "explain") -> str:
    """The page of several files, of which ``bodies`` say what there is to say, as ``command`` writes it."""
    title = escape(paths[0]) if len(paths) == 1 else sentences.count(len(paths), "file")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}: polybuild {command}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(bodies)
        + "\n</body></html>\n"
    )


def _index(regions: Sequence[Explained], prefix: str) -> Iterator[str]:
    """A line for each of several regions, which leads to it."""
    if len(regions) < 2:
        return
    yield "<nav><table>"
    for number, each in enumerate(regions, 1):
        report = each.report
        kind = "good" if report.gains else "bad" if report.status == KEPT else "faint"
        yield (
            f'<tr><td><a href="#{prefix}region{number}">lines {report.line} to {report.end_line}</a></td>'
            f"<td><code>{escape(report.function)}</code></td>"
            f'<td class="{kind}">{escape(sentences.outcome(report))}</td></tr>'
        )
    yield "</table></nav>"


def _region(explained: Explained, name: str) -> Iterator[str]:
    region, details = explained.report, explained.details
    function = f" in <code>{escape(region.function)}</code>" if region.function else ""
    yield f'<h2 id="{name}">Lines {region.line} to {region.end_line}{function}</h2>'
    fate = region.fate.capitalize()
    if region.status != KEPT:
        said = f"{f' for {escape(region.backend)}' if region.backend else ''}: {sentences.summary(region)}."
        yield f'<p><span class="good">{fate}</span>{said}</p>'
        if expected := sentences.expected(region):
            yield f"<p>{escape(expected.capitalize())}.</p>"
        if expected := sentences.expected_on_device(region):
            yield f"<p>{escape(expected.capitalize())}.</p>"
        if counted := wavefronts(explained):
            yield f"<p>{escape(counted.capitalize())}.</p>"
    else:
        yield f'<p><span class="bad">{fate}.</span></p>'
    yield from (_diagnostic(each) for each in explained.diagnostics)
    yield '<div class="sides">'
    yield page_code.source(explained)
    if details is not None and details.text.kernels is not None:
        yield page_code.kernels(details.text.kernels)
    elif details is not None and details.text.loops:
        yield page_code.generated(details)
    yield "</div>"
    if details is None:
        return
    if details.text.kernels is not None:
        yield "<details><summary>Where there is no device</summary>"
        yield page_code.generated(details)
        yield "</details>"
    yield from _loops(explained.loops)
    yield from _new_loops(details)
    yield from _list("What was done", region.remarks)
    if explained.plan is not None:
        title, lines = ranks.table(explained.plan)
        yield f"<h3>{escape(title.capitalize())}</h3><pre>{escape(chr(10).join(lines))}</pre>"
    yield from _list("Advice", [f"line {each.line}: {each.message}" for each in region.advice])
    yield from _assumptions(details)
    yield from _pictures(details)


def _diagnostic(diagnostic: Diagnostic) -> str:
    hint = f'<br><span class="faint">{escape(diagnostic.hint)}</span>' if diagnostic.hint else ""
    code = f" <code>[{escape(diagnostic.code)}]</code>" if diagnostic.code else ""
    return f"<p>{escape(str(diagnostic.location))}: {escape(diagnostic.message)}{code}{hint}</p>"


def _loops(loops: Sequence[SourceLoop]) -> Iterator[str]:
    """What each loop of the source carries."""
    if not loops:
        return
    yield "<h3>The loops of the source</h3>"
    yield (
        '<p class="faint">A dependence joins two accesses to one element, of which at least one writes.'
        " The outermost loop in which its two iterations differ carries it, and must run them in order;"
        " a loop that carries none is parallel.</p>"
    )
    yield "<table>"
    for loop in loops:
        indent = "&nbsp;" * 4 * (len(loop.names) - 1)
        kind = "bad" if loop.obstacles else "good"
        yield (
            f"<tr><td><code>{indent}{escape(loop.names[-1])}</code> (line {loop.location.line})</td>"
            f'<td><span class="{kind}">{escape(sentences.verdict(loop))}</span>{_obstacles(loop)}</td></tr>'
        )
    yield "</table>"


def _obstacles(loop: SourceLoop) -> str:
    if not loop.obstacles:
        return ""
    items = [
        f"<li>{escape(sentences.dependence(each, loop))}<br>"
        f'<span class="faint">For example: {escape(sentences.example(each))};'
        f" {escape(sentences.ADVICE[each.kind])}.</span></li>"
        for each in loop.obstacles[:_MAXIMUM_OBSTACLES]
    ]
    more = len(loop.obstacles) - _MAXIMUM_OBSTACLES
    items += [f"<li>and {more} more</li>"] if more > 0 else []
    return f"<ul>{''.join(items)}</ul>"


def _new_loops(details: Details) -> Iterator[str]:
    rows = sentences.outline(details)
    if not rows:
        return
    yield "<h3>The new loops in short</h3>"
    lines = [
        "  " * depth + escape(text) + (f'  <span class="good">{escape(run_by)}</span>' if run_by else "")
        for depth, text, run_by in rows
    ]
    yield f"<pre>{chr(10).join(lines)}</pre>"


def _assumptions(details: Details) -> Iterator[str]:
    if not details.text.all_conditions:
        return
    yield "<h3>The original loops run unless</h3><table>"
    for each in details.text.all_conditions:
        if each.compares_addresses:
            told = (
                f"<details><summary>{escape(each.reason)}</summary>"
                f"<code>{escape(each.meaning)}</code></details>"
            )
            yield f"<tr><td>line {each.line}</td><td>{told}</td></tr>"
        else:
            told = f"<code>{escape(each.meaning)}</code>: {escape(each.reason)}"
            yield f"<tr><td>line {each.line}</td><td>{told}</td></tr>"
    yield "</table>"


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"<h3>{title}</h3><ul>" + "".join(f"<li>{escape(each)}</li>" for each in items) + "</ul>"


def _pictures(details: Details) -> Iterator[str]:
    scop = details.scop
    drawn = [
        _drawn(partial(iteration_space, scop, details.dependences, nest))
        for nest in nests(scop)[:_MAXIMUM_NESTS]
    ]
    yield from _figures("Iterations and dependences, in the order of the source", drawn)
    tiles = [
        _drawn(
            partial(_captioned, partial(tiling, details.ordered, details.schedule, _in_order(details, nest)))
        )
        for nest in nests(scop)[:_MAXIMUM_NESTS]
    ]
    yield from _figures("Tiles of the new order", tiles)
    yield from _figures("Elements that are touched", [_drawn(partial(footprints, scop))])
    yield from _figures(
        "The new order as a schedule tree",
        [_drawn(partial(schedule_tree, details.ordered, details.schedule))],
    )


def _figures(title: str, drawn: Sequence[str]) -> Iterator[str]:
    if any(drawn):
        yield f'<h3>{title}</h3><div class="sides">'
        yield from (f"<figure>{each}</figure>" for each in drawn if each)
        yield "</div>"


def _captioned(draw: Callable[[], tuple[str, str]]) -> str:
    """A picture with what is to be said of it."""
    svg, text = draw()
    return f"{svg}<figcaption>{escape(text)}</figcaption>" if svg else ""


def _in_order(details: Details, nest: Sequence[Statement]) -> list[Statement]:
    """The statements of a loop nest as the new order has them; some may be gone."""
    names = {each.name for each in nest}
    return [each for each in details.ordered.statements if each.name in names]


def _drawn(draw: Callable[[], str]) -> str:
    """A picture; empty if it takes too long, or there is nothing finite to draw."""
    try:
        with operation_budget(_MAXIMUM_OPERATIONS):
            return draw()
    except isl.Error:
        return ""
