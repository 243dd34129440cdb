"""Jobs of the build's job server: taken without waiting, and always given back."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from polybuild.driver.job_server import jobs


@contextlib.contextmanager
def server(tmp_path, monkeypatch, kind, tokens):
    """A job server with ``tokens``; gives what tells which of them it has."""
    ends: tuple[int, ...]
    if kind == "fifo":
        os.mkfifo(tmp_path / "jobs")
        ends = (os.open(tmp_path / "jobs", os.O_RDWR),) * 2
        monkeypatch.setenv("MAKEFLAGS", f" -j9 --jobserver-auth=fifo:{tmp_path}/jobs -- CC=gcc")
    else:
        ends = os.pipe()
        monkeypatch.setenv("MAKEFLAGS", f"k -j9 --jobserver-{kind}={ends[0]},{ends[1]}")
    os.write(ends[1], tokens)

    def left():
        os.set_blocking(ends[0], False)
        try:
            found = os.read(ends[0], 100)
        except BlockingIOError:
            found = b""
        os.set_blocking(ends[0], True)
        os.write(ends[1], found)
        return bytes(sorted(found))

    left.ends = ends
    yield left
    for end in set(ends):
        os.close(end)


KINDS = pytest.mark.parametrize("kind", ["fifo", "auth", "fds"])


@KINDS
def test_what_is_there_is_taken_and_given_back(tmp_path, monkeypatch, kind):
    with server(tmp_path, monkeypatch, kind, b"+abc") as left:
        with jobs(0, 3) as granted:
            assert granted == 3
            assert len(left()) == 2
            with jobs(0, 8) as others:
                assert others == 3
                assert left() == b""
                with jobs(0, 8) as nothing:  # and nobody waits
                    assert nothing == 1
        assert left() == b"+abc"


@KINDS
def test_nothing_is_taken_that_is_of_no_use(tmp_path, monkeypatch, kind):
    with server(tmp_path, monkeypatch, kind, b"+++") as left:
        for asked, useful, granted in [(0, 1, 1), (0, 0, 1), (1, 5, 1), (4, 5, 4), (4, 2, 2)]:
            with jobs(asked, useful) as found:
                assert found == granted
                assert left() == b"+++"


@KINDS
def test_an_error_gives_back_what_was_taken(tmp_path, monkeypatch, kind):
    with server(tmp_path, monkeypatch, kind, b"ab") as left:
        with pytest.raises(KeyError), jobs(0, 9):
            raise KeyError
        assert left() == b"ab"


@KINDS
def test_being_ended_gives_back_what_was_taken(tmp_path, monkeypatch, kind):
    program = (
        "import time\nfrom polybuild.driver.job_server import jobs\n"
        "with jobs(0, 9) as granted:\n    print(granted, flush=True)\n    time.sleep(600)\n"
    )
    with server(tmp_path, monkeypatch, kind, b"ab") as left:
        command = [sys.executable, "-c", program]
        # open in it, as Make has it for those that it takes for another Make
        with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=left.ends) as process:
            told = process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 128 + signal.SIGTERM
        assert told == b"3\n"
        assert left() == b"ab"


def test_without_a_job_server_there_is_one(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with (tmp_path / "file").open("r+") as file:
        for flags in (
            "",
            "-j8",
            "ks -j8 --jobserver-auth=-2,-2",
            f"--jobserver-auth={file.fileno()},{file.fileno()}",
            "--jobserver-auth=7654,7655",
            f"--jobserver-auth=fifo:{tmp_path}/none",
            f"--jobserver-auth=fifo:{tmp_path}/file",
            "--jobserver-auth=",
        ):
            monkeypatch.setenv("MAKEFLAGS", flags)
            with jobs(0, 8) as granted:
                assert granted == 1
    monkeypatch.delenv("MAKEFLAGS")
    with jobs(0, 8) as granted:
        assert granted == 1


def test_the_last_one_named_counts(tmp_path, monkeypatch):
    with server(tmp_path, monkeypatch, "fifo", b"a"):
        monkeypatch.setenv("MAKEFLAGS", "--jobserver-auth=fifo:/none " + os.environ["MAKEFLAGS"])
        with jobs(0, 8) as granted:
            assert granted == 2
