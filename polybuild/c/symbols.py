"""The names that C code can use at one point of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from pycparser import c_ast

from polybuild.c.declarations import Scope
from polybuild.c.types import Type
from polybuild.values import dataclass


class StorageClass(Enum):
    """Where a variable lives, seen from the region that uses it."""

    PARAMETER = "parameter"  # of the enclosing function
    LOCAL = "local"  # automatic, in the enclosing function, outside the region
    STATIC = "static"  # static inside the enclosing function
    GLOBAL = "global"  # file scope, static or extern
    HOISTED = "hoisted"  # a table that the new text declares where the region starts

    @property
    def is_static(self) -> bool:
        """Whether such variables live as long as the program, so that called functions may change them."""
        return self in {StorageClass.STATIC, StorageClass.GLOBAL}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name visible where a region starts.

    ``declaration`` is the pycparser node; ``address_taken`` is true if ``&name``
    (or the decay of an array into a pointer, as a call's argument too) occurs in
    the function; ``volatile`` if that qualifier is anywhere in its type.

    A parameter declared ``double A[n][m]`` keeps its ``ArrayType``, outermost
    extent included, although C adjusts it to a pointer, unless the function lets it lead elsewhere;
    it may overlap other arrays unless ``restrict`` (``A[restrict n]``, ``*restrict A``). Extents are
    the expressions of the declaration; a variable in one may have changed since.
    ``thread_local`` objects differ from thread to thread. A ``table`` is an array that has the elements of
    its declaration for ever: nothing changes them. A variable that nobody declared stands for
    ``lvalue``, an object in memory: it begins with what is there, and what it ends with is stored there.
    The parameters ``distinct`` lead to other arrays in all calls. A pointer that nobody declared, and that
    nothing changes, stands for a ``cast``.
    """

    name: str
    type: Type
    storage: StorageClass
    declaration: c_ast.Node
    address_taken: bool = False
    volatile: bool = False
    restrict: bool = False
    thread_local: bool = False
    table: bool = False
    lvalue: c_ast.Node | None = None
    distinct: frozenset[str] = frozenset()
    cast: c_ast.Node | None = None


@dataclass(frozen=True, slots=True)
class VisibleNames:
    """Variables, functions, and the types and constants of ``scope``; inner declarations hide outer ones.

    ``functions`` maps the names of the functions whose declaration was seen to their types, ``macros``
    are the names that something is defined for anywhere in the file and in what it includes.
    """

    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    functions: Mapping[str, Type] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    macros: frozenset[str] = frozenset()

    def may_mean_something(self) -> frozenset[str]:
        """Every name that may mean something in the region: generated names have to be others."""
        return self.macros.union(self.symbols, self.functions, self.enumerators)

    @property
    def lvalues(self) -> Mapping[str, c_ast.Node]:
        """What variables that nobody declared stand for."""
        return {name: each.lvalue for name, each in self.symbols.items() if each.lvalue is not None}

    @property
    def enumerators(self) -> Mapping[str, int]:
        """The values of the enumeration constants."""
        return self.scope.enumerators
