"""The filters of pictures.c for Halide, scheduled by its Adams 2019 autoscheduler and compiled at run time.

usage: python -m benchmarks.filters.halide_peer KERNEL H W IN WEIGHTS OUT SECONDS THREADS

Runs for SECONDS on what the files IN and WEIGHTS hold, writes the result, and prints the seconds of the
fastest run. ``halide/lib64`` of the installed package has to be on the loader's path.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import halide as hl
import numpy as np

x, y, f = (hl.Var(each) for each in "xyf")


def _function(name: str, value: Any) -> Any:
    """The function of ``x`` and ``y`` that has ``value``."""
    made = hl.Func(name)
    made[x, y] = value
    return made


def _sum(terms: Any) -> Any:
    return sum(terms, hl.f32(0))


def separable(image: Any, weights: Any) -> Any:
    """Nine taps along rows, then along columns."""
    rows = _function("rows", _sum(image[x + k, y] * weights[k] for k in range(9)))
    return _function("out", _sum(rows[x, y + k] * weights[k] for k in range(9)))


def _gradients(pixel: Callable[[int, int], Any]) -> tuple[Any, Any]:
    """Sobel's sums for the window whose rows and columns ``pixel`` gives."""
    gx = pixel(0, 2) - pixel(0, 0) + 2 * (pixel(1, 2) - pixel(1, 0)) + pixel(2, 2) - pixel(2, 0)
    gy = pixel(2, 0) - pixel(0, 0) + 2 * (pixel(2, 1) - pixel(0, 1)) + pixel(2, 2) - pixel(0, 2)
    return gx, gy


def sobel(image: Any, _weights: Any) -> Any:
    """The sum of the gradients' magnitudes, 255 at most."""
    gx, gy = _gradients(lambda i, j: hl.i16(image[x + j, y + i]))
    return _function("out", hl.u8(hl.min(hl.abs(gx) + hl.abs(gy), 255)))


def unsharp(image: Any, _weights: Any) -> Any:
    """Twice a picture without its blurred self."""

    def pixel(i: int, j: int) -> Any:
        return hl.i16(image[x + j, y + i])

    window = [((1, 2, 1)[i] * (1, 2, 1)[j]) * pixel(i, j) for i in range(3) for j in range(3)]
    blurred = (sum(window[1:], window[0]) + 8) >> 4
    return _function("out", hl.u8(hl.clamp(2 * pixel(1, 1) - blurred, 0, 255)))


def harris(image: Any, _weights: Any) -> Any:
    """Harris's measure of corners."""
    gx, gy = _gradients(lambda i, j: image[x + j, y + i])
    gx, gy = _function("gx", gx / hl.f32(12)), _function("gy", gy / hl.f32(12))

    def products(name: str, one: Any, other: Any) -> Any:
        terms = (one[x + l, y + k] * other[x + l, y + k] for k in range(3) for l in range(3))  # noqa: E741
        return _function(name, _sum(terms))[x, y]

    xx, xy, yy = products("xx", gx, gx), products("xy", gx, gy), products("yy", gy, gy)
    return _function("out", xx * yy - xy * xy - hl.f32(0.04) * (xx + yy) * (xx + yy))


def layer(image: Any, weights: Any) -> Any:
    """A convolution of 32 channels to 32; the function that reads the sums lets these stay in registers."""
    channel = hl.RDom([(0, 32)])
    sums, out = hl.Func("sums"), hl.Func("out")
    sums[x, y, f] = hl.f32(0)
    sums[x, y, f] += _sum(
        image[x + l, y + k, channel.x] * weights[l, k, channel.x, f]
        for k in range(3)
        for l in range(3)  # noqa: E741
    )
    out[x, y, f] = sums[x, y, f]
    return out


def pyramid(image: Any, _weights: Any) -> Any:
    """Three levels of means of four."""
    level = image
    for name in ("half", "quarter", "out"):
        window = [hl.u16(level[2 * x + j, 2 * y + i]) for i in range(2) for j in range(2)]
        level = _function(name, hl.u8((sum(window[1:], window[0]) + 2) / 4))
    return level


def main() -> None:
    """Run the command line."""
    name, height, width, image_file, weights_file, out_file, seconds, threads = sys.argv[1:]
    from benchmarks.filters.pictures import PICTURES  # noqa: PLC0415 - so that the rest is plain Halide

    picture = next(each for each in PICTURES if each.name == name)
    h, w = int(height), int(width)
    element = np.dtype(picture.element)
    kind = hl.Float(32) if picture.element == "float32" else hl.UInt(8)
    data = np.fromfile(image_file, element).reshape(picture.image(h, w))
    weights = np.fromfile(weights_file, np.float32)[: int(np.prod(picture.weights))].reshape(picture.weights)
    result = np.zeros(picture.out(h, w), element)
    parameters = [
        hl.ImageParam(kind, data.ndim, "image"),
        hl.ImageParam(hl.Float(32), weights.ndim, "weights"),
    ]
    out = globals()[name](*parameters)
    for parameter, array in zip(parameters, (data, weights), strict=True):
        for position, extent in enumerate(reversed(array.shape)):
            parameter.dim(position).set_estimate(0, extent)
        parameter.set(hl.Buffer(array))
    out.set_estimates([hl.Range(0, each) for each in reversed(result.shape)])
    pipeline, target, buffer = hl.Pipeline(out), hl.get_jit_target_from_environment(), hl.Buffer(result)
    hl.load_plugin("autoschedule_adams2019")
    pipeline.apply_autoscheduler(target, hl.AutoschedulerParams("Adams2019", {"parallelism": threads}))
    pipeline.compile_jit(target)
    best, started = float("inf"), time.monotonic()
    while time.monotonic() - started < float(seconds):
        begun = time.monotonic()
        pipeline.realize(buffer)
        best = min(best, time.monotonic() - begun)
    result.tofile(out_file)
    print(best)


if __name__ == "__main__":
    main()
