"""From a region to its model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial

from pycparser import c_ast

from polybuild.c.syntax_tree import location
from polybuild.diagnostics import Unsupported
from polybuild.normalise import normalise
from polybuild.normalise.border_choices import choose_at_borders
from polybuild.normalise.buffer_extents import with_maximum_extents
from polybuild.normalise.chained_assignments import separate_assignments
from polybuild.normalise.coalesced_loops import split_coalesced_loops
from polybuild.normalise.conditional_reductions import separate_reductions
from polybuild.normalise.displaced_grids import with_displaced_grids
from polybuild.normalise.exclusive_extrema import separate_exclusive_extrema
from polybuild.normalise.exits import search_alone, search_by_condition, with_exit_tests
from polybuild.normalise.extremum_values import keep_extremum_values
from polybuild.normalise.forward_jumps import with_forward_jumps_as_conditions
from polybuild.normalise.initialised_arrays import assign_initial_elements
from polybuild.normalise.inlining import inline_calls
from polybuild.normalise.joined_conditions import join_conditions
from polybuild.normalise.memory_functions import with_memory_loops
from polybuild.normalise.named_bounds import with_bounds_in_headers
from polybuild.normalise.neighbour_sums import join_neighbour_sums
from polybuild.normalise.own_variables import with_own_variables
from polybuild.normalise.parametric_step_blocks import with_parametric_step_blocks
from polybuild.normalise.point_values import substitute_point_values
from polybuild.normalise.pointer_calls import inline_calls_by_pointers
from polybuild.normalise.pointer_casts import name_pointer_casts, with_pointer_casts
from polybuild.normalise.pointer_choices import split_pointer_choices
from polybuild.normalise.pointer_offsets import with_pointer_offsets
from polybuild.normalise.pointer_rotation import split_rotations
from polybuild.normalise.pointer_tests import with_pointer_tests
from polybuild.normalise.private_unions import with_private_unions
from polybuild.normalise.rotating_lvalues import name_moving_pointers, name_turning_numbers
from polybuild.normalise.row_capacities import with_row_capacities
from polybuild.normalise.running_counters import with_row_starts
from polybuild.normalise.running_values import keep_running_values
from polybuild.normalise.split_arrays import split_arrays
from polybuild.normalise.split_structures import split_structures
from polybuild.normalise.structure_literals import with_named_literals
from polybuild.normalise.structured_loops import with_structured_loops
from polybuild.normalise.switches import with_conditions_for_switches
from polybuild.normalise.tables import with_table_elements
from polybuild.normalise.values_before import with_counters_set, with_values_before
from polybuild.normalise.wrapping_counters import without_wrapping_counters
from polybuild.scop.assemble import assemble
from polybuild.scop.calls import UnknownCall
from polybuild.scop.delinearise.flat_subscripts import FlatSubscripts
from polybuild.scop.final_values import NotFollowed
from polybuild.scop.model import Scop
from polybuild.scop.model_builder import ModelBuilder
from polybuild.scop.pointer_rotation import check_pointer_rotation
from polybuild.scop.unit_factors import with_unit_factors, with_units
from polybuild.source.model import Region
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A region with its calls inlined, and that ``normal``ised."""

    inlined: Region
    normal: Region


def normal_form(region: Region, *, loops: bool = True, bounds: bool = False) -> NormalForm:
    """The form of ``region`` that its model is made from. Raises Unsupported.

    Functions with ``loops`` are inlined, too, and ``bounds`` that data tell put in the headers of loops, if
    that is wanted: hosts evaluate them there again and again.
    """
    with _refusals(region):
        inlined = _prepared(region, loops=loops)
        inlined = with_bounds_in_headers(inlined) if bounds else inlined
        normal = with_displaced_grids(normalise(inlined))
        return NormalForm(inlined, with_bounds_in_headers(normal) if bounds else normal)


def with_structure(region: Region) -> Region:
    """``region`` with loops and conditions for its jumps, where they can be these."""
    return with_structured_loops(with_forward_jumps_as_conditions(with_structured_loops(region)))


def _prepared(region: Region, *, loops: bool) -> Region:
    """``region`` with calls inlined, those of functions with ``loops`` if wanted, and reductions as such."""
    region = with_private_unions(with_conditions_for_switches(with_structure(region)))
    region = split_pointer_choices(region)
    region = with_table_elements(with_values_before(with_counters_set(without_wrapping_counters(region))))
    region = with_memory_loops(with_named_literals(assign_initial_elements(region)))
    inlined = inline_calls(name_moving_pointers(region), loops=loops)
    if any(each.taken for each in region.callees.values()):  # arguments may be functions to call
        inlined = inline_calls_by_pointers(inlined, loops=loops)
    inlined = split_coalesced_loops(name_pointer_casts(inlined))
    inlined = with_parametric_step_blocks(inlined) if loops else inlined
    inlined = split_arrays(choose_at_borders(_of_points(with_table_elements(inlined))))
    inlined = split_structures(with_own_variables(inlined))
    inlined = with_pointer_tests(with_maximum_extents(inlined))
    inlined = separate_exclusive_extrema(separate_assignments(inlined))
    joined = join_conditions(split_rotations(name_turning_numbers(name_moving_pointers(inlined))))
    return separate_reductions(keep_running_values(keep_extremum_values(joined)))


def _of_points(region: Region) -> Region:
    """``region`` with what grid points are computed from in as few statements as may be."""
    return substitute_point_values(join_neighbour_sums(region))


def extract_scop(region: Region, *, blocks_from: int | None = None, form: NormalForm | None = None) -> Scop:
    """The polyhedral model of ``region``; ``form`` is its normal form, if that was made.

    In so many loops, ``blocks_from``, and more, expressions that follow each other are one statement: a
    smaller problem, in which they stay together. Raises Unsupported, naming the construct, if the region is
    outside the model.
    """
    with _refusals(region):
        form = form or normal_form(region)
        try:
            return _modelled(form, blocks_from=blocks_from)
        except UnknownCall:
            raise
        except Unsupported:
            # what a function does inside may be beyond the model
            whole = _prepared(region, loops=False)
            if whole is form.inlined or not region.callees:
                raise
            return _modelled(NormalForm(whole, normalise(whole)), blocks_from=blocks_from)


def extract_with_exits(region: Region, *, loops: bool) -> tuple[NormalForm, Scop] | None:
    """The form of ``region`` with tests for its early exits, and the model of that.

    Functions with ``loops`` are inlined, too. None if there are no such exits, or the region is outside
    the model even so. Raises Unsupported where it does nothing but look for them.
    """
    called = inline_calls(with_forward_jumps_as_conditions(region), loops=loops)
    tested = with_exit_tests(called)
    if tested is called:
        return None
    search = search_alone(called, tested)
    if search is not None:
        raise _search(search)
    with contextlib.suppress(Unsupported):
        form = normal_form(tested, loops=loops, bounds=not loops)
        return form, extract_scop(tested, form=form)
    return None


def extract_with_row_starts(form: NormalForm, *, bounds: bool) -> tuple[NormalForm, Scop] | None:
    """``form`` where counters that go on from row to row start in each, and the model of that.

    None if there are no such counters, or the region is outside the model even so. ``bounds`` as of
    ``normal_form``.
    """
    region = with_row_starts(form.inlined)
    if region is form.inlined:
        return None
    with contextlib.suppress(Unsupported):
        normal = normalise(region)
        started = NormalForm(region, with_bounds_in_headers(normal) if bounds else normal)
        return started, extract_scop(region, form=started)
    return None


def extract_with_row_capacities(form: NormalForm) -> tuple[NormalForm, Scop] | None:
    """``form`` where rows of a fixed capacity are no longer than that, and the model of it.

    None if there are no such rows, or the region is outside the model even so.
    """
    region = with_row_capacities(form.normal)
    if region is form.normal:
        return None
    with contextlib.suppress(Unsupported):
        bounded = NormalForm(region, region)
        return bounded, extract_scop(region, form=bounded)
    return None


_NO_BOUND = frozenset({"data-dependent-bound", "loop-header", "while"})
"""Refusals of loops whose ends are not understood."""


def _search(node: c_ast.Node) -> Unsupported:
    return Unsupported(
        "search",
        "a search that ends at its first match is left as it is: what lies behind may not be there",
        location(node),
        "where all of it is there, let the loop go on, and keep the first match",
    )


@contextlib.contextmanager
def _refusals(region: Region) -> Iterator[None]:
    """Whatever cannot be modelled under this is Unsupported, for the reason that tells a user most."""
    try:
        yield
    except Unsupported as refusal:
        if refusal.diagnostic.code in {"pointer-reassigned", "pointer-value"}:
            check_pointer_rotation(region)
        search = search_by_condition(region) if refusal.diagnostic.code in _NO_BOUND else None
        if search is not None:
            raise _search(search) from refusal
        raise
    except RecursionError:
        raise Unsupported(
            "too-complex",
            "the region is nested too deeply",
            region.begin,
            "split long expressions or the region",
        ) from None


def _modelled(form: NormalForm, *, blocks_from: int | None) -> Scop:
    """The model of a region in normal form, or with less of it rewritten where that is refused."""
    region, normal = form.inlined, form.normal
    excluded: frozenset[str] = frozenset()
    extract = partial(_extract, blocks_from=blocks_from)
    while True:
        try:
            return extract(normal)
        except NotFollowed as failure:
            excluded |= failure.names
            normal = normalise(region, excluded)
        except UnknownCall:
            raise
        except Unsupported as refusal:
            if normal is not region:
                with contextlib.suppress(Unsupported):
                    return extract(region)
            if refusal.diagnostic.code in {"integer-wrap", "endless-loop"}:
                with contextlib.suppress(Unsupported, NotFollowed):
                    return extract(normalise(region, excluded, wrapping=True), wrapping=True)
            offsets = with_pointer_offsets(region)
            if offsets is not region:
                with contextlib.suppress(Unsupported):
                    return _modelled(NormalForm(offsets, normalise(offsets)), blocks_from=blocks_from)
            raise


def _extract(region: Region, *, blocks_from: int | None, wrapping: bool = False) -> Scop:
    """The model of a region; raises NotFollowed for variables that must not be normalised.

    With ``wrapping``, unsigned values that leave their type whatever the parameters are wrap around.
    """
    region = with_pointer_casts(region)
    build = partial(ModelBuilder, region, wrapping=wrapping, blocks_from=blocks_from)
    first = build(FlatSubscripts())
    draft = first.run()
    contiguous = with_units(build, units) if (units := first.contiguous()) else None
    if contiguous is not None:
        return contiguous
    viewed = first.with_views()
    specialised = with_unit_factors(build, draft, first.factors_without_view(viewed))
    if specialised is not None:
        return specialised
    return assemble(draft if viewed is None else build(viewed).run())
