"""What became of a region, as JSON and back: values of the classes named here, and of no others.

A value of a class is an object of one member, its name; a tuple is an array. Nothing that is read is run.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from polybuild.codegen.c.conditions import Condition
from polybuild.codegen.c.layout import CodeLine, Role
from polybuild.codegen.c.outline import Line
from polybuild.codegen.file.adapting import Adapting
from polybuild.codegen.file.conversions import VectorConversion
from polybuild.codegen.file.interleaved_loads import InterleavedLoad
from polybuild.codegen.file.lane_functions import LaneFunction, LaneFunctionKind
from polybuild.codegen.file.prologue import WholeVector
from polybuild.codegen.file.ranks import Agreement
from polybuild.codegen.file.region import RegionText, Stage
from polybuild.codegen.file.row_transfers import RowTransfer
from polybuild.codegen.file.vector_types import VectorType
from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.poly.marks import Mark, MarkKind
from polybuild.report.record.model import (
    Advice,
    DevicePrediction,
    PredictedCandidate,
    Prediction,
    RegionReport,
    Sequential,
)
from polybuild.values import dataclass

_CLASSES: Mapping[str, type[Any]] = {
    each.__name__: each
    for each in (
        *(RegionReport, Advice, Prediction, PredictedCandidate, DevicePrediction, Sequential),
        *(Diagnostic, Location, Severity),
        *(RegionText, Stage, Condition, Line, Mark, MarkKind, CodeLine, Role, Adapting, Agreement),
        *(
            VectorType,
            WholeVector,
            VectorConversion,
            LaneFunction,
            LaneFunctionKind,
            InterleavedLoad,
            RowTransfer,
        ),
    )
}
_LINE_FIELDS = ("source", "row", "verbatim", "role", "head", "directed")
_SET, _MAP = "set", "map"


class NotStorableError(Exception):
    """A value is of a class that is not known here."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What is done to all numbers and texts that are read."""

    number: Callable[[int], int]
    text: Callable[[str], str]


def encoded(value: object) -> bytes:
    """``value`` as JSON; NotStorableError if that cannot be."""
    return json.dumps(_plain(value)).encode("ascii")


def decoded(data: bytes, changes: Changes) -> Any:
    """What ``encoded`` gave ``data`` for, but for ``changes``; ValueError for what it never gives."""
    try:
        return _value(json.loads(data), changes)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from error


def _plain(value: Any) -> Any:
    name = type(value).__name__
    if value is None or type(value) in {bool, int, float, str}:
        return value
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, frozenset):
        return {_SET: [_plain(each) for each in sorted(value, key=repr)]}
    if isinstance(value, Mapping):
        return {_MAP: [[_plain(key), _plain(each)] for key, each in value.items()]}
    if type(value) is not _CLASSES.get(name):
        raise NotStorableError(name)
    if isinstance(value, Enum):
        return {name: value.name}
    if isinstance(value, CodeLine):
        return {name: [str(value), *(_plain(getattr(value, each)) for each in _LINE_FIELDS)]}
    return {name: [_plain(getattr(value, each.name)) for each in dataclasses.fields(value)]}


def _value(plain: Any, changes: Changes) -> Any:
    if isinstance(plain, str):
        return changes.text(plain)
    if type(plain) is int:
        return changes.number(plain)
    if isinstance(plain, list):
        return tuple(_value(each, changes) for each in plain)
    if not isinstance(plain, dict):
        return plain
    ((name, inside),) = plain.items()
    if name == _SET:
        return frozenset(_value(each, changes) for each in inside)
    if name == _MAP:
        return {_value(key, changes): _value(each, changes) for key, each in inside}
    kind = _CLASSES[name]
    if issubclass(kind, Enum):
        return kind[inside]
    parts = [_value(each, changes) for each in inside]
    if kind is CodeLine:
        return CodeLine(parts[0], **dict(zip(_LINE_FIELDS, parts[1:], strict=True)))
    return kind(*parts)
