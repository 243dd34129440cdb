"""The transformed file: the user's text with each transformed region replaced.

A region becomes one compound statement. ``#line`` directives keep compilers and
debuggers in the user's file everywhere; the file's own line ends are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polybuild.codegen.c.conditions import Condition
from polybuild.codegen.device.host import DeviceText
from polybuild.codegen.file import verification
from polybuild.codegen.file.names import quoted
from polybuild.codegen.file.prologue import prologue
from polybuild.codegen.file.region import RegionText, Stage
from polybuild.codegen.file.residents import Insertion, resident_calls
from polybuild.codegen.file.verification import CHECK, RUNS, Verification
from polybuild.source.model import Region, ResidentBlock, Source

_HOLDS = "pb_holds"
_VERSION = "pb_version"


@dataclass(frozen=True, slots=True)
class Replacement:
    """A region and the code to run instead of it."""

    region: Region
    text: RegionText


def splice(
    source: Source,
    replacements: Sequence[Replacement],
    head: str = "",
    residents: Sequence[ResidentBlock] = (),
) -> str:
    """The text of the transformed file; the very text of ``source`` if nothing is replaced.

    ``head`` is C text that the generated code needs at the top of the file, ``residents``
    are the blocks that get calls at their ends.
    """
    if not replacements and not residents:
        return source.text
    name = quoted(source.path)
    newline = "\r\n" if "\r\n" in source.text else "\n"
    helpers = frozenset().union(*(each.text.helpers for each in replacements))
    text = source.text
    first_line_mark = "\ufeff" if text.startswith("\ufeff") else ""
    checked = any(each.text.verification for each in replacements)
    head += prologue(helpers) + (verification.prologue() if checked else "")
    pieces = [first_line_mark, _lines(f"{head}#line 1 {name}\n", newline)]
    position = len(first_line_mark)
    changes = [Insertion(each.region.span, _replaced(each, text)) for each in replacements]
    changes += [each for block in residents for each in resident_calls(block, text)]
    for change in sorted(changes, key=lambda each: (each.span.start, each.span.end)):
        pieces += [text[position : change.span.start], _lines(change.text, newline)]
        position = change.span.end
    pieces.append(text[position:])
    if checked:
        pieces.append(_lines(f'\n#line 1 "polybuild_verify.h"\n{verification.epilogue()}', newline))
    return "".join(pieces)


def _replaced(replacement: Replacement, text: str) -> str:
    """The compound statement that a region becomes."""
    region, generated = replacement.region, replacement.text
    name = quoted(region.begin.file)
    indent = "  "
    original = text[region.body.start : region.body.end].replace("\r\n", "\n").rstrip("\n")
    lead = "" if _starts_line(text, region.span.start) else "\n"
    condition = _all(generated.conditions)
    begun, ended = _told(generated)
    if begun:
        condition = f"{_VERSION} == POLYBUILD_OPENMP\n      && {condition}"
    looked = _looked(condition, generated.stages)
    if looked:
        condition = _HOLDS
    loops = [line if line.startswith("#") else f"{indent * 2}{line}" for line in generated.loops]
    other = [f"#line {_body_line(region, text)} {name}", original]
    check = generated.verification
    applies = RUNS if check else condition
    if generated.device:
        versions = _versions(generated.device, applies, loops, other)
    else:
        versions = _choice(applies, loops, other, checked=check is not None)
    if check:
        place = f"{name}, {region.begin.line}"
        versions = _checked(check, place, condition, versions, (generated.device, other))
    lines = [
        f"{lead}{{ /* polybuild: lines {region.begin.line} to {region.end.line}, the new order */",
        *begun,
        *(f"{indent}{line}" for line in generated.declarations),
        *looked,
        *versions,
        *ended,
        "}",
        f"#line {_next_line(region, text)} {name}",
        "",
    ]
    return "\n".join(lines)


def _told(generated: RegionText) -> tuple[list[str], list[str]]:
    """What brings the values of resident arrays home before the host looks at them, and tells of its runs."""
    if generated.host:
        begin = f"  const int {_VERSION} = polybuild_host_begin(&{generated.host});"
        return [begin], [f"  polybuild_host_end(&{generated.host});"]
    return ["  polybuild_update_host(0);"] if generated.device and generated.stages else [], []


def _all(conditions: Sequence[Condition]) -> str:
    """All of ``conditions``, each with its reason."""
    texts = [f"{each.text} /* line {each.line}: {each.reason} */" for each in conditions]
    return "\n      && ".join(texts) or "1"


def _looked(condition: str, stages: Sequence[Stage]) -> list[str]:
    """The conditions in a variable: ``condition``, then those of each stage, which looks at data before."""
    lines = [f"  int {_HOLDS} = {condition};"] if stages else []
    for stage in stages:
        lines += [f"  {line}" for line in stage.declarations]
        if stage.lines:
            lines.append(f"  if ({_HOLDS}) {{ /* which elements are touched */")
            lines += [line if line.startswith("#") else f"    {line}" for line in stage.lines]
            lines.append("  }")
        lines.append(f"  {_HOLDS} = {_HOLDS}\n      && {_all(stage.conditions)};")
    return lines


def _choice(condition: str, loops: Sequence[str], original: Sequence[str], *, checked: bool) -> list[str]:
    """The new loops if ``condition`` holds, else the original ones, which a check runs afterwards, too."""
    if checked:
        return [
            f"  if ({condition}) {{",
            *loops,
            "  }",
            _BETWEEN,
            f"  if (!{RUNS} || {CHECK}) {{ /* the original */",
            *original,
            "  }",
        ]
    return [f"  if ({condition}) {{", *loops, "  } else { /* the original */", *original, "  }"]


def _versions(device: DeviceText, condition: str, loops: Sequence[str], original: Sequence[str]) -> list[str]:
    """The kernels on a device; the new loops where they did not run; else the original ones."""
    return [
        f"  const int pb_applies = {condition};",
        "  int pb_done = 0;",
        f"  if ({' && '.join(filter(None, ['pb_applies', device.condition]))}) {{ /* on a device */",
        *(line if line.startswith("#") else f"    {line}" for line in device.lines),
        "  }",
        "  if (!pb_done) {",
        f"  if (polybuild_host_begin(&{device.name}) == POLYBUILD_OPENMP && pb_applies) {{",
        *loops,
        "  } else { /* the original */",
        *original,
        "  }",
        f"  polybuild_host_end(&{device.name});",
        "  }",
    ]


# where a check looks at what the new version wrote
_BETWEEN = ""


def _checked(
    check: Verification,
    place: str,
    condition: str,
    versions: list[str],
    for_device: tuple[DeviceText | None, Sequence[str]],
) -> list[str]:
    """``versions`` with the check of the region around them.

    Where a device may have run it, the values come home first, and the original text stands once more.
    """
    device, original = for_device

    def walk(*then: str) -> list[str]:
        return [f"  if ({CHECK}) {{", *(f"    {line}" for line in (*check.walk, *then)), "  }"]

    between = walk(f"polybuild_verify_next({CHECK});")
    before: list[str] = []
    if device:
        home = f"polybuild_host_begin(&{device.name})"
        before = [f"  if ({CHECK}) {{ {home}; polybuild_host_end(&{device.name}); }}"]
        versions = [
            *versions,
            f"  if ({CHECK}) {home};",
            *between,
            f"  if ({CHECK}) {{ /* the original */",
            *original,
            "  }",
            f"  if ({CHECK}) polybuild_host_end(&{device.name});",
        ]
    else:
        position = versions.index(_BETWEEN)
        versions[position : position + 1] = between
    give_up = f"if (!polybuild_verify_next({CHECK})) {{ polybuild_verify_end({CHECK}); {CHECK} = 0; }}"
    report = f"if (polybuild_verify_differs({CHECK})) polybuild_verify_report({CHECK}, {check.line});"
    return [
        f"  const int {RUNS} = {condition};",
        f"  void *{CHECK} = {RUNS} ? polybuild_verify_begin({place}, {check.tolerance}) : 0;",
        *before,
        *walk(give_up),
        *versions,
        *walk(report, f"polybuild_verify_end({CHECK});"),
    ]


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
