"""Calls of functions that are one expression, replaced by that expression before a region is modelled.

``A[at(i, j)]`` with ``static int at(int i, int j) { return i * N + j; }`` becomes
``A[i * N + j]``: the subscript is then one the model understands.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.conversions import decayed, is_same_function
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import (
    duplicate,
    has_side_effect,
    key,
    mapped,
    names_in,
    walk,
    walk_values,
    with_parts,
)
from polybuild.c.synthetic import declarator
from polybuild.c.typing import type_of, with_declared
from polybuild.effort import INLINED_CALLS
from polybuild.normalise.computing_functions import (
    assigned_names,
    block,
    computed_value,
    hoistable_calls,
    is_size_of_object,
    own_names,
    parameter_variable,
    renamed,
    updating_statements,
    with_named_structure,
    without_copy,
)
from polybuild.normalise.out_parameters import addressed, is_target_only, symbols_after
from polybuild.normalise.single_exit import with_single_exit
from polybuild.normalise.structure import reads_memory
from polybuild.source.model import Callee, Region
from polybuild.values import dataclass

_RETURNED = (types.IntegerType, types.FloatingType, types.PointerType)
_STATEMENTS = (c_ast.Compound, c_ast.If, c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Case, c_ast.Default)


def inline_calls(region: Region, *, loops: bool = True) -> Region:
    """``region`` with calls of one-expression functions replaced; itself if there are none.

    With ``loops``, functions that compute their value in loops, or change elements, are replaced, too.
    """
    callees = _Callees(region.callees, loops=loops)
    called = _called(region.statements) & region.callees.keys()
    inliner = _inliner(region, [callees.flat(each) for each in sorted(called)], loops=loops)
    statements = tuple(inliner.statements(region.statements)) if inliner is not None else ()
    if inliner is None or not inliner.count:
        if not any(region.callees[each].stays for each in called):
            return region
        statements = region.statements
    visible = dataclasses.replace(region.visible, symbols=symbols_after(region, statements))
    return dataclasses.replace(region, statements=statements, visible=visible)


@dataclass(frozen=True, slots=True)
class _Callees:
    """The functions that a region calls, with one ``return`` each and the calls in their bodies replaced."""

    callees: Mapping[str, Callee]
    loops: bool
    _flat: dict[tuple[str, int, frozenset[str]], Callee] = dataclasses.field(default_factory=dict)
    _calls: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)

    def flat(self, name: str, around: tuple[str, ...] = ()) -> Callee:
        """The function ``name``, where those ``around`` it are being called."""
        # of those around only the ones that it may call again matter, and how many they are
        key = name, len(around), frozenset(self._reachable(name) & set(around))
        if key not in self._flat:
            self._flat[key] = self._flattened(self.callees[name], (*around, name))
        return self._flat[key]

    def _flattened(self, callee: Callee, around: tuple[str, ...]) -> Callee:
        callee = with_named_structure(callee)
        body = callee.body
        if body is None or len(around) > INLINED_CALLS:
            return callee
        inner = [self.flat(each, around) for each in sorted(self._called_by(callee.name) - set(around))]
        others = [each.name for each in inner if each.body is not None and _expression(each) is None]
        callee = with_single_exit(callee, others)
        body = callee.body
        assert body is not None  # noqa: S101 - it had one before
        inliner = _inliner(body, inner, loops=self.loops)
        statements = tuple(inliner.statements(body.statements)) if inliner is not None else ()
        if inliner is None or not inliner.count:
            return callee
        return dataclasses.replace(callee, body=dataclasses.replace(body, statements=statements))

    def _reachable(self, name: str) -> set[str]:
        """The functions that ``name`` calls, directly or not."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            called = self._called_by(waiting.pop()) - found
            found |= called
            waiting += called
        return found

    def _called_by(self, name: str) -> frozenset[str]:
        """The functions that ``name`` calls itself."""
        if name not in self._calls:
            body = self.callees[name].body
            called = _called(body.statements) if body is not None else set[str]()
            self._calls[name] = frozenset(called & self.callees.keys())
        return self._calls[name]


def _called(statements: Sequence[c_ast.Node]) -> set[str]:
    """The functions that ``statements`` call by their names."""
    return {
        str(each.name.name)
        for statement in statements
        for each in walk(statement)
        if isinstance(each, c_ast.FuncCall) and isinstance(each.name, c_ast.ID)
    }


def _inliner(region: Region, callees: Sequence[Callee], *, loops: bool) -> _Inliner | None:
    """What replaces calls of ``callees`` in ``region``; None if none of them can be."""
    callees = [each for each in callees if not each.stays]
    bodies = {each.name: each for each in callees if _expression(each) is not None}
    computing = {
        each.name: each
        for each in callees
        if loops and (computed_value(each, elements=True) is not None or updating_statements(each))
    }
    return _Inliner(region, bodies, computing) if bodies or computing else None


def _expression(callee: Callee) -> c_ast.Node | None:
    """The expression that the function returns and does nothing else."""
    if callee.body is None or len(callee.body.statements) != 1:
        return None
    only = callee.body.statements[0]
    if not isinstance(only, c_ast.Return) or only.expr is None:
        return None
    element = isinstance(only.expr, c_ast.UnaryOp) and only.expr.op == "&"
    pure = not any(
        isinstance(each, c_ast.Assignment | c_ast.CompoundLiteral | c_ast.InitList)
        or (isinstance(each, c_ast.UnaryOp) and each.op in {"++", "--", "p++", "p--", "&"})
        or is_size_of_object(each)
        for each in walk_values(only.expr.expr if element else only.expr)
    )
    return only.expr if pure else None


def _is_found_alike(lvalue: c_ast.Node, call: c_ast.FuncCall) -> bool:
    """Whether ``lvalue`` is the same object before and after ``call``, which may change its arguments."""
    subscripts = [each.subscript for each in walk(lvalue) if isinstance(each, c_ast.ArrayRef)]
    pointers = [each.expr for each in walk(lvalue) if isinstance(each, c_ast.UnaryOp) and each.op == "*"]
    changed = {addressed(each) for each in (call.args.exprs if call.args is not None else ())}
    return not any(map(reads_memory, (*subscripts, *pointers))) and changed.isdisjoint(names_in(lvalue))


def _is_own(expression: c_ast.Node, body: Region, callee: Callee) -> bool:
    """Whether ``expression`` is the address of a parameter, or of a part of one, which ends with the call."""
    if not isinstance(expression, c_ast.UnaryOp) or expression.op != "&":
        return False
    node = expression.expr
    while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        base = type_of(node.name, body.visible.symbols, body.visible)
        of_parameter = isinstance(node.name, c_ast.ID)  # no parameter is an array
        if isinstance(decayed(base) if of_parameter else base, types.PointerType):
            return False
        node = node.name
    return isinstance(node, c_ast.ID) and node.name in {each.name for each in callee.parameters}


class _Inliner:
    """One pass over a region."""

    def __init__(self, region: Region, bodies: Mapping[str, Callee], computing: Mapping[str, Callee]) -> None:
        self._region = region
        self._bodies = bodies
        self._computing = computing
        parts = (part for each in region.statements for part in walk(each))
        declared = [each for each in parts if isinstance(each, c_ast.Decl) and each.name]
        self._symbols = with_declared(region.visible.symbols, declared, region.visible)
        self._declared = {str(each.name) for each in declared}
        self._open: list[str] = []
        self.count = 0

    def statements(self, nodes: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
        """Statements that stand in a block, some of which may become several."""
        for node in nodes:
            hoisted = self._hoisted(node)
            if hoisted:
                yield block(list(self.statements(hoisted)), node.coord)
                continue
            updates = self._updates(node)
            if updates:
                yield block(updates, node.coord)
                continue
            declared = isinstance(node, c_ast.Decl) and node.init is not None
            value = node.init if declared else node.rvalue if isinstance(node, c_ast.Assignment) else None
            computed = None if value is None else self._computed(node, value)
            if computed is None:
                yield self.statement(node)
                continue
            if declared:
                uninitialised = mapped(node, lambda each: each)
                uninitialised.init = None
                yield uninitialised
                computed = without_copy(computed, node)
            yield block(computed, node.coord)

    def _computed(self, node: c_ast.Node, value: c_ast.Node) -> list[c_ast.Node] | None:
        """What ``node``, which stores ``value``, is with the statements of a function that it calls."""
        if isinstance(node, c_ast.Decl):
            const = "const" in node.quals or not isinstance(node.type, c_ast.TypeDecl)
            if const or "const" in node.type.quals:
                return None
            node = c_ast.Assignment("=", c_ast.ID(node.name, node.coord), value, node.coord)
        for call in hoistable_calls(value, self._computing, self._bodies):
            callee = self._computing[call.name.name]
            # what else reads what it changes may do so before or after the call, as the compiler likes
            alone = call is value and node.op == "=" and _is_found_alike(node.lvalue, call)
            alone = alone or self._changes_others(call, (node.lvalue, value))
            if not has_side_effect(node.lvalue) and self._is_visible(callee.name):
                found = self._body(call, callee, elements=alone)
                if found is not None:
                    *statements, result = found
                    self.count += 1
                    stored = with_parts(node, {id(call): result})
                    return [*statements, *(self._computed(stored, stored.rvalue) or [self.statement(stored)])]
        return None

    def _hoisted(self, node: c_ast.Node) -> list[c_ast.Node]:
        """``node`` with variables before it for calls in its arguments or condition; empty without any."""
        if isinstance(node, c_ast.FuncCall):
            parts = list(node.args.exprs) if node.args is not None else []
        else:
            parts = [node.cond] if isinstance(node, c_ast.If) else []
        variables: list[c_ast.Node] = []
        names: dict[int, c_ast.Node] = {}
        for call in (each for part in parts for each in hoistable_calls(part, self._computing)):
            callee = self._computing[call.name.name]
            nested = any(id(each) in names for each in walk(call))
            known = computed_value(callee, elements=self._changes_others(call, parts)) is not None
            if nested or not known or not self._is_visible(callee.name):
                continue
            variable = self._variable(call, callee)
            if variable is not None:
                names[id(call)] = c_ast.ID(variable.name, call.coord)
                variables.append(variable)
        return [*variables, with_parts(node, names)] if variables else []

    def _changes_others(self, call: c_ast.FuncCall, parts: Sequence[c_ast.Node]) -> bool:
        """Whether ``call``, in ``parts`` of a statement, can change only variables not mentioned beside it.

        These are what it gets the addresses of; all else that it gets are numbers.
        """
        mentioned = [name for part in parts for name in names_in(part)]
        for each in call.args.exprs if call.args is not None else ():
            kind = type_of(each, self._symbols, self._region.visible)
            changed = addressed(each)
            if changed is None and not isinstance(kind, types.IntegerType | types.FloatingType):
                return False
            if changed is not None and mentioned.count(changed) != 1:
                return False
        return True

    def _variable(self, call: c_ast.FuncCall, callee: Callee) -> c_ast.Decl | None:
        """A variable of the type that ``callee`` returns, with the value of ``call``."""
        assert callee.body is not None  # noqa: S101 - it computes a value
        kind = callee.body.visible.scope.resolve(callee.body.function.decl.type.type)
        if not isinstance(kind, types.IntegerType | types.FloatingType):
            return None
        if self._body(call, callee, elements=True) is None:
            return None
        self.count += 1
        name = f"value_{callee.name}{self.count}"
        if name in self._symbols:
            return None
        self._declare(name, kind)
        return c_ast.Decl(name, [], [], [], [], declarator(name, kind), call, None, call.coord)

    def _updates(self, node: c_ast.Node) -> list[c_ast.Node]:
        """The statements of the function that the statement ``node`` calls; none if it is not replaced."""
        if isinstance(node, c_ast.Cast):
            node = node.expr  # to void
        if not isinstance(node, c_ast.FuncCall) or not isinstance(node.name, c_ast.ID):
            return []
        callee = self._computing.get(node.name.name)
        if callee is None or not self._is_visible(callee.name):
            return []
        statements = updating_statements(callee)
        found = self._with_arguments(self.statement(node), callee, updating=True) if statements else None
        if found is None:
            return []
        before, names = found
        self.count += 1
        return [*before, *(renamed(each, names) for each in statements)]

    def _body(
        self, call: c_ast.FuncCall, callee: Callee, *, elements: bool = False
    ) -> list[c_ast.Node] | None:
        """The statements of a function for the arguments of a call, and last what it returns.

        It may change ``elements`` of the arguments, too, where that is asked for.
        """
        body, returned = callee.body, computed_value(callee, elements=elements)
        if body is None or returned is None:
            return None
        kind = body.visible.scope.resolve(body.function.decl.type.type)
        record = isinstance(kind, types.RecordType)
        if not record and not isinstance(kind, types.IntegerType | types.FloatingType):
            return None
        updating = computed_value(callee) is None
        found = self._with_arguments(call, callee, updating=updating)
        if found is None:
            return None
        before, names = found
        statements = [renamed(each, names) for each in body.statements[:-1]]
        result = renamed(returned, names)
        if isinstance(kind, types.IntegerType | types.FloatingType):
            result = self._converted(result, kind)
        return [*before, *statements, result]

    def _with_arguments(
        self, call: c_ast.FuncCall, callee: Callee, *, updating: bool = False
    ) -> tuple[list[c_ast.Node], dict[str, c_ast.Node]] | None:
        """Declarations of parameters with the arguments of ``call``, and what ``callee`` names in it.

        A function that is ``updating`` elements has the values that they had before it.
        """
        body = callee.body
        arguments = list(call.args.exprs) if call.args is not None else []
        if body is None or len(arguments) != len(callee.parameters):
            return None
        own, assigned = own_names(callee), assigned_names(callee)
        everything = block(body.statements, None)
        if not self._means_the_same(everything, body, set(own)) or any(map(has_side_effect, arguments)):
            return None
        number = self.count
        names: dict[str, c_ast.Node] = {each: c_ast.ID(f"{each}_{callee.name}{number}") for each in own}
        if any(each.name in self._symbols for each in names.values()):
            return None
        before: list[c_ast.Node] = []
        targets = {addressed(each) for each in arguments}
        for parameter, argument in zip(callee.parameters, arguments, strict=True):
            name = str(parameter.name)
            value = self._argument(argument, body.visible.symbols[name].type, names)
            reads = reads_memory(argument) and not self._is_part(argument)
            changes = updating and (reads or not targets.isdisjoint(names_in(argument)))
            if addressed(argument):
                changes = not is_target_only(callee, name)
            if value is not None and name not in assigned and not changes:
                names[name] = value
                continue
            variable = parameter_variable(parameter, names[name].name, value or argument)
            if variable is None:
                return None
            before.append(variable)
        for each in (*before, *(part for part in walk(everything) if isinstance(part, c_ast.Decl))):
            inner = names.get(each.name, each)
            self._declare(str(inner.name), body.visible.scope.resolve(each))
        return before, names

    def statement(self, node: c_ast.Node) -> c_ast.Node:
        """``visit``, but a call whose value is not used stays a call."""
        return mapped(node, self.visit) if isinstance(node, c_ast.FuncCall) else self.visit(node)

    def visit(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` with its calls replaced; the very node if there are none."""
        if not any(isinstance(each, c_ast.FuncCall) for each in walk(node)):
            return node
        if isinstance(node, c_ast.Compound):
            return c_ast.Compound(list(self.statements(node.block_items or [])), node.coord)
        if isinstance(node, _STATEMENTS):
            bodies = [getattr(node, name, None) for name in ("stmt", "iftrue", "iffalse")]
            condition = getattr(node, "cond", None)
            return mapped(
                node,
                lambda each: (
                    self.visit(each)
                    if each is condition
                    else self._one(each)
                    if any(each is body for body in bodies)
                    else self.statement(each)
                ),
            )
        node = mapped(node, self.visit)
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            callee = self._bodies.get(node.name.name)
            if callee is not None and self._is_visible(node.name.name):
                return self._inlined(node, callee) or node
        return node

    def _one(self, node: c_ast.Node) -> c_ast.Node:
        """A statement that is the body of another one."""
        found = list(self.statements([node]))
        return found[0] if len(found) == 1 else block(found, node.coord)

    def _is_visible(self, function: str) -> bool:
        return function not in self._symbols and function not in self._open

    def _inlined(self, call: c_ast.FuncCall, callee: Callee) -> c_ast.Node | None:
        body, expression = callee.body, _expression(callee)
        arguments = list(call.args.exprs) if call.args is not None else []
        if body is None or expression is None or len(arguments) != len(callee.parameters):
            return None
        result = body.visible.scope.resolve(body.function.decl.type.type)
        if not isinstance(result, _RETURNED) or len(self._open) >= INLINED_CALLS:
            return None
        if isinstance(result, types.PointerType) and _is_own(expression, body, callee):
            return None
        names = [str(each.name) for each in callee.parameters]
        if not self._means_the_same(expression, body, set(names)):
            return None
        mentioned = list(names_in(expression))
        values: dict[str, c_ast.Node] = {}
        for name, argument in zip(names, arguments, strict=True):
            repeated = mentioned.count(name) != 1
            calls = any(isinstance(each, c_ast.FuncCall) for each in walk(argument))
            if (has_side_effect(argument) and not calls) or (calls and repeated):
                return None
            kind = body.visible.symbols[name].type
            value = self._argument(argument, kind, values, anything=True)
            value = value or self._structure(argument, kind)
            if value is None:
                return None
            values[name] = value
        self.count += 1
        self._open.append(callee.name)
        inlined = self.visit(_substituted(expression, values))
        self._open.pop()
        if isinstance(result, types.PointerType):
            return self._pointer(inlined, result)
        return self._converted(inlined, result)

    def _pointer(self, value: c_ast.Node, kind: types.PointerType) -> c_ast.Node | None:
        """The address ``value`` as a pointer of type ``kind``; None if that is another type."""
        own = decayed(type_of(value, self._symbols, self._region.visible))
        return value if isinstance(own, types.PointerType) and own.target == kind.target else None

    def _means_the_same(self, expression: c_ast.Node, body: Region, parameters: set[str]) -> bool:
        """Whether the names in a function's expression are the same things in the region."""
        here, there = self._region.visible, body.visible
        for name in set(names_in(expression)) - parameters:
            if name in there.symbols:
                symbol = here.symbols.get(name)
                if symbol is not None and symbol.storage is StorageClass.HOISTED:
                    continue
                if symbol is None or symbol.storage is not StorageClass.GLOBAL or name in self._declared:
                    return False
            elif name in there.enumerators:
                if here.enumerators.get(name) != there.enumerators[name] or name in self._symbols:
                    return False
            elif name in self._symbols or (name in there.functions and name not in here.functions):
                return False
        named = {
            word
            for each in walk(expression)
            if isinstance(each, c_ast.IdentifierType)
            for word in each.names
            if word in there.scope.typedefs
        }
        tagged = (
            each
            for each in walk_values(expression)
            if isinstance(each, c_ast.Struct | c_ast.Union | c_ast.Enum)
        )
        return all(_is_same_tag(each, body, self._region) for each in tagged) and all(
            here.scope.typedefs.get(word) == there.scope.typedefs[word] and word not in self._symbols
            for word in named
        )

    def _declare(self, name: str, kind: types.Type) -> None:
        """``name``, of an inlined function, has type ``kind``; two of a name but not of a type have none."""
        known = self._symbols.setdefault(name, kind)
        if known != kind:
            self._symbols[name] = types.UnknownType(name)

    def _argument(
        self,
        argument: c_ast.Node,
        kind: types.Type,
        values: Mapping[str, c_ast.Node],
        *,
        anything: bool = False,
    ) -> c_ast.Node | None:
        """``argument`` as the value of a parameter of type ``kind``; ``values`` are those before it.

        A pointer has a name, or that of the variable that it points to, or is a part of an array that
        variables choose, unless it may be ``anything``.
        """
        if isinstance(kind, types.IntegerType | types.FloatingType):
            return self._converted(argument, kind)
        own = decayed(type_of(argument, self._symbols, self._region.visible))
        kind = decayed(kind)
        named = isinstance(argument, c_ast.ID) or addressed(argument) is not None or self._is_part(argument)
        if isinstance(kind, types.PointerType) and isinstance(kind.target, types.FunctionType):
            called = isinstance(own, types.PointerType) and is_same_function(kind.target, own.target)
            return (
                argument if called and (anything or named or isinstance(argument, c_ast.StructRef)) else None
            )
        if not anything and not named:
            return None
        if not isinstance(kind, types.PointerType) or not isinstance(own, types.PointerType):
            return argument if isinstance(kind, types.RecordType) and kind == own else None
        same = not kind.volatile and _same_elements(kind.target, own.target, values)
        return argument if same else None

    def _is_part(self, argument: c_ast.Node) -> bool:
        """Whether ``argument`` is an array in an array, as ``u[t % 2]``, by variables and numbers."""
        if not isinstance(type_of(argument, self._symbols, self._region.visible), types.ArrayType):
            return False
        while isinstance(argument, c_ast.ArrayRef) and not reads_memory(argument.subscript):
            argument = argument.name
        return isinstance(argument, c_ast.ID)

    def _structure(self, argument: c_ast.Node, kind: types.Type) -> c_ast.Node | None:
        """``argument`` if it is a structure of type ``kind`` in memory, whose members may be read instead."""
        own = decayed(type_of(argument, self._symbols, self._region.visible))
        in_memory = isinstance(argument, c_ast.ArrayRef | c_ast.StructRef | c_ast.UnaryOp)
        in_memory &= not isinstance(argument, c_ast.UnaryOp) or argument.op == "*"
        calls = any(isinstance(each, c_ast.FuncCall) for each in walk(argument))
        same = isinstance(kind, types.RecordType) and kind == own
        return argument if in_memory and same and not calls and not has_side_effect(argument) else None

    def _converted(self, value: c_ast.Node, kind: types.IntegerType | types.FloatingType) -> c_ast.Node:
        if type_of(value, self._symbols, self._region.visible) == kind:
            return value
        words = c_ast.IdentifierType(kind.name.split())
        name = c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, words))
        return c_ast.Cast(name, value, value.coord)


def _is_same_tag(node: c_ast.Node, one: Region, other: Region) -> bool:
    """Whether a structure that ``node`` names is the same in two regions."""
    if not isinstance(node, c_ast.Struct) or node.decls is not None:
        return False
    key_of_tag = "struct", node.name or ""
    found = one.visible.scope.tags.get(key_of_tag)
    return found is not None and found is other.visible.scope.tags.get(key_of_tag)


def _same_elements(kind: types.Type, own: types.Type, values: Mapping[str, c_ast.Node]) -> bool:
    """Whether ``kind``, the type of a parameter's elements, is ``own`` with ``values`` for the parameters."""
    if isinstance(kind, types.PointerType) and isinstance(own, types.PointerType):
        return kind.target == own.target and kind.volatile == own.volatile
    if not isinstance(kind, types.ArrayType) or not isinstance(own, types.ArrayType):
        return kind == own
    if kind.extent is None or own.extent is None or key(_substituted(kind.extent, values)) != key(own.extent):
        return False
    return _same_elements(kind.element, own.element, values)


def _substituted(expression: c_ast.Node, values: Mapping[str, c_ast.Node]) -> c_ast.Node:
    """A copy of ``expression`` with a copy of a value for each parameter."""
    if isinstance(expression, c_ast.ID) and expression.name in values:
        return duplicate(values[expression.name])
    if isinstance(expression, c_ast.StructRef):
        copied = mapped(expression, lambda each: each)
        copied.name = _substituted(expression.name, values)
        return copied
    if isinstance(expression, c_ast.NamedInitializer):
        return c_ast.NamedInitializer(
            expression.name, _substituted(expression.expr, values), expression.coord
        )
    return mapped(expression, lambda each: _substituted(each, values))
