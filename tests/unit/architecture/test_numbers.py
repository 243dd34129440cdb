"""Figures of hardware are in the machine, limits of the tool in the table of efforts: nowhere else."""

from __future__ import annotations

from module_numbers import numbers
from package_modules import package_modules, planted

ROOMS = frozenset(
    {
        "analysis",
        "driver",
        "normalise",
        "poly",
        "rerolling",
        "schedule",
        "scop",
        "source",
        "storage",
        "survey",
        "targets",
        "transform",
    }
)

EXCEPTIONS = {
    "driver.cache._ABANDONED_SECONDS": "how old files of the cache are that nobody writes any more",
    "driver.cache._DEFAULT_SIZE": "the size of the cache where nobody says another",
    "driver.cache._GRACE_SECONDS": "how long files of the cache are kept in any case",
    "driver.cache._SHARDS": "in how many folders the cache is",
    "driver.isolation._MOMENT": "how often who waits looks at the clock",
    "driver.obstacles._MAXIMUM": "how many obstacles are told",
    "driver.side_by_side._MAXIMUM": "how many numbers any pipe takes at once",
    "driver.side_by_side._PIPE_BYTES": "how large a pipe is asked for",
    "driver.progress.PATIENCE": "after how many seconds progress is told",
    "normalise.conditional_reductions._STEPS": "what operators of C add",
    "normalise.expressions._STEPS": "what operators of C add",
    "rerolling.shapes._SIGNS": "what a sign is multiplied by",
    "scop.assumptions._LARGE": "below which a parameter is hardly bounded on purpose",
    "scop.delinearise.guesses._BORDERS": "what sizes differ by from their parameters",
    "scop.dynamic._ENDS": "directions of comparisons",
    "scop.dynamic._INT": "the width of an int",
    "scop.dynamic._WIDEST": "a type of C",
    "scop.parameters._SMALL": "what programs write down is smaller than that",
    "scop.parameters._WIDEST": "a type of C",
    "scop.ranges._NARROW": "the width of types whose limits say something",
    "scop.references._MAXIMUM_ROW_SUBSCRIPTS": "what checks at run time can follow",
    "source.fingerprint.FIRST_LINE": "no line has such a number",
    "source.fingerprint._LINES": "no file has so many lines",
    "source.regions.CONDITIONAL": "what directives open and close",
    "targets.cpu.blocked_nest.(M, K, N)": "places of three loops",
    "targets.gpu.index_limit._MAXIMUM": "a half of what an int of C holds",
    "targets.ranks.loggp._LOOKS": "stages of an exchange",
    "targets.ranks.loggp._MOVED": "a byte is read and written",
    "targets.ranks.work._ROWS": "dimensions of a set of rows",
    "targets.languages._APPROXIMATE": "how many arguments functions of C take",
    "targets.languages._EXACT": "how many arguments functions of C take",
}
"""Names that may have numbers, each with the reason."""


def test_no_module_has_numbers_of_its_own():
    assert [each for each in numbers(package_modules(), ROOMS) if each not in EXCEPTIONS] == []


def test_every_exception_is_still_one():
    assert set(EXCEPTIONS) <= set(numbers(package_modules(), ROOMS))


def test_numbers_are_seen_wherever_they_stand():
    text = "A = 3\nB: float = 0.5\nC = {'x': (1, 2)}\nD = f(7)\nE = F = -1\n"
    modules = planted({"targets.cpu.x": text, "cli.y": "A = 3\n"})
    names = ["A", "B", "C", "D", "E", "F"]
    assert numbers(modules, ROOMS) == [f"targets.cpu.x.{each}" for each in names]


def test_what_has_no_numbers_is_fine():
    text = 'A = True\nB = "3"\nC: int\ndef f(x=3):\n    y = 5\n    return x + y\nD = A and None\n'
    assert numbers(planted({"storage.x": text}), ROOMS) == []
