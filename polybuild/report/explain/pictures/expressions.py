"""isl's piecewise expressions as short text for people."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

_in, _param, _div = isl.dim_type.in_, isl.dim_type.param, isl.dim_type.div


def text_of(value: isl.PwAff, names: Sequence[str]) -> str:
    """``value`` with its domain's dimensions called ``names``; ``...`` where it has several pieces."""
    pieces: list[isl.Aff] = []
    value.coalesce().foreach_piece(lambda _, aff: pieces.append(aff))
    return _affine(pieces[0], names) if len(pieces) == 1 else "..."


def _affine(aff: isl.Aff, names: Sequence[str]) -> str:
    denominator = aff.get_denominator_val()
    whole = aff.scale_val(denominator)
    terms = [(whole.get_coefficient_val(_in, dim), name) for dim, name in enumerate(names)]
    terms += [
        (whole.get_coefficient_val(_param, dim), str(whole.get_dim_name(_param, dim)))
        for dim in range(whole.dim(_param))
    ]
    for dim in range(whole.dim(_div)):
        factor = whole.get_coefficient_val(_div, dim)
        if not factor.is_zero():
            terms.append((factor, f"floor({_affine(whole.get_div(dim), names)})"))
    terms.append((whole.get_constant_val(), ""))
    text = ""
    for factor, name in terms:
        if factor.is_zero():
            continue
        size = factor.abs()
        body = str(size) if not name else name if size.is_one() else f"{size}{name}"
        sign = "-" if factor.is_neg() else "+"
        text += f" {sign} {body}" if text else ("-" if sign == "-" else "") + body
    text = text or "0"
    if denominator.is_one():
        return text
    return f"({text})/{denominator}" if " " in text else f"{text}/{denominator}"
