"""A region whose function is rewritten, and with it those that the region calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from pycparser import c_ast

from polybuild.source.blocks import place_region
from polybuild.source.model import Callee, Region

Rewrite = Callable[[Region], c_ast.FuncDef]
"""The new function of a region, the very same if it stays."""


def with_rewritten_functions(region: Region, rewrite: Rewrite) -> Region:
    """``region`` in its rewritten function, with what it calls rewritten, too; itself if all stays."""
    callees = {name: _rewritten(each, rewrite) for name, each in region.callees.items()}
    if any(each is not region.callees[name] for name, each in callees.items()):
        region = dataclasses.replace(region, callees=callees)
    function = rewrite(region)
    if function is region.function:
        return region
    placement = place_region(function, region.index)
    if placement is None:
        return region
    return dataclasses.replace(region, function=function, statements=placement.statements)


def _rewritten(callee: Callee, rewrite: Rewrite) -> Callee:
    body = callee.body
    function = None if body is None else rewrite(body)
    if body is None or function is None or function is body.function:
        return callee
    statements = tuple(function.body.block_items or ())
    return dataclasses.replace(
        callee, body=dataclasses.replace(body, function=function, statements=statements)
    )
