"""Time-iterated stencils: coordinates of time and space in which every dependence lies in a cone.

A stencil is a loop over time steps around loop nests over a grid (thesis, sections 3.1
and 4.2). Every instance gets a time ``t`` and a place ``s_0, ..., s_n``, all integers, so that
each dependence goes ``dt >= 0`` ahead in time, and in each dimension of space
``-rise * dt <= ds <= fall * dt``; ``fall`` and ``rise`` are the thesis's delta^0 and delta^1
(section 5.2.1.2). All tile shapes with concurrent start are made from this cone.

The thesis runs statement ``i`` of ``k`` at ``k*t + i`` (section 4.3.3). That makes tiles steeper
than the flow of data where a step copies the grid back, or works on staggered grids. So first the
smallest skewing factors are found for which each statement has *some* offset (Pluto's hyperplanes, PLDI
2008, section 3.2), then one offset in time and space per statement that suits all of them::

    S(t, i):  A[i] = B[i - 1] + B[i + 1]        S at (2t, i)        fall = rise = 1
    R(t, i):  B[i] = A[i - 1] + A[i + 1]        R at (2t + 1, i)

    S(t, i):  A[i] = B[i - 1] + B[i + 1]        S at (t, i)         fall = rise = 1
    R(t, i):  B[i] = A[i]                       R at (t, i)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import islpy as isl

from polybuild.effort import (
    FOLDED_DIMENSIONS,
    STENCIL_ALIGNMENTS,
    STENCIL_REACH,
    STENCIL_SCALES,
    STENCIL_STATEMENTS,
)
from polybuild.poly.memory import remembered
from polybuild.poly.relations import maps_of, natural_key
from polybuild.poly.trees import descendants, is_band
from polybuild.transform.tiling.cone import Distances, Generator, generators, minimum_skew, offsets
from polybuild.transform.tiling.halves import fold_halves, is_long, is_loop
from polybuild.values import dataclass

# Per statement, its own counters: that of the loop over time, then those of the loops over space.
Counters = Mapping[str, Sequence[isl.PwAff]]


@dataclass(frozen=True, slots=True)
class Cone:
    """Bounds on all dependences along one dimension of space: ``-rise * dt <= ds <= fall * dt``.

    None where nothing bounds them on that side.
    """

    fall: Fraction | None
    rise: Fraction | None

    @property
    def closed(self) -> bool:
        """Whether there is a bound on either side."""
        return self.fall is not None and self.rise is not None

    @property
    def spread(self) -> Fraction:
        """How much wider a closed cone gets per step of time."""
        return (self.fall or Fraction(0)) + (self.rise or Fraction(0))


@dataclass(frozen=True, slots=True)
class Stencil:
    """When and where each instance runs, as functions of the instances.

    ``cones`` are those of the dimensions of ``space``; ``steps`` is what ``time`` advances per
    iteration of the loop over time, ``scale`` what places advance per iteration of a loop over space;
    ``counters`` are those of the loops over time and space themselves. Halves of the grid have the same
    places in the dimensions ``folded``.
    """

    time: isl.UnionPwAff
    space: tuple[isl.UnionPwAff, ...]
    cones: tuple[Cone, ...]
    steps: int
    scale: int
    counters: tuple[isl.UnionPwAff, ...]
    folded: tuple[int, ...] = ()

    @property
    def closed(self) -> int:
        """How many dimensions of space have bounds on both sides."""
        return sum(each.closed for each in self.cones)


def find_stencil(
    node: isl.ScheduleNode,
    dependences: isl.UnionMap,
    *,
    together: isl.UnionMap | None = None,
    folding: bool = False,
) -> Stencil | None:
    """The stencil whose loop over time is the band ``node``, None if there is none.

    ``dependences`` are those between the instances of ``node`` that the tree above it leaves to it. Pairs
    that are ``together``, as one leaves a value in a variable for the other, get one time and place. With
    ``folding``, halves of periodic grids may have the same places (``halves.py``).
    A loop that carries none of them is no loop over time but a parallel one, however far the stages
    of its body reach. And where all go along one line, as in ``c[i + j] += a[i] * b[j]``, the lines
    beside it are parallel, and no tile has to wait for another.
    """
    if not is_band(node) or node.band_n_member() != 1 or carries_nothing(node, dependences):
        return None
    counters = _counters(node)
    depth = max((len(each) for each in counters.values()), default=0)
    if depth < 2 or len(counters) > STENCIL_STATEMENTS or any(not each for each in counters.values()):
        return None
    relations = [each for each in maps_of(dependences) if not each.is_empty()]
    if together is not None:
        relations += [*maps_of(together), *maps_of(together.reverse())]
    best = _best_stencil(
        tuple((name, tuple(own)) for name, own in counters.items()), tuple(relations), folding
    )
    return None if best is None or _in_line(best, dependences) else best


@remembered  # orders that are compared have most loops in common
def _best_stencil(
    own: tuple[tuple[str, tuple[isl.PwAff, ...]], ...], relations: tuple[isl.Map, ...], folding: bool
) -> Stencil | None:
    """The stencil of statements with counters of their ``own``; None if nothing travels."""
    counters = dict(own)
    depth = max(map(len, counters.values()))
    best: Stencil | None = None
    for aligned in itertools.islice(_alignments(counters, depth, relations), STENCIL_ALIGNMENTS):
        long = _long_dimensions(aligned, relations) if folding else ()
        near = fold_halves(aligned, long) if long else None
        if near is None:
            near, long = aligned, ()
        stencil = place(near, relations) or fold(near, relations)
        if stencil is not None and (best is None or stencil.closed > best.closed):
            best = replace(stencil, folded=long)
            if best.closed == depth - 1:
                break
    travels = best is not None and any(each.closed and each.spread for each in best.cones)
    return best if travels else None


def _long_dimensions(counters: Counters, relations: Sequence[isl.Map]) -> tuple[int, ...]:
    """The first dimensions of space along which something goes as far as the grid is large."""
    dependences = _distances(counters, relations)
    return tuple(dim for dim in range(min(FOLDED_DIMENSIONS, _depth(counters))) if is_long(dependences, dim))


def carries_nothing(band: isl.ScheduleNode, dependences: isl.UnionMap) -> bool:
    """Whether all of ``dependences`` stay in one iteration of the loop ``band``."""
    inside = dependences.eq_at_multi_union_pw_aff(band.band_get_partial_schedule())
    return bool(dependences.is_subset(inside))


def _in_line(stencil: Stencil, dependences: isl.UnionMap) -> bool:
    """Whether the distances of ``dependences`` in time and space are multiples of one."""
    place = isl.UnionMap.from_union_pw_aff(stencil.time)
    for each in stencil.space:
        place = place.flat_range_product(isl.UnionMap.from_union_pw_aff(each))
    hull = isl.Set.from_point(isl.Point.zero(isl.Set.from_union_set(place.range()).get_space()))
    for piece in (one for each in maps_of(dependences) for one in each.get_basic_maps()):
        pairs = isl.UnionMap.from_basic_map(piece).apply_domain(place).apply_range(place)
        if pairs.is_empty():  # of other parts of the steps
            continue
        deltas = isl.Set.from_union_set(pairs.deltas())
        deltas = deltas.project_out(isl.dim_type.param, 0, deltas.dim(isl.dim_type.param))
        line = hull.union(deltas).affine_hull().remove_divs()
        if line.n_constraint() < line.dim(isl.dim_type.set) - 1:
            return False
        hull = line.to_set()
    return True


@remembered  # whoever tiles what was found to be a stencil asks again
def cone_along(time: isl.UnionPwAff, place: isl.UnionPwAff, dependences: isl.UnionMap) -> Cone:
    """The cone of ``dependences`` in the plane of ``time`` and any other coordinate."""
    plane = isl.UnionMap.from_union_pw_aff(time).flat_range_product(isl.UnionMap.from_union_pw_aff(place))
    deltas = isl.Set.from_union_set(dependences.apply_domain(plane).apply_range(plane).deltas())
    deltas = deltas.project_out(isl.dim_type.param, 0, deltas.dim(isl.dim_type.param))
    distances = [Distances("", "", (generators(deltas.coalesce()),))]
    return Cone(minimum_skew(distances, 0, -1), minimum_skew(distances, 0, 1))


def place(counters: Counters, relations: Sequence[isl.Map]) -> Stencil | None:
    """The stencil with the smallest skewing factors, None if the offsets for them do not exist."""
    dependences = _distances(counters, relations)
    skews = _skews(dependences, _depth(counters))
    if not any(None not in each for each in skews):
        return None
    for scales in STENCIL_SCALES:
        found = offsets(tuple(dependences), tuple(counters), tuple(skews), scales)
        if found is not None:
            return _stencil(counters, found, skews, scales)
    return None


def fold(counters: Counters, relations: Sequence[isl.Map]) -> Stencil | None:
    """The stencil that runs statement ``i`` of ``k``, in the order of ``counters``, at ``k*t + i``.

    None if some dependence does not advance in time then (thesis, section 4.3.3).
    """
    scale, depth = len(counters), _depth(counters)
    found = {name: (position, *[0] * depth) for position, name in enumerate(counters)}
    folded = {name: [_moved(own[0], scale, found[name][0]), *own[1:]] for name, own in counters.items()}
    # one name for all statements: none of them may have an offset any more
    dependences = [
        Distances("", "", tuple(tuple(_later(one, scale, gap) for one in side) for side in each.space))
        for each in _distances(counters, relations)
        for gap in [found[each.target][0] - found[each.source][0]]
    ]
    if any(one.time <= 0 for each in dependences for side in each.space for one in side if one.corner):
        return None
    skews = _skews(dependences, depth)
    if not any(None not in each for each in skews):
        return None
    return _stencil(
        folded, dict.fromkeys(counters, (0,) * (1 + depth)), skews, (1, 1), steps=scale, original=counters
    )


def _later(one: Generator, scale: int, gap: int) -> Generator:
    """``one`` with ``scale`` times its distance in time, and ``gap`` more."""
    return replace(one, time=scale * one.time + gap * one.corner)


def _skews(dependences: Sequence[Distances], depth: int) -> list[tuple[Fraction | None, Fraction | None]]:
    """How fast what travels falls and rises in each dimension of space, None where no stencil bounds it."""
    return [
        (minimum_skew(dependences, dim, -1, STENCIL_REACH), minimum_skew(dependences, dim, 1, STENCIL_REACH))
        for dim in range(depth)
    ]


def _depth(counters: Counters) -> int:
    return len(next(iter(counters.values()))) - 1


def _counters(node: isl.ScheduleNode) -> Counters:
    """Per statement, what the bands from ``node`` down count.

    That are all its loops, of which a border has one with a single iteration; what is constant counts nowhere
    else.
    """
    found: dict[str, dict[int, isl.PwAff]] = {}
    for band in filter(is_band, descendants(node)):
        depth = band.get_schedule_depth()
        for position in range(band.band_n_member()):
            function = band.band_get_partial_schedule().get_union_pw_aff(position)
            parts = function.intersect_domain(band.get_domain()).get_pw_aff_list()
            for each in (parts.get_at(index) for index in range(parts.n_pw_aff())):
                own = found.setdefault(each.get_domain_space().get_tuple_name(isl.dim_type.set), {})
                same = own.get(depth + position)
                own[depth + position] = each if same is None else same.union_add(each)
    return {name: _of_loops(list(found[name].values())) for name in sorted(found, key=natural_key)}


def _of_loops(members: Sequence[isl.PwAff]) -> Sequence[isl.PwAff]:
    """The ``members`` of bands that are loops of a statement: all, or else those that are not constant."""
    loops = members[0].dim(isl.dim_type.in_)
    return members if len(members) == loops else [each for each in members if is_loop(each)]


def _alignments(counters: Counters, depth: int, relations: Sequence[isl.Map]) -> Iterator[Counters]:
    """Ways to give the statements with fewer loops a place in all dimensions, the most likely ones first.

    Where a statement has no loop it stands at the first of the places it exchanges data with.
    """
    shallow = [name for name, own in counters.items() if len(own) < depth]
    choices = []
    for name in shallow:
        places = [
            _aligned(name, chosen, counters, depth, relations)
            for chosen in itertools.combinations(range(1, depth), len(counters[name]) - 1)
        ]
        found = [each for each in places if each is not None]
        choices.append(sorted(found, key=partial(_strayed, name, counters=counters, relations=relations)))
    for chosen in itertools.product(*choices):
        yield {**counters, **dict(zip(shallow, chosen, strict=True))}


def _aligned(
    name: str, dims: Sequence[int], counters: Counters, depth: int, relations: Sequence[isl.Map]
) -> Sequence[isl.PwAff] | None:
    """Time and places of ``name`` where its loops run over ``dims``; None if some place is unknown."""
    inner = iter(counters[name][1:])
    places = [
        next(inner) if dim in dims else _first_place(name, dim, counters, depth, relations)
        for dim in range(1, depth)
    ]
    known = [each for each in places if each is not None]
    return [counters[name][0], *known] if len(known) == len(places) else None


def _strayed(name: str, own: Sequence[isl.PwAff], *, counters: Counters, relations: Sequence[isl.Map]) -> int:
    """In how many dimensions, all told, ``name`` depends with others at any distance in one step."""
    strayed = 0
    for relation in relations:
        ends = relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)
        if name in ends and all(each == name or len(counters[each]) == len(own) for each in ends):
            source, target = (own if each == name else counters[each] for each in ends)
            for dim in range(1, len(own)):
                found = _generators_between(relation, (source[0], source[dim]), (target[0], target[dim]))
                strayed += any(not each.corner and each.time <= 0 and each.space != 0 for each in found)
    return strayed


def _first_place(
    name: str, dim: int, counters: Counters, depth: int, relations: Sequence[isl.Map]
) -> isl.PwAff | None:
    """The first place in ``dim`` of instances that statement ``name`` depends with, if that is known.

    What depends with none of the statements that have a place stands where others do that it depends with,
    as a variable for the value of a source, or anywhere.
    """
    asked, waiting = {name}, [name]
    while waiting:
        here = waiting.pop(0)
        pairs = [*_pairs_with(here, relations)]
        places = [
            isl.Map.from_pw_aff(counters[other][dim]).intersect_domain(instances).range()
            for other, instances in pairs
            if len(counters[other]) == depth
        ]
        for first in (each.dim_min(0) for each in places if each.dim_has_lower_bound(isl.dim_type.set, 0)):
            affine = _of_large_grids(first.project_domain_on_params())
            if affine is not None:
                found = isl.PwAff.from_aff(affine)
                return found.insert_domain(counters[name][0].get_domain_space())
        if places:
            return None
        waiting += [each for each in dict.fromkeys(other for other, _ in pairs) if each not in asked]
        asked.update(waiting)
    return counters[name][0].scale_val(isl.Val(0))


def _of_large_grids(place: isl.PwAff) -> isl.Aff | None:
    """``place`` as one function of the parameters, that where all of these are large; None if there is none.

    Of a few rows, those of a source and of a receiver may be one, which others then depend with instead.
    """
    named = (place.get_dim_name(isl.dim_type.param, each) for each in range(place.dim(isl.dim_type.param)))
    names = [each for each in named if each]
    large = " and ".join(f"{name} >= {STENCIL_REACH}" for name in names)
    for known in (place, place.intersect_domain(isl.Set(f"[{', '.join(names)}] -> {{ : {large} }}"))):
        affine = known.coalesce()
        found = [aff for _, aff in affine.get_pieces()]
        if found and all(each.plain_is_equal(found[0]) for each in found):
            return found[0]
    return None


def _pairs_with(name: str, relations: Sequence[isl.Map]) -> Iterator[tuple[str, isl.Set]]:
    """The statements that instances of ``name`` depend with, and their instances."""
    for relation in relations:
        source, target = relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)
        if source == name:
            yield target, relation.range()
        if target == name:
            yield source, relation.domain()


def _distances(counters: Counters, relations: Sequence[isl.Map]) -> list[Distances]:
    """The distances of each of ``relations`` in time and in each dimension of space."""
    found = []
    for relation in relations:
        names = relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)
        sides = []
        for dim in range(1, 1 + _depth(counters)):
            source, target = ((counters[name][0], counters[name][dim]) for name in names)
            sides.append(_generators_between(relation, source, target))
        found.append(Distances(*names, tuple(sides)))
    return found


_Plane = tuple[isl.PwAff, isl.PwAff]
"""Time and one dimension of space, as functions of the counters of a statement."""


@remembered  # other alignments ask again, and so does whoever tiles what was found to be a stencil
def _generators_between(relation: isl.Map, source: _Plane, target: _Plane) -> tuple[Generator, ...]:
    """The generators of the distances of ``relation`` in the plane of its source and that of its target."""
    places = [
        isl.Map.from_pw_aff(time).flat_range_product(isl.Map.from_pw_aff(space))
        for time, space in (source, target)
    ]
    deltas = relation.apply_domain(places[0]).apply_range(places[1]).deltas()
    deltas = deltas.project_out(isl.dim_type.param, 0, deltas.dim(isl.dim_type.param))
    return generators(deltas.coalesce())


def _moved(counter: isl.PwAff, scale: int, offset: int) -> isl.PwAff:
    return counter.scale_val(isl.Val(scale)).add_constant_val(isl.Val(offset))


def _stencil(
    counters: Counters,
    found: Mapping[str, tuple[int, ...]],
    skews: Sequence[tuple[Fraction | None, Fraction | None]],
    scales: tuple[int, int],
    *,
    steps: int = 0,
    original: Counters | None = None,
) -> Stencil:
    """The stencil with coordinates ``scale * counter + offset``; ``scales`` are of time and of space."""
    coordinates, plain = [], []
    for axis in range(1 + len(skews)):
        scale = scales[min(axis, 1)]
        coordinates.append(
            _union(_moved(own[axis], scale, found[name][axis]) for name, own in counters.items())
        )
        plain.append(_union(own[axis] for own in (original or counters).values()))
    ratio = Fraction(scales[1], scales[0])
    cones = tuple(Cone(*(None if side is None else side * ratio for side in each)) for each in skews)
    return Stencil(coordinates[0], tuple(coordinates[1:]), cones, steps or scales[0], scales[1], tuple(plain))


def _union(functions: Iterable[isl.PwAff]) -> isl.UnionPwAff:
    first, *rest = functions
    union = isl.UnionPwAff.from_pw_aff(first)
    for each in rest:
        union = union.union_add(isl.UnionPwAff.from_pw_aff(each))
    return union
