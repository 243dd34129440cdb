"""What the model of costs says of a region, for its report."""

from __future__ import annotations

from collections.abc import Mapping

from polybuild.report.record.model import PredictedCandidate, Prediction
from polybuild.targets.cpu.cost.versions import VersionCosts


def prediction_of(costs: VersionCosts, sizes: Mapping[str, int] | None = None) -> Prediction:
    """The costs of the versions of a region where its parameters have these ``sizes``, else usual ones."""
    usual, chosen = sizes or costs.usual, costs.chosen
    versions = {
        "original": costs.original.at(usual),
        "one_thread": costs.runs_alone.at(usual),
        "all_threads": chosen.all_threads.at(usual),
    }
    return Prediction(
        versions["original"].total,
        versions["one_thread"].total,
        versions["all_threads"].total,
        dict(usual),
        {name: each.parts for name, each in versions.items()},
        tuple(
            PredictedCandidate(each.name, each.one_thread.at(usual).total, each.all_threads.at(usual).total)
            for each in costs.candidates
        ),
    )
