"""Numbers that the signed 64-bit integers of new loops cannot hold, as ``SIZE_MAX``.

No other value of a region is as large as these (``polybuild.c.conversions.limits``), which settles what
compares them with others; in sums that wrap around, ``SIZE_MAX`` is -1.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce

import islpy as isl

from polybuild.c.conversions import GREATEST
from polybuild.c.types import IntegerType
from polybuild.poly.integers import integer_of, value_of
from polybuild.values import dataclass

COMPARISONS: Mapping[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}
_OF_NUMBERS: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def compared(sign: str, left: isl.PwAff, right: isl.PwAff) -> isl.Set:
    """Where ``left`` compares like that with ``right``, both in the ranges of their types."""
    if not (_has_wide_numbers(left) or _has_wide_numbers(right)):
        return COMPARISONS[sign](left, right)
    found = isl.Set.empty(left.domain().get_space())
    for where, one in left.get_pieces():
        for there, other in right.get_pieces():
            both = where.intersect(there)
            settled = _settled(sign, one, other)
            if settled is None:
                both = both.intersect(COMPARISONS[sign](isl.PwAff.from_aff(one), isl.PwAff.from_aff(other)))
            found = found.union(both) if settled is not False else found
    return found.coalesce()


def _settled(sign: str, one: isl.Aff, other: isl.Aff) -> bool | None:
    """How a wide number compares with anything else; None where neither is one, or both are."""
    numbers = _number(one), _number(other)
    if numbers[1] == GREATEST and sign in {"<=", ">"}:
        return sign == "<="
    if numbers[0] == GREATEST and sign in {">=", "<"}:
        return sign == ">="
    wide = [number is not None and number > GREATEST for number in numbers]
    return None if wide[0] == wide[1] else _OF_NUMBERS[sign](*wide)


def near_zero(value: isl.PwAff, kind: IntegerType) -> isl.PwAff:
    """``value`` with others for wide numbers, which are the same to sums that wrap as ``kind`` does."""
    if kind.signed or not _has_wide_numbers(value):
        return value
    return _with_numbers(value, lambda number: number - (1 << kind.width) if number > GREATEST else number)


@dataclass(frozen=True, slots=True)
class WrappedParts:
    """The pieces of a value that are ``numbers``, in the range of their type, and the ``others``, if any."""

    numbers: isl.PwAff | None
    others: isl.PwAff | None

    def joined(self, others: isl.PwAff | None) -> isl.PwAff:
        """The value, with those ``others``."""
        parts = [each for each in (self.numbers, others) if each is not None]
        return reduce(isl.PwAff.union_add, parts)


def parts_of(value: isl.PwAff, kind: IntegerType) -> WrappedParts:
    """The parts of ``value``, right modulo ``2**width``: of numbers it is known what they wrap to."""
    pieces = value.get_pieces()
    numbers = [isl.PwAff.alloc(where, each) for where, each in pieces if _number(each) is not None]
    others = [isl.PwAff.alloc(where, each) for where, each in pieces if _number(each) is None]
    known = reduce(isl.PwAff.union_add, numbers) if numbers else None
    return WrappedParts(
        None if known is None else _with_numbers(known, lambda number: wrapped(number, kind)),
        reduce(isl.PwAff.union_add, others) if others else None,
    )


def wrapped(number: int, kind: IntegerType) -> int:
    """What ``number`` becomes when it is converted to ``kind``."""
    inside = number % (1 << kind.width)
    return inside - (1 << kind.width) if kind.signed and inside >> (kind.width - 1) else inside


def _with_numbers(value: isl.PwAff, change: Callable[[int], int]) -> isl.PwAff:
    pieces = []
    for where, each in value.get_pieces():
        number = _number(each)
        changed = each if number is None else each.set_constant_val(value_of(change(number)))
        pieces.append(isl.PwAff.alloc(where, changed))
    return reduce(isl.PwAff.union_add, pieces)


def _has_wide_numbers(value: isl.PwAff) -> bool:
    return any((_number(each) or 0) >= GREATEST for _, each in value.get_pieces())


def _number(value: isl.Aff) -> int | None:
    number = value.get_constant_val() if value.is_cst() else None
    return integer_of(number) if number is not None and number.is_int() else None
