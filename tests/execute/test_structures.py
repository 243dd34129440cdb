"""Loops that copy structures: results are those of the original, whatever becomes of the copies."""

from __future__ import annotations

import subprocess

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

HEAD = """\
#include <stdio.h>
struct point { double x, y, z; float m; int id; void *owner; };
struct value { float r, i; };
struct box { struct value lo, hi; };
typedef struct { int w, h; float *data; } image;
static float at(image m, int x, int y) { return m.data[y * m.w + x]; }
"""
MAIN = """
static struct point a[300], b[300];
static struct value u[300], v[300];
static struct box s[300], t[300];
static float in[300], out[300];
int main(void) {
  for (int i = 0; i < 300; i++) {
    a[i] = (struct point){i, i * 0.5, 2 * i, i % 7, i % 3, 0};
    b[i] = (struct point){-i, i * 0.25, i, i % 5, i % 4, 0};
    u[i] = (struct value){i, i % 9};
    v[i] = (struct value){i % 11, -i};
    s[i] = (struct box){{i, 1}, {2, i}};
    t[i] = (struct box){{-i, 4}, {1, 2 * i}};
    in[i] = i % 31;
  }
  image from = {20, 15, in}, to = {20, 15, out};
  f(300, a, b, u, v, s, t, from, to);
  double sum = 0;
  for (int i = 0; i < 300; i++) {
    sum += a[i].x + a[i].y * 3 + a[i].z + a[i].m * (i % 5) + a[i].id + b[i].x * (i % 3) + out[i] * (i % 13);
    sum += u[i].r * (i % 7) + u[i].i + v[i].r - v[i].i * (i % 2) + s[i].lo.r * 2 - s[i].lo.i + s[i].hi.r;
    sum += s[i].hi.i * (i % 4) + t[i].lo.r + t[i].lo.i * (i % 6) - t[i].hi.r + t[i].hi.i;
  }
  printf("%.17g\\n", sum);
  return 0;
}
"""
PLAIN = "for (int i = 0; i < n; i++) {{ {} }}"
LOOPS = {
    "element_as_a_variable": "struct point q = b[i]; q.x += q.y; a[i].x = q.x * q.m; a[i].y = q.z + q.id;",
    "constant_copy": "const struct point q = b[i]; a[i].x = q.x * q.m;",
    "set_by_members": "struct point q; q.x = b[i].x * 2; q.y = b[i].z; a[i].x = q.x - q.y;",
    "initialised": "struct value w = {1.5f, .i = i}, z = {0}; u[i].r += w.r * v[i].i; u[i].i += w.i + z.i;",
    "copied_on": "struct value w = u[i], z; z.r = w.i; z.i = w.r; w = z; v[i] = w;",
    "swapped": "struct value w = u[i]; u[i] = v[n - 1 - i]; v[n - 1 - i] = w;",
    "nested": "struct box w = s[i]; w.lo.r += 1; if (i % 3) s[i] = t[i]; else t[i].lo.i = w.hi.i;",
    "behind_a_pointer": "struct value *p = &u[i], *q = v + i; *p = *q; q->r = p->i + 1;",
    "outside_the_region": "w = v[i]; w.r += u[i].r; u[i] = w;",
    "in_one_branch": "struct value w = u[i]; if (w.r > 50) w = v[i]; u[i].i = w.r + w.i;",
    "passed_by_value": "image m = to; m.data[i] = at(from, i % 20, i / 20) + at(from, i % 19, 0);",
}


PARAMETERS = (
    "int n, struct point *restrict a, struct point *restrict b, struct value *restrict u,"
    " struct value *restrict v, struct box *restrict s, struct box *restrict t, image from, image to"
)


def compared(folder, body, head=HEAD):
    """What becomes of the regions of a function with ``body``, which has to print what it did."""
    source, made = folder / "in.c", folder / "out.c"
    source.write_text(f"{head}static void f({PARAMETERS}) {{\n{body}\n}}\n{MAIN}")
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    made.write_text(result.text)
    printed = set()
    for path, flags in ((source, ()), (made, ("-fopenmp", "-fsanitize=address,undefined"))):
        command = [
            "gcc",
            "-O1",
            "-ffp-contract=off",
            *flags,
            str(path),
            "-o",
            str(path.with_suffix("")),
            "-lm",
        ]
        subprocess.run(command, check=True, timeout=120)
        printed.add(subprocess.run([str(path.with_suffix(""))], check=True, capture_output=True).stdout)
    assert len(printed) == 1
    return result


def marked(body):
    return f"#pragma scop\n{PLAIN.format(body)}\n#pragma endscop"


@pytest.mark.parametrize("name", LOOPS)
def test_results_are_the_original_ones(tmp_path, name):
    result = compared(tmp_path, f"struct value w;\n(void)w;\n{marked(LOOPS[name])}")
    assert [each.status for each in result.regions] == ["transformed"], result.diagnostics


MULTIPLIED = """\
#define MULTIPLIED(m, a, b) do { \\
  (m).r = (a).r * (b).r - (a).i * (b).i; (m).i = (a).r * (b).i + (a).i * (b).r; } while (0)
"""
BEFORE = {
    "copied": "w = v[i]; u[i].r += w.r * w.i;",
    "set_by_members": "w.r = v[i].r; w.i = -v[n - 1 - i].i; u[i].r = w.r * w.i;",
    "set_by_both": "w = v[i]; z.r = w.i; z.i = w.r; w = z; u[i].i = w.r; a[i].x = w.i;",
    "set_in_both_branches": "if (i % 3) w = v[i]; else w = v[n - 1 - i]; u[i].r = w.r + w.i;",
    "in_an_inner_loop": "for (int k = 0; k < 3; k++) { w = v[k]; u[i].r += w.r; }",
    "by_a_macro": "MULTIPLIED(w, u[i], v[i]); u[i] = w;",
}


@pytest.mark.parametrize("name", BEFORE)
def test_structures_of_the_function_are_private(tmp_path, name):
    after = "w.r = n; w.i = 1; z = w; v[0].r = z.i;"
    result = compared(tmp_path, f"struct value w, z;\n{marked(BEFORE[name])}\n{after}", HEAD + MULTIPLIED)
    assert [each.parallel_loops > 0 for each in result.regions] == [True], result.diagnostics


FUNCTIONS = """\
#include <math.h>
static float size(struct value q) { float k = q.r * q.r, m = q.i * q.i; return sqrtf(k + m); }
static float size_of(const struct value *q) { float k = q->r * q->r; return fabsf(q->i) + k; }
static struct value turned(struct value q) { struct value k; k.r = -q.i; k.i = q.r; return k; }
static void turn(const struct value *q, struct value *k) { float m = q->r; k->r = -q->i; k->i = m; }
static struct value sum_of(struct value p, struct value q) {
  struct value k = {p.r + q.r, p.i + q.i}; return k; }
static void scale(struct value *q, float by) { q->r *= by; q->i *= by; }
"""
CALLED = {
    "of_a_copy": "struct value k = u[i]; v[i].r = size(k);",
    "of_an_element": "v[i].r = size(u[i]) + size(u[n - 1 - i]);",
    "behind_a_pointer": "v[i].i = size_of(&u[i]) * size_of(u + i);",
    "returned": "struct value k = turned(u[i]); float m = size(k); v[i].r = m * k.i;",
    "of_sums": "v[i] = sum_of(turned(u[i]), u[n - 1 - i]);",
    "through_addresses": "struct value k; turn(&u[i], &k); v[i].r = k.i - size(k);",
    "in_place": "struct value k = u[i]; turn(&k, &k); scale(&k, 0.5f); v[i] = k;",
    "outside_the_region": "w = u[i]; turn(&w, &z); scale(&z, size(w)); v[i] = z;",
}


@pytest.mark.parametrize("name", CALLED)
def test_functions_of_structures_are_read_through(tmp_path, name):
    body = f"struct value w, z;\n(void)w, (void)z;\n{marked(CALLED[name])}"
    result = compared(tmp_path, body, HEAD + FUNCTIONS)
    assert [each.parallel_loops > 0 for each in result.regions] == [True], result.diagnostics


LIVE = {
    "read_afterwards": ("", "w = v[i]; u[i].r += w.r;", "v[0] = w;"),
    "a_member_read_afterwards": ("", "w = v[i]; u[i].r += w.r;", "w.r = 1; v[0].i = w.i;"),
    "read_before_it_is_set": ("w = v[1];", "u[i].r += w.r; w = u[i];", ""),
    "set_in_one_branch": ("w = v[1];", "if (i % 3) w = v[i]; u[i].r += w.r;", ""),
    "a_member_of_before": ("w = v[1];", "w.r = v[i].r; u[i].r += w.r + w.i;", ""),
}


@pytest.mark.parametrize("name", LIVE)
def test_structures_whose_values_are_needed_keep_them(tmp_path, name):
    before, inside, after = LIVE[name]
    compared(tmp_path, f"struct value w;\n{before}\n{marked(inside)}\n{after}")


REFUSED = {
    "with_a_pointer": "a[i] = b[i];",
    "subscript_in_memory": "struct value q = u[a[i].id]; v[i].r = q.r; u[v[i].r > 0] = q;",
    "passed_on": "struct value q = u[i]; take(&q); v[i].r = q.r;",
}


@pytest.mark.parametrize("name", REFUSED)
def test_copies_of_pointers_are_refused(tmp_path, name):
    source = tmp_path / "kept.c"
    loops = PLAIN.format(REFUSED[name])
    head = f"{HEAD}void take(struct value *q);\n"
    parameters = "int n, struct point *restrict a, struct point *restrict b, struct value *u, struct value *v"
    source.write_text(f"{head}void f({parameters}) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert [each.status for each in result.regions] != ["transformed"]
    assert result.diagnostics
