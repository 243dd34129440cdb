"""What is predicted for the regions of a file where the user names the sizes, or numbers of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from polybuild.cli.planning_arguments import Planning
from polybuild.diagnostics import UsageError
from polybuild.driver.device_prediction import device_prediction_of
from polybuild.driver.prediction import prediction_of
from polybuild.driver.rank_plan import parameter_names, plan_ranks, sizes_of
from polybuild.effort import PREDICTION_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.report.explain.gather import Explained


def planned(regions: Sequence[Explained], planning: Planning, path: str) -> tuple[Explained, ...]:
    """``regions`` of the file ``path`` with what ``planning`` asks for.

    Raises UsageError for a size that is no parameter of any of them.
    """
    names = dict.fromkeys(name for each in regions if each.details for name in parameter_names(each.details))
    for name in planning.sizes:
        if name not in names:
            known = f"they are {', '.join(names)}" if names else "they have none"
            raise UsageError(f"--sizes: no region of {path} has a parameter '{name}'; {known}")
    return tuple(_planned(each, planning) for each in regions)


def _planned(region: Explained, planning: Planning) -> Explained:
    details = region.details
    if details is None:
        return region
    if planning.sizes and details.costs is not None:
        sizes = sizes_of(details, planning.sizes)
        predict = partial(prediction_of, details.costs, sizes)
        prediction = found_within(PREDICTION_OPERATIONS, predict) if sizes else None
        region = replace(region, report=replace(region.report, prediction=prediction))
    request = None if details.text.device is None else details.text.device.request
    if planning.sizes and request is not None:
        sizes = sizes_of(details, planning.sizes)
        there = partial(device_prediction_of, request, details.machine, sizes)
        device = found_within(PREDICTION_OPERATIONS, there) if sizes else None
        region = replace(region, report=replace(region.report, device=device))
    if not planning.ranks:
        return region
    return replace(region, plan=plan_ranks(details, planning.ranks, planning.sizes, planning.network))
