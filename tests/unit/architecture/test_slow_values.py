"""Frozen dataclasses are those of ``values.py``, which cost little when polybuild starts."""

from __future__ import annotations

from package_modules import package_modules, planted
from slow_values import slow_values

OURS, THEIRS = "from polybuild.values import dataclass\n", "from dataclasses import dataclass\n"
CLASS = "@dataclass(frozen=True, slots=True)\nclass A:\n    x: int\n"


def test_frozen_dataclasses_are_made_quickly():
    assert slow_values(package_modules()) == []


def test_those_of_the_standard_library_are_seen():
    unequal = CLASS.replace("slots=True", "slots=True, eq=False")
    prefixed = f"import dataclasses\n{CLASS.replace('@', '@dataclasses.')}"
    modules = planted({"a": THEIRS + CLASS, "b": THEIRS + unequal, "c": prefixed, "d": OURS + prefixed})
    assert slow_values(modules) == ["a.A", "b.A", "c.A", "d.A"]


def test_what_changes_or_has_an_order_is_fine():
    ordered = CLASS.replace("slots=True", "slots=True, order=True")
    changing = CLASS.replace("frozen=True, ", "")
    modules = planted({"a": OURS + CLASS, "b": THEIRS + ordered, "c": THEIRS + changing})
    assert slow_values(modules) == []
