"""The targets answer for themselves, whoever asks by their names."""

from __future__ import annotations

import subprocess
import sys

import pytest

from polybuild.context import CompileContext, CompilerRules
from polybuild.options import Options
from polybuild.targets.lookup import TARGETS


def test_every_backend_is_a_target():
    for name, target in TARGETS.items():
        assert Options(backend=name).backend == target.name


def test_only_devices_have_kernels():
    assert {name for name, each in TARGETS.items() if each.has_kernels} == {"cuda", "hip", "opencl"}
    assert all(each.limits for each in TARGETS.values() if each.has_kernels)


def test_the_host_plans_no_kernels():
    with pytest.raises(NotImplementedError, match="OpenMP has no kernels"):
        TARGETS["openmp"].plan(None, None, CompileContext(), None, ())


def test_opencl_leaves_kernels_to_the_driver():
    target = TARGETS["opencl"]
    assert not target.needs_compiler()
    assert target.compiler(Options()) is None
    assert target.compile_kernels("__kernel void f(void) {}", CompileContext()).data == b""


def test_hip_tells_its_compiler_whether_products_and_sums_may_be_fused():
    target = TARGETS["hip"]
    assert not target.needs_compiler()
    for contract, option in ((False, "-ffp-contract=off"), (True, "-ffp-contract=fast")):
        assert target.source_options(CompileContext(compiler=CompilerRules(may_contract=contract))) == option
    assert TARGETS["opencl"].source_options(CompileContext()) == ""


def test_cuda_needs_its_compiler():
    assert TARGETS["cuda"].needs_compiler()
    assert TARGETS["cuda"].compiler(Options(nvcc="no-such-compiler")) is None


def test_names_are_looked_up_without_isl():
    code = "import sys, polybuild.targets.lookup; sys.exit('islpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
