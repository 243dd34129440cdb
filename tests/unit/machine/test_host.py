"""What is taken to be known of the machine: from macros, flags and what Linux lists."""

from __future__ import annotations

import pytest

from polybuild.context import CompileContext
from polybuild.machine import host
from polybuild.machine.model import Origin
from polybuild.options import Options


@pytest.mark.parametrize(
    ("macros", "flags", "size", "registers"),
    [
        ((), (), 16, 16),
        (("__SSE2__",), (), 16, 16),
        (("__AVX__", "__AVX2__"), (), 32, 16),
        (("__AVX__", "__AVX512F__"), (), 64, 32),
        (("__AVX__", "__AVX512F__", "__clang__"), (), 64, 32),
        (("__AVX__", "__AVX512F__"), ("-mprefer-vector-width=256",), 32, 16),
    ],
)
def test_vectors(macros, flags, size, registers):
    found = host.find_machine(frozenset(macros), frozenset(flags))
    assert (found.vector.bytes, found.vector.registers) == (size, registers)
    wanted = Origin.COMPILER if "__AVX__" in macros else None
    assert found.origins.get("vector.bytes") is wanted
    given = CompileContext(machine=found).with_options(Options(vector_size=8)).machine
    assert (given.vector.bytes, given.origins["vector.bytes"]) == (8, Origin.OPTION)


@pytest.mark.parametrize(
    ("macros", "flags", "rows"),
    [
        (("__AVX512F__",), (), 16),
        (("__AVX512F__", "__AVX512FP16__"), (), 64),
        (("__AVX512F__", "__AVX512FP16__"), ("-mprefer-vector-width=256",), 16),
        (("__AVX512F__", "__AVX512FP16__"), ("-mprefer-vector-width=512",), 16),
    ],
)
def test_vectors_of_rows(macros, flags, rows):
    """Processors that keep their clock have the widest ones, unless a flag asks for others."""
    assert host.find_machine(frozenset(macros), frozenset(flags)).vector.rows == rows


@pytest.mark.parametrize(
    ("macros", "fused"),
    [((), 2), (("__AVX__",), 2), (("__AVX__", "__FMA__"), 1), (("__aarch64__", "__FP_FAST_FMA"), 1)],
)
def test_sums_with_products_are_one_operation_if_macros_say_so(macros, fused):
    found = host.find_machine(frozenset(macros), frozenset())
    assert found.arithmetic.fused == fused
    assert ("arithmetic.fused" in found.origins) == bool(macros)


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Stand-ins for what Linux says of caches (level, type, size) and of the threads of each core."""
    monkeypatch.setattr(host, "_PROCESSORS", tmp_path)
    monkeypatch.setattr(host, "_DESCRIPTION", tmp_path / "cpuinfo")

    def make(caches, siblings=()):
        for index, values in enumerate(caches):
            folder = tmp_path / f"cpu0/cache/index{index}"
            folder.mkdir(parents=True)
            for name, value in zip(("level", "type", "size"), values, strict=True):
                (folder / name).write_text(value + "\n")
        for index, value in enumerate(siblings):
            folder = tmp_path / f"cpu{index}/topology"
            folder.mkdir(parents=True)
            (folder / "thread_siblings_list").write_text(value + "\n")

    return make


LISTED = [
    ("1", "Data", "48K"),
    ("1", "Instruction", "64K"),
    ("2", "Unified", "2048K"),
    ("3", "Unified", "32768K"),
    ("4", "Unified", "65536K"),
]


@pytest.mark.parametrize(
    ("listed", "flags", "expected"),
    [
        (LISTED, {"-march=native"}, (49152, 2097152, 32 << 20)),
        (LISTED, {"-mcpu=native"}, (49152, 2097152, 32 << 20)),
        (LISTED, {"-march=haswell"}, (32768, 1048576, 16 << 20)),
        ([], {"-march=native"}, (32768, 1048576, 16 << 20)),
        ([("1", "Data", ""), ("2", "Unified", "0K")], {"-march=native"}, (32768, 1048576, 16 << 20)),
    ],
)
def test_caches(listed, flags, expected, system):
    system(listed)
    found = host.find_machine(frozenset(), frozenset(flags))
    assert (found.l1.bytes, found.l2.bytes, found.l3.bytes) == expected
    given = CompileContext(machine=found).with_options(Options(l1_size=32768, l2_size=2)).machine
    assert (given.l1.bytes, given.l2.bytes) == (32768, 2)
    assert given.origins["l1.bytes"] is given.origins["l2.bytes"] is Origin.OPTION


def test_a_cache_that_says_nothing(system, tmp_path):
    system(LISTED)
    (tmp_path / "cpu0/cache/index0/size").unlink()
    found = host.find_machine(frozenset(), frozenset({"-march=native"}))
    assert (found.l1.bytes, found.l2.bytes) == (32768, 2097152)
    assert "l1.bytes" not in found.origins


@pytest.mark.parametrize(
    ("siblings", "expected"),
    [(("0,2", "1,3", "0,2", "1,3"), (4, 2)), (("0", "1"), (2, 2)), ((), (4, 4))],
)
def test_cores(siblings, expected, system):
    system([], siblings)
    found = host.find_machine(frozenset(), frozenset({"-march=native"}))
    assert (found.threads.processors, found.threads.cores) == expected


@pytest.mark.parametrize(
    ("processor", "features", "pages"),
    [
        (("AuthenticAMD", 25), "sse2 avx512f", 3072),
        (("AuthenticAMD", 25), "sse2 avx2", 2048),  # the third generation
        (("AuthenticAMD", 26), "sse2 avx512f", 4096),
        (("GenuineIntel", 6), "sse2 avx512f", 1536),
        (("GenuineIntel", 6), "sse2 avx512f avx512_fp16", 2048),
    ],
)
def test_families(processor, features, pages, system, tmp_path):
    system([])
    vendor, family = processor
    lines = f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nflags\t\t: fpu {features}\n"
    (tmp_path / "cpuinfo").write_text(f"{lines}\n{lines}")
    assert host.find_machine(frozenset(), frozenset({"-march=native"})).memory.pages == pages
    assert host.find_machine(frozenset(), frozenset()).memory.pages == 1536


@pytest.mark.parametrize(("features", "size"), [("fpu sse2", 480), ("fpu sse2 hypervisor", 32)])
def test_guests_have_a_part_of_the_last_cache(features, size, system, tmp_path):
    system([("3", "Unified", f"{480 << 10}K")], ("0", "1"))
    (tmp_path / "cpuinfo").write_text(f"vendor_id\t: GenuineIntel\ncpu family\t: 6\nflags\t\t: {features}\n")
    assert host.find_machine(frozenset(), frozenset({"-march=native"})).l3.bytes == size << 20
