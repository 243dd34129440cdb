"""Variables of a region, declared anew before the generated loops."""

from __future__ import annotations

import copy

from pycparser import c_ast

from polybuild.emit.bodies import c_text
from polybuild.scop.model import Array


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
