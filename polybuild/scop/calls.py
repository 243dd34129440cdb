"""Calls in a region: what the called function reads and writes, in terms of the caller's arrays.

A function defined in the same file is read like a statement that is kept whole:
its pointer parameters stand for the arguments, integer parameters that it does
not change have the argument's value. For other functions, attributes and
``#pragma polybuild access`` say which arguments they read and write.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import islpy as isl
from pycparser import c_ast

from polybuild.c import types
from polybuild.c.conversions import decayed
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import location
from polybuild.c.synthetic import AnySubscript, EntryValue
from polybuild.diagnostics import Unsupported
from polybuild.normalise import normalise
from polybuild.normalise.hoisted_tables import with_own_tables
from polybuild.normalise.memory_functions import sets_memory
from polybuild.normalise.names import Names, Variable, resolve
from polybuild.normalise.unknown_calls import unknown_call
from polybuild.scop.accesses import AccessDraft, AccessReader
from polybuild.scop.arrays import Arrays
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.expressions import Expressions
from polybuild.scop.facts import Facts
from polybuild.scop.model import AccessKind
from polybuild.scop.opaque import OpaqueReader
from polybuild.scop.program_point import ProgramPoint
from polybuild.scop.references import pointer_reference
from polybuild.source.model import Callee, Effects, Region
from polybuild.values import dataclass

_HINT = "declare what it accesses: #pragma polybuild access(f, read(x), write(y)), or write it as expressions"
_COPIED = "copy whole numbers, by pointers to their type or to bytes; else read bytes as 'p[0] | p[1] << 8'"
_BY_NAME = "call functions by their names, or set the pointer before the region, to a function above it"


class UnknownCall(Unsupported):
    """The region calls a function of which nothing is known: no other form of the region does without it."""

    def __init__(self, message: str, node: c_ast.Node, hint: str = _HINT) -> None:
        super().__init__("call", message, location(node), hint)


def check_calls(region: Region) -> None:
    """Refuse a region that is certain to be refused for what it calls, before anything is made of it.

    Raises UnknownCall.
    """
    certain = unknown_call(region)
    if certain is not None:
        name, called = certain.unknown, str(certain.call.name.name)
        message = f"the function '{name}' may have side effects"
        if name != called:
            message = _not_modelled(called, message)
        raise UnknownCall(message, certain.call, _COPIED if sets_memory(name) else _HINT)


@dataclass(frozen=True, slots=True)
class _CallSite:
    """A call at a point; ``sure`` if the point is known to be reached and the call made."""

    node: c_ast.FuncCall
    point: ProgramPoint
    facts: Facts
    inner: frozenset[Variable]
    certain: bool
    sure: bool

    @property
    def arguments(self) -> list[c_ast.Node]:
        """The arguments, in order."""
        return list(self.node.args.exprs) if self.node.args is not None else []


class CallReader:
    """The calls of one walk over a region; ``everything`` are those that may read any memory."""

    def __init__(self, region: Region, arrays: Arrays, assumptions: Assumptions) -> None:
        self._region = region
        self._arrays = arrays
        self._assumptions = assumptions
        self._bodies: dict[str, tuple[Region, Names]] = {}
        self._open: list[tuple[str, c_ast.Node]] = []
        self._entered: list[str] = []  # those whose bodies are being read, not their arguments
        self.everything: set[c_ast.Node] = set()

    def read(
        self,
        node: c_ast.FuncCall,
        point: ProgramPoint,
        facts: Facts,
        *,
        inner: frozenset[Variable],
        guarded: bool,
        certain: bool,
    ) -> list[AccessDraft]:
        """The accesses of evaluating the call ``node``, its arguments included. Raises Unsupported."""
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        callee = self._region.callees.get(name)
        if not name or node.name in facts.names.variables:
            raise UnknownCall("a function is called by pointer", node, _BY_NAME)
        if callee is None:
            hint = _COPIED if sets_memory(name) else _HINT
            raise UnknownCall(f"the function '{name}' may have side effects", node, hint)
        if callee.problem:
            raise _refusal(name, callee.problem, node)
        if name in self._entered:
            raise _refusal(name, "it calls itself", node)
        reader = AccessReader(facts, self._arrays, self._assumptions, inner=inner, guarded=guarded)
        site = _CallSite(node, point, facts, inner, certain, certain and not guarded)
        self._open.append((name, node))
        try:
            if callee.effects is not None:
                self._declared(callee, callee.effects, site, reader)
            elif callee.body is not None:
                self._defined(callee, callee.body, site, reader)
        except Unsupported as error:
            if len(self._open) > 1:
                raise  # the message is about the call in the region
            message = error.diagnostic.message
            if isinstance(error, UnknownCall):
                raise UnknownCall(_not_modelled(name, message), node) from error
            if message.startswith(f"the function '{name}'"):
                raise Unsupported("call", message, location(node), error.diagnostic.hint) from error
            hint = error.diagnostic.hint if error.diagnostic.code == "declaration" else _HINT
            raise _refusal(name, message, node, hint) from error
        finally:
            self._open.pop()
        return [
            each
            if each.kind is AccessKind.READ or certain
            else dataclasses.replace(each, kind=AccessKind.MAY_WRITE)
            for each in reader.found
        ]

    # Functions whose effects are declared

    def _declared(self, callee: Callee, effects: Effects, site: _CallSite, reader: AccessReader) -> None:
        for position, argument in enumerate(site.arguments):
            parameter = callee.parameters[position] if position < len(callee.parameters) else None
            if parameter is None or not _is_pointer(_type(parameter, site.facts.region)):
                reader.read(argument, site.point, certain=site.certain)
            else:
                self._read_address(argument, site, reader)
                if effects.reads_everything and not isinstance(argument, c_ast.Constant):
                    reader.touch(_anywhere_in(argument), site.point, AccessKind.READ)
        if effects.reads_everything:
            self.everything.add(self._open[0][1])
            outside = (each for each in site.facts.names.iterators.values() if each.is_reachable)
            self._check_counters(callee, outside, site)
        for names, kind in ((effects.reads, AccessKind.READ), (effects.writes, AccessKind.MAY_WRITE)):
            for name in names:
                if not _by_value(name, callee, site):
                    reader.touch(self._whole(name, callee, site), site.point, kind)
                elif kind is not AccessKind.READ:  # the value itself was read with the arguments
                    raise _written_value(name, callee, site.node)

    @staticmethod
    def _whole(name: str, callee: Callee, site: _CallSite) -> c_ast.Node:
        """An element, whichever, of what the parameter or global variable ``name`` leads to."""
        position = _position(name, callee)
        if 0 <= position < len(site.arguments):
            return _anywhere_in(site.arguments[position])
        variable = site.facts.names.outer.get(name)
        if variable is None or variable.storage is not StorageClass.GLOBAL:
            raise _refusal(
                callee.name, f"'{name}' is neither one of its parameters nor a global variable", site.node
            )
        identifier = c_ast.ID(name)
        site.facts.names.variables[identifier] = variable
        return identifier if _is_single(variable) else AnySubscript.below(identifier)

    # Functions that are defined in the file

    def _defined(self, callee: Callee, body: Region, site: _CallSite, reader: AccessReader) -> None:
        if len(site.arguments) != len(callee.parameters):
            raise _refusal(callee.name, "it is called with another number of arguments", site.node)
        facts, point = site.facts, site.point
        body, own = self._body_of(callee, body)
        self._check_counters(callee, own.variables.values(), site)
        entries = {node.name: each for node, each in own.variables.items() if isinstance(node, EntryValue)}
        parameters: set[Variable] = set()
        values: dict[Variable, isl.PwAff] = {}
        bound: dict[Variable, c_ast.Node] = {}
        for parameter, argument in zip(callee.parameters, site.arguments, strict=True):
            variable = own.outer[str(parameter.name)]
            named = {variable, entries.get(str(parameter.name), variable)}
            parameters |= named
            kind = decayed(variable.type)
            if _is_pointer(kind):
                self._read_address(argument, site, reader)
                bound |= dict.fromkeys(named, argument)
            elif isinstance(kind, types.IntegerType | types.FloatingType):
                reader.read(argument, point, certain=site.certain)
                value = self._value(argument, kind, point, facts)
                if value is not None:
                    values |= dict.fromkeys(named - own.written, value)
            else:
                raise _refusal(callee.name, "a structure is passed by value", site.node)
        # only the values that arguments give them are known of the parameters
        own = dataclasses.replace(own, written=own.written.union(parameters.difference(bound)))
        region = _with_constants(body, facts.region)
        within = dataclasses.replace(facts, region=region, names=_joined(facts.names, own, bound))
        inner = site.inner.union(parameters)
        opaque = OpaqueReader(within, self._arrays, self._assumptions, inner=inner, in_function=True)
        there = dataclasses.replace(point, values={**point.values, **values})
        self._entered.append(callee.name)
        try:
            found = opaque.read(c_ast.Compound(list(body.statements)), there, certain=site.sure)
        finally:
            self._entered.pop()
        reader.found += [dataclasses.replace(each, node=site.node, exact=False) for each in found]

    @staticmethod
    def _check_counters(callee: Callee, used: Iterable[Variable], site: _CallSite) -> None:
        """Refuse functions that see the counter of a loop: the generated loops have their own."""
        counters = set(site.point.counters)
        for variable in used:
            if variable in counters:
                raise _refusal(
                    callee.name, f"it uses '{variable.name}', which counts a loop of the region", site.node
                )

    def _body_of(self, callee: Callee, body: Region) -> tuple[Region, Names]:
        """A function's body, and its names, the globals being those of the region.

        In normal form where it walks with pointers: they are followed there.
        """
        known = self._bodies.get(callee.name)
        if known is None:
            body = with_own_tables(body)
            names = resolve(body)
            if any(_is_pointer(decayed(each.type)) for each in names.written):
                body = normalise(body)
                names = resolve(body)
            known = self._bodies[callee.name] = body, _shared(names, self._arrays.outer, callee)
        return known

    def _value(
        self, argument: c_ast.Node, kind: types.Type, point: ProgramPoint, facts: Facts
    ) -> isl.PwAff | None:
        """The value that an integer parameter gets, None if it is not affine."""
        if not isinstance(kind, types.IntegerType):
            return None
        violations: list[Violation] = []
        try:
            value = Expressions(facts, "subscript", violations).value(argument, point, kind)
        except Unsupported:
            return None
        return None if any(self._assumptions.is_possible(each) for each in violations) else value

    @staticmethod
    def _read_address(argument: c_ast.Node, site: _CallSite, reader: AccessReader) -> None:
        """What is read to compute an address: the subscripts in it, not the memory there."""
        if isinstance(argument, c_ast.Constant):
            return
        reference = pointer_reference(argument, site.facts.names)
        for each in (*reference.subscripts, *([reference.offset] if reference.offset is not None else ())):
            reader.read(each, site.point, certain=site.certain)


def _shared(own: Names, outer: Mapping[str, Variable], callee: Callee) -> Names:
    """``own`` with the region's variables for the globals of the function."""
    same: dict[Variable, Variable] = {}
    for name, variable in own.outer.items():
        if variable.storage is StorageClass.GLOBAL:
            there = outer.get(name)
            if there is not None and there.storage is StorageClass.GLOBAL:
                same[variable] = there
    hidden = {
        each.name
        for each in own.variables.values()
        if each.storage is StorageClass.GLOBAL and not each.local and each not in same
    }
    if hidden:
        raise _refusal(
            callee.name,
            f"it uses the variable '{min(hidden)}', which is not visible in the region",
            callee.parameters[0] if callee.parameters else next(iter(own.variables)),
        )

    def one(variable: Variable) -> Variable:
        return same.get(variable, variable)

    return dataclasses.replace(
        own,
        variables={node: one(each) for node, each in own.variables.items()},
        outer={name: one(each) for name, each in own.outer.items()},
        written=frozenset(map(one, own.written)),
        written_members=frozenset((one(root), members) for root, members in own.written_members),
        set_members=frozenset((one(root), members) for root, members in own.set_members),
        iterators={loop: one(each) for loop, each in own.iterators.items()},
    )


def _joined(caller: Names, own: Names, bound: dict[Variable, c_ast.Node]) -> Names:
    """The names inside a call: the function's own, and the caller's in its arguments."""
    return Names(
        variables={**caller.variables, **own.variables},
        outer={**caller.outer, **own.outer},
        written=caller.written | own.written,
        written_members=caller.written_members | own.written_members,
        set_members=caller.set_members | own.set_members,
        iterators={**caller.iterators, **own.iterators},
        escaping=caller.escaping | own.escaping,
        demoted=caller.demoted.union(own.iterators.values()),
        bound={**caller.bound, **bound},
    )


def _type(parameter: c_ast.Node, region: Region) -> types.Type:
    return decayed(region.visible.scope.resolve(parameter))


def _with_constants(body: Region, caller: Region) -> Region:
    """``body`` where the caller's enumeration constants are visible, too: arguments may mention them."""
    scope = body.visible.scope.inner()
    scope.enumerators = {**caller.visible.enumerators, **scope.enumerators}
    return dataclasses.replace(body, visible=dataclasses.replace(body.visible, scope=scope))


def _is_single(variable: Variable) -> bool:
    return isinstance(variable.type, types.IntegerType | types.FloatingType)


def _is_pointer(kind: types.Type) -> bool:
    return isinstance(kind, types.PointerType)


def _position(name: str, callee: Callee) -> int:
    """The place, from 0, of the parameter that is called ``name`` or has this number from 1; -1 if none."""
    if name.isdigit():
        return int(name) - 1
    return next((at for at, each in enumerate(callee.parameters) if getattr(each, "name", None) == name), -1)


def _anywhere_in(argument: c_ast.Node) -> c_ast.Node:
    """An element, whichever, of the row, array or object into which a pointer ``argument`` points."""
    if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
        inner = argument.expr
        if isinstance(inner, c_ast.ID | c_ast.StructRef):
            return inner
        if isinstance(inner, c_ast.ArrayRef):
            return AnySubscript.below(inner.name)
    if isinstance(argument, c_ast.BinaryOp) and argument.op == "+":
        return AnySubscript.below(argument.left)
    return AnySubscript.below(argument)


def _by_value(name: str, callee: Callee, site: _CallSite) -> bool:
    """Whether ``name`` is a parameter that leads to no memory of the caller's."""
    position = _position(name, callee)
    known = 0 <= position < len(callee.parameters)
    return known and not _is_pointer(_type(callee.parameters[position], site.facts.region))


def _written_value(name: str, callee: Callee, node: c_ast.Node) -> Unsupported:
    """That ``#pragma polybuild access`` says of a value that it is written."""
    return Unsupported(
        "call",
        f"the function '{callee.name}' is not modelled: '{name}' is passed by value, so it cannot be written",
        location(node),
        f"name in 'write(...)' only what '{callee.name}' gets the address of, and global variables",
    )


def _refusal(name: str, reason: str, node: c_ast.Node, hint: str = _HINT) -> Unsupported:
    return Unsupported("call", _not_modelled(name, reason), location(node), hint)


def _not_modelled(name: str, reason: str) -> str:
    return f"the function '{name}' is not modelled: {reason}"
