"""The machine that code is for: printed, measured, and read from a file."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import polybuild
from polybuild.machine.model import Machine

PRODUCT = """\
void f(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


@pytest.fixture
def run(tmp_path):
    """Runs a command line in a folder with a file ``in.c``, with a cache of its own."""
    (tmp_path / "in.c").write_text(PRODUCT)
    root = str(Path(polybuild.__file__).parent.parent)
    environment = os.environ | {"PYTHONPATH": root, "POLYBUILD_CACHE_DIR": str(tmp_path / "cache")}

    def run(line):
        return subprocess.run(
            [sys.executable, "-m", "polybuild", *line.split()],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


@pytest.mark.fast
def test_what_is_printed_is_a_file_of_a_machine(run, tmp_path):
    done = run("machine -- -mavx2")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "m.toml").write_text(done.stdout)
    assert tomllib.loads(done.stdout)["vector"]["bytes"] == "32 B"
    again = run("machine --machine m.toml -- -mavx2")
    assert again.stdout.replace("(the file of the machine)", "(assumed)") == done.stdout
    done = run("compile in.c -o out.c --machine m.toml --depfile out.d -- gcc -O2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "m.toml" in (tmp_path / "out.d").read_text()


def test_measuring(run, tmp_path):
    done = run("machine --measure")
    assert done.returncode == 0
    found = tomllib.loads(done.stdout)
    assert (tmp_path / "cache" / "machine.toml").read_text() == done.stdout
    measured = [line.partition(" ")[0] for line in done.stdout.splitlines() if "(measured)" in line]
    wanted = {
        "bandwidth",
        "all_cores",
        "start",
        "barrier",
        "transfer",
        "operation",
        "divide",
        "root",
        "gather",
    }
    assert wanted <= {*measured}
    # many operations begin before the result of the first is there
    assert float(found["arithmetic"]["operation"].split()[0]) < 1.0
    assert all(found[level]["bandwidth"] for level in ("l1", "l2", "l3", "memory"))
    # whatever runs beside: a level does not read as much slower than the next as to be mistaken for it
    speeds = [float(found[level]["bandwidth"].split()[0]) for level in ("l1", "memory")]
    assert speeds[0] > speeds[1] > 0
    done = run("compile in.c -o out.c --machine measured -- gcc -O2")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_has_no_meaning_is_not_kept(run, tmp_path):
    """A compiler that builds a program which measures nothing at all."""
    compiler = tmp_path / "cc"
    compiler.write_text(
        "#!/bin/sh\n"
        'case "$*" in *measure.c*) ;; *) exec gcc "$@" ;; esac\n'
        'while [ "$1" != -o ]; do shift; done\n'
        """printf '#!/bin/sh\\necho l1.bandwidth 9\\necho memory.all_cores 0\\n' > "$2"; chmod +x "$2"\n"""
    )
    compiler.chmod(0o755)
    done = run(f"machine --measure --cc {compiler}")
    assert done.returncode == 2
    assert "the program that measures found no memory.all_cores" in done.stderr
    assert not (tmp_path / "cache" / "machine.toml").exists()


def test_measuring_is_for_this_machine(run):
    done = run("machine --measure -- -mavx2")
    assert done.returncode == 2
    assert "what is measured here is this machine" in done.stderr


def test_figures_decide(run, tmp_path):
    """A smaller cache gives smaller tiles, from the cache of results, too."""
    texts = []
    for size in ("1 MiB", "16 KiB", "1 MiB"):
        (tmp_path / "m.toml").write_text(f'version = 1\n[l2]\nbytes = "{size}"\n')
        assert run("compile in.c -o out.c --registers off --machine m.toml -- gcc -O2").returncode == 0
        texts.append((tmp_path / "out.c").read_text())
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


def test_options_go_before_the_file(run, tmp_path):
    def text(options, size):
        (tmp_path / "m.toml").write_text(f"version = 1\n[l2]\nbytes = {size}\n")
        assert run(f"compile in.c -o out.c --registers off {options} -- gcc -O2").returncode == 0
        return (tmp_path / "out.c").read_text()

    given = text("--machine m.toml --l2-size 16384", 1 << 20)
    assert given == text("--machine m.toml", 16384)


def test_a_wrong_file_is_one_warning_and_an_error_where_asked(run, tmp_path):
    (tmp_path / "m.toml").write_text("version = 1\n[l2]\nsize = 3\n")
    done = run("compile in.c -o out.c --machine m.toml -- gcc -O2")
    assert done.returncode == 0
    assert "m.toml:3: warning: unknown figure 'l2.size' of a machine" in done.stderr
    assert "known are bytes, bandwidth" in done.stderr
    plain = (tmp_path / "out.c").read_text()
    assert run("compile in.c -o out.c -- gcc -O2").returncode == 0
    assert (tmp_path / "out.c").read_text() == plain
    done = run("compile in.c -o strict.c --machine m.toml --on-unsupported error -- gcc -O2")
    assert done.returncode == 1
    assert not (tmp_path / "strict.c").exists()


def test_a_wrong_file_is_told_by_the_command_that_prints_it(run, tmp_path):
    (tmp_path / "m.toml").write_text("version = 2\n")
    done = run("machine --machine m.toml")
    assert done.returncode == 0
    assert done.stderr.startswith("m.toml:1: warning: the file of the machine has the version 2")


def test_nothing_was_measured(run, tmp_path):
    done = run("compile in.c -o out.c --depfile out.d --machine measured --tuning none.json -- gcc -O2")
    # a file that is not there would keep Make from building at all
    assert "machine.toml" not in (tmp_path / "out.d").read_text()
    assert "none.json" not in (tmp_path / "out.d").read_text()
    assert done.returncode == 0
    assert "the file of the machine cannot be read: No such file or directory" in done.stderr
    assert "polybuild machine --measure" in done.stderr


def test_programs_estimate_by_the_figures_of_the_device(run, tmp_path):
    (tmp_path / "m.toml").write_text('version = 1\n[device]\nlaunch = "7 us"\n')
    assert run("compile in.c -o out.c --backend opencl --machine m.toml -- gcc -O2").returncode == 0
    assert ".launch = 7000.0, .alone = 50.0" in (tmp_path / "out.c").read_text()


def test_every_figure_is_in_the_reference():
    page = (Path(__file__).parents[2] / "docs/reference/machine.md").read_text()
    missing = [each.path for each in Machine().figures() if f"`{each.path}`" not in page]
    assert missing == []
