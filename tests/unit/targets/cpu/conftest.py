from __future__ import annotations

from collections.abc import Callable

import islpy as isl
import pytest


@pytest.fixture
def band(model) -> Callable[..., tuple[object, isl.ScheduleNode]]:
    """The model of a region with one statement, and a band with the given members over it."""

    def make(body: str, parameters: str, *members: str, permutable: int = 1):
        found = model(body, parameters)
        (statement,) = found.scop.statements
        counters = ", ".join(iterator.name for iterator in statement.iterators)
        schedule = ", ".join(f"{{ S0[{counters}] -> [({each})] }}" for each in members)
        tree = isl.Schedule(
            f'{{ domain: "{found.scop.domain}", child:'
            f' {{ schedule: "[{schedule}]", permutable: {permutable} }} }}'
        )
        return found, tree.get_root().child(0)

    return make
