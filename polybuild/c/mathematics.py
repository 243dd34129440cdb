"""Functions of the C library that are operations of vectors, too, by the type they work on (C17 7.12)."""

ROOTS = {"float": "sqrtf", "double": "sqrt"}
MAGNITUDES = {"float": "fabsf", "double": "fabs"}
