"""Elements of views: rows are our own reading of an array that C reaches by one flat subscript.

Beyond the end of a row of a view lies the next one, so the relation of an access that may leave its row has
pieces::

    r[y * w + x + d]   is   r[y][x + d]           where 0 <= x + d < w
                            r[y + 1][x + d - w]   beyond
                            r[y - 1][x + d + w]   before

All of them are one address, ``w * y + x + d``.
"""

from __future__ import annotations

import islpy as isl

from polybuild.poly.memory import Itself, remembered
from polybuild.scop.model import Access, Array

_in, _param = isl.dim_type.in_, isl.dim_type.param


def element_of(access: Access) -> isl.PwMultiAff:
    """The element of ``access``, of which there is one, in one piece where that is its address."""
    return _element(access.relation, Itself(access.array))


def subscripts_of(access: Access) -> tuple[isl.PwAff, ...]:
    """The subscripts of ``element_of`` an ``access``, each in as few pieces as it has by itself."""
    return _subscripts(access.relation, Itself(access.array))


@remembered  # statements stand at several places of generated code
def _element(relation: isl.Map, array: Itself[Array]) -> isl.PwMultiAff:
    return in_one_piece(isl.PwMultiAff.from_map(relation), array.value)


@remembered
def _subscripts(relation: isl.Map, array: Itself[Array]) -> tuple[isl.PwAff, ...]:
    element = _element(relation, array)
    return tuple(element.get_pw_aff(dim).coalesce() for dim in range(element.dim(isl.dim_type.out)))


def in_one_piece(element: isl.PwMultiAff, array: Array) -> isl.PwMultiAff:
    """``element`` of ``array`` by one of its pieces, wherever all of them are the same address.

    Its subscripts may be beyond those of the rows they name; ``element`` itself where addresses differ.
    """
    if array.flat < 2 or element.n_piece() == 1:
        return element
    pieces: list[isl.MultiAff] = []
    element.foreach_piece(lambda _where, piece: pieces.append(piece))
    simplest = min(pieces, key=_parameters_of)
    if not all(_is_same_address(simplest, each, array) for each in pieces):
        return element
    return isl.PwMultiAff.alloc(element.domain(), simplest)


def _parameters_of(piece: isl.MultiAff) -> int:
    """How many subscripts of ``piece`` ask for parameters."""
    affine = (piece.get_aff(dim) for dim in range(piece.dim(isl.dim_type.out)))
    return sum(bool(each.involves_dims(_param, 0, each.dim(_param))) for each in affine)


def _is_same_address(one: isl.MultiAff, other: isl.MultiAff, array: Array) -> bool:
    """Whether the subscripts of ``one`` and ``other`` lead to the same element, by Horner's rule."""
    offsets = one.sub(other)
    carried = isl.PwAff.from_aff(isl.Aff.zero_on_domain_space(one.get_domain_space()))
    for dim in range(offsets.dim(isl.dim_type.out)):
        difference = isl.PwAff.from_aff(offsets.get_aff(dim))
        if dim not in array.view[1:]:
            if not carried.plain_is_equal(_zero(carried)):
                return False
            carried = difference
            continue
        size = array.extents[dim]
        if size is None or not carried.is_cst():
            return False
        size = size.add_dims(_in, one.dim(_in)).set_tuple_id(_in, one.get_tuple_id(_in))
        carried = carried.mul(size).add(difference).coalesce()
    return bool(carried.is_equal(_zero(carried)))


def _zero(like: isl.PwAff) -> isl.PwAff:
    return isl.PwAff.from_aff(isl.Aff.zero_on_domain_space(like.get_domain_space()))
