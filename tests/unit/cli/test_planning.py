"""``explain --sizes``, ``--ranks`` and ``--network``: the table, JSON and what is wrong with words."""

from __future__ import annotations

import json

import pytest

from polybuild.cli import main as cli

PRODUCT = """
void product(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


@pytest.fixture(autouse=True)
def product(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.c").write_text(PRODUCT)


@pytest.fixture
def explain(capsys):
    def run(*words):
        code = cli.run(["explain", "in.c", "--color", "never", *words])
        return code, capsys.readouterr()

    return run


def test_table(explain):
    code, said = explain("--ranks", "1,4", "--sizes", "n=400", "--network", "2us,8GB/s", "--parallel", "off")
    assert code == 0
    lines = said.out.splitlines()
    title = lines.index("  on ranks, for n = 400:")
    heads, one, four = (line.split() for line in lines[title + 1 : title + 4])
    assert heads[:4] == ["ranks", "instances", "messages", "bytes"]
    assert one[:4] == ["1", str(400**3), "0", "0"]
    assert four[:4] == ["4", str(400**3 // 4), "3", str(3 * 100 * 400 * 8)]


def test_json(explain):
    _, said = explain("--ranks", "2", "--sizes", "n=400", "--json")
    (region,) = json.loads(said.out)["regions"]
    assert region["ranks"]["parameters"] == {"n": 400}
    (row,) = region["ranks"]["rows"]
    assert (row["ranks"], row["messages"], row["bytes"]) == (2, 1, 200 * 400 * 8)
    assert row["efficiency"] == pytest.approx(row["speed_up"] / 2)


def test_sizes_are_those_of_what_is_expected(explain):
    _, said = explain("--sizes", "n=77")
    assert "expected for n = 77:" in said.out
    _, said = explain("--sizes", "n=-77")
    assert "expected for" not in said.out


def test_page_has_the_table(explain, tmp_path):
    code, _ = explain("--ranks", "2", "--html", "out.html")
    assert code == 0
    assert "<h3>On ranks, for n = 1000</h3>" in (tmp_path / "out.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--ranks 0", "--ranks takes numbers from 1 to 4096, parted by commas, as in 1,2,8: not '0'"),
        ("--ranks 1,,2", "not '1,,2'"),
        ("--ranks two", "not 'two'"),
        ("--ranks 9999", "not '9999'"),
        (
            "--ranks 2 --network 3us",
            "takes a latency and a bandwidth, as in '1.5us,12GB/s': not '3us'",
        ),
        ("--ranks 2 --network 3us,fast", "units are GB/s, MB/s: not 'fast'"),
        ("--ranks 2 --network 0us,1GB/s", "must be a number above 0"),
        ("--network 1us,1GB/s", "name with --ranks how many there are"),
        ("--ranks 2 --distribute off", "leave out '--distribute off'"),
        ("--sizes n", "--sizes takes values of parameters, as in n=4000,steps=100: not 'n'"),
        ("--sizes n=many", "not 'n=many'"),
        ("--sizes m=3", "no region of in.c has a parameter 'm'; they are n"),
    ],
)
def test_wrong_words(explain, words, message):
    code, said = explain(*words.split())
    assert code == 2
    assert said.err.startswith("polybuild: error: ")
    assert message in said.err
    assert said.err.count("\n") == 1
