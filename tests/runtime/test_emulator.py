"""The emulator sees mistakes: each of these programs is wrong on purpose."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from client_programs import HERE, Client

from tests.emulator.nvcc import places, with_mistakes
from tests.emulator.stand_ins import FAULT, LEAK, ORDERS, StandIns

SCENARIOS = ("twice", "interior", "heat", "turn", "short")
TWICE = "b[i - b_first] = 2 * a[i - a_first];"
MAPPED = "POLYBUILD_INOUT);\n        const long a_first = polybuild_first(ab);"
READ = "part[63 - THREAD(0)]"
UPDATE_AND_READ = """{
        atomicAdd((unsigned *)&a[(i * n + j) * n + k - a_first], 1u);
        if (k < n - 2 && a[(i * n + j) * n + k + 1 - a_first] < 0)
            return;
    }"""
BYTES = "((char *)&b[i - b_first])"
TURN = "part[THREAD(0)] = a[INDEX(0) - a_first];"


def run_all_orders(client: Client, stand_ins: StandIns, *scenarios: str) -> list[tuple[int, str]]:
    found = []
    for order in ORDERS:
        done = client.run(*scenarios, environment=stand_ins.environment(order=order))
        found.append((done.returncode, done.stderr))
    return found


@pytest.mark.parametrize(
    ("old", "new", "scenario", "message"),
    [
        ("BARRIER();", ";", "turn", "reads the byte at"),
        (READ, f"{READ}; if (THREAD(0) < 7) BARRIER()", "turn", "barrier that 57 others do not reach"),
        (READ, "part[64 - THREAD(0)]", "turn", "the subscript 64 is beyond its array"),
        (TURN, f"if (THREAD(0)) {TURN}", "turn", "which nobody wrote before"),
        ("t[INDEX(0) - t_first]", "t[THREAD(0) - t_first]", "turn", "of another block wrote"),
        ("b[i - b_first] = 2", "b[i] = 2", "twice", "array of"),
        (TWICE, "b[i - b_first] = i;", "twice", ""),
        (TWICE, "*(double *)((char *)&b[i - b_first] - (i == first + 9 ? 4 : 0)) = 1;", "twice", "aligned"),
        ("+= 1;", "+= a[(i * n + j) * n + k + 1 - a_first];", "interior", "reads"),
        (TWICE, f"{{ {TWICE} {BYTES}[i % 2 ? -1 : 7] = 1; }}", "twice", "writes the byte at"),
        (TWICE, f"{{ {TWICE} {BYTES}[7] = 0; }}", "twice", ""),
        (TWICE, "atomicAdd((unsigned *)&b[i - b_first], 1u);", "twice", "updates the byte at"),
        ("a[(i * n + j) * n + k - a_first] += 1", UPDATE_AND_READ, "interior", "the byte at"),
        ("2 * a[i - a_first]", "*(double *)16", "twice", "which is no memory of the device"),
    ],
)  # fmt: skip
def test_a_kernel_that_is_wrong_is_caught_in_every_order(
    compile_client: Callable[..., Client],
    stand_ins: StandIns,
    *,
    old: str,
    new: str,
    scenario: str,
    message: str,
) -> None:
    text = (HERE / "kernels.cu").read_text()
    assert old in text
    wrong = compile_client(source=text.replace(old, new, 1))
    for code, told in run_all_orders(wrong, stand_ins, scenario):
        assert code == (FAULT if message else 1), told
        assert message in told
        assert not message or f"kernel {scenario}, block (" in told


def test_every_deleted_barrier_and_shifted_bound_is_caught(
    compile_client: Callable[..., Client], stand_ins: StandIns
) -> None:
    text = (HERE / "kernels.cu").read_text()
    assert (places(text, "barrier"), places(text, "bound")) == (1, 5)
    made = compile_client(source=with_mistakes(text))
    assert made.run(*SCENARIOS, environment=stand_ins.environment()).returncode == 0
    for mistake in ("barrier:1", *(f"bound:{number}" for number in range(1, 6))):
        environment = stand_ins.environment(POLYBUILD_EMULATOR_MISTAKE=mistake)
        assert made.run(*SCENARIOS, environment=environment).returncode == FAULT, mistake


def test_every_dropped_transfer_is_caught(client: Client, stand_ins: StandIns) -> None:
    copies = stand_ins.report([str(client.program), *SCENARIOS])["copies"]
    number = copies["in"][0] + copies["out"][0]
    assert number > 60
    for copy in range(1, number + 1):
        done = client.run(*SCENARIOS, environment=stand_ins.environment(drop=copy))
        assert done.returncode in {1, FAULT}, f"copy {copy}"


@pytest.mark.parametrize(
    ("old", "new", "scenario"),
    [
        ("a_box = flat(a + first, bytes)", "a_box = flat(a + first + 1, bytes - 8)", "twice"),
        ("a_box = flat(a + first, bytes)", "a_box = flat(a + first, bytes - 8)", "twice"),
        ("b_box = flat(b + first, bytes)", "b_box = flat(b + first, bytes - 8)", "twice"),
        ("b_box = flat(b + first, bytes)", "b_box = flat(b + first - 1, bytes + 8)", "twice"),
        (MAPPED, MAPPED.replace("INOUT", "OUT"), "interior"),
    ],
)  # fmt: skip
def test_a_wrong_map_is_caught(
    compile_client: Callable[..., Client], stand_ins: StandIns, *, old: str, new: str, scenario: str
) -> None:
    text = (HERE / "client.c").read_text()
    assert text.count(old) == 1
    wrong = compile_client(client=text.replace(old, new))
    assert [found for found, _ in run_all_orders(wrong, stand_ins, scenario)] == [FAULT] * len(ORDERS)


def test_what_is_not_given_back_is_seen(stand_ins: StandIns, tmp_path: Path) -> None:
    text = """
    #include <stddef.h>
    int cuInit(unsigned); int cuDevicePrimaryCtxRetain(void **, int); int cuDevicePrimaryCtxRelease_v2(int);
    int cuCtxPushCurrent_v2(void *); int cuMemAlloc_v2(unsigned long long *, size_t);
    int cuMemFree_v2(unsigned long long);
    int main(int count, char **names) {
        void *context; unsigned long long memory;
        cuInit(0); cuDevicePrimaryCtxRetain(&context, 0); cuCtxPushCurrent_v2(context);
        cuMemAlloc_v2(&memory, 100);
        if (count > 1 && names[1][0] == 'f') cuMemFree_v2(memory);
        if (count > 1 && names[1][0] == 'r') return *(volatile char *)memory;
        return cuDevicePrimaryCtxRelease_v2(0);
    }
    """
    (tmp_path / "leak.c").write_text(text)
    library = f"{stand_ins.folder}/libcuda.so.1"
    subprocess.run(["gcc", str(tmp_path / "leak.c"), "-o", str(tmp_path / "leak"), library], check=True)
    for argument, code in (("", LEAK), ("f", 0), ("r", -signal.SIGSEGV)):
        command = [str(tmp_path / "leak"), argument]
        assert subprocess.run(command, env=stand_ins.environment(), check=False).returncode == code


@pytest.mark.parametrize(
    ("source", "reads", "banks"),
    [
        (READ, 8, 1),
        ("part[(2 * THREAD(0)) % 64 + THREAD(0) / 32]", 8, 2),
        ("part[(16 * THREAD(0)) % 64 + THREAD(0) / 4]", 8, 4),
    ],
)
def test_sectors_and_wavefronts_are_those_of_the_hardware(
    compile_client: Callable[..., Client], stand_ins: StandIns, source: str, reads: int, banks: int
) -> None:
    """32 doubles side by side are 8 sectors; a half warp at stride s passes over the banks s times."""
    text = (HERE / "kernels.cu").read_text().replace(READ, source)
    unchecked = (HERE / "client.c").read_text().replace('wrong("turn", i);', "break;")
    program = compile_client(source=text, client=unchecked)
    found = stand_ins.report([str(program.program), "turn"])["kernels"]["turn"]
    requests = found["global_reads"]["requests"]
    assert found["global_reads"]["sectors"] == reads * requests
    assert found["shared_reads"]["wavefronts"] == 2 * banks * found["shared_reads"]["requests"]
    assert found["shared_reads"]["ideal"] == 2 * found["shared_reads"]["requests"]
