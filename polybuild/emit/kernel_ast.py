"""From a tree with kernels to isl's AST, with the number of blocks at each launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from polybuild.emit.ast import Instance, detached, instance_at
from polybuild.scop.model import Scop
from polybuild.targets.gpu.lower import LoweredTree

NO_LAUNCH = "none"


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel reached by the host: its name and the blocks along each axis, outermost first."""

    kernel: str
    grid: tuple[isl.AstExpr, ...]


@dataclass(frozen=True, slots=True)
class KernelAst:
    """The AST of host and kernels.

    The annotation of a user node names its entry in ``instances``, that of a
    kernel's mark its entry in ``launches``, that of another mark is ``NO_LAUNCH``.
    """

    root: isl.AstNode
    instances: Mapping[str, Instance]
    launches: Mapping[str, Launch]


def build_kernel_ast(scop: Scop, tree: LoweredTree) -> KernelAst:
    """Generate the AST of ``tree``."""
    statements = {statement.name: statement for statement in scop.statements}
    instances: dict[str, Instance] = {}
    launches: dict[str, Launch] = {}
    failures: list[Exception] = []

    # as in emit/ast.py: no exception may leave a callback
    def at_domain(node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        try:
            name = f"instance{len(instances)}"
            called = node.user_get_expr().op_get_arg(0).id_get_id().get_name()
            instances[name] = instance_at(statements[called], build)
            return node.set_annotation(isl.Id(name))
        except Exception as error:  # noqa: BLE001 -- it is raised again below
            failures.append(detached(error))
            return node

    def after_mark(node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        try:
            kernel = node.mark_get_id().get_name()
            if kernel not in tree.grids:
                return node.set_annotation(isl.Id(NO_LAUNCH))
            name = f"launch{len(launches)}"
            # isl nests the dimensions of the loops; the functions have them side by side
            flat = isl.PwMultiAff.from_map(isl.Set.universe(build.get_schedule_space()).flatten_map())
            grid = (each.pullback_pw_multi_aff(flat) for each in tree.grids[kernel])
            launches[name] = Launch(kernel, tuple(build.expr_from_pw_aff(each) for each in grid))
            return node.set_annotation(isl.Id(name))
        except Exception as error:  # noqa: BLE001 -- likewise
            failures.append(detached(error))
            return node

    def before_for(_: isl.AstBuild) -> isl.Id:
        return isl.Id("c")

    build = isl.AstBuild.from_context(scop.context)
    build, at_handle = build.set_at_each_domain(at_domain)
    build, for_handle = build.set_before_each_for(before_for)
    build, mark_handle = build.set_after_each_mark(after_mark)
    try:
        root = build.node_from_schedule(tree.schedule)
    except isl.Error as error:
        failures.append(error)
    del at_handle, for_handle, mark_handle  # they had to live until here
    if failures:
        raise failures[0]
    return KernelAst(root, instances, launches)
