"""Generating an AST with isl, which calls back for each loop, mark and statement.

No exception may leave a callback: isl would go on with a tree that has holes. Nor can anything be made
for isl there once its budget is spent, so what is handed back after a failure was there before.
"""

from __future__ import annotations

import traceback

import islpy as isl

from polybuild.codegen.c.grouped_statements import group_statements, members_of_groups, without_groups
from polybuild.codegen.c.shifted_statements import without_shifts


class Failures:
    """Keeps what is raised under it, to be raised again when isl is done.

    ``with failures: return new`` goes on after it where ``new`` could not be made.
    """

    def __init__(self) -> None:
        self._found: list[Exception] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self._found.append(_detached(error))
        return True

    def check(self) -> None:
        """Raise the first of them, if there are any."""
        if self._found:
            raise self._found[0]


def _detached(error: Exception) -> Exception:
    """``error`` without hold on the callback's frames, whose arguments isl takes back; they become a note."""
    error.add_note("".join(traceback.format_tb(error.__traceback__)))
    error.__context__ = None
    return error.with_traceback(None)


class AstCallbacks:
    """What isl calls back while it generates an AST; what is not overridden changes nothing.

    Where isl has statements that always run together as one, around these, ``members`` are from their
    instances to those of the groups.
    """

    members: isl.UnionMap | None = None

    def schedule_of(self, build: isl.AstBuild) -> isl.UnionMap:
        """The loops that have been made so far, of the statements themselves."""
        return without_groups(build.get_schedule(), self.members)

    def at_domain(self, node: isl.AstNode, _build: isl.AstBuild) -> isl.AstNode:
        """The node for the statement instance that isl made ``node`` of."""
        return node

    def before_for(self, _build: isl.AstBuild) -> isl.Id:
        """The annotation of the loop that is begun."""
        return isl.Id("c")

    def before_mark(self, mark: isl.Id, build: isl.AstBuild) -> None:
        """Begin what is below ``mark``."""

    def after_mark(self, node: isl.AstNode, _build: isl.AstBuild) -> isl.AstNode:
        """The node for the mark that isl made ``node`` of."""
        return node


def generate_ast(
    context: isl.Set, schedule: isl.Schedule, callbacks: AstCallbacks, *, grouped: bool = False
) -> isl.AstNode:
    """Isl's AST of ``schedule`` for the parameters in ``context``; raises what ``callbacks`` raised.

    With ``grouped`` isl has statements that always run together as one, around these.
    """
    schedule = without_shifts(schedule, context)
    if grouped:
        schedule = group_statements(schedule)
        callbacks.members = members_of_groups(schedule)
    failures = Failures()
    unnamed = isl.Id("c")

    def at_domain(node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        with failures:
            return callbacks.at_domain(node, build)
        return node

    def before_for(build: isl.AstBuild) -> isl.Id:
        with failures:
            return callbacks.before_for(build)
        return unnamed

    def before_mark(mark: isl.Id, build: isl.AstBuild) -> None:
        with failures:
            callbacks.before_mark(mark, build)

    def after_mark(node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        with failures:
            return callbacks.after_mark(node, build)
        return node

    build = isl.AstBuild.from_context(context)
    build, at_handle = build.set_at_each_domain(at_domain)
    build, for_handle = build.set_before_each_for(before_for)
    build, before_handle = build.set_before_each_mark(before_mark)
    build, after_handle = build.set_after_each_mark(after_mark)
    with failures:
        root = build.node_from_schedule(schedule)
    # isl keeps no reference to the callbacks: they had to live until here
    del at_handle, for_handle, before_handle, after_handle
    failures.check()
    return root
