"""The job server of a real build: regions of a file side by side, and no job lost."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

REGION = """\
void f{number}(int n, double a[n][n], double b[n][n]) {{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i - 1][j] + {number} * b[i][j];
#pragma endscop
}}
"""


@pytest.mark.fast
def test_make_lends_jobs_and_gets_them_back(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text("".join(REGION.format(number=each) for each in range(4)))
    command = f"{sys.executable} -m polybuild compile --colour never".replace(" --colour never", "")
    (tmp_path / "Makefile").write_text(
        "all: one.gen.c two.gen.c alone.gen.c\n"
        f"%.gen.c: %.c\n\t+{command} $< -o $@ -- gcc -O2\n"
        f"alone.gen.c: one.c\n\t{command} --jobs 1 $< -o $@ -- gcc -O2\n"
    )
    environment = {**os.environ, "POLYBUILD_CACHE": "off"}
    environment.pop("MAKEFLAGS", None)
    done = subprocess.run(
        ["make", "-j3"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "jobserver" not in done.stderr  # Make counts its tokens at the end
    text = (tmp_path / "alone.gen.c").read_text()
    assert text.count("/* polybuild: lines") == 4
    assert (tmp_path / "one.gen.c").read_text() == text
    assert (tmp_path / "two.gen.c").read_text() == text.replace("one.c", "two.c")
