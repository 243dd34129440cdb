"""Variables of a region, declared anew before the generated loops."""

from __future__ import annotations

import copy
from collections.abc import Container

from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.bodies import c_text
from polybuild.scop.model import Array, Scop


def local_declarations(scop: Scop, held: Container[str]) -> list[str]:
    """The declarations of the variables of the region, but for those called ``held``, which are elsewhere.

    What a statement names in a choice that never runs has to be declared, too.
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
        if array.local and (array.name not in held or array.name in named)
    ]


def local_declaration(array: Array) -> str:
    """The declaration of a variable of the region, moved before the generated loops."""
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
    return f"{c_text(declaration)};"
