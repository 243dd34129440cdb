"""A C compiler's command line, read far enough to know what it compiles and what it links.

Only what gcc and clang agree on is understood. Start-up time counts on every
file of a build, so this module imports nothing that the interpreter has not
loaded.
"""

import os

from polybuild.driver.output import WARNING_FLAGS

LAUNCHERS = frozenset({"ccache", "sccache", "distcc", "icecc", "buildcache"})
"""Commands that run the compiler named behind them."""

OBJECT, ASSEMBLY, LINK = "object", "assembly", "link"
"""What a command line makes, as far as it concerns us."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The word that follows belongs to these.
_WITH_VALUE = _words(
    "-o -x -D -U -I -L -l -A -B -F -G -T -u -z -e -h -b -V -include -imacros -isystem -iquote "
    "-idirafter -iprefix -iwithprefix -iwithprefixbefore -isysroot -imultilib -include-pch -iframework "
    "-ivfsoverlay -cxx-isystem -dylib_file -MF -MT -MQ -MJ -Xclang -Xpreprocessor -Xlinker -Xassembler "
    "-Xanalyzer -Xopenmp-target -mllvm -mthread-model --param --sysroot --include --include-directory "
    "--define-macro --undefine-macro --output --language -target --target -arch -framework -aux-info "
    "-wrapper -specs --specs -dumpbase -dumpbase-ext -dumpdir -Tdata -Ttext -Tbss -rpath -install_name "
    "-undefined -current_version -compatibility_version -gcc-toolchain"
)
# Nothing of ours is in these: the compiler asks itself, stops early or reads another language.
_NOT_OURS = _words(
    "-E -M -MM -### -fsyntax-only --version --help -dumpversion -dumpmachine -dumpspecs "
    "-dumpfullversion -Q -cc1 -cc1as --analyze -emit-ast --precompile -fpreprocessed -fdirectives-only "
    "-traditional -traditional-cpp -I- -- --preprocess --dependencies --user-dependencies"
)
_NOT_OURS_STARTS = ("-print-", "--print-", "--help=")
# These matter to the linker only, or say what to write and where.
_LINKER_STARTS = ("-L", "-l", "-Wl,", "-T")
_LINKER_VALUE = _words("-L -l -T -u -z -e -h -Xlinker -rpath -install_name -Tdata -Ttext -Tbss")
_OUTPUT_VALUE = _words("-o --output -MF -MT -MQ -MJ -dumpbase -dumpbase-ext -dumpdir -aux-info")
_OUTPUT = _words("-c -S -MD -MMD -MP -MG --compile --assemble -pipe -v -save-temps")
_NO_RUNTIME = _words("-r -nostdlib -nodefaultlibs -nolibc -fno-openmp")
_OPENMP_LIBRARIES = _words("-lgomp -lomp -liomp5")

_MAXIMUM_RESPONSE_FILE = 8 << 20


class Input:
    """A file on a command line: the position of its word, its name and its language.

    ``language`` is ``c``; ``other`` for a source in a language that is not ours;
    ``object`` for what the linker reads.
    """

    __slots__ = ("language", "name", "position")

    def __init__(self, position: int, name: str, language: str) -> None:
        self.position = position
        self.name = name
        self.language = language


class Libraries:
    """What a command line says of libraries: their names, the folders to look in, what else counts.

    ``takes_openmp`` is false where OpenMP's must not be added, or is named.
    """

    __slots__ = ("folders", "names", "takes_openmp")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.folders: list[str] = []
        self.takes_openmp = True


class CommandLine:
    """What a compiler's command line says.

    ``command`` is the compiler with its launchers, as given, ``words`` all after
    it, response files read. ``phase`` is what is made; it is empty if the line
    is for the compiler alone. ``flags`` are the words that decide what the
    sources mean. ``depfiles`` are the dependency files named on the line. Flags that mean warnings of ours
    are no ``words``, as the compiler does not get them.
    """

    def __init__(self, words: list[str]) -> None:
        """Read ``words``, the compiler first. OSError if a response file cannot be read."""
        length = _command_length(words)
        self.command = words[:length]
        expanded = _expanded(words[length:])
        self.words = [word for word in expanded if not word.startswith(WARNING_FLAGS)]
        self.phase = LINK
        self.output = ""
        self.inputs: list[Input] = []
        self.flags: list[str] = []
        self.libraries = Libraries()
        self.depfiles: list[str] = []
        self.writes_dependencies = False
        self.openmp = False
        self._language = ""
        name = os.path.basename(self.compiler[-1]) if self.command else ""  # noqa: PTH119 -- start-up
        if not self.command or "=" in name or name.startswith("-"):
            self.phase = ""
        self._takes_c_for_c = "++" not in name
        self._read()
        self.flags += [word for word in expanded if word.startswith(WARNING_FLAGS)]

    @property
    def compiler(self) -> list[str]:
        """The compiler's own command, without launchers."""
        return self.command[-1:]

    def sources(self) -> list[Input]:
        """The C files on the line."""
        return [each for each in self.inputs if each.language == "c"]

    def _read(self) -> None:
        words = self.words
        position = 0
        while position < len(words):
            word = words[position]
            if word in _NOT_OURS or word.startswith(_NOT_OURS_STARTS):
                self.phase = ""
                return
            if word == "-" or not word.startswith("-"):
                self._add_input(position, word)
                position += 1
            elif word in _WITH_VALUE:
                if position + 1 == len(words):
                    self.phase = ""  # the compiler has something to say about that
                    return
                self._add_pair(word, words[position + 1])
                position += 2
            else:
                self._add_flag(word)
                position += 1

    def _add_input(self, position: int, name: str) -> None:
        suffix = name.rpartition(".")[2] if "." in name else ""
        if self._language:
            language = "c" if self._language == "c" else "other"
        elif suffix == "c":
            language = "c" if self._takes_c_for_c else "other"
        else:
            language = "other" if suffix in _OTHER_SUFFIXES else "object"
        self.inputs.append(Input(position, name, language))

    def _add_pair(self, word: str, value: str) -> None:
        if word in {"-o", "--output"}:
            self.output = value
        elif word in {"-MF", "-MJ"}:
            self.depfiles.append(value)
        elif word in {"-x", "--language"}:
            self._set_language(value)
        elif word == "-l":
            self.libraries.names.append(value)
        elif word == "-L":
            self.libraries.folders.append(value)
        if word not in _OUTPUT_VALUE and word not in _LINKER_VALUE and word not in {"-x", "--language"}:
            self.flags += [word, value]

    def _add_flag(self, word: str) -> None:
        if word in {"-c", "--compile"}:
            self.phase = self.phase and OBJECT
        elif word in {"-S", "--assemble"}:
            self.phase = self.phase and ASSEMBLY
        elif word in {"-MD", "-MMD"}:
            self.writes_dependencies = True
        elif word.startswith("-o") and not word.startswith(("-object", "-openmp")):
            self.output = word[2:]
        elif word.startswith(("-MF", "-MJ")):
            self.depfiles.append(word[3:])
        elif word.startswith("-Wp,-M"):
            self.depfiles += [part for part in word.split(",")[2:] if not part.startswith("-")]
        elif word.startswith("-x") and not word.startswith("-xc++"):
            self._set_language(word[2:])
        elif word.startswith("-xc++"):
            self._language = "c++"
        elif word.startswith("-l"):
            self.libraries.names.append(word[2:])
            if word in _OPENMP_LIBRARIES:
                self.libraries.takes_openmp = False
        elif word.startswith("-L"):
            self.libraries.folders.append(word[2:])
        elif word in _NO_RUNTIME:
            self.libraries.takes_openmp = False
        elif word == "-fopenmp" or word.startswith(("-fopenmp=", "-qopenmp", "-fiopenmp")):
            self.openmp = True
        if word not in _OUTPUT and not word.startswith(
            (*_LINKER_STARTS, "-MF", "-MT", "-MQ", "-MJ", "-o", "-x")
        ):
            self.flags.append(word)

    def _set_language(self, name: str) -> None:
        self._language = "" if name == "none" else name


_OTHER_SUFFIXES = _words(
    "h hh H hp hxx hpp HPP h++ tcc i ii m mi mm M mii cc cp cxx cpp CPP c++ C s S sx asm f for ftn F "
    "FOR fpp f90 f95 f03 f08 F90 F95 F03 F08 go d di dd adb ads cu hip cl ll bc pch gch"
)


def _command_length(words: list[str]) -> int:
    """How many words name the compiler: one, and one for each launcher before it."""
    for length, word in enumerate(words, 1):
        if os.path.basename(word) not in LAUNCHERS:  # noqa: PTH119 -- start-up
            return length
    return len(words)


def _expanded(words: list[str], depth: int = 0) -> list[str]:
    """``words`` with each ``@file`` replaced by what the file holds, as the compilers do it."""
    if not any(word.startswith("@") for word in words):
        return words
    result: list[str] = []
    for word in words:
        text = _response(word[1:]) if word.startswith("@") and depth < 16 else None
        if text is None:
            result.append(word)
        else:
            result += _expanded(split(text), depth + 1)
    return result


def _response(name: str) -> str | None:
    """What a response file holds; None if there is no such file: then the word is an ordinary one."""
    try:
        if os.stat(name).st_size > _MAXIMUM_RESPONSE_FILE:  # noqa: PTH116 -- start-up
            return None
        with open(name, encoding="utf-8", errors="surrogateescape", newline="") as file:  # noqa: PTH123 -- start-up
            return file.read()
    except OSError:
        return None


def split(text: str) -> list[str]:
    """The words of a response file: blanks separate them, quotes and backslashes protect."""
    words: list[str] = []
    word: list[str] = []
    begun = False
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\":
            word.append(next(characters, ""))
            begun = True
        elif quote:
            if character == quote:
                quote = ""
            else:
                word.append(character)
        elif character in "'\"":
            quote = character
            begun = True
        elif character.isspace():
            if begun:
                words.append("".join(word))
            word, begun = [], False
        else:
            word.append(character)
            begun = True
    if begun:
        words.append("".join(word))
    return words
