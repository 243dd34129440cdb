"""Files of machines: what is written is read again, and what is wrong is told with its line."""

from __future__ import annotations

import tomllib

import pytest

from polybuild.machine.file import machine_text, read_machine_file
from polybuild.machine.model import Machine, Origin


def read(tmp_path, text):
    path = tmp_path / "machine.toml"
    path.write_text(text)
    return read_machine_file(path)


def test_what_is_written_is_read(tmp_path):
    machine = Machine().with_figures({"l2.bytes": 3 << 19, "threads.start": 1234.5}, Origin.MEASURED)
    found = read(tmp_path, machine_text(machine.figures()))
    assert found.diagnostic is None
    assert found.figures == {each.path: each.value for each in machine.figures()}


def test_every_figure_is_written_with_its_meaning():
    machine = Machine()
    text = machine_text(machine.figures())
    tables = tomllib.loads(text)
    for each in machine.figures():
        group, _, name = each.path.partition(".")
        assert name in tables[group]
        assert each.meaning in text


@pytest.mark.parametrize(
    ("line", "figure", "value"),
    [
        ('[l1]\nbytes = "48 KiB"', "l1.bytes", 49152),
        ("[l1]\nbytes = 49152", "l1.bytes", 49152),
        ("l1.bytes = 49152", "l1.bytes", 49152),
        ('[l1]\nbytes = "1.5KiB"', "l1.bytes", 1536),
        ('[threads]\nstart = "4.5 us"', "threads.start", 4500),
        ('[memory]\nbandwidth = "12500 MB/s"', "memory.bandwidth", 12.5),
        ("[threads]\nsibling_gain = 1.3", "threads.sibling_gain", 1.3),
    ],
)
def test_values(tmp_path, line, figure, value):
    found = read(tmp_path, f"version = 1\n{line}\n")
    assert found.diagnostic is None
    assert found.figures == {figure: pytest.approx(value)}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "has no version"),
        ("\nversion = 7\n", 2, "has the version 7; this polybuild reads version 1"),
        ("version = 1\n[l4]\nbytes = 1\n", 2, "unknown group 'l4'"),
        ("version = 1\nl1 = 3\n", 2, "unknown group 'l1'"),
        ("version = 1\n[l1]\n\nsize = 1\n", 4, "unknown figure 'l1.size'"),
        ('version = 1\n[l1]\nbytes = "48 kilo"\n', 3, "units are B, KiB, MiB, GiB"),
        (
            "version = 1\n[l1]\nbandwidth = 4\nbytes = 0\n",
            4,
            "'l1.bytes' of a machine must be a whole number above 0",
        ),
        ("version = 1\n[l1]\nbytes = 1.5\n", 3, "must be a whole number above 0"),
        ("version = 1\n[l1]\nbytes = true\n", 3, "must be a whole number above 0"),
        ("version = 1\nl2.bytes = [1]\n", 2, "must be a whole number above 0"),
        (
            'version = 1\n[threads]\nsibling_gain = "2 times"\n',
            3,
            "'threads.sibling_gain' of a machine must be a number",
        ),
        ("version = 1\n[threads]\nstart = nan\n", 3, "must be a number above 0"),
        ("version = 1\n[l1\n", 2, "is not TOML"),
        ("version = 1\nversion = 1\n", 2, "is not TOML"),
    ],
)
def test_what_is_wrong(tmp_path, text, line, message):
    found = read(tmp_path, text)
    assert found.figures == {}
    assert message in found.diagnostic.message
    assert found.diagnostic.location.line == line
    assert found.diagnostic.code == "machine-file"


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    assert "No such file" in read_machine_file(tmp_path / "none.toml").diagnostic.message
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe")
    assert "it is no text" in read_machine_file(path).diagnostic.message
