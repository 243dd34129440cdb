"""Tables of the function that threads read, declared for them once more.

Threads find what they share by its address. A compiler whose function gives away the address of an automatic
array no longer takes the elements from its declaration: neither in the threads nor in the original loops,
where they had been numbers. So the new loops have tables of their own, which are static.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.bodies import c_text
from polybuild.codegen.file.names import identifiers
from polybuild.patterns import pattern
from polybuild.scop.model import Scop
from polybuild.source.model import Region

_WORD = pattern(r"\w+")
_CONSTANT = (
    c_ast.InitList,
    c_ast.Constant,
    c_ast.UnaryOp,
    c_ast.BinaryOp,
    c_ast.Cast,
    c_ast.Typename,
    c_ast.TypeDecl,
    c_ast.IdentifierType,
)


def table_declarations(scop: Scop, region: Region, loops: Iterable[str]) -> list[str]:
    """Declarations of the tables of the function that ``loops`` of ``scop`` read, those of numbers alone."""
    bodies = [statement.body for statement in scop.statements]
    own = {each.name for each in scop.arrays if each.local}
    own |= {each.name for body in bodies for each in walk(body) if isinstance(each, c_ast.Decl)}
    written = {word for line in loops for word in _WORD.findall(line)}
    names = sorted(written.intersection(identifiers(bodies)) - own)
    found = (region.visible.symbols.get(name) for name in names)
    return [
        f"{c_text(_static(each.declaration))};"
        for each in found
        if each is not None
        and each.table
        and each.storage is StorageClass.LOCAL
        and not each.volatile
        and all(isinstance(part, _CONSTANT) for part in walk(each.declaration.init))
    ]


def hoisted_declarations(region: Region, lines: Iterable[str]) -> list[str]:
    """Declarations of the tables of ``region`` that ``lines`` have, and that stood in it or what it calls."""
    tables = [each for each in region.visible.symbols.values() if each.storage is StorageClass.HOISTED]
    used = {word for line in lines for word in _WORD.findall(line)} if tables else set()
    return [f"{' '.join(c_text(each.declaration).split())};" for each in tables if each.name in used]


def _static(declaration: c_ast.Node) -> c_ast.Node:
    """``declaration`` with static storage, of elements that are constant."""
    made = copy.deepcopy(declaration)
    made.storage = ["static"]
    inner = made.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    for each in (made, inner):
        each.quals = ["const", *(qualifier for qualifier in each.quals if qualifier != "const")]
    return made
