"""What the build's compiler may do with a file, read from its predefined macros and its flags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from polybuild.context import CompilerRules, Masks, VectorRules


def compiler_rules(macros: AbstractSet[str], flags: Sequence[str]) -> CompilerRules:
    """The rules for a file compiled with ``flags``.

    ``macros`` are the names of the compiler's predefined macros; without any it is taken to optimise.
    """
    return CompilerRules(
        optimises=not macros or "__OPTIMIZE__" in macros,
        may_reassociate=_may_reassociate(macros, frozenset(flags)),
        may_contract=_may_contract(flags),
        strict_aliasing=_has_strict_aliasing(flags),
        # gcc's max-completely-peeled-insns and clang's unroll-threshold
        unrolled_instructions=300 if "__clang__" in macros else 200,
        vectors=_vectors(macros, flags),
    )


def _vectors(macros: AbstractSet[str], flags: Sequence[str]) -> VectorRules:
    clang = "__clang__" in macros
    return VectorRules(
        # gcc's vect-max-version-for-alias-checks and clang's runtime-memory-check-threshold
        compared_pairs=8 if clang else 10,
        outer_lanes=not clang,
        speculates=clang or "__NO_TRAPPING_MATH__" in macros,
        masks=_masks(macros),
        backwards=clang,
        folds=not clang,
        widens=not clang,
        tries_strides=not clang and _tries_strides(flags),
        sums=clang or _is_thorough(flags),
    )


def _tries_strides(flags: Sequence[str]) -> bool:
    """Whether gcc has a second loop for strides of one element: with ``-O3``, or where it is asked to."""
    asked = [each for each in flags if each.endswith("version-loops-for-strides")]
    return asked[-1] == "-fversion-loops-for-strides" if asked else _is_thorough(flags)


def _is_thorough(flags: Sequence[str]) -> bool:
    """Whether gcc optimises as well as it can: at lower levels vectors have to cost next to nothing."""
    levels = [each for each in flags if each.startswith("-O")]
    return bool(levels) and levels[-1] in {"-O3", "-Ofast"}


def _masks(macros: AbstractSet[str]) -> Masks:
    """What the vectors that the compiler may use have masks for; without any macros, all."""
    if not macros or "__AVX512F__" in macros:
        return Masks.ARITHMETIC
    return Masks.MEMORY if "__AVX__" in macros else Masks.NONE


def _may_reassociate(macros: AbstractSet[str], flags: AbstractSet[str]) -> bool:
    """Whether the compiler itself may change the order of floating-point operations.

    gcc says so in a macro, and needs signed zeros and traps out of the way for it. clang only
    tells that everything is allowed; it has the same rule.
    """
    if "__FAST_MATH__" in macros or "__ASSOCIATIVE_MATH__" in macros:
        # what fast means may have been taken back in part
        return "__ASSOCIATIVE_MATH__" in macros or "-fno-associative-math" not in flags
    wanted = {"-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"}
    return "__clang__" in macros and wanted <= flags


def _may_contract(flags: Sequence[str]) -> bool:
    """Whether ``flags`` let the C compiler fuse a product and a sum, as gcc and clang read them."""
    contract = True
    for flag in flags:
        if flag.startswith("-ffp-contract="):
            contract = flag != "-ffp-contract=off"
        elif re.fullmatch(r"-std=(c|iso)\d.*|-ansi", flag):
            contract = False
    return contract


def _has_strict_aliasing(flags: Sequence[str]) -> bool:
    """Whether the compiler may rely on C's rules of effective types."""
    told = [flag for flag in flags if flag in {"-fstrict-aliasing", "-fno-strict-aliasing"}]
    return not told or told[-1] == "-fstrict-aliasing"
