"""Statement instances as C: the user's statement with its accesses and counters replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.readable_elements import is_certain
from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.accumulators import ActiveAccumulators
from polybuild.codegen.c.bodies import BodyPrinter, Sizes, c_text, element
from polybuild.codegen.c.buffers import BuffersInScope
from polybuild.codegen.c.dynamic import unguarded
from polybuild.codegen.c.expressions import ADDITIVE, UNARY, ExpressionPrinter, Operand, is_identifier
from polybuild.codegen.c.layout import CodeLine, Role
from polybuild.codegen.c.lazy_texts import LazyTexts
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.scop.model import AccessKind
from polybuild.storage.scalar_replacement import OrderedAccess, is_same_element

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance
    from polybuild.codegen.c.vector_blocks import PackedElement
    from polybuild.scop.model import Access, Array, DynamicLoop, Statement

# Wide enough for every value: a counter may run past an int bound by a tile.
COUNTER_TYPE = "long long"

_SIMPLE = (c_ast.Assignment, c_ast.UnaryOp, c_ast.FuncCall)


class InstancePrinter:
    """Prints statement instances, with what is in scope where they stand.

    ``sizes`` are the inner extents of each array that is a view. ``replaced`` are the variables that
    stand for elements of arrays, ``rows`` the pointers that stand for others, and ``open_loops`` the
    loops with dynamic bounds around the code at hand, whose predicates hold there. ``own_types`` has
    the type of each generated counter, as isl calls it, that has one of the user's.
    """

    def __init__(
        self,
        names: NamesInScope,
        in_use: NamesInUse,
        sizes: Mapping[str, Sizes],
        buffers: BuffersInScope,
        accumulators: ActiveAccumulators,
    ) -> None:
        self._names = names
        self._expressions = ExpressionPrinter(names.text, in_use, names.chosen)
        self._sizes = sizes
        self._buffers = buffers
        self._accumulators = accumulators
        self.replaced: list[tuple[isl.AstExpr, str]] = []
        self.rows: dict[str, str] = {}
        self.open_loops: set[DynamicLoop] = set()
        self.own_types: dict[str, str] = {}

    def lines(self, instance: Instance, indent: str) -> list[CodeLine]:
        """The code of ``instance``: in a row with others if it is one statement, and no declaration."""
        body, always = self._body(instance)
        lines = self.printer(instance, {}, always).lines(body, indent)
        if not isinstance(body, _SIMPLE):
            return lines
        (line,) = lines
        return [CodeLine(line, line.source, row=0, verbatim=True, role=Role.STATEMENT)]

    def _body(self, instance: Instance) -> tuple[c_ast.Node, c_ast.Node | None]:
        """What is printed of ``instance``, and that part of it that runs whatever the data."""
        body = self._accumulators.in_its_type(instance.statement)
        return unguarded(instance.statement, body, self.open_loops)

    def printer(
        self, instance: Instance, counters: Mapping[str, str], always: c_ast.Node | None = None
    ) -> BodyPrinter:
        """Prints the code of ``instance``; ``counters`` gives other texts for some of its counters.

        ``always`` is the part of the body that runs whatever the data.
        """
        statement = instance.statement
        accesses = {
            id(access.node): partial(self._accessed, instance, access, at, always)
            for access, at in instance.accesses
        }
        accesses |= {id(each.packed.expression): partial(self._in_buffer, each) for each in instance.packed}
        known = {id(node): array.name for node, array in statement.locals if id(node) not in accesses}
        # arrays in buffers are not declared, so what is never accessed becomes an object without a name
        known |= {id(each.node): f"({_element_type(each.array)}){{0}}" for each in instance.never}
        known |= self._accumulators.nodes_of(statement.name)
        values = {
            iterator.name: partial(self._counter, counter_type(statement, position), value)
            for position, (iterator, value) in enumerate(
                zip(statement.iterators, instance.iterators, strict=True)
            )
        }
        own = LazyTexts(accesses, known)
        made = {id(access.node): (access, at) for access, at in instance.accesses}
        return BodyPrinter(
            own,
            LazyTexts(values, counters).get,
            instance.branch_free,
            lambda node: node in made and self._stays(*made[node]),
        )

    def _stays(self, access: Access, at: isl.AstExpr) -> bool:
        """Whether ``access`` is to the element that the user's code accesses, in memory."""
        array, root = access.array, access.node
        while isinstance(root, c_ast.ArrayRef):
            root = root.name
        in_variables = self._buffers.scopes.variables(array.name, at) is not None
        in_variables |= any(is_same_element(replaced, at) for replaced, _ in self.replaced)
        return not (in_variables or array.local) and c_text(array.expression) == c_text(root)

    def _counter(self, kind: str, value: isl.AstExpr) -> str:
        text = self._expressions.text(value, UNARY + 1)
        alone = any(is_identifier(value, name) for name, own in self.own_types.items() if own == kind)
        return text if alone else f"({kind}){text}"

    def _in_buffer(self, element: PackedElement) -> str:
        """What stands in a buffer of register tiles."""
        subscripts = "".join(f"[{self._expressions.text(each)}]" for each in element.subscripts)
        return f"{self._names[element.packed.mark.name]}{subscripts}"

    def element(self, array: Array, subscripts: list[Operand]) -> str:
        """The C expression of one element of ``array``."""
        return element(array, subscripts, self._sizes.get(array.name, ()), self.rows)

    def ordered(self, instance: Instance) -> Iterator[OrderedAccess]:
        """The accesses of ``instance`` in execution order, with the elements of those that stay in place."""
        accumulating = self._accumulators.all_nodes()
        made = {id(access.node): (access.array.name, made) for access, made in instance.accesses}
        for access in instance.statement.accesses:
            name, expression = made.get(id(access.node), ("", None))
            in_place = name == access.array.name and id(access.node) not in accumulating
            certain = is_certain(access, instance.statement)
            yield OrderedAccess(access, expression if in_place else None, certain)

    def _accessed(
        self, instance: Instance, access: Access, at: isl.AstExpr, always: c_ast.Node | None
    ) -> str:
        name = access.array.name
        variables = self._buffers.scopes.variables(name, at)
        if variables is None:
            for replaced, variable in self.replaced:
                if is_same_element(replaced, at):
                    return variable
            return self.element(access.array, self._expressions.subscripts(at))
        self._buffers.use(
            name,
            variables,
            read=access.kind is AccessKind.READ,
            sets=_sets(always, access) and self._is_alone(instance, access, variables),
        )
        *others, (last, _) = variables.items()
        if not others:
            return last
        subscript = self._expressions.subscripts(at)[0].bound(ADDITIVE)
        tests = "".join(f"{subscript} == {number} ? {name} : " for name, number in others)
        return f"({tests}{last})"

    def _is_alone(self, instance: Instance, access: Access, variables: Mapping[str, str]) -> bool:
        """Whether no other access of ``instance`` may mean one of ``variables``."""
        return not any(
            each is not access
            and each.array.name == access.array.name
            and variables.keys() & (self._buffers.scopes.variables(each.array.name, at) or {}).keys()
            for each, at in instance.accesses
        )


def _sets(always: c_ast.Node | None, access: Access) -> bool:
    """Whether ``always`` is an assignment to what ``access`` stands for."""
    return isinstance(always, c_ast.Assignment) and always.op == "=" and always.lvalue is access.node


def _element_type(array: Array) -> str:
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - arrays of others are in no buffers
    return array.element.name


def counter_type(statement: Statement, position: int) -> str:
    """The type of an original counter of ``statement``."""
    declared = statement.iterators[position].type
    return declared.name if isinstance(declared, IntegerType) else COUNTER_TYPE
