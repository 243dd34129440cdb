"""What is asked of the writers of kernels, what they give, and the names that a region has there.

The writers are loaded where kernels are asked for: most regions have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import islpy as isl

from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.scop.model import Scop
from polybuild.source.model import Region
from polybuild.targets.device import DevicePlan, Transfer
from polybuild.targets.kernel_file import KernelFunction
from polybuild.targets.languages import KernelLanguage
from polybuild.targets.ranks.model import DeviceBlock
from polybuild.values import dataclass

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class DeviceText:
    """The device's part of a region.

    ``functions`` maps the name of each function of the user's that its ``kernels`` call to its text, those
    it calls before it. ``condition`` is a C
    expression, empty if nothing is to be checked; ``lines`` set ``pb_done`` to 1 if
    the region ran, else ``pb_home`` to 1 where the host's data are up to date. ``name`` is that
    of the region's static object, ``includes`` are what the kernels need. Of what runs ``within_loops`` these
    begin each part by itself. ``described`` has kernels in words, by their names, ``exceeded`` says what
    tiles that were asked for take too much of. It was generated for the ``request``, where that is one.
    """

    language: KernelLanguage
    name: str
    kernels: tuple[KernelFunction, ...]
    functions: Mapping[str, str]
    condition: str
    lines: tuple[str, ...]
    within_loops: bool = False
    includes: tuple[str, ...] = ()
    exceeded: tuple[str, ...] = ()
    described: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    request: DeviceRequest | None = field(default=None, repr=False)

    @property
    def text(self) -> tuple[str, ...]:
        """All that the host evaluates."""
        return (self.condition, *self.lines)

    @property
    def kernel_texts(self) -> tuple[str, ...]:
        """The texts of the kernels."""
        return tuple(each.text(self.language) for each in self.kernels)

    def followed_by(self, lines: Sequence[str]) -> DeviceText:
        """The same with ``lines`` run after it, if it ran."""
        if not lines:
            return self
        after = ("if (pb_done) {", *(f"{_INDENT}{line}" for line in lines), "}")
        return replace(self, lines=(*self.lines, *after))


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """What to generate: the plan, the model that it is of, the language of the kernels, and trip counts.

    ``scop`` may have the region's instances in another form than the host's loops, ``work`` has the trip
    counts of its statements. The region runs on the host where a launch does less than ``minimum_work``
    statement instances. Of one of several parts of a region kernels are called after the ``part``; it runs
    again and again, as often as the product of ``runs``, while its values stay on the device. ``launches``
    is as the option ``device_launches``. Statements in ``shares`` have that part of the instances that trip
    counts make.
    """

    scop: Scop
    plan: DevicePlan
    language: KernelLanguage
    work: Sequence[Sequence[isl.PwAff]]
    minimum_work: int
    part: str = ""
    runs: Sequence[isl.PwAff] = ()
    launches: str = "each"
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostNames:
    """Names in the host's code: of the parameters, those that no generated one may hide, and those in use."""

    parameters: Mapping[str, str]
    taken: frozenset[str]
    in_use: NamesInUse


def object_name(region: Region) -> str:
    """The name of the object by which the runtime knows a region."""
    return f"polybuild_region_{label_of(region)}"


def label_of(region: Region) -> str:
    """What the names of a region's objects and kernels hold to be its own."""
    return f"{region.function.decl.name}_{region.begin.line}"


@dataclass(frozen=True, slots=True)
class BlocksRequest:
    """What to generate for each of ``blocks``, and the arrays that are ``kept`` on the device in between.

    These are the boxes that the ``scop`` of the rank touches.
    """

    blocks: Sequence[tuple[DeviceBlock, DeviceRequest]]
    scop: Scop
    kept: Sequence[Transfer]


@dataclass(frozen=True, slots=True)
class BlockTexts:
    """The device's part of a rank's loops.

    ``texts`` has that of each block by its name, ``hosts`` tells whose loops for the host are below the marks
    of these numbers. ``enter`` and ``leave`` are lines around all of them. ``name`` is that of the region's
    static object.
    """

    name: str
    texts: Mapping[str, DeviceText]
    hosts: frozenset[int]
    enter: tuple[str, ...]
    leave: tuple[str, ...]

    @property
    def together(self) -> DeviceText:
        """All kernels, and what launches them."""
        texts = list(self.texts.values())
        kernels = tuple(dict.fromkeys(kernel for each in texts for kernel in each.kernels))
        functions = {name: text for each in texts for name, text in each.functions.items()}
        lines = tuple(line for each in texts for line in each.lines)
        return DeviceText(texts[0].language, self.name, kernels, functions, "", lines, within_loops=True)

    @property
    def begin_host(self) -> str:
        """What stands before loops for the host, where values may be on the device."""
        return f"polybuild_host_begin(&{self.name}, pb_home);"

    @property
    def end_host(self) -> str:
        """What stands after them."""
        return f"polybuild_host_end(&{self.name});"
