"""Functions of the C library that are operations of vectors, too, by the type they work on (C17 7.12)."""

ROOTS = {"float": "sqrtf", "double": "sqrt"}
MAGNITUDES = {"float": "fabsf", "double": "fabs"}

_PLAIN = ("ceil", "copysign", "floor", "fma", "nearbyint", "rint", "trunc")
VECTORISED = frozenset(
    [*ROOTS.values(), *MAGNITUDES.values(), *(f"{name}{suffix}" for name in _PLAIN for suffix in ("", "f"))]
)
"""Those that compilers compute with operations of vectors, whatever they must keep of floating point."""
