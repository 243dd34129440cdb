"""Functions that compute something in each lane of a vector, as loops in lanes call them."""

from __future__ import annotations

from enum import Enum

from polybuild.c.mathematics import ROOTS
from polybuild.codegen.file.vector_types import VectorType
from polybuild.values import dataclass

HELPER = "POLYBUILD_HELPER"
"""The macro that stands before the type of each function of ours."""


class LaneFunctionKind(Enum):
    """What a function computes in each lane."""

    ALL = "all"  # the same scalar
    SELECT = "select"  # one of two values
    MAGNITUDE = "fabs"
    ROOT = "sqrt"  # with what the library does for negative operands
    ANY = "any"  # whether a mask has a lane, as one number
    LOAD = "load"  # from memory in lanes of a mask, nothing in others
    STORE = "store"  # to memory in lanes of a mask


@dataclass(frozen=True, slots=True)
class LaneFunction:
    """A function of vectors of ``type``."""

    kind: LaneFunctionKind
    type: VectorType

    @property
    def name(self) -> str:
        """What the function is called in C."""
        return f"polybuild_{self.kind.value}_{self.type.element.split()[0]}{self.type.lanes}"


def lane_function(function: LaneFunction) -> str:
    """The definition of ``function``."""
    vector, name = function.type, function.name
    parameters, text = {
        LaneFunctionKind.ALL: _all_lanes,
        LaneFunctionKind.SELECT: _selected_lanes,
        LaneFunctionKind.MAGNITUDE: _magnitudes,
        LaneFunctionKind.ROOT: _roots,
        LaneFunctionKind.ANY: _any_lane,
        LaneFunctionKind.LOAD: _loaded_lanes,
        LaneFunctionKind.STORE: _stored_lanes,
    }[function.kind](vector)
    returned = {LaneFunctionKind.ANY: "int", LaneFunctionKind.STORE: "void"}.get(function.kind, vector.name)
    head = f"{HELPER} __attribute__((always_inline)) {returned} {name}({parameters})"
    return f"#ifndef {name.upper()}\n#define {name.upper()}\n{head}\n{{\n{text}}}\n#endif\n"


def _all_lanes(vector: VectorType) -> tuple[str, str]:
    return f"{vector.element} x", f"  return ({vector.name}){{{', '.join(['x'] * vector.lanes)}}};\n"


def _selected_lanes(vector: VectorType) -> tuple[str, str]:
    mask, name = vector.mask.name, vector.name
    return f"{mask} m, {name} a, {name} b", f"  return ({name})((m & ({mask})a) | (~m & ({mask})b));\n"


def _magnitudes(vector: VectorType) -> tuple[str, str]:
    number = "0x7fffffff" if vector.mask.element == "int" else "0x7fffffffffffffffll"
    return f"{vector.name} x", f"  return ({vector.name})(({vector.mask.name})x & {number});\n"


# What has a bit for each lane of a mask of so many bytes: the macro that says that the machine has it, the
# elements of its operand for lanes of 4 and of 8 bytes, and how gcc and clang call it for these.
_ANY = {
    16: ("__SSE2__", ("float", "double"), ("movmskps", "movmskpd")),
    32: ("__AVX__", ("float", "double"), ("movmskps256", "movmskpd256")),
    64: ("__AVX512DQ__", ("int", "long long"), ("cvtd2mask512", "cvtq2mask512")),
}
_ANY_LANE = """\
#if defined MACRO && defined __has_builtin
#if __has_builtin(__builtin_ia32_NAME)
  typedef ELEMENT native __attribute__((vector_size(SIZE)));
  return __builtin_ia32_NAME((native)m) != 0;
#else
  return (LANES) != 0;
#endif
#else
  return (LANES) != 0;
#endif
"""


def _any_lane(vector: VectorType) -> tuple[str, str]:
    macro, elements, names = _ANY[vector.bytes]
    wide = vector.mask.element != "int"
    words = {
        "MACRO": macro,
        "ELEMENT": elements[wide],
        "SIZE": str(vector.bytes),
        "LANES": " | ".join(f"m[{lane}]" for lane in range(vector.lanes)),
        "NAME": names[wide],
    }
    text = _ANY_LANE
    for word, value in words.items():
        text = text.replace(word, value)
    return f"{vector.mask.name} m", text


# What loads and stores some lanes of so many bytes: the macro that says that the machine has it, how gcc and
# clang call both, and what makes a mask of bits of lanes of 4 and of 8 bytes where that is needed.
_SOME = {
    16: ("__AVX__", "maskloadp@((const native *)p, m)", "maskstorep@((native *)p, m, (native)x)", ("", "")),
    32: (
        "__AVX__",
        "maskloadp@256((const native *)p, m)",
        "maskstorep@256((native *)p, m, (native)x)",
        ("", ""),
    ),
    64: (
        "__AVX512DQ__",
        "loadup@512_mask(p, (native){0}, bits)",
        "storeup@512_mask(p, (native)x, bits)",
        ("cvtd2mask512", "cvtq2mask512"),
    ),
}
# Where it has none, lanes that are left out access a variable: a choice of addresses takes no branch.
_SOME_LANES = """\
#if defined MACRO && defined __has_builtin
#if __has_builtin(__builtin_ia32_NAME)
#define POLYBUILD_DONE 1
  typedef ELEMENT native __attribute__((vector_size(SIZE)));
MASK  RETURN__builtin_ia32_CALL;
#endif
#endif
#ifndef POLYBUILD_DONE
#if SIZE == 16 && defined __SSE2__
  typedef ELEMENT native __attribute__((vector_size(SIZE)));
  const int bits = __builtin_ia32_MOVE((native)m);
#else
  const int bits = BITS;
#endif
  volatile ELEMENT none = 0;
  CONSTvolatile ELEMENT *const q = p;
LANES#endif
#undef POLYBUILD_DONE
"""


def _loaded_lanes(vector: VectorType) -> tuple[str, str]:
    lanes = ", ".join(f"*(bits & {1 << lane} ? q + {lane} : &none)" for lane in range(vector.lanes))
    text = _some_lanes(vector, f"  return ({vector.name}){{{lanes}}};\n", stores=False)
    return f"{vector.mask.name} m, const {vector.element} *p", text


def _stored_lanes(vector: VectorType) -> tuple[str, str]:
    lanes = (f"  *(bits & {1 << lane} ? q + {lane} : &none) = x[{lane}];\n" for lane in range(vector.lanes))
    text = _some_lanes(vector, "".join(lanes), stores=True)
    return f"{vector.mask.name} m, {vector.name} x, {vector.element} *p", text


def _some_lanes(vector: VectorType, lanes: str, *, stores: bool) -> str:
    """What loads or stores some lanes by the machine's own means, or by ``lanes``, one after the other."""
    wide = vector.mask.element != "int"
    macro, load, store, makers = _SOME[vector.bytes]
    call = (store if stores else load).replace("@", "d" if wide else "s")
    mask, own = ("unsigned char", "long long") if wide else ("unsigned short", "int")
    made = (
        f"  typedef {own} lanes __attribute__((vector_size({vector.bytes})));\n"
        f"  const {mask} bits = ({mask})__builtin_ia32_{makers[wide]}((lanes)m);\n"
    )
    words = {
        "MACRO": macro,
        "NAME": call.partition("(")[0],
        "MASK": made if makers[wide] else "",
        "RETURN": "" if stores else f"return ({vector.name})",
        "CALL": call,
        "MOVE": "movmskpd" if wide else "movmskps",
        "BITS": " | ".join(f"(m[{lane}] & {1 << lane})" for lane in range(vector.lanes)),
        "CONST": "" if stores else "const ",
        "LANES": lanes,
        "ELEMENT": vector.element,
        "SIZE": str(vector.bytes),
    }
    text = _SOME_LANES
    for word, value in words.items():
        text = text.replace(word, value)
    return text


# Square roots of vectors by the bytes of these: the macro that says that the machine has them, how gcc and
# clang call them, and what is zero unless a lane has its sign set. Others take one lane after the other.
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
    macro, gcc, clang, signs = (each.replace("@", "s" if single else "d") for each in _ROOTS[vector.bytes])
    words = {
        "CLANG_NAME": f"__builtin_ia32_{clang.partition('(')[0]}",
        "CLANG": f"__builtin_ia32_{clang}",
        "GCC": f"__builtin_ia32_{gcc}",
        "SIGNS": f"__builtin_ia32_{signs}",
        "MACRO": macro,
        "TYPE": vector.name,
        "ELEMENT": vector.element,
        "SIZE": str(vector.bytes),
        "LANES": str(vector.lanes),
        "FUNCTION": ROOTS[vector.element],
    }
    text = _ROOT
    for word, value in words.items():
        text = text.replace(word, value)
    return f"{vector.name} x", text
