"""Whether a loop within sequential loops does enough for threads."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.machine.model import Machine
from polybuild.poly.relations import parameter_set
from polybuild.targets.cpu.estimate import LaunchModel, nominal_parameters

PARAMETERS = "int n, int m, double A[restrict n][m]"


def point(text):
    chosen = nominal_parameters(parameter_set(text))
    assert chosen.is_singleton()
    return [
        chosen.plain_get_val_if_fixed(isl.dim_type.param, dim).to_python()
        for dim in range(chosen.dim(isl.dim_type.param))
    ]


def test_nominal_parameters():
    assert point("[n] -> { : 1 <= n <= 40 }") == [40]
    large = point("[n] -> { : n >= 1 }")
    assert large[0] >= 100
    first, second = point("[n, m] -> { : 1 <= n <= 40 and m >= n }")
    assert first == 40
    assert second >= 100


@pytest.mark.parametrize(
    ("outer", "inner", "worth"),
    [("n", "3", False), ("n", "m", True), ("n", "50", False), ("9", "9", False)],
)
def test_a_loop_in_a_loop(outer, inner, worth, model):
    body = f"""
      for (int i = 1; i < {outer}; i++)
        for (int j = 0; j < {inner}; j++)
          for (int k = 0; k < {inner}; k++) A[j][k] += A[j][k] * i;"""
    scop = model(body, PARAMETERS).scop
    outermost = scop.schedule.get_root().child(0)
    launches = LaunchModel(scop, Machine())
    assert launches.is_worth_launching(outermost, vector=False), "reached once: left to run-time conditions"
    second = outermost.child(0)
    assert second.get_schedule_depth() == 1
    assert launches.is_worth_launching(second, vector=False) is worth


def test_vector_code_needs_more_of_it(model):
    body = "for (int i = 1; i < 50000; i++) for (int j = 0; j < 50000; j++) A[i][j] = A[i - 1][j];"
    scop = model(body, PARAMETERS).scop
    inner = scop.schedule.get_root().child(0).child(0)
    assert LaunchModel(scop, Machine()).is_worth_launching(inner, vector=False)
    assert not LaunchModel(scop, Machine()).is_worth_launching(inner, vector=True)


def test_waves_of_small_grids_are_not_worth_threads(model):
    def worth(size):
        nest = f"for (int i = 1; i < {size}; i++) for (int j = 1; j < {size}; j++)"
        body = f"{nest} A[i][j] = A[i - 1][j] + A[i][j - 1];"
        scop = model(body, PARAMETERS).scop
        return LaunchModel(scop, Machine()).is_worth_pipelining(
            scop.schedule.get_root().child(0), (32, 32), vector=False
        )

    assert not worth(100)
    assert worth(1000000)


@pytest.mark.parametrize(("steps", "size", "worth"), [("5", "n", True), ("100000", "100", False)])
def test_the_loops_around_may_be_shorter_or_longer(steps, size, worth, model):
    """What counts is one time: a few steps over a large grid are worth threads, many over a small one not."""
    body = f"""
      for (int t = 0; t < {steps}; t++)
        for (int i = 0; i < {size}; i++)
          for (int j = 0; j < {size}; j++) A[i][j] = A[i][j] * 0.5 + t;"""
    scop = model(body, PARAMETERS).scop
    inner = scop.schedule.get_root().child(0).child(0)
    assert LaunchModel(scop, Machine()).is_worth_launching(inner, vector=True) is worth


def test_a_branch_that_the_nominal_sizes_do_not_take(model):
    scop = model(
        """
      if (n < 200)
        for (int i = 1; i < n; i++)
          for (int j = 0; j < m; j++)
            for (int k = 0; k < m; k++) A[j][k] += A[j][k] * i;""",
        PARAMETERS,
    ).scop
    second = scop.schedule.get_root().child(0).child(0)
    assert second.get_schedule_depth() == 1
    assert LaunchModel(scop, Machine()).is_worth_launching(second, vector=False)
