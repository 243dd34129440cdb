"""Teams of threads: fewer are asked for while others take the processors away, and all of them later."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from compiling import output, transform, write

from polybuild.codegen.file.team import DEFINITION

# The clock, how long the thread waited for processors, the number of preemptions and of threads are what the
# program says.
PROGRAM = """\
#include <stdio.h>
#include <string.h>
static double clock_now = 1;
static long preempted = 0, waited = 7000000000;
static int all = 8, inside = 0, levels = 1;
double omp_get_wtime(void);
int getrusage(int who, long *usage);
int open(const char *path, int flags, ...);
long read(int file, void *text, unsigned long size);
int close(int file);
double omp_get_wtime(void) { return clock_now; }
int omp_get_max_threads(void) { return all; }
int omp_get_active_level(void) { return inside; }
int omp_get_max_active_levels(void) { return levels; }
int getrusage(int who, long *usage) { usage[17] = who == 0 ? preempted : -1; return 0; }
int open(const char *path, int flags, ...) {
  return flags || strcmp(path, "/proc/thread-self/schedstat") ? -1 : 99;
}
long read(int file, void *text, unsigned long size) {
  return file == 99 ? snprintf(text, size, "123456789 %ld 42\\n", waited) : -1;
}
int close(int file) { return file == 99 ? 0 : -1; }
static void after(double seconds, long times) {
  clock_now += seconds;
  preempted += times;
  waited += 3000000 * times;
  printf("%d\\n", polybuild_team());
}
int main(void) {
  preempted = 1000;
STEPS
  return 0;
}
"""


def told(tmp_path):
    return (tmp_path / "told").read_text().splitlines()


def teams(tmp_path, compiler, steps, **environment):
    source = tmp_path / "team.c"
    functions = ("omp_get_max_threads", "omp_get_active_level", "omp_get_max_active_levels")
    head = "#define POLYBUILD_HELPER static\n#define POLYBUILD_NOINLINE static\n"
    head += "".join(f"int {each}(void);\n" for each in functions)
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
        "-Wno-unused-parameter",
    ]
    done = subprocess.run(
        [*command, str(source), "-o", str(program)], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [str(program)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )
    (tmp_path / "told").write_text(done.stderr)
    return [int(each) for each in done.stdout.split()]


@pytest.mark.fast
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_teams_shrink_while_processors_are_taken_away_and_grow_again(tmp_path, compiler):
    steps = [
        ("after(0, 0)", 8),
        ("after(0.02, 0)", 8),
        ("after(0.02, 1)", 8),  # one switch is nothing
        ("after(0.02, 9)", 8),  # nor is one look
        ("after(0.02, 0)", 8),
        ("after(0.02, 9)", 8),
        ("after(0.005, 9)", 8),  # not looked at yet
        ("after(0.015, 0)", 4),
        ("after(0.05, 0)", 4),  # not so soon again
        ("after(0.06, 0)", 8),
        ("after(0.02, 9)", 4),  # on trial, once is enough
        ("after(0.15, 0)", 4),  # and the next trial is later
        ("after(0.06, 0)", 8),
        ("after(0.1, 0)", 8),
        ("after(0.02, 9)", 8),
        ("after(0.02, 9)", 4),
        ("after(0.02, 9)", 2),
        ("after(0.4, 50)", 1),
        ("after(2, 900)", 1),
        ("after(1, 0)", 1),
        ("after(1, 0)", 2),
        ("after(1, 0)", 4),
        ("after(1, 0)", 8),
        ("after(9, 0)", 8),
        ("after(0.02, 9)", 8),
        ("after(0.02, 9)", 4),
        ("after(0.09, 0)", 4),  # that was long ago
        ("after(0.02, 0)", 8),
    ]
    assert teams(tmp_path, compiler, [each for each, _ in steps]) == [each for _, each in steps]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_teams_shrink_where_the_thread_waits_for_a_processor(tmp_path, compiler):
    steps = [
        ("waited += 0; after(0, 0)", 8),
        ("waited += 3000000; after(0.02, 0)", 8),  # a little is nothing
        ("waited += 10000000; after(0.02, 0)", 8),
        ("waited += 10000000; after(0.02, 0)", 4),
        ("waited += 10000000; after(0.02, 0)", 2),
        ("waited += 10000000; after(0.02, 0)", 1),
        ("waited += 900000000; after(1, 0)", 1),
        ("waited += 0; after(0.7, 0)", 1),  # not so soon again
        ("waited += 0; after(0.2, 0)", 2),
    ]
    assert teams(tmp_path, compiler, [each for each, _ in steps]) == [each for _, each in steps]


def test_processors_that_are_taken_for_moments_do_not_matter(tmp_path):
    steps = ["after(0, 0)", *["preempted += 9; after(0.02, 0)"] * 5]
    assert teams(tmp_path, "gcc", steps) == [8] * 6


# the second thread alone waits, for half of the time
OTHERS = """\
#include <stdio.h>
#include <string.h>
static double clock_now = 1;
static long preempted = 0, waited = 0;
double omp_get_wtime(void);
int omp_get_thread_num(void);
void omp_set_num_threads(int threads);
int getrusage(int who, long *usage);
int open(const char *path, int flags, ...);
long read(int file, void *text, unsigned long size);
int close(int file);
double omp_get_wtime(void) { return clock_now; }
int getrusage(int who, long *usage) { usage[17] = who == 0 ? preempted : -1; return 0; }
int open(const char *path, int flags, ...) {
  return flags || strcmp(path, "/proc/thread-self/schedstat") ? -1 : 99;
}
long read(int file, void *text, unsigned long size) {
  long own = omp_get_thread_num() == 1 ? waited : 0;
  return file == 99 ? snprintf(text, size, "123456789 %ld 42\\n", own) : -1;
}
int close(int file) { return file == 99 ? 0 : -1; }
int main(void) {
  omp_set_num_threads(4);
  for (int k = 0; k < 5; k++) {
    printf("%d ", polybuild_team());
    clock_now += 0.02, preempted += TIMES, waited += 10000000;
  }
  return 0;
}
"""


@pytest.mark.parametrize(("times", "expected"), [(9, "4 4 2 1 1"), (0, "4 4 4 4 4")])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_other_threads_may_be_those_that_wait(tmp_path, compiler, times, expected):
    """They are asked where some thread often loses its processor."""
    head = "#define POLYBUILD_HELPER static\n#define POLYBUILD_NOINLINE static\n"
    text = head + DEFINITION + OTHERS.replace("TIMES", str(times))
    made = write(tmp_path / "others.c", text)
    assert output(made, "-fopenmp", compiler=compiler) == f"{expected} "


def test_who_asks_is_told_that_teams_shrink_and_grow(tmp_path):
    steps = ["after(0, 0)", *["after(0.02, 9)"] * 3, "after(2, 0)", "after(2, 0)"]
    assert teams(tmp_path, "gcc", steps, POLYBUILD_VERBOSE="1") == [8, 8, 4, 2, 4, 8]
    assert told(tmp_path) == [
        "polybuild: 4 of 8 threads, as other work takes the processors",
        "polybuild: 8 of 8 threads again",
    ]


def test_what_happened_while_no_loop_ran_for_long_counts_little(tmp_path):
    assert teams(tmp_path, "gcc", ["after(0, 0)", "after(60, 200)"]) == [8, 8]


def test_teams_follow_the_number_of_threads(tmp_path):
    steps = ["after(0, 0)", *["after(0.02, 9)"] * 2, "all = 3; after(0.001, 0)", "all = 1; after(2, 9)"]
    assert teams(tmp_path, "gcc", steps) == [8, 8, 4, 3, 1]
    steps = ["after(0, 0)", "inside = 1; after(0.02, 9)", "levels = 2; after(0.02, 9)"]
    assert teams(tmp_path, "gcc", steps) == [8, 1, 8]


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


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sums_do_not_depend_on_how_many_threads_there_are(tmp_path, compiler):
    """Not on those that other work leaves processors for, either."""
    source = tmp_path / "in.c"
    result = transform(source, SUMS, "-O2", allow_reassociation=True, schedule="original", tile=False)
    directives = [line for line in result.text.splitlines() if "OMP(parallel for" in line]
    asked = re.compile(r"num_threads\(polybuild_team(_for)?\([^\n]*?\)\)")
    assert all(asked.search(line) for line in directives)
    assert re.search(r"acc_sum\w*_parts\[", result.text)
    sums = set()
    for threads in range(1, 6):
        fixed = asked.sub(f"num_threads({threads})", result.text)
        made = write(tmp_path / f"new{threads}.c", fixed)
        sums.add(output(made, "-O2", "-fopenmp", "-Wno-unused-function", compiler=compiler))
    assert len(sums) == 1
    assert float(sums.pop()) == pytest.approx(float(output(source)))
