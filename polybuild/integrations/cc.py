"""``polybuild cc``: the compiler, with the regions of its C files transformed.

This is the door, through which every compilation of a build goes. Most have
nothing for us, so it imports next to nothing, decides, and becomes the
compiler. What is to be done, ``polybuild.integrations.wrapper`` does; it costs
start-up time, so who calls says how to get there.
"""

import _signal  # type: ignore[import-not-found] # the module behind signal, without its enumerations
import os
import sys

from polybuild.driver import output, unreached
from polybuild.integrations import objects
from polybuild.integrations.compiler_line import LINK, CommandLine, Input
from polybuild.integrations.compiler_line import split as command_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Transform = Callable[[list[str], CommandLine, list[Input], bytes], int]
    """``wrapper.compile_line`` with our own options as words, which are known to be right."""

_WITHOUT_VALUE = ("-v", "--verbose", "-h", "--help", "--record")
STANDARD_INPUT = "-"
ALLOW_MARKS = "-Wno-unknown-pragmas"
"""Marks of regions that stay as they are must not stop who takes warnings for errors."""
IGNORED_SIGNALS = (_signal.SIGPIPE, _signal.SIGXFSZ)
"""Python ignores these, and what it starts would inherit that."""
_SEARCHED = "CPATH"
"""The variable with folders in which compilers look for headers after those that they are told of."""


def carry_out(own: "list[str]", compiler: "list[str]", transform: "Transform") -> int:
    """Run the command line ``compiler`` with the options ``own``, known to be right.

    Returns the exit code, or never. ``transform`` is called where there is more to do than to compile.
    """
    _offer_headers()
    line = CommandLine(compiler)
    if len(line.words) < len(compiler) - len(line.command):  # without flags that are ours
        compiler = [*line.command, *line.words]
    if not line.phase:
        return _become(compiler)
    if output.disabled():
        return _become(_allowing_marks(line, compiler))
    stdin = next((each for each in line.sources() if each.name == STANDARD_INPUT), None)
    text = _take_standard_input() if stdin else b""
    all_of_them = _detects(own)
    marked = [each for each in line.sources() if all_of_them or _may_hold_regions(each, text)]
    if marked:
        return transform(own, line, marked, text)
    if _warn_of_unreached(line):
        compiler = [*line.command, ALLOW_MARKS, *compiler[len(line.command) :]]
    needed = needed_runtimes(line)
    if objects.DEVICE in needed:
        return transform(own, line, [], text)
    if objects.OPENMP in needed:
        return _become([*line.command, "-fopenmp", *compiler[len(line.command) :]])
    return _become(compiler)


def _offer_headers() -> None:
    """Let programs include polybuild.h, whether anything of theirs is transformed or not."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- start-up
    ours = os.path.join(package, "runtime", "include")  # noqa: PTH118 -- start-up
    os.environ[_SEARCHED] = os.pathsep.join(filter(None, (os.environ.get(_SEARCHED), ours)))


def split(words: "list[str]") -> "tuple[list[str], list[str]]":
    """Our own options, and the compiler's command line: ``--cc`` names a compiler that stands in none."""
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            own, compiler = words[:position], words[position + 1 :]
            if compiler and compiler[0].startswith("-"):
                compiler = [*_named_compiler(own), *compiler]
            return own, compiler
        if not word.startswith("-"):
            break
        position += 1 if word in _WITHOUT_VALUE or "=" in word else 2
    return words[:position], words[position:]


def _named_compiler(own: "list[str]") -> "list[str]":
    """The command that ``--cc`` names among our own options, as words."""
    named = ""
    for position, word in enumerate(own):
        if word == "--cc":
            named = own[position + 1] if position + 1 < len(own) else ""
        elif word.startswith("--cc="):
            named = word.removeprefix("--cc=")
    return [named] if os.path.isfile(named) else command_words(named)  # noqa: PTH113 -- start-up


def _allowing_marks(line: CommandLine, compiler: "list[str]") -> "list[str]":
    """The command line ``compiler``, with the flag that lets marks be if one of its files has some."""
    marked = any(_may_hold_regions(each, b"") for each in line.inputs if each.language in {"c", "other"})
    if marked or any(True for _ in _unreached(line)):
        return [*line.command, ALLOW_MARKS, *compiler[len(line.command) :]]
    return compiler


def _warn_of_unreached(line: CommandLine) -> bool:
    """Warn of regions in C++ files and in the headers of C files, which nothing transforms; False without."""
    found = False
    for place, cxx in _unreached(line):
        from polybuild.report.explain import terminal  # noqa: PLC0415 -- few files need it

        text = terminal.render(unreached.warning(place, cxx=cxx), terminal.style_for(sys.stderr, "auto"))
        terminal.write(sys.stderr, text)
        found = True
    return found


def _unreached(line: CommandLine) -> "Iterator[tuple[unreached.Place, bool]]":
    """The first region that nothing transforms for each of the files compiled, and whether it is in C++."""
    for each in line.inputs:
        cxx = each.language == "other" and (unreached.is_cxx(each.name) or each.name.endswith(".c"))
        if not (cxx or each.language == "c") or each.name == STANDARD_INPUT:
            continue
        try:
            place = unreached.first_unreached(each.name, output.read(each.name), line.flags, cxx=cxx)
        except OSError:
            continue  # the compiler has something to say about that
        if place:
            yield place, cxx


def needed_runtimes(line: CommandLine) -> "set[str]":
    """Which runtimes are to be added to what ``line`` links: those its objects and static libraries need."""
    if line.phase != LINK or not line.libraries.takes_openmp:
        return set()
    needed = objects.needed_runtimes(_linked(line))
    return needed - {objects.OPENMP} if line.openmp else needed


def _linked(line: CommandLine) -> "Iterator[str]":
    for each in line.inputs:
        if each.language == "object":
            yield each.name
    folders = line.libraries.folders
    for name in line.libraries.names if folders else ():
        path = objects.static_library(name, folders)
        if path:
            yield path


def _detects(own: "list[str]") -> bool:
    """Whether more may be wanted than the regions marked in the file itself."""
    text = f" {' '.join(own)} ".replace("=", " ").lower()
    wanted = (
        f" {name} {value} " for name in ("--autodetect", "--headers") for value in ("on", "1", "true", "yes")
    )
    return any(words in text for words in wanted)


def _may_hold_regions(source: Input, standard_input: bytes) -> bool:
    if source.name == STANDARD_INPUT:
        return output.may_hold_regions(standard_input)
    try:
        return output.has_regions(source.name, output.read(source.name))
    except OSError:
        return False  # the compiler has something to say about that


def _take_standard_input() -> bytes:
    """All of standard input, which the compiler can then read again."""
    data = sys.stdin.buffer.read()
    rewind_standard_input(data)
    return data


def rewind_standard_input(data: bytes) -> None:
    """Make ``data`` what is read next from standard input, by this process and by the compiler."""
    import tempfile  # noqa: PLC0415 -- few compilations read standard input

    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(data)
        file.seek(0)
        os.dup2(file.fileno(), 0)


def _become(command: "list[str]") -> int:
    """End as ``command``; the exit code of a shell if there is no such command."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = [(number, _signal.signal(number, _signal.SIG_DFL)) for number in IGNORED_SIGNALS]
    try:
        os.execvp(command[0], command)  # noqa: S606 -- this is what a compiler wrapper does
    except OSError as error:
        sys.stderr.write(f"polybuild: error: cannot run the compiler '{command[0]}': {error.strerror}\n")
        return 126 if isinstance(error, PermissionError) else 127
    finally:  # there is none after it where the compiler takes this process over
        for number, handler in before:
            _signal.signal(number, handler)
