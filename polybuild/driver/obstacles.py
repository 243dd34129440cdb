"""What stands in the way of a region besides what was found first, and what helps against a call."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from polybuild import effort
from polybuild.c.syntax_tree import location, walk
from polybuild.diagnostics import Diagnostic, Location, Unsupported
from polybuild.normalise.hoisted_tables import hoist_tables
from polybuild.poly.budget import operation_budget
from polybuild.scop.extract import extract_scop, with_structure
from polybuild.source.model import Region

_MAXIMUM = 6  # more of them tell nobody more

_WRITERS = frozenset(
    {
        "printf",
        "fprintf",
        "vprintf",
        "vfprintf",
        "puts",
        "fputs",
        "putchar",
        "putc",
        "fputc",
        "fwrite",
        "fflush",
    }
)
_READERS = frozenset({"scanf", "fscanf", "gets", "fgets", "getchar", "getc", "fgetc", "fread"})
_ENDERS = frozenset({"exit", "abort", "_Exit", "quick_exit", "longjmp", "__assert_fail", "perror"})
_ADVICE = (
    (_WRITERS, "move it out of the region, and print the values in a loop of their own behind it"),
    (_READERS, "move it out of the region, and read the values into an array before it"),
    (_ENDERS, "move it out of the region: set a flag in it, and look at the flag behind it"),
)


def all_obstacles(region: Region, first: Diagnostic) -> list[Diagnostic]:
    """``first``, which stopped ``region``, then what stops it without the statement there, and so on.

    Only what the model of the region refuses is looked for.
    """
    found = [first]
    region = hoist_tables(with_structure(region))  # which looks at the whole function, without parts left out
    while len(found) < _MAXIMUM:
        statements = _without(region.statements, found[-1].location)
        if statements is None:
            break
        region = replace(region, statements=tuple(statements))
        try:
            with operation_budget(effort.REGION_OPERATIONS // 8):
                extract_scop(region)
        except Unsupported as refusal:
            place = refusal.diagnostic.location
            if any(each.location == place for each in found) or _without(region.statements, place) is None:
                break  # nothing of the region is there: it is the parts left out that are missed
            found.append(refusal.diagnostic)
        except Exception:  # noqa: BLE001 - a region with parts left out is nobody's program
            break
        else:
            break
    return found


def with_advice(region: Region, diagnostic: Diagnostic) -> Diagnostic:
    """``diagnostic`` with a hint that suits the function, if it is about the call of a well-known one."""
    for node in (each for statement in region.statements for each in walk(statement)):
        if (
            isinstance(node, c_ast.FuncCall)
            and isinstance(node.name, c_ast.ID)
            and location(node) == diagnostic.location
        ):
            hints = [hint for names, hint in _ADVICE if node.name.name in names]
            return replace(diagnostic, hint=hints[0]) if hints else diagnostic
    return diagnostic


def _without(statements: Sequence[c_ast.Node], place: Location) -> list[c_ast.Node] | None:
    """``statements`` without the innermost one that has a part at ``place``; None if there is none."""
    for position, statement in enumerate(statements):
        if any(location(each) == place for each in walk(statement)):
            less = _with_less(statement, place) or c_ast.EmptyStatement()
            return [*statements[:position], less, *statements[position + 1 :]]
    return None


def _with_less(statement: c_ast.Node, place: Location) -> c_ast.Node | None:
    """``statement`` without the innermost one below it that has a part at ``place``, or None."""
    if isinstance(statement, c_ast.Compound):
        items = _without(statement.block_items or (), place)
        if items is None:
            return None
        new = copy.copy(statement)
        new.block_items = items
        return new
    for name in ("stmt", "iftrue", "iffalse"):
        inner = getattr(statement, name, None)
        found = None if inner is None else _without([inner], place)
        if found is not None:
            new = copy.copy(statement)
            setattr(new, name, found[0])
            return new
    return None
