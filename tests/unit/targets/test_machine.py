"""What is taken to be known of the machine: from macros, flags and what Linux lists."""

from __future__ import annotations

import pytest

from polybuild.context import ByteSize, Origin
from polybuild.options import Options
from polybuild.targets import machine


@pytest.mark.parametrize(
    ("macros", "flags", "size"),
    [
        ((), (), 16),
        (("__SSE2__",), (), 16),
        (("__AVX__", "__AVX2__"), (), 32),
        (("__AVX__", "__AVX512F__"), (), 64),
        (("__AVX__", "__AVX512F__", "__clang__"), (), 64),
        (("__AVX__", "__AVX512F__"), ("-mprefer-vector-width=256",), 32),
    ],
)
def test_vectors(macros, flags, size):
    found = machine.find_machine(frozenset(macros), frozenset(flags))
    assert found.vector.bytes == size
    assert found.vector.origin is (Origin.COMPILER if "__AVX__" in macros else Origin.ASSUMED)
    assert found.with_options(Options(vector_size=8)).vector == ByteSize(8, Origin.OPTION)


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Stand-ins for what Linux says of the caches: level, type, size."""
    monkeypatch.setattr(machine, "_CACHES", tmp_path)

    def make(*listed):
        for index, values in enumerate(listed):
            folder = tmp_path / f"index{index}"
            folder.mkdir()
            for name, value in zip(("level", "type", "size"), values, strict=True):
                (folder / name).write_text(value + "\n")

    return make


LISTED = [
    ("1", "Data", "48K"),
    ("1", "Instruction", "64K"),
    ("2", "Unified", "2048K"),
    ("3", "Unified", "32M"),
]


@pytest.mark.parametrize(
    ("listed", "flags", "expected"),
    [
        (LISTED, {"-march=native"}, (49152, 2097152)),
        (LISTED, {"-mcpu=native"}, (49152, 2097152)),
        (LISTED, {"-march=haswell"}, (32768, 1048576)),
        ([], {"-march=native"}, (32768, 1048576)),
        ([("1", "Data", ""), ("2", "Unified", "0K")], {"-march=native"}, (32768, 1048576)),
    ],
)
def test_caches(listed, flags, expected, caches):
    caches(*listed)
    found = machine.find_machine(frozenset(), frozenset(flags))
    assert (found.l1.bytes, found.l2.bytes) == expected
    given = found.with_options(Options(l1_size=32768, l2_size=2))
    assert (given.l1, given.l2) == (ByteSize(32768, Origin.OPTION), ByteSize(2, Origin.OPTION))


def test_a_cache_that_says_nothing(caches, tmp_path):
    caches(*LISTED)
    (tmp_path / "index0" / "size").unlink()
    found = machine.find_machine(frozenset(), frozenset({"-march=native"}))
    assert (found.l1, found.l2) == (ByteSize(32768), ByteSize(2097152, Origin.HOST))
