"""Values behave as the standard library's frozen dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field

import pytest

from polybuild.values import dataclass

BOTH = pytest.mark.parametrize("name", ["Ours", "Theirs"])


def _class_of(decorated):
    @decorated
    class Interval:
        """Has all kinds of defaults."""

        first: int
        last: int = 9
        names: list[str] = field(default_factory=list)

        def __post_init__(self) -> None:
            if self.last < self.first:
                raise ValueError("empty")

        @property
        def length(self) -> int:
            return self.last - self.first + 1

    return Interval


Ours = _class_of(dataclass(frozen=True, slots=True))
Theirs = _class_of(dataclasses.dataclass(frozen=True, slots=True))


@dataclass(frozen=True, slots=True)
class Point:
    """To be pickled, it has to be found by its name."""

    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Named(Point):
    """With a field more."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class One:
    """A single field, with a text of its own."""

    value: float

    def __repr__(self) -> str:
        return f"<{self.value}>"


@dataclass(frozen=True, slots=True)
class Known:
    """Fields that do not count."""

    name: str
    notes: list[str] = field(default_factory=list, hash=False)
    where: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """Equals itself alone."""

    name: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """No field at all."""


@BOTH
def test_values_are_made_with_defaults(name):
    made = globals()[name]
    assert (made(1).last, made(first=2, last=5).length) == (9, 4)
    first, second = made(1), made(1)
    assert first.names == []
    assert first.names is not second.names
    with pytest.raises(ValueError, match="empty"):
        made(3, 2)
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'first'"):
        made()
    with pytest.raises(TypeError, match="unexpected keyword argument 'end'"):
        made(1, end=2)


@BOTH
def test_values_do_not_change(name):
    value = globals()[name](1)
    for change in (lambda: setattr(value, "last", 3), lambda: delattr(value, "last")):
        with pytest.raises(FrozenInstanceError):
            change()
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        value.other = 3
    assert not hasattr(value, "__dict__")
    assert value.last == 9


@BOTH
def test_the_standard_library_takes_them(name):
    value = globals()[name](1, names=["a"])
    assert dataclasses.replace(value, first=4).length == 6
    assert dataclasses.asdict(value) == {"first": 1, "last": 9, "names": ["a"]}
    assert [each.name for each in dataclasses.fields(value)] == ["first", "last", "names"]
    assert repr(value).endswith("Interval(first=1, last=9, names=['a'])")
    match value:
        case Ours(first, last) | Theirs(first, last):
            assert (first, last) == (1, 9)
        case _:
            pytest.fail("it has no pattern")


def test_equal_fields_make_equal_values_of_one_class():
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(2, 1)
    assert Point(1) != Named(1)
    assert Named(1, name="a") == Named(1, 0, "a")
    assert len({Point(1), Point(1, 0), Point(2)}) == 2
    assert hash(One(2.5)) == hash((2.5,))
    assert (Nothing(), hash(Nothing())) == (Nothing(), hash(()))
    number = float("nan")
    assert One(number) == One(number)  # as tuples of the same object are


def test_fields_may_be_left_out():
    assert Known("a", ["b"], 3) == Known("a", ["b"], 4)
    assert Known("a", ["b"]) != Known("a", ["c"])
    assert hash(Known("a", ["b"], 3)) == hash(Known("a", ["c"]))


def test_values_may_equal_themselves_alone():
    value = Alone("a")
    assert value == value  # noqa: PLR0124 - that is what is asked
    assert value != Alone("a")
    assert {value: 1}[value] == 1
    assert repr(value) == "Alone(name='a')"


def test_values_can_be_copied_and_pickled():
    for value in (Point(1, 2), Named(3, name="a"), One(1.5), Nothing()):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own
        assert copy.copy(value) == copy.deepcopy(value) == value


def test_functions_of_the_class_stay():
    assert repr(One(1.5)) == "<1.5>"


def test_other_dataclasses_are_those_of_the_standard_library():
    with pytest.raises(TypeError, match="values"):
        dataclass(frozen=False, slots=True)
