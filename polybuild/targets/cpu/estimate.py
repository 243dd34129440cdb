"""How long a schedule tree will take, roughly: enough to choose among several before mapping one.

The tree is read as the mapping will make it: outermost permutable bands tiled where tiles pay,
the first coincident member (or wavefronts) for the threads, the best loop innermost for the vector
unit. Three things are added up: the work of the statement instances, the bytes moved between
caches and memory, and the launches of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.trip_counts import trip_counts
from polybuild.context import CompileContext
from polybuild.machine.model import Machine
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import largest, maps_of, natural_key, sets_of
from polybuild.poly.trees import descendants, is_band, is_mark
from polybuild.scop.model import Scop
from polybuild.targets.cpu.strides import Reference, references, references_at
from polybuild.targets.cpu.tilesizes import element_size, is_worth_tiling, tile_sizes
from polybuild.targets.cpu.vectorise import find_vector_loop, member_cost
from polybuild.transform.bands import coincident_members
from polybuild.transform.full_unrolling import outside_unrolled

# What work must be of the time that starting threads takes, for launches within sequential loops.
_WORK_OF_START = 5.0
# A wavefront also starts and ends with few tiles, and its threads wait for the slowest.
_WAVEFRONT_CAUTION = 5.0
# Wavefronts within a sequential loop synchronise so often that one other busy process ruins them.
_NESTED_CAUTION = 10.0
# Accesses of a usual statement: they are what its instances are taken to cost.
_ACCESSES = 4.0
VECTOR_GAIN = 8.0
# What a parameter is taken to be where nothing bounds it.
_NOMINAL = 1000


class LaunchModel:
    """Estimates the work below a node of the tree per time the node is reached, in statement instances.

    An instance in the vector unit counts an eighth.
    """

    def __init__(self, scop: Scop, machine: Machine) -> None:
        self.minimum_work = _WORK_OF_START * machine.threads.start / (_ACCESSES * machine.arithmetic.access)
        point = nominal_parameters(scop.context)
        self._counts = {
            statement.name: counts
            for statement, counts in zip(scop.statements, trip_counts(scop), strict=True)
        }
        self._trips = {
            name: [_value(count, point) for count in counts] for name, counts in self._counts.items()
        }

    def is_worth_launching(self, node: isl.ScheduleNode, *, vector: bool) -> bool:
        """Whether the loops at ``node`` do enough work for threads each time they run.

        A nest that is reached once is left to run-time conditions.
        """
        depth = node.get_schedule_depth()
        return depth == 0 or self._work(node, depth) >= self.minimum_work * (VECTOR_GAIN if vector else 1.0)

    def is_worth_pipelining(self, node: isl.ScheduleNode, sizes: Sequence[int], *, vector: bool) -> bool:
        """Whether each wavefront of tiles of ``sizes`` at ``node`` does enough work for threads."""
        total = self._work(node, node.get_schedule_depth())
        longest = max(
            (max(self._trips[each.get_tuple_name()], default=1.0) for each in sets_of(node.get_domain())),
            default=1.0,
        )
        wavefronts = max(1.0, 2 * longest / min(sizes[:2]))
        minimum = _WAVEFRONT_CAUTION * self.minimum_work * (VECTOR_GAIN if vector else 1.0)
        if node.get_schedule_depth() > 0:
            minimum *= _NESTED_CAUTION
        return total / wavefronts >= minimum

    def run_time_work(self, node: isl.ScheduleNode) -> tuple[tuple[isl.PwAff, ...], ...]:
        """Trip counts to check at run time: those of a single loop, which may be short in a long region."""
        names = {each.get_tuple_name() for each in sets_of(node.get_domain())}
        counts = [self._counts[name] for name in sorted(names, key=natural_key)]
        return tuple(counts) if all(len(each) <= 1 for each in counts) else ()

    def _work(self, node: isl.ScheduleNode, depth: int) -> float:
        """Instances below ``node`` for one value of the ``depth`` loops above it."""
        work = 0.0
        for each in sets_of(node.get_domain()):
            trips = self._trips[each.get_tuple_name()]
            inner = max(0, len(trips) - depth)
            if inner:
                work += math.prod(trips) ** (inner / len(trips))
        return work


def nominal_parameters(context: isl.Set) -> isl.Set:
    """One plausible point of ``context``: each parameter at its bound if it has one, else a thousand."""
    count = context.dim(isl.dim_type.param)
    for dim in range(count):
        values = context.move_dims(isl.dim_type.set, 0, isl.dim_type.param, dim, 1)
        values = values.project_out(isl.dim_type.param, 0, count - 1)
        largest = values.upper_bound_val(isl.dim_type.set, 0, isl.Val(_NOMINAL)).dim_max_val(0)
        if values.dim_has_upper_bound(isl.dim_type.set, 0) or not largest.is_int():
            largest = values.dim_max_val(0)
        if largest.is_int():
            context = context.fix_val(isl.dim_type.param, dim, largest)
    return context


def _value(count: isl.PwAff, point: isl.Set) -> float:
    value = largest(count.intersect_params(point))
    return float(max(0, value.to_python())) if value.is_int() else 0.0


_dim = isl.dim_type

# The part of the threads that is busy where wavefronts start and end with few tiles.
_PIPELINED = 0.75
_MINIMUM_VECTOR_COST = 0.125


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A statement: what one instance costs in nanoseconds, and how many threads share the instances."""

    name: str
    nanoseconds: float
    threads: float


@dataclass(frozen=True, slots=True)
class _Block:
    """One after the other."""

    children: tuple[_Nest, ...]


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop over schedule dimension ``dim``, or over its tiles."""

    dim: int
    trips: float
    body: _Nest


_Nest = _Leaf | _Block | _Loop


@dataclass(frozen=True, slots=True)
class _Context:
    """What the loops around a node are: whether threads and tiles are given already."""

    threads: float | None = None
    tiled: bool = False
    repeats: float = 1.0


def estimate(scop: Scop, dependences: Dependences, schedule: isl.Schedule, context: CompileContext) -> float:
    """Nanoseconds that ``schedule`` takes for parameters of a plausible size."""
    return _Estimate(scop, dependences, schedule, context).nanoseconds()


class _Estimate:
    def __init__(
        self, scop: Scop, dependences: Dependences, schedule: isl.Schedule, context: CompileContext
    ) -> None:
        self._scop = scop
        self._dependences = dependences
        self._context = context
        self._root = schedule.get_root()
        self._launch_model = LaunchModel(scop, context.machine)
        self._machine = context.machine
        self._launches = 0.0
        prefixes = _prefixes(self._root)
        point = nominal_parameters(scop.context)
        self._trips = {
            name: _trips(prefix.range().intersect_params(point)) for name, prefix in prefixes.items()
        }
        self._accesses = {
            name: references_at(scop, {name: prefix}, range(prefix.dim(_dim.out)))
            for name, prefix in prefixes.items()
        }

    @property
    def _threads(self) -> float:
        return float(self._machine.threads.processors)

    def nanoseconds(self) -> float:
        nest = self._nest(self._root, _Context())
        return self._time(nest) + self._launches * self._machine.threads.start

    def _time(self, nest: _Nest) -> float:
        """Work and traffic; parts that follow each other share no data."""
        if isinstance(nest, _Block):
            return sum(self._time(each) for each in nest.children)
        leaves = list(_leaves(nest))
        work = {leaf: math.prod(self._trips[leaf.name]) * leaf.nanoseconds for leaf in leaves}
        alone = sum(work.values())
        shared = sum(each / leaf.threads for leaf, each in work.items())
        machine = self._machine
        moved = self._traffic(nest, machine.l2.bytes // 2) / machine.memory.bandwidth
        moved += self._traffic(nest, machine.l1.bytes // 2) / machine.l2.bandwidth
        return shared + moved * (shared / alone if alone else 1.0)

    def _nest(self, node: isl.ScheduleNode, context: _Context) -> _Nest:
        if is_band(node):
            return self._band(node, context)
        if node.n_children() == 0 or is_mark(node, MarkKind.UNROLLED):
            return _Block(tuple(self._leaf(name, None, context) for name in self._running(node)))
        children = tuple(self._nest(node.child(index), context) for index in range(node.n_children()))
        return children[0] if len(children) == 1 else _Block(children)

    def _running(self, node: isl.ScheduleNode) -> list[str]:
        """The statements at ``node`` that have an instance for some values of the parameters."""
        names = [each.get_tuple_name() for each in sets_of(node.get_domain())]
        return [name for name in names if name in self._trips]

    def _band(self, node: isl.ScheduleNode, context: _Context) -> _Nest:
        accesses = references(self._scop, node)
        members = node.band_n_member()
        innermost = not any(map(is_band, outside_unrolled(node.child(0))))
        vector = find_vector_loop(node, accesses, self._dependences) if innermost else None
        first = node.get_schedule_depth()
        names = self._running(node)
        trips = [self._trips[name] for name in names]
        counts = [max((each[first + member] for each in trips), default=0.0) for member in range(members)]
        tiles = self._context.options.tile and not context.tiled
        tiled = tiles and is_worth_tiling(node, accesses, self._context)
        sizes = (
            tile_sizes(accesses, members, vector.member if vector else None, self._context) if tiled else ()
        )
        threads = context.threads
        if threads is None and self._launch_model.is_worth_launching(node, vector=vector is not None):
            threads = self._share(node, counts, sizes, context)
        inside = _Context(threads, context.tiled or tiled, context.repeats * math.prod(counts))
        order = list(range(members))
        if vector is not None:
            order = [*(each for each in order if each != vector.member), vector.member]
            body: _Nest = _Block(
                tuple(
                    self._leaf(name, self._relative_cost(name, accesses, vector.member), inside)
                    for name in names
                )
            )
        else:
            body = self._nest(node.child(0), inside)
        for each in reversed(order):
            body = _Loop(first + each, min(counts[each], sizes[each]) if tiled else counts[each], body)
        for each in reversed(range(members)) if tiled else ():
            body = _Loop(first + each, math.ceil(counts[each] / sizes[each]), body)
        return body

    def _share(
        self, node: isl.ScheduleNode, counts: list[float], sizes: tuple[int, ...], context: _Context
    ) -> float | None:
        """How many threads the band occupies, None if it is for one; counts its launches."""
        if coincident_members(node):
            self._launches += context.repeats
            return self._threads
        if not sizes:
            return None
        self._launches += (
            context.repeats * 2 * max(count / size for count, size in zip(counts, sizes, strict=True))
        )
        return max(1.0, _PIPELINED * self._threads)

    def _relative_cost(self, name: str, accesses: list[Reference], member: int) -> float:
        own = [each for each in accesses if each.statement.name == name]
        cost = member_cost(own, member)
        return 1.0 if cost is None else max(_MINIMUM_VECTOR_COST, cost)

    def _leaf(self, name: str, relative: float | None, context: _Context) -> _Leaf:
        accesses = self._accesses[name]
        nanoseconds = self._machine.arithmetic.access * len(accesses)
        return _Leaf(name, nanoseconds * (1.0 if relative is None else relative), context.threads or 1.0)

    def _traffic(self, nest: _Nest, cache: float) -> float:
        """Bytes that enter a cache of ``cache`` bytes.

        What a loop leaves in the cache from one iteration to the next is found there if one
        iteration fits; then the whole loop loads each line once.
        """
        whole = self._footprint(nest)
        if whole <= cache or isinstance(nest, _Leaf):
            return whole
        if isinstance(nest, _Block):
            return sum(self._traffic(each, cache) for each in nest.children)
        if self._footprint(nest.body) <= cache:
            return whole
        return nest.trips * self._traffic(nest.body, cache)

    def _footprint(self, nest: _Nest) -> float:
        """Bytes of the lines that ``nest`` touches; equal subscripts of one array count once."""
        bytes_of: dict[tuple[object, ...], float] = {}
        line = self._machine.memory.line
        for leaf, extents in _paths(nest, {}):
            for each in self._accesses[leaf.name]:
                key = (each.access.array.name, each.matrix)
                bytes_of[key] = max(bytes_of.get(key, 0.0), _bytes(each, extents, line))
        return sum(bytes_of.values())


def _prefixes(root: isl.ScheduleNode) -> dict[str, isl.Map]:
    """The position of each statement's instances in the bands around it."""
    found: dict[str, isl.Map] = {}
    for node in descendants(root):
        if node.n_children() == 0:
            here = node.get_prefix_schedule_union_map().intersect_domain(node.get_domain())
            found.update({each.get_tuple_name(_dim.in_): each for each in maps_of(here)})
    return found


def _trips(stamps: isl.Set) -> list[float]:
    """How many values each dimension takes when those before it are in the middle of theirs."""
    trips = []
    for dim in range(stamps.dim(_dim.set)):
        values = stamps.project_out(_dim.set, dim + 1, stamps.dim(_dim.set) - dim - 1)
        low, high = values.dim_min_val(dim), values.dim_max_val(dim)
        if not (low.is_int() and high.is_int()):
            trips.append(1.0)
            continue
        first, last = low.to_python(), high.to_python()
        trips.append(float(last - first + 1))
        middle = stamps.fix_val(_dim.set, dim, isl.Val((first + last) // 2))
        stamps = middle if not middle.is_empty() else stamps.fix_val(_dim.set, dim, low)
    return trips


def _leaves(nest: _Nest) -> Iterator[_Leaf]:
    for leaf, _ in _paths(nest, {}):
        yield leaf


def _paths(nest: _Nest, extents: dict[int, float]) -> Iterator[tuple[_Leaf, dict[int, float]]]:
    """Each leaf with the number of values that the loops of ``nest`` give to each dimension."""
    if isinstance(nest, _Leaf):
        yield nest, extents
    elif isinstance(nest, _Block):
        for each in nest.children:
            yield from _paths(each, extents)
    else:
        yield from _paths(nest.body, {**extents, nest.dim: extents.get(nest.dim, 1.0) * nest.trips})


def _bytes(reference: Reference, extents: dict[int, float], line: int) -> float:
    """Bytes that ``reference`` touches where dimensions take ``extents`` values, in whole lines."""
    size = float(element_size(reference))
    counts = [
        1.0
        + sum(
            (1 if step is None else abs(step)) * (extents.get(dim, 1.0) - 1.0) for dim, step in enumerate(row)
        )
        for row in reference.matrix
    ]
    if not counts:
        return line
    # as many lines as elements, unless they lie closer
    elements = math.prod(
        extents.get(dim, 1.0) for dim, step in enumerate(reference.matrix[-1]) if step is None or step
    )
    return math.prod(counts[:-1]) * max(line, min(counts[-1] * size, elements * line))
