"""The words of ``explain`` about other sizes and machines: ``--sizes``, ``--ranks`` and ``--network``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from polybuild.diagnostics import UsageError
from polybuild.effort import ADVICE_SIZE, PLANNED_RANKS
from polybuild.machine.file import figure_of
from polybuild.values import dataclass

_NETWORK = ("network.latency", "network.bandwidth")


@dataclass(frozen=True, slots=True)
class Planning:
    """What is asked about: values of parameters, numbers of ranks, figures of a network by their paths."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    ranks: tuple[int, ...] = ()
    network: Mapping[str, float] = field(default_factory=dict)


def add_planning(parser: argparse.ArgumentParser) -> None:
    """Add these words to ``parser``."""
    unset: dict[str, Any] = {"default": argparse.SUPPRESS}
    parser.add_argument(
        "--sizes", metavar="NAME=N,...", help="values of parameters for which gains are told", **unset
    )
    parser.add_argument(
        "--ranks",
        metavar="N,N,...",
        help="tell what regions take on so many ranks of an MPI program (--distribute mpi)",
        **unset,
    )
    parser.add_argument(
        "--network",
        metavar="LATENCY,BANDWIDTH",
        help="what messages between ranks take, as in '1.5us,12GB/s'",
        **unset,
    )


def planning_of(values: Mapping[str, Any], settings: dict[str, str]) -> Planning:
    """What the ``values`` of a parser ask for; ``settings`` become those of ranks. Raises UsageError."""
    sizes = _sizes(values["sizes"]) if "sizes" in values else {}
    if "ranks" not in values:
        if "network" in values:
            raise UsageError("--network says how ranks are connected; name with --ranks how many there are")
        return Planning(sizes)
    if settings.setdefault("distribute", "mpi") == "off":
        raise UsageError("--ranks is about regions that ranks share; leave out '--distribute off'")
    network = _network(values["network"]) if "network" in values else {}
    return Planning(sizes, _ranks(values["ranks"]), network)


def _ranks(text: str) -> tuple[int, ...]:
    """Numbers of ranks, in the order in which they are told of."""
    words = text.split(",")
    if not all(re.fullmatch(r"\d{1,9}", each) and 1 <= int(each) <= PLANNED_RANKS for each in words):
        raise UsageError(
            f"--ranks takes numbers from 1 to {PLANNED_RANKS}, parted by commas, as in 1,2,8: not '{text}'"
        )
    return tuple(dict.fromkeys(map(int, words)))


def _network(text: str) -> dict[str, float]:
    words = text.split(",")
    if len(words) != len(_NETWORK):
        raise UsageError(f"--network takes a latency and a bandwidth, as in '1.5us,12GB/s': not '{text}'")
    return {path: figure_of(path, word.strip()) for path, word in zip(_NETWORK, words, strict=True)}


def _sizes(text: str) -> dict[str, int]:
    """Values of parameters, which may have names like ``p->n``."""
    found = {}
    for each in text.split(","):
        name, equals, value = (part.strip() for part in each.rpartition("="))
        if not (name and equals and re.fullmatch(r"-?\d{1,15}", value) and abs(int(value)) <= ADVICE_SIZE):
            raise UsageError(f"--sizes takes values of parameters, as in n=4000,steps=100: not '{each}'")
        found[name] = int(value)
    return found
