"""Builds, checks and times what ``python -m benchmarks.gpu`` prepared, with Python, gcc and nvcc alone.

usage: python3 run.py [KERNEL ...] [--runs N] [--size large] [--products N,N] [--jobs N] [--profile]
                      [--one-thread] [--within SECONDS] [--json FILE]

Run it in the folder that was prepared, on the machine with the GPU; Python 3.9 is new enough. Results are
written after each kernel. A kernel with other results than the host's, or that ran on the host although the
compiler made kernels of it, fails the command. Beside the times stand fractions of the device's bandwidth
(what went in and out once, over the time of all kernels) and of its peak, whose figures are in facts.json.
The accumulations (one by its name, all by ``accumulations``) are warm.py's: on data that stay on the device.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import warm

HERE = Path(__file__).resolve().parent
LIMIT = 300
FLAGS = ["-O3", "-march=native", "-fopenmp", "-Wno-unknown-pragmas"]
EXACT = ["-O2", "-ffp-contract=off", "-fopenmp", "-Wno-unknown-pragmas"]
PRODUCT = "matmul"
ACCUMULATIONS = "accumulations"
ON_DEVICE = "runs on the device"


def main() -> int:
    """Measure everything; 0 if every kernel ran on the device and gave the host's results."""
    os.chdir(HERE)
    known, accumulations = sorted(path.stem for path in Path("original").glob("*.c")), warm.known()
    known_products = [PRODUCT] if Path("fast", f"{PRODUCT}.c").exists() else []
    arguments = _arguments([*known, *accumulations, *known_products, ACCUMULATIONS])
    chosen = arguments.kernels or [*known, *known_products, ACCUMULATIONS]
    facts = json.loads(Path("facts.json").read_text(encoding="utf-8"))
    runtime = _runtime()
    result: dict[str, Any] = {"machine": _machine(), "size": arguments.size, "kernels": {}}
    named = [each for each in accumulations if {each, warm.source_of(each), ACCUMULATIONS} & {*chosen}]
    right = True
    if named:
        reasons, bandwidth = facts["without kernels"], facts["device"]["bandwidth"]
        sizes = (arguments.runs, arguments.size, arguments.jobs)
        plan = warm.Plan(named, runtime, reasons, *sizes, arguments.profile)
        result[ACCUMULATIONS] = {}
        warm.measure(plan, bandwidth, result[ACCUMULATIONS], lambda: _write(arguments.json, result))
        right = warm.right(result[ACCUMULATIONS])
    if PRODUCT in chosen:
        extents = [int(each) for each in arguments.products.split(",")]
        result[PRODUCT] = _products(runtime, extents, facts["device"])
        right = right and all("polybuild GFLOP/s" in row for row in result[PRODUCT].values())
        for size, product in result[PRODUCT].items():
            print(f"{PRODUCT} {size:>5} {json.dumps(product)}")
        _write(arguments.json, result)
    kernels = [name for name in known if name in chosen]
    right = _kernels(kernels, arguments, facts, runtime, result) and right
    _write(arguments.json, result)
    print(f"written: {arguments.json}")
    return 0 if right else 1


def _arguments(known: list[str]) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser("run.py", description="Kernels on a GPU against the host.")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="only these, of those that are here")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="repetitions; the median counts (5)")
    parser.add_argument("--size", default="large", help="mini, small, medium or large (large)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="compilers at a time"
    )
    parser.add_argument(
        "--products", default="1024,2048,4096,8192", metavar="N,N", help="extents of the products of matrices"
    )
    parser.add_argument(
        "--profile", action="store_true", help="ask ncu about accumulations that are far from the bandwidth"
    )
    parser.add_argument("--one-thread", action="store_true", help="time the originals on one thread, too")
    parser.add_argument(
        "--within",
        type=float,
        default=float("inf"),
        metavar="SECONDS",
        help="time no more kernels after that",
    )
    parser.add_argument("--json", type=Path, default=HERE / "results.json", metavar="FILE")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.kernels) - set(known))
    if unknown:
        parser.error(f"no such kernel here: {', '.join(unknown)} (there are {', '.join(known)})")
    return arguments


def _kernels(
    names: list[str],
    arguments: argparse.Namespace,
    facts: dict[str, Any],
    runtime: list[str],
    result: dict[str, Any],
) -> bool:
    """Check and time the kernels of tests/kernels; whether all are right where they belong."""
    rows, begin = result["kernels"], time.monotonic()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        checked = {name: pool.submit(_checked, name, runtime, facts["on host"][name]) for name in names}
        for name, row in checked.items():
            rows[name] = row.result()
    for name in names:
        if time.monotonic() - begin > arguments.within:
            rows[name] |= {"equal": False, "failure": "not timed in the time that was given"}
        if "failure" not in rows[name]:
            _time(name, rows[name], arguments)
            _set_against(rows[name], facts["device"])
        _print_row(name, rows[name])
        _write(arguments.json, result)
    return all(row["equal"] and (row.get("on_device") or row["for host"]) for row in rows.values())


def _write(file: Path, result: dict[str, Any]) -> None:
    file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def _programs(name: str, runtime: list[str]) -> dict[str, str | None]:
    """The programs of one kernel; None for one that does not compile."""
    driver = ["driver.c", "-I", "."]
    return {
        "host": _build(f"{name}-host", [f"original/{name}.c", *driver], FLAGS),
        "device": _build(f"{name}-device", [f"fast/{name}.c", *driver, *runtime], FLAGS),
        "host-exact": _build(f"{name}-host-exact", [f"original/{name}.c", *driver], EXACT),
        "device-exact": _build(f"{name}-device-exact", [f"exact/{name}.c", *driver, *runtime], EXACT),
    }


def _checked(name: str, runtime: list[str], for_host: dict[str, str]) -> dict[str, Any]:
    """Build and check one kernel; ``for_host`` has why the compiler left it to the host, else nothing."""
    programs = _programs(name, runtime)
    failed = [each for each, program in programs.items() if program is None]
    if failed:
        return {"equal": False, "for host": "", "failure": f"does not compile: {', '.join(failed)}"}
    row: dict[str, Any] = {"equal": True, "on_device": True, "for host": for_host["exact"]}
    for size in ("mini", "small"):
        expected, found = (_run([f"./{programs[each]}", size]) for each in ("host-exact", "device-exact"))
        row["equal"] &= expected is not None and found is not None and _sums(expected) == _sums(found)
        row["on_device"] &= found is not None and ON_DEVICE in found.stderr
    if shutil.which(warm.SANITIZER[0]):
        row["sanitizer"] = _run([*warm.SANITIZER, f"./{programs['device-exact']}", "mini"]) is not None
        row["equal"] &= row["sanitizer"]
    return row


def _time(name: str, row: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Time one kernel on the device, on all threads of the host, and on one if that is wanted."""
    command = ["--repeat", str(arguments.runs), arguments.size]
    for each, program, backend in (
        ("device", "device", "cuda"),
        ("host threads", "device", "openmp"),
        ("host", "host", "host"),
    ):
        if each == "host" and not arguments.one_thread:
            continue
        done = _run([f"./{name}-{program}", *command], backend)
        row[each] = _median(done)
        if each == "device" and done is not None:
            row["told"] = [line for line in done.stderr.splitlines() if ON_DEVICE in line][-1:]


def _set_against(row: dict[str, Any], device: dict[str, float]) -> None:
    """Add the fraction of the device's bandwidth that what went in and out would take, moved once."""
    moved = re.findall(
        r"kernels ([\d.]+) ms.*?in \(([\d.]+) MB\).*?out \(([\d.]+) MB\)", " ".join(row.get("told", []))
    )
    if moved and float(moved[0][0]):
        milliseconds, came, went = map(float, moved[0])
        row["of bandwidth"] = round((came + went) / milliseconds / device["bandwidth"], 3)


def _products(runtime: list[str], sizes: list[int], device: dict[str, float]) -> dict[str, Any]:
    """The matrix product against cuBLAS, kernels alone, in GFLOP/s; without a device only the first size."""
    own = _build("matmul", ["fast/matmul.c", *runtime], FLAGS)
    cublas = None
    if shutil.which("nvcc"):
        done = subprocess.run(
            [str(shutil.which("nvcc")), "-O3", "cublas.cu", "-lcublas", "-o", "cublas"],
            check=False,
            timeout=LIMIT,
        )
        cublas = "cublas" if done.returncode == 0 else None
    rows: dict[str, Any] = {}
    for size in sizes:
        row: dict[str, Any] = {}
        rows[str(size)] = row
        operations = 2.0 * size**3
        done = _run(["./matmul", str(size)]) if own else None
        if done is not None:
            row["seconds with copies"] = _median(done)
            kernels = re.findall(r"(\d+) kernels ([\d.]+) ms", done.stderr)
            runs = re.findall(r": (\d+) runs on the device", done.stderr)
            if kernels and runs:
                row["polybuild GFLOP/s"] = round(operations * int(runs[-1]) / float(kernels[-1][1]) / 1e6, 1)
                row["of peak"] = round(row["polybuild GFLOP/s"] / device["single"], 3)
        if "polybuild GFLOP/s" not in row:
            break
        if cublas and (seconds := _median(_run(["./cublas", str(size)]))):
            row["cuBLAS GFLOP/s"] = round(operations / seconds / 1e9, 1)
    return rows


def _runtime() -> list[str]:
    """What a program with kernels is linked with."""
    if _build("runtime.o", [str(path) for path in Path("runtime/src").glob("*.c")], ["-O2", "-r"]) is None:
        sys.exit("the runtime does not compile")
    return ["runtime.o", "-I", "runtime/include", "-ldl", "-lpthread"]


def _build(program: str, sources: list[str], flags: list[str]) -> str | None:
    command = ["gcc", *flags, "-I", "runtime/include", *sources, "-lm", "-o", program]
    if "-r" in flags:
        command.remove("-lm")
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return None if done.returncode else program


def _run(command: list[str], backend: str = "cuda") -> subprocess.CompletedProcess[str] | None:
    environment = {**os.environ, "POLYBUILD_BACKEND": backend, "POLYBUILD_VERBOSE": "1"}
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=environment, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else done


def _sums(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if not line.startswith("seconds")]


def _median(done: subprocess.CompletedProcess[str] | None) -> float | None:
    if done is None:
        return None
    return statistics.median(
        float(each) for each in re.findall(r"^seconds (\S+)$", done.stdout, re.MULTILINE)
    )


def _print_row(name: str, row: dict[str, Any]) -> None:
    host, threads, device = (row.get(each) for each in ("host", "host threads", "device"))
    ratio = f"{threads / device:8.2f}" if threads and device else "       -"
    result = "equal" if row["equal"] else row.get("failure", "DIFFERENT")
    where = (
        "" if row.get("on_device") else f" (ran on the host{': ' * bool(row['for host'])}{row['for host']})"
    )
    bandwidth = f"{row['of bandwidth']:6.3f}" if "of bandwidth" in row else "     -"
    times = f"{host or 0:10.4f} {threads or 0:10.4f} {device or 0:10.4f} {ratio} {bandwidth}"
    print(
        f"{name:16} {times}  {result}{where}",
        flush=True,
    )


def _machine() -> dict[str, str]:
    def told(*command: str) -> str:
        if shutil.which(command[0]) is None:
            return ""
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        return done.stdout.strip()

    query = "--query-gpu=name,driver_version,memory.total"
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "gpu": told("nvidia-smi", query, "--format=csv,noheader"),
        "gcc": told("gcc", "--version").partition("\n")[0],
        "nvcc": told("nvcc", "--version").rpartition("\n")[2],
    }


if __name__ == "__main__":
    sys.exit(main())
