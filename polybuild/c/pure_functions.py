"""Functions of the C library and of compilers that compute a value and do nothing else (C17 7.12, 7.3)."""

from __future__ import annotations

from polybuild.c.bit_functions import is_bit_function

_REAL = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
    fabs fdim floor fma fmax fmin fmod hypot ilogb ldexp llrint llround log log10 log1p log2 logb
    lrint lround nearbyint nextafter nexttoward pow remainder rint round roundeven scalbln scalbn sin sinh
    sqrt tan tanh tgamma trunc
    cabs carg cexp cimag clog conj cpow creal csqrt"""
_PURE = frozenset(name + suffix for name in _REAL.split() for suffix in ("", "f", "l")) | {
    "abs", "labs", "llabs", "isnan", "isinf", "isinf_sign", "isfinite", "fpclassify", "isnormal", "signbit",
    "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered",
}  # fmt: skip
_CONSTANTS = frozenset(
    name + suffix
    for name in ("__builtin_inf", "__builtin_huge_val", "__builtin_nan", "nan")
    for suffix in ("", "f", "l")
)
"""What the macros ``INFINITY``, ``HUGE_VAL`` and ``NAN`` of ``math.h`` are, and ``nan("")``."""


def is_pure_function(name: str) -> bool:
    """Whether the library's or compiler's function of this name computes a value and does nothing else."""
    return name.removeprefix("__builtin_") in _PURE or name in _CONSTANTS or is_bit_function(name)
