"""The command as a user runs it: real processes, real compilers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import polybuild

PROGRAM = """\
#include <stdio.h>
#include "size.h"

static double a[N][N], b[N][N];

int main(void) {
  double sum = 0;
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = 3.0 * i + j;
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++) b[i][j] = a[i - 1][j] + a[i + 1][j] - a[i][j - 1];
#pragma endscop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum += b[i][j] * (i + 2 * j);
  printf("%.17g\\n", sum);
  return 0;
}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.c").write_text(PROGRAM)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "size.h").write_text("#define N 200\n")
    (tmp_path / "plain.c").write_text("int main(void) { return 0; }\n")
    return tmp_path


def command(*words):
    return [sys.executable, "-m", "polybuild", *words]


def environment():
    path = os.pathsep.join(
        filter(None, [str(Path(polybuild.__file__).parent.parent), os.environ.get("PYTHONPATH")])
    )
    return os.environ | {"PYTHONPATH": path}


def run(folder, line, *words):
    """Run ``polybuild`` with the words of ``line`` and those after it."""
    return subprocess.run(
        command(*line.split(), *words),
        cwd=folder,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
        timeout=60,
    )


def printed(folder, source, *flags):
    subprocess.run(["gcc", source, "-o", "program", "-Iinclude", *flags], cwd=folder, check=True)
    return subprocess.run(["./program"], cwd=folder, stdout=subprocess.PIPE, check=True).stdout


@pytest.mark.fast
def test_the_whole_way(folder):
    line = "compile in.c -o out.c --depfile out.d --report out.json -v --min-work 0 -- gcc -O1 -Iinclude"
    done = run(folder, line)
    assert (done.returncode, done.stdout) == (0, "")
    assert "in.c:8: remark: region is parallel and vectorised" in done.stderr
    (region,) = json.loads((folder / "out.json").read_text())["regions"]
    assert (region["status"], region["parallel_loops"] > 0) == ("transformed", True)
    assert "include/size.h" in (folder / "out.d").read_text()
    assert (folder / "out.c").read_text() != PROGRAM
    strict = ("-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
    assert printed(folder, "out.c", "-fopenmp", *strict) == printed(folder, "in.c", "-ffp-contract=off")


@pytest.mark.fast
def test_explain(folder):
    done = run(folder, "explain in.c -- gcc -Iinclude")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("in.c:8-13 in main: parallel and vectorised for openmp\n")
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_compiler_warns_of_marks_whatever_became_of_regions(folder, compiler):
    (folder / "in.c").write_text(
        """#include <stdio.h>
#pragma polybuild access(half, read(x))
double half(double x);
double half(double x) { return x / 2; }
void work(int n, double *restrict a, double *restrict b);
void work(int n, double *restrict a, double *restrict b) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = 2 * b[i];
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) printf("%g\\n", a[i]);
#pragma endscop
#pragma scop
  for (int i = 1; i < n; i++) a[i] = a[i - 1] * half(b[i]);
#pragma endscop
}
"""
    )
    strict = ["-Wall", "-Wextra", "-Werror", "-O2"]
    done = run(folder, f"compile in.c -o out.c --report out.json -- {compiler}", *strict[:2], "-O2")
    assert done.returncode == 0, done.stderr
    regions = json.loads((folder / "out.json").read_bytes())["regions"]
    assert [each["status"] for each in regions] == ["transformed", "kept", "unchanged"]
    subprocess.run([compiler, *strict, "-fopenmp", "-c", "out.c"], cwd=folder, check=True)


def test_what_the_preprocessor_rejects_is_left_to_the_compiler(folder):
    done = run(folder, "compile in.c -o out.c -- gcc")
    assert done.returncode == 0
    assert "in.c:2:10: warning: " in done.stderr
    assert "size.h" in done.stderr
    assert (folder / "out.c").read_text() == PROGRAM


def test_a_missing_compiler_is_one_clear_warning(folder):
    done = run(folder, "compile in.c -o out.c --cc no-such-compiler")
    assert done.returncode == 0
    assert "no-such-compiler" in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "out.c").read_text() == PROGRAM


def test_ctrl_c_leaves_nothing_and_says_nothing(folder):
    slow = folder / "slow-cc"
    slow.write_text(f"#!/bin/sh\ntouch {folder}/started\nexec sleep 30\n")
    slow.chmod(0o755)
    words = ["compile", "in.c", "-o", "out.c", "--cc", str(slow)]
    process = subprocess.Popen(
        ["env", "--default-signal=INT", *command(*words)],  # a shell may have us ignore it
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    for _ in range(400):
        if (folder / "started").exists():
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"")
    assert not (folder / "out.c").exists()
    assert not list(folder.glob(".polybuild*"))


@pytest.mark.parametrize("words", [["--help"], ["compile", "plain.c"], ["explain", "plain.c"], ["doctor"]])
def test_a_reader_that_leaves_is_no_reason_to_shout(folder, words):
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        command(*words), cwd=folder, env=environment(), stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert process.stderr == b""
    assert process.returncode in {1, 141}


def test_files_may_have_any_name(folder):
    name = os.fsdecode(b"caf\xe9 $x#.c")
    (folder / "plain.c").rename(folder / name)
    done = run(folder, "compile -o out.c --depfile out.d", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert b"caf\xe9\\ $$x\\#.c" in (folder / "out.d").read_bytes()
    assert run(folder, "compile -o out.c", name + "x").returncode == 1


@pytest.mark.fast
def test_a_full_disk_is_one_clear_error(folder):
    done = run(folder, "compile plain.c -o /dev/full")
    assert done.returncode == 1
    assert (
        done.stderr
        == "/dev/full: error: cannot write the file: No space left on device [-Wpolybuild-unwritable]\n"
    )
