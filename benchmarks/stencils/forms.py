"""How fast steps between two grids are, however they are written: ``python -m benchmarks.stencils.forms``.

All forms compute the same; one program runs them in turn. The table says what each takes, and what the
fastest takes of that.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from pathlib import Path

from benchmarks.cpu import machine
from benchmarks.cpu.processes import run

MACROS = """
#define EACH for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
#define AT(u, i, j) u[(i) * (long)n + (j)]
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define FLAT(p) (0.2 * (AT(p, i, j) + AT(p, i, j - 1) + AT(p, i, j + 1) + AT(p, i - 1, j) + AT(p, i + 1, j)))
static void step(int n, double to[n][n], double from[n][n]) { EACH to[i][j] = MEAN(from); }
static void swap(double **x, double **y) { double *kept = *x; *x = *y; *y = kept; }
"""
PLANES = "int steps, int n, double u[2][n][n]"
POINTERS = "int steps, int n, double *restrict a, double *restrict b"
GRIDS = "int steps, int n, double a[restrict n][n], double b[restrict n][n]"
FORMS = {
    "u[t % 2]": (PLANES, "for (int t = 0; t < steps; t++) EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);"),
    "u[t & 1]": (PLANES, "for (int t = 0; t < steps; t++) EACH u[(t + 1) & 1][i][j] = MEAN(u[t & 1]);"),
    "u[1 - t % 2]": (PLANES, "for (int t = 0; t < steps; t++) EACH u[1 - t % 2][i][j] = MEAN(u[t % 2]);"),
    "now = 1 - now": (
        PLANES,
        """int now = 0; for (int t = 0; t < steps; t++) {
  EACH u[1 - now][i][j] = MEAN(u[now]); now = 1 - now; }""",
    ),
    "numbers that change places": (
        PLANES,
        """int now = 0, next = 1; for (int t = 0; t < steps; t++) {
  EACH u[next][i][j] = MEAN(u[now]); int kept = now; now = next; next = kept; }""",
    ),
    "if (t % 2)": (
        PLANES,
        """for (int t = 0; t < steps; t++) {
  if (t % 2 == 0) { EACH u[1][i][j] = MEAN(u[0]); } else { EACH u[0][i][j] = MEAN(u[1]); } }""",
    ),
    "two steps": (
        PLANES,
        """for (int t = 0; t < steps; t += 2) {
  EACH u[1][i][j] = MEAN(u[0]); EACH u[0][i][j] = MEAN(u[1]); }""",
    ),
    "a function of planes": (PLANES, "for (int t = 0; t < steps; t++) step(n, u[(t + 1) % 2], u[t % 2]);"),
    "pointers into one": (
        "int steps, int n, double *v",
        """for (int t = 0; t < steps; t++) {
  double *from = v + t % 2 * (long)n * n, *to = v + (t + 1) % 2 * (long)n * n;
  EACH AT(to, i, j) = FLAT(from); }""",
    ),
    "pointers that change places": (
        POINTERS,
        """for (int t = 0; t < steps; t++) {
  EACH AT(b, i, j) = FLAT(a); double *kept = a; a = b; b = kept; }""",
    ),
    "a function that swaps": (
        POINTERS,
        "for (int t = 0; t < steps; t++) { EACH AT(b, i, j) = FLAT(a); swap(&a, &b); }",
    ),
    "t % 2 ? b : a": (
        GRIDS,
        """for (int t = 0; t < steps; t++) {
  double (*from)[n] = t % 2 ? b : a, (*to)[n] = t % 2 ? a : b; EACH to[i][j] = MEAN(from); }""",
    ),
    "pointers set by conditions": (
        POINTERS,
        """for (int t = 0; t < steps; t++) {
  double *from, *to; if (t % 2) { from = b; to = a; } else { from = a; to = b; }
  EACH AT(to, i, j) = FLAT(from); }""",
    ),
    "a table of pointers": (
        POINTERS,
        """double *both[2] = {a, b};
for (int t = 0; t < steps; t++) EACH AT(both[(t + 1) % 2], i, j) = FLAT(both[t % 2]);""",
    ),
    "a flag": (
        POINTERS,
        """int odd = 0; for (int t = 0; t < steps; t++) {
  double *from = odd ? b : a, *to = odd ? a : b; EACH AT(to, i, j) = FLAT(from); odd = !odd; }""",
    ),
    "copied back": (
        GRIDS,
        "for (int t = 0; t < steps; t++) { EACH b[i][j] = MEAN(a); EACH a[i][j] = b[i][j]; }",
    ),
    "copied first": (
        GRIDS,
        """for (int t = 0; t < steps; t++) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i][j] = a[i][j];
  EACH a[i][j] = MEAN(b); }""",
    ),
}
MAIN = """
static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int count, char **words)
{
  int n = atoi(words[1]), steps = atoi(words[2]), runs = atoi(words[3]);
  size_t points = (size_t)n * n;
  double *u = malloc(2 * points * sizeof *u), best[COUNT], begin;
  for (size_t k = 0; k < 2 * points; k++)
    u[k] = (double)(k % points * 7 % 101) / 3;
  for (int run = 0; run < runs; run++) {
CALLS
  }
  for (int k = 0; k < COUNT; k++)
    printf("%g\\n", best[k]);
  return count < 4;
}
"""
INCLUDES = "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n"


def program() -> str:
    """The C program that times all forms."""
    functions, calls = [], []
    for number, (parameters, body) in enumerate(FORMS.values()):
        lead, _, loop = body.partition("for (int t")
        functions.append(
            f"void f{number}({parameters})\n{{\n#pragma scop\n{lead}\nfor (int t{loop}\n#pragma endscop\n}}\n"
        )
        given = "(void *)u, (void *)(u + points)" if "a" in parameters.replace("double", "") else "(void *)u"
        calls.append(
            f"    begin = now(); f{number}(steps, n, {given}); begin = now() - begin;\n"
            f"    best[{number}] = run && best[{number}] < begin ? best[{number}] : begin;"
        )
    main = MAIN.replace("CALLS", "\n".join(calls)).replace("COUNT", str(len(FORMS)))
    return INCLUDES + MACROS + "".join(functions) + main


def main() -> int:
    """Print the table; 0 if no form takes longer than the fastest divided by ``--least``."""
    parser = argparse.ArgumentParser("python -m benchmarks.stencils.forms", description=__doc__)
    parser.add_argument("--points", type=int, default=6000, help="points along each of two dimensions (6000)")
    parser.add_argument("--steps", type=int, default=50, help="steps over time (50)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the fastest counts (3)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads (all)")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--cflags", default="-O3 -march=native", help="its flags (-O3 -march=native)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for the program (300)")
    parser.add_argument("--least", type=float, default=0.0, help="fail below this part of the fastest (0)")
    arguments = parser.parse_args()
    facts = machine.describe(arguments.cc)
    print(f"{facts['processor']}, {facts['cores']} cores, {facts['caches']}, load {facts['load']}")
    print(f"{facts['compiler']}, {arguments.cflags}, {arguments.threads} threads")
    print(f"{arguments.points} x {arguments.points} points, {arguments.steps} steps\n")
    flags = [*shlex.split(arguments.cflags), "-fopenmp"]
    with tempfile.TemporaryDirectory(prefix="polybuild-forms-") as folder:
        source, output, built = Path(folder, "in.c"), Path(folder, "out.c"), str(Path(folder, "forms"))
        source.write_text(program())
        command = [sys.executable, "-m", "polybuild", "compile", str(source), "-o", str(output), "--"]
        run([*command, arguments.cc, *flags], limit=arguments.timeout)
        run([arguments.cc, *flags, "-w", str(output), "-o", built], limit=arguments.timeout)
        given = [str(each) for each in (arguments.points, arguments.steps, arguments.runs)]
        environment = {
            "OMP_NUM_THREADS": str(arguments.threads),
            "OMP_PROC_BIND": "true",
            "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        }
        text = run([built, *given], limit=arguments.timeout, environment=environment).stdout
    times = [float(each) for each in text.split()]
    for name, seconds in zip(FORMS, times, strict=True):
        print(f"{name:<30}{seconds:>8.2f} s{min(times) / seconds:>8.2f}")
    return 0 if min(times) / max(times) >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())
