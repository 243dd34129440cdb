"""Code that checks a region when it runs: what the new loops write against what the original text writes.

The elements that the region writes are walked through three times, by loops that
isl makes from the access relations: to keep them, to keep the results of the new
loops and put the old values back, and to compare (see polybuild_verify.h).
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.c.synthetic import EntryValue
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.codegen.c.ast import build_ast
from polybuild.codegen.c.bodies import Sizes, c_text
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.expressions import TERNARY, ExpressionPrinter
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.file.names import PREFIX, quoted
from polybuild.poly.relations import maps_of
from polybuild.scop.model import Access, AccessKind, Array, Iterator, Scop, Statement
from polybuild.targets.model import Accumulator
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

CHECK = "pb_check"
RUNS = "pb_new"  # whether the new loops run
_HEADER = Path(__file__).parents[2] / "runtime" / "include" / "polybuild_verify.h"
_LONGEST_CONDITION = 2000


@dataclass(frozen=True, slots=True)
class Verification:
    """The parts of the check of one region.

    ``walk`` are lines of C that go through all the elements it writes; ``line`` is a C
    expression of the source line that wrote the first element that differs. ``tolerance`` is the
    relative difference that the new order of floating-point operations may make, as C.
    """

    walk: tuple[str, ...]
    line: str
    tolerance: str = "0.0"


def prologue() -> str:
    """What code with checks needs before it."""
    return """\
static void *polybuild_verify_begin(const char *, int, double);
static void polybuild_verify_element(
  void *, int, int, const char *, volatile void *, unsigned long, int, ...);
static int polybuild_verify_next(void *), polybuild_verify_differs(void *), polybuild_verify_object(void *);
static long long polybuild_verify_index(void *, int);
static void polybuild_verify_report(void *, int), polybuild_verify_end(void *);
"""


def epilogue() -> str:
    """The functions that the checks call, for the end of the file: their headers come after the user's."""
    return _HEADER.read_text(encoding="ascii")


def verification(
    scop: Scop,
    dependences: Dependences,
    names: Mapping[str, str],
    sizes: Mapping[str, Sizes],
    *,
    in_use: NamesInUse,
    dead: Collection[str] = (),
    accumulators: Sequence[Accumulator] = (),
) -> Verification | None:
    """The check of a region; ``in_use`` records what it mentions.

    None if which elements are written depends on data, so that they cannot be found again.
    ``names`` gives the C text of each parameter, ``sizes`` the inner extents of views, ``dead`` the
    arrays whose elements do not matter after the region; ``accumulators`` may change the last bits.
    """
    private = {each.array.name for each in dependences.private}.union(dead)
    written = [each for each in scop.arrays if not each.local and each.name not in private]
    elements = {each.name: _written(scop, each) for each in written}
    written = [each for each in written if not elements[each.name].is_empty()]
    if not all(_is_bounded(elements[each.name]) for each in written):
        return None
    written.sort(key=lambda each: not each.is_scalar)  # variables first: see the header
    targets = [_WrittenArray(number, array, elements[array.name]) for number, array in enumerate(written)]
    left = {c_text(value.expression): _kind(value.type) for value in scop.final_values}
    # the original text may change a pointer that nothing reads afterwards: the elements are those of before
    moved = [each.expression.name for each in written if isinstance(each.expression, EntryValue)]
    left |= {name: "-" for name in sorted(moved) if name not in left}
    finals = [_final(len(targets) + number, text, kind) for number, (text, kind) in enumerate(left.items())]
    walk = _walk(scop, targets, names, sizes, in_use)
    # parameters, and the subscripts of the element that the check is about
    dimensions = range(max((len(each.extents) for each in written), default=0))
    texts = {f"{PREFIX}e{dim}": f"polybuild_verify_index({CHECK}, {dim})" for dim in dimensions} | dict(names)
    line = str(scop.location.line)
    for target in reversed(targets):
        line = (
            f"polybuild_verify_object({CHECK}) == {target.number} ?"
            f" {_line(scop, target, texts, in_use)} : {line}"
        )
    return Verification((*finals, *walk), line, _tolerance(accumulators))


def _tolerance(accumulators: Sequence[Accumulator]) -> str:
    inexact = [each for each in accumulators if each.inexact]
    if not inexact:
        return "0.0"
    return "1e-4" if any(each.type == FloatingType("float", 4) for each in inexact) else "1e-9"


@dataclass(frozen=True, slots=True)
class _WrittenArray:
    """An array that is written, with its number among them and the elements that are."""

    number: int
    array: Array
    elements: isl.Set


def _written(scop: Scop, array: Array) -> isl.Set:
    ranges = [
        scop.without_limits(access.relation.intersect_params(scop.context).range())
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name == array.name and access.kind is not AccessKind.READ
    ]
    if not ranges:
        space = scop.context.get_space().add_unnamed_tuple_ui(len(array.extents))
        return isl.Set.empty(space.set_tuple_name(_set, array.name))
    return functools.reduce(isl.Set.union, ranges).coalesce()


def _is_bounded(elements: isl.Set) -> bool:
    return all(
        elements.dim_has_lower_bound(_set, dim) and elements.dim_has_upper_bound(_set, dim)
        for dim in range(elements.dim(_set))
    )


def _final(number: int, text: str, kind: str) -> str:
    return (
        f"polybuild_verify_element({CHECK}, {number}, '{kind}', {quoted(text)}, &{text}, sizeof {text}, 0);"
    )


def _walk(
    scop: Scop,
    targets: list[_WrittenArray],
    names: Mapping[str, str],
    sizes: Mapping[str, Sizes],
    in_use: NamesInUse,
) -> list[str]:
    """Loops over the written elements, one nest after the other."""
    statements = tuple(_statement(scop, target) for target in targets)
    lines: list[str] = []
    for each in statements:
        model = replace(scop, statements=(each,), final_values=())
        domain = each.domain.intersect_params(scop.context)
        order = isl.MultiAff.identity_on_domain_space(domain.get_space()).reset_tuple_id(_out)
        schedule = isl.Schedule.from_domain(isl.UnionSet.from_set(domain))
        if each.iterators:
            partial = isl.MultiUnionPwAff.from_union_map(isl.UnionMap.from_map(isl.Map.from_multi_aff(order)))
            schedule = schedule.insert_partial_schedule(partial)
        taken = frozenset({CHECK, *names.values()})
        directives = DirectivePrinter({}, in_use)
        ast = build_ast(model, schedule)
        printed = LoopPrinter(ast, NamesInScope(names, taken), directives, sizes=sizes).lines()
        lines += printed
    return lines


def _statement(scop: Scop, target: _WrittenArray) -> Statement:
    """A statement that hands each element of ``target`` to the check."""
    array = target.array
    count = len(array.extents)
    name = f"V{target.number}"
    domain = target.elements.set_tuple_name(name)
    relation = isl.Map.from_multi_aff(
        isl.MultiAff.identity_on_domain_space(domain.get_space()).set_tuple_name(_out, array.name)
    ).intersect_domain(domain)
    node = c_ast.ID(array.spelling)
    subscripts = tuple(
        Iterator(f"{PREFIX}e{dim}", IntegerType("long long", 64, signed=True), scop.location)
        for dim in range(count)
    )
    arguments = [
        c_ast.ID(CHECK),
        c_ast.Constant("int", str(target.number)),
        c_ast.Constant("char", f"'{_kind(array.element)}'"),
        c_ast.Constant("string", f'"{_told(array)}"'),
        c_ast.UnaryOp("&", node),
        c_ast.UnaryOp("sizeof", node),
        c_ast.Constant("int", str(count)),
        *(c_ast.ID(each.name) for each in subscripts),
    ]
    call = c_ast.FuncCall(c_ast.ID("polybuild_verify_element"), c_ast.ExprList(arguments))
    access = Access(array, relation, AccessKind.READ, node)
    return Statement(name, domain, subscripts, call, (access,), scop.location, scop.location.line)


def _told(array: Array) -> str:
    """The name to tell of; of a member of structures with ``[]`` where its subscripts go."""
    if not any(array.suffixes):
        return array.spelling
    return array.spelling + "".join(f"[]{suffix}" for suffix in array.suffixes)


def _kind(kind: Type) -> str:
    """How the check compares and prints a value: see polybuild_verify.h."""
    if isinstance(kind, FloatingType):
        part = kind.size // 2 if kind.complex else kind.size
        return ("FDC" if kind.complex else "fdL")[{4: 0, 8: 1}.get(part, 2)]
    if isinstance(kind, IntegerType):
        signed = {8: "1", 16: "2", 32: "4", 64: "8"}
        unsigned = {1: "b", 8: "b", 16: "w", 32: "u", 64: "q"}
        return (signed if kind.signed else unsigned).get(kind.width, "x")
    return "x"


# Which line wrote an element last


def _line(scop: Scop, target: _WrittenArray, texts: Mapping[str, str], in_use: NamesInUse) -> str:
    """A C expression of the line of the last write of the element that the check is about.

    ``texts`` has what stands for the parameters and the subscripts of the element.
    """
    found = _last_writers(scop, target)
    lines = [each.location.line for each, _ in found]
    text = str(lines[-1]) if lines else str(scop.location.line)
    build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))
    for statement, elements in reversed(found[:-1]):
        count = elements.dim(_set)
        before = elements.dim(isl.dim_type.param)
        moved = elements.move_dims(isl.dim_type.param, before, _set, 0, count).params()
        for dim in range(count):
            moved = moved.set_dim_name(isl.dim_type.param, before + dim, f"{PREFIX}e{dim}")
        wider = build if not count else isl.AstBuild.from_context(isl.Set.universe(moved.get_space()))
        mentioned = NamesInUse()
        printer = ExpressionPrinter(lambda name: texts.get(name, name), mentioned)
        condition = printer.text(wider.expr_from_set(moved.coalesce()), TERNARY + 1)
        if len(condition) < _LONGEST_CONDITION:
            in_use.include(mentioned)
            text = f"{condition} ? {statement.location.line} : {text}"
    return f"({text})"


def _last_writers(scop: Scop, target: _WrittenArray) -> list[tuple[Statement, isl.Set]]:
    """The statements that may be the last to write elements of ``target``, with those elements."""
    end = target.elements.set_tuple_name("end")
    sink = isl.Map.from_multi_aff(
        isl.MultiAff.identity_on_domain_space(end.get_space()).set_tuple_name(_out, target.array.name)
    ).intersect_domain(end)
    after = isl.Schedule.from_domain(isl.UnionSet.from_set(end))
    flow = (
        isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(sink))
        .set_must_source(scop.accesses(AccessKind.WRITE))
        .set_may_source(scop.accesses(AccessKind.MAY_WRITE))
        .set_schedule(scop.schedule.sequence(after))
        .compute_flow()
        .get_may_dependence()
    )
    elements = {each.get_tuple_name(_in): each.range() for each in maps_of(flow)}
    return [(each, elements[each.name]) for each in scop.statements if each.name in elements]
