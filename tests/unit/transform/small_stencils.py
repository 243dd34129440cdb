"""Small stencils for the tests of tile shapes, and questions about the tiles they get."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.schedule.legality import check_schedule
from polybuild.transform.tiling.stencil import Stencil, find_stencil

LARGE = 1000  # the extents of time and space, where tiles are looked at


@dataclass(frozen=True)
class Program:
    """A tree in its original order, and the dependences between its instances."""

    schedule: isl.Schedule
    dependences: isl.UnionMap

    @property
    def loop(self) -> isl.ScheduleNode:
        return self.schedule.get_root().child(0)

    @property
    def stencil(self) -> Stencil:
        found = find_stencil(self.loop, self.dependences)
        assert found is not None
        return found

    def prove(self, node: isl.ScheduleNode) -> None:
        """The proof that the pipeline asks for, on the tree that ``node`` is in."""
        empty = isl.UnionMap.empty(self.dependences.get_space())
        known = Dependences(self.dependences, empty, (), empty)
        check_schedule(node.get_schedule(), known, self.schedule.get_domain())


def line(*distances: tuple[int, int]) -> Program:
    """One statement ``S[t, i]`` on a line, with the given distances in time and space."""
    return grid(1, *distances)


def grid(dims: int, *distances: tuple[int, ...]) -> Program:
    """One statement ``S[t, s0, ...]`` over ``0 <= t < steps`` and ``0 <= s < n``."""
    places = [f"s{dim}" for dim in range(dims)]
    inside = " and ".join(["0 <= t < steps", *[f"0 <= {each} < n" for each in places]])
    tuple_ = f"S[t, {', '.join(places)}]"
    bands = "".join(f'child: {{ schedule: "[{{ {tuple_} -> [({each})] }}]", ' for each in ["t", *places])
    text = f'{{ domain: "[steps, n] -> {{ {tuple_} : {inside} }}", {bands.rstrip(", ")} {"}" * (dims + 2)}'
    moved = [
        f"{tuple_} -> S[t + {time}, {', '.join(f'{a} + {b}' for a, b in zip(places, space, strict=True))}]"
        for time, *space in distances
    ]
    schedule = isl.Schedule(text)
    domain = schedule.get_domain()
    dependences = isl.UnionMap(f"[steps, n] -> {{ {'; '.join(moved)} }}")
    return Program(schedule, dependences.intersect_domain(domain).intersect_range(domain))


def tiles(phases, dims: int, steps: range, places: range) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """The points of each tile ``(wave, phase, tile...)`` among those of a small grid."""
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
    space = isl.Set(f"{{ S[{', '.join(f'x{each}' for each in range(dims + 1))}] }}").get_space()
    for number, phase in enumerate(phases):
        functions = [each.extract_pw_aff(_function(space)) for each in (phase.wave, *phase.tiles)]
        instances = phase.instances.extract_set(space)
        for point in itertools.product(steps, *[places] * dims):
            at = isl.Point.zero(space.align_params(instances.get_space()))
            for dim, value in enumerate(point):
                at = at.set_coordinate_val(isl.dim_type.set, dim, isl.Val(value))
            for dim in range(instances.dim(isl.dim_type.param)):
                at = at.set_coordinate_val(isl.dim_type.param, dim, isl.Val(LARGE))
            if isl.Set.from_point(at).is_subset(instances):
                wave, *tile = (each.eval(at).to_python() for each in functions)
                found[wave, number, *tile].append(point)
    return found


def _function(space: isl.Space) -> isl.Space:
    return space.from_domain().add_dims(isl.dim_type.out, 1)


def sizes(found: dict[tuple[int, ...], list[tuple[int, ...]]], edges: tuple[range, ...]) -> set[int]:
    """How many points the tiles have that do not touch the edges of what was looked at."""
    return {
        len(points)
        for points in found.values()
        if all(
            each.start < x < each.stop - 1 for point in points for x, each in zip(point, edges, strict=True)
        )
    }
