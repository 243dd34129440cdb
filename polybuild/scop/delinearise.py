"""Flat subscripts: noted while a region is walked, then given a multi-dimensional view for each array.

The first walk over a region notes the first subscript of every access. If one
of them is flat, ``for_next_walk`` chooses the views, and a second walk reads those
subscripts by ``split``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import islpy as isl
from pycparser import c_ast

from polybuild.scop import spaces
from polybuild.scop.place import Place
from polybuild.scop.polynomials import Atoms, Polynomial, from_affine
from polybuild.scop.subscripts import FlatSubscript
from polybuild.scop.views import FlatAccess, Sizes, find_view, fitted, outside

# The declaration of a variable and the members below it.
Key = tuple[c_ast.Node, tuple[str, ...]]


@dataclass(slots=True)
class FlatSubscripts:
    """The first subscripts of one walk; ``views`` gives the inner sizes found by an earlier one."""

    views: Mapping[Key, Sizes] = field(default_factory=dict)
    atoms: Atoms = field(default_factory=Atoms)
    _met: dict[Key, list[FlatAccess]] = field(default_factory=dict)
    _flat: set[Key] = field(default_factory=set)

    def note(self, key: Key, subscript: isl.PwAff | FlatSubscript, place: Place) -> None:
        """Remember one access."""
        self._met.setdefault(key, []).append(FlatAccess(self._polynomial(subscript, place), place.domain))
        if isinstance(subscript, FlatSubscript):
            self._flat.add(key)

    def for_next_walk(self, known: isl.Set) -> FlatSubscripts | None:
        """With the views of the arrays that have flat subscripts; None if no array has a view.

        ``known`` holds the parameter values that can occur.
        """
        found: dict[Key, Sizes] = {}
        for key, accesses in self._met.items():
            if key in self._flat:
                view = find_view(accesses, self.atoms, known)
                if view is not None:
                    found[key] = view.sizes
        return FlatSubscripts(found, self.atoms) if found else None

    def split(
        self, key: Key, subscript: isl.PwAff | FlatSubscript, place: Place, known: isl.Set
    ) -> tuple[isl.PwAff, ...] | None:
        """The subscripts of the view of ``key``; None if they are not affine or never in range."""
        access = FlatAccess(self._polynomial(subscript, place), place.domain)
        return fitted(access, self.views[key], self.atoms, known)

    def extents(self, key: Key) -> tuple[isl.PwAff, ...]:
        """The inner extents of the view of ``key``; none if it has no view."""
        return tuple(self.atoms.value(size) for size in self.views.get(key, ()))

    def _polynomial(self, subscript: isl.PwAff | FlatSubscript, place: Place) -> Polynomial:
        if isinstance(subscript, FlatSubscript):
            return subscript.polynomial
        return from_affine(subscript, place.depth, self.atoms)


def bounds(subscript: isl.PwAff, extent: isl.PwAff, depth: int) -> Iterator[tuple[isl.Set, str]]:
    """Where an inner subscript leaves its extent, on either side, and what it must do."""
    below, above = outside(subscript, spaces.deepen(extent, depth))
    yield below, "must not be negative"
    yield above, "must be less than its extent"
