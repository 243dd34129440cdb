"""What is known of the machine that the compiler's flags describe: its vectors and its caches."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from polybuild.options import USUAL_L1, USUAL_L2, Options

_USUAL_VECTOR = 16
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def with_machine(options: Options, macros: AbstractSet[str], flags: AbstractSet[str]) -> Options:
    """``options`` with what they leave open of the machine.

    ``macros`` are the names of the compiler's predefined macros. Caches that are not given
    are those of this machine where ``flags`` say that the code is for it. A compiler that does not
    optimise uses no vectors, but every variable saves it the way to an element.
    """
    unoptimised = macros and "__OPTIMIZE__" not in macros
    caches = _caches(_CACHES) if flags & {"-march=native", "-mcpu=native"} else {}
    return replace(
        options,
        allow_reassociation=options.allow_reassociation or _reassociates(macros, flags),
        contract_arrays="copies"
        if unoptimised and options.contract_arrays == "auto"
        else options.contract_arrays,
        vector_size=options.vector_size or _vector_size(macros, flags),
        l1_size=options.l1_size if options.l1_size != USUAL_L1 else caches.get(1, USUAL_L1),
        l2_size=options.l2_size if options.l2_size != USUAL_L2 else caches.get(2, USUAL_L2),
    )


def _reassociates(macros: AbstractSet[str], flags: AbstractSet[str]) -> bool:
    """Whether the compiler itself may change the order of floating-point operations.

    gcc says so in a macro, and needs signed zeros and traps out of the way for it. clang only
    tells that everything is allowed; it has the same rule.
    """
    if "__FAST_MATH__" in macros or "__ASSOCIATIVE_MATH__" in macros:
        # what fast means may have been taken back in part
        return "__ASSOCIATIVE_MATH__" in macros or "-fno-associative-math" not in flags
    wanted = {"-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"}
    return "__clang__" in macros and wanted <= flags


def _vector_size(macros: AbstractSet[str], flags: AbstractSet[str]) -> int:
    """The widest vectors that the compiler may use, in bytes."""
    if "__AVX512F__" in macros and "-mprefer-vector-width=256" not in flags:
        return 64
    return 32 if "__AVX__" in macros else _USUAL_VECTOR


def _caches(folder: Path) -> dict[int, int]:
    """Level to size in bytes of the data caches that Linux lists in ``folder``, as far as it does."""
    found: dict[int, int] = {}
    for each in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((each / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        match = re.fullmatch(r"(\d+)K", size)
        if kind != "Instruction" and level.isdigit() and match and int(match[1]) > 0:
            found[int(level)] = int(match[1]) * 1024
    return found
