"""One ``compile``: from a request to what is written, with a way on whatever happens.

A build must not stop because a region is not understood, the preprocessor
fails or polybuild itself does: the original text passes through, and the
compiler has the last word. ``--on-unsupported error`` turns that off.
"""

from __future__ import annotations

import dataclasses
import gc
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polybuild
from polybuild import bytecode, effort
from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError, UsageError
from polybuild.driver import cache as store
from polybuild.driver.chosen_machine import machine_file
from polybuild.driver.isolation import IN_BUILDS, Watch, WorkerCrashError, run_isolated
from polybuild.driver.job_server import jobs
from polybuild.driver.pass_times import PassClock, PassTime
from polybuild.driver.request import Request
from polybuild.driver.settings import FileSettings, with_project_settings
from polybuild.driver.steered_warnings import warning_flags, without_ours
from polybuild.driver.tuning_files import find_tuning, tuning_file
from polybuild.options import Options
from polybuild.poly.start import import_islpy
from polybuild.report.record.failure import DEBUG_VARIABLE, describe
from polybuild.report.record.json import region_of
from polybuild.report.record.model import KEPT, RegionReport
from polybuild.targets.lookup import TARGETS
from polybuild.tuning.trial import current_trial
from polybuild.values import dataclass

_END_OF_REGION = b"endscop"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is to be written and said about one file.

    With an exit code other than 0, ``data`` is not to be written.
    ``dependencies`` are the files that a change of which calls for another run. ``left_alone`` says
    of loops that nobody marked why they are not taken; it is for reports, and for who asks.
    """

    data: bytes
    regions: tuple[RegionReport, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    dependencies: tuple[str, ...] = ()
    code: int = 0
    left_alone: tuple[Diagnostic, ...] = ()
    stored: Path | None = None
    """The file of the cache that holds ``data``."""
    times: tuple[PassTime, ...] = ()
    """What the passes took, where they were timed."""


def options_for(request: Request) -> FileSettings:
    """The options of ``request`` over those of the project."""
    project = with_project_settings(Options(), request.source)
    options = project.options.with_settings(request.settings)
    return dataclasses.replace(project, options=options, names=project.names.union(request.settings))


def translate(request: Request, data: bytes, cache: store.Cache | None = None) -> Outcome:
    """Transform the regions of the file with the text ``data``, or find in ``cache`` what they became.

    Raises UsageError.
    """
    given = request.expanded_flags()
    outcome = _translated(request, data, cache, without_ours(given))
    said = warning_flags(given).apply(outcome.diagnostics)
    failed = any(each.severity is Severity.ERROR for each in said)
    return dataclasses.replace(outcome, diagnostics=said, code=outcome.code or int(failed))


def _translated(request: Request, data: bytes, cache: store.Cache | None, flags: list[str]) -> Outcome:
    """What the regions became, with all that may be said of them."""
    settings = options_for(request)
    asked, options = settings.options.jobs, dataclasses.replace(settings.options, jobs=0)
    settings = dataclasses.replace(settings, options=options)  # that number changes nothing else
    others = (machine_file(options), tuning_file(options, request.source))
    read = [settings.file, *(str(each) for each in others if each is not None and each.is_file())]
    inputs = (*request.response_files(), *filter(None, read))
    found = None
    if request.print_after or request.timed or current_trial():  # the passes have to run, one after the other
        cache, asked = None, 1
    if cache is not None:
        found = _look_up(cache, request, settings, flags, data, files=others)
        if found and found.entry:
            outcome = _recall(found.entry)
            return dataclasses.replace(outcome, dependencies=(*found.dependencies, *inputs))
    with jobs(asked, data.count(_END_OF_REGION)) as granted:
        outcome = _translate(request, data, settings, flags, (cache, granted))
    outcome = dataclasses.replace(outcome, dependencies=(*outcome.dependencies, *inputs))
    if cache is not None and found and _is_lasting(outcome):
        entry = cache.put(found.key, _name(request), outcome.data, _record(outcome))
        outcome = dataclasses.replace(outcome, stored=entry.path if entry else None)
    return outcome


def _translate(
    request: Request,
    data: bytes,
    settings: FileSettings,
    flags: list[str],
    means: tuple[store.Cache | None, int],
) -> Outcome:
    """The outcome for one file, found in a process of its own, which may start others.

    ``means`` is the cache, where that of regions alone may be, and the number of processes.
    """
    cache, granted = means
    try:
        return run_isolated(
            lambda watch: _outcome(request, data, settings, flags, (watch, cache)),
            jobs=granted,
            trials=IN_BUILDS,
        )
    except WorkerCrashError as error:
        return _failed(request, data, settings.options, f"the process at work on the file {error}")


def _outcome(
    request: Request,
    data: bytes,
    settings: FileSettings,
    flags: list[str],
    around: tuple[Watch, store.Cache | None],
) -> Outcome:
    watch, cache = around
    options = settings.options
    strict = options.on_unsupported == "error"
    try:
        import_islpy()
        stored = bytecode.use(bytecode.own_file())
        from polybuild.driver.experience import Experience  # noqa: PLC0415 -- its failure is ours to report
        from polybuild.driver.file import compile_source  # noqa: PLC0415 -- likewise
        from polybuild.driver.pass_printer import PassPrinter  # noqa: PLC0415 -- likewise
        from polybuild.driver.region_store import RegionStore  # noqa: PLC0415 -- likewise

        if not stored:
            bytecode.keep(bytecode.own_file(), polybuild.__name__)
        _collect_seldom()
        printer = PassPrinter(request.print_after, clock=PassClock(on=request.timed))
        tuning = find_tuning(options, request.source, settings.names)
        regions = RegionStore(cache, _identity(request)) if cache is not None else None
        experience = Experience(tuning, regions)
        result = compile_source(
            request.source, options, request.compiler, flags, watch, experience=experience, printer=printer
        )
    except UsageError:
        raise
    except SourceError as error:
        severity = Severity.ERROR if strict else Severity.WARNING
        diagnostic = dataclasses.replace(error.diagnostic, severity=severity)
        return Outcome(data, (), (diagnostic,), error.dependencies, 1 if strict else 0)
    except Exception as error:  # noqa: BLE001 -- whatever it is, the build goes on
        return _failed(request, data, options, describe(error))

    diagnostics = tuple(sorted(result.diagnostics, key=lambda diagnostic: diagnostic.location))
    failed = any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    if strict:
        diagnostics = tuple(promoted(diagnostic, result.regions) for diagnostic in diagnostics)
        failed = any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
        failed = failed or any(region.status == KEPT for region in result.regions)
    return Outcome(
        result.text.encode("utf-8", "surrogateescape"),
        result.regions,
        diagnostics,
        result.dependencies,
        1 if failed else 0,
        tuple(each.remark for each in result.refused),
        times=result.times,
    )


def _collect_seldom() -> None:
    """Look for garbage again, if nobody does, in what is made from here on alone.

    Modules are none. Most of what a region leaves goes with the last name for it; little forms circles.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(effort.COLLECTED_OBJECTS)
        gc.enable()


def _failed(request: Request, data: bytes, options: Options, what: str) -> Outcome:
    """The outcome of a failure of ours: the file as it is, or an error where that was asked for."""
    strict = options.on_unsupported == "error"
    diagnostic = Diagnostic(
        Severity.ERROR if strict else Severity.WARNING,
        "internal",
        f"internal error: {what}; the file is left as it is",
        Location(request.source, 0),
        f"please report it, with the traceback that {DEBUG_VARIABLE}=1 prints",
    )
    return Outcome(data, (), (diagnostic,), code=3 if strict else 0)


def promoted(diagnostic: Diagnostic, regions: tuple[RegionReport, ...]) -> Diagnostic:
    """``diagnostic`` as an error, unless it is a remark or about a region that was not kept."""
    understood = any(region.status != KEPT and region.covers(diagnostic) for region in regions)
    if diagnostic.severity is Severity.REMARK or understood:
        return diagnostic
    return dataclasses.replace(diagnostic, severity=Severity.ERROR)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look into the cache gave: the key, the files read for it, and the entry, if there is one."""

    key: str
    dependencies: tuple[str, ...]
    entry: store.Entry | None


def _look_up(
    cache: store.Cache,
    request: Request,
    settings: FileSettings,
    flags: list[str],
    data: bytes,
    *,
    files: Sequence[Path | None],
) -> _Found | None:
    """Look for the result of ``request``; None if it has no key, as the file cannot be preprocessed.

    The key holds all that the result is made from: the text before and after
    preprocessing, the options, the flags that say more than that text, the name of the file, which
    messages and ``#line`` directives repeat, the compiler and polybuild itself.
    """
    from polybuild.source.preprocess import (  # noqa: PLC0415 -- only where there is a cache
        flags_beyond_text,
        preprocess,
    )

    options = settings.options
    try:
        preprocessed = preprocess(request.source, request.compiler, flags)
    except SourceError:
        return None
    key = store.key_of(
        [
            _identity(request),
            _device_compiler_identity(options),
            *map(_content, files),
            repr(options),
            "\0".join(sorted(settings.names)),
            "\0".join(flags_beyond_text(request.source, flags)),
            request.source,
            data,
            preprocessed.text,
        ]
    )
    return _Found(key, (request.source, *preprocessed.dependencies), cache.get(key, _name(request)))


def _identity(request: Request) -> str:
    """What changes when polybuild or the compiler does."""
    return store.key_of([store.tool_identity(), store.compiler_identity(request.compiler)])


def _device_compiler_identity(options: Options) -> str:
    """What changes when the compiler of the kernels does; empty if there are none to compile."""
    target = TARGETS[options.backend]
    if not target.needs_compiler():
        return ""
    compiler = target.compiler(options)
    return store.compiler_identity([compiler]) if compiler else "none"


def _content(path: Path | None) -> bytes:
    """What stands in a file that results depend on; empty if there is none."""
    try:
        return path.read_bytes() if path else b""
    except OSError:
        return b""


def _name(request: Request) -> str:
    return os.path.basename(request.source)  # noqa: PTH119 -- keeps what pathlib would make of "."


def _is_lasting(outcome: Outcome) -> bool:
    """Whether another run would come to the same result."""
    passing = {"internal", "too-complex"}
    if any(each.code == "not-tried" for each in outcome.left_alone):
        return False
    return not outcome.code and passing.isdisjoint(diagnostic.code for diagnostic in outcome.diagnostics)


def _record(outcome: Outcome) -> Mapping[str, Any]:
    return {
        "regions": [dataclasses.asdict(region) for region in outcome.regions],
        "diagnostics": list(map(_recorded, outcome.diagnostics)),
        "left_alone": list(map(_recorded, outcome.left_alone)),
    }


def _recorded(diagnostic: Diagnostic) -> Mapping[str, Any]:
    return {**dataclasses.asdict(diagnostic), "severity": diagnostic.severity.value}


def _recall(entry: store.Entry) -> Outcome:
    regions = tuple(map(region_of, entry.record["regions"]))
    diagnostics, left_alone = (
        tuple(
            Diagnostic(
                Severity(each["severity"]),
                each["code"],
                each["message"],
                Location(**each["location"]),
                each["hint"],
            )
            for each in entry.record[name]
        )
        for name in ("diagnostics", "left_alone")
    )
    return Outcome(entry.data, regions, diagnostics, left_alone=left_alone, stored=entry.path)
