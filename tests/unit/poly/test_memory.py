"""What is found once for a region."""

from __future__ import annotations

from polybuild.poly.memory import Itself, remembered, remembering


def test_what_is_too_large_to_compare_is_known_again_as_itself_alone() -> None:
    asked: list[list[int]] = []

    @remembered
    def length(numbers: Itself[list[int]]) -> int:
        asked.append(numbers.value)
        return len(numbers.value)

    first, equal = [1, 2], [1, 2]
    with remembering():
        assert length(Itself(first)) == length(Itself(first)) == length(Itself(equal)) == 2
    assert list(map(id, asked)) == [id(first), id(equal)]


def test_nothing_is_remembered_from_one_region_to_the_next() -> None:
    asked = []
    find = remembered(asked.append)
    for _ in range(2):
        with remembering():
            find(1)
            find(1)
    find(1)
    assert len(asked) == 3
