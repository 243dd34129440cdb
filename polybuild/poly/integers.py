"""isl's integers as Python's."""

from __future__ import annotations

import islpy as isl


def integer_of(value: isl.Val) -> int:
    """The integer ``value``; islpy's ``to_python``, which goes by way of text, takes thirty times as long."""
    number = value.get_num_si()
    # of what does not fit isl makes zero
    return number if number or value.is_zero() else int(value.to_str())
