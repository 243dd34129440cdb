"""isl's AST as lines of C."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import always_evaluates
from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.accumulators import AccumulatorPlace, AccumulatorPlaces
from polybuild.codegen.c.ast_checks import keeps_private
from polybuild.codegen.c.bodies import BodyPrinter, element
from polybuild.codegen.c.buffers import Scopes
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.dynamic import RestoredLoop, first_instance
from polybuild.codegen.c.expressions import ADDITIVE, AND, TERNARY, UNARY, ExpressionPrinter
from polybuild.codegen.c.nodes import FOR, IF, is_loop, kind_of, parts, statements_in_a_row
from polybuild.codegen.c.vectors import Lanes, Move, Packing, VectorPrinter
from polybuild.codegen.file.names import PREFIX, fresh, quoted
from polybuild.poly.marks import Mark, MarkKind
from polybuild.scop.model import AccessKind
from polybuild.storage.scalar_replacement import OrderedAccess, is_same_element, replaced_elements
from polybuild.targets.model import LoopDirective

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance, PrintedAst
    from polybuild.scop.model import Access, Array, DynamicLoop, Statement

_INDENT = "  "
# Wide enough for every value: a counter may run past an int bound by a tile.
COUNTER_TYPE = "long long"
_NO_PLACES = AccumulatorPlaces(())
_NO_SCOPES = Scopes({})


@dataclass(frozen=True, slots=True)
class Line:
    """A loop or a statement of the generated code, with ``depth`` loops around it.

    A loop runs through schedule dimension ``dimension`` with ``counter``; ``mark`` is the
    one whose directive stands before it, if there is one. ``statement`` is empty for a loop.
    """

    depth: int
    counter: str = ""
    dimension: int = -1
    mark: Mark | None = None
    statement: str = ""


class LoopPrinter:
    """Prints the AST of one region.

    ``names`` gives the C text of each parameter, ``taken`` the identifiers that
    generated counters must not hide, ``directives`` what is told of the
    loops under the marks of the schedule tree, ``scopes`` the buffers that loops' bodies
    declare, ``variables`` the names of accumulators and ``places`` where they are, ``sizes``
    the C text of the inner extents of each array that is a view. ``helpers`` collects what
    the text needs from the prologue. For a compiler that is ``unoptimised`` counters ask for registers,
    and bounds are computed before a loop.
    """

    counter_type = COUNTER_TYPE

    def __init__(
        self,
        ast: PrintedAst,
        names: Mapping[str, str],
        taken: frozenset[str],
        directives: DirectivePrinter,
        helpers: set[str],
        *,
        sizes: Mapping[str, tuple[str, ...]],
        scopes: Scopes = _NO_SCOPES,
        variables: Mapping[Mark, str] = MappingProxyType({}),
        places: AccumulatorPlaces = _NO_PLACES,
        unoptimised: bool = False,
    ) -> None:
        self._unoptimised = unoptimised
        self._places = places
        self._accumulators = variables
        # the elements that are variables in the code at hand, and the variables' names
        self._replaced: list[tuple[isl.AstExpr, str]] = []
        # per statement, the nodes of its body that an accumulator around the code at hand stands for
        self._accumulating: dict[str, dict[int, str]] = {}
        self._active: list[Mark] = []
        self._scopes = scopes
        self._ast = ast
        self._taken = taken
        self._directives = directives
        self._sizes = sizes
        self._helpers = helpers
        self._names = dict(names)
        self._file = ""
        self._depth = 0
        # the loops with dynamic bounds around the code at hand, whose predicates hold there
        self._open: set[DynamicLoop] = set()
        # for each declaration of buffers around the code at hand, which variables are used, and whether read
        self._declared: list[dict[str, dict[str, bool]]] = []
        self.outline: list[Line] = []

    def lines(self, file: str) -> list[str]:
        """The generated code; ``file`` is what ``#line`` calls the user's file."""
        self._file = file
        return self._block(self._ast.root, "")

    def _block(self, node: isl.AstNode, indent: str) -> list[str]:
        """Lines of the root, or of a loop's body, with the buffers that belong there."""
        buffers = self._scopes.declared_in(node)
        if not buffers:
            return self._node(node, indent, None)
        used: dict[str, dict[str, bool]] = {each.name: {} for each in buffers}
        self._declared.append(used)
        lines = self._node(node, indent, None)
        self._declared.pop()
        declared = [line for each in buffers for line in each.declaration(lines, used[each.name])]
        return [*(f"{indent}{line}" for line in declared), *lines]

    def _node(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """Lines of ``node``; the mark ``before`` waits for its loop, which is among the first ones in it."""
        kind = kind_of(node)
        if kind == FOR:
            return self._for(node, indent, before)
        if kind == IF:
            return self._if(node, indent, before)
        if kind == isl.ast_node_type.mark:
            return self._mark(node, indent, before)
        if kind == isl.ast_node_type.user:
            return self._statement(node, indent)
        if kind == isl.ast_node_type.block:
            return [line for each in parts(node) for line in self._node(each, indent, before)]
        raise NotImplementedError(f"isl AST node {kind}")

    def _mark(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        mark, below = Mark.of_id(node.mark_get_id()), node.mark_get_node()
        if mark.kind is MarkKind.LANES:  # the body takes all lanes at once
            return self._node(below.for_get_body(), indent, None)
        if mark in self._ast.tiles.registers or mark in self._ast.tiles.buffers:
            return self._scope(node, mark, indent)
        if mark in self._accumulators:
            return self._accumulate(node, indent, before)
        if mark.kind is MarkKind.UNROLLED:
            return self._unrolled(below, indent, before)
        directive = self._directives.at(mark)
        if directive is None or not keeps_private(
            below, directive.depth, tuple(each.name for each in directive.private), self._ast.everything
        ):
            return self._node(below, indent, before)
        return self._node(below, indent, mark)

    def _scope(self, node: isl.AstNode, mark: Mark, indent: str) -> list[str]:
        """A block around what uses the buffer, or the variables of the register tile, at ``mark``."""
        tiles = self._ast.tiles
        packed, tile = tiles.buffers.get(mark), tiles.registers.get(mark)
        if packed is not None:
            arrays = [access.array for access, _ in packed.elements if access.array.extents]
            wanted = "_".join(dict.fromkeys(array.name for array in arrays))
            self._names[mark.name] = fresh(PREFIX + wanted, self._taken.union(self._names.values()))
            declaration = self._vectors().buffer(packed)
        else:
            assert tile is not None  # noqa: S101 - the caller looked
            self._names[mark.name] = fresh(PREFIX + tile.array.name, self._taken.union(self._names.values()))
            declaration = self._vectors().variables(tile)
        lines = self._node(node.mark_get_node(), indent + _INDENT, None)
        name = self._names.pop(mark.name)
        if not any(name in line for line in lines):  # isl kept this copy of the code for what is left
            return [line.removeprefix(_INDENT) for line in lines]
        return [f"{indent}{{", f"{indent}{_INDENT}{declaration}", *lines, f"{indent}}}"]

    def _unrolled(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """Statements in a row, in a block with variables for elements that they access again and again."""
        names = [each.get_annotation().get_name() for each in statements_in_a_row(node)]
        instances = [self._ast.instances[name] for name in names if name in self._ast.instances]
        inner = indent + _INDENT
        declared, stored = [], []
        for each in replaced_elements([each for one in instances for each in self._ordered(one)]):
            subscripts = self._expression().subscripts(each.element)
            text = element(each.array, subscripts, self._sizes.get(each.array.name, ()))
            taken = self._taken.union(self._names.values(), (name for _, name in self._replaced))
            variable = fresh(PREFIX + each.array.name, taken)
            self._replaced.append((each.element, variable))
            value = f" = {text}" if each.loaded else ""
            declared.append(f"{inner}{register(each.type, wanted=self._unoptimised)} {variable}{value};")
            stored.append(f"{inner}{text} = {variable};")
        if not declared:
            return self._node(node, indent, before)
        lines = self._node(node, inner, before)
        self._replaced.clear()
        return [f"{indent}{{", *declared, *lines, *stored, f"{indent}}}"]

    def _ordered(self, instance: Instance) -> Iterator[OrderedAccess]:
        """The accesses of ``instance`` in execution order, with the elements of those that stay in place."""
        body, dynamic = instance.statement.body, instance.statement.dynamic
        accumulating = {each for nodes in self._accumulating.values() for each in nodes}
        made = {id(access.node): (access.array.name, made) for access, made in instance.accesses}
        for access in instance.statement.accesses:
            name, expression = made.get(id(access.node), ("", None))
            in_place = name == access.array.name and id(access.node) not in accumulating
            certain = not dynamic and always_evaluates(body, access.node)
            yield OrderedAccess(access, expression if in_place else None, certain)

    def _accumulate(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """A block around what accumulates in a variable."""
        below, place = node.mark_get_node(), self._places.at(node)
        if place is None:
            return self._node(below, indent, before)
        accumulator, inner = place.accumulator, indent + _INDENT
        array, variable = accumulator.array, self._accumulators[accumulator.mark]
        subscripts = self._expression().subscripts(place.element)
        text = element(array, subscripts, self._sizes.get(array.name, ()))
        value, back = f"({accumulator.type.name}){text}", f"{text} = ({_name_of(array)}){variable};"
        if accumulator.type == array.element:
            value, back = text, f"{text} = {variable};"
        loop = self._loop_of(below, {each.statement.name for each in accumulator.reductions})
        block = "{"
        if place.dates is not None and loop is not None:
            entered = self._is_entered(loop, place)
            block = "{" if entered == "1" else f"if ({entered}) {{"
        elif place.dates is not None:
            runs = self._expression().text(place.runs(self._names), TERNARY + 1)
            value, back = f"{runs} ? {value} : 0", f"if ({runs}) {back}"
        saved = self._accumulating
        own = {each.statement.name: dict.fromkeys(each.own, variable) for each in accumulator.reductions}
        self._accumulating = {**saved, **own}
        self._active.append(accumulator.mark)
        lines = self._node(below, inner, before)
        self._active.pop()
        self._accumulating = saved
        head = f"{inner}{accumulator.type.name} {variable} = {value};"
        return [f"{indent}{block}", head, *lines, f"{inner}{back}", f"{indent}}}"]

    def _directive(self, directive: LoopDirective | None, indent: str) -> list[str]:
        """The line of ``directive``, with those of its accumulators that something below accumulates in."""
        return [] if directive is None else [f"{indent}{self._directives.line(directive, self._active)}"]

    def _loop_of(self, node: isl.AstNode, names: set[str]) -> isl.AstNode | None:
        """The loop that ``node`` is, if each of its iterations runs a statement of ``names``."""
        while kind_of(node) == isl.ast_node_type.mark:
            node = node.mark_get_node()
        return node if is_loop(node) and self._always_runs(node.for_get_body(), names) else None

    def _always_runs(self, node: isl.AstNode, names: set[str]) -> bool:
        """Whether an instance of the statements called ``names`` runs whenever ``node`` does."""
        kind = kind_of(node)
        if kind == isl.ast_node_type.user:
            return self._ast.everything[node.get_annotation().get_name()].statement.name in names
        conditional = kind == IF or is_loop(node)
        return not conditional and any(self._always_runs(each, names) for each in parts(node))

    def _is_entered(self, loop: isl.AstNode, place: AccumulatorPlace) -> str:
        """Whether ``loop``, which accumulates at ``place``, has an iteration; "1" if it certainly has."""
        hint = loop.get_annotation()
        restored = self._ast.dynamic.get(hint.get_name()) if hint is not None else None
        if restored is not None:
            counted, instance = restored.loop, self._ast.instances[first_instance(loop)]
            start = self._printer(instance, {}).visit(counted.start)
            iterator = instance.statement.iterators[counted.position].name
            entered = self._printer(instance, {iterator: f"({start})"}).visit(counted.header.cond)
            return f"{self._expression().text(place.runs(self._names), AND)} && ({entered})"
        identifier = loop.for_get_iterator().id_get_id().get_name()
        start = self._expression().text(loop.for_get_init())
        names = {**self._names, identifier: start if start.isalnum() else f"({start})"}
        printer = ExpressionPrinter(lambda name: names.get(name, name), self._helpers)
        text = printer.text(loop.for_get_cond())
        numbers = re.fullmatch(r"(\d+) <= (\d+)", text)
        return "1" if numbers and int(numbers[1]) <= int(numbers[2]) else text

    def _for(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        identifier = node.for_get_iterator().id_get_id().get_name()
        hint = node.get_annotation()
        restored = self._ast.dynamic.get(hint.get_name()) if hint is not None else None
        if restored is not None and not node.for_is_degenerate():
            return self._restored(node, restored, indent, before)
        counter = self._counter(hint.get_name() if hint is not None and restored is None else "")
        outer = self._names.get(identifier)
        start = self._expression().text(node.for_get_init())
        self._names[identifier] = counter
        once = node.for_is_degenerate()
        directive = self._directives.at(before)
        # isl names the counter of schedule dimension d "c<d>"
        if directive is not None and (once or identifier != f"c{directive.depth}"):
            directive, before = None, None
        if not once:
            self.outline.append(Line(self._depth, counter, int(identifier[1:]), before))
            self._depth += 1
        inside = node.for_get_body()
        body = self._node(inside, indent + _INDENT, None) if once else self._block(inside, indent + _INDENT)
        if once:
            kind = register(f"const {self.counter_type}", wanted=self._unoptimised)
            head = [f"{indent}{{", f"{indent}{_INDENT}{kind} {counter} = {start};"]
            head.append(f"{indent}{_INDENT}(void)sizeof {counter};")
        else:
            start, condition = self._bounds(node, counter, start, alone=directive is not None)
            step = self._expression().text(node.for_get_inc())
            advance = f"{counter}++" if step == "1" else f"{counter} += {step}"
            head = self._directive(directive, indent)
            self._depth -= 1
            kind = register(self.counter_type, wanted=self._unoptimised)
            head.append(f"{indent}for ({kind} {counter} = {start}; {condition}; {advance}) {{")
        if outer is None:
            del self._names[identifier]
        else:
            self._names[identifier] = outer
        return [*head, *body, f"{indent}}}"]

    def _bounds(self, node: isl.AstNode, counter: str, start: str, *, alone: bool) -> tuple[str, str]:
        """What stands after the counter in the head of a loop, and its condition.

        The counter is the only variable declared there if it has to be ``alone``, as under a directive.
        """
        condition = node.for_get_cond()
        text = self._expression().text(condition)
        if alone or not self._unoptimised:
            return start, text
        end = self._expression().text(condition.op_get_arg(1))
        if re.fullmatch(r"\w+", end):
            return start, text
        last = fresh(f"{counter}_end", self._taken.union(self._names.values()))
        return f"{start}, {last} = {end}", f"{text.removesuffix(end)}{last}"

    def _restored(
        self, node: isl.AstNode, restored: RestoredLoop, indent: str, before: Mark | None
    ) -> list[str]:
        """A loop with the dynamic bounds that the user gave it."""
        if restored.place is not None:  # the user's condition may be inside: isl leaves it there
            lines = self._restored(node, replace(restored, place=None), indent + _INDENT, before)
            return [f"{indent}if ({self._expression().text(restored.place)}) {{", *lines, f"{indent}}}"]
        loop, instance = restored.loop, self._ast.instances[first_instance(node)]
        identifier = node.for_get_iterator().id_get_id().get_name()
        iterator = instance.statement.iterators[loop.position]
        unsigned = isinstance(iterator.type, IntegerType) and not iterator.type.signed
        variable = counter = self._counter(iterator.name)
        if unsigned or restored.negated:  # the user's counter, and the one that the code inside means
            counter = fresh(PREFIX + variable, self._taken.union(self._names.values(), {variable}))
        printer = self._printer(instance, {iterator.name: variable})
        directive = self._directives.at(before)
        if directive is not None and identifier != f"c{directive.depth}":
            directive, before = None, None
        head = self._directive(directive, indent)
        kind = _type_name(instance.statement, loop.position) if unsigned else COUNTER_TYPE
        advance = _advance(variable, loop.step)
        if loop.stride is not None:
            advance = f"{variable} {'+' if loop.step > 0 else '-'}= {printer.visit(loop.stride)}"
        start, condition = printer.visit(loop.start), printer.visit(loop.header.cond)
        head.append(f"{indent}for ({kind} {variable} = {start}; {condition}; {advance}) {{")
        inner = indent + _INDENT
        if counter != variable:
            sign = "-" if restored.negated else ""
            head.append(f"{inner}const {COUNTER_TYPE} {counter} = {sign}({COUNTER_TYPE}){variable};")
            head.append(f"{inner}(void)sizeof {counter};")
        self._names[identifier] = counter
        if restored.narrowed:
            head.append(f"{inner}if ({self._within(node, counter)}) {{")
        self.outline.append(Line(self._depth, counter, int(identifier[1:]), before))
        self._depth += 1
        self._open.add(loop)
        body = self._block(node.for_get_body(), inner + (_INDENT if restored.narrowed else ""))
        self._open.remove(loop)
        self._depth -= 1
        del self._names[identifier]
        return [*head, *body, *([f"{inner}}}"] if restored.narrowed else []), f"{indent}}}"]

    def _within(self, node: isl.AstNode, counter: str) -> str:
        """Whether ``counter`` has a value that the loop ``node`` of the AST gives it."""
        expressions = self._expression()
        start = expressions.text(node.for_get_init(), ADDITIVE + 1)
        terms = [f"{counter} >= {start}", expressions.text(node.for_get_cond(), AND)]
        step = expressions.text(node.for_get_inc())
        if step != "1":
            terms.append(f"({counter} - {start}) % {step} == 0")
        return " && ".join(terms)

    def _counter(self, hint: str) -> str:
        """A name for a counter: the user's where the loop steps through that counter's values."""
        if hint.endswith("_tile"):
            wanted = PREFIX + hint.removesuffix("_tile")
        elif hint in {"", "c"}:
            wanted = PREFIX + "c"
        else:
            wanted = hint
        if wanted in self._taken:
            wanted = PREFIX + wanted
        return fresh(wanted, self._taken.union(self._names.values()))

    def _if(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        lines = [f"{indent}if ({self._expression().text(node.if_get_cond())}) {{"]
        lines += self._node(node.if_get_then_node(), indent + _INDENT, before)
        if node.if_has_else_node():
            lines.append(f"{indent}}} else {{")
            lines += self._node(node.if_get_else_node(), indent + _INDENT, before)
        return [*lines, f"{indent}}}"]

    def _statement(self, node: isl.AstNode, indent: str) -> list[str]:
        name = node.get_annotation().get_name()
        vector = self._ast.vectors.get(name)
        if vector is not None:
            return self._vector(vector, indent)
        instance = self._ast.instances[name]
        self.outline.append(Line(self._depth, statement=instance.statement.name))
        lines = self._body(instance).splitlines()
        return [
            f"#line {instance.statement.location.line} {quoted(self._file)}",
            *(f"{indent}{line}" for line in lines if line.strip()),
        ]

    def _vector(self, vector: Lanes | Move | Packing, indent: str) -> list[str]:
        text = f"{indent}{self._vectors().text(vector)}"
        if not isinstance(vector, Lanes):
            return [text]
        outline = Line(self._depth, statement=vector.tile.update.name)
        if self.outline[-1:] != [outline]:  # a block is many instances in a row
            self.outline.append(outline)
        return [f'#line {vector.tile.update.location.line} "{self._file}"', text]

    def _body(self, instance: Instance) -> str:
        body, predicates = instance.statement.body, []
        for loop in instance.statement.dynamic:
            if loop not in self._open:
                predicates.append(loop.predicate)
            body = body.iftrue
        for predicate in reversed(predicates):
            body = c_ast.If(predicate, body, None)
        return self._printer(instance, {}).statement(body)

    def _printer(self, instance: Instance, counters: Mapping[str, str]) -> BodyPrinter:
        """Prints the code of ``instance``; ``counters`` gives other texts for some of its counters."""
        expressions = self._expression()
        accesses = {id(node): array.name for node, array in instance.statement.locals} | {
            id(access.node): self._accessed(access, made) for access, made in instance.accesses
        }
        # arrays in buffers are not declared, so what is never accessed becomes an object without a name
        accesses |= {id(each.node): f"({_element_name(each.array)}){{0}}" for each in instance.never}
        statement = instance.statement
        accesses |= self._accumulating.get(statement.name, {})
        values = {
            iterator.name: f"({_type_name(statement, position)}){expressions.text(value, UNARY + 1)}"
            for position, (iterator, value) in enumerate(
                zip(statement.iterators, instance.iterators, strict=True)
            )
        }
        return BodyPrinter(accesses, {**values, **counters}.get)

    def _accessed(self, access: Access, made: isl.AstExpr) -> str:
        name = access.array.name
        subscripts = self._expression().subscripts(made)
        variables = self._scopes.variables(name, subscripts)
        if variables is None:
            replaced = (variable for each, variable in self._replaced if is_same_element(each, made))
            return next(replaced, element(access.array, subscripts, self._sizes.get(name, ())))
        used = next(each for each in reversed(self._declared) if name in each)[name]
        for each in variables:
            used[each] = used.get(each, False) or access.kind is AccessKind.READ
        *others, (last, _) = variables.items()
        if not others:
            return last
        tests = "".join(f"{subscripts[0]} == {number} ? {name} : " for name, number in others)
        return f"({tests}{last})"

    def _vectors(self) -> VectorPrinter:
        return VectorPrinter(self._expression(), self._names, self._sizes, self._helpers)

    def _expression(self) -> ExpressionPrinter:
        return ExpressionPrinter(lambda name: self._names.get(name, name), self._helpers)


def _advance(counter: str, step: int) -> str:
    if abs(step) == 1:
        return f"{counter}++" if step > 0 else f"{counter}--"
    return f"{counter} += {step}" if step > 0 else f"{counter} -= {-step}"


def _name_of(array: Array) -> str:
    """The type of the elements of an array that something accumulates in."""
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - reductions are of numbers
    return array.element.name


def _element_name(array: Array) -> str:
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - arrays of others are in no buffers
    return array.element.name


def _type_name(statement: Statement, position: int) -> str:
    declared = statement.iterators[position].type
    return declared.name if isinstance(declared, IntegerType) else COUNTER_TYPE


def register(kind: str, *, wanted: bool) -> str:
    """The type of a variable, which asks for a register where that is ``wanted``."""
    return f"register {kind}" if wanted else kind
