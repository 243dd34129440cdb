"""The runtime under a program written by hand, with the emulated driver, with OpenCL and with none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from client_programs import HERE, Client

from tests.emulator.stand_ins import ORDERS, StandIns

ALL = ("twice", "large", "interior", "heat", "resident", "touched", "turn", "parts", "threads")
SHORT = ("twice", "interior", "turn", "heat")


def counts(output: str) -> list[dict[str, int]]:
    """What the program printed after each scenario: totals so far."""
    return [
        {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", line)} for line in output.splitlines()
    ]


@pytest.mark.fast(order=["ascending"])
@pytest.mark.parametrize("order", ORDERS)
def test_every_scenario_runs_on_the_device(client: Client, stand_ins: StandIns, order: str) -> None:
    done = client.run(*ALL, environment=stand_ins.environment(order=order))
    assert (done.returncode, done.stderr) == (0, "")
    last = counts(done.stdout)[-1]
    assert last["device"] > 1500
    assert last["host"] == last["failures"] == 0


@pytest.mark.fast
def test_every_scenario_runs_with_hip(client: Client, stand_ins: StandIns) -> None:
    """The same text of the runtime, on another library; kernels are compiled when the program runs."""
    environment = stand_ins.environment(backend="hip", order="descending", POLYBUILD_VERBOSE="1")
    done = client.run(*ALL, environment=environment)
    assert done.returncode == 0, done.stderr
    assert "polybuild: hip: emulated device" in done.stderr
    last = counts(done.stdout)[-1]
    assert last["device"] > 1500
    assert last["host"] == last["failures"] == 0


def test_whatever_call_of_hip_fails_the_result_is_right(client: Client, stand_ins: StandIns) -> None:
    calls = stand_ins.report([str(client.program), *SHORT], backend="hip")["calls"]
    took_over = 0
    for number in range(1, calls + 1, 11):
        environment = stand_ins.environment(backend="hip", fail=str(number))
        done = client.run(*SHORT, environment=environment)
        assert done.returncode == 0, f"call {number}: {done.stderr}"
        took_over += counts(done.stdout)[-1]["host"] > 0
    assert took_over > calls // 40


def test_hip_without_its_compiler_runs_on_the_host(
    client: Client, stand_ins: StandIns, tmp_path: Path
) -> None:
    """In version 7 the compiler is in a library of its own alone."""
    (tmp_path / "libamdhip64.so.7").symlink_to(stand_ins.folder / "hip" / "libamdhip64.so.6")
    environment = {**stand_ins.environment(backend="hip"), "LD_LIBRARY_PATH": str(tmp_path)}
    done = client.run("twice", environment=environment)
    assert done.returncode == 0, done.stderr
    assert "hip: the kernels cannot be loaded: " in done.stderr
    assert counts(done.stdout)[-1]["device"] == 0


def test_kernels_that_hip_does_not_take_leave_the_region_on_the_host(
    compile_client: Callable[..., Client], stand_ins: StandIns
) -> None:
    """What the compiler said is told to those who ask."""
    program = compile_client(hip="no kernel")
    for verbose in ("0", "1"):
        environment = stand_ins.environment(backend="hip", POLYBUILD_VERBOSE=verbose)
        done = program.run("twice", environment=environment)
        assert done.returncode == 0, done.stderr
        assert "hip: the kernels cannot be loaded: device kernel image is invalid" in done.stderr
        assert ("error: " in done.stderr) == (verbose == "1")


def test_each_thread_has_a_stream_of_its_own(memories: Client, stand_ins: StandIns) -> None:
    """Arrays that they share, and memory that goes from one to another, are used in order."""
    for kept in ("0", "1"):
        for _ in range(3):
            environment = stand_ins.environment(POLYBUILD_DEVICE_CACHE=kept)
            done = memories.run("streams", environment=environment)
            assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.fast
@pytest.mark.parametrize("forgotten", ["", "1", "2"])
def test_streams_of_others_are_waited_for_and_wait(
    memories: Client, stand_ins: StandIns, forgotten: str
) -> None:
    """Before and after: without one of the two the emulator sees that an array is used too early."""
    environment = stand_ins.environment(POLYBUILD_EMULATOR_UNORDERED=forgotten)
    done = memories.run("stream", environment=environment)
    assert done.returncode == (97 if forgotten else 0), done.stderr
    assert ("while another stream may still write" in done.stderr) == bool(forgotten)


def test_a_device_that_reads_the_hosts_memory_gets_few_copies(client: Client, stand_ins: StandIns) -> None:
    """What goes one way is used where it is; what is read and written has a copy, for the host's version."""
    scenarios = ("twice", "large", "interior")
    usual, direct = (
        counts(client.run(*scenarios, environment=stand_ins.environment(**settings)).stdout)
        for settings in ({}, {"POLYBUILD_EMULATOR_READS_HOST": "1"})
    )
    assert [(each["in"], each["out"]) for each in usual] == [(1, 1), (2, 2), (3, 3)]
    assert [(each["in"], each["out"]) for each in direct] == [(0, 0), (0, 0), (1, 1)]
    assert all(each["host"] == 0 for each in direct)


def test_a_device_that_reads_the_hosts_memory_may_fail(client: Client, stand_ins: StandIns) -> None:
    calls = stand_ins.report([str(client.program), *SHORT], POLYBUILD_EMULATOR_READS_HOST="1")["calls"]
    for number in range(1, calls + 1, 7):
        settings = {"POLYBUILD_EMULATOR_READS_HOST": "1", "fail": f"{number}+"}
        done = client.run(*SHORT, environment=stand_ins.environment(**settings))
        assert done.returncode == 0, f"call {number}: {done.stderr}"


def test_memory_kept_between_regions_changes_nothing(client: Client, stand_ins: StandIns) -> None:
    done = client.run(*ALL, environment=stand_ins.environment(POLYBUILD_DEVICE_CACHE="1"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("limits", "allocations"),
    [
        ({}, 2),
        ({"POLYBUILD_DEVICE_MEMORY": "20"}, 2),
        ({"POLYBUILD_DEVICE_MEMORY": "8"}, 3),
        ({"POLYBUILD_DEVICE_MEMORY": "1"}, 4),
        ({"POLYBUILD_EMULATOR_MEMORY": "20000000"}, 4),
    ],
)
def test_memory_that_is_kept_has_a_limit(
    client: Client, stand_ins: StandIns, *, limits: dict[str, str], allocations: int
) -> None:
    """Two arrays of 5.6 MB, twice: others want some of the device's memory, too."""
    command = [str(client.program), "large", "large"]
    report = stand_ins.report(command, POLYBUILD_DEVICE_CACHE="1", **limits)
    assert report["allocations"] == allocations


def test_a_run_of_bytes_is_copied_as_one(client: Client, stand_ins: StandIns) -> None:
    """A copy of rows needs a pitch, which one run has none of."""
    assert stand_ins.report([str(client.program), "twice", "large"])["rectangles"] == 0
    assert stand_ins.report([str(client.program), "interior"])["rectangles"] > 0


@pytest.mark.parametrize(
    ("instances", "serial", "launches", "travelling", "blocks", "where"),
    [
        (1e8, 0, 1, 8, 10**6, "device"),
        (1e8, 0, 1e6, 8, 10**6, "host"),
        (1e8, 1e8, 1, 8, 10**6, "host"),
        (1e8, 0, 1, 10**11, 10**6, "host"),
        (1e8, 0, 1, 8, 1, "host"),
    ],
)
def test_what_a_run_costs(
    estimates: Client,
    stand_ins: StandIns,
    *,
    instances: float,
    serial: float,
    launches: float,
    travelling: int,
    blocks: int,
    where: str,
) -> None:
    """Launches, what one thread does alone, arrays that travel and blocks count, whatever else is there."""
    work = (instances, serial, launches, travelling, blocks)
    done = estimates.run(*map(str, work), environment=stand_ins.environment(POLYBUILD_BACKEND="auto"))
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, where, "")


@pytest.mark.parametrize(
    ("scenario", "device"), [("pinned", "0"), ("own", "0"), ("foreign", "0"), ("second", "1")]
)
def test_memory_that_cuda_knows_of(memories: Client, stand_ins: StandIns, scenario: str, device: str) -> None:
    """Of two devices, the one that is named."""
    settings = {"POLYBUILD_EMULATOR_DEVICES": "2", "POLYBUILD_DEVICE": device}
    done = memories.run(scenario, environment=stand_ins.environment(**settings))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="session")
def library(compile_client: Callable[..., Client]) -> Path:
    """A library with a region and a runtime of its own, which keeps its names to itself."""
    regions = (HERE / "client.c").read_text()
    text = f"""#define main unused
{regions}
void library_twice(const double *a, double *b, long first, long last);
void library_twice(const double *a, double *b, long first, long last) {{ twice(a, b, first, last); }}
"""
    return compile_client("gcc", "-fPIC", "-shared", "-Wl,-Bsymbolic", client=text).program


def test_a_program_and_a_library_have_one_runtime(
    memories: Client, stand_ins: StandIns, library: Path
) -> None:
    """Although it is linked into each: where the values of an array are is known to both."""
    environment = stand_ins.environment(POLYBUILD_VERBOSE="1")
    done = memories.run("library", str(library), environment=environment)
    assert done.returncode == 0
    assert done.stderr.count("1 runs on the device") == 2


TWO_LIBRARIES = """
import ctypes, sys
one, other = map(ctypes.CDLL, sys.argv[1:])
a, b, c = ((ctypes.c_double * 100)(*range(100)) for _ in range(3))
for library in (one, other):
    library.library_twice.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
one.polybuild_resident(b, ctypes.c_size_t(800))
one.library_twice(a, b, 0, 100)
other.library_twice(b, c, 0, 100)
other.polybuild_release(b)
sys.exit(list(b) != list(range(0, 200, 2)) or list(c) != list(range(0, 400, 4)))
"""


def test_two_libraries_of_a_program_without_have_one_runtime(
    stand_ins: StandIns, library: Path, tmp_path: Path
) -> None:
    other = shutil.copy(library, tmp_path / "other.so")
    command = [sys.executable, "-c", TWO_LIBRARIES, str(library), str(other)]
    done = subprocess.run(
        command, env=stand_ins.environment(), check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_solver_copies_each_resident_array_once_in_and_once_out(
    client: Client, stand_ins: StandIns
) -> None:
    """1,000 steps on two arrays, without the driver's word for it and with."""
    done = client.run("resident", environment=stand_ins.environment())
    (counted,) = counts(done.stdout)
    assert counted == {"device": 1000, "host": 0, "failures": 0, "launches": 1000, "in": 2, "out": 2}
    reported = stand_ins.report([str(client.program), "resident"])
    assert (reported["copies"]["in"][0], reported["copies"]["out"][0]) == (2, 2)
    without = counts(client.run("heat", environment=stand_ins.environment()).stdout)
    assert without[0]["in"] == without[0]["out"] == without[0]["device"] == 10


@pytest.mark.fast(backend=["auto"])
@pytest.mark.parametrize("backend", ["host", "openmp", "cuda", "hip", "opencl", "auto", "nonsense", ""])
def test_without_a_driver_the_host_runs(client: Client, backend: str) -> None:
    environment = {**os.environ, "POLYBUILD_BACKEND": backend, "OCL_ICD_VENDORS": "/nowhere"}
    done = client.run("twice", "turn", "short", environment=environment)
    assert done.returncode == 0, done.stderr
    assert counts(done.stdout)[-1]["device"] == 0
    assert counts(done.stdout)[-1]["host"] == 8
    expected = {
        "cuda": "runs on the host: there is no libcuda.so.1",
        "hip": "runs on the host: there is no libamdhip64.so",
        "nonsense": "not 'nonsense'",
    }
    if backend in expected:
        assert expected[backend] in done.stderr
    elif backend != "opencl":
        assert not done.stderr


def test_no_call_is_answered_with_an_error(client: Client, stand_ins: StandIns) -> None:
    """Users who look for mistakes of theirs with compute-sanitizer would be told about it."""
    for program in ([*SHORT], ["wide"], ["resident"]):
        assert stand_ins.report([str(client.program), *program])["errors"] == 0


@pytest.mark.parametrize("beyond", ["", "+"])
def test_whatever_call_of_the_driver_fails_the_result_is_right(
    client: Client, stand_ins: StandIns, beyond: str
) -> None:
    """The program checks its results; the host versions take over from untouched data."""
    calls = stand_ins.report([str(client.program), *SHORT])["calls"]
    assert calls > 150
    took_over = 0
    for number in range(1, calls + 1, 3 if beyond else 1):
        done = client.run(*SHORT, environment=stand_ins.environment(fail=f"{number}{beyond}"))
        assert done.returncode == 0, f"call {number}: {done.stderr}"
        took_over += counts(done.stdout)[-1]["host"] > 0
    assert took_over > calls // (6 if beyond else 3)


def test_a_failing_copy_in_pieces_leaves_the_array_as_it_was(client: Client, stand_ins: StandIns) -> None:
    calls = stand_ins.report([str(client.program), "wide"])["calls"]
    for number in range(12, calls, 60):
        done = client.run("wide", environment=stand_ins.environment(fail=str(number)))
        assert done.returncode == 0, f"call {number}: {done.stderr}"


def test_values_that_are_lost_with_the_device_end_the_program(client: Client, stand_ins: StandIns) -> None:
    """A resident array may exist there alone: then nothing wrong may come out."""
    calls = stand_ins.report([str(client.program), "short"])["calls"]
    ended = 0
    for number in range(1, calls + 1, 2):
        for beyond in ("", "+"):
            done = client.run("short", environment=stand_ins.environment(fail=f"{number}{beyond}"))
            if done.returncode < 0:
                assert "the program cannot go on" in done.stderr
                ended += 1
            else:
                assert done.returncode == 0, f"call {number}{beyond}: {done.stderr}"
    assert 0 < ended < calls


def test_a_module_of_another_version_runs_on_the_host(
    compile_client: Callable[..., Client], stand_ins: StandIns
) -> None:
    text = (
        "#include <polybuild_device.h>\n#undef POLYBUILD_DEVICE_VERSION\n#define POLYBUILD_DEVICE_VERSION 0\n"
    )
    other = compile_client(client=text + (HERE / "client.c").read_text())
    done = other.run("twice", environment=stand_ins.environment())
    assert done.returncode == 0
    assert "another version" in done.stderr
    assert counts(done.stdout)[0]["host"] == 1


def test_what_is_told(client: Client, stand_ins: StandIns) -> None:
    done = client.run("turn", "short", environment=stand_ins.environment(POLYBUILD_VERBOSE="2"))
    assert "polybuild: cuda: emulated device" in done.stderr
    assert re.search(r"client.c:4: cuda: 3 kernels \d.*ms, in 0.003 MB .* out 0.003 MB", done.stderr)
    assert re.search(r"client.c:3: 6 runs on the device, .*: 6 kernels .*, 2 arrays in", done.stderr)
    assert "resident arrays, outside of regions: 0 in (0.000 MB), 2 out" in done.stderr


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"POLYBUILD_DEVICE": "7"}, "no device as POLYBUILD_DEVICE names it"),
        ({"POLYBUILD_DEVICE": "Quantum"}, "no device as POLYBUILD_DEVICE names it"),
        ({"POLYBUILD_DEVICE": "emulated"}, ""),
        ({"POLYBUILD_DEVICE": "0"}, ""),
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "5"}, ""),
    ],
)
def test_which_device(client: Client, stand_ins: StandIns, variables: dict[str, str], why: str) -> None:
    done = client.run("twice", environment=stand_ins.environment(**variables))
    assert done.returncode == 0
    assert why in done.stderr if why else not done.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.links("-fsanitize={sanitizer}")
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_sanitizers(
    compile_client: Callable[..., Client], stand_ins: StandIns, compiler: str, sanitizer: str
) -> None:
    """The emulated driver is not instrumented, and loads code: its own memory is not looked at."""
    checked = compile_client(compiler, f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all")
    environment = stand_ins.environment(
        ASAN_OPTIONS="detect_leaks=1:verify_asan_link_order=0",
        TSAN_OPTIONS="halt_on_error=1",
        LSAN_OPTIONS="suppressions=/dev/null",
    )
    for settings in ({}, {"POLYBUILD_EMULATOR_FAIL": "60"}, {"POLYBUILD_BACKEND": "host"}):
        done = checked.run(
            "twice", "interior", "turn", "parts", "short", "threads", environment=environment | settings
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.fast
@pytest.mark.opencl
def test_opencl(client: Client) -> None:
    done = client.run(*ALL, environment={**os.environ, "POLYBUILD_BACKEND": "opencl"})
    assert (done.returncode, done.stderr) == (0, "")
    assert counts(done.stdout)[-1]["host"] == 0


@pytest.mark.opencl
def test_in_auto_a_processor_with_opencl_is_no_device(client: Client) -> None:
    done = client.run("twice", environment={**os.environ, "POLYBUILD_VERBOSE": "1"})
    assert done.returncode == 0
    assert counts(done.stdout)[-1]["host"] == 1


@pytest.mark.oclgrind
@pytest.mark.opencl
def test_oclgrind_finds_a_race_where_there_is_one_and_no_other(
    client: Client, compile_client: Callable[..., Client], tmp_path: Path
) -> None:
    """It is found as a driver by the ordinary loader; copies of rectangles are beyond its other checks."""
    (tmp_path / "oclgrind.icd").write_text(f"{next(Path('/usr').glob('lib*/**/liboclgrind-rt-icd.so'))}\n")
    settings = {"OCL_ICD_VENDORS": str(tmp_path), "OCLGRIND_DATA_RACES": "1", "POLYBUILD_BACKEND": "opencl"}
    right = client.run("turn", "twice", "heat", environment={**os.environ, **settings})
    assert (right.returncode, counts(right.stdout)[-1]["host"]) == (0, 0)
    assert "race" not in right.stderr
    without = compile_client(source=(HERE / "kernels.cu").read_text().replace("BARRIER();", ";", 1))
    assert "data race" in without.run("turn", environment={**os.environ, **settings}).stderr
