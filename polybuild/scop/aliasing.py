"""Parameters that live in memory which the region might write through another name."""

from __future__ import annotations

from collections.abc import Iterable

from polybuild.diagnostics import Unsupported
from polybuild.scop.accesses import AccessDraft
from polybuild.scop.model import AccessKind, Array, Parameter
from polybuild.scop.names import Variable
from polybuild.scop.nodes import location
from polybuild.scop.parameters import Parameters
from polybuild.source.model import Storage
from polybuild.source.types import Integer, Pointer


def check_parameters(parameters: Parameters, accesses: Iterable[AccessDraft]) -> None:
    """Refuse if a write through a pointer may change a parameter, as C's aliasing rules see it."""
    written = {each.array.name: each for each in accesses if each.kind is not AccessKind.READ}
    for parameter, (root, _) in parameters.roots().items():
        if not _is_reachable(root):
            continue
        for access in written.values():
            if _may_alias(access.array, parameter):
                raise Unsupported(
                    "parameter-may-change",
                    f"the write to '{access.array.name}' may change '{parameter.name}', used in a bound",
                    location(access.node),
                    f"copy '{parameter.name}' to a local variable before the region",
                )


def _is_reachable(root: Variable) -> bool:
    """Whether a pointer of the program can point at what is stored under ``root``."""
    shared = root.storage in {Storage.GLOBAL, Storage.STATIC} or root.address_taken
    return shared or isinstance(root.type, Pointer)


def _may_alias(array: Array, parameter: Parameter) -> bool:
    """Whether an element of ``array`` may be ``parameter``: a character, or an integer of its width."""
    if not array.by_pointer or array.restrict or not isinstance(array.element, Integer):
        return False
    return array.element.width == 8 or array.element.width == getattr(parameter.type, "width", 0)
