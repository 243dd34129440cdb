"""Array contraction: storage mappings ``c -> A c mod s`` under which no needed value is overwritten.

Successive moduli after Lefebvre and Feautrier (1998, section 4), as the scalar promotion
report uses them (Sadler, Alias and Thievenaz 2021, section II-B): the modulus of the
first row of ``A`` is one more than the largest distance of two conflicting cells along it, so
cells that still share an element do not differ along it; the next row looks at these alone.
Rows other than the array's own dimensions are tried where they need less memory: a
diagonal front of an N x N array needs 2N cells by its dimensions, N + 1 by a diagonal.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import islpy as isl

from polybuild.effort import NOMINAL_SIZE
from polybuild.poly.integers import value_of
from polybuild.poly.relations import largest
from polybuild.values import dataclass

_set = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class StorageMapping:
    """Cell ``c`` of an array goes to ``(rows[k] . c) mod moduli[k]``.

    ``rows`` are integer vectors; there are none if one cell is enough. ``moduli`` are
    piecewise expressions ``{ [] -> [s] }`` of the parameters.
    """

    rows: tuple[tuple[int, ...], ...]
    moduli: tuple[isl.PwAff, ...]

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """The moduli, for any parameters; None for those that grow with parameters."""
        return tuple(_constant(each) for each in self.moduli)

    @property
    def footprint(self) -> int | None:
        """The number of cells, None if it depends on parameters."""
        sizes = self.sizes
        return None if None in sizes else math.prod(each for each in sizes if each is not None)


def contract(
    distances: isl.Set | None, dimensions: int, context: isl.Set, *, diagonals: bool = True
) -> list[StorageMapping]:
    """The smallest mappings found for an array of ``dimensions``; none if distances are not bounded.

    ``distances`` are the differences of cells that must not share memory (None if there are none);
    ``context`` holds what is known of the parameters. Without ``diagonals`` the rows are the array's
    own dimensions.
    """
    if distances is None:
        return [StorageMapping((), ())]
    # Without what only integer divisions say, as of tiles, there may be a few more, found much faster.
    distances = distances.intersect_params(context).remove_divs().coalesce()
    found = [
        mapping
        for rows in _bases(dimensions, diagonals=diagonals)
        if (mapping := _successive_moduli(distances, rows, context))
    ]
    minimum = min(map(_sample_size, found), default=0)
    return [each for each in found if _sample_size(each) == minimum]


def _bases(dimensions: int, *, diagonals: bool) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Sequences of rows to try: the dimensions in every order, then those with a diagonal first."""
    unit = [tuple(int(row == column) for column in range(dimensions)) for row in range(dimensions)]
    yield from itertools.permutations(unit)
    for diagonal in itertools.product((1, 0, -1), repeat=dimensions) if diagonals else ():
        if sum(map(abs, diagonal)) > 1 and next(filter(None, diagonal)) == 1:
            for others in itertools.permutations(unit, dimensions - 1):
                yield (diagonal, *others)


def _successive_moduli(
    distances: isl.Set, rows: tuple[tuple[int, ...], ...], context: isl.Set
) -> StorageMapping | None:
    """The moduli for ``rows``, as many as are needed; None if they have no bound or leave cells together."""
    used: list[tuple[int, ...]] = []
    moduli: list[isl.PwAff] = []
    for row in rows:
        if distances.is_empty():
            break
        distance = along(distances.get_space(), row)
        values = distances.apply(isl.Map.from_aff(distance))
        if not values.dim_has_any_upper_bound(_set, 0):
            return None
        largest = values.dim_max(0)
        # for the parameters that are left it is an integer: isl forgets that where it simplifies
        modulus = largest.add_constant_val(isl.Val(1)).coalesce().gist_params(context).floor()
        used.append(row)
        moduli.append(modulus)
        distances = distances.intersect(isl.Set.from_basic_set(distance.zero_basic_set())).coalesce()
    if not distances.is_empty():
        return None
    return _without_ones(used, moduli)


def _without_ones(rows: list[tuple[int, ...]], moduli: list[isl.PwAff]) -> StorageMapping:
    """The mapping without rows along which all cells share an element, in the order of the dimensions.

    So neighbours in the array stay neighbours.
    """
    kept = [index for index, each in enumerate(moduli) if _constant(each) != 1]
    kept.sort(key=lambda index: max(place for place, each in enumerate(rows[index]) if each))
    return StorageMapping(tuple(rows[each] for each in kept), tuple(moduli[each] for each in kept))


def along(space: isl.Space, row: tuple[int, ...]) -> isl.Aff:
    """``row . c`` of a cell, or of a distance, in ``space``."""
    local = isl.LocalSpace.from_space(space)
    value = isl.Aff.zero_on_domain(local)
    for position, coefficient in enumerate(row):
        value = value.add(isl.Aff.var_on_domain(local, _set, position).scale_val(value_of(coefficient)))
    return value


def _sample_size(mapping: StorageMapping) -> int:
    """The number of cells if every parameter is large."""
    return math.prod(_at_sample(each) for each in mapping.moduli)


def _at_sample(modulus: isl.PwAff) -> int:
    domain = modulus.domain()
    for position in range(domain.dim(isl.dim_type.param)):
        domain = domain.fix_val(isl.dim_type.param, position, isl.Val(NOMINAL_SIZE))
    value = largest(modulus.intersect_params(domain.params())) if not domain.is_empty() else isl.Val(1)
    return int(value.to_python())


def _constant(modulus: isl.PwAff) -> int | None:
    """The largest value of a modulus, None if it grows with a parameter."""
    maximum = largest(modulus)
    return int(maximum.to_python()) if maximum.is_int() else None
