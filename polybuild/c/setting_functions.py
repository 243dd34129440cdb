"""Functions of the C library that set what they get the address of, as what they compute (C17 7.12)."""

from __future__ import annotations

from collections.abc import Mapping

from polybuild.c.tokens import identifiers

_KINDS = {"": "double", "f": "float", "l": "long double"}

# What is infinite has no fraction but a zero of its sign; numbers that are none stay so, and are quiet.
_COMPUTED = {
    "modf": "REAL modfSUFFIX(REAL x, REAL *whole) { *whole = truncSUFFIX(x);"
    " return copysignSUFFIX(x - x == 0 ? x - *whole : x == x ? 0 : x + x, x); }",
    "sincos": "void sincosSUFFIX(REAL x, REAL *sine, REAL *cosine)"
    " { *sine = sinSUFFIX(x); *cosine = cosSUFFIX(x); }",
}
# Here it is only said what is set: no function that only computes is as fast.
_CALLED = {
    "frexp": "REAL frexpSUFFIX(REAL x, int *exponent) { *exponent = 0; return x; }",
    "remquo": "REAL remquoSUFFIX(REAL x, REAL y, int *quotient) { *quotient = 0; return x + y; }",
    "lgamma": "REAL lgammaSUFFIX_r(REAL x, int *sign) { *sign = 0; return x; }",
}
_PARAMETERS = frozenset({"x", "y", "whole", "sine", "cosine", "exponent", "quotient", "sign"})
_WORDS = frozenset({"double", "float", "int", "long", "return", "void"})


def _definitions(texts: Mapping[str, str], ending: str = "") -> Mapping[str, str]:
    return {
        name + suffix + (ending if name == "lgamma" else ""): text.replace("SUFFIX", suffix).replace(
            "REAL", kind
        )
        for name, text in texts.items()
        for suffix, kind in _KINDS.items()
    }


_COMPUTED_DEFINITIONS = _definitions(_COMPUTED)
_CALLED_DEFINITIONS = _definitions(_CALLED, "_r")


def setting_function(name: str) -> str | None:
    """The definition of the library's function ``name``, for what it sets; None if it has none."""
    return _COMPUTED_DEFINITIONS.get(name) or _CALLED_DEFINITIONS.get(name)


def stays_a_call(name: str) -> bool:
    """Whether the definition of ``name`` only says what it sets, not to what."""
    return name in _CALLED_DEFINITIONS


def computed_by(name: str) -> frozenset[str]:
    """The functions that the definition of ``name`` calls; empty if it has none."""
    text = setting_function(name)
    words = frozenset(identifiers(text)) if text is not None else frozenset[str]()
    return words - _PARAMETERS - _WORDS - {name}
