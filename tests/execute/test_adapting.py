"""Regions that time their versions in their first calls, and keep the fastest."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from compiling import STRICT, transform, write

STEP = """\
static double a[300][300], b[300][300];
static void step(int n) {
#pragma scop
  for (int j = 1; j < n - 1; j++)
    for (int i = 1; i < n - 1; i++)
      b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j]) + 0.5 * b[i][j];
#pragma endscop
}
"""
SUM = """\
#include <stdio.h>
static int slow;
static void fill(void) {
  for (int i = 0; i < 300; i++)
    for (int j = 0; j < 300; j++) a[i][j] = i * j % 17;
}
static void tell(void) {
  double sum = 0;
  for (int i = 0; i < 300; i++)
    for (int j = 0; j < 300; j++) sum += (i + 2 * j) * b[i][j];
  printf("%.17g\\n", sum);
}
"""
CALLS = """\
int main(void) {
  fill();
  for (int t = 0; t < 20; t++) {
    step(12);
    step(300);
  }
  tell();
  fprintf(stderr, "%d slow runs\\n", slow);
  return 0;
}
"""
IN_PARALLEL = CALLS.replace(
    "step(12);", '_Pragma("omp parallel num_threads(2)") _Pragma("omp single") step(300);'
)
POOL = """\
#include <pthread.h>
static double c[4][64][64];
static void grow(double (*x)[64], int n) {
#pragma scop
  for (int j = 0; j < n; j++)
    for (int i = 1; i < n; i++) x[i][j] += 0.5 * x[i - 1][j];
#pragma endscop
}
static void *task(void *data) {
  for (int t = 0; t < 40; t++) grow(data, 8 + t % 2 * 56);
  return 0;
}
int main(void) {
  pthread_t pool[4];
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 64; j++) c[k][i][j] = i + j % 5;
  for (int k = 0; k < 4; k++) pthread_create(&pool[k], 0, task, c[k]);
  for (int k = 0; k < 4; k++) pthread_join(pool[k], 0);
  double sum = 0;
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 64; j++) sum += (i + 2 * j) * c[k][i][j];
  printf("%.17g\\n", sum);
  return 0;
}
"""
WAIT = "slow++; for (volatile int wait = 0; wait < 3000000; wait++) ;"
NEW = "pb_choice.ran = 1;"
ORIGINAL = "} else { /* the original loops */"


def adapted(
    folder: Path, text: str, plant: tuple[str, str] = ("", ""), min_work: int = 20000
) -> tuple[Path, Path]:
    """The source, and its transformed text with ``plant``, a text and what takes its place."""
    source = write(folder / "in.c", text)
    changed = transform(source, text, "-O2", min_work=min_work, adapt=True).text
    assert plant[0] in changed
    return source, write(folder / "out.c", changed.replace(*plant))


def run(source: Path, *flags: str, compiler: str = "gcc", **environment: str) -> tuple[str, str]:
    """What the program of ``source`` prints, and what it says on standard error."""
    program = source.with_suffix("")
    command = [compiler, *STRICT, "-O2", "-Wno-unknown-pragmas", *flags, str(source), "-o", str(program)]
    built = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert built.returncode == 0, built.stderr
    known = {name: value for name, value in os.environ.items() if not name.startswith("POLYBUILD_")}
    done = subprocess.run(
        [program],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env={**known, "OMP_NUM_THREADS": "2", **environment},
    )
    # what other work on the machine does to teams of threads is told, too
    return done.stdout, re.sub(r"polybuild: \d+ of \d+ threads.*\n", "", done.stderr)


@pytest.mark.fast(compiler=["gcc"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_results_are_the_same_and_choices_are_told(compiler, tmp_path):
    source, new = adapted(tmp_path, STEP + SUM + CALLS)
    expected, _ = run(source)
    plain = run(new, "-fopenmp", compiler=compiler, POLYBUILD_VERBOSE="1")
    assert plain == (expected, "0 slow runs\n"), "nobody asked for it"
    printed, said = run(new, "-fopenmp", compiler=compiler, POLYBUILD_ADAPT="1", POLYBUILD_VERBOSE="1")
    assert printed == expected
    version = "the (original loops|new loops on (one thread|all threads))"
    times = rf"( {version} (\d+\.\d+ us|not tried),?)+"
    told = rf"polybuild: {source}:3: {version} from now on, for about \d+ instances:{times}"
    lines = said.splitlines()
    assert len(lines) == 3
    assert all(re.fullmatch(told, line) for line in lines[:2])
    assert {re.search(r"about (\d+)", line).group(1) for line in lines[:2]} == {"100", "88804"}
    assert run(new, "-fopenmp", compiler=compiler, POLYBUILD_ADAPT="1") == (expected, "0 slow runs\n")


@pytest.mark.parametrize(
    ("place", "kept"), [(NEW, "the original loops"), (ORIGINAL, r"the new loops on (one thread|all threads)")]
)
def test_slow_versions_are_dropped(place, kept, tmp_path):
    source, new = adapted(tmp_path, STEP + SUM + CALLS, (place, f"{place} {WAIT}"))
    new.write_text("static int slow;\n" + new.read_text())
    expected, _ = run(source)
    printed, said = run(new, "-fopenmp", POLYBUILD_ADAPT="1", POLYBUILD_VERBOSE="1")
    assert printed == expected
    *told, slow = said.splitlines()
    assert len(told) == 2
    assert all(re.search(rf": {kept} from now on", line) for line in told)
    # three times at most in each of two size classes, and of two versions if both are slow
    assert 0 < int(slow.split()[0]) <= 12
    printed, said = run(new, "-fopenmp", POLYBUILD_VERBOSE="1")
    assert int(said.split()[0]) == 20, "without the variable the sizes decide"


def test_calls_from_parallel_regions_have_choices_of_their_own(tmp_path):
    source, new = adapted(tmp_path, STEP + SUM + IN_PARALLEL)
    expected, _ = run(source)
    printed, said = run(new, "-fopenmp", POLYBUILD_ADAPT="1", POLYBUILD_VERBOSE="1")
    assert printed == expected
    inside, outside = sorted(said.splitlines()[:2], key=lambda line: line.count("all threads"))
    assert "all threads" not in inside
    assert "all threads" in outside


def test_threads_may_choose_at_the_same_time(tmp_path):
    source, new = adapted(tmp_path, "#include <stdio.h>\n" + POOL, min_work=0)
    flags = ("-D_POSIX_C_SOURCE=200809L", "-pthread")
    expected, _ = run(source, *flags)
    asked = {"POLYBUILD_ADAPT": "1", "POLYBUILD_VERBOSE": "1"}
    printed, said = run(new, *flags, "-fsanitize=thread", **asked)
    assert printed == expected
    assert len(said.splitlines()) == 2, "each choice is told once"


def test_sums_in_other_orders_are_not_switched(tmp_path):
    text = STEP.replace("b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j]) + 0.5 * b[i][j];", "s += a[i][j];")
    text = text.replace("int n) {", "int n, double s) {")
    result = transform(tmp_path / "in.c", text, "-O2", adapt=True, allow_reassociation=True)
    assert "pb_choice" not in result.text
    (region,) = result.regions
    assert any("its versions are not timed" in each for each in region.remarks)
