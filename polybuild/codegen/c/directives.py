"""Directives of loops as lines of C: OpenMP's, or what other compilers take instead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pycparser import c_ast

from polybuild.analysis.trip_counts import constant_instances
from polybuild.c.types import IntegerType
from polybuild.codegen.c.accumulators import OpenAccumulator, combination
from polybuild.codegen.c.layout import WIDTH, CodeLine, loop
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.file.team import TEAM, TEAM_FOR
from polybuild.poly.marks import Mark
from polybuild.poly.relations import natural_key
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.targets.model import LoopDirective, ThreadLimits
from polybuild.values import dataclass

_CHARACTER = 8  # bits


@dataclass(frozen=True, slots=True)
class ThreadCopies:
    """The variables that each thread gets a copy of.

    Those that threads share are in memory, and what loops write there may be these, for all that a compiler
    knows: clang would load them anew for every element, and compute loops one by one, the original ones, too.
    Types say what is written where; characters may be anywhere, pointers, parameters and counters included:
    each loop copies what it ``mentions`` of these then.
    """

    names: tuple[str, ...] = ()
    mentions: bool = False


def thread_copies(scop: Scop, unused: Collection[str]) -> ThreadCopies:
    """What threads that run loops of ``scop`` copy; arrays of the names ``unused`` are not accessed."""
    written = [
        access.array
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    ]
    changed = {each.name for each in written}
    elements = [each.element for each in written if each.extents]
    characters = any(isinstance(each, IntegerType) and each.width <= _CHARACTER for each in elements)
    names = {
        each.expression.name
        for each in scop.arrays
        if not each.provenance.storage.is_static and isinstance(each.expression, c_ast.ID)
        if (characters and _is_pointer(each) and each.name not in unused)
        or (
            not (each.extents or each.local or each.name in changed)
            and (characters or each.element in elements)
        )
    }
    return ThreadCopies(tuple(sorted(names, key=natural_key)), characters)


def _is_pointer(array: Array) -> bool:
    """Whether a variable of the function leads to the elements of ``array``."""
    provenance = array.provenance
    if provenance.each_thread:
        return False
    return bool(array.extents) and (provenance.allocated or (provenance.by_pointer and not array.local))


class DirectivePrinter:
    """Prints the ``directives`` of loops, which are found by the marks above these loops.

    ``work`` writes how much a loop does each time it runs, None if that is not known. Each thread gets
    ``copies``. ``in_use`` records what the text mentions. One thread runs the loops, too, from so much work
    ``alone`` on, if it is given; those with a version for it are in ``versions``, by the identity of their
    limits.
    """

    def __init__(
        self,
        directives: Mapping[Mark, LoopDirective],
        in_use: NamesInUse,
        work: Callable[[ThreadLimits], str | None] = lambda _: None,
        copies: ThreadCopies | None = None,
        *,
        alone: int = 0,
    ) -> None:
        self._directives = directives
        self.alone = alone
        self.versions: set[int] = set()
        self.in_use = in_use
        self._work = work
        self._copies = copies or ThreadCopies()

    def at(self, mark: Mark | None) -> LoopDirective | None:
        """The directive for the loop under ``mark``, None if there is none."""
        return None if mark is None else self._directives.get(mark)

    def runs_small(self, directive: LoopDirective) -> bool:
        """Whether one thread runs the loop of ``directive`` with so little work that entering it tells."""
        constant = constant_instances(directive.limits.work)
        minimum = self.alone if constant is None else constant
        return self.alone > 0 and minimum < directive.limits.unnoticed

    @contextmanager
    def instead(self, mark: Mark | None, directive: LoopDirective) -> Iterator[None]:
        """``directive`` for the loop under ``mark``, under this."""
        before = self._directives
        self._directives = {**before, mark: directive} if mark is not None else before
        yield
        self._directives = before

    def above(
        self,
        head: CodeLine,
        directive: LoopDirective | None,
        accumulators: Sequence[OpenAccumulator] = (),
        mentioned: Collection[str] = (),
        *,
        team: str = "",
    ) -> list[str]:
        """The ``head`` of a loop with its ``directive``, on the same line if both fit there.

        It accumulates in ``accumulators``. The loop has ``mentioned`` these parameters and counters of
        loops around it. The variable ``team`` has the number of its threads, if it is given.
        """
        unasked = accumulators and all(each.accumulator.unasked for each in accumulators)
        if directive is None or (unasked and not directive.parallel):
            return [head]
        words, indent = (
            self._text(directive, accumulators, mentioned, team),
            head[: len(head) - len(head.lstrip())],
        )
        together = f"{indent}{words} {head.head.lstrip()}"
        if len(together) <= WIDTH:
            return [loop(together, head.source, verbatim=head.verbatim, directed=True)]
        return [CodeLine(f"{indent}{words}", head.source, directed=True), head]

    def threads_of(self, directive: LoopDirective) -> str | None:
        """How many threads run the loop of ``directive``, an expression; None if its work does not say."""
        work = self._work(directive.limits) if directive.parallel else None
        if work is None:
            return None
        self.in_use.helpers.update({TEAM, TEAM_FOR})
        return f"{TEAM_FOR}({work}, {directive.limits.minimum // 2})"

    def _text(
        self,
        directive: LoopDirective,
        accumulators: Sequence[OpenAccumulator],
        mentioned: Collection[str],
        team: str,
    ) -> str:
        if directive.independent and not directive.parallel:
            macro = "POLYBUILD_SIMD_IN" if directive.width else "POLYBUILD_SIMD"
            self.in_use.helpers.add(macro)
            return f"{macro}({directive.width})" if directive.width else macro
        # a thread's loop may select by OpenMP alone, a vector's only where the compiler can
        selects = not directive.parallel and any(each.accumulator.selects for each in accumulators)
        macro = "POLYBUILD_OMP_SELECT" if selects else "POLYBUILD_OMP"
        self.in_use.helpers.update({macro, "POLYBUILD_OMP"})
        words = ["parallel for"] * directive.parallel + ["simd"] * directive.simd
        return f"{macro}({' '.join([*words, *self._clauses(directive, accumulators, mentioned, team)])})"

    def _clauses(
        self,
        directive: LoopDirective,
        accumulators: Sequence[OpenAccumulator],
        mentioned: Collection[str],
        team: str,
    ) -> list[str]:
        clauses = ["schedule(dynamic)"] if directive.sharing.dynamic else []
        if directive.shared > 1:
            clauses.insert(0, f"collapse({directive.shared})")
        if directive.parallel:
            clauses += self._threads(directive, accumulators, team)
        if directive.simd and directive.width:
            clauses.append(f"simdlen({directive.width})")
        names = sorted((each.spelling for each in directive.private), key=natural_key)
        if names:
            clauses.append(f"private({', '.join(names)})")
        if directive.parallel:
            copied = [*self._copies.names]
            copied += sorted(mentioned, key=natural_key) if self._copies.mentions else []
            clauses += [f"firstprivate({', '.join(copied)})"] if copied else []
        for each in accumulators:
            own = combination(each.accumulator)
            self.in_use.helpers.update({own} if own else ())
            clauses.append(each.clause)
        return clauses + [f"reduction({op} : {', '.join(names)})" for op, names in directive.reductions]

    def _threads(
        self, directive: LoopDirective, accumulators: Sequence[OpenAccumulator], team: str
    ) -> list[str]:
        """The clause for how many threads run a loop: as many as get processors and as pay."""
        work, minimum = self._work(directive.limits), directive.limits.minimum
        if any(each.accumulator.inexact for each in accumulators):
            # sums of floating-point numbers shall not depend on what else the machine does
            if work is None:
                return []
            condition = f"{work} >= {minimum}"
            # without its name the clause would be that of simd, too: no vectors in one thread
            return [f"if(parallel: {condition})" if directive.simd else f"if({condition})"]
        self.in_use.helpers.add(TEAM)
        return [f"num_threads({team or self.threads_of(directive) or f'{TEAM}()'})"]
