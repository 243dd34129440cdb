"""Finding nvcc, reading what it says, and its image as data in C."""

from __future__ import annotations

import subprocess

import pytest

from polybuild.codegen.file.module_object import DriverSource, module_object
from polybuild.driver.file import compile_source
from polybuild.machine.model import Machine
from polybuild.options import Options
from polybuild.targets.base import ImageError
from polybuild.targets.gpu.nvcc import (
    KernelUsage,
    build_image,
    find_nvcc,
    told,
    usage_of,
)


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    for name in ("NVCC", "CUDACXX", "CUDA_HOME", "CUDA_PATH", "CMAKE_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.parametrize(
    ("variable", "value", "place"),
    [
        ("NVCC", "{}/own/nvcc", "own/nvcc"),
        ("CUDACXX", "{}/own/nvcc", "own/nvcc"),
        ("CUDA_HOME", "{}/toolkit", "toolkit/bin/nvcc"),
        ("CUDA_PATH", "{}/toolkit", "toolkit/bin/nvcc"),
        ("PATH", "{}/bin", "bin/nvcc"),
        ("CMAKE_PREFIX_PATH", "/other;{}/site", "site/nvidia/cu13/bin/nvcc"),
    ],
)
@pytest.mark.usefixtures("nowhere")
def test_where_nvcc_is_looked_for(tmp_path, monkeypatch, variable, value, place):
    made = script(tmp_path / place, "")
    monkeypatch.setenv(variable, value.format(tmp_path))
    assert find_nvcc() == made


@pytest.mark.usefixtures("nowhere")
def test_a_compiler_that_is_named_is_the_only_one(tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", script(tmp_path / "nvcc", ""))
    assert find_nvcc(str(tmp_path / "other")) is None
    assert find_nvcc(script(tmp_path / "other", "")) == str(tmp_path / "other")


def test_flags_of_an_image(tmp_path):
    nvcc = script(
        tmp_path / "nvcc", 'echo "$@" > "$0.flags"; while [ "$1" != -o ]; do shift; done; echo image > $2\n'
    )
    assert build_image("kernels", nvcc, (90, 80), contract=False).data == b"image\n"
    flags = (tmp_path / "nvcc.flags").read_text()
    assert "-fmad=false" in flags
    sm = "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90"
    assert f"{sm} -gencode arch=compute_80,code=compute_80" in flags


def test_what_nvcc_does_not_take_is_told_in_its_words(tmp_path):
    nvcc = script(
        tmp_path / "nvcc", 'for f in "$@"; do :; done; echo "$f(3): error: no such thing" >&2; exit 2\n'
    )
    with pytest.raises(
        ImageError, match=r"^nvcc does not take the kernels: kernels.cu\(3\): error: no such thing$"
    ):
        build_image("kernels", nvcc, (80,), contract=True)
    with pytest.raises(ImageError, match="cannot be run"):
        build_image("kernels", str(tmp_path / "none"), (80,), contract=True)


LOG = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'one' for 'sm_80'
ptxas info    : Function properties for one
    0 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 4096 bytes smem, 388 bytes cmem[0]
ptxas info    : Compiling entry function 'two' for 'sm_90'
ptxas info    : Used 12 registers, 360 bytes cmem[0]
"""


def test_what_kernels_need():
    assert usage_of(LOG) == (KernelUsage("one", "sm_80", 40, 4096, 24), KernelUsage("two", "sm_90", 12, 0, 0))
    assert [told(each, 256, Machine()) for each in usage_of(LOG)] == [
        (
            "40 registers for each thread on sm_80, 24 bytes spilled:"
            " a multiprocessor runs 1536 threads at once, of 2048"
        ),
        "12 registers for each thread on sm_90: a multiprocessor runs 2048 threads at once, of 2048",
    ]


def test_explanations_have_them(tmp_path, monkeypatch):
    """Those of the newest architecture that was asked for."""
    log = LOG.replace("'two'", "'polybuild_f_4_0'")
    monkeypatch.setenv(
        "NVCC",
        script(
            tmp_path / "nvcc",
            f'while [ "$1" != -o ]; do shift; done\necho image > "$2"\ncat >&2 << E\n{log}E\n',
        ),
    )
    source = tmp_path / "f.c"
    source.write_text(
        "void f(int n, double *x)\n{\n  (void)n;\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    x[i] = 2 * x[i];\n#pragma endscop\n}\n"
    )
    options = Options(backend="cuda", cuda_arch=(80, 90), min_work=0)
    (details,) = compile_source(str(source), options, ["gcc"], []).details
    (lines,) = details.text.kernels.described.values()
    assert lines[-1].startswith("12 registers for each thread on sm_90: a multiprocessor runs 2048 threads")


def test_the_module_in_c_has_the_bytes_that_went_in(tmp_path):
    """Compiled strictly, and printed again by the program."""
    image = bytes(range(256)) * 3 + b"odd"
    text = 'double a; /* "quoted" \\ back, \u00e9, ??= */\n' * 200 + "\n\t\x07" + "x" * 250
    sources = {"opencl": DriverSource(text, "-cl-std=CL1.2")}
    made = module_object("module", ["one", "two"], Machine(), fatbin=image, sources=sources)
    (tmp_path / "image.c").write_text(
        f"""#include <stdio.h>
#include <polybuild_device.h>
{made}
int main(void) {{
    fwrite(module.fatbin, 1, module.fatbin_size, stdout);
    for (const char *const *piece = module.opencl; *piece; piece++)
        fputs(*piece, stdout);
    return module.kernel_count != 2 || module.kernels[1][0] != 't';
}}
"""
    )
    from polybuild.integrations.locations import include_dir  # noqa: PLC0415

    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{include_dir()}"]
    program = tmp_path / "image"
    subprocess.run(["gcc", *strict, str(tmp_path / "image.c"), "-o", str(program)], check=True, timeout=60)
    printed = subprocess.run([str(program)], check=True, capture_output=True, timeout=60).stdout
    assert printed == image + text.encode()
