"""What finding elements takes in loops as they are written: remainders, as ``a[(i + 1) % n]``, and choices.

Generated code has plain subscripts almost everywhere (``transform/index_set_splitting.py``); compilers split
no loop, and divide in each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.operations import Operations
from polybuild.c.syntax_tree import key, walk
from polybuild.scop.flat_elements import subscripts_of
from polybuild.scop.model import Access, Statement

_DIVISIONS = {"/", "%"}


def with_subscripts(operations: Operations, statement: Statement, computed: set[object]) -> Operations:
    """``operations`` with those that find the elements of an instance of ``statement`` as it is written.

    What the loop has ``computed`` for other statements is there; what this one adds is put to it.
    """
    return _with_choices(operations, _choices(statement, statement.accesses), computed)


def _with_choices(operations: Operations, choices: Iterable[c_ast.Node], computed: set[object]) -> Operations:
    new = {key(each): each for each in choices if key(each) not in computed}
    computed.update(new)
    divisions = sum(map(_is_division, new.values()))
    return replace(
        operations,
        simple=operations.simple + len(new) - divisions,
        divisions=operations.divisions + divisions,
    )


def with_chosen_elements(operations: Operations, statement: Statement, computed: set[object]) -> Operations:
    """``operations`` with those that choose the elements of an instance of ``statement`` in generated code.

    Each choice that the innermost counter decides is a comparison and a selection; others stand before it.
    Elements that no relation tells are found as they are written (``with_subscripts``).
    """
    unknown = [each for each in statement.accesses if not each.exact]
    operations = _with_choices(operations, _choices(statement, unknown), computed)
    last = len(statement.iterators) - 1
    relations = {
        str(each.relation): each
        for each in statement.accesses
        if last >= 0 and each.exact and each.relation.n_basic_map() > 1
    }
    choices = sum(_choices_along(each, last) for each in relations.values())
    return replace(operations, simple=operations.simple + 2 * choices)


def _choices_along(access: Access, counter: int) -> int:
    """Among how many other subscripts ``access`` chooses as a ``counter`` goes on."""
    if not access.relation.is_single_valued():
        return 0
    choices, every = 0, access.relation.domain()
    for subscript in subscripts_of(access):
        chosen = [where.gist(every) for where, _ in subscript.get_pieces()]
        along = sum(bool(each.involves_dims(isl.dim_type.set, counter, 1)) for each in chosen)
        choices += max(0, along - 1)
    return choices


def has_scattered_elements(statement: Statement) -> bool:
    """Whether each iteration of the innermost loop divides by a variable, or chooses, to find an element.

    No vector unit divides integers, and compilers load what is chosen one by one.
    """
    return any(True for _ in _choices(statement, statement.accesses))


def _choices(statement: Statement, accesses: Iterable[Access]) -> Iterator[c_ast.Node]:
    """Choices and divisions by variables in subscripts of ``accesses`` that the innermost counter changes.

    Compilers take what does not depend on it out of the loop, and multiply by the reciprocals of constants.
    """
    counter = statement.iterators[-1].name if statement.iterators else ""
    elements = (each.node for each in accesses if isinstance(each.node, c_ast.ArrayRef))
    for node in (each for element in elements for each in walk(element)):
        if not isinstance(node, c_ast.TernaryOp) and not (
            _is_division(node) and not isinstance(node.right, c_ast.Constant)
        ):
            continue
        if any(isinstance(each, c_ast.ID) and each.name == counter for each in walk(node)):
            yield node


def _is_division(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.BinaryOp) and node.op in _DIVISIONS
