"""Regions made from one plain C file by pycparser alone, for tests of the model."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast, c_parser

from polybuild.c.declarations import Scope
from polybuild.c.symbols import StorageClass, Symbol, VisibleNames
from polybuild.diagnostics import Location
from polybuild.scop.extract import extract_scop
from polybuild.scop.model import Scop
from polybuild.source.model import Region, Span


def region_of(text: str) -> Region:
    """The one region of ``text``: a file with declarations and one function, without preprocessing."""
    text = text.replace("#pragma scop", "#pragma polybuild begin 0")
    text = text.replace("#pragma endscop", "#pragma polybuild end 0")
    tree = c_parser.CParser().parse(text, "test.c")
    scope = Scope()
    symbols: dict[str, Symbol] = {}

    def add(node: c_ast.Decl, storage: StorageClass) -> None:
        kind = scope.resolve(node.type)
        if node.name:
            symbols[node.name] = Symbol(
                node.name,
                kind,
                storage,
                node,
                address_taken=f"&{node.name}" in text.replace("&&", ""),
                volatile=scope.is_volatile(node.type),
                restrict="restrict" in text and getattr(kind, "restrict", False),
            )

    for item in tree.ext:
        if isinstance(item, c_ast.Typedef):
            scope.add_typedef(item)
        elif isinstance(item, c_ast.Decl):
            add(item, StorageClass.GLOBAL)
    function = next(item for item in tree.ext if isinstance(item, c_ast.FuncDef))
    parameters = function.decl.type.args
    for node in parameters.params if parameters is not None else ():
        if isinstance(node, c_ast.Decl):
            add(node, StorageClass.PARAMETER)
    statements: list[c_ast.Node] = []
    inside = False
    for item in _items(function.body):
        if isinstance(item, c_ast.Pragma) and item.string.startswith("polybuild"):
            inside = "begin" in item.string
        elif inside:
            statements.append(item)
        elif isinstance(item, c_ast.Decl) and not statements:
            add(item, StorageClass.LOCAL)
    where = Location("test.c", 1)
    return Region(
        index=0,
        span=Span(0, 0),
        body=Span(0, 0),
        begin=where,
        end=where,
        clauses="",
        statements=tuple(statements),
        function=function,
        visible=VisibleNames(symbols, scope=scope),
    )


def _items(body: c_ast.Compound) -> Iterator[c_ast.Node]:
    """The items of the block that holds the region."""
    items = body.block_items or []
    if any(isinstance(each, c_ast.Pragma) for each in items):
        yield from items
        return
    for each in items:
        if isinstance(each, c_ast.Decl):
            yield each
        for child in each:
            if isinstance(child, c_ast.Compound):
                yield from _items(child)


def scop_of(text: str) -> Scop:
    """The model of the one region of ``text``."""
    return extract_scop(region_of(text))


def scop_in(body: str, parameters: str, before: str = "", after: str = "", top: str = "") -> Scop:
    """The model of ``body`` in a function with ``parameters``; other code around as given."""
    return scop_of(
        f"{top}\nvoid f({parameters}) {{\n{before}\n#pragma scop\n{body}\n#pragma endscop\n{after}\n}}\n"
    )
