"""What is taken to be known of the machine: from macros, flags and what Linux lists."""

from __future__ import annotations

import pytest

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
    assert machine.with_machine(Options(), frozenset(macros), frozenset(flags)).vector_size == size
    assert machine.with_machine(Options(vector_size=8), frozenset(macros), frozenset(flags)).vector_size == 8


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
    found = machine.with_machine(Options(), frozenset(), frozenset(flags))
    assert (found.l1_size, found.l2_size) == expected
    given = machine.with_machine(Options(l1_size=1, l2_size=2), frozenset(), frozenset(flags))
    assert (given.l1_size, given.l2_size) == (1, 2)


def test_a_cache_that_says_nothing(caches, tmp_path):
    caches(*LISTED)
    (tmp_path / "index0" / "size").unlink()
    found = machine.with_machine(Options(), frozenset(), frozenset({"-march=native"}))
    assert (found.l1_size, found.l2_size) == (32768, 2097152)
