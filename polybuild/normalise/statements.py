"""The walk over the statements of a region that replaces followed variables by their values.

Forward substitution, with what stays of the assignments at the end:

    int k = 2*i + 1;                      a[2*i + 1] = 0;
    a[k] = 0;
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.syntax_tree import duplicate, node_count
from polybuild.c.synthetic import EntryValue
from polybuild.effort import VALUE_NODES
from polybuild.normalise.data_choices import as_if, chain, chosen_writes, with_named_conditions
from polybuild.normalise.data_starts import named_start
from polybuild.normalise.expressions import Evaluator
from polybuild.normalise.last_values import last_value, with_last_value, without_last_values
from polybuild.normalise.loops import LoopNormaliser
from polybuild.normalise.names import Variable
from polybuild.normalise.state import (
    NormalisationContext,
    NotFollowable,
    PointerValue,
    SymbolicState,
    SymbolicValue,
    WalkedTooLong,
    same,
)

_STEPS = ("++", "p++", "--", "p--")


class StatementNormaliser:
    """One normalisation with a fixed set of followed variables.

    ``walked`` counts statements, those in loops once for each time they are walked through; after ``maximum``
    of them it gives up, if that is a number.
    """

    def __init__(self, context: NormalisationContext, maximum: int | None = None) -> None:
        self.context = context
        self.walked = 0
        self._maximum = maximum
        self.state = SymbolicState(context, {each: _on_entry(each, context) for each in context.followed})
        self._loops = LoopNormaliser(self.state, self.statement, self.block)

    def region(self) -> tuple[c_ast.Node, ...]:
        """The region's statements without the followed variables. Raises NotFollowable and WalkedTooLong."""
        statements = self.sequence(self.context.region.statements)
        for variable in sorted(self.context.followed, key=lambda each: each.name):
            if not self.context.is_live(variable):
                continue
            value = self.state.values[variable]
            if same(value, _on_entry(variable, self.context)):
                statements = without_last_values(statements, variable)
            elif value is not None:
                statements = with_last_value(statements, variable, self.state)
        return tuple(statements)

    # Statements

    def sequence(self, nodes: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        """What becomes of ``nodes``, one after the other."""
        return [each for node in nodes for each in self.statement(node)]

    def block(self, node: c_ast.Node | None) -> list[c_ast.Node]:
        """What becomes of the body of a structured statement, a scope of its own."""
        if node is None:
            return []
        self.state.scopes.append({})
        items = node.block_items or () if isinstance(node, c_ast.Compound) else (node,)
        statements = self.sequence(items)
        self.state.close_scope()
        return statements

    def statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        """What becomes of ``node``: any number of statements."""
        self.walked += 1
        if self._maximum is not None and self.walked > self._maximum:
            raise WalkedTooLong
        match node:
            case c_ast.Compound():
                return [c_ast.Compound(self.block(node), node.coord)]
            case c_ast.Decl():
                return self._declaration(node)
            case c_ast.DeclList():
                return self.sequence(node.decls)
            case c_ast.If():
                return self._if(node)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                return self._loops.loop(node)
            case c_ast.Pragma() | c_ast.EmptyStatement() | c_ast.Typedef():
                return [node]
            case c_ast.ExprList():
                return self.sequence(node.exprs)
            case c_ast.Assignment() | c_ast.UnaryOp():
                return self._expression(node)
            case c_ast.Return():
                return [Evaluator(self.state).evaluate(node)]
            case c_ast.Label():  # nothing jumps to it: see normalise
                return self.statement(node.stmt)
            case c_ast.Switch() | c_ast.Goto() | c_ast.Case() | c_ast.Default():
                return self.other(node)
        new = Evaluator(self.state).evaluate(node)
        is_void = isinstance(node, c_ast.Cast) and self.context.variable(node.expr) is not None
        return [] if is_void or (new is not node and self.state.is_fixed(new)) else [new]

    def other(self, node: c_ast.Node) -> list[c_ast.Node]:
        """A statement that is not understood, with the values of followed variables that it only reads."""
        for variable in self.context.changed_in(node):
            raise NotFollowable(variable)
        return [Evaluator(self.state).evaluate(node)]

    def _declaration(self, node: c_ast.Decl) -> list[c_ast.Node]:
        variable = self.context.variable(node)
        if variable is None:
            new = Evaluator(self.state).evaluate(node)
            if node.name is not None:
                self.state.declare(node.name, self.context.region.visible.scope.resolve(node))
            return [new]
        self.state.declare(node.name, variable.type)
        self.state.values[variable] = None
        if node.init is None:
            return []
        choice = self._choice(variable, c_ast.ID(node.name, node.coord), node.init)
        if choice is not None:
            return choice
        start = named_start(node, variable, node.init, self.state)
        if start is not None:
            return start
        Evaluator(self.state).assign(variable, "", node.init)
        return []

    def _expression(self, node: c_ast.Assignment | c_ast.UnaryOp) -> list[c_ast.Node]:
        """An expression statement whose value nobody uses."""
        if isinstance(node, c_ast.Assignment):
            variable = self.context.variable(node.lvalue)
            if variable is not None:
                return self._assignment(node, variable)
            inner = node.rvalue
            if isinstance(inner, c_ast.Assignment) and self.context.variable(inner.lvalue) is not None:
                return [
                    *self._expression(inner),
                    *self._expression(c_ast.Assignment(node.op, node.lvalue, inner.lvalue, node.coord)),
                ]
        elif node.op in _STEPS and (variable := self.context.variable(node.expr)) is not None:
            Evaluator(self.state).step(node, variable)
            return last_value(variable, node.coord, self.state)
        stepped = self.context.stepped_in(node)
        new = Evaluator(self.state).evaluate(node)
        lasting = (each for variable in stepped for each in last_value(variable, node.coord, self.state))
        return [chosen_writes(new, self.state), *lasting]

    def _assignment(self, node: c_ast.Assignment, variable: Variable) -> list[c_ast.Node]:
        value = node.rvalue
        before: list[c_ast.Node] = []
        if isinstance(value, c_ast.Assignment):  # v = w = e
            before = self._expression(value)
            value = value.lvalue
        choice = self._choice(variable, node.lvalue, value) if node.op == "=" else None
        if choice is not None:
            return [*before, *choice]
        start = named_start(node, variable, value, self.state) if node.op == "=" else None
        if start is not None:
            return [*before, *start, *last_value(variable, node.coord, self.state)]
        stepped = self.context.stepped_in(value)
        Evaluator(self.state).assign(variable, node.op.removesuffix("="), value)
        changed = [variable, *stepped]
        return [*before, *(each for one in changed for each in last_value(one, node.coord, self.state))]

    def _choice(self, variable: Variable, name: c_ast.ID, value: c_ast.Node) -> list[c_ast.Node] | None:
        """What becomes of ``name = value`` where data choose between two values; None elsewhere."""
        if variable not in self.context.in_subscripts:
            return None
        statement = as_if(name, value, self.state)
        if statement is None or self.state.is_fixed(Evaluator(self.state).evaluate(statement.cond)):
            return None
        self.context.names.variables[name] = variable
        return self._named_if(statement)

    def _if(self, node: c_ast.If) -> list[c_ast.Node]:
        chooses = self.context.changed_in(node) & self.context.in_subscripts
        if not chooses or self.context.changed_in(*(each.cond for each in chain(node))):
            return self._plain_if(node)
        if self.state.is_fixed(Evaluator(self.state).evaluate(node.cond)):
            return self._plain_if(node)
        return self._named_if(node)

    def _named_if(self, node: c_ast.If) -> list[c_ast.Node]:
        """An ``if`` on data that sets subscripts: its condition gets a name, as it may change later."""
        declarations, named = with_named_conditions(node, self.state)
        return [*self.sequence(declarations), *self._plain_if(named)]

    def _plain_if(self, node: c_ast.If) -> list[c_ast.Node]:
        stepped = self.context.stepped_in(node.cond)
        cond = Evaluator(self.state).evaluate(node.cond)
        lasting = [each for variable in stepped for each in last_value(variable, node.coord, self.state)]
        before = dict(self.state.values)
        yes = self.block(node.iftrue)
        after_yes, self.state.values = self.state.values, dict(before)
        no = self.block(node.iffalse)
        for variable, value in self.state.values.items():
            self.state.values[variable] = self._either(cond, after_yes[variable], value)
        if not yes and not no:
            return [*lasting, cond] if _has_effect(cond) else lasting
        iffalse = c_ast.Compound(no, node.coord) if no else None
        return [*lasting, c_ast.If(cond, c_ast.Compound(yes, node.coord), iffalse, node.coord)]

    def _either(self, cond: c_ast.Node, yes: SymbolicValue, no: SymbolicValue) -> SymbolicValue:
        """The value after an ``if``."""
        if same(yes, no):
            return yes
        if yes is None or no is None or isinstance(yes, PointerValue) or isinstance(no, PointerValue):
            return None
        fixed = self.state.is_fixed(cond) and self.state.typing(yes) == self.state.typing(no)
        tree = c_ast.TernaryOp(duplicate(cond), yes, no, cond.coord)
        return tree if fixed and node_count(tree) <= VALUE_NODES else None


def _has_effect(node: c_ast.Node) -> bool:
    """Whether evaluating ``node`` may do more than give a value."""
    stepping = isinstance(node, c_ast.UnaryOp) and node.op in _STEPS
    return stepping or isinstance(node, c_ast.FuncCall | c_ast.Assignment) or any(map(_has_effect, node))


def _on_entry(variable: Variable, context: NormalisationContext) -> SymbolicValue:
    if variable.local:
        return None
    lvalue = context.region.visible.lvalues.get(variable.name)
    if lvalue is not None:
        value = duplicate(lvalue)
        return PointerValue(value) if isinstance(variable.type, types.PointerType) else value
    value = EntryValue(variable.name)
    return PointerValue(value) if isinstance(variable.type, types.PointerType) else value
