"""What expressions are read against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import islpy as isl

from polybuild.scop.names import Names
from polybuild.scop.parameters import Parameters
from polybuild.source.model import Region


@dataclass(frozen=True, slots=True)
class Facts:
    """The region, its names, and its parameters so far.

    ``known`` gives the parameter values that types and assumptions allow so far.
    ``calls`` reads calls of functions (a ``calls.CallReader``).
    """

    region: Region
    names: Names
    parameters: Parameters
    known: Callable[[], isl.Set]
    calls: Any = None
