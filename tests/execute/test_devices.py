"""Kernels on devices give the very bits of the original: checked access by access, and on OpenCL."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import device_programs
import pytest
from kernel_programs import DIRECTORY, DRIVER, GCC, SERIAL, Toolchain, build, run, shapes, source

from polybuild.driver.file import compile_source
from polybuild.options import Options
from tests.emulator import stand_ins

# With tiles this small a matrix of a few rows has several, some of them not full, and blocks take turns.
SMALL = {"min_work": "0", "tile_sizes": "8,8,4", "grid_sizes": "2,3"}
SIZES = (29, 17, 13, 11)
FLAGS = ("-I", str(stand_ins.RUNTIME / "include"))


def program(kernel: str, options: Options, runtime: Path, directory: Path) -> Path:
    """The kernel for a device; all of it must have become kernels, and no warning may come."""
    flags = (*GCC.command_line, *FLAGS)
    result = compile_source(str(source(kernel)), options, ["gcc"], flags)
    assert [(each.status, each.backend) for each in result.regions] == [("transformed", options.backend)]
    file = directory / f"{kernel}.c"
    file.write_text(result.text, encoding="utf-8")
    made = directory / kernel
    libraries = [str(runtime), "-lm", "-ldl", "-lpthread"]
    command = ["gcc", *flags, str(DRIVER), str(file), *libraries, "-o", str(made)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return made


def original(kernel: str, directory: Path) -> list[str]:
    file = build(source(kernel), directory / f"{kernel}-original", SERIAL)
    return run(file, tuple(map(str, shapes(kernel, SIZES))))


def on_device(made: Path, kernel: str, environment: dict[str, str]) -> list[str]:
    """What the program prints; it must have run on the device."""
    done = subprocess.run(
        [made, *map(str, shapes(kernel, SIZES))],
        env={**environment, "POLYBUILD_VERBOSE": "1"},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "runs on the device" in done.stderr
    return [line for line in done.stdout.splitlines() if not line.startswith("seconds")]


@pytest.mark.fast(kernel=["gemm"])
@pytest.mark.parametrize("kernel", ["gemm", "jacobi-2d", "lu"])
def test_every_access_is_right(kernel, emulator, runtime, tmp_path, monkeypatch):
    """In two orders of the threads: no race, nothing uninitialised, nothing out of bounds."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    options = Options().with_settings({**SMALL, "backend": "cuda", "block_sizes": "4,4,4"})
    made = program(kernel, options, runtime, tmp_path)
    expected = original(kernel, tmp_path)
    for order in ("descending", "1"):
        assert on_device(made, kernel, emulator.environment(order=order)) == expected


@pytest.mark.fast
def test_hip_runs_the_kernels_of_cuda(emulator, runtime, tmp_path):
    """The driver compiles them when the program runs."""
    options = Options().with_settings({**SMALL, "backend": "hip", "block_sizes": "4,4,4"})
    made = program("jacobi-2d", options, runtime, tmp_path)
    expected = original("jacobi-2d", tmp_path)
    assert on_device(made, "jacobi-2d", emulator.environment(backend="hip", order="1")) == expected


@pytest.mark.fast(kernel=["gesummv"])
@pytest.mark.skipif(not Path("/etc/OpenCL/vendors").is_dir(), reason="needs an OpenCL platform")
@pytest.mark.parametrize("kernel", ["jacobi-1d", "gesummv"])
def test_opencl(kernel, runtime, tmp_path):
    options = Options().with_settings({**SMALL, "backend": "opencl", "block_sizes": "8"})
    made = program(kernel, options, runtime, tmp_path)
    environment = {**os.environ, "POLYBUILD_BACKEND": "opencl"}
    assert on_device(made, kernel, environment) == original(kernel, tmp_path)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_nvcc_takes_the_kernels(runtime, tmp_path):
    options = Options(backend="cuda", min_work=0)
    made = program("gemm", options, runtime, tmp_path)
    # without a device the program runs on the host
    assert run(made, tuple(map(str, shapes("gemm", SIZES)))) == original("gemm", tmp_path)


def test_launches_that_do_little_stay_on_the_host(emulator, runtime, tmp_path, monkeypatch):
    """lu has two launches for each step of its outer loop."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    made = program("lu", Options(backend="cuda", min_work=1), runtime, tmp_path)
    environment = {**emulator.environment(), "POLYBUILD_VERBOSE": "1"}
    done = subprocess.run(
        [made, "24"], env=environment, check=True, capture_output=True, text=True, timeout=60
    )
    assert "runs on the device" not in done.stderr


def test_kernels_that_nvcc_does_not_take(tmp_path, monkeypatch):
    """The file gets its OpenMP version alone, and the warning says why."""
    refusing = tmp_path / "nvcc"
    refusing.write_text("#!/bin/sh\necho 'kernels.cu(1): error: no' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("NVCC", str(refusing))
    result = compile_source(str(source("gemm")), Options(backend="cuda"), ["gcc"], GCC.command_line)
    assert [(each.status, each.backend) for each in result.regions] == [("transformed", "openmp")]
    assert [each.code for each in result.diagnostics] == ["kernels-rejected"]
    assert "polybuild_launch" not in result.text


def test_a_matrix_product_moves_no_more_than_it_must(emulator, runtime, tmp_path, monkeypatch):
    """A barrier for each tile of the sequential loop; sectors and banks at most twice as often as needed.

    The two doubles side by side that are one thread's are a vector for nvcc, but two accesses here.
    """
    monkeypatch.setenv("NVCC", emulator.nvcc)
    made = program("gemm", Options(backend="cuda", min_work=0), runtime, tmp_path)
    report = emulator.report([str(made), "128"])
    (product,) = report["kernels"].values()
    for kind in ("global_reads", "global_writes"):
        assert product[kind]["requests"]
        assert product[kind]["sectors"] <= 2 * product[kind]["ideal"]
    for kind in ("shared_reads", "shared_writes"):
        assert product[kind]["requests"]
        assert product[kind]["wavefronts"] <= 2 * product[kind]["ideal"]
    assert product["blocks"] == 2 * 2
    assert product["barriers"] == product["blocks"] * (128 // 16 + 1)


PRODUCT = """\
#include <stdio.h>
static double a[96][96], b[96][96], c[96][96];
int main(void)
{
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 96; j++)
      a[i][j] = i / (j + 1.0), b[i][j] = j / (i + 7.0);
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 96; j++) {
      BEGIN
      for (int k = 0; k < 96; k++)
        TERM
      END
    }
#pragma endscop
  for (int i = 0; i < 96; i++)
    printf("%a\\n", c[i][i * 7 % 96]);
  return 0;
}
"""
WAYS = (
    ("c[i][j] = 0;", "c[i][j] += a[i][k] * b[k][j];", ""),
    ("double s = 0;", "s += a[i][k] * b[k][j];", "c[i][j] = s;"),
)


def test_a_product_with_a_scalar_sum_has_the_kernels_of_one_with_an_element(
    emulator, runtime, tmp_path, monkeypatch
):
    """The same accesses, and the same bits."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    counted, printed = [], []
    for number, way in enumerate(WAYS):
        text = PRODUCT
        for place, code in zip(("BEGIN", "TERM", "END"), way, strict=True):
            text = text.replace(place, code)
        result = device_programs.transform(text, "cuda", tmp_path)
        made = device_programs.build(result, f"product{number}", runtime, tmp_path)
        printed.append(device_programs.run(made, environment=emulator.environment(order="1")).stdout)
        printed.append(device_programs.run(made, environment=device_programs.on("host")).stdout)
        counted.append(list(emulator.report([str(made)])["kernels"].values()))
    assert counted[0] == counted[1]
    assert len(set(printed)) == 1


def test_a_transpose_moves_no_more_than_it_must(emulator, runtime, tmp_path, monkeypatch):
    """Neighbours write to neighbours; what is read comes through shared memory."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    text = """\
#include <stdio.h>
static double a[96][64], b[64][96];
int main(void)
{
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 64; j++)
      a[i][j] = i + j / 64.0;
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 64; j++)
      b[j][i] = a[i][j];
#pragma endscop
  double wrong = 0;
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 64; j++)
      wrong += b[j][i] != i + j / 64.0;
  return wrong > 0;
}
"""
    made = device_programs.build(
        device_programs.transform(text, "cuda", tmp_path), "transpose", runtime, tmp_path
    )
    (kernel,) = emulator.report([str(made)])["kernels"].values()
    for kind in ("global_reads", "global_writes"):
        assert kernel[kind]["accesses"] == 96 * 64
        assert kernel[kind]["sectors"] == kernel[kind]["ideal"] == 96 * 64 * 8 // 32


def test_files_of_a_toolchain_without_openmp(tmp_path):
    """What is left of the file is plain C99."""
    strict = Toolchain("strict", "gcc", ("-std=c99", "-pedantic", "-O1", "-Wno-unknown-pragmas"))
    flags = (*strict.command_line, *FLAGS)
    result = compile_source(str(source("gemm")), Options(backend="opencl", min_work=0), ["gcc"], flags)
    file = tmp_path / "gemm.c"
    file.write_text(result.text, encoding="utf-8")
    command = ["gcc", *flags, "-I", str(DIRECTORY), "-c", str(file), "-o", str(tmp_path / "gemm.o")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_scalar_that_no_iteration_writes_keeps_its_value(emulator, runtime, tmp_path, monkeypatch):
    """Nothing comes back where nothing was computed, although another loop ran."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    text = """\
#include <stdio.h>
static int last = 7, values[40][40];
static void find(int n, int m)
{
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      values[i][j] += i;
  for (int i = 0; i < n; i++)
    last = values[i][0];
#pragma endscop
}
int main(void)
{
  find(0, 40);
  printf("%d\\n", last);
  find(3, 40);
  printf("%d\\n", last);
  return 0;
}
"""
    result = device_programs.transform(text, "cuda", tmp_path)
    assert [each.backend for each in result.regions] == ["cuda"]
    made = device_programs.build(result, "last", runtime, tmp_path)
    done = device_programs.run(made, environment=emulator.environment(POLYBUILD_VERBOSE="1"))
    assert done.stdout == "7\n4\n"
    assert "2 runs on the device" in done.stderr


@pytest.mark.skipif(not Path("/etc/OpenCL/vendors").is_dir(), reason="needs an OpenCL platform")
def test_conditions_around_barriers(runtime, tmp_path):
    """PoCL makes wrong code of a barrier below an ``if``: there it is a loop that runs once or not at all."""
    text = """\
#include <stdio.h>
static void mix(int n, int m, unsigned a[restrict 40][32], const unsigned c[restrict 80])
{
#pragma scop
  for (int i = 4; i < m; i += 3)
    a[i - 1][i - 1] = a[i - 1][i - 1] * 5u + ((i <= i + n ? c[31] : (unsigned)i) - c[i + m - 3]);
#pragma endscop
}
int main(void)
{
  unsigned a[40][32], c[80];
  for (unsigned i = 0; i < 80; i++)
    c[i] = i * i;
  for (int m = 1; m < 33; m += 5) {
    for (unsigned i = 0; i < 40 * 32; i++)
      a[i / 32][i % 32] = i;
    mix(3, m, a, c);
    for (int i = 0; i < 40 * 32; i++)
      printf("%u\\n", a[i / 32][i % 32]);
  }
  return 0;
}
"""
    result = device_programs.transform(
        text, "opencl", tmp_path, tile_sizes=(4,), block_sizes=(2,), schedule="pluto"
    )
    assert [each.backend for each in result.regions] == ["opencl"]
    assert "polybuild_once" in result.text
    made = device_programs.build(result, "mix", runtime, tmp_path)
    runs = [device_programs.run(made, environment=device_programs.on(each)) for each in ("host", "opencl")]
    assert runs[0].stdout == runs[1].stdout


def test_registers_are_loaded_with_what_was_written_alone(emulator, runtime, tmp_path, monkeypatch):
    """The array of the region holds nothing at first: the emulator ends programs that read it then."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    text = """\
#include <stdio.h>
static unsigned char c[34];
static void mix(int n, unsigned x)
{
#pragma scop
  for (int i = n / 2; i < n; i++)
    for (int j = 0; j < n % 3; j++) {
      unsigned char t[5];
      for (int k = 0; k < 5; k++)
        t[k] = x / (c[i + 1] | 1u);
      c[i] = t[0] + 1u;
    }
#pragma endscop
}
int main(void)
{
  for (int n = 1; n < 33; n += 5) {
    for (int i = 0; i < 34; i++)
      c[i] = i;
    mix(n, 1000);
    for (int i = 0; i < 34; i++)
      printf("%d\\n", c[i]);
  }
  return 0;
}
"""
    result = device_programs.transform(text, "cuda", tmp_path, tile_sizes=(4,), block_sizes=(2,))
    assert [each.backend for each in result.regions] == ["cuda"]
    made = device_programs.build(result, "mix", runtime, tmp_path)
    done = device_programs.run(made, environment=emulator.environment(POLYBUILD_VERBOSE="1"))
    assert "runs on the device" in done.stderr
    assert done.stdout == device_programs.run(made, environment=device_programs.on("host")).stdout


def test_a_choice_of_which_some_points_of_a_thread_make_one_side(emulator, runtime, tmp_path, monkeypatch):
    """Unrolled points are places of their own: what they never read is in no tile there."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    text = """\
#include <stdio.h>
static unsigned a[8][8], b[8][8], c[8][8];
int main(void)
{
  for (int i = 0; i < 64; i++) {
    a[i / 8][i % 8] = i;
    b[i / 8][i % 8] = i * i;
  }
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 8; k++)
        c[i][j] += j < 4 ? a[i][k] : b[k][j];
#pragma endscop
  for (int i = 0; i < 64; i++)
    printf("%u\\n", c[i / 8][i % 8]);
  return 0;
}
"""
    sizes = {"tile_sizes": (8, 8, 4), "block_sizes": (4, 4)}
    result = device_programs.transform(text, "cuda", tmp_path, **sizes)
    assert [each.backend for each in result.regions] == ["cuda"]
    made = device_programs.build(result, "choice", runtime, tmp_path)
    done = device_programs.run(made, environment=emulator.environment(POLYBUILD_VERBOSE="1"))
    assert "runs on the device" in done.stderr
    assert done.stdout == device_programs.run(made, environment=device_programs.on("host")).stdout


@pytest.mark.skipif(not Path("/etc/OpenCL/vendors").is_dir(), reason="needs an OpenCL platform")
def test_quotients_between_barriers(runtime, tmp_path):
    """PoCL's optimiser makes wrong code of this kernel: its kernels are built without."""
    text = """\
#include <stdio.h>
static void mix(int m, int p, unsigned b[restrict 80], const unsigned short c[restrict 80],
                const unsigned short a[restrict 80])
{
#pragma scop
  for (int i = 0; i < m / 2; i++)
    for (int j = 0; j < p; j += 5)
      b[j + 1] = 2u % (c[j + 3] | 1u) + c[j] / (a[2 * j + 2] | 1u);
#pragma endscop
}
int main(void)
{
  unsigned b[80];
  unsigned short a[80], c[80];
  for (int m = 0; m < 9; m++) {
    for (unsigned i = 0; i < 80; i++) {
      a[i] = i * i;
      c[i] = 5000 - i;
      b[i] = i;
    }
    mix(m, 17, b, c, a);
    for (int i = 0; i < 80; i++)
      printf("%u\\n", b[i]);
  }
  return 0;
}
"""
    sizes = {"tile_sizes": (8, 8, 4), "block_sizes": (4, 4, 4), "grid_sizes": (2, 3)}
    result = device_programs.transform(text, "opencl", tmp_path, fusion="max", **sizes)
    assert [each.backend for each in result.regions] == ["opencl"]
    made = device_programs.build(result, "mix", runtime, tmp_path)
    runs = [device_programs.run(made, environment=device_programs.on(each)) for each in ("host", "opencl")]
    assert runs[0].stdout == runs[1].stdout
