"""Conversions of vectors from one type of elements to another, each lane as C converts a number."""

from __future__ import annotations

from polybuild.codegen.file.lane_functions import HELPER
from polybuild.codegen.file.vector_types import VectorType
from polybuild.values import dataclass

_DOUBLES = "(double __attribute__((vector_size(64)))){0}"
_INTEGERS = "(long long __attribute__((vector_size(64)))){0}"
# What gcc's own __builtin_convertvector takes apart (until gcc 13): the macro of the target that has the
# instruction, and the built-in function for it.
_INSTRUCTIONS = {
    ("float", "double", 4): ("__AVX__", "__builtin_ia32_cvtps2pd256(v)"),
    ("float", "double", 8): ("__AVX512F__", f"__builtin_ia32_cvtps2pd512_mask(v, {_DOUBLES}, -1, 4)"),
    ("int", "double", 4): ("__AVX__", "__builtin_ia32_cvtdq2pd256(v)"),
    ("int", "double", 8): ("__AVX512F__", f"__builtin_ia32_cvtdq2pd512_mask(v, {_DOUBLES}, -1)"),
    ("int", "long long", 4): ("__AVX2__", "__builtin_ia32_pmovsxdq256(v)"),
    ("int", "long long", 8): (
        "__AVX512F__",
        f"__builtin_ia32_pmovsxdq512_mask(v, {_INTEGERS}, -1)",
    ),
}


@dataclass(frozen=True, slots=True)
class VectorConversion:
    """The conversion of vectors of type ``source`` to as many elements of type ``target``."""

    source: VectorType
    target: VectorType

    @property
    def name(self) -> str:
        """What the macro or function is called in C."""
        return f"polybuild_{self.target.suffix}_of_{self.source.suffix}"

    def of(self, vector: str) -> str:
        """The conversion of ``vector``, as C."""
        return f"{self.name}({vector})"

    def definition(self) -> str:
        """Its definition, behind those of its types."""
        plain = f"#define {self.name}(v) __builtin_convertvector(v, {self.target.name})\n"
        found = _INSTRUCTIONS.get((self.source.element, self.target.element, self.source.lanes))
        guard = self.name.upper()
        if found is None:
            return f"#ifndef {guard}\n#define {guard}\n{plain}#endif\n"
        target, call = found
        return (
            f"#ifndef {guard}\n#define {guard}\n"
            f"#if defined {target} && defined __GNUC__ && !defined __clang__\n"
            f"{HELPER} {self.target.name} {self.name}({self.source.name} v)"
            f" {{ return ({self.target.name}){call}; }}\n#else\n{plain}#endif\n#endif\n"
        )
