"""The frozen dataclasses that pass between rooms, made without the time of those of the standard library.

The standard library compiles six functions for each class, which takes half a millisecond: with some three
hundred classes that was half of what polybuild took to start. Here all classes of one shape share one that is
compiled, the code of their ``__init__``, the others are closures, and the slots are those of a single class.
``dataclasses.replace``, ``fields`` and ``asdict`` take these classes as they take others. So all frozen
dataclasses of the package come from here, but for those that have an order; what changes is a dataclass of
the standard library.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, FrozenInstanceError
from functools import cache, partial
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - type checkers take it for theirs
else:

    def dataclass(*, frozen: bool, slots: bool, eq: bool = True) -> Callable[[type], type]:
        """``dataclasses.dataclass(frozen=True, slots=True, eq=eq)``; whoever wants another one takes that."""
        if not (frozen and slots):
            raise TypeError("this is for values: frozen=True, slots=True")
        return partial(_value_class, eq=eq)


def _value_class(plain: type, *, eq: bool) -> type:
    """A class with the fields of ``plain``, whose values do not change.

    With ``eq`` those are equal whose fields are, but for fields that are left out of comparisons and hashes,
    as the standard library has it. Without, each equals itself alone.
    """
    fields = _fields_of(plain)
    functions = {
        **(_comparison([each for each in fields.values() if each.compare]) if eq else {}),
        "__repr__": _representation(tuple(fields)),
        **_pickling(tuple(fields)),
        "__setattr__": _refuse,
        "__delattr__": _refuse,
    }
    contents = {name: value for name, value in plain.__dict__.items() if name not in fields}
    for name in ("__dict__", "__weakref__"):  # which it would have without slots
        contents.pop(name, None)
    for name, function in functions.items():
        contents.setdefault(name, function)
    inherited = {name for base in plain.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    contents["__slots__"] = tuple(name for name in fields if name not in inherited)
    contents |= {"__dataclass_fields__": fields, "__dataclass_params__": _PARAMETERS}
    contents.setdefault("__match_args__", tuple(fields))
    made: Any = type(plain)(plain.__name__, plain.__bases__, contents)
    made.__qualname__ = plain.__qualname__
    made.__init__ = _initialiser(made)
    return made  # type: ignore[no-any-return]  # the class that was given, made anew with slots


@dataclasses.dataclass(init=False, repr=False, eq=False, frozen=True)
class _Example:
    """What the standard library notes of a frozen dataclass, and of a field that is no more than that."""

    field: int


_PARAMETERS = _Example.__dataclass_params__  # type: ignore[attr-defined]
_PLAIN_FIELD = dataclasses.fields(_Example)[0]._field_type  # type: ignore[attr-defined]  # noqa: SLF001


def _fields_of(plain: type) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a class and its bases by name, in their order, as the standard library keeps them."""
    found: dict[str, dataclasses.Field[Any]] = {}
    for base in reversed(plain.__mro__[1:]):
        found |= base.__dict__.get("__dataclass_fields__", {})
    for name, kind in inspect.get_annotations(plain).items():
        default = plain.__dict__.get(name, MISSING)
        each: Any = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        if not isinstance(kind, str) or kind.startswith(_NO_FIELDS) or type(each.default).__hash__ is None:
            raise TypeError(
                f"{plain.__name__}.{name}: values have fields alone, whose defaults do not change"
            )
        each.name, each.type, each._field_type, each.kw_only = name, kind, _PLAIN_FIELD, False  # noqa: SLF001
        found[name] = each
    return found


_NO_FIELDS = ("ClassVar", "InitVar", "KW_ONLY", "typing.", "dataclasses.")


def _initialiser(made: Any) -> Callable[..., None]:
    """What makes the first value of the class ``made``: it compiles the ``__init__`` of all others."""

    def first(self: object, *arguments: Any, **named: Any) -> None:
        made.__init__ = _compiled(made)
        made.__init__(self, *arguments, **named)

    return first


def _compiled(made: Any) -> Callable[..., None]:
    """The ``__init__`` of the class ``made``: a parameter for each field, set by the field's slot.

    It is that of all classes of its shape, with names of its own.
    """
    fields = dataclasses.fields(made)
    factories = tuple(each.default_factory is not MISSING for each in fields)
    code = _shape(factories, hasattr(made, "__post_init__"))
    names: dict[str, Any] = {"_missing": MISSING}
    for position, each in enumerate(fields):
        names[f"_set_{position}"] = getattr(made, each.name).__set__
        names[f"_make_{position}"] = each.default_factory
    parameters = tuple(each.name for each in fields)
    # messages name the class and the fields
    code = code.replace(co_varnames=("self", *parameters), co_qualname=f"{made.__qualname__}.__init__")
    first = next((at for at, each in enumerate(fields) if _has_default(each)), len(fields))
    for each in fields[first:]:
        if not _has_default(each):
            raise TypeError(f"{made.__name__}.{each.name}: it has no default, but a field before it has one")
    return FunctionType(code, names, "__init__", tuple(each.default for each in fields[first:]))


def _has_default(each: dataclasses.Field[Any]) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


@cache
def _shape(factories: tuple[bool, ...], checks: bool) -> CodeType:
    """The code of an ``__init__`` with a field for each of ``factories``: whether one makes its default.

    It ends with ``__post_init__`` if that ``checks`` the fields.
    """
    lines = []
    for each, factory in enumerate(factories):
        given = f"_make_{each}() if _{each} is _missing else _{each}" if factory else f"_{each}"
        lines.append(f"    _set_{each}(self, {given})")
    if checks:
        lines.append("    self.__post_init__()")
    parameters = "".join(f", _{each}" for each in range(len(factories)))
    names = dict[str, Any]()
    exec(f"def __init__(self{parameters}):\n" + "\n".join(lines or ["    pass"]), names)  # noqa: S102 - as the standard library does
    code: CodeType = names["__init__"].__code__
    return code


def _values_of(fields: Sequence[dataclasses.Field[Any]]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of ``fields``."""
    names = [each.name for each in fields]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _comparison(fields: Sequence[dataclasses.Field[Any]]) -> dict[str, Callable[..., Any]]:
    """``__eq__`` and ``__hash__`` by ``fields``."""
    hashed = [each for each in fields if each.hash is not False]
    return {"__eq__": _equality(_values_of(fields)), "__hash__": _hashing(_values_of(hashed))}


def _equality(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[object, object], bool]:
    def __eq__(self: object, other: object) -> bool:  # noqa: N807 - it becomes one
        if type(self) is not type(other):
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hashing(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[object], int]:
    def __hash__(self: object) -> int:  # noqa: N807 - it becomes one
        return hash(values(self))

    return __hash__


def _pickling(names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    """``__getstate__`` and ``__setstate__``, as values cannot be set one by one."""

    def __getstate__(self: object) -> list[Any]:  # noqa: N807 - it becomes one
        return [getattr(self, name) for name in names]

    def __setstate__(self: object, state: list[Any]) -> None:  # noqa: N807 - likewise
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


def _representation(names: tuple[str, ...]) -> Callable[[object], str]:
    def __repr__(self: object) -> str:  # noqa: N807 - it becomes one
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({fields})"

    return __repr__


def _refuse(self: object, name: str, _value: object = None) -> NoReturn:
    raise FrozenInstanceError(f"cannot change field '{name}' of {type(self).__name__}")
