"""Kernels that spill registers are compiled under other launch bounds, and what spills least is taken."""

from __future__ import annotations

import pytest

from polybuild.targets.gpu.nvcc import Image, KernelUsage
from polybuild.targets.gpu.spills import build_with_fewest_spills
from polybuild.targets.kernel_file import KernelFile, KernelFunction
from polybuild.targets.languages import CUDA_C


def kernel(name, threads, resident=0):
    return KernelFunction(name, (threads, 1, 1), "int n", (), resident)


KERNELS = (kernel("small", 64), kernel("product", 64, 4), kernel("other", 128), kernel("large", 512))
BOUNDS = {"(64, 4)": 700, "(64, 3)": 300, "(64)": 600}
FILE = KernelFile(CUDA_C, (), (), KERNELS)


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
    image = build_with_fewest_spills(compiler(spills, texts), FILE, 512)
    assert len(texts) == 2
    assert b"__launch_bounds__(64, 8) small" in image.data
    assert b"__launch_bounds__(64, 3) product" in image.data
    assert b"__launch_bounds__(128) other" in image.data


@pytest.mark.parametrize(("one_less", "bound"), [(500, b"(64) product"), (0, b"(64, 3) product")])
def test_a_number_of_blocks_is_left_out_at_last(one_less, bound):
    texts = []
    spills = {("product", "(64, 4) product"): 700, ("product", "(64, 3) product"): one_less}
    image = build_with_fewest_spills(compiler(spills, texts), FILE, 512)
    assert len(texts) == 2 + bool(one_less)
    assert bound in image.data


def test_what_spilled_less_before_is_taken():
    texts = []
    spills = {("product", f"{bounds} product"): count for bounds, count in BOUNDS.items()}
    image = build_with_fewest_spills(compiler(spills, texts), FILE, 512)
    assert b"(64, 3) product" in image.data


def test_bounds_that_do_not_help_stay():
    texts = []
    spills = {("small", "(64) small"): 16, ("large", "(512) large"): 8, ("large", "(512, 1) large"): 8}
    image = build_with_fewest_spills(compiler(spills, texts), FILE, 512)
    assert len(texts) == 3
    assert b"__launch_bounds__(64, 8) small" in image.data
    assert b"__launch_bounds__(512) large" in image.data


def test_what_spills_nothing_is_compiled_once():
    texts = []
    build_with_fewest_spills(compiler({("small", "(64) small"): 0}, texts), FILE, 512)
    assert texts == [FILE.text]
