"""The few C helpers that generated code calls, put once at the top of a transformed file."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from polybuild.codegen.file.conversions import VectorConversion
from polybuild.codegen.file.hotness import CHANCE
from polybuild.codegen.file.hotness import DEFINITION as DEFINITION_OF_CHANCE
from polybuild.codegen.file.interleaved_loads import InterleavedLoad
from polybuild.codegen.file.lane_functions import HELPER, LaneFunction, lane_function
from polybuild.codegen.file.line_numbers import ONE_LINE
from polybuild.codegen.file.parts import PARTS, PARTS_DEFINITION
from polybuild.codegen.file.pointer_rows import DEFINITION as DEFINITION_OF_ROWS
from polybuild.codegen.file.pointer_rows import ROWS
from polybuild.codegen.file.row_transfers import RowTransfer
from polybuild.codegen.file.strips import STRIP, STRIP_DEFINITION
from polybuild.codegen.file.team import DEFINITION, DEFINITION_FOR, NOINLINE, TEAM, TEAM_FOR, THREAD, THREADS
from polybuild.codegen.file.vector_types import VectorType
from polybuild.values import dataclass

_FUNCTIONS = {
    "polybuild_min": "{ return a < b ? a : b; }",
    "polybuild_max": "{ return a > b ? a : b; }",
    # rounds towards minus infinity; b is a positive constant
    "polybuild_floordiv": "{ return a < 0 ? -((b - 1 - a) / b) : a / b; }",
}


# Minima and maxima of floating-point numbers: each part starts from the value that there is, and
# a value that is not a number stays out exactly where the loop itself leaves it out.
_COMBINATIONS = {
    "polybuild_lower": "omp_in < omp_out ? omp_in : omp_out",
    "polybuild_upper": "omp_in > omp_out ? omp_in : omp_out",
    "polybuild_fmin": "omp_in < omp_out || omp_out != omp_out ? omp_in : omp_out",
    "polybuild_fmax": "omp_in > omp_out || omp_out != omp_out ? omp_in : omp_out",
}

# Coverage is not asked for lines that no file has. What stands apart is not copied into its callers:
# with a long function in their midst compilers have fewer registers for loops.
_HELPER = f"""\
#ifndef {HELPER}
#ifdef __has_attribute
#if __has_attribute(no_profile_instrument_function)
#define {HELPER} static inline __attribute__((no_profile_instrument_function))
#define {NOINLINE} static __attribute__((noinline, unused, no_profile_instrument_function))
#endif
#endif
#ifndef {HELPER}
#define {HELPER} static inline
#define {NOINLINE} static __attribute__((noinline, unused))
#endif
#endif
"""

WIDEST = 64  # bytes
# clang takes vectors of 64 bytes apart where nothing but arithmetic asks for them: not so
# in a function that calls one with such a parameter
_WHOLE = """\
#if !defined __clang__ || !defined __AVX512F__
#define polybuild_whole_NAME(v) (v)
#elif !defined POLYBUILD_WHOLE_NAME
#define POLYBUILD_WHOLE_NAME
POLYBUILD_HELPER __attribute__((always_inline)) TYPE polybuild_whole_NAME(TYPE v) { return v; }
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

# how many threads run a parallel loop
_THREADS = """\
#ifdef _OPENMP
extern int omp_get_max_threads(void);
#define polybuild_threads() omp_get_max_threads()
#else
#define polybuild_threads() 1
#endif
"""
# which of them a thread is
_THREAD = """\
#ifdef _OPENMP
extern int omp_get_thread_num(void);
#define polybuild_thread() omp_get_thread_num()
#else
#define polybuild_thread() 0
#endif
"""

# clang warns of each loop that it has no vectors for: of ours, too, and with no place that can be silenced
_QUIET = """\
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
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
    "POLYBUILD_SIMD_IN": (
        "#define POLYBUILD_SIMD_IN(lanes) _Pragma(POLYBUILD_TEXT(omp simd simdlen(lanes)))\n",
        '#define POLYBUILD_SIMD_IN(lanes) _Pragma("GCC ivdep")\n',
        "#define POLYBUILD_SIMD_IN(lanes)\n",
    ),
}


@dataclass(frozen=True, slots=True)
class WholeVector:
    """The function that keeps clang from taking vectors of a ``type`` apart."""

    type: VectorType

    @property
    def name(self) -> str:
        """What the function is called in C."""
        return f"polybuild_whole_{self.type.suffix}"


Helper = str | VectorType | WholeVector | VectorConversion | LaneFunction | InterleavedLoad | RowTransfer
"""What generated code may need: a function or macro above by its name, or what vectors need."""


def prologue(helpers: AbstractSet[Helper]) -> str:
    """C text that defines ``helpers``, in a fixed order."""
    parts = [f"#define {ONE_LINE}(...) __VA_ARGS__\n"] if ONE_LINE in helpers else []
    if CHANCE in helpers:
        parts.append(DEFINITION_OF_CHANCE)
    if any(
        each in {*_FUNCTIONS, PARTS, TEAM, ROWS} or not isinstance(each, str | VectorType) for each in helpers
    ):
        parts.append(_HELPER)
    parts += [
        # Unity builds put several transformed files into one.
        f"#ifndef {name.upper()}\n#define {name.upper()}\n"
        f"{HELPER} long long {name}(long long a, long long b) {body}\n#endif\n"
        for name, body in _FUNCTIONS.items()
        if name in helpers
    ]
    vectors = (each for each in helpers if isinstance(each, VectorType))
    for vector in sorted(vectors, key=lambda each: each.name):
        parts.append(_vector_type(vector))
        if WholeVector(vector) in helpers:
            parts.append(_WHOLE.replace("TYPE", vector.name).replace("NAME", vector.suffix))
    conversions = (each for each in helpers if isinstance(each, VectorConversion))
    parts += [each.definition() for each in sorted(conversions, key=lambda each: each.name)]
    functions = (each for each in helpers if isinstance(each, LaneFunction))
    parts += [lane_function(each) for each in sorted(functions, key=lambda each: each.name)]
    loads = (each for each in helpers if isinstance(each, InterleavedLoad))
    parts += [each.definition() for each in sorted(loads, key=lambda each: each.name)]
    transfers = (each for each in helpers if isinstance(each, RowTransfer))
    parts += [each.definition() for each in sorted(transfers, key=lambda each: each.name)]
    parts.append(_directives(helpers))
    parts += [_combination(name, text) for name, text in _COMBINATIONS.items() if name in helpers]
    if "POLYBUILD_OMP_SELECT" in helpers:
        parts.append(_SELECT)
    if PARTS in helpers:
        parts.append(PARTS_DEFINITION)
    if STRIP in helpers:
        parts.append(STRIP_DEFINITION)
    if ROWS in helpers:
        parts.append(DEFINITION_OF_ROWS)
    if TEAM in helpers:
        parts.append(DEFINITION)
    if TEAM_FOR in helpers:
        parts.append(DEFINITION_FOR)
    if THREADS in helpers:
        parts.append(_THREADS)
    if THREAD in helpers:
        parts.append(_THREAD)
    return "".join(parts)


def _directives(helpers: AbstractSet[Helper]) -> str:
    """The macros among ``helpers`` that loops have directives from."""
    used = [macro for macro in _DIRECTIVES if macro in helpers]
    if not used:
        return ""
    openmp, gcc, others = (
        "".join(each) for each in zip(*(_DIRECTIVES[macro] for macro in used), strict=True)
    )
    text = "#define POLYBUILD_TEXT(...) #__VA_ARGS__\n" if used != ["POLYBUILD_SIMD"] else ""
    text += _QUIET
    between = f"#elif defined __GNUC__ && !defined __clang__\n{gcc}" if gcc != others else ""
    return f"#ifdef _OPENMP\n{text}{openmp}{between}#else\n{others}#endif\n"


def _combination(name: str, text: str) -> str:
    return (
        f"#ifndef {name.upper()}\n#define {name.upper()}\n"
        f"POLYBUILD_OMP(declare reduction({name} : float, double, long double : omp_out = {text})"
        " initializer(omp_priv = omp_orig))\n#endif\n"
    )


def _vector_type(vector: VectorType) -> str:
    """A vector that may lie anywhere its elements may, and the macro for that which starts at an element."""
    attributes = f"vector_size({vector.bytes}), aligned({vector.element_bytes}), may_alias"
    return (
        f"#ifndef {vector.macro}\n#define {vector.at('x')} (*({vector.name} *)&(x))\n"
        f"typedef {vector.element} {vector.name} __attribute__(({attributes}));\n#endif\n"
    )
