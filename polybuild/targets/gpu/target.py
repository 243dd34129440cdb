"""Devices that run kernels: CUDA's, HIP's and OpenCL's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from polybuild.targets.base import DeviceLimits, KernelImage, PortableLimits, Target
from polybuild.targets.gpu.nvcc import build_image, find_nvcc, told
from polybuild.targets.gpu.spills import build_with_fewest_spills
from polybuild.targets.instructions import CopyStages, MatrixInstruction
from polybuild.targets.kernel_file import KernelFile
from polybuild.targets.languages import CUDA_C, HIP, OPENCL_C
from polybuild.values import dataclass

if TYPE_CHECKING:
    from polybuild.analysis.dependences import Dependences
    from polybuild.analysis.reductions import Reduction
    from polybuild.context import CompileContext
    from polybuild.options import Options
    from polybuild.scop.model import Array, Scop
    from polybuild.targets.device import DevicePlan, InspectedRange


@dataclass(frozen=True, slots=True)
class DeviceTarget(Target):
    """A device whose driver compiles kernels from their source."""

    def plan(
        self,
        scop: Scop,
        dependences: Dependences,
        context: CompileContext,
        live_out: frozenset[str] | None,
        temporaries: Sequence[Array],
    ) -> DevicePlan:
        """As in Target."""
        # isl is loaded for regions alone: a file that is found in the cache does without
        from polybuild.targets.gpu.choice import plan_for_gpu  # noqa: PLC0415

        return plan_for_gpu(
            scop,
            dependences,
            context.options,
            self._limits_of(context),
            live_out=live_out,
            temporaries=temporaries,
        )

    def plan_overlapped(
        self, scop: Scop, dependences: Dependences, context: CompileContext, live_out: frozenset[str]
    ) -> tuple[Scop, DevicePlan]:
        """As in Target."""
        from polybuild.targets.gpu.overlapped_plan import plan_overlapped  # noqa: PLC0415

        limits = self._limits_of(context)
        return plan_overlapped(scop, dependences, context.options, limits, live_out=live_out)

    def overlaps_steps(
        self, scop: Scop, dependences: Dependences, context: CompileContext
    ) -> tuple[bool, str]:
        """As in Target."""
        from polybuild.targets.gpu.overlapped_cost import step_times  # noqa: PLC0415

        found = step_times(scop, dependences, context.options, self._limits_of(context))
        return (False, "") if found is None else (found.preferred, str(found))

    def _limits_of(self, context: CompileContext) -> DeviceLimits:
        """What kernels may use on the machine of ``context``."""
        assert self.limits is not None  # noqa: S101 - every device has some
        limits = replace(self.limits, machine=context.machine, contracts=context.compiler.may_contract)
        if self.has_matrix_instructions(context):
            products = replace(limits.shapes.products, matrix=MatrixInstruction())
            limits = replace(limits, shapes=replace(limits.shapes, products=products))
        if self.copies_asynchronously(context):
            limits = replace(limits, stages=replace(limits.stages, asynchronous=True))
        return limits

    def has_matrix_instructions(self, context: CompileContext) -> bool:  # noqa: ARG002 - most have none
        """Whether a warp may compute products of doubles together, in an order of its own."""
        return False

    def copies_asynchronously(self, context: CompileContext) -> bool:  # noqa: ARG002 - most have none
        """Whether copies to shared memory need no registers on their way."""
        return False

    def in_parts(
        self, scop: Scop, dependences: Dependences, reductions: Sequence[Reduction]
    ) -> tuple[Scop, tuple[InspectedRange, ...]]:
        """As in Target."""
        from polybuild.targets.gpu.partial_results import with_partial_results  # noqa: PLC0415

        assert self.limits is not None  # noqa: S101 - every device has some
        return with_partial_results(scop, dependences, reductions, self.limits.parts)

    def share_rows(
        self, scop: Scop, dependences: Dependences, reductions: Sequence[Reduction]
    ) -> tuple[Scop, tuple[Reduction, ...]]:
        """As in Target."""
        from polybuild.targets.gpu.row_lanes import share_rows  # noqa: PLC0415

        assert self.limits is not None  # noqa: S101 - every device has some
        parts = self.limits.parts
        return share_rows(scop, dependences, reductions, replace(parts, few=parts.few_of_row))


@dataclass(frozen=True, slots=True)
class CudaTarget(DeviceTarget):
    """A device whose kernels nvcc compiles."""

    def needs_compiler(self) -> bool:
        """As in Target."""
        return True

    def has_matrix_instructions(self, context: CompileContext) -> bool:
        """As in DeviceTarget: by leave to reorder sums and to fuse them with products."""
        known = min(context.options.cuda_arch) >= MatrixInstruction().capability
        return known and context.may_reassociate and context.compiler.may_contract

    def copies_asynchronously(self, context: CompileContext) -> bool:
        """As in DeviceTarget."""
        return min(context.options.cuda_arch) >= CopyStages().capability

    def compiler(self, options: Options) -> str | None:
        """As in Target."""
        return find_nvcc(options.nvcc)

    def compile_kernels(self, file: KernelFile, context: CompileContext) -> KernelImage:
        """As in Target."""
        options = context.options
        nvcc = self.compiler(options)
        assert nvcc is not None  # noqa: S101 - else the target is another
        contract = context.compiler.may_contract
        build = partial(build_image, nvcc=nvcc, architectures=options.cuda_arch, contract=contract)
        image = build_with_fewest_spills(build, file, context.machine.multiprocessor.threads)
        newest = f"sm_{max(options.cuda_arch)}"
        threads = {each.name: each.threads for each in file.kernels}
        own = [each for each in image.usage if each.architecture == newest]
        needs = {each.kernel: told(each, threads[each.kernel], context.machine) for each in own}
        return KernelImage(image.data, needs)


@dataclass(frozen=True, slots=True)
class HipTarget(DeviceTarget):
    """A device whose driver has a compiler that is told how to round."""

    def source_options(self, context: CompileContext) -> str:
        """As in Target."""
        return f"-ffp-contract={'fast' if context.compiler.may_contract else 'off'}"


_LIMITS = DeviceLimits()

CUDA = CudaTarget("cuda", "CUDA", CUDA_C, _LIMITS)
ROCM = HipTarget("hip", "HIP", HIP, _LIMITS)
OPENCL = DeviceTarget("opencl", "OpenCL", OPENCL_C, PortableLimits())
