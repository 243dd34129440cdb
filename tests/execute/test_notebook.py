"""C in a cell: its functions become names, what was done is told, and mistakes are messages."""

from __future__ import annotations

import pytest

from polybuild.diagnostics import PolybuildError
from polybuild.integrations.notebook import load_ipython_extension, run_cell

np = pytest.importorskip("numpy")

CELL = """\
void twice(int n, double a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2.0 * a[i];
#pragma endscop
}"""


class Shell:
    """What a magic needs of IPython."""

    def __init__(self):
        self.user_ns = {}
        self.magics = {}

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics[magic_kind, magic_name] = function


@pytest.fixture
def magic(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path))
    shell = Shell()
    load_ipython_extension(shell)
    return shell, shell.magics["cell", "polybuild"]


@pytest.mark.fast
def test_a_cell(magic, capsys):
    shell, polybuild = magic
    polybuild("--min-work 0 --level=1 -- -O2", CELL)
    array = np.arange(5.0)
    shell.user_ns["twice"](5, array)
    assert array.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert "twice  parallel" in capsys.readouterr().out


def test_options_reach_the_explanation(magic, capsys):
    _, polybuild = magic
    polybuild("--parallel=off", CELL)
    text = capsys.readouterr().out
    assert "cell.c:3-6 in twice" in text
    assert "run by threads" not in text


def test_nothing_is_told(magic, capsys):
    _, polybuild = magic
    polybuild("--level 0", CELL)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("-O3", CELL, "flags of the compiler stand after '--'"),
        ("--tile-size 3", CELL, "unknown option"),
        ("", "void f(void) {}", "no function with a region"),
        ("", CELL.replace("2.0 *", "missing *"), "does not compile"),
    ],
)
def test_mistakes_are_messages(line, cell, message, magic, capsys):
    shell, polybuild = magic
    with pytest.raises(PolybuildError, match=message):
        run_cell(line, cell, {})
    polybuild(line, cell)
    assert message in capsys.readouterr().err
    assert not shell.user_ns
