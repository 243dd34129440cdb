"""Functions that call what they get as an argument, as ones that call it by its name.

::

    void each(double *y, int n, double (*f)(double))      void each_half(double *y, int n)
    { for (int i = 0; i < n; i++) y[i] = f(y[i]); }   ->  { for (int i = 0; i < n; i++) y[i] = half(y[i]); }

for ``each(y, n, half)`` (procedure cloning: K. D. Cooper, M. W. Hall, K. Kennedy, "A methodology for
procedure cloning", 1993). Such functions are there to be inlined: no program has them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from pycparser import c_ast

from polybuild.c.conversions import decayed
from polybuild.c.syntax_tree import names_addressed_in, names_set_in, walk
from polybuild.c.types import FunctionType, PointerType, Type
from polybuild.normalise.computing_functions import renamed
from polybuild.normalise.names import unused_name
from polybuild.source.model import Callee, Region


class SpecialisedFunctions:
    """The functions that a region calls, and those that are made of them, which are in ``made``, too.

    None are made unless it ``makes`` some. ``types`` are those of all functions that are declared there.
    """

    def __init__(self, region: Region, *, makes: bool = True) -> None:
        self.makes = makes
        self.callees = dict(region.callees)
        self.types: dict[str, Type] = dict(region.visible.functions)
        self.made: dict[str, Callee] = {}
        self._taken = set(region.visible.may_mean_something()) | self.callees.keys()
        self._names: dict[tuple[str, int, str], str] = {}

    def place(self, name: str) -> int | None:
        """Which parameter of the function ``name`` leads to a function, the same all the time; the first."""
        callee = self.callees.get(name)
        if callee is None or callee.body is None or callee.stays or not self.makes:
            return None
        nodes = [each for one in callee.body.statements for each in walk(one)]
        changed = names_set_in(nodes) | names_addressed_in(nodes)
        for place, parameter in enumerate(callee.parameters):
            symbol = callee.body.visible.symbols.get(str(parameter.name))
            if symbol is not None and _leads_to_function(symbol.type) and parameter.name not in changed:
                return place
        return None

    def of(self, name: str, place: int, function: str) -> str | None:
        """The function ``name`` with ``function`` for a parameter; None if that means another there."""
        key = name, place, function
        if key in self._names:
            return self._names[key]
        callee = self.callees[name]
        body = callee.body
        if body is None or function in body.visible.symbols or function in _declared(body.statements):
            return None
        new = unused_name(f"{name}_{function}", self._taken)
        self._taken.add(new)
        values: Mapping[str, c_ast.Node] = {str(callee.parameters[place].name): c_ast.ID(function)}
        statements = tuple(renamed(each, values) for each in body.statements)
        parameters = (*callee.parameters[:place], *callee.parameters[place + 1 :])
        self._names[key] = new
        self.made[new] = self.callees[new] = dataclasses.replace(
            callee,
            name=new,
            parameters=parameters,
            body=dataclasses.replace(body, statements=statements),
            taken=False,
        )
        kind = self.types.get(name)
        if isinstance(kind, FunctionType) and kind.parameters is not None:
            rest = (*kind.parameters[:place], *kind.parameters[place + 1 :])
            self.types[new] = FunctionType(kind.result, rest)
        return new

    def visible_in(self, region: Region, callees: Mapping[str, Callee]) -> Region:
        """``region`` where all these functions are known, which are as ``callees`` says."""
        functions = {**region.visible.functions, **self.types}
        visible = dataclasses.replace(region.visible, functions=functions)
        return dataclasses.replace(region, visible=visible, callees=callees)

    def are_called(self, statements: Sequence[c_ast.Node]) -> bool:
        """Whether ``statements`` mention functions that were made."""
        names = (each.name for one in statements for each in walk(one) if isinstance(each, c_ast.ID))
        return not self.made.keys().isdisjoint(names)


def _leads_to_function(kind: Type) -> bool:
    pointer = decayed(kind)
    return isinstance(pointer, PointerType) and isinstance(pointer.target, FunctionType)


def _declared(statements: Sequence[c_ast.Node]) -> set[str]:
    nodes = (each for one in statements for each in walk(one))
    return {str(each.name) for each in nodes if isinstance(each, c_ast.Decl)}
