"""The passes of a region: their list is what runs, and each can be printed."""

from __future__ import annotations

import pytest

from polybuild.cli import main as cli
from polybuild.driver import file as pipeline
from polybuild.driver import passes
from polybuild.driver.pass_printer import PassPrinter
from polybuild.options import Options

NAMES = list(passes.pass_summaries())
DOT = """\
double dot(int n, const double *a, const double *restrict b) {
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++) { double t = a[i]; s += t * *(b + i); }
#pragma endscop
  return s;
}
"""


@pytest.fixture
def dot(tmp_path):
    file = tmp_path / "dot.c"
    file.write_text(DOT)
    return file


def test_the_passes_have_the_names_of_the_field_in_their_order():
    assert [
        *("normalise", "scop", "liveness", "rerolling", "statement-blocks", "guarded-values"),
        *(
            "element-promotion",
            "last-values",
            "work-arrays",
            "narrow-variables",
            "step-values",
            "step-sums",
            "copies",
            "residue-classes",
            "index-sets",
            "grid-sizes",
            "counters",
        ),
        "dependences",
        *("private-variables", "temporaries", "reductions", "schedule", "mapping", "stages"),
        *("expansion", "one-thread", "lanes", "pivots", "sequential-parts", "original-order", "threads"),
        "verdict",
        "legality",
        "aliasing",
        *("codegen", "kernels"),
    ] == NAMES


def test_each_pass_says_in_a_line_what_it_does():
    for name, summary in passes.pass_summaries().items():
        assert summary.endswith("."), name
        assert len(summary) < 120


def test_every_pass_is_printed_once_in_the_order_of_the_list(dot, capsys):
    pipeline.compile_source(str(dot), Options(min_work=0), ["gcc"], ["-O3"], printer=PassPrinter(NAMES))
    heads = [
        line for line in capsys.readouterr().err.splitlines() if not line.startswith((" ", "\n")) and line
    ]
    assert heads == [f"{dot}:3: after {name}" for name in NAMES]


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("normalise", "s += t * b[i]"),
        ("scop", "read: [n] -> { S1[i] -> b[i]"),
        ("scop", "domain:"),
        ("liveness", "  s\n"),
        ("dependences", "flow:"),
        ("reductions", "'s', +, in its order"),
        ("schedule", "schedule:"),
        ("mapping", "schedule:"),
        ("legality", "anti and output:"),
        ("codegen", "for (long long"),
    ],
)
def test_what_a_pass_made_is_shown(name, made, dot, capsys):
    pipeline.compile_source(str(dot), Options(min_work=0), ["gcc"], ["-O3"], printer=PassPrinter([name]))
    assert made in capsys.readouterr().err


def test_what_runs_is_the_list(dot, monkeypatch):
    ran = []

    def counted(each):
        def run(value):
            ran.append(each.name)
            each.run(value)

        return passes.Pass(each.name, run, each.show)

    for kind in ("ANALYSES", "TRANSFORMATIONS"):
        monkeypatch.setattr(passes, kind, tuple(map(counted, getattr(passes, kind))))
    pipeline.compile_source(str(dot), Options(min_work=0), ["gcc"], ["-O3"])
    assert ran == NAMES


def test_the_command_prints_what_was_asked_for(dot, tmp_path, capfd):
    words = ["compile", str(dot), "-o", str(tmp_path / "out.c"), "--print-after", "schedule, scop"]
    assert cli.run(words) == 0
    said = capfd.readouterr().err
    assert said.index("after scop") < said.index("after schedule")
    assert "after mapping" not in said


def test_what_is_in_the_cache_is_made_again_to_be_printed(dot, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    words = ["compile", str(dot), "-o", str(tmp_path / "out.c")]
    assert cli.run(words) == 0
    assert cli.run([*words, "--print-after", "scop"]) == 0
    assert "after scop" in capfd.readouterr().err


def test_an_unknown_pass_is_wrong_usage(dot, capsys):
    assert cli.run(["compile", str(dot), "--print-after", "scop,tiles"]) == 2
    said = capsys.readouterr().err
    assert "unknown pass 'tiles'; known are normalise, scop" in said


def test_the_passes_are_listed(capsys):
    assert cli.run(["compile", "--list-passes"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == NAMES
