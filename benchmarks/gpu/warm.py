"""The accumulations on large arrays that stay on the device: their kernels' time alone, beside libraries.

A part of ``run.py``, with Python, gcc and nvcc alone. Each program runs the same kernels again and again on
the same arrays (``warm.c``), whose numbers are whole, so that sums are the same to the bit in any order. Its
results are compared with the original's after the first run, at a small size under compute-sanitizer (where
there is one) and at the size that is timed. The time of a run's kernels is that from the first launch to the
end of the last kernel, as the runtime measures it; the first run, which copies, does not count.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path("warm")
LIMIT = 240
FLAGS = ["-O2", "-march=native", "-fopenmp", "-ffp-contract=off", "-w", "-I", "."]
SANITIZER = ["compute-sanitizer", "--report-api-errors", "no", "--error-exitcode", "9"]
"""It would report that the runtime asks whether memory is pinned, which no call answers without an error."""
ON_DEVICE = "runs on the device"
HOST = "runs on the host"
FORM = "@"
"""What stands before the word for a form of a program, where there are several: ``csr@in-order``."""
ALIKE = {"csr-warp": "csr"}
"""Programs with the sizes of another one."""
LARGE = {
    "sum": "268435456",
    "sum-float": "268435456",
    "sum-double": "134217728",
    "dot": "134217728",
    "dot-float": "134217728",
    "dot-double": "67108864",
    "abs-sum": "134217728",
    "max": "134217728",
    "arg-max": "134217728",
    "histogram": "268435456",
    "gemv": "12288",
    "gemv-float": "16384",
    "gemv-transposed": "12288",
    "gemv-normal": "12288",
    "gemv-both": "12288",
    "rank-two": "12288",
    "row-sums": "12288",
    "column-sums": "12288",
    "csr": "2000000 40",
    "ell": "2000000 40",
    "hog": "1000000 100",
    "equake": "400000 30",
}
"""Sizes: about a gigabyte for each, many times what the caches of a device hold."""
PASSES = {"gemv-normal": 2, "gemv-both": 2, "rank-two": 4}
"""How often a matrix moves if each product with a vector reads it once, and a change of it writes it, too."""
BESIDE = {
    "sum-float": "sasum:268435456",
    "sum-double": "dasum:134217728",
    "abs-sum": "dasum:134217728",
    "dot-float": "sdot:134217728",
    "dot-double": "ddot:67108864",
    "max": "damax:134217728",
    "arg-max": "damax:134217728",
    "gemv": "dgemv:12288",
    "gemv-float": "sgemv:16384",
    "gemv-transposed": "dgemvt:12288",
    "csr": "spmv:2000000:40",
}
"""What cuBLAS or cuSPARSE has that moves the same bytes: sums of magnitudes for sums and maxima."""
COPIED = 1 << 32
"""Bytes that are copied on the device to measure its bandwidth."""
COLUMNS = {"kernels ms": 4, "run ms": 4, "GB/s": 0, "of bandwidth": 3, "library ms": 4, "of library": 3}
"""What stands in a row, and with how many digits."""
GOAL = 0.85
"""The fraction of the bandwidth below which ncu is asked why."""
METRICS = (
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "launch__grid_size",
    "launch__block_size",
    "launch__registers_per_thread",
)
"""What ncu is asked about each kernel."""


@dataclass(frozen=True)
class Plan:
    """What is run: ``runtime`` is what programs are linked with, ``reasons`` say why some have no kernels."""

    names: list[str]
    runtime: list[str]
    reasons: dict[str, str]
    runs: int
    size: str
    jobs: int
    profile: bool


def known() -> list[str]:
    """The programs that were prepared."""
    return sorted(path.stem for path in (FOLDER / "fast").glob("*.c"))


def source_of(name: str) -> str:
    """The program that was written of which this is a form."""
    return name.partition(FORM)[0]


def measure(plan: Plan, bandwidth: float, result: dict[str, Any], written: Callable[[], None]) -> None:
    """Put all rows in ``result``, which is ``written`` after each, and the bandwidth they are set against.

    That is ``bandwidth`` (GB/s) where none is measured.
    """
    with ThreadPoolExecutor(plan.jobs) as pool:
        libraries = pool.submit(_build_libraries)
        checked = {name: pool.submit(_checked, name, plan) for name in plan.names}
        rows = {name: each.result() for name, each in checked.items()}
        beside = _libraries(plan, libraries.result())
    measured = beside.get("copy")
    if measured:
        bandwidth = 2 * COPIED / measured / 1e9
    result |= {"bandwidth GB/s": round(bandwidth, 1), "measured": bool(measured), "kernels": rows}
    print(f"{'a copy on the device' if measured else 'the file of the machine'}: {bandwidth:.0f} GB/s")
    print(f"{'':20} {' '.join(f'{each:>12}' for each in COLUMNS)}")
    for name, row in rows.items():
        if not row["failure"]:
            _time(name, row, plan, bandwidth, beside)
        _print_row(name, row)
        written()


def right(result: dict[str, Any]) -> bool:
    """Whether all rows were on the device, and equal."""
    return not any(row["failure"] for row in result["kernels"].values())


def _sizes(name: str, size: str) -> list[str]:
    """The sizes of a program: those of LARGE, or a name that the program knows."""
    return LARGE[_plain(name)].split() if size == "large" else [size]


def _plain(name: str) -> str:
    plain = source_of(name)
    return ALIKE.get(plain, plain)


def _checked(name: str, plan: Plan) -> dict[str, Any]:
    """A row with what is wrong with the program at a small size, and what the original gives at the other."""
    row: dict[str, Any] = {"failure": "", "sizes": _sizes(name, plan.size)}
    if plan.reasons.get(name):
        return {**row, "failure": f"no kernels: {plan.reasons[name]}"}
    host = _build(f"{name}-warm-host", [f"original/{source_of(name)}.c", "warm.c", "-DHOST"])
    device = _build(f"{name}-warm", [f"fast/{name}.c", "warm.c", *plan.runtime])
    if host or device:
        return {**row, "failure": f"does not compile: {host or device}"}
    expected, found = _run([f"./{name}-warm-host", "1", "mini"]), _run([f"./{name}-warm", "2", "mini"])
    row["failure"] = _problem(expected, found, "mini")
    if not row["failure"]:
        if shutil.which(SANITIZER[0]):
            row["sanitizer"] = _complaint(_run([*SANITIZER, f"./{name}-warm", "1", "mini"]))
        done = _run([f"./{name}-warm-host", "1", *row["sizes"]])
        row["expected"], row["host ms"] = _checksums(done), _medians(done, 0)[0]
    return row


def _time(name: str, row: dict[str, Any], plan: Plan, bandwidth: float, beside: dict[str, float]) -> None:
    """Run the program at the size that counts, check and time it."""
    done = _run([f"./{name}-warm", str(plan.runs + 2), *row["sizes"]])
    row["failure"] = _on_device(done)
    if not row["failure"] and _checksums(done) != row["expected"]:
        row["failure"] = f"other results than the original's: {_differences(row['expected'], done)}"
    row["failure"] = row["failure"] or row.get("sanitizer", "")
    del row["expected"]
    row["told"] = [line for line in done.stderr.splitlines() if ON_DEVICE in line or HOST in line]
    if done.returncode:
        return
    row["run ms"], row["kernels ms"] = _medians(done, 2)
    found = re.search(r"^bytes (\d+)", done.stdout, re.MULTILINE)
    moved = int(found[1] if found else 0) * PASSES.get(_plain(name), 1)
    row["GB/s"] = moved / row["kernels ms"] / 1e6
    row["of bandwidth"] = row["GB/s"] / bandwidth
    library = BESIDE.get(_plain(name), "").partition(":")[0]
    if library in beside:
        row["library"], row["library ms"] = library, 1000 * beside[library]
        row["of library"] = row["library ms"] / row["kernels ms"]
    if plan.profile and row["of bandwidth"] < GOAL:
        row["profile"] = _profile(name, row["sizes"])


def _print_row(name: str, row: dict[str, Any]) -> None:
    if row["failure"]:
        print(f"{name:20} {row['failure']}", flush=True)
    if "kernels ms" not in row:
        return
    entries = (f"{row[each]:12.{n}f}" if each in row else f"{'-':>12}" for each, n in COLUMNS.items())
    print(f"{name:20} {' '.join(entries)} {row.get('library', '')}", flush=True)
    for kernel in row.get("profile", ()):
        print(f"    {json.dumps(kernel)}", flush=True)


def _problem(expected: Any, found: Any, what: str) -> str:
    """What is wrong with a run; empty if nothing is."""
    failure = _on_device(found)
    if not failure and _checksums(expected) != _checksums(found):
        failure = f"other results than the original's: {_differences(_checksums(expected), found)}"
    return failure and f"{what}: {failure}"


def _complaint(done: subprocess.CompletedProcess[str]) -> str:
    """What compute-sanitizer says first, of a run that is not as it should be."""
    lines = [line for line in done.stdout.splitlines() if line.startswith("=====")]
    return f"compute-sanitizer: {' | '.join(lines[1:6])}" if done.returncode else ""


def _on_device(done: subprocess.CompletedProcess[str]) -> str:
    """Why a run is none of kernels."""
    told = [line for line in done.stderr.splitlines() if HOST in line or "not used" in line]
    if done.returncode:
        last = " | ".join([*done.stdout.splitlines()[-3:], *done.stderr.splitlines()[-6:]])
        return f"exit code {done.returncode}: {last}"
    if ON_DEVICE not in done.stderr or any(HOST in line for line in told):
        return f"ran on the host: {' | '.join(told) or 'and did not say why'}"
    return ""


def _checksums(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith("array ")]


def _differences(expected: list[str], done: subprocess.CompletedProcess[str]) -> str:
    return ", ".join(line.split()[1] for line in _checksums(done) if line not in expected) or "none was given"


def _medians(done: subprocess.CompletedProcess[str], first: int) -> tuple[float, float]:
    """Milliseconds of a run and of its kernels, from the run of that number on."""
    found = re.findall(r"^seconds (\S+) kernels (\S+)$", done.stdout, re.MULTILINE)[first:]
    if not found:
        return 0.0, 0.0
    return 1000 * statistics.median(float(each[0]) for each in found), statistics.median(
        float(each[1]) for each in found
    )


def _build(program: str, sources: list[str]) -> str:
    """Make a program; what the compiler says if it does not."""
    inside = [str(FOLDER / each) if each.endswith(".c") and "/" in each else each for each in sources]
    command = ["gcc", *FLAGS, "-I", "runtime/include", *inside, "-lm", "-o", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT)
    return done.stderr.partition("\n")[0] or f"exit code {done.returncode}" if done.returncode else ""


def _build_libraries() -> bool:
    nvcc = shutil.which("nvcc")
    if not nvcc:
        return False
    command = [nvcc, "-O3", "-arch=native", "libraries.cu", "-lcublas", "-lcusparse", "-o", "libraries"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        print(f"beside no libraries: {' | '.join(done.stderr.splitlines()[:4])}")
    return done.returncode == 0


def _libraries(plan: Plan, built: bool) -> dict[str, float]:
    """The median of the seconds of each, and of a copy; only at the large size."""
    if not built or plan.size != "large":
        return {}
    wanted = {BESIDE[_plain(name)] for name in plan.names if _plain(name) in BESIDE}
    asked = [f"copy:{COPIED}", *sorted(wanted)]
    runs = [_run(["./libraries", str(plan.runs), *asked])]
    if runs[0].returncode:  # all but what fails
        runs = [_run(["./libraries", str(plan.runs), each]) for each in asked]
    times: dict[str, list[float]] = {}
    for done in runs:
        if done.returncode:
            print(f"{' '.join(done.args[2:])}: {done.stderr.strip()}")
        for name, seconds in re.findall(r"^(\w+) (\S+)$", done.stdout, re.MULTILINE):
            times.setdefault(name, []).append(float(seconds))
    return {name: statistics.median(found) for name, found in times.items()}


def _profile(name: str, sizes: list[str]) -> list[dict[str, str]]:
    """What ncu measured for each launch of one run; nothing without ncu."""
    if not shutil.which("ncu"):
        return []
    log = f"{name}-ncu.csv"
    command = ["ncu", "--clock-control", "none", "--csv", "--log-file", log, "--launch-count", "12"]
    _run([*command, "--metrics", ",".join(METRICS), f"./{name}-warm", "1", *sizes])
    lines = Path(log).read_text(encoding="utf-8").splitlines() if Path(log).exists() else []
    table = csv.DictReader(io.StringIO("\n".join(line for line in lines if line.startswith('"'))))
    kernels: dict[str, dict[str, str]] = {}
    for line in table:
        kernel = kernels.setdefault(line["ID"], {"kernel": line["Kernel Name"]})
        kernel[line["Metric Name"]] = f"{line['Metric Value']} {line['Metric Unit']}".strip()
    return list(kernels.values())


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command on CUDA's device, whose report goes to the errors."""
    environment = {**os.environ, "POLYBUILD_BACKEND": "cuda", "POLYBUILD_VERBOSE": "1"}
    try:
        return subprocess.run(
            command, check=False, capture_output=True, text=True, env=environment, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"took more than {LIMIT} s")
