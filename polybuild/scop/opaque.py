"""A C statement that is kept whole: what one instance of it reads and writes.

A construct outside the model (a condition or a bound that depends on data, a
``while``, a ``break``) becomes one statement whose instances are those of the
loops around it. Its accesses are found by walking its syntax tree in execution
order. Inner loops with affine bounds, and the affine part of other bounds, are
summarised exactly by projecting their counters out; everything else is
over-approximated, writes that may not happen are may-writes, and elements that
the instance has certainly written before it reads them are not read.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import location, walk
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Variable
from polybuild.scop.accesses import AccessDraft, AccessReader
from polybuild.scop.arrays import Arrays
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.bounds import affine_condition, counter_hull
from polybuild.scop.expressions import is_affinity_refusal
from polybuild.scop.facts import Facts
from polybuild.scop.loops import read_loop
from polybuild.scop.model import AccessKind
from polybuild.scop.program_point import ProgramPoint

_dim = isl.dim_type

LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)

_KEPT_WHOLE = {
    "break", "continue", "while", "do-while", "switch", "loop-header", "non-constant-stride",
    "iterator-written", "iterator-used-outside-loop",
}  # fmt: skip

# Constructs that have no place in a kept statement either: code, what to call it, hint.
REFUSED: dict[type, tuple[str, str, str]] = {
    c_ast.Goto: ("goto", "a goto", "use structured loops and conditions"),
    c_ast.Label: ("label", "a label", "use structured loops and conditions"),
    c_ast.Return: ("return", "a return", "end the region before it"),
    c_ast.Break: ("break", "a break", "put the condition into the loop's bounds"),
    c_ast.Continue: ("continue", "a continue", "put the rest of the body under an if"),
    c_ast.Typedef: ("declaration", "a typedef", "move it before the region"),
    c_ast.StaticAssert: ("declaration", "a static assertion", "move it before the region"),
}


def may_be_kept_whole(refusal: Unsupported) -> bool:
    """Whether a construct that was refused for this reason can be one opaque statement instead."""
    return refusal.diagnostic.code in _KEPT_WHOLE or is_affinity_refusal(refusal)


@dataclass(slots=True)
class _ControlFlow:
    """How control comes to the code at hand, and what was written on every way to it.

    ``sure``: as far as conditions and loops go, the code runs in each instance.
    ``skipped``: a jump may have skipped it; ``returned``: a return may have.
    ``breakable`` and ``looping`` count the constructs around that a break and a continue leave.
    ``written`` are the elements written on every way, by array, on the space of its point;
    ``continued`` the same at each continue of the innermost loop.
    """

    sure: bool = True
    skipped: bool = False
    returned: bool = False
    breakable: int = 0
    looping: int = 0
    written: dict[str, isl.Map] = field(default_factory=dict)
    continued: list[dict[str, isl.Map]] = field(default_factory=list)

    @property
    def is_certain(self) -> bool:
        """Whether the code at hand runs in each instance."""
        return self.sure and not self.skipped and not self.returned

    @contextmanager
    def in_loop(self, *, sure: bool, keep: bool = False) -> Iterator[None]:
        """The body of a loop; what it writes dominates nothing after it unless it is ``sure`` to run."""
        before = self.sure, self.skipped, dict(self.written)
        continued, self.continued = self.continued, []
        self.sure = self.sure and sure
        self.breakable += 1
        self.looping += 1
        yield
        self.breakable -= 1
        self.looping -= 1
        interrupted = self.skipped and not before[1]
        self.sure, self.skipped, written = before
        self.continued = continued
        if not keep and (not sure or interrupted):
            self.written = written

    @contextmanager
    def unsure(self) -> Iterator[None]:
        """Code that may not run."""
        before, self.sure = self.sure, False
        yield
        self.sure = before


class OpaqueReader:
    """Collects the accesses of one statement that is kept whole."""

    def __init__(
        self,
        facts: Facts,
        arrays: Arrays,
        assumptions: Assumptions,
        *,
        inner: frozenset[Variable] = frozenset(),
        in_function: bool = False,
        assume: bool = True,
    ) -> None:
        """``facts`` treat the counters of the statement's loops as data (``Names.demote``).

        ``inner`` are more variables that live in one instance only; ``in_function``
        says that the statement is the body of a called function, which may return.
        Without ``assume``, nothing is assumed of the parameters: the instances may not run.
        """
        self._facts = facts
        self._arrays = arrays
        self._assumptions = assumptions
        self._inner = inner
        self._in_function = in_function
        self._assume = assume
        self._depth = 0
        self._flow = _ControlFlow()
        self._touched: dict[str, AccessDraft] = {}
        self._partial: set[str] = set()
        self._found: list[AccessDraft] = []

    def read(self, node: c_ast.Node, point: ProgramPoint, *, certain: bool = True) -> list[AccessDraft]:
        """The accesses of ``node`` at ``point``, reached for sure if ``certain``. Raises Unsupported."""
        self._depth = point.depth
        self._flow.sure = certain
        self._inner |= frozenset(declared_in(node, self._facts))
        self._run(node, point)
        return [
            dataclasses.replace(each, exact=each.exact and each.array.name not in self._partial)
            for each in self._found
        ]

    # Statements

    def _run(self, node: c_ast.Node | None, point: ProgramPoint) -> None:
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma():
                return
            case c_ast.Compound():
                self._all(node.block_items or (), point)
            case c_ast.DeclList():
                self._all(node.decls, point)
            case c_ast.Decl():
                self._declaration(node, point)
            case c_ast.If():
                self._if(node, point)
            case c_ast.For():
                self._for(node, point)
            case c_ast.While():
                self._evaluate(node.cond, point)
                with self._flow.in_loop(sure=False):
                    self._run(node.stmt, point)
            case c_ast.DoWhile():
                with self._flow.in_loop(sure=True):
                    self._run(node.stmt, point)
                    self._evaluate(node.cond, point)
            case c_ast.Switch():
                self._switch(node, point)
            case c_ast.Break() if self._flow.breakable:
                self._flow.skipped = True
            case c_ast.Continue() if self._flow.looping:
                self._flow.skipped = True
                self._flow.continued.append(dict(self._flow.written))
            case c_ast.Return() if self._in_function:
                if node.expr is not None:
                    self._evaluate(node.expr, point)
                self._flow.returned = True
            case _ if type(node) in REFUSED:
                code, what, hint = REFUSED[type(node)]
                raise Unsupported(code, f"{what} is not modelled", location(node), hint)
            case _:
                self._evaluate(node, point)

    def _all(self, nodes: Iterable[c_ast.Node], point: ProgramPoint) -> None:
        for each in nodes:
            self._run(each, point)

    def _declaration(self, node: c_ast.Decl, point: ProgramPoint) -> None:
        for each in walk(node.type):
            if isinstance(each, c_ast.ArrayDecl) and each.dim is not None:
                self._evaluate(each.dim, point)
        if node.init is not None:
            self._initialise(node.init, point)

    def _initialise(self, value: c_ast.Node, point: ProgramPoint) -> None:
        if isinstance(value, c_ast.InitList):
            for each in value.exprs:
                self._initialise(each, point)
        elif isinstance(value, c_ast.NamedInitializer):
            self._initialise(value.expr, point)
        else:
            self._evaluate(value, point)

    def _if(self, node: c_ast.If, point: ProgramPoint) -> None:
        self._evaluate(node.cond, point)
        before = dict(self._flow.written)
        chosen = affine_condition(node.cond, point, self._facts, self._assumptions)
        if chosen is not None:
            self._run(node.iftrue, point.within(chosen))
            after_yes, self._flow.written = self._flow.written, before
            self._run(node.iffalse, point.without(chosen))
            for name, elements in after_yes.items():
                known = self._flow.written.get(name)
                self._flow.written[name] = elements if known is None else elements.union(known)
            return
        certain = self._flow.is_certain
        with self._flow.unsure():
            self._run(node.iftrue, point)
            after_yes, self._flow.written = self._flow.written, dict(before)
            self._run(node.iffalse, point)
        self._flow.written = _in_both(self._flow.written, after_yes)
        if certain and not self._flow.skipped:
            self._written_either_way(node, point, before)

    def _written_either_way(self, node: c_ast.Node, point: ProgramPoint, before: dict[str, isl.Map]) -> None:
        """What both branches write is written for certain, though neither branch is."""
        for name, elements in self._flow.written.items():
            new = elements.subtract(before[name]) if name in before else elements
            if not new.is_empty():
                draft = self._touched[name]
                self._add(
                    dataclasses.replace(draft, node=node, kind=AccessKind.WRITE, exact=False), new, point
                )

    def _switch(self, node: c_ast.Switch, point: ProgramPoint) -> None:
        self._evaluate(node.cond, point)
        before, skipped = dict(self._flow.written), self._flow.skipped
        self._flow.breakable += 1
        with self._flow.unsure():
            items = node.stmt.block_items or () if isinstance(node.stmt, c_ast.Compound) else (node.stmt,)
            for item in items:
                if isinstance(item, c_ast.Case | c_ast.Default):
                    # control may come from the switch, past all that stands before
                    self._flow.written = dict(before)
                    self._all(item.stmts or (), point)
                else:
                    self._run(item, point)
        self._flow.breakable -= 1
        # a continue in the switch leaves it for the loop around
        self._flow.written, self._flow.skipped = before, skipped or self._flow.looping > 0

    # Loops

    def _for(self, node: c_ast.For, point: ProgramPoint) -> None:
        self._run(node.init, point)
        counter = self._facts.names.iterators.get(node)
        if counter is None or not self._counts(counter, node):
            if node.cond is not None:
                self._evaluate(node.cond, point)
            with self._flow.in_loop(sure=False):
                self._run(node.stmt, point)
            with self._flow.unsure():
                self._run(node.next, point)
            return
        domain = self._affine_domain(node, point)
        complete = domain is not None and not _escapes_loop(node.stmt)
        before = self._flow.written
        self._flow.written = {name: each.add_dims(_dim.in_, 1) for name, each in before.items()}
        if domain is None:
            hull = counter_hull(node, counter, point, self._facts, self._assumptions)
            self._tests(node, point.inside(counter, hull.tested))
            inner = point.inside(counter, hull.iterations)
        else:
            inner = point.inside(counter, domain)
            self._tests(node, inner)
        with self._flow.in_loop(sure=complete, keep=True):
            self._run(node.stmt, inner)
            after = functools.reduce(_in_both, self._flow.continued, self._flow.written)
        self._flow.written = before
        if complete:
            self._flow.written = {
                name: each.intersect_domain(inner.domain).project_out(_dim.in_, point.depth, 1)
                for name, each in after.items()
            }
            for name, each in before.items():
                self._flow.written[name] = self._flow.written[name].union(each)

    def _counts(self, counter: Variable, node: c_ast.For) -> bool:
        """Whether nothing but the header changes the counter, so that it can be a dimension."""
        if counter in self._facts.names.written or counter.address_taken or counter.volatile:
            return False
        if counter.storage.is_static and any(isinstance(each, c_ast.FuncCall) for each in walk(node.stmt)):
            return False
        return not any(
            self._facts.names.iterators.get(each) is counter for each in walk(node.stmt) if each is not node
        )

    def _affine_domain(self, node: c_ast.For, point: ProgramPoint) -> isl.Set | None:
        """The iterations of a loop with affine bounds, None for any other loop."""
        violations: list[Violation] = []
        try:
            loop = read_loop(node, point, self._facts, violations, want_final=False)
            for violation in violations:
                if self._flow.is_certain and self._assume:
                    self._assumptions.require(violation)
                elif self._assumptions.is_possible(violation):
                    return None
        except Unsupported as refusal:
            if not may_be_kept_whole(refusal):
                raise
            return None
        return loop.domain

    def _tests(self, node: c_ast.For, point: ProgramPoint) -> None:
        """What the header of a loop reads when it tests and steps."""
        with self._flow.unsure():
            if node.cond is not None:
                self._evaluate(node.cond, point)
            if isinstance(node.next, c_ast.Assignment):
                self._evaluate(node.next.rvalue, point)

    # Accesses

    def _evaluate(self, node: c_ast.Node, point: ProgramPoint) -> None:
        reader = AccessReader(
            self._facts,
            self._arrays,
            self._assumptions,
            inner=self._inner,
            guarded=not (self._flow.is_certain and self._assume),
        )
        reader.read(node, point)
        if point.depth > self._depth:
            self._read_subscripts(reader, point)
        for draft in reader.found:
            name, relation, kind = draft.array.name, draft.relation, draft.kind
            self._touched[name] = draft
            known = self._flow.written.get(name)
            if kind is AccessKind.READ and known is not None:
                relation = relation.subtract(known)
                if not relation.is_equal(draft.relation):
                    self._partial.add(name)
            elif kind is AccessKind.WRITE:
                self._flow.written[name] = relation if known is None else relation.union(known).coalesce()
                if not self._flow.is_certain:
                    kind = AccessKind.MAY_WRITE
            self._add(dataclasses.replace(draft, kind=kind), relation, point)

    def _read_subscripts(self, reader: AccessReader, point: ProgramPoint) -> None:
        """Let ``reader`` find the variables in subscripts that stay as they are: ``w`` in ``a[i*w + k]``."""
        found = {id(each.node) for each in reader.found}
        elements = [each.node for each in reader.found if isinstance(each.node, c_ast.ArrayRef)]
        for element in elements:
            for part in _parts_of_subscripts(element):
                if isinstance(part, c_ast.ID) and id(part) not in found:
                    found.add(id(part))
                    reader.read(part, point)

    def _add(self, draft: AccessDraft, relation: isl.Map, point: ProgramPoint) -> None:
        extra = point.depth - self._depth
        if extra:
            relation = relation.project_out(_dim.in_, self._depth, extra)
        if not relation.is_empty():
            exact = draft.exact and not extra
            self._found.append(dataclasses.replace(draft, relation=relation.coalesce(), exact=exact))


def _parts_of_subscripts(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What the subscripts of the element ``node`` are made of, but for elements in them."""
    while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        pending = [node.subscript] if isinstance(node, c_ast.ArrayRef) else []
        while pending:
            part = pending.pop()
            if not isinstance(part, c_ast.ArrayRef | c_ast.StructRef):
                yield part
                pending += list(part)
        node = node.name


def declared_in(node: c_ast.Node, facts: Facts) -> Iterator[Variable]:
    """The variables that ``node`` declares: they live in one instance only."""
    for each in walk(node):
        if isinstance(each, c_ast.Decl) and each in facts.names.variables:
            yield facts.names.variables[each]


def _in_both(first: dict[str, isl.Map], second: dict[str, isl.Map]) -> dict[str, isl.Map]:
    """The elements that are written on two ways."""
    return {name: each.intersect(second[name]) for name, each in first.items() if name in second}


def _escapes_loop(body: c_ast.Node) -> bool:
    """Whether a ``break`` in ``body`` may end the loop that it is the body of."""
    if isinstance(body, c_ast.Break):
        return True
    if isinstance(body, (*LOOPS, c_ast.Switch)):
        return any(isinstance(each, c_ast.Return) for each in walk(body))
    return isinstance(body, c_ast.Return) or any(_escapes_loop(child) for child in body)
