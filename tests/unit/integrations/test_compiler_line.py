"""What is read from a compiler's command line."""

from __future__ import annotations

import shlex

import pytest

from polybuild.integrations.compiler_line import ASSEMBLY, LINK, OBJECT, CommandLine, split


def read(text):
    return CommandLine(shlex.split(text))


@pytest.mark.parametrize(
    ("line", "phase", "sources", "output"),
    [
        ("gcc -c a.c", OBJECT, ["a.c"], ""),
        ("gcc -O3 -c a.c -o b.o", OBJECT, ["a.c"], "b.o"),
        ("gcc -ob.o -c a.c", OBJECT, ["a.c"], "b.o"),
        ("gcc -S a.c", ASSEMBLY, ["a.c"], ""),
        ("gcc a.c b.c x.o -o p", LINK, ["a.c", "b.c"], "p"),
        ("gcc -c -D a.c -I b.c -include c.c d.c", OBJECT, ["d.c"], ""),
        ("gcc -c -MF a.c -MT b.c -Xlinker c.c -T s.c d.c", OBJECT, ["d.c"], ""),
        ("gcc -c a.C b.cpp c.s d.i e.h f.cu", OBJECT, [], ""),
        ("gcc -x c a.inc -x none b.inc", LINK, ["a.inc"], ""),
        ("gcc -xc - -o p", LINK, ["-"], "p"),
        ("gcc -x c++ a.c", LINK, [], ""),
        ("g++ a.c b.o", LINK, [], ""),
        ("clang++-14 -c a.c", OBJECT, [], ""),
        ("g++ -x c a.c", LINK, ["a.c"], ""),
        ("gcc -x c-header a.c", LINK, [], ""),
        ("gcc -xassembler-with-cpp a.c", LINK, [], ""),
        ("ccache gcc -c a.c", OBJECT, ["a.c"], ""),
        ("ccache distcc /usr/bin/x86_64-linux-gnu-gcc-12 -c a.c", OBJECT, ["a.c"], ""),
    ],
)
def test_what_is_made_of_what(line, phase, sources, output):
    found = read(line)
    assert (found.phase, [each.name for each in found.sources()], found.output) == (phase, sources, output)


@pytest.mark.parametrize(
    "line",
    [
        "gcc -E a.c",
        "gcc -M a.c",
        "gcc -MM a.c",
        "gcc --version",
        "gcc -dumpmachine",
        "gcc -print-search-dirs",
        "gcc -### -c a.c",
        "gcc -fsyntax-only a.c",
        "gcc -c -E a.c",
        "gcc -E -c a.c",
        "clang -cc1 a.c",
        "clang -c -- a.c",
        "gcc -c a.c -o",
        "X=1 gcc -c a.c",
        "",
    ],
)
def test_what_is_the_compilers_alone(line):
    assert read(line).phase == ""


def test_positions_are_those_of_the_words():
    line = read("ccache gcc -O2 a.c -I x b.c")
    assert line.command == ["ccache", "gcc"]
    assert line.compiler == ["gcc"]
    assert [line.words[each.position] for each in line.sources()] == ["a.c", "b.c"]


def test_flags_are_what_decides_the_meaning():
    line = read(
        "gcc -std=c99 -m32 -DX=1 -D Y -I inc -isystem sys -c -MD -MF d -MP -Wl,-z,now -lm -L . -o x.o"
        " -pipe -O3 a.c -Wp,-MD,e -x c"
    )
    kept = "-std=c99 -m32 -DX=1 -D Y -I inc -isystem sys -O3 -Wp,-MD,e"
    assert " ".join(line.flags) == kept
    assert line.depfiles == ["d", "e"]
    assert line.writes_dependencies
    assert (line.libraries.names, line.libraries.folders) == (["m"], ["."])


@pytest.mark.parametrize(
    ("line", "has", "takes"),
    [
        ("gcc x.o", False, True),
        ("gcc -fopenmp x.o", True, True),
        ("clang -fopenmp=libomp x.o", True, True),
        ("gcc -fno-openmp x.o", False, False),
        ("gcc -nostdlib x.o", False, False),
        ("gcc -r x.o", False, False),
        ("gcc x.o -lgomp", False, False),
    ],
)
def test_openmp(line, has, takes):
    assert (read(line).openmp, read(line).libraries.takes_openmp) == (has, takes)


def test_response_files_are_read(tmp_path):
    (tmp_path / "inner").write_text('"b c.c" -DX=\\"q\\"\n')
    (tmp_path / "outer").write_text(f"-O2 a.c\n@{tmp_path / 'inner'} @none")
    line = CommandLine(["gcc", "-c", f"@{tmp_path / 'outer'}", "last.c"])
    assert line.words == ["-c", "-O2", "a.c", "b c.c", '-DX="q"', "@none", "last.c"]
    assert [each.name for each in line.sources()] == ["a.c", "b c.c", "last.c"]


def test_response_file_that_names_itself_ends(tmp_path):
    (tmp_path / "self").write_text(f"a.c @{tmp_path / 'self'}")
    assert CommandLine(["gcc", f"@{tmp_path / 'self'}"]).sources()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("a  b\n\tc", ["a", "b", "c"]),
        ("'a b' \"c d\"e", ["a b", "c de"]),
        (r"a\ b 'c\'d' ''", ["a b", "c'd", ""]),
        ('x""', ["x"]),
    ],
)
def test_words_of_a_response_file(text, words):
    assert split(text) == words
