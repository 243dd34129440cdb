"""Functions, classes and lists of parameters are small enough to be read at once."""

from __future__ import annotations

from package_modules import package_modules, planted
from size_limits import too_large

EXCEPTIONS = {
    "machine.model.Arithmetic": "one field for each kind of operation that is timed: it is the list",
    "machine.model.Machine": "one field for each group of figures: it is the list",
    "machine.model.Threads": "one field for each cost and limit of threads: it is the list",
    "options.Options": "one field for each thing that a user may set: it is the list",
    "report.record.model.RegionReport": "one field for each key of a region in the JSON report",
}
"""What may be larger, each with the reason."""


def test_nothing_is_too_large():
    assert too_large(package_modules(), EXCEPTIONS) == []


def test_every_exception_is_still_one():
    found = {line.partition(":")[0] for line in too_large(package_modules(), {})}
    assert set(EXCEPTIONS) <= found


def test_what_is_too_large_is_seen():
    function = "def f(a, b, *, c, d, e, g, h, i):\n" + "    a = b\n" * 60
    assigned = "\n".join(f"        self.b{number} = 0" for number in range(6))
    annotated = "\n".join(f"    a{number}: int" for number in range(7))
    method = f"class A:\n{annotated}\n    def __init__(self, a, b, c, d, e, f, g):\n{assigned}\n"
    modules = planted({"x.y": function + method})
    assert too_large(modules, {}) == ["x.y.f: 61 lines", "x.y.f: 8 parameters", "x.y.A: 13 fields"]
    assert too_large(modules, {"x.y.f": "planted"}) == ["x.y.A: 13 fields"]


def test_what_is_just_small_enough_is_fine():
    function = "def f(a, b, *, c, d, e, g, h):\n" + "    a = b\n" * 59
    annotated = "class A:\n    B: ClassVar[int]\n" + "\n".join(f"    a{number}: int" for number in range(12))
    assert too_large(planted({"x.y": function + annotated}), {}) == []
