"""``polybuild survey``: all nests are told of, ranked; marks come as a patch and go again."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from polybuild.cli.commands import run
from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.survey.profile import read_profile

SCHEMA = Path(__file__).parents[3] / "polybuild" / "survey" / "schemas" / "survey.json"
SOLVER = """\
#include <stdio.h>
void relax(int n, double a[n][n], double b[n][n]) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i][j] = a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j];
}
void show(int n, double *x) {
    for (int i = 0; i < n; i++)
        printf("%g ", x[i] * 2 + 1);
}
void shared(int n, double *x) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 0;
}
void marked(int n, double *x) {
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = x[i] + 1;
#pragma endscop
}
#define CLEAR(x) for (int i = 0; i < 9; i++) x[i] = 0
void macro(double *x) {
    CLEAR(x); x[0] = 1;
}
"""
NO_C = "void f(int n { for (;;) }\n#include <none.h>\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solver.c").write_text(SOLVER)
    return tmp_path


def surveyed(capsys, *words):
    code = run(["survey", "--json", *words])
    record = json.loads(capsys.readouterr().out)
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    return code, record


@pytest.mark.usefixtures("folder")
def test_each_nest_has_a_verdict_and_the_heaviest_comes_first(capsys):
    code, record = surveyed(capsys, "solver.c", "--", "-O2")
    assert code == 0
    told = {each["function"]: (each["verdict"], each["code"]) for each in record["nests"]}
    assert told == {
        "relax": ("would be taken", ""),
        "show": ("would be kept", "call"),
        "shared": ("would be kept", "shared"),
        "marked": ("marked", ""),
        "macro": ("would be kept", "no-candidate"),
    }
    first = record["nests"][0]
    assert (first["function"], first["line"], first["end_line"], first["depth"]) == ("relax", 3, 5, 2)
    assert first["gains"] == ["parallel", "vectorised"] or first["gains"] == ["parallel"]
    assert first["all_threads_speedup"] > 1
    assert sum(each["share"] for each in record["nests"]) == pytest.approx(1)


def test_a_profile_ranks(folder, capsys):
    (folder / "perf.txt").write_text(
        "# Overhead  Command\n    70.00%  p  p  [.] show\n  20.00%  p  p  [.] relax\n"
    )
    _, record = surveyed(capsys, "solver.c", "--profile", "perf.txt")
    assert [(each["function"], each["share"]) for each in record["nests"][:2]] == [
        ("show", 0.7),
        ("relax", 0.2),
    ]
    gprof = " time   seconds   seconds    calls  name\n 66.67      0.02     0.02        1     0.02  relax\n"
    assert read_profile(gprof) == {"relax": pytest.approx(0.6667)}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_marks_come_and_go_and_do_what_was_told(folder, end):
    path = folder / "solver.c"
    path.write_bytes(SOLVER.replace("\n", end).encode())
    before = path.read_bytes()
    assert run(["survey", "solver.c", "--patch", "marks.patch", "--", "-O2"]) == 0
    assert path.read_bytes() == before
    assert run(["survey", ".", "--apply", "--", "-O2"]) == 0
    applied = path.read_bytes()
    (relax, marked) = compile_source(str(path), Options(), ["gcc"], ["-O2"]).regions
    assert relax.gains
    assert not relax.detected
    assert (relax.function, marked.function) == ("relax", "marked")
    assert run(["survey", ".", "--remove"]) == 0
    assert path.read_bytes() == before
    if shutil.which("patch"):
        subprocess.run(["patch", "--binary", "-p1", "-i", "marks.patch"], check=True)
        assert path.read_bytes() == applied


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("row", "marks"), [("x[i][j] += y[j]", 0), ("x[i][j] += exp(sin(y[j]))", 1)])
def test_rows_in_loops_that_are_kept_are_marked_if_they_gain_at_usual_sizes(row, marks):
    """The loop around them comes to them again and again, and to ask for threads costs more than sums."""
    Path("solver.c").write_text(
        "#include <math.h>\n#include <stdio.h>\n"
        "void rows(int m, int n, double x[m][n], double *restrict y) {\n"
        "    for (int i = 0; i < m; i++) {\n"
        '        printf("%d", i);\n'
        "        for (int j = 0; j < n; j++)\n"
        f"            {row};\n"
        "    }\n}\n"
    )
    assert run(["survey", ".", "--apply", "--", "-O2"]) == 0
    assert Path("solver.c").read_text().count("#pragma scop") == marks


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("rows", "marks"),
    [
        ("for (int j = p[i]; j < p[i + 1]; j++)\n    s += a[j] * x[c[j]];", 1),
        ("int j = p[i];\n    while (j < p[i + 1]) {\n    s += a[j] * x[c[j]];\n    j++;\n    }", 1),
        ("s = x[i];", 0),
    ],
)
def test_what_takes_longer_than_asking_is_marked_in_loops_that_are_kept(rows, marks):
    Path("solver.c").write_text(
        "#include <stdio.h>\n"
        "void solve(int m, int n, int *restrict p, int *restrict c, double *restrict a, double *restrict x,\n"
        "           double *restrict y) {\n"
        "    for (int k = 0; k < m; k++) {\n"
        '        printf("%g", y[0]);\n'
        "        for (int i = 0; i < n; i++) {\n"
        "            double s = 0;\n"
        f"            {rows}\n"
        "            y[i] = s;\n"
        "        }\n"
        "    }\n}\n"
    )
    assert run(["survey", ".", "--apply", "--", "-O2"]) == 0
    assert Path("solver.c").read_text().count("#pragma scop") == marks


def test_a_page_and_a_list_tell_the_same(folder, capsys):
    assert run(["survey", "solver.c", "--html", "survey.html", "--limit", "2"]) == 0
    out = capsys.readouterr().out
    assert "5 loop nests in 1 file: 1 marked, 1 would be taken, 3 would be kept" in out
    assert "and 3 more" in out
    page = (folder / "survey.html").read_text()
    assert "<title>solver.c: polybuild survey</title>" in page
    assert page.count("<tr>") == 6


def test_what_cannot_be_read_is_told_beside_the_rest(folder, capsys):
    (folder / "none.c").write_text(NO_C)
    (folder / "empty.c").write_text("")
    code, record = surveyed(capsys, ".")
    assert code == 1
    problems = {Path(each["file"]).name: each["problem"] for each in record["files"]}
    assert problems["none.c"]
    assert not problems["empty.c"]
    assert not problems["solver.c"]
    assert len(record["nests"]) == 5


@pytest.mark.usefixtures("folder")
def test_time_that_is_spent_ends_the_search(capsys):
    code, record = surveyed(capsys, "solver.c", "--seconds", "0")
    assert code == 0
    assert {each["code"] for each in record["nests"] if each["function"] == "relax"} == {"not-tried"}


def test_a_build_names_files_and_flags(folder, capsys):
    entry = {"directory": str(folder), "file": "solver.c", "command": "gcc -O2 -c solver.c"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    code, record = surveyed(capsys, "-p", ".")
    assert (code, len(record["nests"])) == (0, 5)
    assert run(["survey", "-p", ".", "nowhere.c"]) == 2
    assert run(["survey"]) == 2
