"""A sample of the tests through other compilers; docs/guide/platforms.md tells what all tests do there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from toolchains import TOOLCHAINS, install

TESTS = Path(__file__).parents[1]
SAMPLE = (
    "execute/test_conditional_updates.py",
    "execute/test_last_values.py",
    "execute/test_kernels.py::test_bits_under_default_options[gemm]",
)
"""Reductions and last values, and register tiles, on threads."""

SERIAL = """\
#include <stdio.h>
int main(void)
{
  static double a[300];
#pragma scop
  for (int t = 0; t < 9; t++)
    for (int i = 1; i < 299; i++)
      a[i] = 0.5 * a[i - 1] + 0.25 * a[i + 1] + t;
#pragma endscop
  printf("%a\\n", a[250]);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        pytest.param("aarch64", SAMPLE, marks=pytest.mark.aarch64),
        pytest.param("i386", SAMPLE, marks=pytest.mark.links("-m32")),
        # many tests name clang besides
        pytest.param(
            "clang",
            ("execute/test_contracted_arrays.py",),
            marks=[pytest.mark.clang, pytest.mark.links("-fopenmp")],
        ),
    ],
    ids=["aarch64", "i386", "clang"],
)
def test_a_sample(name, sample):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--toolchain", name, *sample],
        cwd=TESTS,
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 10
    assert "skipped" not in done.stdout


@pytest.mark.musl
def test_programs_with_musl_print_the_same(tmp_path):
    """Without OpenMP: musl's compiler of Debian has no library for it."""
    (tmp_path / "in.c").write_text(SERIAL)
    install(TOOLCHAINS["musl"], tmp_path / "bin")
    gcc = tmp_path / "bin" / "gcc"
    printed = []
    for number, words in enumerate(
        (
            [gcc],
            [sys.executable, "-m", "polybuild", "cc", "--min-work", "0", "--parallel", "off", "--", gcc],
        )
    ):
        program = tmp_path / f"program{number}"
        command = [*words, "-static", "-O2", "-ffp-contract=off", "in.c", "-o", program]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
        printed.append(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
    assert printed[0] == printed[1] != ""


def test_a_toolchain_wraps_programs_and_nothing_else(tmp_path):
    """A program becomes a script, an object does not, and what fails fails."""
    stand_in = type(TOOLCHAINS["musl"])((shutil.which("gcc") or "gcc",), ("env", "SAID=yes"))
    install(stand_in, tmp_path / "bin")
    gcc = str(tmp_path / "bin" / "gcc")
    (tmp_path / "in.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("SAID")); return 0; }\n'
    )
    for words in (["-c", "in.c", "-o", "in.o"], ["in.o", "-o", "in"], ["-march=native", "in.c"]):
        subprocess.run([gcc, *words], cwd=tmp_path, check=True)
    assert (tmp_path / "in.o").read_bytes()[:4] == b"\x7fELF"
    for name in ("in", "a.out"):
        command = [tmp_path / name]
        assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "yes\n"
    assert subprocess.run([gcc, "no-such.c"], cwd=tmp_path, check=False, capture_output=True).returncode
