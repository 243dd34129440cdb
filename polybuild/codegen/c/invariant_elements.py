"""The elements that all iterations of a loop read, which are kept in variables."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from polybuild.codegen.c.nodes import FOR, IF, identifier_of, kind_of, mentions, nodes_below, users_below
from polybuild.storage.scalar_replacement import ReplacedElement, is_same_element

if TYPE_CHECKING:
    import islpy as isl

    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.codegen.c.instances import InstancePrinter


def invariant_elements(
    loop: isl.AstNode, ast: PrintedAst, instances: InstancePrinter, wanted: Collection[int]
) -> list[ReplacedElement]:
    """The elements that iterations of ``loop`` read by a node of the identities ``wanted``.

    None of those that ``instances`` has in variables already, and none if the iterations take several ways.
    """
    if any(kind_of(each) in {FOR, IF} for each in nodes_below(loop.for_get_body())):
        return []
    counter = identifier_of(loop)
    known = [element for element, _ in instances.replaced]
    found = []
    for name in (each.get_annotation().get_name() for each in users_below(loop)):
        for each in instances.ordered(ast.instances[name]) if name in ast.instances else ():
            if (
                each.element is not None
                and id(each.access.node) in wanted
                and not mentions(each.element, counter)
                and not any(is_same_element(each.element, element) for element in known)
            ):
                known.append(each.element)
                found.append(ReplacedElement(each.access.array, each.element, loaded=True))
    return found
