"""The line of progress on terminals and elsewhere, and the end of the work at once."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from polybuild.driver.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.delenv("MAKELEVEL", raising=False)


def test_a_terminal_sees_one_line_and_nothing_of_it_remains():
    stream = Terminal()
    progress = ProgressLine(stream, patience=0)
    progress.at("a.c:3: scop")
    progress.wait()
    progress.at("a.c:3: a step of a long name")
    progress.clear()
    assert stream.getvalue().split("\r\x1b[K") == ["", "a.c:3: scop (0 s)", "a.c:3: a step of a long", ""]


@pytest.mark.parametrize(
    ("stream", "variable", "value", "patience"),
    [
        (io.StringIO(), "TERM", "xterm", 0),
        (Terminal(), "TERM", "dumb", 0),
        (Terminal(), "MAKELEVEL", "1", 0),
        (Terminal(), "TERM", "xterm", 60),
    ],
)
def test_logs_poor_terminals_make_and_short_work_see_nothing(monkeypatch, stream, variable, value, patience):
    monkeypatch.setenv(variable, value)
    progress = ProgressLine(stream, patience=patience)
    progress.at("first")
    progress.clear()
    assert not stream.getvalue()


SLOW = """\
import time
from polybuild.cli import main
from polybuild.driver import passes
import dataclasses
def slow(*_):
    open("begun", "w").close()
    time.sleep(SECONDS)
passes.ANALYSES = tuple(
    dataclasses.replace(each, run=lambda model, run=each.run: (slow(), run(model)))
    if each.name == "scop" else each for each in passes.ANALYSES)
raise SystemExit(main.run(["compile", "in.c", "-o", "out.c"]))
"""
SOURCE = (
    "void f(int n, double *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n}\n"
)


def begin(folder, seconds, stderr):
    (folder / "in.c").write_text(SOURCE)
    command = [sys.executable, "-c", SLOW.replace("SECONDS", str(seconds))]
    return subprocess.Popen(command, cwd=folder, stderr=stderr, start_new_session=True)


def test_a_file_that_takes_long_tells_its_region_and_step(tmp_path):
    ours, theirs = pty.openpty()
    process = begin(tmp_path, 2.5, theirs)
    os.close(theirs)
    shown = ""
    with contextlib.suppress(OSError):  # the end of what a terminal has shown
        while data := os.read(ours, 10000):
            shown += data.decode()
    os.close(ours)
    assert process.wait(60) == 0
    assert re.search(r"\r\x1b\[Kin\.c:2: scop \(\d+ s\)", shown)
    assert shown.endswith("\r\x1b[K")


def test_an_interrupt_ends_the_work_at_once(tmp_path):
    process = begin(tmp_path, 60, subprocess.DEVNULL)
    while not (tmp_path / "begun").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130  # the work takes 60 s
    assert not (tmp_path / "out.c").exists()
