"""Variables of a region, declared before the generated loops or in the one whose iterations have copies."""

from __future__ import annotations

import copy
from collections.abc import Container
from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.bodies import c_text
from polybuild.codegen.c.nodes import IF, identifier_of, is_loop, kind_of, nodes_below, users_below
from polybuild.codegen.file.team import THREAD
from polybuild.poly.marks import Mark
from polybuild.scop.model import Array, Scop, Statement
from polybuild.storage.own_memory import names_for_threads
from polybuild.transform.full_unrolling import is_in_registers

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.codegen.c.directives import DirectivePrinter
    from polybuild.targets.model import LoopDirective


class LocalVariables:
    """The variables of a region that are declared in the bodies of loops: in ``declared``, by name.

    Those are scalars of which each iteration of a loop with a directive has a copy, and that nothing
    outside this loop touches. Where all loops inside are unrolled so are arrays of a few elements, which
    compilers keep in registers then. Arrays that each thread has one of are found by loops that threads
    share: ``of_threads``, by name. ``ast`` is what is printed.
    """

    def __init__(self, ast: PrintedAst) -> None:
        self._ast = ast
        self.declared: set[str] = set()
        self.of_threads: set[str] = set()

    def taken_out(
        self, loop: isl.AstNode, directive: LoopDirective, directives: DirectivePrinter
    ) -> tuple[list[str], LoopDirective]:
        """The declarations for the body of ``loop``, and its ``directive`` without these variables.

        Variables that a loop inside can declare are in neither, nor are those of another copy of the loop.
        """
        lines, private, arrays = [], [], False
        for array in directive.private:
            users = self._users(loop, array)
            if array.provenance.each_thread:
                arrays = arrays or bool(users)
                if users and directive.parallel:
                    alone = users == self._all_users(array)
                    lines.append(self._own_of_thread(array, directives, alone=alone))
                    private += [] if alone else [array]
            elif not (array.local and users in {0, self._all_users(array)}):
                private.append(array)
            elif not users or self._is_declared_below(loop.for_get_body(), array, directives):
                continue
            elif not _may_be_inside(loop, array):
                private.append(array)
            else:
                starts = array.is_scalar and self._is_set_within(loop.for_get_body(), array)
                lines.append(local_declaration(array, starts=starts))
                arrays = arrays or not array.is_scalar
                self.declared.add(array.name)
        directive = replace(directive, private=tuple(private))
        # lanes that OpenMP asks for have copies of arrays in memory, those that a compiler finds have not
        return lines, replace(directive, simd=directive.simd and not arrays)

    def asks_which_thread(self, loop: isl.AstNode) -> bool:
        """Whether ``loop`` finds arrays of a thread by its number in the team of the loop."""
        names = {each.get_annotation().get_name() for each in users_below(loop)}
        below = (each for name, each in self._ast.everything.items() if name in names)
        return any(not self.of_threads.isdisjoint(_named_by(each.statement)) for each in below)

    def _own_of_thread(self, array: Array, directives: DirectivePrinter, *, alone: bool) -> str:
        """The line that finds the ``array`` of a thread, and declares it if it is used here ``alone``."""
        directives.in_use.helpers.add(THREAD)
        self.of_threads.add(array.name)
        memory, size = names_for_threads(array.name)
        place = f"{array.name} = {memory} + (unsigned long long){THREAD}() * {size};"
        if not alone:
            return place
        self.declared.add(array.name)
        assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - of others none is allocated
        return f"{array.element.name} *{place}"

    def _is_declared_below(self, body: isl.AstNode, array: Array, directives: DirectivePrinter) -> bool:
        for node in nodes_below(body):
            if kind_of(node) != isl.ast_node_type.mark:
                continue
            directive = directives.at(Mark.of_id(node.mark_get_id()))
            if directive is None or array.name not in {each.name for each in directive.private}:
                continue
            loops = (
                each
                for each in nodes_below(node)
                if is_loop(each) and identifier_of(each) == f"c{directive.depth}"
            )
            whole = self._all_users(array)
            if any(self._users(each, array) == whole and _may_be_inside(each, array) for each in loops):
                return True
        return False

    def _is_set_within(self, body: isl.AstNode, array: Array) -> bool:
        """Whether a loop or condition in ``body`` has the first statement that names ``array``, but not all.

        Every value that is read was written, but a compiler cannot see that then, and may warn.
        """
        whole = self._users(body, array)
        for each in nodes_below(body):
            users = self._users(each, array)
            if users and kind_of(each) == isl.ast_node_type.user:
                return False
            if 0 < users < whole and (is_loop(each) or kind_of(each) == IF):
                return True
        return False

    def _all_users(self, array: Array) -> int:
        return self._users(self._ast.root, array)

    def _users(self, node: isl.AstNode, array: Array) -> int:
        """How many statements below ``node`` name ``array``."""
        names = {each.get_annotation().get_name() for each in users_below(node)}
        below = (each for name, each in self._ast.everything.items() if name in names)
        return sum(array.name in _named_by(each.statement) for each in below)


def _may_be_inside(loop: isl.AstNode, array: Array) -> bool:
    """Whether the body of ``loop`` may declare ``array``, a variable of the region."""
    unrolled = not any(map(is_loop, nodes_below(loop.for_get_body())))
    return array.is_scalar or (unrolled and is_in_registers(array))


def _named_by(statement: Statement) -> set[str]:
    return {each.array.name for each in statement.accesses} | {array.name for _, array in statement.locals}


def local_declarations(scop: Scop, buffered: Container[str], inside: Container[str]) -> list[str]:
    """The declarations of the variables of the region, before its loops.

    Those called ``buffered`` are in buffers, and declared only for what names them in a choice that
    never runs; those ``inside`` are declared by loops.
    """
    named = {
        array.name
        for statement in scop.statements
        for node, array in statement.locals
        if not any(node is each for access in statement.accesses for each in walk(access.node))
    }
    return [
        local_declaration(array)
        for array in scop.arrays
        if array.local
        and not array.provenance.allocated
        and array.name not in inside
        and (array.name not in buffered or array.name in named)
    ]


def local_declaration(array: Array, *, starts: bool = False) -> str:
    """The declaration of a variable of the region, moved before the generated loops; it ``starts`` as 0."""
    declaration = copy.deepcopy(array.declared)
    assert declaration is not None  # noqa: S101 - the model says so of local arrays
    declaration.init = None
    declaration.quals = [each for each in declaration.quals if each != "const"]
    declaration.storage = []
    inner = declaration.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = array.name
    inner.quals = [each for each in inner.quals if each != "const"]
    declaration.name = array.name
    return f"{c_text(declaration)}{' = 0' if starts else ''};"
