"""The styles: each a few passes over a kernel's loops, and a way to write elements.

All styles of one order compute the same floating-point operations in the same order, so that results are
equal to the bit. A style that leaves a kernel's text as another one has it is none of its styles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.styles import legacy_styles as legacy
from benchmarks.styles import loop_styles as loops
from benchmarks.styles import pointer_styles as pointers
from benchmarks.styles import sum_styles as sums
from benchmarks.styles.addressing import ADDRESSING, functions
from benchmarks.styles.loop_styles import Pass
from benchmarks.styles.tree import Kernel, innermost


@dataclass(frozen=True, slots=True)
class Style:
    """``order`` names the order of floating-point operations where it is not the kernel's own."""

    passes: tuple[Pass, ...] = ()
    addressing: str = "nested"
    order: str = ""


_UNROLLED = loops.unrolled(2, "own")
_WALKING = pointers.walking(inline=False)
_PACED = pointers.walking(inline=True)
_TWO = sums.two_sums(apart=False)
_DOWN = loops.written_as("down", where=loops.in_any_order)
_JUMPS = loops.written_as("jumps", where=innermost)
_WHILE = loops.written_as("while")

STYLES: Mapping[str, Style] = {
    "inside": Style(),
    "elements": Style((sums.in_elements,)),
    "outside": Style((sums.outside,)),
    "written-out": Style((loops.written_out,)),
    "steps": Style((loops.in_steps,)),
    "while": Style((_WHILE,)),
    "do": Style((loops.written_as("do"),)),
    "downwards": Style((_DOWN,)),
    "down-before": Style((loops.written_as("down-before", where=loops.in_any_order),)),
    "up-to": Style((loops.written_as("up-to"),)),
    "unsigned": Style((loops.written_as("for", "unsigned"),)),
    "long": Style((loops.written_as("for", "long"),)),
    "size_t": Style((loops.written_as("for", "size_t"),)),
    "swapped": Style((loops.swapped,)),
    "blocks": Style((loops.blocked,)),
    "split": Style((sums.in_elements, loops.split)),
    "split-blocks": Style((sums.in_elements, loops.split, loops.all_blocked)),
    "rows": Style((sums.in_elements, sums.rows)),
    "hoisted": Style((sums.in_elements, sums.rows, loops.hoisted())),
    "hoisted-negative": Style((sums.in_elements, sums.rows, loops.hoisted(negative=True))),
    "row-buffer": Style((sums.row_buffers,)),
    "packed": Style((sums.packed,)),
    "transposed": Style((sums.transposed,)),
    "unrolled-2": Style((_UNROLLED,)),
    "unrolled-4": Style((loops.unrolled(4, "shared"),)),
    "odd": Style((loops.unrolled(2, "odd"),)),
    "jammed": Style((loops.jammed,)),
    "peeled": Style((loops.peeled(last=False),)),
    "peeled-last": Style((loops.peeled(last=True),)),
    "started": Style((loops.started,)),
    "function": Style((sums.by_functions,)),
    "row-function": Style((pointers.row_pointers, sums.by_functions)),
    "row-pointers": Style((pointers.row_pointers,)),
    "walking": Style((_WALKING,)),
    "walking-at-once": Style((_PACED,)),
    "pointers-to-rows": Style(addressing="rows"),
    "view": Style(addressing="view"),
    "flat": Style(addressing="flat"),
    "macro": Style(addressing="macro"),
    "wide-macro": Style(addressing="wide-macro"),
    "leading": Style(addressing="leading"),
    "struct": Style(addressing="struct"),
    "struct-pointer": Style(addressing="struct-pointer"),
    "globals": Style(addressing="globals"),
    "flat-blocks": Style((loops.blocked,), "flat"),
    "flat-size_t": Style((loops.written_as("for", "size_t"),), "flat"),
    "flat-walking": Style((_PACED,), "flat"),
    "flat-row-pointers": Style((pointers.row_pointers,), "flat"),
    "flat-rows": Style((sums.in_elements, sums.rows), "flat"),
    "macro-unrolled": Style((_UNROLLED,), "macro"),
    "struct-while": Style((_WHILE,), "struct-pointer"),
    "outside-downwards": Style((sums.outside, _DOWN)),
    "unrolled-blocks": Style((_UNROLLED, loops.blocked)),
    "globals-outside": Style((sums.outside,), "globals"),
    "row-pointers-unrolled": Style((_UNROLLED, pointers.row_pointers)),
    "elements-unrolled": Style((sums.in_elements, _UNROLLED)),
    "jammed-row-pointers": Style((loops.jammed, pointers.row_pointers), "flat"),
    "from-one": Style((loops.from_one,)),
    "unequal": Style((loops.written_as("unequal"),)),
    "step-before": Style((loops.written_as("before"),)),
    "endless": Style((loops.written_as("endless"),)),
    "endless-last": Style((loops.written_as("left"),)),
    "jumps": Style((_JUMPS,)),
    "all-jumps": Style((loops.written_as("jumps"),)),
    "headers": Style((legacy.in_headers,)),
    "declared-first": Style((legacy.declared_first(),)),
    "register": Style((_PACED, legacy.declared_first(register=True))),
    "mixed-counters": Style((legacy.mixed_counters,)),
    "remainder-first": Style((legacy.remainder_first(cases=False),)),
    "cases-first": Style((legacy.remainder_first(cases=True),)),
    "into-pointers": Style((legacy.into_pointers,)),
    "out-parameters": Style((legacy.out_parameters,)),
    "flag": Style((legacy.flagged,)),
    "set-in-loop": Style((legacy.set_in_loops,)),
    "stored-in-loop": Style((legacy.stored_in_loops,)),
    "small-arrays": Style((legacy.in_small_arrays,)),
    "one-loop": Style((legacy.in_one_loop,), "flat"),
    "counted-down": Style((pointers.counted_down,)),
    "to-pointer": Style((pointers.up_to_pointers,), "flat"),
    "numbered": Style((pointers.numbered,), "flat"),
    "one-based": Style((loops.from_one,), "one-based"),
    "fortran": Style((loops.from_one, legacy.declared_first()), "fortran"),
    "translated": Style((loops.from_one, legacy.named_bounds, legacy.declared_first()), "shifted"),
    "tables": Style(addressing="tables"),
    "task": Style(addressing="task"),
    "getters": Style(addressing="getters"),
    "task-size_t": Style((loops.written_as("for", "size_t"),), "task"),
    "two-sums": Style((_TWO,), order="two sums"),
    "even-odd": Style((sums.two_sums(apart=True),), order="two sums"),
    "flat-two-sums": Style((_TWO,), "flat", order="two sums"),
    "outside-two-sums": Style((_TWO, sums.outside), order="two sums"),
}


def styled(kernel: Kernel) -> dict[str, tuple[Kernel, str]]:
    """Each style of ``kernel``: what it computes then, and its C functions, the last called ``run_STYLE``."""
    found: dict[str, tuple[Kernel, str]] = {}
    seen: set[str] = set()
    for name, style in STYLES.items():
        if name in kernel.unsuited:
            continue
        changed = kernel
        for each in style.passes:
            changed = each(changed)
        text = functions(changed, ADDRESSING[style.addressing], "run_" + name.replace("-", "_"))
        plain = functions(changed, ADDRESSING[style.addressing], "run")
        if plain not in seen:
            seen.add(plain)
            found[name] = changed, text
    return found
