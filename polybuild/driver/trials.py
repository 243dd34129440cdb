"""Loops that nobody marked, compiled as if they were: what marks would make of them decides."""

from __future__ import annotations

import time
from dataclasses import field, replace
from typing import cast

from polybuild.codegen.file.region import RegionText
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic, Severity, Unsupported
from polybuild.driver.details import Details
from polybuild.driver.isolation import UNWATCHED, Position, Watch
from polybuild.driver.pass_printer import PassPrinter
from polybuild.driver.pass_times import PassClock
from polybuild.driver.region import begin_region, compile_region
from polybuild.effort import DETECTED_HALVINGS, DETECTED_SHARE
from polybuild.poly.budget import operations_done
from polybuild.report.record.model import RegionReport, Sequential
from polybuild.scop.calls import check_calls
from polybuild.source.autodetect import NOT_TRIED
from polybuild.source.model import Region, Span
from polybuild.values import dataclass

Compiled = tuple[RegionText | None, RegionReport, Details | None]
"""What became of a region, as ``compile_region`` gives it; without details if that was another process."""


@dataclass(frozen=True, slots=True)
class TriedLoop:
    """What is known of a loop that was tried: its ``problem``, None if it is to be taken.

    Whether it ``took_all`` that isl may do, and is ``parallel`` now; ``made`` is what is to be taken, and
    so many of isl's ``operations`` were spent.
    """

    problem: Diagnostic | None
    took_all: bool = False
    parallel: bool = False
    made: tuple[RegionText | None, RegionReport] | None = None
    operations: int = 0


@dataclass(frozen=True, slots=True)
class Trials:
    """The loops of a file that were tried in ``context``; those that gain are kept for later.

    Each gets a part of isl's operations that a marked one gets, and half of that once one of them took all.
    ``spent`` are the operations of each; once they reach the limit of ``watch`` no other one is tried.
    """

    context: CompileContext
    watch: Watch = UNWATCHED
    clock: PassClock = field(default_factory=PassClock)
    spent: list[int] = field(default_factory=list)
    _gained: dict[Span, Compiled] = field(default_factory=dict)
    _exhausting: list[Span] = field(default_factory=list)
    _parallel: list[Span] = field(default_factory=list)

    @staticmethod
    def refusal(region: Region) -> Diagnostic | None:
        """What is certain to keep the loops of ``region`` from being taken, which needs no model of them."""
        try:
            check_calls(region)
        except Unsupported as refusal:
            return refusal.diagnostic
        return None

    def problem(self, region: Region) -> Diagnostic | None:
        """Why the loops of ``region`` are better left alone, None if they should be taken.

        What a process found out that ended at another loop is not tried again.
        """
        position = _position_of(region)
        trial = cast("TriedLoop | None", self.watch.found.get(position))
        if trial is None:
            if sum(self.spent) + self._crashed() >= self.watch.trials.all:
                reason = "not tried, as trying others took all that may be spent on this file"
                return Diagnostic(
                    Severity.REMARK, NOT_TRIED, reason, region.begin, "mark it to have it tried"
                )
            trial = self._tried(region)
            self.watch.is_found(position, trial)
        self.spent.append(trial.operations)
        if trial.took_all:
            self._exhausting.append(region.span)
        if trial.parallel:
            self._parallel.append(region.span)
        return trial.problem

    def _crashed(self) -> int:
        """What processes spent that ended at work on a loop: each as much as a search may take."""
        loops = [each for position, each in self.watch.crashes.items() if isinstance(position, tuple)]
        return self.watch.trials.search * sum(map(len, loops))

    def _tried(self, region: Region) -> TriedLoop:
        """What comes of a region; it is kept for later where that gains."""
        before = operations_done()
        found = self._compiled(region)
        return replace(found, operations=operations_done() - before)

    def _compiled(self, region: Region) -> TriedLoop:
        started = time.perf_counter()
        try:
            crashes = begin_region(self.watch, _position_of(region), region)
            printer = PassPrinter(enters=self.watch.enters, clock=self.clock)
            share = DETECTED_SHARE << min(len(self._exhausting), DETECTED_HALVINGS)
            search = self.watch.trials.search
            text, report, details = compile_region(
                region, self.context, crashes=crashes, printer=printer, share=share, search=search
            )
        except Unsupported as refusal:
            return TriedLoop(refusal.diagnostic, refusal.diagnostic.code == "too-complex")
        finally:
            self.watch.begins(None)
        parallel = "parallel" in report.gains
        problem = _left_alone(report, region) if not report.gains else None
        if problem is None and not parallel and any(_is_in(each, region.span) for each in self._parallel):
            reason = "threads run parts of it, but not all of it together"
            problem = Diagnostic(Severity.REMARK, "not-worthwhile", reason, region.begin)
        if problem is None:
            report = replace(report, compile_seconds=time.perf_counter() - started)
            self._gained[region.span] = text, report, details
        made = (_without_plan(text), report) if problem is None else None
        return TriedLoop(problem, details.took_all, parallel and problem is None, made)

    def result_of(self, region: Region, context: CompileContext) -> Compiled | None:
        """What became of a loop that was tried, None where that was under other terms, or fails now."""
        if not region.detected or context != self.context:
            return None
        if region.span in self._gained:
            return self._gained[region.span]
        found = cast("TriedLoop | None", self.watch.found.get(_position_of(region)))
        return None if found is None or found.made is None else (*found.made, None)


def _without_plan(text: RegionText | None) -> RegionText | None:
    """``text`` for other processes, where the trees of a plan for a device cannot go."""
    if text is None or text.kernels is None:
        return text
    return replace(text, kernels=replace(text.kernels, request=None))


def _position_of(region: Region) -> Position:
    return region.span.start, region.span.end


def _is_in(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _left_alone(report: RegionReport, region: Region) -> Diagnostic:
    """What is said of a loop that is modelled, but does not gain."""
    if report.reason != Sequential.NO_ORDER:
        return Diagnostic(Severity.REMARK, "not-worthwhile", report.reason, region.begin)
    hint = next((each.message for each in report.advice if each.kind == "reassociation"), "")
    code = "sums-in-order" if hint else "no-parallel-order"
    return Diagnostic(Severity.REMARK, code, report.reason, region.begin, hint)
