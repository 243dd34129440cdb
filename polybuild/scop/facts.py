"""What expressions are read against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import islpy as isl

from polybuild.normalise.names import Names
from polybuild.scop.parameters import Parameters
from polybuild.source.model import Region
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """The region, its names, and its parameters so far.

    ``context`` gives the parameter values that types and assumptions allow so far.
    ``calls`` reads calls of functions (a ``calls.CallReader``). ``eager`` is true if
    the code at hand runs wherever the domain of its point says so: what it reads
    may then be read before the region. ``wrapping`` is true if values that must
    leave their unsigned type wrap around rather than refuse the region. Parameters whose names are ``units``
    are 1.
    """

    region: Region
    names: Names
    parameters: Parameters
    context: Callable[[], isl.Set]
    calls: Any = None
    eager: bool = True
    wrapping: bool = False
    units: frozenset[str] = frozenset()
