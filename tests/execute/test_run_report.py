"""What programs tell of their regions when they end: which version ran, how often, and why no other."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from compiling import IDLE, STRICT, transform, write
from device_programs import HAS_OPENCL, INCLUDE, build_runtime

PROJECT = Path(__file__).parents[1] / "projects" / "reports"
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "what-ran.md"
SCHEMA = ROOT / "polybuild" / "report" / "record" / "schemas" / "run.json"

DOUBLE = """\
void twice(int n, double *restrict a, const double *b) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
#pragma endscop
}
"""
FORKS = (
    DOUBLE
    + """\
#include <sys/wait.h>
#include <unistd.h>
#include <stdlib.h>
static double a[900000], b[900000];
int main(int count, char **arguments) {
  int children = atoi(arguments[1]), status;
  twice(900000, a, b);
  twice(9, a, b);
  if (children && fork() == 0) {
    if (children > 1) twice(5, a, b);
    exit(0);
  }
  wait(&status);
  return count - 2;
}
"""
)
LOADS = """\
#include <dlfcn.h>
static double a[900000], b[900000];
int main(int count, char **arguments) {
  for (int library = 1; library < count; library++) {
    void *handle = dlopen(arguments[library], RTLD_NOW | RTLD_LOCAL);
    void (*twice)(int, double *, const double *);
    *(void **)&twice = dlsym(handle, "twice");
    twice(900000, a, b);
    dlclose(handle);
  }
  return 0;
}
"""
CALLS = """\
#include <pthread.h>
static double a[4][9];
static void *task(void *data) {
  for (int time = 0; time < 5000; time++) twice(4, data, (double *)data + 5);
  return 0;
}
int main(void) {
  pthread_t pool[4];
  for (int i = 0; i < 4; i++) pthread_create(&pool[i], 0, task, a[i]);
  for (int i = 0; i < 4; i++) pthread_join(pool[i], 0);
  return 0;
}
"""


def reported(path: Path, text: str, **options: object) -> Path:
    """The transformed text, its regions counted."""
    chosen = {"min_work": 1000, "runtime_report": True, **options}
    return write(path.with_suffix(".out.c"), transform(path, text, *INCLUDE, **chosen).text)


def build(made: Path, *words: str | Path, compiler: str = "gcc", strict: tuple[str, ...] = STRICT) -> Path:
    """What the compiler makes of ``words``; a warning fails the test."""
    command = [compiler, *strict, *INCLUDE, "-O1", "-fopenmp", *map(str, words), "-o", str(made)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return made


def run(*command: str | Path, **environment: str) -> str:
    """What a program says on standard error, with the variables of polybuild that are given."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("POLYBUILD_")}
    done = subprocess.run(
        [str(word) for word in command],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env={**known, "OMP_NUM_THREADS": "2", **environment},
    )
    return done.stderr


def told(text: str) -> list[str]:
    """The report without its times, which are some."""
    return re.sub(r"[0-9.]+ ms", "some ms", text).splitlines()


POSIX = (*STRICT, "-D_POSIX_C_SOURCE=200809L")


@pytest.mark.fast
@pytest.mark.skipif(not HAS_OPENCL, reason="needs an OpenCL platform")
def test_six_regions(tmp_path, monkeypatch):
    """One overlaps, one is too small, one runs on threads of a pool, one on a device; the page shows it."""
    monkeypatch.chdir(tmp_path)
    sources = []
    for name, backend in (("solver.c", "openmp"), ("smooth.c", "opencl")):
        text = (PROJECT / name).read_text("utf-8")
        sources.append(reported(Path(name), text, min_work=20000, backend=backend))
    built = build(tmp_path / "six", *sources, build_runtime(tmp_path), "-lm", "-ldl", strict=(*POSIX, *IDLE))
    # threads that spin would take processors from those of the device
    passive = {"OMP_WAIT_POLICY": "passive", "POLYBUILD_VERBOSE": "1", "POLYBUILD_BACKEND": "opencl"}
    said = run(built, **passive, POLYBUILD_REPORT="ran.json")
    lines = [line for line in told(said) if " ran " in line]
    assert lines
    shown = PAGE.read_text("utf-8")
    assert [line for line in told(shown) if line.startswith("polybuild: s")] == lines
    records = [json.loads(line) for line in (tmp_path / "ran.json").read_text("ascii").splitlines()]
    for each in records:
        jsonschema.validate(each, json.loads(SCHEMA.read_text("ascii")))
    assert {(each["file"], each["line"]) for each in records} == {
        ("smooth.c", 2),
        *(("solver.c", line) for line in (10, 17, 25, 34, 44)),
    }
    (overlapping,) = [each for each in records if each["line"] == 17]
    assert overlapping["versions"]["new"]["runs"] == overlapping["versions"]["original"]["runs"] == 3
    assert overlapping["failed"] == [
        {"condition": "'a' and 'c' overlapped", "file": "solver.c", "line": 20, "runs": 3}
    ]
    assert run(built, POLYBUILD_BACKEND="opencl") == ""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_strict_builds(compiler, tmp_path):
    """No warning of a strict build is about the report, as C99 and without any extension of the user's."""
    text = "double a[900000], b[900000];\n" + DOUBLE.replace("n;", "900000;")
    text = text.replace("int n, double *restrict a, const double *b", "void")
    source = reported(tmp_path / "a.c", text)
    warnings = ("-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wcast-qual", "-Wundef", "-Wvla")
    build(tmp_path / "a.o", "-c", source, compiler=compiler, strict=(*STRICT, *warnings))


@pytest.mark.fast
def test_children_of_fork(tmp_path):
    built = build(tmp_path / "forks", reported(tmp_path / "forks.c", FORKS), strict=POSIX)
    alone, silent, counting = (run(built, children, POLYBUILD_VERBOSE="1") for children in "012")
    at = f"{tmp_path}/forks.c:2"
    lines = [
        f"polybuild: {at}: the new loops ran 1 time, some ms, on 2 threads",
        f"polybuild: {at}: the original loops ran 1 time, some ms: too little work 1 time, first at {at}",
    ]
    assert told(alone) == told(silent) == lines
    assert sorted(told(counting)) == sorted([*lines, lines[1]])


def test_libraries_that_are_closed(tmp_path):
    """Each tells of its own when it is closed, and all append to one file."""
    names = ["one", "other"]
    libraries = [
        build(tmp_path / f"{name}.so", "-shared", "-fPIC", reported(tmp_path / f"{name}.c", DOUBLE))
        for name in names
    ]
    main = write(tmp_path / "main.c", LOADS)
    built = build(tmp_path / "loads", main, "-ldl", strict=("-std=gnu99",))
    # threads that spin would still run gcc's library when it is unloaded
    passive = {"OMP_WAIT_POLICY": "passive", "POLYBUILD_VERBOSE": "1"}
    said = run(built, *libraries, libraries[0], **passive, POLYBUILD_REPORT=str(tmp_path / "r"))
    assert [line.split(": ")[1:3] for line in said.splitlines()] == [
        [f"{tmp_path}/{name}.c:2", "the new loops ran 1 time, " + line.split("1 time, ")[1]]
        for name, line in zip([*names, "one"], said.splitlines(), strict=True)
    ]
    assert len((tmp_path / "r").read_text("ascii").splitlines()) == 3


def test_runs_of_many_threads_are_counted(tmp_path):
    built = build(tmp_path / "calls", reported(tmp_path / "calls.c", DOUBLE + CALLS), strict=POSIX)
    (line,) = told(run(built, POLYBUILD_VERBOSE="1"))
    assert "ran 20000 times" in line
    assert "called by 4 threads" in line
    assert "too little work 20000 times" in line


def test_a_static_library_of_several_files(tmp_path):
    names = ("first", "second")
    objects = []
    for name in names:
        source = reported(tmp_path / f"{name}.c", DOUBLE.replace("twice", name))
        objects.append(build(tmp_path / f"{name}.o", "-c", source))
    subprocess.run(["ar", "rcs", tmp_path / "libboth.a", *objects], check=True)
    main = write(
        tmp_path / "main.c",
        "void first(int, double *, double *), second(int, double *, double *);\nstatic double a[9], b[9];\n"
        "int main(void) { first(9, a, b); second(9, a, b); second(8, b, a); return 0; }\n",
    )
    built = build(tmp_path / "static", main, tmp_path / "libboth.a")
    said = run(built, POLYBUILD_VERBOSE="1")
    assert {
        line.split(" loops ran ")[0][-12:] + line.split(" ran ")[1][:7] for line in said.splitlines()
    } == {
        "the original1 time,",
        "the original2 times",
    }


@pytest.mark.skipif(shutil.which("mpicc") is None, reason="needs MPI")
def test_ranks(tmp_path):
    text = DOUBLE + (
        "#include <mpi.h>\nstatic double a[9], b[9];\nint main(int c, char **v) {\n"
        "  int rank;\n  MPI_Init(&c, &v);\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
        "  for (int i = 0; i <= rank; i++) twice(9, a, b);\n  MPI_Finalize();\n  return 0;\n}\n"
    )
    path = tmp_path / "ranks.c"
    shown = subprocess.run(
        ["mpicc", "--showme:compile"], check=False, capture_output=True, text=True
    ).stdout.split()
    chosen = {"min_work": 1000, "runtime_report": True}
    source = write(tmp_path / "ranks.out.c", transform(path, text, *shown, **chosen).text)
    built = build(tmp_path / "ranks", source, compiler="mpicc", strict=("-std=c99",))
    starter = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "-x", "POLYBUILD_VERBOSE")
    said = run(*starter, built, POLYBUILD_VERBOSE="1")
    counts = dict(re.findall(r"rank (\d): .* the original loops ran (\d) time", said))
    assert counts == {"0": "1", "1": "2"}


COLUMNS = """\
#include <stdio.h>
#include <stdlib.h>
#define UPDATE for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i * n + j] += x[i] * x[j];
static void update(int n, double *restrict a, const double *restrict x) {
#pragma scop
  UPDATE
#pragma endscop
}
static void same(int n, double *a, const double *x) { UPDATE }
static double a[1000000], b[1000000], x[1000];
int main(int count, char **words) {
  int n = count > 1 ? atoi(words[1]) : 1, wrong = 0;
  for (int i = 0; i < n; i++) x[i] = 1.0 / (i + 3);
  update(n, a, x);
  same(n, b, x);
  for (int i = 0; i < n * n; i++) wrong += a[i] != b[i];
  return wrong > 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_original_loops_run_until_the_new_ones_gain(tmp_path, compiler):
    """Rows in vectors gain where a cache has all, too."""
    built = tmp_path / "columns"
    source = reported(tmp_path / "columns.c", COLUMNS, min_work=20000)
    build(built, source, compiler=compiler)
    versions = {
        (size, threads): told(run(built, str(size), POLYBUILD_VERBOSE="1", OMP_NUM_THREADS=threads))[-1]
        for size in (100, 150, 1000)
        for threads in "12"
    }
    assert {each for each, said in versions.items() if "the new loops ran" in said} == {
        (150, "1"),
        (150, "2"),
        (1000, "1"),
        (1000, "2"),
    }
    assert "the original loops ran 1 time" in versions[100, "1"]
