"""The kernels of a file before they are text: compilers may need other launch bounds for some."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from polybuild.targets.languages import KernelLanguage
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class KernelFunction:
    """A kernel: ``block`` has its threads along x, y and z, ``body`` is all below the head of the function.

    At least ``resident`` blocks have to fit a multiprocessor at once, if that is not 0.
    """

    name: str
    block: tuple[int, int, int]
    parameters: str
    body: tuple[str, ...]
    resident: int = 0

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return math.prod(self.block)

    def text(self, language: KernelLanguage) -> str:
        """The function in ``language``."""
        x, y, z = self.block
        resident = f", {self.resident}" if self.resident else ""
        head = language.qualifiers.kernel.format(threads=self.threads, x=x, y=y, z=z, resident=resident)
        return "\n".join([f"{head} {self.name}({self.parameters})", "{", *self.body, "}", ""])


@dataclass(frozen=True, slots=True)
class KernelFile:
    """All kernels of a file: what they ``include``, the text of ``functions`` they call, and themselves."""

    language: KernelLanguage
    includes: tuple[str, ...]
    functions: tuple[str, ...]
    kernels: tuple[KernelFunction, ...]

    @property
    def text(self) -> str:
        """The file."""
        kernels = (each.text(self.language) for each in self.kernels)
        return "\n".join([*self.includes, self.language.prologue, *self.functions, *kernels])

    def with_resident(self, resident: Mapping[str, int]) -> KernelFile:
        """The same with other numbers of ``resident`` blocks for kernels, by their names."""
        kernels = (replace(each, resident=resident.get(each.name, each.resident)) for each in self.kernels)
        return replace(self, kernels=tuple(kernels))
