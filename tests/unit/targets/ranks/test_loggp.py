"""What messages take: the terms of LogGP, one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polybuild.machine.model import Machine, Network
from polybuild.targets.ranks.loggp import collective_time, exchange_time

NETWORK = Network(latency=1000, overhead=100, gap=300, bandwidth=10)
MACHINE = Machine(network=NETWORK)


def with_network(**figures):
    return replace(MACHINE, network=replace(NETWORK, **figures))


def test_a_message_takes_latency_and_overhead_at_both_ends():
    asked = exchange_time(MACHINE, 2, 0, 0)
    assert exchange_time(MACHINE, 2, 1, 0) - asked == pytest.approx(1000 + 2 * 100)


def test_further_messages_wait_for_the_gap_or_for_the_rank():
    for figures, each in (({}, 300), ({"overhead": 500}, 500)):
        machine = with_network(**figures)
        more = exchange_time(machine, 4, 3, 0) - exchange_time(machine, 4, 1, 0)
        assert more == pytest.approx(2 * 2 * each)


def test_bytes_take_what_the_bandwidth_says():
    fast, slow = (exchange_time(with_network(bandwidth=each), 2, 1, 1e6) for each in (10, 5))
    assert slow - fast == pytest.approx(1e6 / 10)


def test_rounds_of_a_collective_are_the_logarithm_of_ranks():
    assert [collective_time(MACHINE, ranks) for ranks in (2, 3, 8, 9)] == [1200, 2400, 3600, 4800]
