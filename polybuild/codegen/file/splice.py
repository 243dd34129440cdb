"""The transformed file: the user's text with each transformed region replaced.

A region becomes one compound statement. ``#line`` directives keep compilers and
debuggers in the user's file everywhere; the file's own line ends are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polybuild.codegen.c.conditions import Condition
from polybuild.codegen.c.layout import (
    WIDTH,
    CodeLine,
    Role,
    belonging,
    closing,
    indented,
    opening,
    side_by_side,
    wrapped,
)
from polybuild.codegen.device.model import DeviceText
from polybuild.codegen.file import adapting, ranks, run_report, verification
from polybuild.codegen.file.adapting import Adapting
from polybuild.codegen.file.hotness import CHANCE, deeper_by, with_chance
from polybuild.codegen.file.line_numbers import ONE_LINE, UserText, numbered, on_one_line
from polybuild.codegen.file.names import quoted
from polybuild.codegen.file.prologue import Helper, prologue
from polybuild.codegen.file.ranks import Agreement
from polybuild.codegen.file.region import RegionText, Stage
from polybuild.codegen.file.residents import Insertion, resident_calls
from polybuild.codegen.file.run_report import RunReport
from polybuild.codegen.file.verification import CHECK, RUNS, Verification
from polybuild.source.inclusions import with_own_names
from polybuild.source.model import Region, ResidentBlock, Source, Span
from polybuild.values import dataclass

_HELPERS = '"polybuild_helpers.h"'  # what lines before the user's belong to
_HOLDS = "pb_holds"
_VERSION = "pb_version"
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Replacement:
    """A region and the code to run instead of it."""

    region: Region
    text: RegionText

    @property
    def report(self) -> RunReport | None:
        """What counts the runs of the region; None if nothing does."""
        return RunReport(self.region, self.text) if self.text.reported else None


def splice(
    source: Source,
    replacements: Sequence[Replacement],
    head: str = "",
    residents: Sequence[ResidentBlock] = (),
    *,
    distributes: bool = False,
    alike: Sequence[Region] = (),
) -> str:
    """The text of the transformed file; the very text of ``source`` if nothing is replaced.

    ``head`` is C text that the generated code needs at the top of the file, ``residents``
    are the blocks that get calls at their ends. In a program that ``distributes`` arrays among ranks, these
    are made whole before what all ranks run alike; ``alike`` are regions that are left as they are.
    """
    if not (replacements or residents or alike):
        return source.text
    name = quoted(source.path)
    newline = "\r\n" if "\r\n" in source.text else "\n"
    text = source.text
    first_line_mark = "\ufeff" if text.startswith("\ufeff") else ""
    checked = any(each.text.verification for each in replacements)
    reports = [each.report for each in replacements if each.report]
    decisions = [(each.region, each.text.decision) for each in replacements]
    adapted = [(region, each) for region, each in decisions if isinstance(each, Adapting)]
    shared = any(isinstance(each, Agreement) for _, each in decisions) or (distributes and bool(residents))
    changes = [
        Insertion(each.region.span, _replaced(each, text, distributes=distributes)) for each in replacements
    ]
    changes += [each for block in residents for each in resident_calls(block, text)]
    changes += [_collecting(each, text) for each in alike]
    helpers = frozenset[Helper]().union(*(each.text.helpers for each in replacements), {ONE_LINE})
    helpers |= {CHANCE} if any(map(_deeper, replacements)) else set()
    head += prologue(helpers) + (verification.prologue() if checked else "")
    head += run_report.prologue(reports) if reports else ""
    head += adapting.prologue(adapted) if adapted else ""
    head += ranks.COLLECT_PROLOGUE if distributes else ""
    head += ranks.PROLOGUE if shared else ""
    pieces = [first_line_mark, _lines(f"#line 1 {_HELPERS}\n{head}#line 1 {name}\n", newline)]
    position = len(first_line_mark)
    for change in sorted(changes, key=lambda each: (each.span.start, each.span.end)):
        pieces += [text[position : change.span.start], _lines(change.text, newline)]
        position = change.span.end
    pieces.append(text[position:])
    if checked:
        pieces.append(_lines(f'\n#line 1 "polybuild_verify.h"\n{verification.epilogue()}', newline))
    if reports or adapted:
        pieces.append(_lines(f'\n#line 1 "polybuild_watch.h"\n{run_report.watch()}', newline))
    if reports:
        pieces.append(_lines(f'\n#line 1 "polybuild_report.h"\n{run_report.epilogue()}', newline))
    if adapted:
        pieces.append(_lines(f'\n#line 1 "polybuild_adapt.h"\n{adapting.epilogue()}', newline))
    if shared:
        pieces.append(_lines(f'\n#line 1 "polybuild_ranks.h"\n{ranks.epilogue()}', newline))
    return with_own_names("".join(pieces), source.names)


@dataclass(frozen=True, slots=True)
class _Versions:
    """What may run of a region: the new ``loops`` or the ``original`` text, or kernels on a ``device``.

    Where a device may, ``worthwhile`` is what the new loops ask besides. Loops that begin kernels themselves
    are those of the region's ``static`` object. The new loops are nested ``deeper`` than the original ones.
    Where control ``leaves`` the region, both tell of the end of a run on the host themselves.
    """

    loops: tuple[str, ...]
    original: tuple[UserText | str, ...]
    device: DeviceText | None
    worthwhile: tuple[Condition, ...]
    static: str = ""
    deeper: int = 0
    leaves: bool = False


def _deeper(replacement: Replacement) -> int:
    """How much deeper the new loops are nested than the original ones that may run instead."""
    text = replacement.text
    return deeper_by(text.outline, replacement.region) if text.all_conditions else 0


def _replaced(replacement: Replacement, text: str, *, distributes: bool) -> str:
    """The compound statement that a region becomes."""
    region, generated, decision = replacement.region, replacement.text, replacement.text.decision
    adapted = decision if isinstance(decision, Adapting) else None
    name = quoted(region.begin.file)
    body = text[region.body.start : region.body.end].replace("\r\n", "\n").rstrip("\n")
    versions = _Versions(
        tuple(indented([*([adapting.RAN] if adapted else []), *generated.loops], _INDENT * 2)),
        (UserText(body, _body_line(region, text)),),
        generated.device,
        generated.worthwhile,
        generated.blocks.name if generated.blocks else "",
        _deeper(replacement),
    )
    lead = "" if _starts_line(text, region.span.start) else "\n"
    begin, end = _host_calls(generated)
    if any(each.leaves for each in generated.stages) and not generated.verification:
        static = generated.host or (generated.device.name if generated.device else "")
        versions, end = _ending(versions, static), [] if generated.host else end
    if distributes and not ranks.takes_its_part(generated.decision, generated.stages, generated.device):
        begin = [f"  {ranks.COLLECT}", *begin]
    report = replacement.report
    if report:
        begin, end = [*report.begin, *begin], [*end, *report.end]
    choosing = adapted.begin(region) if adapted else []
    end = [*(adapted.end if adapted else []), *end]
    condition = _all(generated.conditions, report)
    if generated.host or generated.blocks:
        condition = f"{_asked(f'{_VERSION} == POLYBUILD_OPENMP', report)} && {condition}"
    looking = _looking(condition, generated.stages, report)
    if generated.stages:
        condition = _HOLDS
    if isinstance(decision, Agreement):
        condition = decision.condition(region, condition)
    if generated.verification:
        place = f"{name}, {region.begin.line}"
        chosen = _checked(generated.verification, place, condition, versions, report)
    elif generated.device:
        chosen = _on_device(generated.device, condition, versions, report)
    else:
        chosen = _on_host(condition, versions)
    told = "the new order" if generated.loops else "as they are"
    lines = [
        opening(f"{lead}{{ /* polybuild: lines {region.begin.line} to {region.end.line}, {told} */"),
        *begin,
        *side_by_side(indented(generated.declarations, _INDENT), region.begin.line),
        *choosing,
        *looking,
        *chosen,
        *belonging([*end, closing("")], region.end.line),
    ]
    return numbered(lines, region, after=_next_line(region, text))


def _collecting(region: Region, text: str) -> Insertion:
    """What makes all arrays whole before ``region``, in a line of its own where the region has one."""
    start, begin = region.span.start, region.begin
    line = f"\n#line {begin.line} {quoted(begin.file)}\n" if _starts_line(text, start) else " "
    return Insertion(Span(start, start), f"{ranks.COLLECT}{line}")


def _host_calls(generated: RegionText) -> tuple[list[str], list[str]]:
    """What brings the values of resident arrays home before the host looks at them, and tells of its runs."""
    if generated.host:
        begin = f"  const int {_VERSION} = polybuild_host_begin(&{generated.host}, 0);"
        return [begin], [f"  polybuild_host_end(&{generated.host});"]
    look = ["  polybuild_update_host(0);"] if not all(each.home for each in generated.stages) else []
    if generated.blocks:
        return [f"  const int {_VERSION} = polybuild_wanted();", *look], []
    return look if generated.device else [], []


def _asked(text: str, report: RunReport | None) -> str:
    """That the environment asks for the new loops, which ``text`` says."""
    return report.asked_for(text) if report else text


def _all(conditions: Sequence[Condition], report: RunReport | None) -> str:
    """All of ``conditions``, each with its reason."""
    found: list[str] = []
    for each in conditions:
        lines = wrapped(f"      {'&& ' * bool(found)}{report.noted(each) if report else each.text}", WIDTH)
        found += [*lines[:-1], f"{lines[-1]} /* line {each.line}: {each.reason} */"]
    return on_one_line([found[0].lstrip(), *found[1:]]) if found else "1"


def _looking(condition: str, stages: Sequence[Stage], report: RunReport | None) -> list[str]:
    """The conditions in a variable: ``condition``, then those of each stage, which looks at data before."""
    lines = [f"  int {_HOLDS} = {condition};"] if stages else []
    for stage in stages:
        lines += indented(stage.declarations, _INDENT)
        if stage.lines:
            lines.append(f"  if ({_HOLDS}) {{ /* which elements are touched */")
            lines += indented(stage.lines, _INDENT * 2)
            lines.append(closing(_INDENT))
        lines.append(f"  {_HOLDS} = {_HOLDS} && {_all(stage.conditions, report)};")
    return lines


def _on_host(condition: str, versions: _Versions) -> list[str]:
    """The new loops if ``condition`` holds, else the original ones; these alone where there are no others."""
    if not versions.loops:
        return ["  {", *versions.original, closing(_INDENT)]
    return [
        f"  if ({with_chance(condition, versions.deeper)}) {{",
        *versions.loops,
        CodeLine("  } else { /* the original loops */", role=Role.BETWEEN),
        *_at_home(versions),
        closing(_INDENT),
    ]


def _ending(versions: _Versions, static: str) -> _Versions:
    """``versions`` whose loops may leave before the end of a run on the host, which they tell themselves."""
    if not static or versions.static:
        return versions
    told = f"    polybuild_host_end(&{static});"
    return replace(versions, loops=(*versions.loops, told), original=(told, *versions.original), leaves=True)


def _at_home(versions: _Versions) -> list[UserText | str]:
    """The original loops, which find all values on the host."""
    if not versions.static:
        return [*versions.original]
    begin, end = f"polybuild_host_begin(&{versions.static}, 0);", f"polybuild_host_end(&{versions.static});"
    return [f"    {begin}", *versions.original, f"    {end}"]


def _on_device(
    device: DeviceText, condition: str, versions: _Versions, report: RunReport | None
) -> list[str]:
    """The kernels on ``device``; the new loops where they did not run; else the original ones."""
    applies = f"pb_applies && {device.condition}" if device.condition else "pb_applies"
    asked = _asked(f"polybuild_host_begin(&{device.name}, pb_home) == POLYBUILD_OPENMP", report)
    worthwhile = [_all(versions.worthwhile, report)] if versions.worthwhile else []
    runs_here = " && ".join([asked, "pb_applies", *worthwhile])
    return [
        f"  const int pb_applies = {condition};",
        "  int pb_done = 0, pb_home = 0;",
        f"  if ({applies}) {{ /* on a device */",
        *indented(device.lines, _INDENT * 2),
        closing(_INDENT),
        "  if (!pb_done) {",
        *_on_host(runs_here, versions),
        *([] if versions.leaves else [f"  polybuild_host_end(&{device.name});"]),
        closing(_INDENT),
    ]


def _checked(
    check: Verification, place: str, condition: str, versions: _Versions, report: RunReport | None
) -> list[str]:
    """The new version and then the original one, with the check of what the new one wrote around them.

    Where a device may have run it, the values come home first, and the original text stands once more.
    """

    def walk(*then: str) -> list[str]:
        return [f"  if ({CHECK}) {{", *indented((*check.walk, *then), _INDENT * 2), closing(_INDENT)]

    between = walk(f"polybuild_verify_next({CHECK});")
    device, static = versions.device, versions.static
    before: list[str] = []
    if device:
        home = f"polybuild_host_begin(&{device.name}, 0)"
        before = [f"  if ({CHECK}) {{ {home}; polybuild_host_end(&{device.name}); }}"]
        runs = [
            *_on_device(device, RUNS, versions, report),
            f"  if ({CHECK}) {home};",
            *between,
            *_original_if(CHECK, versions),
            f"  if ({CHECK}) polybuild_host_end(&{device.name});",
        ]
    elif static:
        home = f"polybuild_host_begin(&{static}, 0); polybuild_host_end(&{static});"
        before = [f"  if ({CHECK}) {{ {home} }}"]
        runs = [
            f"  if ({RUNS}) {{",
            *versions.loops,
            closing(_INDENT),
            f"  if (!{RUNS} || {CHECK}) {{ {home} }}",
            *between,
            *_original_if(f"!{RUNS} || {CHECK}", versions),
        ]
    else:
        runs = [
            f"  if ({RUNS}) {{",
            *versions.loops,
            closing(_INDENT),
            *between,
            *_original_if(f"!{RUNS} || {CHECK}", versions),
        ]
    give_up = f"if (!polybuild_verify_next({CHECK})) {{ polybuild_verify_end({CHECK}); {CHECK} = 0; }}"
    differs = f"if (polybuild_verify_differs({CHECK})) polybuild_verify_report({CHECK}, {check.line});"
    return [
        f"  const int {RUNS} = {condition};",
        f"  void *{CHECK} = {RUNS} ? polybuild_verify_begin({place}, {check.tolerance}) : 0;",
        *before,
        *walk(give_up),
        *runs,
        *walk(differs, f"polybuild_verify_end({CHECK});"),
    ]


def _original_if(condition: str, versions: _Versions) -> list[str]:
    return [f"  if ({condition}) {{ /* the original loops */", *versions.original, closing(_INDENT)]


def _starts_line(text: str, offset: int) -> bool:
    return offset == 0 or text[offset - 1] == "\n"


def _body_line(region: Region, text: str) -> int:
    """The line that the region's body starts on."""
    return region.begin.line + text.count("\n", region.span.start, region.body.start)


def _next_line(region: Region, text: str) -> int:
    """The line of what follows the region."""
    return _body_line(region, text) + text.count("\n", region.body.start, region.span.end)


def _lines(text: str, newline: str) -> str:
    return text if newline == "\n" else text.replace("\n", newline)
