"""Updates of integers whose places data choose: many threads make them at once, by atomic operations."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.nvcc import places, with_mistakes
from tests.emulator.stand_ins import FAULT, ORDERS

PROGRAM = r"""
#include <stdio.h>
enum { N = 3000 };
static unsigned char a[N];
static int h[256], p[256], rows[9][30], key[N], many[2000];
static int first[501], product[2000], degree[60];
static unsigned g[100], bits[40];
static void count(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    h[a[i]]++;
#pragma endscop
}
static void through_a_pointer(int n, int *where)
{
#pragma scop
  for (int i = 0; i < n; i++)
    if (a[i] > 7)
      where[a[i]] -= i;
#pragma endscop
}
static void with_a_variable(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int k = a[i] % 100;
    if (k > 3)
      g[k] = (unsigned)i + g[k] - 1u;
  }
#pragma endscop
}
static void in_rows(int n, int m)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      rows[i][a[j] % 30] += j;
#pragma endscop
}
static void masks(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    bits[a[i] / 7] |= 1u << (i & 31);
  for (int i = 0; i < 39; i++)
    bits[i] ^= bits[i + 1];
#pragma endscop
}
static void of_unknown_extents(int n, int *where, const int *restrict by)
{
#pragma scop
  for (int i = 0; i < n; i++)
    where[by[i]] += i & 3;
#pragma endscop
}
static void by_column(int n, const int *restrict first, const int *restrict row, const int *restrict v,
                      int *restrict y)
{
#pragma scop
  for (int j = 0; j < n; j++)
    for (int k = first[j]; k < first[j + 1]; k++)
      y[row[k]] += v[k] * a[j];
#pragma endscop
}
static void of_edges(int n, const int *restrict first)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = first[i]; k < first[i + 1]; k++)
      if (key[k] > 100)
        degree[a[k] % 60] += i;
#pragma endscop
}
int main(void)
{
  long all = 0;
  for (int i = 0; i < N; i++)
    a[i] = (unsigned char)(i * i / 3), key[i] = a[i] * 7;
  count(N);
  through_a_pointer(N, p);
  with_a_variable(N);
  in_rows(9, N);
  masks(N);
  of_unknown_extents(N, many + 200, key);
  for (int i = 0; i < 500; i++)
    first[i + 1] = first[i] + (i % 7 == 3 ? 0 : i % 11);
  by_column(500, first, key, key + 90, product + 100);
  of_edges(500, first);
  for (int i = 0; i < 256; i++)
    printf("%d %d %d ", h[i], p[i], many[7 * i + 200]), all += h[i];
  for (int i = 0; i < 270; i++)
    printf("%d ", rows[i / 30][i % 30]);
  for (int i = 0; i < 100; i++)
    printf("%u %u ", g[i], bits[i % 40]);
  for (int i = 0; i < 2000; i++)
    printf("%d %d ", product[i], degree[i % 60]);
  printf("%ld\n", all);
  return 0;
}
"""
ATOMIC = 8
COPIED = 7
"""The histograms that blocks count in copies, and add up when they are done."""
IN_PART = 2
"""Those of unknown extents: what is not in the copy is counted where it is."""


@pytest.fixture(scope="module")
def kernels(emulator, tmp_path_factory) -> tuple[Path, str, str]:
    """The folder of the program, its generated text and that of its kernels."""
    folder = tmp_path_factory.mktemp("histograms")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC", emulator.nvcc)
        patch.setenv("POLYBUILD_EMULATOR_KEEP", str(folder / "kernels.cu"))
        patch.setenv("POLYBUILD_CACHE", "0")
        result = transform(PROGRAM, "cuda", folder)
    assert [each.backend for each in result.regions] == ["cuda"] * ATOMIC
    return folder, result, (folder / "kernels.cu").read_text()


@pytest.fixture(scope="module")
def cuda(kernels, runtime) -> Path:
    folder, result, _ = kernels
    return build(result, "histograms", runtime, folder)


def test_the_same_counts_in_every_order_and_language(cuda, emulator, runtime, tmp_path):
    expected = run(cuda, environment=on("host")).stdout
    programs = [(cuda, emulator.environment(order=order, POLYBUILD_VERBOSE="1")) for order in ORDERS]
    if HAS_OPENCL:
        other = build(transform(PROGRAM, "opencl", tmp_path), "opencl", runtime, tmp_path)
        programs.append((other, {**on("opencl"), "POLYBUILD_VERBOSE": "1"}))
    for program, environment in programs:
        done = run(program, environment=environment)
        assert done.stdout == expected
        assert done.stderr.count("1 runs on the device") == ATOMIC


def test_every_operation_has_to_be_atomic_and_every_barrier_there(cuda, kernels, emulator, tmp_path):
    """One that is not is a race, in each order."""
    text = kernels[2]
    barriers = set(range(1, places(text, "barrier") + 1))
    assert (places(text, "atomic"), len(barriers)) == (ATOMIC + COPIED + IN_PART, 2 * COPIED)
    image = tmp_path / "image"
    made = build_image(with_mistakes(text), emulator.nvcc, (80,), contract=False)
    image.write_bytes(made.data)
    mistakes = [f"atomic:{number}" for number in range(1, ATOMIC + COPIED + IN_PART + 1)]
    mistakes += [f"barrier:{number}" for number in sorted(barriers)]
    for number, mistake in enumerate(mistakes):
        environment = emulator.environment(
            order=ORDERS[number % len(ORDERS)],
            POLYBUILD_EMULATOR_MISTAKE=mistake,
            POLYBUILD_EMULATOR_IMAGE=str(image),
        )
        done = subprocess.run(
            [cuda], env=environment, check=False, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == FAULT, (mistake, done.stderr)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_nvcc_takes_them(kernels):
    build_image(kernels[2], "nvcc", (90,), contract=False)


def test_blocks_count_by_themselves(cuda, emulator):
    """They meet before they begin, and before they add up what they counted."""
    kernels = emulator.report([str(cuda)])["kernels"]
    (counted,) = (each for name, each in kernels.items() if "_count_" in name)
    assert counted["blocks"] == -(-3000 // 128)
    assert counted["barriers"] == 2 * counted["blocks"]


def test_elements_that_an_update_reads_elsewhere_keep_their_order(tmp_path):
    text = """
static int h[99];
static short narrow[99];
void run(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    h[h[i] % 99]++;
#pragma endscop
}
void small(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    narrow[h[i] % 99]++;
#pragma endscop
}
"""
    # there are no atomic operations on narrow ones: threads count in parts
    assert [each.backend for each in transform(text, "opencl", tmp_path).regions] == ["openmp", "opencl"]


MEMBERS = r"""
#include <stdio.h>
struct bin { double weight; int count; unsigned set; };
struct grid { struct bin bins[64]; };
static struct grid grid;
static unsigned char c[5000];
static void counts(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    grid.bins[c[i]].count++;
#pragma endscop
}
static void two_members(int n, struct bin *restrict b)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    b[c[i] / 2].count -= i;
    b[c[i]].set ^= 1u << i % 32;
  }
#pragma endscop
}
int main(void)
{
  static const int sizes[] = {0, 1, 2, 33, 4999};
  static struct bin other[64];
  for (int i = 0; i < 5000; i++)
    c[i] = i * 7919 % 4001 % 64;
  for (int k = 0; k < 5; k++) {
    counts(sizes[k]);
    two_members(sizes[k], other);
  }
  for (int i = 0; i < 64; i++)
    printf("%d %u %d %u\n", grid.bins[i].count, grid.bins[i].set, other[i].count, other[i].set);
  return 0;
}
"""


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_members_of_elements(backend, workbench):
    for done in workbench.runs(MEMBERS, backend, 2):
        assert done.stderr.count("5 runs on the device") == 2
