"""What became of single regions, kept in the cache: an edit elsewhere in a file does not touch them.

An entry tells of lines by numbers that nothing else has, and which they were. So it serves the region
wherever it stands later, and the very first result is read back from it, too: it is what all others will be.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from polybuild.codegen.file.region import RegionText
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic
from polybuild.driver import cache as store
from polybuild.driver.region import operations_for
from polybuild.driver.stored_values import Changes, NotStorableError, decoded, encoded
from polybuild.report.record.model import RegionReport
from polybuild.source.fingerprint import (
    FIRST_LINE,
    Fingerprint,
    Fingerprints,
    digest_of,
    holds_lines,
    is_raised,
    with_lines,
)
from polybuild.source.model import Region
from polybuild.targets.lookup import TARGETS

_FILE = "region.json"
_PASSING = frozenset({"internal", "too-complex"})
"""Codes of what another run may do better."""

RegionResult = tuple[RegionReport, RegionText | None, tuple[Diagnostic, ...], tuple[Diagnostic, ...]]
"""A region's report and text, the obstacles if it is kept, and settings without effect."""


class RegionStore:
    """The results of the regions of one file, by what they are made from, in ``cache``.

    ``identity`` changes when polybuild or the compiler does.
    """

    def __init__(self, cache: store.Cache, identity: str) -> None:
        self._cache = cache
        self._identity = identity
        self._fingerprints = Fingerprints()

    def result_of(
        self, region: Region, context: CompileContext, compiled: Callable[[Region], RegionResult]
    ) -> RegionResult:
        """What ``compiled`` makes of ``region``, or has made of one that says the same."""
        fingerprint = None if _says_lines_in_code(context) else self._fingerprints.of(region)
        if fingerprint is None:
            return compiled(region)
        effort = str(operations_for(region))
        key = store.key_of([self._identity, digest_of(context), effort, fingerprint.digest])
        found = self._stored(key, fingerprint)
        if found is not None:
            return found
        with fingerprint.raised(region) as raised:
            made = compiled(raised)
        with contextlib.suppress(NotStorableError, ValueError):
            found = _read(encoded(made), fingerprint.lines, fingerprint)
        if found is None or _names_lines(made[1]):
            return compiled(region)
        if _PASSING.isdisjoint(each.code for each in made[2]):
            self._cache.put(key, _FILE, encoded(made), {"lines": fingerprint.lines})
        return found

    def _stored(self, key: str, fingerprint: Fingerprint) -> RegionResult | None:
        entry = self._cache.get(key, _FILE, counted=False)
        if entry is None:
            return None
        try:
            return _read(entry.data, entry.record["lines"], fingerprint)
        except (ValueError, KeyError, TypeError):
            return None


def _read(data: bytes, then: Sequence[int], fingerprint: Fingerprint) -> RegionResult:
    """What was stored as ``data`` when the lines of ``fingerprint`` were those of ``then``."""
    lines = dict(zip(then, fingerprint.lines, strict=True))

    def number(value: int) -> int:
        return lines[value - FIRST_LINE] if is_raised(value) else value

    result: Any = decoded(data, Changes(number, lambda text: with_lines(text, lines)))
    report, text, obstacles, warnings = result
    return report, text, obstacles, warnings


def _says_lines_in_code(context: CompileContext) -> bool:
    """Whether the code that is asked for names lines of the user's: its layout depends on them then."""
    return context.options.verify or TARGETS[context.options.backend].has_kernels


def _names_lines(text: RegionText | None) -> bool:
    """Whether code does so all the same."""
    if text is None:
        return False
    staged = [line for stage in text.stages for line in (*stage.declarations, *stage.lines)]
    conditions = [each.text for each in text.all_conditions]
    return any(map(holds_lines, (*text.declarations, *text.loops, *staged, *conditions)))
