"""Function definitions whose parameters are declared after the parentheses, as of before C89.

::

    double half(x, k)                          double half(double x, int k)
      double x;                         ->
    { ... }                                    { ... }

Only what is read of a function gets the parameters into its parentheses; the user's text stays.
"""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.basic_types import INT
from polybuild.c.synthetic import declarator


def with_prototype(function: c_ast.FuncDef) -> c_ast.FuncDef:
    """``function`` with its parameters declared in the parentheses; itself if they are.

    A parameter without a declaration is an ``int``. Arguments of other types than the parameters' have
    undefined behaviour unless promotion changes them, and then they are what a conversion makes of them.
    """
    listed = function.decl.type.args
    names = [] if listed is None else [each.name for each in listed.params if isinstance(each, c_ast.ID)]
    if not names:
        return function
    declared = {each.name: each for each in function.param_decls or ()}
    listed.params = [declared.get(each) or _undeclared(each, function) for each in names]
    function.param_decls = None
    return function


def _undeclared(name: str, function: c_ast.FuncDef) -> c_ast.Decl:
    return c_ast.Decl(name, [], [], [], [], declarator(name, INT), None, None, function.coord)
