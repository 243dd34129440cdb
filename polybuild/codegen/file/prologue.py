"""The few C helpers that generated code calls, put once at the top of a transformed file."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

_FUNCTIONS = {
    "polybuild_min": "{ return a < b ? a : b; }",
    "polybuild_max": "{ return a > b ? a : b; }",
    # rounds towards minus infinity; b is a positive constant
    "polybuild_floordiv": "{ return a < 0 ? -((b - 1 - a) / b) : a / b; }",
}

_SIZES = {"float": 4, "double": 8}

# Minima and maxima of floating-point numbers: each part starts from the value that there is, and
# a value that is not a number stays out exactly where the loop itself leaves it out.
_COMBINATIONS = {
    "polybuild_lower": "omp_in < omp_out ? omp_in : omp_out",
    "polybuild_upper": "omp_in > omp_out ? omp_in : omp_out",
    "polybuild_fmin": "omp_in < omp_out || omp_out != omp_out ? omp_in : omp_out",
    "polybuild_fmax": "omp_in > omp_out || omp_out != omp_out ? omp_in : omp_out",
}

WIDEST = 64  # bytes
# clang takes vectors of 64 bytes apart where nothing but arithmetic asks for them: not so
# in a function that calls one with such a parameter
_WHOLE = """\
#if !defined __clang__ || !defined __AVX512F__
#define polybuild_whole_NAME(v) (v)
#elif !defined POLYBUILD_WHOLE_NAME
#define POLYBUILD_WHOLE_NAME
static inline __attribute__((always_inline)) TYPE polybuild_whole_NAME(TYPE v) { return v; }
#endif
"""

# clang has no vectors for minima and maxima of our own, and warns that it has none
_SELECT = """\
#if defined _OPENMP && !defined __clang__
#define POLYBUILD_OMP_SELECT(...) POLYBUILD_OMP(__VA_ARGS__)
#else
#define POLYBUILD_OMP_SELECT(...)
#endif
"""

# What the macros of directives are with OpenMP, with gcc alone, and with any other compiler.
_DIRECTIVES = {
    "POLYBUILD_OMP": (
        "#define POLYBUILD_OMP(...) _Pragma(POLYBUILD_TEXT(omp __VA_ARGS__))\n",
        "#define POLYBUILD_OMP(...)\n",
        "#define POLYBUILD_OMP(...)\n",
    ),
    "POLYBUILD_SIMD": (
        '#define POLYBUILD_SIMD _Pragma("omp simd")\n',
        '#define POLYBUILD_SIMD _Pragma("GCC ivdep")\n',
        "#define POLYBUILD_SIMD\n",
    ),
}


def prologue(helpers: AbstractSet[str]) -> str:
    """C text that defines ``helpers`` (names of functions and macros above), in a fixed order."""
    parts = [
        # Unity builds put several transformed files into one.
        f"#ifndef {name.upper()}\n#define {name.upper()}\n"
        f"static inline long long {name}(long long a, long long b) {body}\n#endif\n"
        for name, body in _FUNCTIONS.items()
        if name in helpers
    ]
    vectors = re.compile(r"polybuild_(float|double)(\d+)")
    for name, match in ((each, vectors.fullmatch(each)) for each in sorted(helpers)):
        if match is not None:
            parts.append(_vector_type(name, match[1], int(match[2])))
            if f"polybuild_whole_{match[1]}{match[2]}" in helpers:
                parts.append(_WHOLE.replace("TYPE", name).replace("NAME", f"{match[1]}{match[2]}"))
    parts.append(_directives(helpers))
    parts += [_combination(name, text) for name, text in _COMBINATIONS.items() if name in helpers]
    if "POLYBUILD_OMP_SELECT" in helpers:
        parts.append(_SELECT)
    return "".join(parts)


def _directives(helpers: AbstractSet[str]) -> str:
    """The macros among ``helpers`` that loops have directives from."""
    used = [macro for macro in ("POLYBUILD_OMP", "POLYBUILD_SIMD") if macro in helpers]
    if not used:
        return ""
    openmp, gcc, others = (
        "".join(each) for each in zip(*(_DIRECTIVES[macro] for macro in used), strict=True)
    )
    text = "#define POLYBUILD_TEXT(...) #__VA_ARGS__\n" if "POLYBUILD_OMP" in used else ""
    between = f"#elif defined __GNUC__ && !defined __clang__\n{gcc}" if gcc != others else ""
    return f"#ifdef _OPENMP\n{text}{openmp}{between}#else\n{others}#endif\n"


def _combination(name: str, text: str) -> str:
    return (
        f"#ifndef {name.upper()}\n#define {name.upper()}\n"
        f"POLYBUILD_OMP(declare reduction({name} : float, double, long double : omp_out = {text})"
        " initializer(omp_priv = omp_orig))\n#endif\n"
    )


def vector_at(element: str, lanes: int, place: str) -> str:
    """The vector of ``lanes`` values of type ``element`` that begins at ``place``, as C."""
    return f"{_vector_macro(element, lanes)}({place})"


def _vector_macro(element: str, lanes: int) -> str:
    return f"POLYBUILD_{element[0].upper()}{lanes}"


def _vector_type(name: str, element: str, lanes: int) -> str:
    """A vector that may lie anywhere its elements may, and the macro for that which starts at an element."""
    size, macro = _SIZES[element], _vector_macro(element, lanes)
    attributes = f"vector_size({lanes * size}), aligned({size}), may_alias"
    return (
        f"#ifndef {macro}\n#define {vector_at(element, lanes, 'x')} (*({name} *)&(x))\n"
        f"typedef {element} {name} __attribute__(({attributes}));\n#endif\n"
    )
