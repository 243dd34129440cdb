"""Kernels that spill registers are compiled under other launch bounds, and what spills least is taken."""

from __future__ import annotations

from polybuild.targets.gpu.nvcc import Image, KernelUsage
from polybuild.targets.gpu.spills import build_with_fewest_spills

SOURCE = """
__global__ void __launch_bounds__(64) small(int n) {}
__global__ void __launch_bounds__(64, 4) product(int n) {}
__global__ void __launch_bounds__(128) other(int n) {}
__global__ void __launch_bounds__(512) large(int n) {}
"""


def compiler(spills, texts):
    """A stand-in: of each text in which a kernel has certain bounds it tells what is spilled."""

    def build(text):
        texts.append(text)
        usage = [
            KernelUsage(name, "sm_90", 40, 0, count) for (name, head), count in spills.items() if head in text
        ]
        return Image(text.encode(), tuple(usage))

    return build


def test_other_bounds_are_tried_where_something_is_spilled():
    texts = []
    spills = {("small", "(64) small"): 16, ("product", "(64, 4) product"): 700}
    image = build_with_fewest_spills(compiler(spills, texts), SOURCE, 512)
    assert len(texts) == 2
    assert b"__launch_bounds__(64, 8) small" in image.data
    assert b"__launch_bounds__(64) product" in image.data
    assert b"__launch_bounds__(128) other" in image.data


def test_bounds_that_do_not_help_stay():
    texts = []
    spills = {("small", "(64) small"): 16, ("large", "(512) large"): 8, ("large", "(512, 1) large"): 8}
    image = build_with_fewest_spills(compiler(spills, texts), SOURCE, 512)
    assert len(texts) == 3
    assert b"__launch_bounds__(64, 8) small" in image.data
    assert b"__launch_bounds__(512) large" in image.data


def test_what_spills_nothing_is_compiled_once():
    texts = []
    build_with_fewest_spills(compiler({("small", "(64) small"): 0}, texts), SOURCE, 512)
    assert texts == [SOURCE]
