"""The runtime that objects need, found in files real compilers made."""

from __future__ import annotations

import subprocess

import pytest

from polybuild.integrations.objects import DEVICE, OPENMP, needed_runtimes, static_library

PARALLEL = "void f(int *a) {\n#pragma omp parallel for\n  for (int i = 0; i < 9; i++) a[i] = i;\n}\n"
SERIAL = 'const char *g(void) { return "GOMP_parallel __kmpc_fork_call"; }\n'


def needs_openmp(name):
    return OPENMP in needed_runtimes([name])


def run(folder, *command):
    subprocess.run(command, cwd=folder, check=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parallel.c").write_text(PARALLEL)
    (tmp_path / "serial.c").write_text(SERIAL)
    return tmp_path


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [[], ["-flto"], ["-g", "-ffunction-sections"]])
def test_objects(folder, compiler, flags):
    for name in ("parallel", "serial"):
        run(folder, compiler, "-O2", "-fopenmp", *flags, "-c", f"{name}.c")
    assert needs_openmp(str(folder / "parallel.o"))
    if compiler == "gcc" and not flags:
        # Compiled with the flag, and full of the names, yet nothing is missing in it.
        assert not needs_openmp(str(folder / "serial.o"))
    run(folder, compiler, "-O2", *flags, "-c", "parallel.c")
    assert not needs_openmp(str(folder / "parallel.o"))


@pytest.mark.parametrize("kind", ["rcs", "rcsT"])
def test_archives(folder, kind):
    long_name = "a_name_that_is_too_long_for_the_header_of_a_member.o"
    run(folder, "gcc", "-fopenmp", "-c", "parallel.c", "-o", long_name)
    run(folder, "gcc", "-c", "serial.c")
    run(folder, "ar", kind, "libboth.a", "serial.o", long_name)
    run(folder, "ar", kind, "libserial.a", "serial.o")
    assert needs_openmp(str(folder / "libboth.a"))
    assert not needs_openmp(str(folder / "libserial.a"))
    assert needed_runtimes(str(folder / name) for name in ("libserial.a", "libboth.a")) == {OPENMP}


def test_a_shared_library_has_its_runtime_with_it(folder):
    run(folder, "gcc", "-fopenmp", "-fPIC", "-shared", "parallel.c", "-o", "libp.so")
    assert not needs_openmp(str(folder / "libp.so"))


def test_what_is_no_object_needs_nothing(folder):
    for name, data in {"script": b"GROUP(GOMP_)", "short": b"\x7fELF", "empty": b""}.items():
        (folder / name).write_bytes(data)
        assert not needs_openmp(str(folder / name))
    assert not needs_openmp(str(folder / "none"))
    assert not needs_openmp(str(folder))


def test_what_is_broken_is_taken_at_its_word(folder):
    (folder / "cut.o").write_bytes(b"\x7fELF\x02\x01" + b"\0" * 20 + b"GOMP_parallel")
    assert needs_openmp(str(folder / "cut.o"))
    (folder / "cut.a").write_bytes(b"!<arch>\n" + b"x" * 60 + b"GOMP_parallel")
    assert needs_openmp(str(folder / "cut.a"))


def test_libraries_are_looked_for_as_linkers_do(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for file in (one / "liba.so", one / "liba.a", one / "libb.a", two / "libc.a", two / "odd.a"):
        file.parent.mkdir(exist_ok=True)
        file.touch()
    folders = [str(one), str(two)]
    assert static_library("a", folders) == ""
    assert static_library("b", folders) == f"{one}/libb.a"
    assert static_library("c", folders) == f"{two}/libc.a"
    assert static_library(":odd.a", folders) == f"{two}/odd.a"
    assert static_library("none", folders) == ""


def test_the_runtime_of_devices_is_told_from_that_of_openmp(tmp_path):
    """An object that calls it needs it, one that has it does not, and neither needs OpenMP."""
    (tmp_path / "user.c").write_text(
        "int polybuild_open(void); int main(void) { return polybuild_open(); }\n"
    )
    (tmp_path / "owner.c").write_text("int polybuild_open(void) { return 1; }\n")
    for name in ("user", "owner"):
        command = ["gcc", "-c", str(tmp_path / f"{name}.c"), "-o", str(tmp_path / f"{name}.o")]
        subprocess.run(command, check=True, timeout=60)
    assert needed_runtimes([str(tmp_path / "user.o")]) == {DEVICE}
    assert needed_runtimes([str(tmp_path / "owner.o")]) == set()


@pytest.mark.parametrize("flags", [(), ("-m32",)])
def test_what_is_not_needed_is_not_linked(tmp_path, flags):
    source = tmp_path / "host.c"
    source.write_text(
        "extern void polybuild_update_host(const void *) __attribute__((weak));\n"
        "void f(void *p) { if (polybuild_update_host) polybuild_update_host(p); }\n"
    )
    subprocess.run(["gcc", *flags, "-c", source, "-o", tmp_path / "host.o"], check=True)
    assert needed_runtimes([str(tmp_path / "host.o")]) == set()
    source.write_text(source.read_text().replace(" __attribute__((weak))", ""))
    subprocess.run(["gcc", *flags, "-c", source, "-o", tmp_path / "host.o"], check=True)
    assert needed_runtimes([str(tmp_path / "host.o")]) == {DEVICE}
