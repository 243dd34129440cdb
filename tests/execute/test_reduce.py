"""``polybuild reduce`` makes files small that show a fault planted in polybuild, and they still show it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from polybuild.reducer.setting import Setting
from polybuild.reducer.symptom import Symptom, shows, symptoms

ROOT = Path(__file__).parents[2]

PLANT = """\
import os, sys
if os.environ.get("PLANTED") and sys.prefix == {prefix!r} and sys.orig_argv[2:3] != ["polybuild.reducer"]:
    from tests.fuzz.faults import FAULTS
    def crash():
        from polybuild.codegen.file import boundary
        def lost(*_arguments):
            raise LookupError("planted at 42")
        assert boundary.BoundaryPrinter._last
        boundary.BoundaryPrinter._last = lost
    (FAULTS | {{"crash": crash}})[os.environ["PLANTED"]]()
"""
"""What each process of Python runs first; those of the reducer are hundreds, and transform nothing."""

PROGRAM = """\
#include <stdio.h>

#define N 20

static double field[N][N], total[N];

/* Sums of rows. */
static void rows(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    total[i] = 0.0;
    for (int j = 0; j < n; j++)
      total[i] += field[i][j];
  }
#pragma endscop
}

static void smooth(int n)
{
  int last = 0;
#pragma scop
  for (int i = n - 2; i > 0; i -= 2) {
    total[i] = 0.5 * (total[i - 1] + total[i + 1]);
    last = i;
  }
#pragma endscop
  printf("smoothed down to %d\\n", last);
}

int main(void)
{
  for (int i = 0; i < N * N; i++)
    field[i / N][i % N] = i * 31 % 17;
  rows(N);
  smooth(N);
  for (int i = 0; i < N; i += 7)
    printf("%d: %g\\n", i, total[i]);
  return 0;
}
"""


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """Plants a fault in all processes to come."""
    monkeypatch.setenv("POLYBUILD_CACHE", "0")

    def planted(fault):
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / "sitecustomize.py").write_text(PLANT.format(prefix=sys.prefix))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (tmp_path / "site", ROOT))))
        monkeypatch.setenv("PLANTED", fault)

    return planted


def setting(folder):
    return Setting(("gcc",), ("-O2",), ("--min-work=0",), ("-lm",), (), str(folder), str(folder))


@pytest.mark.cvise
@pytest.mark.parametrize(
    ("fault", "symptom"),
    [("stride_forgotten", "wrong-result"), ("crash", "crash")],
)
def test_a_planted_fault(fault, symptom, plant, tmp_path, monkeypatch):
    source = tmp_path / "in.c"
    source.write_text(PROGRAM)
    plant(fault)
    command = [sys.executable, "-m", "polybuild", "reduce", "in.c", "--min-work", "0", "--budget", "1h"]
    done = subprocess.run(
        [*command, "--", "gcc", "-O2"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"still {symptom}" in done.stdout
    reduced = tmp_path / "in.reduced.c"
    assert len(reduced.read_text().splitlines()) < 25 < len(PROGRAM.splitlines())
    assert shows(reduced, setting(tmp_path), Symptom(symptom))
    monkeypatch.delenv("PLANTED")
    assert not shows(reduced, setting(tmp_path), Symptom(symptom))


def test_programs_that_do_anything_do_not_count(plant, tmp_path):
    """What reads beyond its array, or what nobody wrote, may differ without anyone's fault."""
    plant("wrong_final_value")
    text = """\
#include <stdio.h>
int main(void)
{
  double a[99];
  int i;
#pragma scop
  for (i = 0; i < 9; i++)
    a[i] = i;
#pragma endscop
  printf("%d %g\\n", i, a[WHERE]);
  return 0;
}
"""
    source = tmp_path / "in.c"
    found = []
    for where in ("3", "i + 90", "80"):
        source.write_text(text.replace("WHERE", where))
        found.append([str(each) for each in symptoms(source, setting(tmp_path))])
    assert found == [["wrong-result"], [], []]
