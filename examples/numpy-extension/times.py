"""Time the functions of the extension beside the same in NumPy; prints JSON, as run.py reads it."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import numpy as np
import pairs


def seconds(work: Callable[[], object]) -> float:
    """The median of five runs."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def nearest() -> list[float]:
    """Squared distances of points from the nearest of some centres."""
    random = np.random.default_rng(1)
    points, centres = random.random((20000, 8)), random.random((64, 8))
    distance = np.empty(len(points))

    def with_numpy() -> np.ndarray:
        squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
        return (squares - 2.0 * points @ centres.T).min(axis=1)

    times = [seconds(with_numpy), seconds(lambda: pairs.nearest(points, centres, distance))]
    np.testing.assert_allclose(distance, with_numpy(), rtol=1e-9, atol=1e-12)
    return times


def smooth() -> list[float]:
    """Twenty sweeps over a grid."""
    start = np.random.default_rng(2).random((1200, 1200))
    grid, scratch = start.copy(), np.empty_like(start)

    def with_numpy() -> np.ndarray:
        now = start.copy()
        for _ in range(20):
            now[1:-1, 1:-1] = 0.25 * (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:])
        return now

    def with_extension() -> None:
        grid[:] = start
        pairs.smooth(grid, scratch, 20)

    times = [seconds(with_numpy), seconds(with_extension)]
    np.testing.assert_array_equal(grid, with_numpy())
    return times


print(json.dumps({"nearest": nearest(), "smooth": smooth()}))
