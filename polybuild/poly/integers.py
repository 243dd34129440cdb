"""isl's integers as Python's, and the other way round."""

from __future__ import annotations

from functools import lru_cache

import islpy as isl


def integer_of(value: isl.Val) -> int:
    """The integer ``value``; islpy's ``to_python``, which goes by way of text, takes thirty times as long."""
    number = value.get_num_si()
    # of what does not fit isl makes zero
    return number if number or value.is_zero() else int(value.to_str())


@lru_cache(maxsize=1024)  # matrices have the same few numbers over and over
def value_of(number: int) -> isl.Val:
    """``number`` of any size for isl; islpy takes those alone as numbers that fit a ``long``."""
    fits = -(2**31) <= number < 2**31
    return isl.Val(number if fits else str(number))
