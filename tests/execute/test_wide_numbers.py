"""Loops that compare with numbers beyond signed 64 bits, as ``SIZE_MAX``: results are the original ones."""

from __future__ import annotations

import subprocess

import pytest
from compiling import SANITIZED, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

HEAD = """\
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
enum { none = -1 };
static uint64_t hash[64 * 64];
"""
MAIN = """
typedef void function(int, uint64_t, int64_t, double *restrict, const double *restrict);
static void test(const char *name, function *f) {
  static double x[64 * 64], y[64 * 64];
  static const uint64_t values[] = {
    0, 1, 2, 3, 5, 10, 255, UINT32_MAX, 1ull << 32, INT64_MAX, 1ull << 63, 0xF000000000000001u,
    UINT64_MAX - 5, UINT64_MAX - 1, UINT64_MAX,
  };
  for (int i = 0; i < 64 * 64; i++) x[i] = hash[i] = 0, y[i] = i % 97;
  for (unsigned k = 0; k < sizeof values / sizeof *values; k++) {
    f(33, values[k], (int64_t)values[k], x, y);
    double sum = 0;
    uint64_t all = 14695981039346656037ull;
    for (int i = 0; i < 64 * 64; i++) sum += x[i] * (i % 13), all = (all ^ hash[i]) * 1099511628211ull;
    printf("%s %.17g %llx\\n", name, sum, (unsigned long long)all);
  }
}
"""
CONDITIONS = {
    "greatest": "m != SIZE_MAX",
    "greatest_on_the_left": "UINT64_MAX > m",
    "greatest_by_a_cast": "m == (size_t)-1",
    "greatest_by_inversion": "m == ~(uint64_t)0",
    "greatest_of_an_enumeration": "m == (size_t)none",
    "minus_one": "m == -1ull",
    "greatest_and_others": "m != SIZE_MAX && m > 3",
    "half": "m > SIZE_MAX / 2",
    "power": "m < 1ull << 63",
    "power_in_hexadecimal": "m >= 0x8000000000000000u",
    "top_bit": "(m >> 63) == 1",
    "top_bit_of_a_signed_one": "(s >> 63) == -1",
    "divided": "m / SIZE_MAX == 0",
    "remainder": "m % SIZE_MAX == 1",
    "masked_by_all": "(m & 0xFFFFFFFFFFFFFFFFu) != 0",
    "masked_by_all_but_the_last": "(m & 0xFFFFFFFFFFFFFFFEu) != 0",
    "masked_by_all_but_the_first": "(m & INT64_MAX) != 0",
    "signed_masked": "(s & INT64_MAX) == 5",
    "added": "m + SIZE_MAX == 1",
    "one_less": "m - 1 == SIZE_MAX",
    "product": "m * 0x9E3779B97F4A7C15u > 5",
    "chosen": "(i > 0 ? (size_t)i - 1 : SIZE_MAX) != SIZE_MAX",
    "chosen_and_added": "i + (m == SIZE_MAX ? 0 : m) < 20",
    "sum": "(uint64_t)i + m < 10",
    "least": "s != INT64_MIN",
    "next_to_least": "s > INT64_MIN + 1",
}
STATEMENTS = {
    "inverted": "hash[i * n + j] ^= 0xFFFFFFFFFFFFFFFFu;",
    "found": "hash[i * n + j] = hash[j * n + i] == UINT64_MAX ? 0 : 18446744073709551614u;",
    "hashed": "uint64_t h = 14695981039346656037ull; h = (h ^ i) * 1099511628211ull;"
    " hash[i * n + j] = (h ^ j) * 1099511628211ull;",
    "random": "uint64_t h = m + (i * 33 + j) * 0x9E3779B97F4A7C15u;"
    " h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u; x[i * n + j] = (h >> 11) * 0x1p-53;",
}
CASES = {
    **{name: f"x[i * n + j] = {each} ? y[j * n + i] : 2;" for name, each in CONDITIONS.items()},
    **{
        f"{name}_by_if": f"if ({each}) x[i * n + j] = y[j * n + i]; else x[i * n + j] = 3;"
        for name, each in CONDITIONS.items()
    },
    **STATEMENTS,
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the original and the transformed functions print, by names; no compiler warns of either."""
    folder = tmp_path_factory.mktemp("wide")
    functions = (
        f"static void f_{name}(int n, uint64_t m, int64_t s, double *restrict x, const double *restrict y)\n"
        f"{{\n  (void)m; (void)s; (void)x; (void)y;\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {body} }}\n#pragma endscop\n}}"
        for name, body in CASES.items()
    )
    calls = "\n".join(f'  test("{name}", f_{name});' for name in CASES)
    source = folder / "in.c"
    source.write_text("\n".join([HEAD, *functions, MAIN, f"int main(void) {{\n{calls}\n}}\n"]))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert [each.message for each in result.regions if each.status == "kept"] == []
    return [run(path, folder) for path in (source, write(folder / "out.c", result.text))]


def run(path, folder):
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-sign-compare")
    program = folder / path.stem
    subprocess.run(["gcc", *SANITIZED, *warnings, str(path), "-o", str(program)], check=True)
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    return {name: [line for line in printed.splitlines() if line.split()[0] == name] for name in CASES}


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same(printed, name):
    original, transformed = printed
    assert len(original[name]) == 15
    assert transformed[name] == original[name]


@pytest.mark.parametrize(
    "body",
    [
        "if (m >= 0x8000000000000000u) return;\nfor (size_t i = 0; i < n; i++) x[i] = y[i];",
        "for (size_t i = 0; i < n && m != UINT64_MAX; i++) x[i] = y[i];",
        "for (size_t i = n; i-- != 0;) if (i <= SIZE_MAX / 2) x[i] = y[i];",
    ],
)
def test_regions_that_end_at_wide_numbers(tmp_path, body):
    source = tmp_path / "in.c"
    source.write_text(
        "#include <stddef.h>\n#include <stdint.h>\n"
        "void f(size_t n, size_t m, double *restrict x, const double *restrict y) {\n"
        f"(void)m;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert [each.status for each in result.regions] == ["transformed"]
    out = write(tmp_path / "out.c", result.text)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-fopenmp", str(out)], check=True)
