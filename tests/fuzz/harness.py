"""Transforming, building, running and comparing a batch of programs."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import devices
from .faults import NOT_PLANTED
from .program import Program
from .text import HEADER, batch_text, header_text

HERE = Path(__file__).absolute().parent
ROOT = HERE.parent.parent
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_ALWAYS = ("-w", "-ffp-contract=off", f"-I{HERE}", *devices.INCLUDE)

# Time is processor time, so that a busy machine stops nothing; what sleeps for ever is told by the clock.
_PATIENCE = 60
_STACK = 64 << 20  # bytes: programs have arrays of some megabytes there

_LAUNCHED = re.compile(r"(\d+) runs on the device")
FAULTS = {"internal", "illegal-schedule"}  # reasons to keep a region that are ours


@dataclass(frozen=True, slots=True)
class Build:
    """How to compile and run: ``backwards`` uses our threads, last one first, instead of gcc's.

    ``device`` is the backend of a device to run on, ``order`` the emulator's order of its threads; of an
    MPI program so many ``ranks`` run, arrays may stay ``distributed``.
    """

    name: str
    compiler: str = "gcc"
    flags: tuple[str, ...] = ("-O1", "-fopenmp")
    backwards: bool = False
    threads: int = 3
    device: str = ""
    order: str = "ascending"
    ranks: int = 0
    distributed: bool = False

    @property
    def link(self) -> list[str]:
        if self.device:
            return [*self.flags, str(devices.runtime()), *devices.LIBRARIES]
        if not self.backwards:
            return list(self.flags)
        flags = [each for each in self.flags if each != "-fopenmp"]
        threads = ["-DFUZZ_THREADS", "-pthread"] if "-fsanitize=thread" in flags else []
        return [*flags, *threads, str(HERE / "backwards.c")]


THREADS = Build("threads")
BACKWARDS = Build("backwards", backwards=True)
# half the compiler's time, which is most of a program's
UNOPTIMISED = Build("threads-O0", flags=("-O0", "-fopenmp"))
UNOPTIMISED_BACKWARDS = Build("backwards-O0", flags=("-O0", "-fopenmp"), backwards=True)
# the one that sees what threads should not share
RACES = Build("races", flags=("-O1", "-g", "-fopenmp", "-fsanitize=thread"), backwards=True)
OTHERS = (
    Build("O3", flags=("-O3", "-march=native", "-fopenmp")),
    Build("serial", flags=("-O2",)),
    Build("clang", "clang", ("-O1",)),
    Build("sanitized", flags=("-O1", "-g", "-fopenmp", *SANITIZERS), backwards=True),
    RACES,
)
_ORDERS = ("descending", "1", "2")  # of the emulated threads
DEVICES = {
    "cuda": [
        Build(f"cuda-{each}", flags=("-O0",), device="cuda", order=each) for each in ("descending", "1")
    ],
    "opencl": [Build("opencl", flags=("-O0",), device="opencl")],
}
RANKS = Build("ranks", "mpicc", ("-O1", "-g", "-fopenmp", *SANITIZERS), threads=1, ranks=3)
DISTRIBUTED = replace(RANKS, name="distributed", distributed=True)


def with_device(build: Build, device: str) -> Build:
    """That of an MPI program whose ranks have a device each: their libraries go without sanitizers."""
    return replace(build, name=f"{build.name}-{device}", flags=("-O1", "-fopenmp"), device=device)


ORIGINAL = Build("original", flags=("-O0",))
CHECKED = (
    Build("original checked", flags=("-O1", "-g", *SANITIZERS)),
    Build("original initialised", "clang", ("-O1", "-g", "-fsanitize=memory", "-fno-sanitize-recover=all")),
)

# With these, threads have private variables that else are declared where they are used.
PRIVATE: Mapping[str, str] = {"min-work": "0", "contract-arrays": "off"}
# Options to transform with; "min-work 0" makes small sizes run the generated code.
SETTINGS: tuple[Mapping[str, str], ...] = (
    {"min-work": "0"},
    {"min-work": "0", "tile-sizes": "2,3,5"},
    {"min-work": "0", "tile-sizes": "3,2", "fusion": "max"},
    {"min-work": "0", "tile-sizes": "5,4,3,2", "fusion": "depth"},
    {"min-work": "0", "fusion": "max"},
    {"min-work": "0", "tile": "off"},
    {"min-work": "0", "tile-sizes": "2,3,5", "schedule": "pluto"},
    {"min-work": "0", "tile-sizes": "3,2", "schedule": "pluto", "fusion": "max"},
    {"min-work": "0", "tile": "off", "schedule": "pluto", "fusion": "min"},
    {"min-work": "0", "schedule": "original"},
    {"min-work": "0", "schedule": "original", "tile": "off"},
    {"min-work": "0", "tile-sizes": "4", "parallel": "off"},
    {"min-work": "0", "tile-sizes": "3,7", "simd": "off", "fusion": "min"},
    {"min-work": "0", "tile-sizes": "4,3", "verify": "on"},
    {"min-work": "0", "tile-sizes": "3,2", "contract-arrays": "on"},
    {"min-work": "0", "contract-arrays": "on", "parallel": "off"},
    {"min-work": "0", "contract-arrays": "copies"},
    {"min-work": "0", "contract-arrays": "copies", "parallel": "off"},
    PRIVATE,
    {},
)
# Options for programs that ranks share.
SHARED: tuple[Mapping[str, str], ...] = (
    {"min-work": "0", "distribute": "mpi"},
    {"min-work": "0", "distribute": "mpi", "schedule": "original"},
    {"min-work": "0", "distribute": "mpi", "schedule": "pluto"},
    {"min-work": "0", "distribute": "mpi", "tile-sizes": "2,3,5"},
    {"min-work": "0", "distribute": "mpi", "fusion": "max"},
)
# What is only done for a compiler that optimises; the last is for wide vectors.
_OPTIMISED = ("-O2", "-O3", "-O3 -mavx2 -mfma")
# Options for programs with private variables, with which these are taken out of the way.
PRIVATES: tuple[Mapping[str, str], ...] = (
    *({"min-work": "0", "flags": each} for each in _OPTIMISED),
    {"min-work": "0", "flags": "-O3", "tile-sizes": "3,2"},
    {"min-work": "0", "flags": "-O3", "registers": "off"},
    {"min-work": "0", "flags": "-O3", "parallel": "off"},
    {"min-work": "0", "flags": "-O3", "schedule": "pluto"},
    {"min-work": "0", "flags": "-O3", "fusion": "max"},
)

# Options for updates under conditions, which are under directives of OpenMP, and in headers.
UPDATES: tuple[Mapping[str, str], ...] = (
    *({**each, "openmp": "use", "headers": "on"} for each in SETTINGS),
    *({**each, "openmp": "keep", "headers": "on"} for each in SETTINGS[:4]),
    {"min-work": "0", "openmp": "use", "headers": "on", "allow-reassociation": "off"},
)


def optimised(settings: Mapping[str, str], rng: random.Random) -> Mapping[str, str]:
    """``settings`` for a compiler that optimises, half of the time."""
    return {**settings, "flags": rng.choice(_OPTIMISED)} if rng.random() < 0.5 else settings


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong: ``wrong``, ``crash``, ``hang``, ``build``, ``tool`` or ``invalid`` (the generator)."""

    kind: str
    program: Program
    settings: Mapping[str, str]
    build: Build
    message: str = ""


SUMS = ("programs", "regions", "transformed", "runs", "originals", "kernels", "launched", "seconds")


@dataclass(slots=True)
class Outcome:
    """Counts and failures of a batch."""

    programs: int = 0
    regions: int = 0
    transformed: int = 0
    kept: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    originals: int = 0  # region runs that took the original loops
    kernels: int = 0  # regions with kernels
    launched: int = 0  # region runs on a device
    seconds: float = 0.0
    slowest: float = 0.0
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)
        for code, count in other.kept.items():
            self.kept[code] = self.kept.get(code, 0) + count
        self.failures += other.failures


def limited(command: Sequence[str], seconds: float, **more: Any) -> subprocess.CompletedProcess[str] | None:
    """Run ``command`` for at most ``seconds`` of processor time; None if that was not enough."""
    most = max(1, round(seconds))
    try:
        done = subprocess.run(
            ["prlimit", f"--cpu={most}:{most + 1}", f"--stack={_STACK}:", *command],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE * most,
            **more,
        )
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode in {-signal.SIGXCPU, 128 + signal.SIGXCPU} else done


class Harness:
    """Checks programs in a folder of its own."""

    def __init__(
        self, folder: Path, *, fault: str = "", tool_seconds: float = 40, run_seconds: float = 20
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.fault = fault
        self.tool_seconds = tool_seconds
        self.run_seconds = run_seconds
        self._objects: dict[Path, list[str]] = {}  # how each object file was made

    def check(
        self, programs: Sequence[Program], settings: Sequence[Mapping[str, str]], builds: Sequence[Build]
    ) -> Outcome:
        """Compare ``programs`` with themselves transformed under each of ``settings`` in ``builds``."""
        outcome = Outcome(programs=len(programs))
        self._objects.clear()
        source = self.folder / "original.c"
        distributed = any(each.distributed for each in builds)
        source.write_text(batch_text(programs, distributed=distributed), encoding="utf-8")
        (self.folder / HEADER).write_text(header_text(programs), encoding="utf-8")
        built = self._build(source, ORIGINAL)
        if isinstance(built, str):
            return self._apart(
                programs, settings, builds, Failure("invalid", programs[0], {}, ORIGINAL, built)
            )
        expected = self._run(built, ORIGINAL, programs, outcome)
        transformed = self._transform(source, settings, programs, outcome)
        if isinstance(transformed, str):
            kind = "hang" if transformed == "hang" else "tool"
            return self._apart(
                programs, settings, builds, Failure(kind, programs[0], settings[0], ORIGINAL, transformed)
            )
        for chosen, file in zip(settings, transformed, strict=True):
            for build in builds:
                if not self._compare(file, build, chosen, programs, expected, outcome):
                    failure = Failure("build", programs[0], chosen, build)
                    return self._apart(programs, settings, builds, failure)
        return outcome

    def invalid(self, programs: Sequence[Program]) -> list[Failure]:
        """The programs in which sanitizers find undefined behaviour: the generator's fault."""
        self._objects.clear()
        source = self.folder / "checked.c"
        source.write_text(batch_text(programs), encoding="utf-8")
        (self.folder / HEADER).write_text(header_text(programs), encoding="utf-8")
        outcome = Outcome()
        for build in filter(links, CHECKED):
            built = self._build(source, build)
            if isinstance(built, str):
                return [Failure("invalid", each, {}, build, built) for each in programs]
            self._run(built, build, programs, outcome)
        return [Failure("invalid", each.program, {}, each.build, each.message) for each in outcome.failures]

    def _apart(
        self,
        programs: Sequence[Program],
        settings: Sequence[Mapping[str, str]],
        builds: Sequence[Build],
        failure: Failure,
    ) -> Outcome:
        """What failed as a whole, program by program."""
        if len(programs) == 1:
            if len(settings) == 1 or failure.kind == "invalid":
                return Outcome(programs=1, failures=[failure])
            outcome = Outcome()
            for each in settings:
                outcome.add(self.check(programs, [each], builds))
            outcome.programs = 1
            return outcome
        outcome = Outcome()
        for program in programs:
            outcome.add(self.check([program], settings, builds))
        return outcome

    def _transform(
        self,
        source: Path,
        settings: Sequence[Mapping[str, str]],
        programs: Sequence[Program],
        outcome: Outcome,
    ) -> list[Path] | str:
        """The files made of ``source``, or why there are none; faults of single regions go to ``outcome``."""
        request, answer = self.folder / "request.json", self.folder / "answer.json"
        files = [self.folder / f"transformed{index}.c" for index in range(len(settings))]
        request.write_text(
            json.dumps(
                [
                    {"source": str(source), "output": str(file), "settings": dict(each)}
                    for file, each in zip(files, settings, strict=True)
                ]
            ),
            encoding="utf-8",
        )
        answer.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.fuzz.transform", str(request), str(answer)]
        command += [self.fault] if self.fault else []
        limit = self.tool_seconds * len(settings)
        environment = devices.to_transform() if settings[0].get("backend") == "cuda" else None
        done = limited(command, limit, cwd=ROOT, env=environment)
        if done is None:
            return "hang"
        if done.returncode == NOT_PLANTED:
            raise ValueError(done.stderr)
        if done.returncode:
            return done.stderr[-2000:] or f"ended with {done.returncode}"
        for chosen, regions in zip(settings, json.loads(answer.read_text(encoding="utf-8")), strict=True):
            for status, code, seconds, message, backend, line in regions:
                outcome.regions += 1
                outcome.seconds += seconds
                outcome.slowest = max(outcome.slowest, seconds)
                outcome.kernels += backend in DEVICES
                if status == "transformed":
                    outcome.transformed += 1
                else:
                    outcome.kept[code] = outcome.kept.get(code, 0) + 1
                    if code in FAULTS:
                        failed = _program_at(source, line, programs)
                        outcome.failures.append(
                            Failure("tool", failed, chosen, ORIGINAL, f"{code}: {message}")
                        )
        return files

    def _build(self, source: Path, build: Build) -> Path | str:
        """The program made from ``source``, or what the compiler said."""
        program = source.with_name(f"{source.stem}-{build.name.replace(' ', '-')}")
        common = [build.compiler, *_ALWAYS]
        translated = [*common, *build.flags, "-c", str(source)]
        link = [*common, str(HERE / "driver.c"), "-o", str(program)]
        commands = []
        object_file = source.with_suffix(".o")
        if self._objects.get(object_file) != translated:  # two builds may differ in their threads only
            commands.append([*translated, "-o", str(object_file)])
        self._objects[object_file] = translated
        commands.append([*link, str(object_file), *build.link])
        for command in commands:
            done = limited(command, 300)
            if done is None:
                return "the compiler takes too long"
            if done.returncode:
                return done.stderr[:2000]
        return program

    def _run(
        self,
        program: Path,
        build: Build,
        programs: Sequence[Program],
        outcome: Outcome,
        settings: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """The lines of each kernel; failures to run go to ``outcome``."""
        found: dict[str, str] = {}
        text, message = self._output(program, build, [], outcome)
        for line in text:
            name = line.split(" ", 1)[0]
            found[name] = found.get(name, "") + line + "\n"
        if not message:
            return found
        for each in programs:  # one of them ended the program
            text, message = self._output(program, build, [each.name], outcome)
            found[each.name] = "".join(f"{line}\n" for line in text)
            if message:
                kind = "hang" if message == "hang" else "crash"
                outcome.failures.append(Failure(kind, each, settings or {}, build, message))
        return found

    def _output(
        self, program: Path, build: Build, arguments: list[str], outcome: Outcome
    ) -> tuple[list[str], str]:
        around = devices.to_run(build.device, build.order) if build.device else os.environ
        environment = dict(around) | {
            "OMP_NUM_THREADS": str(build.threads),
            "OMP_WAIT_POLICY": "passive",
            "OMP_DYNAMIC": "false",
            "POLYBUILD_VERIFY": "0" if build.distributed else "1",
            "POLYBUILD_VERIFY_EXIT": "70",
            "ASAN_OPTIONS": "detect_leaks=0",
            "TSAN_OPTIONS": "halt_on_error=1 exitcode=66",
        }
        command = [str(program), *arguments]
        if "races" in build.name:
            command = ["setarch", "-R", *command]  # the thread sanitizer wants its own addresses
        if build.ranks:
            command = ["mpirun", "--oversubscribe", "-n", str(build.ranks), *command]
            environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = limited(command, self.run_seconds, env=environment)
        if done is None:
            return [], "hang"
        for line in done.stderr.splitlines():
            if found := _LAUNCHED.search(line):
                outcome.launched += int(found[1])
            if line.startswith("runs "):
                words = line.split()
                if build is not ORIGINAL:
                    outcome.runs += int(words[1])
                    outcome.originals += int(words[3])
        message = f"ended with {done.returncode}\n{done.stderr[:3000]}" if done.returncode else ""
        lines = done.stdout.splitlines()
        return _of_all_ranks(lines, build.ranks) if build.ranks else lines, message

    def _compare(  # noqa: PLR0917 -- all of them are what it compares
        self,
        file: Path,
        build: Build,
        settings: Mapping[str, str],
        programs: Sequence[Program],
        expected: Mapping[str, str],
        outcome: Outcome,
    ) -> bool:
        """Whether it could be built; differences go to ``outcome``."""
        built = self._build(file, build)
        if isinstance(built, str):
            if len(programs) > 1:
                return False
            outcome.failures.append(Failure("build", programs[0], settings, build, built))
            return True
        before = {id(each) for each in outcome.failures}
        found = self._run(built, build, programs, outcome, settings)
        failed = {each.program.name for each in outcome.failures if id(each) not in before}
        for each in programs:
            if each.name not in failed and found.get(each.name) != expected.get(each.name):
                outcome.failures.append(
                    Failure("wrong", each, settings, build, _difference(expected, found, each.name))
                )
        return True


def _of_all_ranks(lines: Sequence[str], ranks: int) -> list[str]:
    """The lines that each of ``ranks`` printed, once; others once more than they were printed."""
    counts = Counter(lines)
    return [each for line, count in counts.items() for each in [line] * (1 if count == ranks else count + 1)]


def _program_at(source: Path, line: int, programs: Sequence[Program]) -> Program:
    """The program with the region at ``line`` of ``source``."""
    above = source.read_text(encoding="utf-8").splitlines()[:line]
    heads = [each for each in above if each.startswith("static void f_")]
    return next(each for each in programs if heads[-1].startswith(f"static void f_{each.name}("))


@functools.cache
def links(build: Build) -> bool:
    """Whether this machine has what ``build`` links with: not every clang brings its sanitizers."""
    if shutil.which(build.compiler) is None:
        return False
    command = [build.compiler, *build.flags, "-x", "c", "-", "-o", "/dev/null"]
    done = subprocess.run(
        command, check=False, input="int main(void) { return 0; }", text=True, capture_output=True
    )
    return done.returncode == 0


def _difference(expected: Mapping[str, str], found: Mapping[str, str], name: str) -> str:
    """The runs that differ, as (run, overlap)."""
    good, bad = (each.get(name, "").splitlines() for each in (expected, found))
    differing = [one.rsplit(" ", 1)[0] for one, other in zip(good, bad, strict=False) if one != other]
    return "differs in " + ", ".join(differing[:12])
