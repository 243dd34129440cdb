"""Results of regions as JSON: all that a region's text may hold comes back as it was."""

from __future__ import annotations

import dataclasses
import typing
from enum import Enum

import pytest

from polybuild.codegen.c.layout import CodeLine, Role
from polybuild.codegen.device.model import DeviceText
from polybuild.codegen.file.prologue import WholeVector
from polybuild.codegen.file.region import RegionText
from polybuild.codegen.file.vector_types import VectorType
from polybuild.codegen.file.verification import Verification
from polybuild.driver.stored_values import _CLASSES as CLASSES
from polybuild.driver.stored_values import Changes, NotStorableError, decoded, encoded
from polybuild.report.record.model import RegionReport

AS_IT_IS = Changes(lambda number: number, lambda text: text)


def held(kind, found):
    """All classes of which a value of ``kind`` may hold values."""
    if (
        isinstance(kind, type)
        and kind not in found
        and (dataclasses.is_dataclass(kind) or issubclass(kind, Enum))
    ):
        found.add(kind)
        for each in typing.get_type_hints(kind).values() if dataclasses.is_dataclass(kind) else ():
            held(each, found)
    for each in typing.get_args(kind):
        held(each, found)
    return found


def test_all_classes_of_results_are_known():
    kept_elsewhere = {DeviceText, Verification}
    found = held(RegionText, set(kept_elsewhere)) | held(RegionReport, set())
    assert {each.__name__ for each in found - kept_elsewhere} <= set(CLASSES)
    assert len(found) > 15


def test_values_come_back():
    line = CodeLine("  a = 1;", 7, row=2, verbatim=True, role=Role.STATEMENT, head="x", directed=True)
    helpers = frozenset({"polybuild_min", WholeVector(VectorType("double", 4))})
    text = RegionText((), (), (line, CodeLine("}")), helpers)
    report = RegionReport("a.c", 1, 2, "kept", tile_sizes=((1, 2), ()), compile_seconds=0.1, detected=True)
    value = (text, report, None, {"n": 1 / 3})
    found = decoded(encoded(value), AS_IT_IS)
    assert found == value
    assert vars(found[0].loops[0]) == vars(line)
    assert type(found[0].loops[1]) is CodeLine


def test_numbers_and_texts_change():
    changes = Changes(lambda number: number + 1, str.upper)
    line = decoded(encoded((CodeLine("a", 7), True, 1.5)), changes)
    assert (line, line[0].source, line[1]) == (("A", True, 1.5), 8, True)


def test_nothing_else_is_stored():
    for value in (object(), [1], {1, 2}, b"x", Role):
        with pytest.raises(NotStorableError):
            encoded(value)


@pytest.mark.parametrize(
    "data",
    [b"{", b"{}", b'{"a": 1, "b": 2}', b'{"Popen": ["ls"]}', b'{"Role": "NONE"}', b'{"Mark": [1, 2, 3]}'],
)
def test_nothing_else_is_read(data):
    with pytest.raises(ValueError, match=r".*"):
        decoded(data, AS_IT_IS)
