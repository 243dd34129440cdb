"""The command line: a thin face over the pipeline.

Most files of a build have no region, so their whole cost is start-up. ``run``
therefore tries the plain form of ``compile`` first, with nothing imported, hands
``cc`` to a module that does the same for a compiler's command line, and leaves
everything else, errors included, to ``polybuild.cli.commands``. Both write with the
same function, ``output.write_all``.
"""

import os
import sys

from polybuild.cli.plain_values import NUMBERS, WORDS
from polybuild.driver import output, unreached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from polybuild.integrations.compiler_line import CommandLine, Input

_COLOURS = ("auto", "always", "never")
_FILES = {"-o": 0, "--output": 0, "--depfile": 1, "--report": 2}


def main() -> None:
    """Run the command line of this process and end the process with its exit code."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 1
    # Taking the interpreter apart piece by piece costs more than a copied file.
    os._exit(code)


def run(words: list[str]) -> int:
    """Carry out one command line, given without the program's name; the exit code."""
    try:
        if words[:1] == ["cc"]:
            from polybuild.integrations import cc  # noqa: PLC0415 -- only when it is needed: see above

            own, compiler = cc.split(words[1:])
            if compiler and not compiler[0].startswith("-") and _plain_options(own):
                return cc.carry_out(own, compiler, _transform_line)
        elif _copied(words):
            return 0
        from polybuild.cli import commands  # noqa: PLC0415 -- only when it is needed: see above

        return commands.run(words)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has seen enough. Nothing more may be flushed into the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141


def _transform_line(own: "list[str]", line: "CommandLine", marked: "list[Input]", stdin: bytes) -> int:
    from polybuild.cli import commands  # noqa: PLC0415 -- only when it is needed: see above

    return commands.transform_line(own, line, marked, stdin)


def _copied(words: list[str]) -> bool:
    """Whether this was the plain ``compile`` of a file without regions, and is done."""
    request = plain_compile(words)
    if request is None or output.clash(*request):
        return False
    try:
        flags = words[words.index("--") + 1 :] if "--" in words else []
        data = output.read(request[0])
        if not output.disabled() and unreached.first_unreached(request[0], data, flags):
            return False
        return output.copy_unmarked(*request)
    except OSError:
        return False  # the long way meets the same error, and explains it


def plain_compile(words: list[str]) -> tuple[str, output.Files] | None:
    """The source and the files to write of a ``compile`` whose words are all plainly right.

    None if anything needs a closer look;
    what this function accepts, ``polybuild.cli.arguments`` understands the same.
    """
    if words[:1] != ["compile"]:
        return None
    sources = []
    files = ["", "", ""]
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            if any(flag.startswith("@") and not os.path.exists(flag[1:]) for flag in rest):  # noqa: PTH110 -- start-up
                return None
            break  # other flags of the compiler matter only to regions
        if word in ("-v", "--verbose"):
            continue
        if not word.startswith("-"):
            sources.append(word)
            continue
        name, equals, value = word.partition("=")
        if not (equals and name.startswith("--")):
            name, value = word, next(rest, "")
        if not value or value.startswith("-"):
            return None
        if name in _FILES:
            files[_FILES[name]] = value
        elif not plain_setting(name, value):
            return None
    if len(sources) != 1 or not sources[0] or not files[0]:
        return None
    return sources[0], (files[0], files[1], files[2])


def _plain_options(words: "list[str]") -> bool:
    """Whether the options of ``cc`` in ``words`` are all right beyond doubt."""
    rest = iter(words)
    for word in rest:
        if word in {"-v", "--verbose", "--record"}:
            continue
        name, equals, value = word.partition("=")
        if not equals:
            value = next(rest, "")
        if not name.startswith("--") or not value or not plain_setting(name, value):
            return False
    return True


def plain_setting(name: str, value: str) -> bool:
    """Whether the option ``name`` is one to set what is done with regions, and ``value`` is right for it."""
    if name in NUMBERS:
        minimum, maximum, length = NUMBERS[name]
        numbers = value.split(",") if length > 1 else [value]
        return len(numbers) <= length and all(
            number.isascii() and number.isdigit() and len(number) < 20 and minimum <= int(number) <= maximum
            for number in numbers
        )
    return name == "--cc" or (name == "--color" and value in _COLOURS) or value in WORDS.get(name, ())
