from __future__ import annotations

import io

import pytest

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.report.explain.terminal import Style, render, style_for, write

PLAIN = Style()


def warning(file, line, column=0, *, code="loop-bound", message="not affine", hint=""):
    return Diagnostic(Severity.WARNING, code, message, Location(str(file), line, column), hint)


@pytest.fixture
def source(tmp_path):
    def make(text):
        path = tmp_path / "in.c"
        path.write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
        return path

    return make


def lines_of(diagnostic, style=PLAIN):
    return render(diagnostic, style).splitlines()


def test_a_verbose_warning_names_its_page(tmp_path):
    told = warning(tmp_path / "in.c", 1)
    assert f"more: polybuild docs {told.code}\n" in render(told, PLAIN, verbose=True)
    assert "more:" not in render(told, PLAIN)


def test_the_shape_of_a_diagnostic(source):
    path = source("int x;\n  for (;;) ;\n")
    assert render(warning(path, 2, 3, hint="give it a bound"), PLAIN) == (
        f"{path}:2:3: warning: not affine [-Wpolybuild-loop-bound]\n"
        "      for (;;) ;\n"
        "      ^\n"
        "hint: give it a bound\n"
    )


def test_a_remark_is_one_line(source):
    diagnostic = Diagnostic(Severity.REMARK, "", "region transformed", Location(str(source("x\n")), 1, 1))
    assert len(lines_of(diagnostic)) == 1


@pytest.mark.parametrize("severity", list(Severity))
def test_every_severity_has_its_word(source, severity):
    diagnostic = Diagnostic(severity, "", "said", Location(str(source("x\n")), 1))
    assert lines_of(diagnostic)[0].endswith(f":1: {severity.value}: said")


@pytest.mark.parametrize(
    ("text", "column", "shown", "under"),
    [
        ("\tx = y;", 6, " " * 8 + "x = y;", "y"),
        ("a\tb;", 3, "a" + " " * 7 + "b;", "b"),
        ("    é = y;", 9, "    é = y;", "y"),
    ],
)
def test_the_caret_stands_under_its_column_whatever_the_tabs(source, text, column, shown, under):
    line, caret = lines_of(warning(source(text + "\r\n"), 1, column))[1:]
    assert line == "    " + shown
    assert line[caret.index("^")] == under


def test_wide_characters_take_two_columns(source):
    caret = lines_of(warning(source("/*漢字*/ y"), 1, 8))[2]
    assert caret.index("^") == 4 + len("/*漢字*/ ") + 2


def test_without_a_column_there_is_no_caret(source):
    assert lines_of(warning(source("x = y;\n"), 1))[1:] == ["    x = y;"]


@pytest.mark.parametrize("line", [0, 99])
def test_without_a_line_to_show_none_is_shown(source, line):
    assert len(lines_of(warning(source("x\n"), line, 1))) == 1


def test_a_file_as_a_whole_has_no_line_number(source):
    path = source("x\n")
    assert lines_of(warning(path, 0))[0].startswith(f"{path}: warning: ")


def test_a_missing_file_is_no_obstacle(tmp_path):
    assert len(lines_of(warning(tmp_path / "none.c", 3, 1))) == 1


def test_a_column_behind_the_line_is_clamped(source):
    assert lines_of(warning(source("ab\n"), 1, 50))[2] == "      ^"


def test_control_characters_do_not_reach_the_terminal(source):
    text = render(warning(source("a\x1b[2Jb\x0c;\n"), 1, 1), PLAIN)
    assert "\x1b" not in text
    assert "\x0c" not in text


def test_a_very_long_line_is_cut_around_the_caret(source):
    line, caret = lines_of(warning(source("a" * 5000 + "X" + "b" * 5000), 1, 5001))[1:]
    assert len(line) < 200
    assert line[caret.index("^")] == "X"


def test_colours_change_nothing_but_colours(source):
    diagnostic = warning(source("\tx = y;\n"), 1, 6, hint="h")
    coloured = render(diagnostic, Style(colour=True))
    assert "\x1b[1;35m" in coloured
    bare = coloured
    for code in ("\x1b[1m", "\x1b[1;35m", "\x1b[1;32m", "\x1b[m"):
        bare = bare.replace(code, "")
    assert bare == render(diagnostic, PLAIN)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colour_is_for_terminals_unless_told(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert style_for(Terminal(), "auto").colour
    assert not style_for(io.StringIO(), "auto").colour
    assert style_for(io.StringIO(), "always").colour
    assert not style_for(Terminal(), "never").colour


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_the_environment_can_forbid_colour(monkeypatch, name, value):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert not style_for(Terminal(), "auto").colour


def test_bytes_that_are_no_text_come_out_as_they_went_in(source):
    path = source(b"x = '\xe9';\n")
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    write(stream, render(warning(path, 1, 1), PLAIN))
    assert b"x = '\xe9';" in stream.buffer.getvalue()


def test_text_the_stream_cannot_hold_is_escaped():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    write(stream, "é\n")
    assert stream.buffer.getvalue() == b"\\xe9\n"


def test_long_lines_of_explanations_are_broken_for_the_terminal():
    style = Style(colour=True, columns=24)
    line = f"    line 3: {style.good('below n = 142')} the original loops run"
    assert style.wrapped(line) == [
        "    line 3: \x1b[1;32mbelow n =",
        "      142\x1b[m the original",
        "      loops run",
    ]
    assert style.wrapped("    short") == ["    short"]
    assert Style().wrapped(line) == [line]
