"""What became of each region: the record behind the JSON report, remarks and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from polybuild.diagnostics import Diagnostic
from polybuild.values import dataclass

TRANSFORMED = "transformed"
UNCHANGED = "unchanged"
KEPT = "kept"


class Sequential(StrEnum):
    """Why loops that are modelled are run by one thread without vectors."""

    NO_ORDER = "in no order that was found does a loop carry nothing"
    PREDICTED = "it is faster than the orders with parallel loops, by their predicted costs"
    COMPILERS = "compilers make as much of its original order"
    LITTLE_WORK = "it has too little work for threads"


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that its owner may do for a region, in line ``line`` of its file.

    ``kind`` is ``restrict``, ``reassociation``, ``min-work``, ``live-after``, ``conditional`` or
    ``time-tiles``.
    """

    kind: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class PredictedCandidate:
    """A version of a region that could have been chosen, with its predicted nanoseconds."""

    name: str
    one_thread_ns: float
    all_threads_ns: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a region is predicted to take, in nanoseconds, where its parameters have the values given.

    ``original_ns`` is the original loops as the compiler makes them, the others are what was made of them, on
    one thread and on all. ``parts`` has what is added up, for each of the three (``original``,
    ``one_thread``, ``all_threads``) by name; ``candidates`` is what the new loops were chosen among.
    """

    original_ns: float
    one_thread_ns: float
    all_threads_ns: float
    parameters: Mapping[str, int]
    parts: Mapping[str, Mapping[str, float]]
    candidates: tuple[PredictedCandidate, ...] = ()


@dataclass(frozen=True, slots=True)
class DevicePrediction:
    """What a run of a region is predicted to take on a device where its parameters have the values given.

    ``device_ns`` is without ``transfers_ns``, in which ``bytes_in`` and ``bytes_out`` travel unless they stay
    there; ``host_ns`` is what the program takes its host to need, which decides where it runs. ``parts`` has
    what is added up: ``launches``, ``statements`` and those of ``one_thread``.
    """

    device_ns: float
    transfers_ns: float
    host_ns: float
    launches: int
    bytes_in: int
    bytes_out: int
    parameters: Mapping[str, int]
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RankPrediction:
    """What a region is predicted to take on so many ``ranks``.

    ``instances`` are those of the rank that runs the most, ``messages`` and ``bytes`` what the one sends that
    sends the most, ``communication_ns`` is the part of ``time_ns`` in which ranks send and wait. ``speed_up``
    is over one rank, ``efficiency`` that for each rank.
    """

    ranks: int
    instances: int
    messages: int
    bytes: int
    communication_ns: float
    time_ns: float
    speed_up: float
    efficiency: float


@dataclass(frozen=True, slots=True)
class RankPlan:
    """What a region is predicted to take on ranks where its parameters have the values given.

    ``reason`` says why there are no rows.
    """

    parameters: Mapping[str, int]
    rows: tuple[RankPrediction, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RegionReport:
    """The outcome for one region.

    ``status`` is ``transformed``, ``unchanged`` where compilers make as much of the region as it is, or
    ``kept``; a kept region has the ``code`` and ``message`` of its diagnostic. ``parallel_loops`` counts
    loops run by threads, ``kernels`` those of a device, ``vector_loops`` loops run by the vector unit;
    ``tile_sizes`` lists those of each tiled band, outermost first. ``reason`` says why a region that is not
    kept stays sequential. ``assumptions`` are the run-time conditions as C text with the reason for
    each; ``remarks`` say in words what was done. ``compile_seconds`` is wall time.
    ``detected`` is true for a region that nobody marked, ``function`` is the one it is in, where that is
    known. ``advice`` follows from what stands in the way of more, ``prediction`` is what the model of costs
    says, ``device`` what it says of kernels. It is one flat value, as it is one object of the JSON that tools
    read.
    """

    file: str
    line: int
    end_line: int
    status: str
    code: str = ""
    message: str = ""
    backend: str = ""
    parallel_loops: int = 0
    tile_sizes: tuple[tuple[int, ...], ...] = ()
    statements: int = 0
    compile_seconds: float = 0.0
    assumptions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    detected: bool = False
    function: str = ""
    advice: tuple[Advice, ...] = ()
    kernels: int = 0
    vector_loops: int = 0
    reason: str = ""
    prediction: Prediction | None = None
    device: DevicePrediction | None = None

    @property
    def gains(self) -> tuple[str, ...]:
        """What was done with it, in adjectives; none if it is what it was."""
        if self.status != TRANSFORMED:
            return ()
        done = {
            "parallel": self.parallel_loops > 0 or self.kernels > 0,
            "tiled": bool(self.tile_sizes),
            "vectorised": self.vector_loops > 0,
        }
        return tuple(word for word, holds in done.items() if holds)

    @property
    def fate(self) -> str:
        """What became of it: what was done, ``sequential`` where that is nothing, or its status."""
        if self.status != TRANSFORMED:
            return self.status
        *others, last = self.gains or ("sequential",)
        return f"{', '.join(others)} and {last}" if others else last

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Whether ``diagnostic`` is about a line of this region."""
        location = diagnostic.location
        return location.file == self.file and self.line <= location.line <= self.end_line
