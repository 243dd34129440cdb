from __future__ import annotations

import json
import re

import pytest

import polybuild
from polybuild.cli import main as cli

FILE = """\
static const char *password = "hunter2";
void copy(int n, double *restrict a, const double *restrict b)
{
  const char *note = password;
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = SCALE * b[i] / 3;
#pragma endscop
  (void)note;
}
"""


@pytest.fixture
def text(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "home-of-somebody"
    folder.mkdir()
    (folder / "in.c").write_text(FILE)
    monkeypatch.chdir(folder)
    words = ["doctor", "--bundle", "out.md", str(folder / "in.c"), "--min-work", "0"]
    assert cli.run([*words, "--", "gcc", "-O2", f"-I{folder}", "-DSCALE=2", "-DTOKEN=abc"]) == 0
    assert "read it before" in capsys.readouterr().out
    return (folder / "out.md").read_text("utf-8")


def test_what_a_report_needs_is_in_it(text):
    assert f"polybuild {polybuild.__version__}\n" in text
    assert "gcc" in text.partition("## Compiler")[0]
    assert "-O2\n3 words left out" in text
    assert "min_work = 0" in text
    assert "[memory]" in text
    assert "a[i] = 2 * b[i] / 3;" in text
    report = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    assert [(each["file"], each["function"]) for each in report["regions"]] == [("in.c", "copy")]


def test_nothing_else_is(text):
    for word in ("hunter2", "password", "note", "somebody", "TOKEN", "abc"):
        assert word not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x.c"], "unexpected 'x.c'"),
        (["--bundle", "out.md"], "--bundle needs the C file"),
        (["--bundle", "out.md", "no-such.c"], "no-such.c"),
        (["--bundle", "out.md", "-"], "must have a name"),
    ],
)
def test_what_is_wrong_is_said(words, message, capsys):
    assert cli.run(["doctor", *words]) in {1, 2}
    assert message in capsys.readouterr().err
