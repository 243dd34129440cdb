"""The benchmark's command, run as a user runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mpi_libraries import LIBRARIES

ROOT = Path(__file__).parents[2]


def benchmark(*arguments: str, name: str = "cpu") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    return subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_table_and_record(tmp_path: Path) -> None:
    record = tmp_path / "results" / "here.json"
    done = benchmark(
        *("--kernels", "gemm,jacobi-2d", "--size", "mini", "--runs", "2", "--no-peers"),
        *("--json", str(record)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2/2 transformed\n2/2 equal\n" in done.stdout
    assert "geometric mean" in done.stdout
    content = json.loads(record.read_text(encoding="utf-8"))
    assert content["machine"]["compiler"].startswith("gcc")
    assert [kernel["kernel"] for kernel in content["kernels"]] == ["gemm", "jacobi-2d"]
    for kernel in content["kernels"]:
        assert kernel["tool_seconds"] > 0
        assert all(len(column["times"]) == 2 for column in kernel["columns"].values())


def test_a_kernel_that_is_left_to_the_compiler_is_no_failure() -> None:
    done = benchmark(
        *("--kernels", "durbin", "--size", "mini", "--runs", "1", "--no-peers", "--cflags=-O2"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1/1 unchanged, as the compiler makes as much: durbin\n1/1 equal\n" in done.stdout


def test_check_compares_at_two_sizes() -> None:
    done = benchmark("--check", "--kernels", "trisolv", "--no-peers")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mini: 1/1 transformed, 1/1 equal" in done.stdout
    assert "small: 1/1 transformed, 1/1 equal" in done.stdout


def test_a_failure_is_told_in_its_place_and_ends_with_1() -> None:
    done = benchmark(
        "--kernels", "gemm", "--size", "mini", "--runs", "1", "--no-peers", "--cflags=-O1 -fno-such"
    )
    assert done.returncode == 1
    assert "gemm, original: exit 1:" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_program_that_takes_too_long_is_stopped_and_named() -> None:
    done = benchmark(
        *("--kernels", "seidel-2d", "--size", "large", "--runs", "1", "--no-peers", "--timeout", "0.05")
    )
    assert "seidel-2d, original: >0.05 s" in done.stdout


def test_an_unknown_kernel_is_refused() -> None:
    done = benchmark("--kernels", "gemm,nonesuch")
    assert done.returncode == 1
    assert "no kernel nonesuch; known are" in done.stderr


def test_overhead(tmp_path: Path) -> None:
    record = tmp_path / "overhead.json"
    done = benchmark("--runs", "1", "--json", str(record), name="overhead")
    assert done.returncode in {0, 1}, (
        done.stderr
    )  # 1: over what is promised, as may be where others work, too
    steps = json.loads(record.read_text(encoding="utf-8"))["steps"]
    assert [len(step["wrapped"]) for step in steps] == [1, 1, 1]
    found, made = (step["wrapped"][0]["processor"] for step in steps[1:])
    assert found < made


def test_ordinary_loops(tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    done = benchmark(
        *("--kernels", "grey,options", "--threads", "1", "--runs", "1", "--seconds", "0"),
        *("--output", str(table)),
        name="ordinary",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert table.read_text(encoding="utf-8") == done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("grey ", "options "))]
    assert [row[:3] for row in rows] == [
        ["options", "finance", "small"],
        ["options", "finance", "large"],
        ["grey", "images", "small"],
        ["grey", "images", "large"],
    ]
    assert all(float(row[4]) > 0 for row in rows)
    assert "gcc, 1 thr., small: geometric mean" in done.stdout


def test_an_unknown_ordinary_loop_is_refused() -> None:
    done = benchmark("--kernels", "grey,nonesuch", name="ordinary")
    assert done.returncode == 2
    assert done.stderr == "no loop or field nonesuch\n"


def test_loops_beside_other_work(tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    done = benchmark(
        *("--kernels", "factorise", "--size", "small", "--runs", "1", "--seconds", "0"),
        *("--output", str(table)),
        name="busy",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert table.read_text(encoding="utf-8") == done.stdout
    (row,) = [line.split() for line in done.stdout.splitlines() if line.startswith("factorise ")]
    assert all(float(each) > 0 for each in row[1:])
    assert "slowest: " in done.stdout


def test_candidates_of_the_model(tmp_path: Path) -> None:
    record = tmp_path / "found.jsonl"
    words = ("--kernels", "upper_case", "--size", "small", "--runs", "1", "--output", str(record))
    done = benchmark(*words, name="model")
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert [each["case"] for each in found] == ["upper_case"]
    names = [each["name"] for each in found[0]["candidates"]]
    assert names[:2] == ["original", "default"]
    assert len(names) == len(set(names)) > 2
    assert found[0]["winner"] in names
    assert "1 kernels: regret, geometric mean" in done.stdout
    again = benchmark(*words, name="model")
    assert again.stdout.splitlines()[2:] == done.stdout.splitlines()[2:]
    assert len(record.read_text(encoding="utf-8").splitlines()) == 1


def test_an_unknown_kernel_of_the_model_is_refused() -> None:
    done = benchmark("--kernels", "gemm,nonesuch", name="model")
    assert done.returncode == 2
    assert done.stderr == "nothing is called nonesuch\n"


@pytest.mark.mpi
def test_programs_agree_on_ranks() -> None:
    """Those that other tests do not run on ranks; where ranks share nothing nothing is compared."""
    chosen = ["heat", "heat-3d", "trmm", "csr", "triangle"]
    words = ("--programs", ",".join(chosen), "--ranks", "2,7", "--libraries", LIBRARIES[-1].name)
    done = benchmark(*words, name="agreement")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "all agree"
    assert {line.split()[0] for line in lines[:-1]} == {*chosen}
    assert not [line for line in lines[:-1] if " 0 of " in line]


@pytest.mark.mpi
def test_ranks_that_fail_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long enough for another rank: what that one then says is why."""
    monkeypatch.setenv("POLYBUILD_RANKS_TIMEOUT", "1e-9")
    done = benchmark("--programs", "lu", "--ranks", "7", name="agreement")
    assert done.returncode == 1
    assert re.search(r"^lu +\w+ +DIFFERS 7 ranks of 29: .*rank \d: waits for ", done.stdout, re.MULTILINE)


@pytest.mark.mpi
def test_scaling_on_paper_stands_beside_what_is_measured(tmp_path: Path) -> None:
    """Counts of ranks in turn, with results that agree; how near times are a quiet machine tells."""
    record = tmp_path / "here.json"
    words = ("--programs", "product", "--ranks", "1,2,3", "--rounds", "1", "--json", str(record))
    done = benchmark(*words, name="ranks")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(record.read_text(encoding="utf-8"))["rows"]
    assert [(each["program"], each["ranks"]) for each in rows] == [("product", each) for each in (1, 2, 3)]
    assert all(each["predicted_ms"] > 0 and each["measured_ms"] > 0 for each in rows)
    assert rows[2]["predicted_speed_up"] > rows[1]["predicted_speed_up"] > 1.0 == rows[0]["measured_speed_up"]
    assert done.stdout.count("product") == 4


_PLATE = """\
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
  int n = 300;
  double (*u)[n] = calloc(n, sizeof *u), (*v)[n] = calloc(n, sizeof *v), sum = 0;
  u[n / 2][n / 2] = 1;
  for (int t = 0; t < 100; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) u[i][j] = v[i][j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += u[i][j];
  printf("sum %.17g %s\\n", sum, sum > 0.9 ? "right" : "wrong");
  return 0;
}
"""


def _recipe(place: Path, **values: object) -> str:
    """A recipe for the plate."""
    (place / "plate").mkdir()
    (place / "plate" / "plate.c").write_text(_PLATE, encoding="utf-8")
    told: dict[str, object] = {
        "folder": "plate",
        "build": ["{cc} {cflags} plate.c -o plate"],
        "run": "./plate",
        "check": "right",
        "same": "sum (.*)",
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in (told | values).items()]
    path = place / "heat.toml"
    path.write_text("\n".join([*lines, "[marks]", '"plate.c" = [[8, 15]]', ""]), encoding="utf-8")
    return str(path)


def test_whole_programs(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = benchmark(_recipe(tmp_path), "--rounds", "1", "--keep", str(kept), name="programs")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = [line.split() for line in done.stdout.splitlines() if line.startswith("heat ")]
    assert row[2:4] == ["1", "1"]
    assert all(float(each) > 0 for each in row[1:])
    assert "geometric mean" in done.stdout
    marked = [kept / "heat" / name / "plate.c" for name in ("original", "by-hand", "by-survey")]
    assert [each.read_text(encoding="utf-8").count("#pragma scop") for each in marked] == [0, 1, 1]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"check": "splendid"}, "original, 1 threads: its check failed"),
        ({"build": ["false"]}, "exit 1"),
        ({"time": "took (.*) s"}, "heat: no time in what it printed"),
        ({"folder": "nowhere"}, "there is no folder"),
    ],
)
def test_whole_programs_that_fail_are_told(tmp_path: Path, values: dict[str, object], told: str) -> None:
    done = benchmark(_recipe(tmp_path, **values), "--rounds", "1", "--threads", "1", name="programs")
    assert done.returncode == 1
    assert told in done.stdout
    assert "Traceback" not in done.stderr
