"""What a run on a device is predicted to take: launches, statements and what travels, in bytes."""

from __future__ import annotations

import dataclasses

import pytest

from polybuild.driver.device_prediction import device_prediction_of, in_waves
from polybuild.driver.file import compile_source
from polybuild.machine.model import Machine
from polybuild.options import Options
from polybuild.report.explain.sentences import expected_on_device

STEPS = """
void f(int steps, int n, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = u[i - 1][j] + u[i][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = v[i][j];
  }
#pragma endscop
}
"""
GATHER = """
void f(int n, const int *restrict a, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[a[i]];
#pragma endscop
}
"""


@pytest.fixture
def found(tmp_path):
    """The report and the details of the one region of a text, for OpenCL."""

    def result(text):
        source = tmp_path / "f.c"
        source.write_text(text)
        options = Options(backend="opencl", tile_shape="rectangular")
        made = compile_source(str(source), options, ["gcc"], ["-O2"])
        return made.regions[0], made.details[0]

    return result


def test_launches_statements_and_transfers(found):
    report, details = found(STEPS)
    request, machine = details.text.kernels.request, details.machine
    sizes = {"steps": 5, "n": 102}
    seen = device_prediction_of(request, machine, sizes)
    instances = 2 * 5 * 100 * 100
    assert seen.parameters == sizes
    assert seen.launches == 10
    assert seen.bytes_in == 8 * 101 * 101
    assert seen.bytes_out == 8 * 101 * 101 + 8 * 100 * 100
    assert seen.host_ns == instances * machine.device.host / machine.threads.processors
    costs = request.plan.tree.costs.values()
    busy = instances / 2 * sum(sum(each.statements.values()) for each in costs)
    few_blocks = in_waves(7, next(iter(costs)).at_once, machine)
    assert seen.parts["statements"] == pytest.approx(busy * few_blocks)
    assert seen.parts["one_thread"] == 0
    assert seen.device_ns == machine.interconnect.start + sum(seen.parts.values())
    assert report.device == device_prediction_of(request, machine)


def test_figures_of_the_machine_count(found):
    _, details = found(STEPS)
    request, machine = details.text.kernels.request, details.machine
    slower = dataclasses.replace(machine, device=dataclasses.replace(machine.device, launch=10**6))
    one, other = (device_prediction_of(request, each, {"steps": 5, "n": 102}) for each in (machine, slower))
    assert other.device_ns - one.device_ns == pytest.approx(10 * (10**6 - Machine().device.launch))


def test_nothing_is_said_where_data_decide_what_travels(found):
    report, details = found(GATHER)
    assert details.text.kernels is not None
    assert report.device is None
    assert expected_on_device(report) == ""


def test_in_words(found):
    report, details = found(STEPS)
    seen = device_prediction_of(details.text.kernels.request, details.machine, {"steps": 5, "n": 102})
    told = expected_on_device(dataclasses.replace(report, device=seen))
    assert told.startswith("expected on the device for steps = 5, n = 102: ")
    assert "(10 launches 0.03, statements 0.039)" in told
    assert told.endswith("the host is taken to need 0.05")
