"""Statements at different offsets of a stride run in the order of their tree."""

from __future__ import annotations

import itertools

import islpy as isl
import pytest

from polybuild.codegen.c.callbacks import AstCallbacks, generate_ast
from polybuild.codegen.c.nodes import FOR, IF, called_by, identifier_of, kind_of, parts
from polybuild.codegen.c.shifted_statements import without_shifts

CONTEXT = isl.Set("[n] -> { : n >= 4 }")
DOMAIN = (
    "[n] -> { A[t] : 0 <= 2t < n; B[t] : 0 <= 2t < n - 1; "
    "E[] : n mod 2 = 0 and n >= 4; O[] : n mod 2 = 1 and n >= 4 }"
)
STRIDED = "[n] -> [{ A[t] -> [2t + 2]; B[t] -> [2t + 1]; E[] -> [n]; O[] -> [n] }]"


def tree(schedule, order, domain=DOMAIN):
    filters = ", ".join(f'{{ filter: "[n] -> {{ {each} }}" }}' for each in order)
    return isl.Schedule(
        f'{{ domain: "{domain}", child: {{ schedule: "{schedule}", child: {{ sequence: [{filters}] }} }} }}'
    )


_Op = isl.ast_expr_op_type
_CHOICES = {
    _Op.max: max,
    _Op.min: min,
    _Op.add: lambda one, other: one + other,
    _Op.sub: lambda one, other: one - other,
    _Op.mul: lambda one, other: one * other,
    _Op.minus: lambda one: -one,
    _Op.div: lambda one, other: one // other,
    _Op.pdiv_q: lambda one, other: one // other,
    _Op.fdiv_q: lambda one, other: one // other,
    _Op.pdiv_r: lambda one, other: one % other,
    _Op.zdiv_r: lambda one, other: one % other,
    _Op.eq: lambda one, other: one == other,
    _Op.le: lambda one, other: one <= other,
    _Op.lt: lambda one, other: one < other,
    _Op.ge: lambda one, other: one >= other,
    _Op.gt: lambda one, other: one > other,
    getattr(_Op, "and_"): lambda one, other: one and other,  # noqa: B009
    getattr(_Op, "or_"): lambda one, other: one or other,  # noqa: B009
}


def value(expression, names):
    kind = isl.ast_expr_type(expression.get_type())
    if kind == isl.ast_expr_type.int:
        return expression.int_get_val().to_python()
    if kind == isl.ast_expr_type.id:
        return names[expression.id_get_id().get_name()]
    arguments = [expression.op_get_arg(index) for index in range(expression.op_get_n_arg())]
    return _CHOICES[_Op(expression.op_get_type())](*(value(each, names) for each in arguments))


def run(node, names):
    """The instances that ``node`` runs, in order."""
    if kind_of(node) == FOR:
        counter, at = identifier_of(node), value(node.for_get_init(), names)
        while node.for_is_degenerate() or value(node.for_get_cond(), {**names, counter: at}):
            yield from run(node.for_get_body(), {**names, counter: at})
            if node.for_is_degenerate():
                break
            at += value(node.for_get_inc(), names)
    elif kind_of(node) == IF:
        if value(node.if_get_cond(), names):
            yield from run(node.if_get_then_node(), names)
        elif node.if_has_else_node():
            yield from run(node.if_get_else_node(), names)
    elif kind_of(node) == isl.ast_node_type.user:
        call = node.user_get_expr()
        arguments = (call.op_get_arg(index) for index in range(1, call.op_get_n_arg()))
        yield (called_by(node), *(value(each, names) for each in arguments))
    else:
        for each in parts(node):
            yield from run(each, names)


def scheduled(order, number):
    """The instances of ``STRIDED`` in its order."""
    every = [("A", t) for t in range((number + 1) // 2)] + [("B", t) for t in range(number // 2)]
    every.append(("E",) if number % 2 == 0 else ("O",))
    place = [each[0] for each in order]

    def time(instance):
        times = {"A": lambda t: 2 * t + 2, "B": lambda t: 2 * t + 1}
        name, *counters = instance
        return (times[name](*counters) if counters else number), place.index(name)

    return sorted(every, key=time)


@pytest.mark.parametrize("order", [*itertools.permutations(("A[t]", "B[t]", "E[]", "O[]"))])
def test_statements_of_odd_and_even_sizes_stay_in_order(order):
    root = generate_ast(CONTEXT, tree(STRIDED, order), AstCallbacks())
    for number in range(4, 9):
        assert list(run(root, {"n": number})) == scheduled(order, number)


@pytest.mark.parametrize(
    ("schedule", "shifts"),
    [
        (STRIDED, True),
        ("[n] -> [{ A[t] -> [2t]; B[t] -> [2t + 1]; E[] -> [0]; O[] -> [0] }]", True),
        ("[n] -> [{ A[t] -> [t]; B[t] -> [t]; E[] -> [n]; O[] -> [n] }]", False),
        ("[n] -> [{ A[t] -> [floor(t / 4)]; B[t] -> [floor((t + 1) / 4)]; E[] -> [n]; O[] -> [0] }]", False),
        ("[n] -> [{ A[t] -> [0]; B[t] -> [0]; E[] -> [2*floor(n / 2)]; O[] -> [n + 1] }]", True),
        ("[n] -> [{ A[t] -> [0]; B[t] -> [0]; E[] -> [1]; O[] -> [2] }]", False),
    ],
)
def test_what_may_be_shifted_is_guarded(schedule, shifts):
    made = tree(schedule, ("A[t]", "B[t]", "E[]", "O[]"))
    assert ("guard" in str(without_shifts(made, CONTEXT))) == shifts


def test_two_statements_alone_keep_their_stride():
    domain = "[n] -> { A[t] : 0 <= t < n; B[t] : 0 <= t < n }"
    made = tree("[n] -> [{ A[t] -> [2t]; B[t] -> [2t + 1] }]", ("A[t]", "B[t]"), domain)
    assert "guard" not in str(without_shifts(made, CONTEXT))
    root = generate_ast(CONTEXT, made, AstCallbacks())
    found = [name for name, _ in run(root, {"n": 4})]
    assert found == ["A", "B"] * 4
