"""Variables that keep the value of an element along a loop, beside which they are declared.

::

    for (...)                          double value = 0;
      ... x[at] ...      ->            if (the loop runs)
                                         value = x[at];      // the element that it begins with
                                       for (...)
                                         ... value ...
"""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.symbols import Symbol
from polybuild.c.syntax_tree import mapped, walk
from polybuild.c.synthetic import EntryValue, declarator, number
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.c.typing import type_of
from polybuild.normalise.names import unused_name
from polybuild.source.model import Region


class KeptValues:
    """The variables of one region: ``found`` tells whether there are any, ``symbols`` all other names."""

    def __init__(self, region: Region) -> None:
        nodes = [each for statement in region.statements for each in walk(statement)]
        self._visible = region.visible
        self.symbols: dict[str, Type | Symbol] = dict(region.visible.symbols)
        declared = [each for each in nodes if isinstance(each, c_ast.Decl)]
        self.symbols |= {each.name: region.visible.scope.resolve(each) for each in declared}
        self._taken = {*self.symbols, *(each.name for each in nodes if _is_mention(each))}
        self._taken |= {*region.visible.enumerators}
        self.found = False

    def type_of(self, element: c_ast.Node) -> Type:
        """The type of an expression of the region."""
        return type_of(element, self.symbols, self._visible)

    def number_type(self, element: c_ast.Node) -> IntegerType | FloatingType | None:
        """The type of a variable that keeps ``element``; None if it is no number."""
        kind = self.type_of(element)
        return kind if isinstance(kind, IntegerType | FloatingType) and kind.name != "_Bool" else None

    def unused(self, wanted: str) -> str:
        """``wanted``, or a name like it, which from now on is in use."""
        name = unused_name(wanted, self._taken)
        self._taken.add(name)
        return name

    def around(
        self,
        loop: c_ast.For,
        body: c_ast.Node,
        variable: tuple[str, IntegerType | FloatingType],
        at_start: tuple[c_ast.Node, c_ast.Node],
    ) -> c_ast.Compound:
        """``loop`` with another ``body``, behind the declaration of ``variable``: its name and type.

        ``at_start`` has the condition under which the loop runs, and what the variable is then.
        """
        self.found = True
        coord, (name, kind), (runs, value) = loop.coord, variable, at_start
        new = mapped(loop, lambda each: each)
        new.stmt = body
        begin = c_ast.Assignment("=", c_ast.ID(name, coord), value, coord)
        declaration = c_ast.Decl(name, [], [], [], [], declarator(name, kind), number(0), None, coord)
        return c_ast.Compound([declaration, c_ast.If(runs, begin, None, coord), new], coord)


def _is_mention(node: c_ast.Node) -> bool:
    """Whether ``node`` is a name; what a variable was at first is none."""
    return isinstance(node, c_ast.ID) and not isinstance(node, EntryValue)
