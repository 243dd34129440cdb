from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

SOURCE = """\
double a[9];
int f(void)
{
  int kept = 0;
#pragma scop
  for (int i = 0; i < 9; i++) { a[i] = i; return 1; }
#pragma endscop
  return kept;
}
"""


@pytest.fixture
def reduce(tmp_path, monkeypatch):
    """Starts the command with a script in the place of C-Vise."""
    (tmp_path / "in.c").write_text(SOURCE)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    started = []

    def start(script, *words):
        tool = tmp_path / "bin" / "cvise"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        command = [sys.executable, "-m", "polybuild", "reduce", "in.c", "--check", "refusal", *words]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
        started.append(process)
        return process

    yield start
    for each in started:
        each.kill()
        each.communicate()


SMALLER = """grep -v kept "$4" > smaller && mv smaller "$4" && "$3" """
"""Takes lines away and asks whether it is still wrong; its words: two on passes, the test, a file."""


def test_what_the_tool_finds_is_kept(reduce, tmp_path):
    out, err = reduce(f"{SMALLER} && touch {tmp_path}/asked").communicate(timeout=120)
    assert "still refusal=" in out, err
    assert (tmp_path / "asked").exists()
    assert (tmp_path / "in.reduced.c").read_text() == "".join(
        f"{line}\n" for line in SOURCE.splitlines() if "kept" not in line
    )


def test_what_shows_nothing_any_more_is_an_error(reduce):
    process = reduce('echo "int nothing;" > "$4"')
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "does not show refusal" in err


@pytest.mark.parametrize("end", ["budget", "signal"])
def test_the_search_ends_early_with_what_it_has(end, reduce, tmp_path):
    script = f"{SMALLER}; echo $$ > {tmp_path}/began; sleep 600"
    process = reduce(script, *(["--budget", "1s"] if end == "budget" else []))
    began = tmp_path / "began"
    while not began.exists() and process.poll() is None and end == "signal":
        time.sleep(0.02)
    if end == "signal":
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert "still refusal=" in out, err
    if end == "signal":
        with pytest.raises(ProcessLookupError):
            os.kill(int(began.read_text()), 0)
