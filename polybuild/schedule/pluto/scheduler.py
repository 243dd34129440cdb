"""Our own scheduler, after Pluto (PLDI 2008); the peer of isl's in ``schedule/scheduler.py``."""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.effort import SCHEDULER_EFFORT
from polybuild.schedule.pluto.problem import SchedulingProblem, build_problem
from polybuild.schedule.pluto.search import Strategy, find_tree
from polybuild.schedule.pluto.tree import build_tree
from polybuild.scop.model import Scop
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class PlutoScheduler:
    """The problem of one region, to be solved under several strategies."""

    problem: SchedulingProblem
    domain: isl.UnionSet

    @classmethod
    def of(cls, scop: Scop, dependences: Dependences) -> PlutoScheduler:
        """The scheduler of ``scop``."""
        return cls(build_problem(scop, dependences), scop.domain)

    def schedule(self, strategy: Strategy, effort: int = SCHEDULER_EFFORT) -> isl.Schedule:
        """A tree of permutable bands that respects the dependences; raises NoHyperplane.

        ``effort`` bounds the integer programs, as for ``find_tree``.
        """
        return build_tree(find_tree(self.problem, strategy, effort), self.problem.nodes, self.domain)
