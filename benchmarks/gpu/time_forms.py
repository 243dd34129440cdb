"""Builds, checks and times what ``python -m benchmarks.gpu.forms`` prepared, with Python, gcc and nvcc alone.

usage: python3 time_forms.py [PROBLEM ...] [--runs N] [--small] [--no-check] [--alone] [--json FILE]

Run it in the folder that was prepared, on the machine with the GPU; Python 3.9 is new enough. Everything is
compiled first, side by side; then one problem after the other is compared with its original and timed, and
the results are written. A form that is missing, does not compile, has other results, or runs on the host is
a row that says why; it fails the command, but no other row.
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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIMIT = 15
STOPPED = 3
"""The exit code of a program that ends after a form that ran on the host."""
FLAGS = ["-fopenmp", "-w", "-I", "runtime/include", "-I", "."]
ORIGINAL = ["-O1", "-ffp-contract=off"]
STEP = "kernel a step"
GOALS = {"gemm-float": 0.75, "gemm-double": 0.5}
"""Of what cuBLAS reaches."""
SPEEDUP, CHOICE = 2.0, 1.15
"""Of stencils over a kernel a step, and the time of the model's choice over that of the best form."""


def main() -> int:
    """Measure everything; 0 if every row is right."""
    prepared = {
        path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in HERE.glob("*/problem.json")
    }
    known = sorted(prepared, key=lambda name: _worth(prepared[name]))
    parser = argparse.ArgumentParser("time_forms.py", description="Forms of kernels on a GPU.")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help="only these, of those that are here")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="repetitions; the median counts (3)")
    parser.add_argument("--small", action="store_true", help="time at the sizes that are checked")
    parser.add_argument("--no-check", action="store_true", help="compare no results")
    parser.add_argument("--alone", action="store_true", help="without cuBLAS and the variants by hand")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="compilers at a time"
    )
    parser.add_argument(
        "--within",
        type=float,
        default=240.0,
        metavar="S",
        help="begin no problem after so many seconds (240)",
    )
    parser.add_argument("--json", type=Path, default=HERE / "forms.json", metavar="FILE")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.problems) - set(known))
    if unknown:
        parser.error(f"no such problem here: {', '.join(unknown)} (there are {', '.join(known)})")
    os.chdir(HERE)
    begin = time.monotonic()
    chosen = {name: prepared[name] for name in arguments.problems or known}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        built = _build_all(pool, chosen, beside=not arguments.alone and shutil.which("nvcc") is not None)
    print(f"built in {time.monotonic() - begin:.0f} s", flush=True)
    result: dict[str, Any] = {"machine": _machine(), "problems": {}}
    reference = _cublas(chosen) if built.cublas else {}
    result["cublas"] = {" ".join(key): value for key, value in reference.items()}
    result["by hand"] = {title: _hand(program) for title, program in built.hand.items()}
    for title, row in result["by hand"].items():
        print(f"by hand: {title:36} {json.dumps(row)}", flush=True)
    for name, problem in chosen.items():
        if time.monotonic() - begin > arguments.within:
            for form in problem["forms"].values():
                form["missing"] = f"not begun after {arguments.within:.0f} s"
        rows = _problem(name, problem, arguments)
        result["problems"][name] = _table(name, problem, rows, reference)
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    _goals(result["problems"])
    failed = [
        f"{name}, {title}: {row['failure']}"
        for name, rows in result["problems"].items()
        for title, row in rows.items()
        if row["failure"]
    ]
    failed += [f"by hand, {title}: {row}" for title, row in result["by hand"].items() if "failure" in row]
    failed += ["cuBLAS: does not build or run"] if built.hand and not reference else []
    print(f"{len(failed)} rows failed", *failed, sep="\n  ")
    print(f"{time.monotonic() - begin:.0f} s in all; written: {arguments.json}")
    return 1 if failed else 0


def _worth(problem: dict[str, Any]) -> tuple[int, int]:
    """What is more worth to know is less: there may not be time for all."""
    return ["products", "launches", "stencils"].index(problem["group"]), problem["order"]


class _Built:
    """What there is after compiling: the program of ``cublas``, and variants by ``hand``."""

    def __init__(self) -> None:
        self.cublas = False
        self.hand: dict[str, str | None] = {}


def _build_all(pool: ThreadPoolExecutor, chosen: dict[str, Any], *, beside: bool) -> _Built:
    """Compile everything; a form that does not compile is marked as missing."""
    sources = [str(path) for path in Path("runtime/src").glob("*.c")]
    runtime = pool.submit(_call, ["gcc", "-O2", "-r", "-I", "runtime/include", *sources, "-o", "runtime.o"])
    waiting: list[tuple[dict[str, Any], Any]] = []
    for name, problem in chosen.items():
        pool.submit(_object, name, 0, [*ORIGINAL])
        waiting += [
            (form, pool.submit(_object, name, form["number"], problem["flags"]))
            for form in problem["forms"].values()
            if not form["missing"]
        ]
    built = _Built()
    hand = {}
    cublas = None
    if beside and any(each["group"] == "products" for each in chosen.values()):
        common = ["nvcc", "-O3", "-arch=sm_90"]
        cublas = pool.submit(_call, [*common, "cublas.cu", *_library(), "-o", "cublas"])
        for title, macros in json.loads(Path("variants.json").read_text(encoding="utf-8")).items():
            for real in ("float", "double"):
                own = dict(macros)
                if real == "double":
                    own.update(RUN=min(2, own["RUN"]))
                    if own["PER"] > 4:
                        own.update(PER=4)
                program = f"hand-{real}-{len(hand)}"
                flags = [f"-DREAL={real}", *(f"-D{key}={value}" for key, value in own.items())]
                hand[f"{real}, {title}"] = (
                    program,
                    pool.submit(_call, [*common, *flags, "products_main.cu", "-o", program]),
                )
    for form, done in waiting:
        form["missing"] = done.result()
    if failure := runtime.result():
        sys.exit(f"the runtime does not compile: {failure}")
    linked = [(problem, pool.submit(_link, name, problem["forms"])) for name, problem in chosen.items()]
    for problem, done in linked:
        if failure := done.result():
            for form in problem["forms"].values():
                form["missing"] = form["missing"] or failure
    built.cublas = cublas is not None and not cublas.result()
    built.hand = {title: None if done.result() else program for title, (program, done) in hand.items()}
    return built


def _library() -> list[str]:
    """What a program with cuBLAS is compiled with: that of the toolkit, else that of a Python package."""
    toolkit = Path(shutil.which("nvcc") or "").resolve().parents[1]
    if list(toolkit.glob("**/cublas_v2.h")):
        return ["-lcublas"]
    for folder in map(Path, sys.path):
        for header in folder.glob("nvidia/*/include/cublas_v2.h"):
            for library in header.parents[1].glob("lib/libcublas.so.*"):
                return ["-I", str(header.parent), str(library), "-Xlinker", f"-rpath={library.parent}"]
    return ["-lcublas"]


def _object(name: str, number: int, flags: list[str]) -> str:
    """Compile one form; empty, or why that failed."""
    source, made = f"{name}/{number}.c", f"{name}/{number}.o"
    return _call(["gcc", *flags, *FLAGS, f"-Dkernel=kernel_{number}", "-c", source, "-o", made])


def _link(name: str, forms: dict[str, Any]) -> str:
    numbers = [each["number"] for each in forms.values() if not each["missing"]]
    listed = " ".join(f"X({each})" for each in numbers)
    objects = [f"{name}/{each}.o" for each in (0, *numbers)]
    libraries = ["runtime.o", "-lm", "-ldl", "-lpthread"]
    return _call(
        ["gcc", "-O2", *FLAGS, f"-DFORMS={listed}", "forms.c", *objects, *libraries, "-o", f"{name}/forms"]
    )


def _call(command: list[str]) -> str:
    """Run a compiler; empty, or the first error that it prints."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return ""
    errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
    return errors[0] if errors else f"{command[0]} ends with exit code {done.returncode}"


def _problem(name: str, problem: dict[str, Any], arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Check and time all forms of a problem; each row has what is wrong with it, empty if nothing is."""
    rows = {
        title: {"failure": form["missing"], "usage": form["usage"], "told": form["told"]}
        for title, form in problem["forms"].items()
    }
    titles = {form["number"]: title for title, form in problem["forms"].items()}
    whole = ["--whole"] if problem["whole"] else []
    for sizes in [] if arguments.no_check else problem["checked"]:
        equal: dict[int, str] = {}

        def checked(number: int, words: list[str], equal: dict[int, str] = equal) -> None:
            equal[number] = " ".join(words)

        _run(name, rows, titles, [*whole, "check", *map(str, sizes)], checked)
        for number, said in equal.items():
            if said != "equal" and not rows[titles[number]]["failure"]:
                rows[titles[number]]["failure"] = f"at {sizes}: {said}"
    for sizes in problem["checked"] if arguments.small else problem["timed"]:
        found: dict[int, list[float]] = {}
        launches: dict[int, int] = {}

        def timed(
            number: int,
            words: list[str],
            found: dict[int, list[float]] = found,
            launches: dict[int, int] = launches,
        ) -> None:
            found.setdefault(number, []).append(float(words[1]))
            launches[number] = int(words[3])

        keep = ["--keep"] if problem["kept"] else []
        command = [*whole, *keep, "time", str(arguments.runs), *map(str, sizes)]
        _run(name, rows, titles, command, timed)
        key = " ".join(map(str, sizes))
        for number, seconds in found.items():
            rows[titles[number]][key] = {
                "seconds": statistics.median(seconds),
                "least": min(seconds),
                "launches": launches[number],
            }
    return rows


def _run(
    name: str,
    rows: dict[str, dict[str, Any]],
    titles: dict[int, str],
    command: list[str],
    take: Callable[[int, list[str]], None],
) -> None:
    """Run the forms that nothing is wrong with; one that ends the program is told, and the others run on."""
    left = [number for number, title in titles.items() if not rows[title]["failure"]]
    environment = {**os.environ, "POLYBUILD_BACKEND": "cuda", "POLYBUILD_VERBOSE": "1"}
    while left:
        words = [f"{name}/forms", *command, "--", *map(str, left)]
        try:
            done = subprocess.run(
                words, check=False, capture_output=True, text=True, env=environment, timeout=LIMIT
            )
            output, errors, code = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as late:
            output, errors = (
                (text.decode() if isinstance(text, bytes) else text or "")
                for text in (late.stdout, late.stderr)
            )
            code = f"none after {LIMIT} s"
        if code == 0:
            _take(output, take)
            return
        culprit = _take(output, take) or left[0]
        if code != STOPPED and left.index(culprit) + 1 < len(left) and f"form {culprit} " in output:
            culprit = left[left.index(culprit) + 1]  # the one that said nothing any more
        said = [line for line in errors.splitlines() if "runs on the host" in line] or errors.splitlines()[
            -3:
        ]
        rows[titles[culprit]]["failure"] = f"exit code {code}: {' | '.join(said)}"
        left = left[left.index(culprit) + 1 :]


def _take(output: str, take: Callable[[int, list[str]], None]) -> int | None:
    """Give what forms said to ``take``; the last one that said something."""
    last = None
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["form"]:
            last = int(words[1])
            if words[2] != "stopped":
                take(last, words[2:])
    return last


def _cublas(chosen: dict[str, Any]) -> dict[tuple[str, str, str], float]:
    """Seconds of cuBLAS by size, operation and type."""
    wanted: dict[tuple[str, ...], None] = {}
    for problem in chosen.values():
        for sizes in problem["timed"] if problem["cublas"] else []:
            wanted[str(sizes[0]), problem["cublas"][0], problem["cublas"][1]] = None
    try:
        done = subprocess.run(
            ["./cublas", *(word for each in wanted for word in each)],
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return {}
    found: dict[tuple[str, str, str], list[float]] = {}
    own: list[float] = []
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] == "cublas":
            own = found.setdefault((words[1], words[2], words[3]), [])
        elif words[0] == "seconds":
            own.append(float(words[1]))
    return {key: statistics.median(each) for key, each in found.items() if each}


def _hand(program: str | None) -> dict[str, Any]:
    """GFLOP/s of one variant by hand by the extent."""
    if program is None:
        return {"failure": "does not compile"}
    try:
        done = subprocess.run(
            [f"./{program}", "4096", "1000", "2047"],
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"none after {LIMIT} s"}
    found: dict[str, list[float]] = {}
    for size, seconds in re.findall(r"^(\d+) seconds (\S+)$", done.stdout, re.MULTILINE):
        found.setdefault(size, []).append(float(seconds))
    row: dict[str, Any] = {
        size: round(2 * int(size) ** 3 / statistics.median(each) / 1e9) for size, each in found.items()
    }
    if done.returncode:
        wrong = re.findall(r"^\d+ wrong.*$", done.stdout, re.MULTILINE)
        row["failure"] = "; ".join(wrong) or f"exit code {done.returncode} {done.stderr}"
    return row


def _table(
    name: str,
    problem: dict[str, Any],
    rows: dict[str, dict[str, Any]],
    reference: dict[tuple[str, str, str], float],
) -> dict[str, dict[str, Any]]:
    """Print the rows of a problem; they get their rates."""
    works = {" ".join(map(str, sizes)): work for sizes, work in zip(problem["timed"], problem["work"])}  # noqa: B905 - Python 3.9
    for key in dict.fromkeys(key for row in rows.values() for key in row if isinstance(row[key], dict)):
        work, sizes = works.get(key), key.split()
        library = reference.get((sizes[0], *problem["cublas"])) if work and problem["cublas"] else None
        timed = {title: row[key]["seconds"] for title, row in rows.items() if key in row}
        base = timed.get(STEP)
        if library:
            print(f"{name} {key}: cuBLAS {work / library / 1e9:.0f} {problem['unit']}")
        for title, seconds in timed.items():
            own = rows[title][key]
            rate = against = ""
            if work:
                in_flops = problem["unit"].startswith("GFLOP")
                own["rate"] = work / seconds / 1e9 if in_flops else seconds * 1e9 / work
                rate = f"{own['rate']:12.4f} {problem['unit']}"
            if library:
                own["of cuBLAS"] = library / seconds
                against = f"{own['of cuBLAS']:6.2f} of cuBLAS"
            if base:
                own["speed-up"] = base / seconds
                against = f"{own['speed-up']:6.2f} times a kernel a step"
            against += f" {min(timed.values()) / seconds:5.2f} of the best"
            usage = rows[title]["usage"]
            held = "" if usage is None else f" registers {usage[0]:3} shared {usage[1]:5} spilled {usage[2]}"
            print(
                f"{name:22} {key:12} {title:28} {seconds * 1e3:10.3f} ms {rate}"
                f" {against} launches {own['launches']:5}{held}"
            )
    for title, row in rows.items():
        if row["failure"]:
            print(f"{name:22} {title:28} FAILED: {row['failure']}")
    sys.stdout.flush()
    return rows


def _goals(problems: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Print what is asked of the figures, and whether it holds."""
    model = "the model's"
    for name, rows in problems.items():
        for key in {each for row in rows.values() for each in row if isinstance(row[each], dict)}:
            timed = {title: row[key] for title, row in rows.items() if key in row}
            told = []
            if "of cuBLAS" in timed.get(model, {}):
                told.append(f"{timed[model]['of cuBLAS']:.2f} of cuBLAS (goal {GOALS.get(name, '-')})")
            gains = [row["speed-up"] for row in timed.values() if "speed-up" in row]
            if gains:
                told.append(f"best form {max(gains):.2f} times a kernel a step (goal {SPEEDUP})")
            if model in timed:
                best = min(timed, key=lambda title: timed[title]["seconds"])
                loss = timed[model]["seconds"] / timed[best]["seconds"]
                told.append(f"choice takes {loss:.2f} times the best, {best!r} (goal {CHOICE})")
            print(f"{name:22} {key:12} {'; '.join(told)}")


def _machine() -> dict[str, str]:
    def told(*command: str) -> str:
        if shutil.which(command[0]) is None:
            return ""
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        return done.stdout.strip()

    query = "--query-gpu=name,driver_version,memory.total,clocks.sm"
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "gpu": told("nvidia-smi", query, "--format=csv,noheader"),
        "gcc": told("gcc", "--version").partition("\n")[0],
        "nvcc": told("nvcc", "--version").rpartition("\n")[2],
    }


if __name__ == "__main__":
    sys.exit(main())
