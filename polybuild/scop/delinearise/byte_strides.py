"""Strides that a program has in bytes, as arrays of Python do: ``data + i * strides[0] + j * strides[1]``.

Elements nearly always lie side by side along the last axis: its stride is 1 element then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import walk
from polybuild.c.synthetic import Quotient
from polybuild.poly import spaces
from polybuild.scop.delinearise.polynomials import Polynomial
from polybuild.scop.model import Parameter


def axes(parameters: Mapping[str, Parameter]) -> list[str]:
    """Those of the ``parameters`` that are strides in bytes, by elements: outer axes first.

    Axes have numbers, or the order in which their strides are written.
    """
    found = [name for name, each in parameters.items() if isinstance(each.expression, Quotient)]
    return sorted(found, key=lambda name: _axis(parameters[name].expression.left))


def _axis(stride: c_ast.Node) -> int:
    subscripts = (each.subscript for each in walk(stride) if isinstance(each, c_ast.ArrayRef))
    numbers = (integer_value(each.value) for each in subscripts if isinstance(each, c_ast.Constant))
    return next(numbers, 0) or 0


def last_axis(polynomials: Sequence[Polynomial], order: Sequence[str]) -> str | None:
    """The stride of the last axis of an array with these subscripts; ``order`` is that of all axes.

    None where counters count elements, or multiply anything but strides in bytes, and where there are several
    numbers at each place.
    """
    terms = [(key, value) for each in polynomials for key, value in each.expanded().terms.items()]
    atoms = {form.atom for key, _ in terms for form in key}
    counted = {key for key, value in terms if spaces.constant_value(value) is None}
    numbers = {spaces.constant_value(value) for key, value in terms if not key}
    numbers |= {0 for each in polynomials if () not in each.expanded().terms}
    if len(numbers) > 1:
        return None
    if any(len(key) != 1 or key[0].atom not in order for key in counted):
        return None
    strides = [each for each in order if each in atoms]
    return strides[-1] if strides else None
