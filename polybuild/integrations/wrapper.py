"""The work of ``polybuild cc``: transform the C files of a compiler's command line, and compile those.

A transformed file has the name of the original, in a folder of its own, so the
one change to the command line is a word: whatever the compiler names after its
input (objects, dependency files, temporary files) is named as ever. ``#line``
directives do the same for messages and debuggers. What else would tell is
mended afterwards: dependency files, messages.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from polybuild.diagnostics import Diagnostic, Location, PolybuildError, Severity, UsageError
from polybuild.driver import output
from polybuild.driver.cache import compiler_identity, key_of, open_cache
from polybuild.driver.request import Request
from polybuild.driver.steered_warnings import warning_flags
from polybuild.driver.translate import Outcome, options_for, translate
from polybuild.integrations import cc, objects
from polybuild.integrations.compiler_line import LINK, CommandLine, Input
from polybuild.integrations.device_runtime import LIBRARIES, runtime_objects
from polybuild.integrations.locations import include_dir
from polybuild.integrations.records import write_records
from polybuild.report.explain import explanation, terminal
from polybuild.report.record.failure import DEBUG_VARIABLE, describe
from polybuild.report.record.model import KEPT
from polybuild.source.unity import included_sources
from polybuild.values import dataclass

_PROBE = b"int main(void) { int n = 0;\n#pragma omp parallel reduction(+ : n)\nn += 1; return n < 1; }\n"
# What decides which runtime libraries there are.
_MACHINE = ("-m", "--sysroot", "-isysroot", "-target", "--target", "-B", "--gcc-toolchain", "-gcc-toolchain")
_MACHINE_TOO = ("-stdlib", "-specs", "--specs", "-fuse-ld", "-arch")
_MACHINE_WITH_VALUE = frozenset(
    {"-target", "--target", "--sysroot", "-isysroot", "-B", "-arch", "-gcc-toolchain"}
)
_DEVICE_HEADER = b"#include <polybuild_device.h>"
_RANKS_HEADER = b'"polybuild_ranks.h"'
_MAXIMUM_MESSAGES = 12  # lines of the compiler's that are told of a file that it does not take
_STANDARD_INPUT_NAME = "<stdin>"


@dataclass(frozen=True, slots=True)
class Transformed:
    """A transformed file: its source on the command line, where it is, what else it was made from."""

    source: Input
    path: Path
    prerequisites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Console:
    """What is told on standard error: ``colour`` is ``auto``, ``always`` or ``never``.

    With ``record`` a report is written beside each object.
    """

    verbose: bool
    colour: str
    record: bool = False

    def say(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Print ``diagnostics``."""
        style = terminal.style_for(sys.stderr, self.colour)
        for diagnostic in diagnostics:
            terminal.write(sys.stderr, terminal.render(diagnostic, style, verbose=self.verbose))

    def say_command(self, command: Sequence[str]) -> None:
        """Print a command that is run, for who wants to know."""
        if self.verbose:
            terminal.write(sys.stderr, f"polybuild: {' '.join(command)}\n")


def compile_line(
    request: Request, line: CommandLine, marked: Sequence[Input], stdin: bytes, console: Console
) -> int:
    """Carry out ``line``, the files ``marked`` of it transformed; the exit code.

    ``request`` has the options alone. ``stdin`` is the text of the source ``-``. Raises UsageError,
    and OSError if the compiler cannot be run. A fault of polybuild is a warning, and the line is
    carried out as it is.
    """
    with tempfile.TemporaryDirectory(prefix="polybuild-") as folder:
        job = _Job(request, line, Path(folder), stdin, console)
        try:
            files = [file for source in marked for file in job.transform(source)]
        except PolybuildError:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever it is, the build goes on
            message = f"internal error: {describe(error)}; the file is compiled as it is"
            hint = f"please report it, with the traceback that {DEBUG_VARIABLE}=1 prints"
            console.say(
                [Diagnostic(Severity.WARNING, "internal", message, Location(marked[0].name, 0), hint)]
            )
            files = []
        if job.failed:
            return 1
        code = job.run(files) if files else job.run_as_it_is()
        if not code:
            job.write_records()
        return code


class _Job:
    """One command line with files to transform."""

    def __init__(
        self, request: Request, line: CommandLine, folder: Path, stdin: bytes, console: Console
    ) -> None:
        self.line = line
        self.folder = folder
        self.stdin = stdin
        self.failed = False
        self._late: list[Diagnostic] = []
        self._told: list[tuple[str, Outcome]] = []
        self.strict = False
        self._on_device = False  # whether a transformed file has regions that run on a device
        self._console = console
        self._cache = open_cache(default=True)
        self._openmp = self._choose_openmp()
        self._request = dataclasses.replace(
            request,
            compiler=tuple(line.compiler),
            flags=(*(["-fopenmp"] if self._openmp else []), *line.flags),
        )

    def transform(self, source: Input) -> Iterator[Transformed]:
        """The file that ``source`` becomes; nothing if it stays as it is. Says what there is to say."""
        name, text = source.name, b""
        if name == cc.STANDARD_INPUT:
            text = self.stdin
            name = str(self._write(".", "stdin.c", text))
            cache = None
        else:
            text = output.read(name)
            cache = self._cache
        request = dataclasses.replace(self._request, source=name)
        settings = options_for(request)
        options, settings_file = settings.options, settings.file
        self.strict = self.strict or options.on_unsupported == "error"
        if source.name == cc.STANDARD_INPUT:
            beside = ["-iquote", "."]
            request = dataclasses.replace(request, flags=(*beside, *request.flags))
        outcome = translate(request, text, cache)
        changed = _has_changed(outcome, text)
        if source.name == cc.STANDARD_INPUT:
            outcome = _renamed(outcome, name, _STANDARD_INPUT_NAME)
        self._tell(source.name, outcome)
        if not changed:
            return
        self._on_device = self._on_device or _DEVICE_HEADER in outcome.data
        path = outcome.stored or self._write(
            key_of([source.name])[:16], _base_name(source.name), outcome.data
        )
        # The text of headers with regions is in the file, so the compiler does not see that they are read.
        whole = options.headers or any(True for _ in included_sources(name, text))
        others_read = [each for each in outcome.dependencies if whole and each != name]
        prerequisites = dict.fromkeys(filter(None, [settings_file, *others_read]))
        yield Transformed(source, Path(path), tuple(prerequisites))

    def run(self, files: Sequence[Transformed]) -> int:
        """Compile the transformed files; if the compiler does not take one of them, the originals."""
        command = self._command(files)
        status, messages = self._execute(command, capture=True)
        if status and not self.strict:
            return self._fall_back(files, messages)
        for file in files:
            messages = messages.replace(os.fsencode(file.path), os.fsencode(file.source.name))
        sys.stderr.flush()
        with contextlib.suppress(OSError):
            sys.stderr.buffer.write(messages)
        if not status:
            self._mend_depfiles(files)
        return _exit_code(status)

    def run_as_it_is(self) -> int:
        """Compile the sources as they are."""
        if self.stdin:
            cc.rewind_standard_input(self.stdin)
        line = self.line
        needed = cc.needed_runtimes(line)
        openmp = ["-fopenmp"] if objects.OPENMP in needed else []
        device = self._device_runtime() if objects.DEVICE in needed else []
        command = [*line.command, *openmp, cc.ALLOW_MARKS, *line.words, *device]
        status, _ = self._execute(command, capture=False)
        if not status:
            self._console.say(self._late)
            self._mend_depfiles(())
        return _exit_code(status)

    def _fall_back(self, files: Sequence[Transformed], messages: bytes) -> int:
        """Compile the originals, and tell what the compiler said of the transformed ``files``."""
        code = self.run_as_it_is()
        if not code:
            message = "the compiler does not take the transformed file; the file is compiled as it is"
            text = messages.decode("utf-8", "surrogateescape")
            for file in files:
                text = text.replace(str(file.path), file.source.name)
            said = "".join(f"\n    {line}" for line in text.splitlines()[:_MAXIMUM_MESSAGES])
            hint = f"please report it, with what the compiler said:{said}"
            on_ranks = any(_RANKS_HEADER in output.read(str(each.path)) for each in files)
            if on_ranks and not self._finds_mpi():
                hint = "the compiler does not find mpi.h: use mpicc, or give this compiler MPI's flags"
            place = Location(files[0].source.name, 0)
            rejected = Diagnostic(Severity.WARNING, "compiler-rejected", message, place, hint)
            if warning_flags(self._request.flags).of(rejected):
                self._console.say([rejected])  # never an error: the object is right
        return code

    def _finds_mpi(self) -> bool:
        """Whether the compiler has the header of MPI."""
        looking = ["-fsyntax-only", "-include", "mpi.h", "-x", "c", os.devnull]
        command = [*self.line.compiler, *self.line.flags, *looking]
        return not self._execute(command, capture=True, quiet=True)[0]

    def write_records(self) -> None:
        """Write what became of the regions of each source beside its object, as far as that is asked for."""
        for source, outcome in self._told:
            write_records(self.line, source, outcome, report=self._console.record)

    def _tell(self, source: str, outcome: Outcome) -> None:
        self._told.append((source, outcome))
        # The compiler will say the same as its preprocessor, and should be alone in that.
        late = [each for each in outcome.diagnostics if each.code == "preprocess-failed" and not outcome.code]
        self._late += late
        self._console.say([each for each in outcome.diagnostics if each not in late])
        self.failed = self.failed or outcome.code != 0
        if self._console.verbose:
            regions = [region for region in outcome.regions if region.status != KEPT]
            self._console.say([explanation.remark(region) for region in regions])
            self._console.say(outcome.left_alone)

    def _write(self, folder: str, name: str, data: bytes) -> Path:
        path = self.folder / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    def _command(self, files: Sequence[Transformed]) -> list[str]:
        line = self.line
        words = list(line.words)
        added: list[str] = []
        for file in files:
            words[file.source.position] = str(file.path)
            beside = os.path.dirname(file.source.name) or "."  # noqa: PTH120 -- as the user spelt it
            if "-iquote" not in added or beside not in added:
                added += ["-iquote", beside]
            if any(word.startswith("-g") and word != "-g0" for word in line.flags):
                added.append(f"-fdebug-prefix-map={file.path.parent}={beside}")
        if self._on_device:
            added.append(f"-I{include_dir()}")
        needed = cc.needed_runtimes(line)
        if self._openmp or objects.OPENMP in needed:
            added.append("-fopenmp")
        if (
            line.phase == LINK
            and line.libraries.takes_openmp
            and (self._on_device or objects.DEVICE in needed)
        ):
            words += self._device_runtime()
        if sys.stderr.isatty() and not any("diagnostics-color" in word for word in line.words):
            added.append("-fdiagnostics-color=always")  # it would not see the terminal behind us
        return [*line.command, *added, cc.ALLOW_MARKS, *words]

    def _device_runtime(self) -> list[str]:
        """What is to be linked for regions that run on a device."""
        machine = list(_machine_flags(self.line.flags))
        runtime = runtime_objects(self.line.compiler, machine, self.folder, self._cache)
        return [*map(str, runtime), *LIBRARIES]

    def _choose_openmp(self) -> bool:
        """Whether the flag for OpenMP is to be added."""
        line = self.line
        refused = "-fno-openmp" in line.words or (line.phase == LINK and not line.libraries.takes_openmp)
        return not line.openmp and not refused and self._openmp_works()

    def _openmp_works(self) -> bool:
        """Whether the compiler makes programs that use OpenMP; asked once and remembered."""
        machine = list(_machine_flags(self.line.flags))
        key = key_of(["openmp", compiler_identity(self.line.compiler), *machine])
        if self._cache and (entry := self._cache.get(key, "openmp")):
            return entry.data == b"yes"
        probe = self._write("probe", "probe.c", _PROBE)
        command = [*self.line.compiler, *machine, "-fopenmp", str(probe), "-o", str(probe.with_suffix(""))]
        status, _ = self._execute(command, capture=True, quiet=True)
        if self._cache:
            self._cache.put(key, "openmp", b"no" if status else b"yes", {})
        return not status

    def _execute(self, command: list[str], *, capture: bool, quiet: bool = False) -> tuple[int, bytes]:
        """Run ``command``: the wait status, and what it wrote on standard error if that was captured."""
        if not quiet:
            self._console.say_command(command)
        sys.stdout.flush()
        sys.stderr.flush()
        with tempfile.TemporaryFile() if capture else contextlib.nullcontext() as errors:
            actions = [(os.POSIX_SPAWN_DUP2, errors.fileno(), 2)] if errors else []
            try:
                process = os.posix_spawnp(
                    command[0], command, os.environ, file_actions=actions, setsigdef=cc.IGNORED_SIGNALS
                )
            except OSError as error:
                raise UsageError(f"cannot run the compiler '{command[0]}': {error.strerror}") from None
            _, status = os.waitpid(process, 0)
            if not errors:
                return status, b""
            errors.seek(0)
            return status, errors.read()

    def _mend_depfiles(self, files: Sequence[Transformed]) -> None:
        """Make dependency files name the originals, and what else the transformed files were made from.

        What stays as it is may not where the settings are others.
        """
        settings = sorted(self._settings_files() - {each for file in files for each in file.prerequisites})
        for name in depfile_names(self.line):
            try:
                old = output.read(name)
            except OSError:
                continue
            new = old
            for file in files:
                for spelt, wanted in _spellings(file):
                    new = new.replace(spelt, wanted)
            if settings:
                new = new.replace(b":", f": {' '.join(map(output.escaped, settings))}".encode(), 1)
            if new != old:
                if "-MP" in self.line.words:
                    extra = [*settings, *(each for file in files for each in file.prerequisites)]
                    new += "".join(f"\n{output.escaped(name)}:\n" for name in dict.fromkeys(extra)).encode()
                with contextlib.suppress(OSError):
                    output.write(name, new)

    def _settings_files(self) -> set[str]:
        """The files with settings for the sources that were looked at."""
        requests = (dataclasses.replace(self._request, source=name) for name, _ in self._told)
        return {options_for(each).file for each in requests} - {""}


def depfile_names(line: CommandLine) -> list[str]:
    """Where the compiler may have written dependencies: the names given, else those it makes up."""
    if line.depfiles:
        return line.depfiles
    if not line.writes_dependencies:
        return []
    names = []
    for source in line.sources():
        stem = _base_name(source.name).rpartition(".")[0] or _base_name(source.name)
        names.append(f"{stem}.d")
        if line.output:
            folder = os.path.dirname(line.output)  # noqa: PTH120 -- as the user spelt it
            made = os.path.splitext(line.output)[0]  # noqa: PTH122 -- as above
            names += [f"{made}.d", f"{line.output}-{stem}.d", f"{made}-{stem}.d"]
            names.append(os.path.join(folder, f"{stem}.d"))  # noqa: PTH118 -- as above
        else:
            names.append(f"a-{stem}.d")
    return list(dict.fromkeys(names))


def _spellings(file: Transformed) -> Iterator[tuple[bytes, bytes]]:
    """How a dependency file names a transformed file, and what shall stand there."""
    name = file.source.name
    while name.startswith("./"):  # as the compilers do
        name = name[2:]
    wanted = " ".join(output.escaped(each) for each in (name, *file.prerequisites))
    yield os.fsencode(output.escaped(str(file.path))), os.fsencode(wanted)


def _machine_flags(flags: Sequence[str]) -> Iterator[str]:
    rest = iter(flags)
    for flag in rest:
        if flag in _MACHINE_WITH_VALUE:
            yield flag
            yield next(rest, "")
        elif flag.startswith((*_MACHINE, *_MACHINE_TOO)):
            yield flag


def _renamed(outcome: Outcome, old: str, new: str) -> Outcome:
    """``outcome`` with the name ``new`` for the source, which had to have the name ``old``."""
    diagnostics, left_alone = (
        tuple(
            dataclasses.replace(each, location=dataclasses.replace(each.location, file=new))
            if each.location.file == old
            else each
            for each in said
        )
        for said in (outcome.diagnostics, outcome.left_alone)
    )
    regions = tuple(dataclasses.replace(region, file=new) for region in outcome.regions)
    data = outcome.data.replace(b'"%s"' % os.fsencode(old), b'"%s"' % new.encode())
    return dataclasses.replace(
        outcome, data=data, diagnostics=diagnostics, regions=regions, left_alone=left_alone
    )


def _has_changed(outcome: Outcome, text: bytes) -> bool:
    return not outcome.code and outcome.data != text


def _base_name(name: str) -> str:
    return os.path.basename(name)  # noqa: PTH119 -- as the compiler does it


def _exit_code(status: int) -> int:
    """The exit code for a wait status; ends by the signal that ended the compiler, if one did."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        import signal  # noqa: PLC0415 -- hardly ever

        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        return 128 - code
    return code
