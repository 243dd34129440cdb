"""Directives of OpenMP that can give way: without them, statements do what a team of one thread does.

That is one of the orders that the directives allow. What runs in parallel is found anew, so that wrong
promises do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

from polybuild.c.tokens import tokens
from polybuild.patterns import pattern
from polybuild.source.markers import OWN_DIRECTIVE
from polybuild.source.model import Span
from polybuild.source.statements import statement_end

_START = r"[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+"
_INSIDE = r"(?:for|sections?|single|master|masked|critical|atomic|barrier|flush|ordered)\b"
_ELSEWHERE = r"(?!.*\b(?:copyin|copyprivate|linear|task|inscan)\b)"
PARALLEL = pattern(rf"{_START}parallel\b(?![ \t]+(?:master|masked|loop)\b){_ELSEWHERE}")
"""A directive at the start of a line that makes a team for the statement after it."""
OF_LANES = pattern(rf"{_START}simd\b")
"""A directive at the start of a line that shares out the loop after it among lanes."""
_IN_TEAM = pattern(_START + _INSIDE + _ELSEWHERE)
_GIVES_WAY = pattern(rf"omp\s+(?:parallel\b|{_INSIDE})")
OF_VARIABLES = pattern(_START + r".*\b(?:(?:first)?private|reduction)\b")
"""A directive by which variables have their old values after the statement, or are added up in any order."""


def gives_way(pragma: str) -> bool:
    """Whether ``pragma``, its text without its name, can be left out where its whole team is."""
    return bool(_GIVES_WAY.match(pragma))


def is_shared_by_others(text: str, start: int, end: int, *, teams_give_way: bool) -> bool:
    """Whether the function ``text[start:end]`` has marks or directives that share out its work.

    If ``teams_give_way``, those do not count that make a team for a statement and share out work inside that
    statement. Work that is shared by the team of a caller is shared in any case.
    """
    found = list(OWN_DIRECTIVE.finditer(text, start, end))
    if not found or not teams_give_way:
        return bool(found)
    teams = list(_teams(text, [each.start() for each in found], end))
    return not all(_is_in(each.start(), text, teams) for each in found)


def shared_from_outside(text: str, start: int, end: int) -> int | None:
    """Where the first directive in ``text[start:end]`` for a team made outside is; None: nowhere."""
    found = [each.start() for each in OWN_DIRECTIVE.finditer(text, start, end)]
    teams = list(_teams(text, found, end))
    orphans = (
        each
        for each in found
        if _IN_TEAM.match(text, each) and not any(team.start < each < team.end for team in teams)
    )
    return next(orphans, None)


def _is_in(position: int, text: str, teams: list[Span]) -> bool:
    inside = any(each.start < position < each.end for each in teams)
    return bool(_IN_TEAM.match(text, position)) if inside else any(each.start == position for each in teams)


def _teams(text: str, directives: list[int], end: int) -> Iterator[Span]:
    """The statements under those of the ``directives`` that make a team, with them."""
    position = 0
    for each in directives:
        if each < position or not PARALLEL.match(text, each):
            continue
        line_end = text.find("\n", each)
        found = [token for token in tokens(text, line_end, end) if token.text[0] != "#"]
        last = statement_end(found, 0)
        if last > 0:
            position = found[last - 1].end
            yield Span(each, position)
