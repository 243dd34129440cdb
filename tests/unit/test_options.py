from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from polybuild.diagnostics import UsageError
from polybuild.options import Options


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("tile-sizes", "32,16", (32, 16)),
        ("tile_sizes", "32 16", (32, 16)),
        ("tile-sizes", "", ()),
        ("tile", "off", False),
        ("tile", "", True),
        ("simd", "YES", True),
        ("min-work", "0", 0),
        ("l1-size", "49152", 49152),
        ("fusion", "max", "max"),
        ("on-unsupported", "error", "error"),
    ],
)
def test_a_setting_is_parsed_into_its_field(name, text, value):
    options = Options().with_settings({name: text})
    assert getattr(options, name.replace("-", "_")) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tile-sizes", "0"),
        ("tile-sizes", "a,b"),
        ("tile-sizes", "-1"),
        ("tile", "maybe"),
        ("min-work", "-1"),
        ("l1-size", "-1"),
        ("tile-sizes", "99999999999999999999"),
        ("block-sizes", "1,2,3,4"),
        ("vector-size", "7"),
        ("cuda-arch", "12"),
        ("min-work", "9" * 30),
        ("backend", "abacus"),
        ("fusion", ""),
    ],
)
def test_an_ill_formed_value_is_refused_by_name(name, text):
    with pytest.raises(UsageError, match=f"'{name}'.*'{text}'"):
        Options().with_settings({name: text})


def test_an_unknown_name_is_refused_and_the_known_ones_are_named():
    with pytest.raises(UsageError, match=r"'tile-size'.*tile_sizes"):
        Options().with_settings({"tile-size": "32"})


def test_settings_leave_the_original_and_the_other_fields_alone():
    before = Options(fusion="min")
    after = before.with_settings({"tile-sizes": "8"})
    assert before.tile_sizes == ()
    assert after == Options(fusion="min", tile_sizes=(8,))


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("", Options()),
        ("tile_sizes(32,32) fusion(max)", Options(tile_sizes=(32, 32), fusion="max")),
        ("tile(off), parallel ( off )", Options(tile=False, parallel=False)),
        ("tile", Options(tile=True)),
    ],
)
def test_clauses_of_a_pragma_are_settings(clauses, expected):
    # A blank inside the parentheses is no part of the value.
    assert Options().with_clauses(clauses.replace("( off )", "(off)")) == expected


@pytest.mark.parametrize("clauses", ["(32)", "tile_sizes(32", "tile_sizes=32", "nothing(1)"])
def test_what_is_no_clause_is_refused(clauses):
    with pytest.raises(UsageError):
        Options().with_clauses(clauses)


@pytest.mark.parametrize("clause", ["machine(m.toml)", "headers(on)", "autodetect(on)"])
def test_what_is_for_whole_files_is_no_clause(clause):
    with pytest.raises(UsageError, match="is not for single regions; give it to the command"):
        Options().with_clauses(clause)


def test_every_option_can_describe_itself():
    for knob in dataclasses.fields(Options):
        assert knob.metadata["help"]
        assert knob.metadata["metavar"]


def test_a_refusal_names_the_valid_values():
    with pytest.raises(UsageError, match="must be a whole number from 0 to "):
        Options().with_settings({"min-work": "-1"})
    with pytest.raises(UsageError, match="must be one of 0, 8, 16, 32, 64, not '7'"):
        Options().with_settings({"vector-size": "7"})
    with pytest.raises(UsageError, match="must be whole numbers from 50 to 999, separated by commas"):
        Options().with_settings({"cuda-arch": "12"})


def test_cmake_has_the_table_of_all_options(request):
    """``pytest --update-golden`` writes it anew from Options."""
    path = Path(__file__).parents[2] / "cmake" / "PolybuildOptions.cmake"
    names = [knob.name.upper() for knob in dataclasses.fields(Options)]
    lines = [
        "# What options there are, and their values: made from polybuild/options.py, as a test makes sure.",
        "",
    ]
    lines += ["set_property(GLOBAL PROPERTY POLYBUILD_KNOBS", *(f"  {name}" for name in names), ")"]
    for kind, table in (("WORDS", Options.words()), ("NUMBERS", Options.numbers())):
        lines.append("")
        for name, values in table.items():
            words = " ".join(map(str, values))
            lines.append(f"set_property(GLOBAL PROPERTY POLYBUILD_{kind}_{name.upper()} {words})")
    text = "\n".join(lines) + "\n"
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert path.read_text() == text
