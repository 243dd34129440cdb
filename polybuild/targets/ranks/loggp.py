"""What messages take on a network (Alexandrov, Ionescu, Schauser and Scheiman 1995: LogGP)."""

from __future__ import annotations

import math

from polybuild.machine.model import Machine


def exchange_time(machine: Machine, ranks: int, messages: float, sent: float) -> float:
    """Nanoseconds in which a rank sends so many ``messages``, ``sent`` bytes in all, and gets as many.

    It is busy with each of them, at the start and at the end; between, they are on their way at once. What is
    sent is packed and unpacked in memory, and the rank asks itself what there is for each of the others.
    """
    network = machine.network
    asked = _LOOKS * (ranks - 1) * machine.arithmetic.call
    if not messages:
        return asked
    busy = network.overhead + (messages - 1) * max(network.overhead, network.gap)
    packed = 2 * _MOVED * sent / machine.memory.bandwidth
    return asked + packed + 2 * busy + network.latency + sent / network.bandwidth


def collective_time(machine: Machine, ranks: int, received: float = 0.0) -> float:
    """Nanoseconds in which all ``ranks`` come to know something of each other, ``received`` bytes each."""
    network = machine.network
    rounds = math.ceil(math.log2(ranks))
    return rounds * (network.latency + 2 * network.overhead) + received / network.bandwidth


# For each other rank what comes is counted, then what goes, and that is packed.
_LOOKS = 3
# A byte that is copied is read and written.
_MOVED = 2
