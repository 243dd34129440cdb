"""Run the preprocessor of the build's own compiler, with the build's own flags."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError
from polybuild.effort import PREPROCESSOR_SECONDS
from polybuild.patterns import pattern
from polybuild.values import dataclass

# Flags that choose an output, a phase or a dump; what stays decides what the text means.
_DROPPED = pattern(
    r"-c|-S|-E|-M|-MM|-MD|-MMD|-MP|-MG|-MV|-P|-C|-CC|-H|-v|-\#\#\#|--verbose|-d[DIMNU]|-fdirectives-only"
    r"|-save-temps(=.*)?|--save-temps(=.*)?|-f(no-)?syntax-only|-Wp,-M.*|-fdump-.*|-time(=.*)?|-ftime-report"
    r"|-fdiagnostics-format=.*|-o.+|-M[FTQJ].+|-Werror(=.*)?|-pedantic-errors|--coverage|-###"
)
_DROPPED_WITH_VALUE = frozenset({"-o", "-MF", "-MT", "-MQ", "-MJ", "--output", "-dumpdir", "-dumpbase"})
_ESCAPE_SEQUENCE = pattern(r"\x1b\[[0-9;]*[A-Za-z]")
_COMPILER_ERROR = pattern(
    r"^(?P<file>.*?):(?P<line>\d+):(?:(?P<column>\d+):)?\s*(?:fatal )?error:\s*(?P<text>.*)$"
)


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """The preprocessor's output (with line markers) and the files it read."""

    text: str
    dependencies: tuple[str, ...]


def preprocess(path: str, compiler: Sequence[str], flags: Sequence[str]) -> Preprocessed:
    """Preprocess ``path`` as the build would; no macro is added or removed.

    Raises SourceError with code ``compiler-not-found`` or ``preprocess-failed``.
    """
    with tempfile.TemporaryDirectory(prefix="polybuild-") as folder:
        depfile = Path(folder) / "dependencies.d"
        asked = (*compiler, *preprocessing_flags(path, flags))
        # Definitions of macros are printed, too: the first of them are the compiler's own.
        command = [*asked, "-E", "-dD", "-w", "-g0", "-MD", "-MF", str(depfile), "-MT", "polybuild"]
        if not path.endswith(".c"):
            command += ["-x", "c"]
        command.append(path if not path.startswith("-") else f"./{path}")
        output = _run(command, path)
        try:
            rules = depfile.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            rules = ""
    head, text = _parted(output)
    if text:
        _predefined.clear()
        _predefined[asked] = _defined(head)
    return Preprocessed(_DEFINITION_LINE.sub("", _BUILT_IN.sub("", head) + text), parse_depfile(rules))


_DEFINED = pattern(r"^#(define|undef) (\w+)", re.MULTILINE)
_DEFINITION_LINE = pattern(r"^#(?:define|undef) .*", re.MULTILINE)
_BUILT_IN = pattern(r'^#(?:define|undef) .*\n# \d+ "<[\w -]+>"\n', re.MULTILINE)


def _defined(output: str) -> frozenset[str]:
    """The macros that are defined after ``output``."""
    last = {name: word for word, name in _DEFINED.findall(output)}
    return frozenset(name for name, word in last.items() if word == "define")


def _parted(output: str) -> tuple[str, str]:
    """What stands before the user's file in the compiler's output, its own macros, and that file.

    gcc and clang name the file, then what is built in, then the file again. The latter part is empty where
    a compiler does otherwise.
    """
    name = re.match(r'# \d+ ("(?:[^"\\]|\\.)*")', output)
    built_in = output.find('"<built-in>"')
    begin = output.find(f"\n# 1 {name[1]}", built_in) if name and built_in >= 0 else -1
    return (output, "") if begin < 0 else (output[: begin + 1], output[begin + 1 :])


_predefined: dict[tuple[str, ...], frozenset[str]] = {}
"""The macros that a command predefines, where its last run told them."""


def predefined_macros(path: str, compiler: Sequence[str], flags: Sequence[str]) -> frozenset[str]:
    """The names of the macros that the compiler defines of itself, which tell its target.

    Raises SourceError as ``preprocess`` does.
    """
    command = (*compiler, *preprocessing_flags(path, flags))
    if command not in _predefined:
        output = _run([*command, "-E", "-dM", "-w", "-x", "c", os.devnull], path)
        _predefined.clear()
        _predefined[command] = _defined(output)
    return _predefined[command]


_DEFINITION = pattern(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


def macros_defined(files: Iterable[str], flags: Sequence[str]) -> frozenset[str]:
    """The names of macros that ``files`` or ``flags`` define, whatever the conditions around."""
    found: set[str] = set()
    for path in files:
        try:
            data = Path(path).read_bytes()
        except OSError:
            continue
        found.update(name.decode() for name in _DEFINITION.findall(data))
    return frozenset(found.union(re.findall(r"-D\s*(\w+)", " ".join(flags))))


# Macros and folders of headers. Generated names avoid macros: those have small letters, or begin as ours do.
_IN_TEXT = pattern(r"-[DU](?!POLYBUILD)[A-Z][A-Z0-9_]*(=.*)?|-I.*|-isystem.*|-iquote.*", re.DOTALL)
_JOINED = ("-D", "-U", "-I", "-isystem", "-iquote")


def flags_beyond_text(path: str, flags: Sequence[str]) -> list[str]:
    """Those of the ``flags`` of a file that may matter where its preprocessed text is known."""
    words = iter(preprocessing_flags(path, flags))
    joined = (word + next(words, "") if word in _JOINED else word for word in words)
    return [word for word in joined if not _IN_TEXT.fullmatch(word)]


def preprocessing_flags(path: str, flags: Sequence[str]) -> list[str]:
    """``flags`` without those about outputs and phases, and without the input file itself."""
    kept: list[str] = []
    words = _expanded(flags)
    for flag in words:
        if flag in _DROPPED_WITH_VALUE:
            next(words, None)
        elif flag in {
            "-Xclang",
            "-Xpreprocessor",
            "-include",
            "-imacros",
            "-isystem",
            "-iquote",
            "-D",
            "-U",
            "-I",
        }:
            kept += [flag, *[value for value in [next(words, None)] if value is not None]]
        elif flag != path and not _DROPPED.fullmatch(flag):
            kept.append(flag)
    return kept


def _expanded(flags: Sequence[str], depth: int = 0) -> Iterator[str]:
    """``flags`` with response files (``@file``) replaced by what they contain."""
    for flag in flags:
        if flag.startswith("@") and depth < 8:  # response files may name each other
            try:
                content = Path(flag[1:]).read_text(encoding="utf-8", errors="surrogateescape")
                yield from _expanded(shlex.split(content), depth + 1)
            except (OSError, ValueError):
                yield flag
        else:
            yield flag


def _run(command: list[str], path: str) -> str:
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=PREPROCESSOR_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"'{command[0]}' did not finish preprocessing in {PREPROCESSOR_SECONDS} s"
        raise _failure("preprocess-failed", message, Location(path, 1)) from None
    except OSError as error:
        message = f"cannot run the compiler '{command[0]}': {error.strerror or error}"
        hint = "name the build's C compiler with --cc or $CC, or put it on PATH"
        raise _failure("compiler-not-found", message, Location(path, 1), hint) from None
    if done.returncode != 0:
        errors = done.stderr.decode("utf-8", "surrogateescape")
        message, location = _first_error(errors, path)
        raise _failure("preprocess-failed", message, location)
    return done.stdout.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def _first_error(errors: str, path: str) -> tuple[str, Location]:
    """The compiler's own first error as message and location."""
    lines = [_ESCAPE_SEQUENCE.sub("", line).strip() for line in errors.splitlines()]
    for line in lines:
        if match := _COMPILER_ERROR.match(line):
            location = Location(match["file"], int(match["line"]), int(match["column"] or 0))
            return f"the preprocessor failed: {match['text']}", location
    telling = [line for line in lines if "error:" in line] or [line for line in lines if line]
    return f"the preprocessor failed: {telling[0] if telling else 'no message'}", Location(path, 1)


def _failure(code: str, message: str, location: Location, hint: str = "") -> SourceError:
    return SourceError(Diagnostic(Severity.ERROR, code, message, location, hint))


def parse_depfile(rules: str) -> tuple[str, ...]:
    r"""The prerequisites of a make rule, in order, without duplicates; ``\ ``, ``\#`` and ``$$`` undone."""
    text = re.sub(r"\\\r?\n", " ", rules)
    _, _, prerequisites = text.partition(":")
    prerequisites = prerequisites.split("\n", 1)[0]
    names = re.findall(r"(?:\\[ \t#]|\$\$|\S)+", prerequisites)
    plain = (re.sub(r"\\([ \t#])", r"\1", name).replace("$$", "$") for name in names)
    return tuple(dict.fromkeys(plain))
