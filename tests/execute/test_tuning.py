"""Tuned settings in builds, used where they fit and told where not; ``polybuild tune`` as a user runs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import polybuild
from polybuild.tuning.record import read_tuning_file

PROGRAM = """\
#include <stdio.h>
static double a[120][120], b[120][120], c[120][120];
static void product(void) {
#pragma scop
  for (int i = 0; i < 120; i++)
    for (int j = 0; j < 120; j++)
      for (int k = 0; k < 120; k++) c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
int main(void) {
  for (int i = 0; i < 120; i++)
    for (int j = 0; j < 120; j++) { a[i][j] = i + j % 7; b[i][j] = i % 5 - j; }
  for (int r = 0; r < 3; r++) product();
  printf("%g %g\\n", c[3][4], c[119][119]);
  return 0;
}
"""
TOOL = f"{sys.executable} -m polybuild"
BUILD = f"make -B CC='{TOOL} cc -- gcc'"


def fill(folder):
    (folder / "src").mkdir()
    (folder / "src" / "in.c").write_text(PROGRAM)
    (folder / "Makefile").write_text("app: src/in.c\n\t$(CC) -O2 -fopenmp src/in.c -o app\n")
    return folder


@pytest.fixture
def folder(tmp_path):
    return fill(tmp_path)


def environment(folder, **variables):
    root = str(Path(polybuild.__file__).parent.parent)
    own = {"PYTHONPATH": root, "POLYBUILD_CACHE_DIR": str(folder / "cache"), "OMP_WAIT_POLICY": "passive"}
    return {**os.environ, **own, **variables}


def shell(folder, line):
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def transformed(folder, *words):
    line = f"{TOOL} compile src/in.c -o out.c --report out.json {' '.join(words)} -- gcc -O2 -fopenmp"
    done = shell(folder, line)
    assert done.returncode == 0, done.stderr
    (region,) = json.loads((folder / "out.json").read_text())["regions"]
    return (folder / "out.c").read_text(), region, done.stderr


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a short search leaves, with the settings changed to ones that can be seen."""
    folder = fill(tmp_path_factory.mktemp("tuned"))
    done = shell(folder, f"{TOOL} tune --run ./app --runs 1 --budget 1s -- {BUILD}")
    assert done.returncode == 0, done.stderr
    assert "kept in" in done.stdout
    content = json.loads((folder / "src" / "polybuild.tune.json").read_text())
    content["regions"][0]["settings"] = {"tile-sizes": "16,8,4", "registers": "off"}
    return json.dumps(content)


@pytest.fixture
def tuned(folder, found):
    """The folder with what the search left."""
    (folder / "src" / "polybuild.tune.json").write_text(found)
    return folder


@pytest.mark.fast
def test_settings_are_found_beside_the_sources_and_used(tuned):
    text, region, _ = transformed(tuned)
    assert region["tile_sizes"] == [[16, 8, 4]]
    assert "settings found by tuning: registers off, tile-sizes 16,8,4" in region["remarks"]
    assert (text, region["tile_sizes"]) == (transformed(tuned)[0], [[16, 8, 4]]), "from the cache"
    assert transformed(tuned, "--tuning off")[1]["tile_sizes"] != [[16, 8, 4]]
    moved = tuned / "elsewhere.json"
    (tuned / "src" / "polybuild.tune.json").rename(moved)
    assert transformed(tuned)[1]["tile_sizes"] != [[16, 8, 4]]
    assert transformed(tuned, "--tuning elsewhere.json")[1]["tile_sizes"] == [[16, 8, 4]]


def test_what_is_given_by_hand_goes_before(tuned):
    assert transformed(tuned, "--tile-sizes 32,32,32")[1]["tile_sizes"] == [[32, 32, 32]]
    path = tuned / "src" / "in.c"
    path.write_text(PROGRAM.replace("#pragma scop", "#pragma scop tile_sizes(8,8,8)"))
    text = json.loads((tuned / "src" / "polybuild.tune.json").read_text())
    assert "stale-tuning" in transformed(tuned)[2], "its text is another with the clause"
    assert text


def test_another_build_is_told_in_the_report(tuned):
    line = f"{TOOL} compile src/in.c -o out.c --report out.json -- gcc -O3 -fopenmp"
    assert shell(tuned, line).stderr == ""
    (region,) = json.loads((tuned / "out.json").read_text())["regions"]
    assert region["tile_sizes"] != [[16, 8, 4]]
    assert "tuned for another build or machine: gcc -O2 -fopenmp" in region["remarks"]


def test_a_region_that_changed_is_one_warning(tuned):
    path = tuned / "src" / "in.c"
    path.write_text(PROGRAM.replace("c[i][j] +=", "c[i][j] -="))
    _, region, said = transformed(tuned)
    assert region["tile_sizes"] != [[16, 8, 4]]
    assert (
        "a region of this file (line 4 then) was tuned and has changed since [-Wpolybuild-stale-tuning]"
        in said
    )


@pytest.mark.parametrize("text", ["", "{}", '{"version": 1, "regions": 7}'])
def test_a_damaged_file_is_one_warning(tuned, text):
    path = tuned / "src" / "polybuild.tune.json"
    path.write_text(text)
    _, _, said = transformed(tuned)
    assert said.count("the file of tuned regions is not used") == 1
    done = shell(tuned, f"{TOOL} tune --run ./app --runs 1 --budget 1s -- {BUILD}")
    assert done.returncode == 2
    assert "name another with --output" in done.stderr
    assert path.read_text() == text


def test_a_setting_that_does_not_exist_is_told(tuned):
    path = tuned / "src" / "polybuild.tune.json"
    path.write_text(path.read_text().replace('"registers"', '"gears"'))
    _, region, _ = transformed(tuned)
    assert any(
        each.startswith("what tuning found is not used: unknown option 'gears'") for each in region["remarks"]
    )


def test_tuning_keeps_results_and_leaves_a_build_that_uses_it(folder):
    shutil.copy(folder / "src" / "in.c", folder / "plain.c")
    done = shell(folder, f"{TOOL} tune --run ./app --runs 1 --budget 15s --output mine.json -- {BUILD}")
    assert done.returncode == 0, done.stderr
    assert (folder / "src" / "in.c").read_text() == PROGRAM
    (region,) = read_tuning_file(folder / "mine.json")
    assert (region.file, region.line, region.build.compiler) == ("src/in.c", 4, "gcc")
    assert region.candidates >= 1
    assert region.seconds <= region.seconds_before
    assert "[1] src/in.c:4: the original loops:" in done.stderr
    expected = shell(folder, "gcc -O2 plain.c -o plain -w && ./plain").stdout
    assert shell(folder, "./app").stdout == expected
    assert "POLYBUILD_REPORT" not in (folder / "app").read_bytes().decode("latin-1"), (
        "the build is a plain one"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--run ./app", "needs the command that builds"),
        ("-- make", "arguments are required: --run"),
        ("--run ./app --budget soon -- make", "must be a time such as 90s, 5min or 1h, not 'soon'"),
        ("--run ./app --runs 0 -- make", "must be a whole number from 1 to 1000, not '0'"),
        ("--run ./app -- false", "the build ended with code 1"),
        (
            "--run ./app -- no-such-command",
            "the build cannot be run: No such file or directory: no-such-command",
        ),
        ("--run ./app -- true", "the build met no region: it has to build anew"),
        (f"--run false -- {BUILD}", "the program ended with code 1"),
        (f"--run true -- {BUILD}", "the program runs no region that polybuild transforms"),
    ],
)
def test_what_cannot_be_tuned(folder, words, message):
    done = shell(folder, f"{TOOL} tune {words}")
    assert done.returncode in {1, 2}
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "src" / "polybuild.tune.json").exists()


def test_ctrl_c_keeps_what_was_found(folder):
    process = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {TOOL} tune --run ./app --runs 1 --budget 10min -- {BUILD}"],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for line in process.stderr:
        if line.startswith("[2]"):
            break
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "interrupted: what was found so far is kept" in err
    assert "kept in" in out
    assert len(read_tuning_file(folder / "src" / "polybuild.tune.json")) == 1
