"""What a run of a region is predicted to take on a device: by the sums that its program decides by.

They are those of ``runtime/src/session.c``: a run begins and ends, kernels are launched, their statements
run on all threads or on one, and arrays travel::

    start + launches * launch + kernels + alone * alone + copies * copy + bytes / bandwidth

A kernel takes its instances' time (``targets/gpu/instance_costs.py``) where its blocks keep the device busy.
They run in waves, of as many as its multiprocessors hold at once; in the last one these hold fewer, which
takes less time, but not as little as there are fewer::

    time / blocks * at once * (full waves + wave + (1 - wave) * those in the last one / those at once)

What stays on the device does not travel; what the host takes then is more by its way home.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import islpy as isl

from polybuild.codegen.device.model import DeviceRequest
from polybuild.machine.model import Machine
from polybuild.report.record.model import DevicePrediction
from polybuild.storage.buffers import element_size
from polybuild.targets.cpu.cost.parameters import (
    instances_at,
    parameters_at,
    trips_at,
    usual_values,
    values_at,
)
from polybuild.targets.device import KernelCost, Transfer


def device_prediction_of(
    request: DeviceRequest, machine: Machine, sizes: Mapping[str, int] | None = None
) -> DevicePrediction | None:
    """What a run takes where parameters have these ``sizes``, else usual ones.

    None where data decide what travels, or no parameters have such values.
    """
    scop, plan, device = request.scop, request.plan, machine.device
    if any(each.inspected for each in plan.transfers):
        return None
    point = parameters_at(scop.context, sizes or usual_values(scop))
    if point.is_empty():
        return None
    counts = {
        each.name: request.shares.get(each.name, 1.0) * instances_at(trips, point)
        for each, trips in zip(scop.statements, request.work, strict=True)
    }
    alone = sum(count for name, count in counts.items() if name in plan.serial)
    instances = sum(counts.values())
    launches = sum(instances_at(each, point) for each in plan.launches)
    parts = {
        "launches": launches * device.launch,
        "statements": sum(_kernel_time(each, counts, point, machine) for each in plan.tree.costs.values()),
        "one_thread": alone * device.alone,
    }
    boxes = [(each, _bytes_of(each, point)) for each in plan.transfers]
    bytes_in = sum(size for each, size in boxes if each.goes_in)
    bytes_out = sum(size for each, size in boxes if each.comes_out)
    copies = sum(each.goes_in + each.comes_out for each, size in boxes if size)
    link = machine.interconnect
    return DevicePrediction(
        link.start + sum(parts.values()),
        copies * link.copy + (bytes_in + bytes_out) / link.bandwidth,
        instances * device.host / machine.threads.processors,
        int(launches),
        bytes_in,
        bytes_out,
        values_at(point),
        parts,
    )


def _kernel_time(cost: KernelCost, counts: Mapping[str, float], point: isl.Set, machine: Machine) -> float:
    """What all launches of a kernel take whose statements have so many instances, as ``counts`` says."""
    time = sum(each * counts.get(name, 0.0) for name, each in cost.statements.items())
    return time * in_waves(instances_at(cost.grid, point), cost.at_once, machine)


def in_waves(blocks: float, at_once: int, machine: Machine) -> float:
    """The time of ``blocks`` over that where all multiprocessors always have so many ``at_once``."""
    processors, wave = machine.multiprocessor.count, machine.throughput.wave
    if not blocks:
        return 0.0
    full, rest = divmod(blocks, at_once * processors)
    last = wave + (1 - wave) * math.ceil(rest / processors) / at_once if rest else 0.0
    return (full + last) * at_once * processors / blocks


def _bytes_of(transfer: Transfer, point: isl.Set) -> int:
    """The bytes of the box of ``transfer`` at the ``point``."""
    if transfer.touched.intersect_params(point).is_empty():
        return 0
    corners = zip(transfer.lowest, transfer.highest, strict=True)
    sizes = [trips_at(high.sub(low).add_constant_val(isl.Val(1)), point) for low, high in corners]
    return math.prod(sizes) * element_size(transfer.array)
