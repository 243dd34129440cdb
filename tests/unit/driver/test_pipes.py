"""Values go from a process to its copy and back, whole or not at all."""

from __future__ import annotations

import os
import pickle

import pytest

from polybuild.driver.pipes import pipe_of_values


def test_values_arrive_in_order():
    ours, theirs = pipe_of_values()
    assert not ours.has_more()
    for each in ([1, 2], None, "text"):
        theirs.send(each)
    theirs.close()
    assert ours.has_more()
    assert [ours.receive() for _ in range(3)] == [[1, 2], None, "text"]
    with ours, pytest.raises(EOFError):
        ours.receive()


def test_more_than_a_pipe_holds_arrives():
    ours, theirs = pipe_of_values()
    text = "x" * (3 << 20)
    process = os.fork()
    if not process:
        theirs.send(text)
        os._exit(0)
    theirs.close()
    assert ours.receive() == text
    assert os.waitpid(process, 0)[1] == 0


def test_a_part_of_a_value_is_none():
    ours, theirs = pipe_of_values()
    os.write(theirs.fileno(), b"\x09")
    theirs.close()
    with pytest.raises(EOFError):
        ours.receive()


def test_what_cannot_be_pickled_is_not_sent():
    ours, theirs = pipe_of_values()
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        theirs.send(lambda: None)
    assert not ours.has_more()
    with pytest.raises(OSError, match="Broken pipe"):
        ours.close() or theirs.send(1)
