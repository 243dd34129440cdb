"""Launches that were made before as graphs of the device: ``--device-launches graphs``."""

from __future__ import annotations

import subprocess

import pytest
from device_programs import build, on, run, transform

from tests.emulator.stand_ins import ORDERS

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <polybuild.h>
enum { N = 24 };
static double A[N][N], B[N][N], x[N], y[N], P[2][N];
/* the same launches in each step */
static void steps(int count)
{
#pragma scop
  for (int t = 0; t < count; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        B[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = B[i][j];
  }
#pragma endscop
}
/* others in each step, the same in each run */
static void eliminate(int n)
{
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      B[i][k] /= B[k][k] + 9;
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        B[i][j] -= B[i][k] * B[k][j];
  }
#pragma endscop
}
/* others in each step, of one kernel */
static void turns(int count)
{
#pragma scop
  for (int t = 0; t < count; t++)
    for (int i = 1; i < N; i++)
      P[(t + 1) % 2][i] = 0.5 * P[t % 2][i - 1] + t % 5;
#pragma endscop
}
/* with another argument in each run */
static void scale(int n, double by)
{
#pragma scop
  for (int t = 0; t < n; t++) {
    for (int i = 0; i < N; i++)
      x[i] = by * x[i] + y[(i + 1) % N];
    for (int i = 0; i < N; i++)
      y[i] = x[i] * 0.5;
  }
#pragma endscop
}
int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 1, count = argc > 2 ? atoi(argv[2]) : 1;
  for (int i = 0; i < N * N; i++)
    A[i / N][i % N] = i * 7 % 31, B[i / N][i % N] = i * 5 % 17, x[i % N] = i % 5, y[i % N] = i % 3;
  for (int i = 0; i < N; i++)
    P[0][i] = P[1][i] = i % 3;
  polybuild_resident(A, sizeof A), polybuild_resident(B, sizeof B);
  polybuild_resident(x, sizeof x), polybuild_resident(y, sizeof y);
  for (int round = 0; round < rounds; round++) {
    steps(count);
    turns(3 * count);
    eliminate(round == 3 ? N - 1 : N);
    scale(count, 1.0 / (1 + round / 3));
  }
  polybuild_release(A), polybuild_release(B), polybuild_release(x), polybuild_release(y);
  for (int i = 0; i < N * N; i++)
    printf("%a %a %a %a %a\n", A[i / N][i % N], B[i / N][i % N], x[i % N], y[i % N], P[i % 2][i % N]);
  return 0;
}
"""
WANTED = {"device_launches": "graphs", "tile_shape": "rectangular", "block_sizes": (2, 8)}


@pytest.fixture(scope="module")
def made(emulator, runtime, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC", emulator.nvcc)
        patch.setenv("POLYBUILD_CACHE", "0")
        result = transform(PROGRAM, "cuda", folder, **WANTED)
    assert [each.backend for each in result.regions] == ["cuda"] * 4
    return build(result, "program", runtime, folder)


@pytest.mark.parametrize(("rounds", "count"), [(1, 1), (1, 100), (3, 30), (7, 61), (6, 24)])
def test_results_are_the_same(rounds, count, made, emulator):
    """Launches of one piece, of several, of parts of one, and some that change from run to run."""
    size = (str(rounds), str(count))
    expected = run(made, *size, environment=on("host")).stdout
    for order in ORDERS[:2]:
        assert run(made, *size, environment=emulator.environment(order=order)).stdout == expected


def test_most_launches_are_in_graphs(made, emulator):
    report = emulator.report([str(made), "8", "96"])
    launches = sum(each["launches"] for each in report["kernels"].values())
    assert launches > 8 * 2 * (96 + 24 + 96) + 8 * 3 * 96 - 100
    assert report["replays"] > 50
    assert 48 * report["replays"] > 0.7 * launches  # the first ones, and what changed, are launched apart


def test_kernels_that_know_the_counter_are_in_graphs_from_the_first_run_on(made, emulator):
    """Each step has other values: they are changed in the graph of the steps before.

    Of 300 steps the first 48 are launched apart, the next as they come, and four pieces of 48 as graphs.
    """
    report = emulator.report([str(made), "1", "100"])
    assert report["changes"] >= 3 * 48
    assert report["replays"] >= 4


def test_whatever_call_fails_the_result_is_right(made, emulator):
    size = ("4", "49")
    expected = run(made, *size, environment=on("host")).stdout
    calls = emulator.report([str(made), *size])["calls"]
    for number in range(40, calls, calls // 24):
        done = run_or_stop(made, size, emulator.environment(fail=str(number)))
        assert done is None or done == expected, number


def run_or_stop(made, size, environment):
    """What it prints; None where the device failed with the only values of an array, which ends it."""
    done = subprocess.run(
        [made, *size], env=environment, check=False, capture_output=True, text=True, timeout=120
    )
    if done.returncode:
        assert "existed only there" in done.stderr, done.stderr
        return None
    return done.stdout
