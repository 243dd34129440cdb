"""The few C helpers that generated code calls, put once at the top of a transformed file."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum

_FUNCTIONS = {
    "polybuild_min": "{ return a < b ? a : b; }",
    "polybuild_max": "{ return a > b ? a : b; }",
    # rounds towards minus infinity; b is a positive constant
    "polybuild_floordiv": "{ return a < 0 ? -((b - 1 - a) / b) : a / b; }",
}

_SIZES = {"float": 4, "double": 8, "int": 4, "long long": 8}

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


@dataclass(frozen=True, slots=True)
class VectorType:
    """A vector of ``lanes`` elements of type ``element``: "float", "double", "int" or "long long"."""

    element: str
    lanes: int

    @property
    def name(self) -> str:
        """What the type is called in C."""
        return f"polybuild_{self.element.split()[0]}{self.lanes}"

    @property
    def mask(self) -> VectorType:
        """The vector of integers that comparisons of two such vectors give."""
        return VectorType("int" if _SIZES[self.element] == _SIZES["int"] else "long long", self.lanes)

    @property
    def macro(self) -> str:
        """The macro for a vector in memory."""
        return f"POLYBUILD_{self.element[0].upper()}{self.lanes}"

    def at(self, place: str) -> str:
        """The vector that begins at the element ``place``, as C."""
        return f"{self.macro}({place})"


@dataclass(frozen=True, slots=True)
class WholeVector:
    """The function that keeps clang from taking vectors of a ``type`` apart."""

    type: VectorType

    @property
    def name(self) -> str:
        """What the function is called in C."""
        return f"polybuild_whole_{self.type.element}{self.type.lanes}"


class LaneFunctionKind(Enum):
    """What a function computes in each lane."""

    ALL = "all"  # the same scalar
    SELECT = "select"  # one of two values
    MAGNITUDE = "fabs"
    ROOT = "sqrt"  # with what the library does for negative operands


@dataclass(frozen=True, slots=True)
class LaneFunction:
    """A function of vectors of ``type``."""

    kind: LaneFunctionKind
    type: VectorType

    @property
    def name(self) -> str:
        """What the function is called in C."""
        return f"polybuild_{self.kind.value}_{self.type.element.split()[0]}{self.type.lanes}"


Helper = str | VectorType | WholeVector | LaneFunction
"""What generated code may need: a function or macro above by its name, or what vectors need."""


def prologue(helpers: AbstractSet[Helper]) -> str:
    """C text that defines ``helpers``, in a fixed order."""
    parts = [
        # Unity builds put several transformed files into one.
        f"#ifndef {name.upper()}\n#define {name.upper()}\n"
        f"static inline long long {name}(long long a, long long b) {body}\n#endif\n"
        for name, body in _FUNCTIONS.items()
        if name in helpers
    ]
    vectors = (each for each in helpers if isinstance(each, VectorType))
    for vector in sorted(vectors, key=lambda each: each.name):
        parts.append(_vector_type(vector))
        if WholeVector(vector) in helpers:
            suffix = f"{vector.element}{vector.lanes}"
            parts.append(_WHOLE.replace("TYPE", vector.name).replace("NAME", suffix))
    functions = (each for each in helpers if isinstance(each, LaneFunction))
    parts += [_lane_function(each) for each in sorted(functions, key=lambda each: each.name)]
    parts.append(_directives(helpers))
    parts += [_combination(name, text) for name, text in _COMBINATIONS.items() if name in helpers]
    if "POLYBUILD_OMP_SELECT" in helpers:
        parts.append(_SELECT)
    return "".join(parts)


def _lane_function(function: LaneFunction) -> str:
    """The definition of ``function``."""
    vector, name = function.type, function.name
    parameters, text = {
        LaneFunctionKind.ALL: _all_lanes,
        LaneFunctionKind.SELECT: _selected_lanes,
        LaneFunctionKind.MAGNITUDE: _magnitudes,
        LaneFunctionKind.ROOT: _roots,
    }[function.kind](vector)
    head = f"static inline __attribute__((always_inline)) {vector.name} {name}({parameters})"
    return f"#ifndef {name.upper()}\n#define {name.upper()}\n{head}\n{{\n{text}}}\n#endif\n"


def _all_lanes(vector: VectorType) -> tuple[str, str]:
    return f"{vector.element} x", f"  return ({vector.name}){{{', '.join(['x'] * vector.lanes)}}};\n"


def _selected_lanes(vector: VectorType) -> tuple[str, str]:
    mask, name = vector.mask.name, vector.name
    return f"{mask} m, {name} a, {name} b", f"  return ({name})((m & ({mask})a) | (~m & ({mask})b));\n"


def _magnitudes(vector: VectorType) -> tuple[str, str]:
    number = "0x7fffffff" if vector.mask.element == "int" else "0x7fffffffffffffffll"
    return f"{vector.name} x", f"  return ({vector.name})(({vector.mask.name})x & {number});\n"


# Square roots of vectors by the bytes of these: the macro that says that the machine has them, how gcc and
# clang call them, and what is zero unless a lane has its sign set. Other vectors take one lane after the other.
_ROOTS = {
    16: ("__SSE2__", "sqrtp@(v)", "sqrtp@(v)", "movmskp@(v)"),
    32: ("__AVX__", "sqrtp@256(v)", "sqrtp@256(v)", "movmskp@256(v)"),
    64: (
        "__AVX512F__",
        "sqrtp@512_mask(v, v, -1, 4)",
        "sqrtp@512(v, 4)",
        "cmpp@512_mask(v, (native){0}, 1, -1, 4)",
    ),
}
# Vectors do not set errno; lanes that have to are left to the library.
_ROOT = """\
  TYPE root = x;
  int left = 1;
#ifdef MACRO
  typedef ELEMENT native __attribute__((vector_size(SIZE)));
  const native v = (native)x;
#ifdef __NO_MATH_ERRNO__
  const int negative = 0;
#else
  const int negative = (int)SIGNS;
#endif
#ifndef __clang__
  root = (TYPE)GCC;
  left = negative;
#elif __has_builtin(CLANG_NAME)
  root = (TYPE)CLANG;
  left = negative;
#elif __has_builtin(__builtin_elementwise_sqrt)
  root = (TYPE)__builtin_elementwise_sqrt(v);
  left = negative;
#endif
#endif
  if (left)
    for (int lane = 0; lane < LANES; lane++)
      root[lane] = __builtin_FUNCTION(x[lane]);
  return root;
"""


def _roots(vector: VectorType) -> tuple[str, str]:
    single = vector.element == "float"
    size = vector.lanes * _SIZES[vector.element]
    macro, gcc, clang, signs = (each.replace("@", "s" if single else "d") for each in _ROOTS[size])
    words = {
        "CLANG_NAME": f"__builtin_ia32_{clang.partition('(')[0]}",
        "CLANG": f"__builtin_ia32_{clang}",
        "GCC": f"__builtin_ia32_{gcc}",
        "SIGNS": f"__builtin_ia32_{signs}",
        "MACRO": macro,
        "TYPE": vector.name,
        "ELEMENT": vector.element,
        "SIZE": str(size),
        "LANES": str(vector.lanes),
        "FUNCTION": "sqrtf" if single else "sqrt",
    }
    text = _ROOT
    for word, value in words.items():
        text = text.replace(word, value)
    return f"{vector.name} x", text


def _directives(helpers: AbstractSet[Helper]) -> str:
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


def _vector_type(vector: VectorType) -> str:
    """A vector that may lie anywhere its elements may, and the macro for that which starts at an element."""
    size = _SIZES[vector.element]
    attributes = f"vector_size({vector.lanes * size}), aligned({size}), may_alias"
    return (
        f"#ifndef {vector.macro}\n#define {vector.at('x')} (*({vector.name} *)&(x))\n"
        f"typedef {vector.element} {vector.name} __attribute__(({attributes}));\n#endif\n"
    )
