"""The user's functions that kernels call, in the language of a device.

A function can go with its kernels if it takes and gives numbers and uses nothing but its
parameters, its own variables, mathematics and other such functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import location
from polybuild.c.types import Type
from polybuild.codegen.c.expressions import Operand
from polybuild.codegen.device.bodies import BodyTexts, KernelBodyPrinter, own_name
from polybuild.diagnostics import Unsupported
from polybuild.normalise.hoisted_tables import with_own_tables
from polybuild.scop.model import Array
from polybuild.source.model import Callee, Region
from polybuild.targets.languages import KernelLanguage


class DeviceFunctions:
    """Collects the functions that the kernels of a region call; ``texts`` has each after those it calls."""

    def __init__(self, region: Region, language: KernelLanguage) -> None:
        self._callees = region.callees
        self._language = language
        self.texts: dict[str, str] = {}

    def name(self, called: str, node: c_ast.Node) -> str | None:
        """What the user's function ``called`` is called on the device; None if it is not one of the file's.

        Raises Unsupported for a function that cannot go there.
        """
        callee = self._callees.get(called)
        if callee is None or callee.body is None:
            return None
        name = f"polybuild_{called}"
        if name not in self.texts:
            self.texts[name] = self._text(name, callee, callee.body, node)
        return name

    def _text(self, name: str, callee: Callee, body: Region, node: c_ast.Node) -> str:
        result = self._type(body.visible.scope.resolve(body.function.decl.type.type), callee, node)
        parameters = [
            f"{self._type(body.visible.scope.resolve(each.type), callee, node)} {own_name(str(each.name))}"
            for each in callee.parameters
        ]
        own = frozenset(str(each.name) for each in callee.parameters)
        texts = BodyTexts({}, lambda _name: None, _no_element, self)
        printer = KernelBodyPrinter((), body, self._language, texts, own=own)
        text = printer.visit(c_ast.Compound(list(with_own_tables(body).statements)))
        return (
            f"{self._language.qualifiers.function}{result} {name}({', '.join(parameters) or 'void'})\n{text}"
        )

    def _type(self, kind: Type, callee: Callee, node: c_ast.Node) -> str:
        text = self._language.types.of(kind)
        if text is None:
            message = f"the function '{callee.name}' takes or gives what is no number of a device"
            raise Unsupported("device", message, location(node), "")
        return text


def _no_element(array: Array, _subscripts: Sequence[Operand]) -> str:
    raise AssertionError(f"a function reads '{array.name}' of the region")
