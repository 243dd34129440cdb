"""Settings that were found to be fastest for regions, below all that a user gives by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path

from polybuild.codegen.file.region import RegionText
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic, Location, Severity, UsageError
from polybuild.driver.tuning_files import Tuning
from polybuild.report.record.model import RegionReport
from polybuild.source.model import Region, Source
from polybuild.targets.device import Kernel
from polybuild.tuning.record import Build, region_digest
from polybuild.tuning.trial import MetRegion, tell
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class TunedContext:
    """The context for a region, with remarks on the settings that it owes to tuning, or why it has none."""

    context: CompileContext
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileTuning:
    """Applies what is known to the regions of ``source``, which ``build`` compiles."""

    source: Source
    tuning: Tuning
    build: Build

    def context(self, region: Region, context: CompileContext) -> TunedContext:
        """``context`` with what is known to be fastest for ``region``."""
        tuning, digest = self.tuning, self._digest(region)
        if tuning.trial is not None:
            counters = {"runtime_report": "on"} if tuning.trial.timed else {}
            trial = {**tuning.trial.settings.get(digest, {}), **counters}
            return TunedContext(_with_settings(context, trial, tuning.given))
        about = [each for each in tuning.regions if each.digest == digest]
        fitting = [each for each in about if each.build == self.build]
        if not fitting:
            known = sorted({" ".join([each.build.compiler, *each.build.flags]) for each in about})
            remark = f"tuned for another build or machine: {' and '.join(known)}"
            return TunedContext(context, (remark,) if known else ())
        settings = dict(fitting[-1].settings)
        if not settings:
            return TunedContext(context)
        try:
            changed = _with_settings(context, settings, tuning.given)
        except UsageError as error:
            return TunedContext(context, (f"what tuning found is not used: {error}",))
        words = ", ".join(f"{name} {value}" for name, value in sorted(settings.items()))
        return TunedContext(changed, (f"settings found by tuning: {words}",))

    def stale(self) -> tuple[Diagnostic, ...]:
        """A warning for each region of the file that was tuned, and is not there any more as it was."""
        here = {self._digest(each) for each in self.source.regions if isinstance(each, Region)}
        name = Path(self.source.path).name
        stale = {
            each.digest: each
            for each in self.tuning.regions
            if Path(each.file).name == name and each.digest not in here
        }
        return tuple(
            Diagnostic(
                Severity.WARNING,
                "stale-tuning",
                f"a region of this file (line {each.line} then) was tuned and has changed since",
                Location(self.source.path, each.line),
                "run 'polybuild tune' again",
            )
            for each in stale.values()
        )

    def tell(self, region: Region, report: RegionReport, text: RegionText | None) -> None:
        """Tell the trial, if there is one, of a region and the ``text`` it became, None where it is kept."""
        if self.tuning.trial is None:
            return
        tiles = report.tile_sizes[0] if report.tile_sizes else ()
        kernel = _largest_kernel(text)
        met = MetRegion(
            self._digest(region),
            region.begin.file,
            region.begin.line,
            self.build,
            kernel.tile if kernel is not None else tiles,
            tuple(sorted(self.tuning.given)),
            parallel=report.parallel_loops > 0,
            code=_code(text),
            block_sizes=tuple(each.size for each in kernel.threads) if kernel is not None else (),
        )
        tell(self.tuning.trial, met)

    def _digest(self, region: Region) -> str:
        return region_digest(region.begin.file, self.source.text[region.span.start : region.span.end])


def _with_settings(
    context: CompileContext, settings: Mapping[str, str], given: Collection[str]
) -> CompileContext:
    own = {name: value for name, value in settings.items() if name.replace("-", "_") not in given}
    return context.with_options(context.options.with_settings(own))


def _largest_kernel(text: RegionText | None) -> Kernel | None:
    """The kernel of a region with the most loops, the first of them; None if a device runs none."""
    request = text.device.request if text is not None and text.device is not None else None
    kernels = [each for each in request.plan.kernels if each.threads] if request is not None else []
    return max(kernels, key=lambda each: len(each.tile), default=None)


def _code(text: RegionText | None) -> str:
    """The same for texts that are compiled to the same code."""
    parts = (text.declarations, text.conditions, text.loops, text.stages, text.kernels) if text else ()
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()
