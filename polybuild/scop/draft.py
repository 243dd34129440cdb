"""Drafts of statements and of a region, before all parameters are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import islpy as isl
from pycparser import c_ast

from polybuild.diagnostics import Diagnostic
from polybuild.normalise.names import Names, Variable
from polybuild.scop import order
from polybuild.scop.accesses import AccessDraft
from polybuild.scop.arrays import Arrays
from polybuild.scop.assumptions import Assumptions
from polybuild.scop.final_values import FinalValues
from polybuild.scop.model import DynamicLoop
from polybuild.scop.parameters import Parameters
from polybuild.scop.program_point import ProgramPoint
from polybuild.source.model import Region
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class RegionPart:
    """What a piece of the region contributes: its order, and the values its loops leave in counters."""

    tree: order.Tree | None = None
    values: Mapping[Variable, isl.PwAff] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatementDraft:
    """A statement at its point, in the loops ``loops``, some of which have dynamic bounds.

    One that ``is_exit_test`` looks whether the region is left early.
    """

    point: ProgramPoint
    loops: tuple[c_ast.For, ...]
    body: c_ast.Node
    source: c_ast.Node
    accesses: tuple[AccessDraft, ...]
    dynamic: tuple[DynamicLoop, ...] = ()
    is_exit_test: bool = False


@dataclass(frozen=True, slots=True)
class RegionDraft:
    """A region after the walk; ``values`` is what its loops leave in counters that are read afterwards."""

    region: Region
    names: Names
    parameters: Parameters
    assumptions: Assumptions
    arrays: Arrays
    tree: order.Tree
    statements: tuple[StatementDraft, ...]
    values: Mapping[Variable, isl.PwAff]
    last_values: FinalValues
    remarks: tuple[Diagnostic, ...]
