"""Sums in any order beside the updates that they sum up: one loop does both, on one thread, too.

The same bits, as all terms are small whole numbers.
"""

from __future__ import annotations

import subprocess

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

HEAD = """\
#include <stdio.h>
#define AT(a, i, j) a[(i) * m + (j)]
typedef struct { double *t, *r; } fields;
static double t[160000], r[160000], p[160000], q[160000], grid[400][400], other[400][400];
"""
FUNCTION = """\
double f{number}(int n, int m, double alpha, double *restrict t, double *restrict r, const double *restrict p,
    const double *restrict q) {{
  double s = 0;
{body}
  return s;
}}
"""
MAIN = """\
int main(void) {{
  for (int i = 0; i < 160000; i++)
    t[i] = i % 7, r[i] = i % 5 - 2, p[i] = i % 3, q[i] = i % 4 - 1, grid[i / 400][i % 400] = i % 6;
{calls}
  double all = 0;
  for (int i = 0; i < 160000; i++) all += t[i] * (i % 3) + r[i] * (i % 5) + grid[i / 400][i % 400];
  printf("%.17g\\n", all);
  return 0;
}}
"""
CLAUSE = "#pragma omp parallel for reduction(+ : s)\n"
FORMS = {
    "flat": (
        f"{CLAUSE}for (int i = 1; i < n - 1; i++)\n  for (int j = 1; j < m - 1; j++) {{\n"
        "    t[i * m + j] += alpha * p[i * m + j];\n    r[i * m + j] -= alpha * q[i * m + j];\n"
        "    s += r[i * m + j] * r[i * m + j];\n  }"
    ),
    "macros": (
        f"{CLAUSE}for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++) {{\n"
        "    AT(t, i, j) = AT(t, i, j) + alpha * AT(p, i, j); \n"
        "    AT(r, i, j) = AT(r, i, j) - alpha * AT(q, i, j);\n"
        "    s = s + AT(r, i, j) * AT(r, i, j);\n  }"
    ),
    "values": (
        f"{CLAUSE}for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++) {{\n"
        "    const double v = r[i * m + j] - alpha * q[i * m + j];\n"
        "    t[i * m + j] += alpha * p[i * m + j];\n    r[i * m + j] = v;\n    s += v * v;\n  }"
    ),
    "one loop": (
        f"{CLAUSE}for (int k = 0; k < n * m; k++) {{\n  t[k] += alpha * p[k];\n  r[k] -= alpha * q[k];\n"
        "  s += r[k] * r[k];\n}"
    ),
    "two sums": (
        "double e = 0;\n#pragma omp parallel for reduction(+ : s, e)\nfor (int k = 0; k < n * m; k++) {\n"
        "  t[k] += alpha * p[k];\n  r[k] -= alpha * q[k];\n  s += r[k] * r[k];\n  e += r[k] * t[k];\n}\n"
        "s -= e;"
    ),
    "array of arrays": (
        f"{CLAUSE}for (int i = 0; i < n; i++)\n  for (int j = 0; j < 400; j++) {{\n"
        "    other[i][j] = alpha * p[i * 400 + j];\n    grid[i][j] += other[i][j] * q[i * 400 + j];\n"
        "    s += grid[i][j] * q[i * 400 + j];\n  }"
    ),
}


def _compiled(folder, **options):
    functions = [
        FUNCTION.format(number=number, body=f"#pragma scop\n{body}\n#pragma endscop")
        for number, body in enumerate(FORMS.values())
    ]
    calls = "\n".join(
        f'  printf("%.17g\\n", f{each}(400, 400, 2, t, r, p, q));' for each in range(len(FORMS))
    )
    path = folder / "in.c"
    path.write_text(HEAD + "".join(functions) + MAIN.format(calls=calls))
    flags = ["-O3", "-march=native", "-std=gnu99", "-fopenmp"]
    result = compile_source(str(path), Options(**options), ["gcc"], flags)
    (folder / "out.c").write_text(result.text)
    return result


def _printed(folder, name, threads):
    flags = ["-O3", "-march=native", "-std=gnu99", "-fopenmp", "-o", "program"]
    subprocess.run(["gcc", *flags, name], check=True, cwd=folder, timeout=120)
    done = subprocess.run(
        ["./program"],
        check=True,
        capture_output=True,
        cwd=folder,
        timeout=60,
        env={"OMP_NUM_THREADS": str(threads)},
    )
    return done.stdout.split()


ALLOWED = {"clause": {"openmp": "use"}, "option": {"allow_reassociation": True}}


@pytest.mark.parametrize("options", ALLOWED.values(), ids=ALLOWED)
def test_sums_stay_beside_updates(tmp_path, options):
    result = _compiled(tmp_path, **options)
    expected = _printed(tmp_path, "in.c", 1)
    assert _printed(tmp_path, "out.c", 1) == expected
    assert _printed(tmp_path, "out.c", 3) == expected
    loops = {name: each.parallel_loops for name, each in zip(FORMS, result.regions, strict=True)}
    assert loops == {**dict.fromkeys(FORMS, 1), "values": 2}  # the update that nothing is summed of is alone
    assert "one thread gains nothing" not in result.text


def test_sums_in_order_leave_updates_to_threads(tmp_path):
    result = _compiled(tmp_path)
    expected = _printed(tmp_path, "in.c", 1)
    assert _printed(tmp_path, "out.c", 3) == expected
    assert all(each.parallel_loops for each in result.regions)
    assert "accumulated in parts" not in " ".join(each.message for each in result.diagnostics)
