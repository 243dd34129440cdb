"""isl's expressions as C, with the parentheses that C needs and no others."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.codegen.c.expressions import ADDITIVE, MULTIPLICATIVE, UNARY, ExpressionPrinter
from polybuild.codegen.c.names_in_use import NamesInUse


def printed(expression, binding=0):
    in_use = NamesInUse()
    return ExpressionPrinter(lambda name: name, in_use).text(expression, binding), in_use.helpers


def value(text):
    """The expression of a piecewise value of the parameters."""
    build = isl.AstBuild.from_context(isl.Set("[n, m, k] -> { : }"))
    return build.expr_from_pw_aff(isl.PwAff(f"[n, m, k] -> {{ [{text}] }}"))


def condition(text):
    build = isl.AstBuild.from_context(isl.Set("[n, m, k] -> { : }"))
    return build.expr_from_set(isl.Set(f"[n, m, k] -> {{ : {text} }}"))


def named(name):
    return isl.AstExpr.from_id(isl.Id(name))


def number(of):
    return isl.AstExpr.from_val(isl.Val(of))


N, M, K = named("n"), named("m"), named("k")

# expression: its text
CASES = [
    (N.add(M).add(K), "n + m + k"),
    (N.add(M.add(K)), "n + (m + k)"),
    (N.sub(M).sub(K), "n - m - k"),
    (N.sub(M.sub(K)), "n - (m - k)"),
    (N.sub(M.add(K)), "n - (m + k)"),
    (N.add(M).mul(K), "(n + m) * k"),
    (N.mul(M).add(K), "n * m + k"),
    (N.mul(M.add(K)), "n * (m + k)"),
    (N.mul(M.mul(K)), "n * (m * k)"),
    (N.pdiv_q(M.mul(K)), "n / (m * k)"),
    (N.mul(M).pdiv_q(K), "n * m / k"),
    (N.pdiv_r(M), "n % m"),
    (N.neg(), "-n"),
    (N.neg().neg(), "-(-n)"),
    (N.sub(M.neg()), "n - -m"),
    (N.add(M).neg(), "-(n + m)"),
    (N.mul(number(-3)), "n * -3"),
    (number(-3).neg(), "-(-3)"),
    (N.le(M.add(K)), "n <= m + k"),
    (N.le(M).eq(K), "n <= m == k"),
    (number(1 << 40), "1099511627776"),
]


@pytest.mark.parametrize(("expression", "text"), CASES, ids=[text for _, text in CASES])
def test_precedence(expression, text):
    assert printed(expression) == (text, set())


def test_compilers_want_parentheses_in_mixed_conditions():
    both = isl.AstExpr.and_(N.le(M), M.le(K))
    assert printed(both)[0] == "n <= m && m <= k"
    assert printed(isl.AstExpr.or_(both, K.le(N)))[0] == "(n <= m && m <= k) || k <= n"
    assert printed(isl.AstExpr.and_(isl.AstExpr.or_(N.le(M), M.le(K)), K.le(N)))[0] == (
        "(n <= m || m <= k) && k <= n"
    )


def test_binding_adds_parentheses():
    assert printed(N.add(M), ADDITIVE)[0] == "n + m"
    assert printed(N.add(M), MULTIPLICATIVE)[0] == "(n + m)"
    assert printed(N.neg(), UNARY + 1)[0] == "(-n)"
    assert printed(N, UNARY + 1)[0] == "n"


def test_helpers_are_called_and_remembered():
    domain, schedule = "[n, m] -> { S[i] : 0 <= i < m and i < n }", "[{ S[i] -> [(i)] }]"
    tree = isl.Schedule(f'{{ domain: "{domain}", child: {{ schedule: "{schedule}" }} }}')
    loop = isl.AstBuild.from_context(isl.Set("{ : }")).node_from_schedule(tree)
    text, helpers = printed(loop.for_get_cond())
    assert text == "c0 < polybuild_min(n, m)"
    assert helpers == {"polybuild_min"}
    text, helpers = printed(value("floor(n / 8)"))
    assert text == "polybuild_floordiv(n, 8)"
    assert helpers == {"polybuild_floordiv"}


def test_names_are_replaced():
    printer = ExpressionPrinter({"n": "pb_n", "m": "(s->m)", "k": "k"}.__getitem__, NamesInUse())
    assert printer.text(N.mul(M)) == "pb_n * (s->m)"


def evaluate(text, **values):
    """The value of C text without side effects; a choice may only be outermost."""
    if "?" in text:
        test, rest = text.split(" ? ")
        return evaluate(rest.split(" : ")[0 if evaluate(test, **values) else 1], **values)
    python = text.replace("&&", "and").replace("||", "or").replace("/", "//")
    known = {"polybuild_min": min, "polybuild_max": max, "polybuild_floordiv": lambda a, b: a // b}
    return eval(python, {"__builtins__": {}}, known | values)  # noqa: S307 - our own text


@pytest.mark.parametrize(
    "text", ["n + 3 * m - 2", "floor((n - m) / 4)", "(n + 2) mod 5", "min(n, m)", "max(n, m + k)", "-n - m"]
)
def test_values_are_those_of_isl(text):
    wanted = isl.PwAff(f"[n, m, k] -> {{ [{text}] }}")
    printable = printed(value(text))[0]
    for n, m, k in [(7, 2, 1), (-7, 2, 5), (0, 0, 0), (12, -30, -42)]:
        point = isl.Set(f"[n, m, k] -> {{ : n = {n} and m = {m} and k = {k} }}")
        assert evaluate(printable, n=n, m=m, k=k) == wanted.intersect_params(point).max_val().to_python()


@pytest.mark.parametrize(
    "text", ["n <= m", "n = m", "n < m or k > 3", "n < m and (k > 3 or k < -3)", "n mod 2 = 0"]
)
def test_conditions_are_those_of_isl(text):
    printable = printed(condition(text))[0]
    for n, m, k in [(7, 2, 1), (-7, 2, 5), (0, 0, 0), (12, 30, -42)]:
        point = isl.Set(f"[n, m, k] -> {{ : n = {n} and m = {m} and k = {k} }}")
        holds = not isl.Set(f"[n, m, k] -> {{ : {text} }}").intersect(point).is_empty()
        assert bool(evaluate(printable, n=n, m=m, k=k)) is holds
