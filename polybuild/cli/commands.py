"""The commands: each takes the words of its command line and gives an exit code.

0: done; 1: the user's file stands against it; 2: the command line is wrong;
3: polybuild itself failed. What a command does not need is not imported.
"""
# ruff: noqa: PLC0415 -- see above

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import polybuild
from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError, UsageError
from polybuild.driver import output, unreached

if TYPE_CHECKING:
    from polybuild.cli.arguments import Arguments
    from polybuild.driver.translate import Outcome
    from polybuild.integrations.compiler_line import CommandLine, Input

_T = TypeVar("_T")

_HELP = """\
usage: polybuild COMMAND ...

Polyhedral compilation as a build step: marked C loops in, parallel tiled C out.

  compile FILE.c -o OUT.c   rewrite the regions between '#pragma scop' and '#pragma endscop'
  explain FILE.c            tell what is done with each region, or what stops it
  cc -- COMPILER FLAGS      run a C compiler, with the regions of its C files rewritten
  cache stats|clear         tell what the cache holds, or empty it
  tune --run APP -- BUILD   find the fastest settings for the regions of a program, and keep them
  machine                   print, or measure, what is taken to be known of the machine
  survey DIR | -p BUILD     rank the loops of a code base, tell what becomes of each, mark those that gain
  summary BUILD             tell what became of all regions of a build
  completion bash|zsh       print what makes a shell complete the command
  docs [NAME]               show a page of the documentation, or what it says of an option or a code
  reduce FILE.c             find the smallest file that still shows what is wrong
  doctor                    check that this machine has what a build needs

  --version                 print the version
  --cmakedir                print the folder of polybuildConfig.cmake
  --includedir              print the folder of the C headers
  --help                    print this; 'polybuild COMMAND --help' tells more
"""


_CACHE_HELP = """\
usage: polybuild cache stats|clear

  stats   tell where the cache is, what it holds and how often something was found in it
  clear   empty it

Its folder is what POLYBUILD_CACHE_DIR names; POLYBUILD_CACHE=off does without one.
"""


def run(words: Sequence[str]) -> int:
    """Carry out the command line ``words``; messages go to standard error."""
    return guarded(lambda: _dispatch(words))


def guarded(action: Callable[[], int]) -> int:
    """Do ``action``; what it raises becomes a message and an exit code."""
    try:
        return action()
    except UsageError as error:
        _say(f"error: {error}")
        return 2
    except SourceError as error:
        _print_diagnostics([error.diagnostic], "auto")
        return 1
    except SystemExit as end:  # argparse has printed its help
        return int(end.code or 0)
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:  # the last resort: a line, not a traceback
        if _is_interrupted(error):
            raise KeyboardInterrupt from error
        from polybuild.report.record.failure import DEBUG_VARIABLE, describe

        _say(f"internal error: {describe(error)} ({DEBUG_VARIABLE}=1 prints the traceback)")
        return 3


def _is_interrupted(error: BaseException | None) -> bool:
    """Whether ``error`` came of an interrupt: what is written in C, an import say, makes another of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _dispatch(words: Sequence[str]) -> int:
    if not words:
        raise UsageError(
            f"a command is missing: {', '.join(each for each in COMMANDS if not each.startswith('-'))}"
            " (see 'polybuild --help')"
        )
    command, rest = words[0], words[1:]
    if command not in COMMANDS:
        kind = "option" if command.startswith("-") else "command"
        raise UsageError(f"unknown {kind} '{command}' (see 'polybuild --help')")
    if command.startswith("-") and rest:
        raise UsageError(f"unexpected '{rest[0]}' after {command}")
    return COMMANDS[command](rest)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for garbage: imports leave none, and the process at work on regions looks itself."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_uncollected()
def _compile(words: Sequence[str]) -> int:
    from polybuild.cli import arguments

    given = arguments.parse(words)
    request = given.request
    data = _read(request.source)
    if output.disabled() or not (output.has_regions(request.source, data) or request.detects()):
        _guard(lambda: output.write_all(given.files, data, (request.source,), output.EMPTY_REPORT))
        if given.sarif:
            from polybuild.report.record.sarif import as_sarif

            _guard(lambda: output.write(given.sarif, as_sarif((), ())))
        place = None if output.disabled() else unreached.first_unreached(request.source, data, request.flags)
        _print_diagnostics([unreached.warning(place)] if place else [], given.colour)
        return 0

    from polybuild.codegen.file.own_pragmas import without_pragmas
    from polybuild.driver import pass_times
    from polybuild.driver.cache import open_cache
    from polybuild.driver.translate import translate
    from polybuild.report.explain import explanation
    from polybuild.report.record import json as record
    from polybuild.report.record.model import KEPT

    outcome = translate(request, data, open_cache(default=False))
    _print_diagnostics(outcome.diagnostics, given.colour, verbose=given.verbose)
    if outcome.times:
        sys.stderr.write(pass_times.table(outcome.times, pass_times.processor_seconds()))
    if given.verbose:
        understood = [region for region in outcome.regions if region.status != KEPT]
        _print_diagnostics([explanation.remark(region) for region in understood], given.colour)
        _print_diagnostics(outcome.left_alone, given.colour)
    said = (*outcome.diagnostics, *outcome.left_alone)
    report = record.as_json(outcome.regions, said) if given.report else b""
    _guard(lambda: _write_records(given, outcome))
    if outcome.code:
        # The output is not written, so the step stays to be done. What stopped it is worth having.
        if given.report:
            _guard(lambda: output.write(given.report, report))
        return outcome.code
    prerequisites = (request.source, *outcome.dependencies)
    text = without_pragmas(outcome.data) if outcome.regions else outcome.data  # or it failed as a whole
    _guard(lambda: output.write_all(given.files, text, prerequisites, report))
    return 0


def _write_records(given: Arguments, outcome: Outcome) -> None:
    """Write what tools of others read: SARIF where it is asked for, records for the viewers of compilers."""
    if given.sarif:
        from polybuild.report.record.sarif import as_sarif

        output.write(given.sarif, as_sarif(outcome.regions, outcome.diagnostics))
    if output.RECORD_FLAG in given.request.flags and given.output != output.STANDARD_OUTPUT:
        from polybuild.report.record.optimisation_record import SUFFIX, as_optimisation_record

        output.write(f"{given.output}{SUFFIX}", as_optimisation_record(outcome.regions))


def _explain(words: Sequence[str]) -> int:
    from polybuild.cli import explain_arguments
    from polybuild.cli.explain import explain

    given = explain_arguments.parse_explain(words)
    for each in given.files_to_explain:
        _read(each.request.source)  # what cannot be read is to be known before anything is done
    data, code = explain(given)
    if given.html:
        _guard(lambda: output.write(given.html, data))
    elif given.json:
        output.write(output.STANDARD_OUTPUT, data)
    return code


def _cc(words: Sequence[str]) -> int:
    from polybuild.cli import arguments
    from polybuild.integrations import cc

    own, compiler = cc.split(list(words))
    arguments.parse_wrapper(own)  # what is wrong is to be known before anything is done
    if not compiler:
        raise UsageError("polybuild cc needs a compiler: polybuild cc [options] -- gcc ...")
    if compiler[0].startswith("-"):
        raise UsageError(f"polybuild cc needs a compiler before '{compiler[0]}', or --cc COMMAND")
    return cc.carry_out(own, compiler, transform_line)


def transform_line(own: Sequence[str], line: CommandLine, marked: Sequence[Input], stdin: bytes) -> int:
    """Carry out a compiler's command line for ``cc``, the files ``marked`` of it transformed.

    ``own`` are the options of ``cc``, ``stdin`` is the text of the source ``-``.
    """

    @_uncollected()
    def work() -> int:
        from polybuild.cli import arguments
        from polybuild.integrations import wrapper

        given = arguments.parse_wrapper(own)
        console = wrapper.Console(given.verbose, given.colour, record=given.record)
        return wrapper.compile_line(given.request, line, marked, stdin, console)

    return guarded(work)


def _cache(words: Sequence[str]) -> int:
    from polybuild.driver.cache import cache_folder, open_cache

    if list(words) in (["-h"], ["--help"]):
        print(_CACHE_HELP, end="")  # noqa: T201 -- this is the command's result
        return 0
    if list(words) not in (["stats"], ["clear"]):
        raise UsageError("polybuild cache needs 'stats' or 'clear'")
    cache = open_cache(default=True)
    if cache is None:
        why = "is off (POLYBUILD_CACHE)" if _cache_is_off() else "cannot be written, or others can write it"
        raise _failure("no-cache", f"there is no cache: it {why}", str(cache_folder()))
    if words[0] == "clear":
        print(f"{cache.clear()} entries removed from {cache.folder}")  # noqa: T201 -- this is the command's result
        return 0
    statistics = cache.statistics()
    lines = (
        f"folder   {cache.folder}",
        f"entries  {statistics.entries}",
        f"size     {statistics.bytes / 2**20:.1f} of {statistics.limit / 2**20:.0f} MiB",
        f"hits     {statistics.hits}",
        f"misses   {statistics.misses}",
    )
    print("\n".join(lines))  # noqa: T201 -- as above
    return 0


def _cache_is_off() -> bool:
    import os

    return os.environ.get("POLYBUILD_CACHE", "").lower() in {"0", "off", "no", "false"}


def _summary(words: Sequence[str]) -> int:
    from polybuild.cli import explain_arguments, summary
    from polybuild.report.explain import terminal

    values = explain_arguments.parse_summary(words)
    for folder in values.builds:
        if not output.exists(folder):
            raise _failure("unreadable-file", "there is no such folder or report", folder)
    build = summary.read_build(values.builds)
    if values.sarif:
        _guard(lambda: summary.write_sarif(build, values.sarif))
    if values.json:
        output.write(output.STANDARD_OUTPUT, summary.as_json(build))
    else:
        style = terminal.style_for(sys.stdout, values.color)
        terminal.write(sys.stdout, summary.describe(build, style))
        if values.ran:
            terminal.write(
                sys.stdout, "\n" + summary.describe_runs(build, values.ran, _read(values.ran), style)
            )
    return 0


def _doctor(words: Sequence[str]) -> int:
    from polybuild.cli import arguments, doctor
    from polybuild.report.explain import terminal

    own, after = arguments.split_words(words)
    values = doctor.parser().parse(own)
    compiler, flags = arguments.choose_compiler(values.cc, after)
    if values.bundle is not None or values.source is not None:
        return _bundle(vars(values), compiler, flags)
    checks = doctor.examine(compiler)
    terminal.write(sys.stdout, doctor.describe(checks, terminal.style_for(sys.stdout, values.color)))
    return 0 if doctor.can_build(checks) else 1


def _bundle(values: Mapping[str, Any], compiler: Sequence[str], flags: Sequence[str]) -> int:
    """Write what a report of a mistake needs."""
    from polybuild.cli import arguments, bundle
    from polybuild.driver.request import Request
    from polybuild.report.explain import terminal

    source, target = values["source"], values["bundle"]
    if not target:
        raise UsageError(f"unexpected '{source}': a file belongs to --bundle FILE")
    if source is None:
        raise UsageError("--bundle needs the C file that it is about")
    arguments.check_source(source)
    _read(source)  # what cannot be read is to be known before anything is done
    request = Request(source, arguments.settings_of(values), tuple(compiler), tuple(flags))
    text = bundle.bundle(request)
    _guard(lambda: output.write(target, text.encode("utf-8", "surrogateescape")))
    terminal.write(sys.stdout, f"{target} is what to send; read it before\n")
    return 0


def _survey(words: Sequence[str]) -> int:
    from polybuild.cli import survey

    return _guard(lambda: survey.run(words))


def _tune(words: Sequence[str]) -> int:
    from polybuild.cli import tune

    return tune.run(words)


def _reduce(words: Sequence[str]) -> int:
    from polybuild.cli import reduce

    return _guard(lambda: reduce.run(words))


def _machine(words: Sequence[str]) -> int:
    from polybuild.cli import machine

    return machine.run(words)


def _completion(words: Sequence[str]) -> int:
    from polybuild.cli import completion

    return completion.run(words)


def _docs(words: Sequence[str]) -> int:
    from polybuild.cli import docs

    return docs.run(words)


def _version(_: Sequence[str]) -> int:
    print(f"polybuild {polybuild.__version__}")  # noqa: T201 -- this is the command's result
    return 0


def _cmake_dir(_: Sequence[str]) -> int:
    from polybuild.integrations import locations

    try:
        print(locations.cmake_dir())  # noqa: T201 -- this is the command's result
    except FileNotFoundError as error:
        raise _failure("not-installed", str(error), polybuild.__path__[0]) from None
    return 0


def _include_dir(_: Sequence[str]) -> int:
    from polybuild.integrations import locations

    print(locations.include_dir())  # noqa: T201 -- this is the command's result
    return 0


def _help(_: Sequence[str]) -> int:
    print(_HELP, end="")  # noqa: T201 -- this is the command's result
    return 0


COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "compile": _compile,
    "explain": _explain,
    "cc": _cc,
    "cache": _cache,
    "summary": _summary,
    "doctor": _doctor,
    "machine": _machine,
    "completion": _completion,
    "docs": _docs,
    "tune": _tune,
    "reduce": _reduce,
    "survey": _survey,
    "--version": _version,
    "--cmakedir": _cmake_dir,
    "--includedir": _include_dir,
    "--help": _help,
    "-h": _help,
}
"""What runs each command: its arguments to the exit code."""


def _read(path: str) -> bytes:
    try:
        return output.read(path)
    except OSError as error:
        raise _failure("unreadable-file", f"cannot read the file: {error.strerror}", path) from None


def _guard(write: Callable[[], _T]) -> _T:
    """Do ``write``; a file that cannot be written becomes a SourceError."""
    try:
        return write()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failure("unwritable", f"cannot write the file: {error.strerror}", error.filename) from None


def _failure(code: str, message: str, path: str) -> SourceError:
    return SourceError(Diagnostic(Severity.ERROR, code, message, Location(path, 0)))


def _print_diagnostics(diagnostics: Sequence[Diagnostic], colour: str, *, verbose: bool = False) -> None:
    from polybuild.report.explain import terminal

    style = terminal.style_for(sys.stderr, colour)
    for diagnostic in diagnostics:
        terminal.write(sys.stderr, terminal.render(diagnostic, style, verbose=verbose))


def _say(text: str) -> None:
    from polybuild.report.explain import terminal

    terminal.write(sys.stderr, f"polybuild: {text}\n")
