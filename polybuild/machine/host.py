"""The machine that the compiler's flags describe: its vectors, and where it is this one, caches and cores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from polybuild.machine.model import Machine, Origin

_PROCESSORS = Path("/sys/devices/system/cpu")
_DESCRIPTION = Path("/proc/cpuinfo")

# Macros of compilers for processors that multiply and add in one operation.
_FUSED = frozenset({"__FMA__", "__FP_FAST_FMA", "__ARM_FEATURE_FMA"})

# What is known of processors by their vendor, family and a feature, of which the first counts that they have:
# the pages of which the second data TLB keeps the translation (AMD, Software Optimization Guides, families
# 19h and 1Ah; Intel, Optimization Reference Manual, Golden Cove), and what --measure found of the core and
# its caches; of Intel's second cache what is left where results go back to it, too.
_FAMILIES: dict[tuple[str, str, str], dict[str, float]] = {
    ("AuthenticAMD", "25", "avx512f"): {
        "arithmetic.operation": 0.14,
        "arithmetic.access": 0.14,
        "arithmetic.divide": 1.2,
        "arithmetic.root": 2.3,
        "vector.gather": 0.15,
        "l1.bandwidth": 200.0,
        "l2.bandwidth": 100.0,
        "l3.bandwidth": 60.0,
        "memory.pages": 3072,
    },
    ("AuthenticAMD", "25", "avx2"): {
        "arithmetic.operation": 0.16,
        "arithmetic.sum_latency": 0.95,
        "arithmetic.access": 0.14,
        "arithmetic.divide": 1.5,
        "arithmetic.root": 3.0,
        "vector.gather": 0.2,
        "l1.bandwidth": 130.0,
        "l2.bandwidth": 75.0,
        "l3.bandwidth": 22.0,
        "memory.pages": 2048,
    },
    ("AuthenticAMD", "26", "avx512f"): {
        "arithmetic.operation": 0.12,
        "arithmetic.access": 0.09,
        "arithmetic.divide": 0.97,
        "arithmetic.root": 1.8,
        "vector.gather": 0.12,
        "l1.bandwidth": 500.0,
        "l2.bandwidth": 250.0,
        "l3.bandwidth": 100.0,
        "memory.pages": 4096,
    },
    ("GenuineIntel", "6", "avx512_fp16"): {
        "arithmetic.operation": 0.13,
        "arithmetic.sum_latency": 0.6,
        "arithmetic.access": 0.1,
        "arithmetic.divide": 1.0,
        "arithmetic.root": 1.2,
        "vector.gather": 0.22,
        "l1.bandwidth": 320.0,
        "l2.bandwidth": 120.0,
        "l3.bandwidth": 24.0,
        "memory.pages": 2048,
    },
}

# A last cache is shared by all guests of a host: measured with two processors of a host whose cache has
# 480 MiB, half of the bandwidth is left at twice this for each.
_GUEST_CACHE = 16 * 1024 * 1024


def find_machine(macros: AbstractSet[str], flags: AbstractSet[str]) -> Machine:
    """The machine that code is generated for.

    ``macros`` are the names of the compiler's predefined macros. Caches and cores are those of this
    machine where ``flags`` say that the code is for it, else those of a usual one.
    """
    machine = Machine().with_figures(_units(macros, flags), Origin.COMPILER)
    if flags & {"-march=native", "-mcpu=native"}:
        machine = machine.with_figures(host_figures(), Origin.HOST)
    return machine


def host_figures() -> dict[str, float]:
    """What Linux lists of this machine's caches and cores, by the figures' paths, as far as it does."""
    processor = _described(_DESCRIPTION)
    found = {**_caches(_PROCESSORS / "cpu0/cache"), **_cores(_PROCESSORS), **_family(processor)}
    if "hypervisor" in _features(processor) and "l3.bytes" in found:
        share = _GUEST_CACHE * int(found.get("threads.processors", 1))
        found["l3.bytes"] = min(found["l3.bytes"], share)
    return found


def _units(macros: AbstractSet[str], flags: AbstractSet[str]) -> dict[str, int]:
    """The widest vectors that the compiler may use, and whether it fuses products and sums, if macros say so.

    Processors with arithmetic on halves (from 2023 on) keep their clock with vectors of 64 bytes; compilers
    prefer shorter ones on them, too. What is asked for by a flag is left as it is.
    """
    found = {"arithmetic.fused": 1 if macros & _FUSED else 2} if macros else {}
    if "__AVX512F__" in macros and "-mprefer-vector-width=256" not in flags:
        asked = any(each.startswith("-mprefer-vector-width=") for each in flags)
        wide = "__AVX512FP16__" in macros and not asked
        return found | {"vector.bytes": 64} | ({"vector.rows": 64} if wide else {})
    return found | ({"vector.bytes": 32} if "__AVX__" in macros else {})


def _caches(folder: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((each / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        match = re.fullmatch(r"(\d+)K", size)
        if kind != "Instruction" and level in {"1", "2", "3"} and match and int(match[1]) > 0:
            found[f"l{level}.bytes"] = int(match[1]) * 1024
    return found


def _cores(folder: Path) -> dict[str, int]:
    siblings = []
    for each in folder.glob("cpu[0-9]*/topology/thread_siblings_list"):
        try:
            siblings.append(each.read_text().strip())
        except OSError:
            return {}
    return {"threads.processors": len(siblings), "threads.cores": len(set(siblings))} if siblings else {}


def _described(description: Path) -> dict[str, str]:
    """What the system's ``description`` says of the first processor; nothing if it cannot be read."""
    try:
        first = description.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:
        return {}
    return dict(re.findall(r"^(vendor_id|cpu family|flags)[ \t]*: (.*)$", first, flags=re.MULTILINE))


def _features(processor: Mapping[str, str]) -> list[str]:
    return processor.get("flags", "").split()


def _family(processor: Mapping[str, str]) -> dict[str, float]:
    """What is known of the ``processor`` that was described; nothing of most."""
    here = processor.get("vendor_id"), processor.get("cpu family")
    for (vendor, family, feature), figures in _FAMILIES.items():
        if (vendor, family) == here and feature in _features(processor):
            return figures
    return {}
