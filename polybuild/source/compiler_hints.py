"""Built-in functions that tell compilers what they may expect, and compute nothing.

What stands for ``likely(x)`` is ``x``, and prefetching and promises of alignment vanish from what is read of
a function: an order that is chosen anew has no use for them. Original loops are never printed from that.
"""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.syntax_tree import has_side_effect, mapped, walk

_LIKELY = frozenset({"__builtin_expect", "__builtin_expect_with_probability"})
_FIRST = _LIKELY | {"__builtin_assume_aligned"}
_NOTHING = frozenset({"__builtin_prefetch", "__builtin_unreachable", "__builtin_assume"})
_TRUTHS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||", "!"})


def without_hints(function: c_ast.FuncDef) -> c_ast.FuncDef:
    """``function`` without calls that only tell a compiler something; itself if it has none."""
    called = {_called(each) for each in walk(function)}
    return function if called.isdisjoint(_FIRST | _NOTHING) else mapped(function, _without)


def _without(node: c_ast.Node) -> c_ast.Node:
    """A copy of ``node`` with what hints stand for; a call whose arguments do something stays."""
    new, name = mapped(node, _without), _called(node)
    if not isinstance(new, c_ast.FuncCall):
        return new
    arguments = new.args.exprs if new.args is not None else []
    if name in _NOTHING and not any(map(has_side_effect, arguments)):
        return c_ast.EmptyStatement(node.coord)
    if name in _FIRST and not any(map(has_side_effect, arguments[1:])):
        return _as_long(arguments[0]) if name in _LIKELY else arguments[0]
    return new


def _called(node: c_ast.Node) -> str:
    is_call = isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    return str(node.name.name) if is_call else ""


def _as_long(value: c_ast.Node) -> c_ast.Node:
    """``value`` as the long that compilers are told to expect; what is 0 or 1 is that in any type."""
    if isinstance(value, c_ast.BinaryOp | c_ast.UnaryOp) and value.op in _TRUTHS:
        return value
    kind = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(["long"]))
    return c_ast.Cast(c_ast.Typename(None, [], None, kind), value, value.coord)
