"""Teams of threads: fewer are asked for while others take the processors away, and all of them later."""

from __future__ import annotations

import subprocess

import pytest
from compiling import output, transform, write

from polybuild.codegen.file.team import DEFINITION

# The clock, the number of preemptions and of threads are what the program says.
PROGRAM = """\
#include <stdio.h>
static double clock_now = 1;
static long preempted = 0;
static int all = 8, inside = 0;
double omp_get_wtime(void);
int getrusage(int who, long *usage);
double omp_get_wtime(void) { return clock_now; }
int omp_get_max_threads(void) { return all; }
int omp_in_parallel(void) { return inside; }
int getrusage(int who, long *usage) { usage[17] = who == 0 ? preempted : -1; return 0; }
static void after(double seconds, long times) {
  clock_now += seconds;
  preempted += times;
  printf("%d\\n", polybuild_team());
}
int main(void) {
  preempted = 1000;
STEPS
  return 0;
}
"""


def teams(tmp_path, compiler, steps):
    source = tmp_path / "team.c"
    head = "#define POLYBUILD_HELPER static\nint omp_get_max_threads(void);\nint omp_in_parallel(void);\n"
    body = PROGRAM.replace("STEPS", "\n".join(f"  {each};" for each in steps))
    source.write_text(head + DEFINITION + body)
    program = tmp_path / "team"
    # without the library of OpenMP, whose functions the program has itself
    command = [
        compiler,
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-D_OPENMP=201511",
        "-Wno-unknown-pragmas",
    ]
    done = subprocess.run(
        [*command, str(source), "-o", str(program)], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60)
    return [int(each) for each in done.stdout.split()]


@pytest.mark.fast
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_teams_shrink_while_processors_are_taken_away_and_grow_again(tmp_path, compiler):
    steps = [
        ("after(0, 0)", 8),
        ("after(0.02, 0)", 8),
        ("after(0.02, 1)", 8),  # once is nothing
        ("after(0.005, 9)", 8),  # not looked at yet
        ("after(0.015, 0)", 4),
        ("after(0.1, 50)", 4),  # not looked at again for a while
        ("after(0.4, 50)", 2),
        ("after(2, 500)", 1),
        ("after(2, 500)", 1),
        ("after(2, 0)", 2),
        ("after(2, 0)", 4),
        ("after(2, 0)", 8),
        ("after(2, 0)", 8),
    ]
    assert teams(tmp_path, compiler, [each for each, _ in steps]) == [each for _, each in steps]


def test_what_happened_while_no_loop_ran_for_long_counts_little(tmp_path):
    assert teams(tmp_path, "gcc", ["after(0, 0)", "after(60, 200)"]) == [8, 8]


def test_teams_follow_the_number_of_threads(tmp_path):
    steps = ["after(0, 0)", "after(0.02, 9)", "all = 3; after(0.001, 0)", "all = 1; after(2, 9)"]
    assert teams(tmp_path, "gcc", steps) == [8, 4, 3, 1]
    assert teams(tmp_path, "gcc", ["after(0, 0)", "inside = 1; after(0.02, 9)"]) == [8, 8]


SUMS = """\
#include <stdio.h>
static double a[300][300], b[300][300];
int main(void) {
  double sum = 0;
#pragma scop
  for (int t = 0; t < 20; t++) {
    for (int i = 1; i < 299; i++)
      for (int j = 1; j < 299; j++) b[i][j] = 0.3 * (a[i][j] + a[i - 1][j] + a[i + 1][j]) + 1;
    for (int i = 1; i < 299; i++)
      for (int j = 1; j < 299; j++) a[i][j] = b[i][j] + 0.1 * b[i][0];
  }
  for (int i = 0; i < 300; i++)
    for (int j = 0; j < 300; j++) sum += a[i][j];
#pragma endscop
  printf("%.17g\\n", sum);
  return 0;
}
"""


def test_sums_have_the_threads_they_are_given(tmp_path):
    """What a sum of floating-point numbers is must not depend on what else the machine does."""
    source = tmp_path / "in.c"
    result = transform(source, SUMS, "-O2", allow_reassociation=True, schedule="original", tile=False)
    directives = [line for line in result.text.splitlines() if "OMP(parallel for" in line]
    sums = [line for line in directives if "reduction" in line]
    assert sums
    assert not any("num_threads" in line for line in sums)
    assert all("num_threads(polybuild_team())" in line for line in directives if line not in sums)
    new = write(tmp_path / "new.c", result.text)
    for compiler in ("gcc", "clang"):
        assert float(output(new, "-fopenmp", compiler=compiler)) == pytest.approx(float(output(source)))
