"""Before a region is modelled: scalars that only name other values are replaced by these.

Forward substitution of index temporaries and row pointers, induction variables,
pointers that walk, ``while`` loops that count and pointer arithmetic become
plain subscripts and ``for`` loops. What such a variable holds after the region
is kept as a ``LastValue``.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import changed_operand, contains, walk
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.effort import FOLLOWED_STATEMENTS
from polybuild.normalise.data_choices import only_in_subscripts
from polybuild.normalise.data_starts import walking_variables
from polybuild.normalise.names import Names, Variable, resolve
from polybuild.normalise.state import NormalisationContext, NotFollowable, WalkedTooLong
from polybuild.normalise.statements import StatementNormaliser
from polybuild.normalise.unique_names import with_unique_names
from polybuild.normalise.upward_exposed import read_after
from polybuild.source.model import Region


def normalise(region: Region, excluded: Collection[str] = (), *, wrapping: bool = False) -> Region:
    """``region`` with its statements rewritten; itself if there is nothing to do.

    Variables named in ``excluded`` stay as they are. With ``wrapping``, loops with
    unsigned counters become loops with wide ones that wrap in their uses. The
    given trees are not changed. After the body of a function, no variable of it is read.
    """
    nodes = [each for statement in region.statements for each in walk(statement)]
    labelled = any(isinstance(each, c_ast.Label) for each in nodes)
    if any(isinstance(each, c_ast.Goto) for each in (walk(region.function) if labelled else nodes)):
        return region
    try:
        names = resolve(region)
        renamed = with_unique_names(region, names, _assigned(names, nodes, wrapping=wrapping))
        if renamed is not region:
            region, names = renamed, resolve(renamed)
            nodes = [each for statement in region.statements for each in walk(statement)]
    except Unsupported:
        return region  # the model says what is wrong
    followed = {each for each in _candidates(names, nodes, wrapping=wrapping) if each.name not in excluded}
    points = any(map(_follows_pointer, nodes))
    chooses = any(isinstance(each, c_ast.ArrayRef) and contains(each, c_ast.TernaryOp) for each in nodes)
    live = read_after(region.function, region.index) if region.index >= 0 else frozenset()
    live |= region.visible.lvalues.keys()
    stores = _stores_pointers(names, nodes, region)
    in_subscripts = only_in_subscripts(names, region.statements)
    walking = walking_variables(names, nodes)
    left = FOLLOWED_STATEMENTS + len(nodes)
    while followed or points or chooses or labelled:
        context = NormalisationContext(
            region, names, frozenset(followed), live, wrapping, stores, in_subscripts, walking
        )
        normaliser = StatementNormaliser(context, left if followed else None)
        try:
            return dataclasses.replace(region, statements=normaliser.region())
        except NotFollowable as dropped:
            followed.remove(dropped.variable)
        except WalkedTooLong:
            followed.clear()
        left -= normaliser.walked
    return region


def _follows_pointer(node: c_ast.Node) -> bool:
    """Whether ``node`` is what a pointer leads to other than by its name, or the address of something."""
    if isinstance(node, c_ast.ArrayRef):
        return not isinstance(node.name, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef)
    if isinstance(node, c_ast.StructRef):
        return node.type == "->" and not isinstance(node.name, c_ast.ID | c_ast.StructRef)
    return isinstance(node, c_ast.UnaryOp) and node.op in {"*", "&"}


def _stores_pointers(names: Names, nodes: Collection[c_ast.Node], region: Region) -> bool:
    """Whether the region sets a pointer other than a variable."""
    for target in map(changed_operand, nodes):
        if target is not None and not isinstance(target, c_ast.ID):
            symbols = {each.name: each.type for each in names.variables_in(target)}
            if isinstance(type_of(target, symbols, region.visible), types.PointerType):
                return True
    return False


def _candidates(names: Names, nodes: Collection[c_ast.Node], *, wrapping: bool) -> set[Variable]:
    """Variables that the region assigns, with names that mean nothing else."""
    declared = Counter(each.name for each in nodes if isinstance(each, c_ast.Decl))
    declared.update(names.outer.keys())
    return {each for each in _assigned(names, nodes, wrapping=wrapping) if declared[each.name] == 1}


def _assigned(names: Names, nodes: Collection[c_ast.Node], *, wrapping: bool) -> set[Variable]:
    """Variables of the function alone that the region assigns, other than to count plain loops."""
    addressed = {
        each.expr.name
        for each in nodes
        if isinstance(each, c_ast.UnaryOp) and each.op == "&" and isinstance(each.expr, c_ast.ID)
    }
    counters = {
        each
        for each in names.iterators.values()
        if isinstance(each.type, types.PointerType)
        or each in names.escaping
        or (wrapping and isinstance(each.type, types.IntegerType) and not each.type.signed)
    }
    counters |= {counter for loop, counter in names.iterators.items() if _starts_at_product(loop, names)}
    return {each for each in names.written | counters if _is_followable(each) and each.name not in addressed}


def _starts_at_product(loop: c_ast.For, names: Names) -> bool:
    """Whether the counter of ``loop`` starts at a product, or at a variable that may hold one."""
    start = loop.init.rvalue if isinstance(loop.init, c_ast.Assignment) else loop.init.decls[0].init
    return start is not None and any(
        (
            isinstance(each, c_ast.BinaryOp)
            and each.op == "*"
            and not any(isinstance(side, c_ast.Constant) for side in each)
        )
        or names.variables.get(each) in names.written
        for each in walk(start)
    )


def _is_followable(variable: Variable) -> bool:
    if variable.address_taken or variable.volatile or variable.thread_local:
        return False
    if variable.storage not in {StorageClass.LOCAL, StorageClass.PARAMETER}:
        return False
    kind = variable.type
    if isinstance(kind, types.PointerType):
        return not kind.volatile
    return isinstance(kind, types.IntegerType) and kind.width > 1
