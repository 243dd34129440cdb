"""The line of progress, on terminals and elsewhere."""

from __future__ import annotations

import io

import pytest

from polybuild.report.explain.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_one_line_and_nothing_of_it_remains(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")
    terminal = Terminal()
    with ProgressLine(3, terminal) as progress:
        progress.at("first")
        progress.at("a name that is longer than the line")
    assert terminal.getvalue().split("\r\x1b[K") == ["", "[1/3] first", "[2/3] a name that i", ""]


@pytest.mark.parametrize(("stream", "kind"), [(io.StringIO(), "xterm"), (Terminal(), "dumb")])
def test_logs_and_poor_terminals_see_nothing(monkeypatch, stream, kind):
    monkeypatch.setenv("TERM", kind)
    with ProgressLine(1, stream) as progress:
        progress.at("first")
        progress.clear()
    assert not stream.getvalue()
