"""Regions that check themselves: silent where both versions agree, and exact where they do not."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess

import islpy as isl
import pytest
from compiling import IDLE, STRICT, messages, transform, write

from polybuild.driver import passes
from polybuild.targets.cpu import reduction_parallelisation as relaxing

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n"
STENCIL = (
    HEAD
    + """\
static double a[40], b[40];
static void step(int n) {
#pragma scop
  for (int i = 1; i < n - 1; i++)
    b[i] = 0.25 * (a[i - 1] + a[i + 1]);
  for (int i = 1; i < n - 1; i++)
    a[i] = b[i] + a[i - 1] / 2;
#pragma endscop
}
int main(void) {
  for (int i = 0; i < 40; i++) a[i] = i * i;
  step(40);
  double sum = 0;
  for (int i = 0; i < 40; i++) sum += a[i];
  printf("%.17g\\n", sum);
  return 0;
}
"""
)
KINDS = (
    HEAD
    + """\
static float f[4][5];
static long double l[9];
static unsigned char c[9];
static long n = 9;
struct pair { short x; unsigned y; } p[9];
static int f_(double *q, int m) {
  int i, last = 0;
#pragma scop
  for (i = 0; i < m; i++) {
    *q++ = i;
    l[i] = i / 3.0L;
    c[i] += 200;
    p[i].x = i - 4;
    if (c[i] > 3) last = i;
  }
  for (i = 0; i < 4; i++)
    for (int j = 0; j <= i; j++)
      f[i][j] += i * j;
#pragma endscop
  return i + last + (int)q[-1];
}
int main(void) {
  double *q = malloc(9 * sizeof *q);
  printf("%d\\n", f_(q, (int)n));
  for (int i = 0; i < 9; i++) printf("%g %Lg %d %d ", q[i], l[i], c[i], p[i].x);
  free(q);
  return 0;
}
"""
)


def program(path, text, *, compiler="gcc", flags=(), **options):
    result = transform(path, text, verify=True, **options)
    source = write(path.with_name("out.c"), result.text)
    built = path.with_suffix(".exe")
    command = [compiler, *STRICT, "-O1", *flags, str(source), "-o", str(built)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return built


def run(built, **environment):
    asked = {f"POLYBUILD_{name}": value for name, value in environment.items()}
    known = {name: value for name, value in os.environ.items() if not name.startswith("POLYBUILD_")}
    return subprocess.run([str(built)], check=False, capture_output=True, text=True, env=known | asked)


@pytest.fixture
def reversed_order(monkeypatch):
    """The second nest runs from its last iteration to its first, and nothing proves that wrong."""
    choose = relaxing.choose_mapping

    def wrong(scop, *rest, **named):
        parameters = ", ".join(each.name for each in scop.parameters)
        dates = "{ S0[i] -> [(0)]; S1[i] -> [(1)] }, { S0[i] -> [(i)]; S1[i] -> [(-i)] }"
        partial = isl.MultiUnionPwAff(f"[{parameters}] -> [{dates}]")
        schedule = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(partial)
        return dataclasses.replace(
            choose(scop, *rest, **named), schedule=schedule, directives={}, tile_sizes=()
        )

    monkeypatch.setattr(relaxing, "choose_mapping", wrong)
    monkeypatch.setattr(passes, "check_schedule", lambda *_: None)


@pytest.mark.fast(compiler=["gcc"])
@pytest.mark.parametrize("text", [STENCIL, KINDS], ids=["stencil", "kinds"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_agrees_is_silent(text, compiler, tmp_path):
    threads = ["-fopenmp", *IDLE] if compiler == "gcc" else []
    built = program(tmp_path / "in.c", text, compiler=compiler, flags=threads)
    plain = run(built)
    assert (plain.returncode, plain.stderr) == (0, "")
    checked = run(built, VERIFY="1", VERBOSE="1", VERIFY_EXIT="3")
    assert (checked.returncode, checked.stdout) == (0, plain.stdout)
    assert re.search(r"in\.c:\d+: polybuild: verified, \d+ elements agree\n$", checked.stderr)
    assert checked.stderr.count("\n") == 1
    assert run(built, VERIFY="0", VERBOSE="1").stderr == ""


def test_memory_is_that_of_the_original_and_clean(tmp_path):
    flags = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    built = program(tmp_path / "in.c", KINDS, flags=flags)
    done = run(built, VERIFY="1", VERIFY_EXIT="3", VERBOSE="1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("reversed_order")
def test_a_wrong_order_is_told_with_its_line(tmp_path):
    built = program(tmp_path / "in.c", STENCIL)
    plain, checked = run(built), run(built, VERIFY="1")
    assert plain.stderr == ""
    # a[1] happens to keep its value, so a[3] is the first to be made from a wrong one
    place = re.escape(f"{tmp_path / 'in.c'}:9: polybuild: verification failed: a[3] is ")
    match = re.match(
        place + r"([-\d.e+]+), the original loops give ([-\d.e+]+) \((\d+) of 76 ", checked.stderr
    )
    assert match, checked.stderr
    assert float(match.group(1)) != float(match.group(2))
    assert checked.stderr.endswith("elements differ in the region at line 5)\n")
    assert float(checked.stdout) != float(plain.stdout)  # the program goes on with the right values
    right = subprocess.run(["gcc", "-w", "-o", "right", "in.c"], cwd=tmp_path, check=False)
    assert right.returncode == 0
    assert checked.stdout == run(tmp_path / "right").stdout


@pytest.mark.usefixtures("reversed_order")
def test_the_exit_code_is_the_users(tmp_path):
    built = program(tmp_path / "in.c", STENCIL)
    done = run(built, VERIFY="1", VERIFY_EXIT="7")
    assert (done.returncode, done.stdout) == (7, "")
    tolerant = run(built, VERIFY="1", VERIFY_EXIT="7", VERIFY_TOLERANCE="1")
    assert tolerant.returncode == 0


def test_the_line_is_that_of_the_last_write(tmp_path):
    """Of an array with two writers the one is named that wrote the element."""
    text = STENCIL.replace("a[i] = b[i] + a[i - 1] / 2", "b[i % 8 + 2] = i")
    built = program(tmp_path / "in.c", text)
    assert run(built, VERIFY="1", VERIFY_EXIT="9").returncode == 0
    wrong = (tmp_path / "out.c").read_text()
    wrong = re.sub(r"(\n\s*b\[i\] = )", r"\g<1>1 + ", wrong, count=1)
    (tmp_path / "out.c").write_text(wrong)
    assert messages("gcc", tmp_path / "out.c", *STRICT) == (0, "")
    subprocess.run(["gcc", "-w", "-o", built, tmp_path / "out.c"], check=True)
    assert f"{tmp_path / 'in.c'}:7: polybuild: verification failed: b[1] " in run(built, VERIFY="1").stderr


def test_without_the_option_nothing_of_it_is_there(tmp_path):
    assert "verify" not in transform(tmp_path / "in.c", STENCIL).text


def test_what_depends_on_data_cannot_check_itself(tmp_path):
    text = (
        HEAD
        + """\
void f(int n, double *restrict a, const int *restrict at) {
#pragma scop
  for (int i = 0; i < n; i++) a[at[i]] += i;
#pragma endscop
}
"""
    )
    result = transform(tmp_path / "in.c", text, verify=True)
    assert "polybuild_verify" not in result.text
    assert any("cannot check itself" in each for each in result.regions[0].remarks)


ROTATION = (
    HEAD
    + """\
static double u[40], v[40];
static double *steps(int n, double *a, double *b) {
#pragma scop
  for (int t = 0; t < 5; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = 0.25 * (a[i - 1] + a[i + 1]);
    double *old = a;
    a = b;
    b = old;
  }
#pragma endscop
  return a;
}
int main(void) {
  for (int i = 0; i < 40; i++) u[i] = i * i;
  printf("%.17g\\n", steps(40, u, v)[7]);
  return 0;
}
"""
)


def test_pointers_that_only_the_original_moves_are_put_back(tmp_path):
    built = program(tmp_path / "in.c", ROTATION)
    done = run(built, VERIFY="1", VERIFY_EXIT="7")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(built).stdout
