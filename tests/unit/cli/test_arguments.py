from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from polybuild.cli import arguments, plain_values
from polybuild.cli import main as cli
from polybuild.diagnostics import UsageError
from polybuild.options import Options


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CC", raising=False)


def parse(*words):
    return arguments.parse(words)


def test_everything_at_once():
    given = parse(
        *("in.c", "-o", "out.c", "--depfile=out.d", "--report", "r.json", "-v", "--color", "never"),
        *("--tile-sizes", "4,8", "--fusion=max", "--cc", "gcc -m64", "--", "-O3", "-DX=1"),
    )
    assert (given.request.source, given.files) == ("in.c", ("out.c", "out.d", "r.json"))
    assert given.request.settings == {"tile_sizes": "4,8", "fusion": "max"}
    assert (given.request.compiler, given.request.flags) == (("gcc", "-m64"), ("-O3", "-DX=1"))
    assert (given.verbose, given.colour) == (True, "never")


def test_what_is_not_given_is_empty_or_usual():
    given = parse("in.c")
    assert given.files == ("-", "", "")
    assert given.request.settings == {}
    assert (given.request.compiler, given.request.flags) == (("cc",), ("-O2",))


def test_every_option_has_its_argument():
    for knob in dataclasses.fields(Options):
        is_switch = isinstance(knob.default, bool | None)
        switch = {True: "on", False: "off", None: "on"} if is_switch else {(): "1"}
        value = switch.get(knob.default, str(knob.default))
        if isinstance(knob.default, tuple) and knob.default:
            value = ",".join(map(str, knob.default))
        special = {"temporary": "a,b", "require": "parallel,tiled", "nvcc": "/usr/bin/nvcc"}
        value = (special | {"device_tiles": "shared-memory,aligned-loads"}).get(knob.name, value)
        assert parse("in.c", "--" + knob.name.replace("_", "-"), value).request.settings == {knob.name: value}


@pytest.mark.parametrize(
    ("wanted", "words", "compiler", "flags"),
    [
        ("gcc", ["clang", "-O1"], ["gcc"], ["clang", "-O1"]),
        (None, ["clang", "-O1"], ["clang"], ["-O1"]),
        (None, ["/usr/bin/ccache", "gcc", "-O1"], ["/usr/bin/ccache", "gcc"], ["-O1"]),
        (None, ["-O1"], ["tcc", "-w"], ["-O1"]),
        (None, ["@flags"], ["tcc", "-w"], ["@flags"]),
        (None, [], ["tcc", "-w"], []),
    ],
)
def test_the_compiler_is_named_in_one_of_three_places(monkeypatch, wanted, words, compiler, flags):
    monkeypatch.setenv("CC", "tcc -w")
    assert arguments.choose_compiler(wanted, words) == (compiler, flags)


@pytest.mark.parametrize(
    ("words", "flags"), [([], ["-O2"]), (["--"], ["-O2"]), (["--", "gcc"], []), (["--", "-g"], ["-g"])]
)
def test_files_are_taken_to_be_optimised_where_nothing_is_said(words, flags):
    assert list(parse("in.c", *words).request.flags) == flags


def test_a_compiler_with_blanks_in_its_path(tmp_path):
    path = tmp_path / "my tools" / "cc"
    path.parent.mkdir()
    path.touch()
    assert arguments.choose_compiler(str(path), []) == ([str(path)], [])


def test_response_files_are_read_and_known(tmp_path):
    (tmp_path / "flags").write_text("-I'a b' @more\n-DX=\\\"y\\\"")
    (tmp_path / "more").write_text("-O2")
    given = parse("in.c", "--", "@flags", "-g")
    assert given.request.expanded_flags() == ["-Ia b", "-O2", '-DX="y"', "-g"]
    assert given.request.response_files() == ("flags",)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "FILE.c"),
        (["in.c", "other.c"], "other.c"),
        (["in.c", "-O3"], "after '--'"),
        (["in.c", "--tile-size", "3"], "did you mean '--tile-sizes'"),
        (["in.c", "--til", "on"], "--til"),
        (["in.c", "--tile-sizes", "0"], "tile-sizes"),
        (["in.c", "--color", "pink"], "pink"),
        (["in.c", "-o"], "-o"),
        (["in.c", "-o", ""], "output"),
        (["in.c", "-o", "in.c"], "overwrite"),
        (["in.c", "-o", "x", "--depfile", "x"], "overwrite"),
        (["in.c", "--depfile", "x"], "-o FILE"),
        (["-", "-o", "x"], "standard input"),
        (["in.c", "--cc", ""], "--cc"),
        (["in.c", "--cc", "'"], "--cc"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, words, said):
    (tmp_path / "in.c").touch()
    with pytest.raises(UsageError) as caught:
        parse(*words)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


# The short way of cli.py: what it accepts must mean the same as on the long way.

PLAIN = [
    ["in.c", "-o", "out.c"],
    ["-o", "out.c", "in.c", "--", "-O3", "-DX"],
    ["in.c", "--output=out.c", "--depfile", "out.d", "--report=r=1.json", "--cc", "/opt/gcc", "-v"],
    ["in.c", "--output", "out.c", "--verbose", "--color", "always", "--cc=gcc", "--", "--", "-"],
]
NOT_PLAIN = [
    [],
    ["in.c"],
    ["in.c", "-o", "-"],
    ["in.c", "-oout.c"],
    ["-", "-o", "out.c"],
    ["", "-o", "out.c"],
    ["in.c", "b.c", "-o", "out.c"],
    ["in.c", "-o", "out.c", "--help"],
    ["in.c", "-o", "out.c", "-O3"],
    ["in.c", "-o", "out.c", "--backend", "abacus"],
    ["in.c", "-o", "out.c", "--tile-sizes", "0"],
    ["in.c", "-o", "out.c", "--tile-sizes", "1,,2"],
    ["in.c", "-o", "out.c", "--tile-sizes", "²"],
    ["in.c", "-o", "out.c", "--min-work=-3"],
    ["in.c", "-o", "out.c", "--depfile"],
    ["in.c", "-o", "out.c", "--depfile="],
    ["in.c", "-o", "out.c", "--til", "on"],
    ["in.c", "-o", "out.c", "--", "-O2", "@nothing"],
]


@pytest.mark.parametrize("words", PLAIN)
def test_the_short_way_reads_what_the_long_way_reads(words):
    given = arguments.parse(words)
    assert cli.plain_compile(["compile", *words]) == (given.request.source, given.files)


@pytest.mark.parametrize("words", NOT_PLAIN)
def test_the_short_way_leaves_doubtful_words_to_the_long_way(words):
    assert cli.plain_compile(["compile", *words]) is None


LONG_WAY = ("nvcc", "temporary", "machine", "tuning", "require", "device_tiles")
"""Options that take paths, names or several words: these are read the long way."""


def test_the_short_way_has_a_table_of_all_options(request):
    """``pytest --update-golden`` writes it anew from Options."""
    path = Path(plain_values.__file__)
    head, begin, _ = path.read_text().partition("WORDS = {\n")
    words = {name: _plain_words(name, values) for name, values in Options.words().items()}
    text = head + begin + _table(words) + "\nNUMBERS = {\n" + _table(Options.numbers())
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert path.read_text() == text
    assert {*Options.words(), *Options.numbers(), *LONG_WAY} == {
        knob.name for knob in dataclasses.fields(Options)
    }


def _plain_words(name, values):
    """Without what makes more of a file than what is marked in it."""
    return tuple(word for word in values if word != "on" or name not in Options.finding_more())


def _table(options):
    return "".join(_entry(_option(name), values) for name, values in options.items()) + "}\n"


def _entry(option, values):
    """A line, or one for each value, where that would be longer than lines are."""
    line = f"    {json.dumps(option)}: {_tuple(values)},"
    if len(line) <= 110:
        return f"{line}\n"
    inside = "".join(f"        {json.dumps(each)},\n" for each in values)
    return f"    {json.dumps(option)}: (\n{inside}    ),\n"


def _option(name):
    return "--" + name.replace("_", "-")


def _tuple(values):
    return f"({', '.join(map(json.dumps, values))}{',' if len(values) == 1 else ''})"


def test_what_the_short_way_takes_is_right():
    samples = {name: list(values) for name, values in plain_values.WORDS.items()}
    for name, (least, most, length) in plain_values.NUMBERS.items():
        samples[name] = [str(least), str(most), ",".join([str(least)] * length)]
    for name, values in samples.items():
        for value in values:
            words = ["in.c", "-o", "out.c", name, value]
            assert cli.plain_compile(["compile", *words]) == ("in.c", ("out.c", "", ""))
            assert arguments.parse(words).request.settings == {name[2:].replace("-", "_"): value}


@pytest.mark.parametrize("name", plain_values.NUMBERS)
def test_the_short_way_leaves_numbers_out_of_range_to_the_long_way(name):
    least, most, length = plain_values.NUMBERS[name]
    for value in (str(least - 1), str(most + 1), ",".join([str(most)] * (length + 1))):
        words = ["in.c", "-o", "out.c", f"{name}={value}"]
        assert cli.plain_compile(["compile", *words]) is None
        with pytest.raises(UsageError):
            arguments.parse(words)
