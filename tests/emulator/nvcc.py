"""The stand-in for nvcc: compiles CUDA C to an image that the stand-in for libcuda.so.1 runs.

Takes the command lines that polybuild gives nvcc (``-fatbin``, ``-o``, one ``.cu`` file). The
kernels are compiled as C++, each memory access with a call of the emulator's hooks before it.

POLYBUILD_EMULATOR_KEEP names a file that gets the kernels' text.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAGIC = b"emulator"
_WITH_VALUE = {"-o", "-gencode", "-Xptxas", "-arch", "-ccbin", "-Xcompiler", "-I", "-D", "-std"}
FLAGS = ("-std=c++17", "-Og", "-g1", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing", "-fno-exceptions")
"""``-Og`` has each access once, as ``-O1`` has, in half the time; faults are told with lines alone."""


_BARRIER = re.compile(r"(?:__syncthreads|BARRIER|(cooperative_groups::this_grid\(\)\.sync))\s*\(\s*\)\s*;")
_COMPARISON = re.compile(r"\s(<|<=|>=)\s")
_ATOMIC = re.compile(r"\b(atomic(?:Add|And|Or|Xor))\s*\(")
_SHUFFLE = re.compile(r"\b(__shfl_xor_sync)\s*\(\s*0xffffffffu\s*,")
_MULTIPLY = re.compile(r"\b(polybuild_multiply(?:_pair)?)\s*\(")
_WAIT = re.compile(r"\b__pipeline_wait_prior\s*\(\s*0\s*\)\s*;")
_KINDS = {
    "barrier": _BARRIER,
    "bound": _COMPARISON,
    "atomic": _ATOMIC,
    "shuffle": _SHUFFLE,
    "multiply": _MULTIPLY,
    "wait": _WAIT,
}
_MATRICES = re.compile(r"\basm\s*\(\s*\"mma\.sync\.aligned\.m8n8k4\.row\.col\.f64[^\"]*\"\s*:([^;]*);")
"""The matrix instruction for doubles, as kernels write it: its operands follow their kinds."""
_BOUNDS = {"<": "BELOW", "<=": "UP_TO", ">=": "FROM"}
_FIRST_KERNEL = re.compile(r"__global__|\Z")


def places(text: str, kind: str) -> int:
    """How many places for a mistake of a kind (one of ``_KINDS``) the kernels have."""
    return len(_places(_without_comments(text), kind))


def with_mistakes(text: str) -> str:
    """``text`` with every mistake in it: the one that POLYBUILD_EMULATOR_MISTAKE names is made.

    barrier:n deletes the n-th barrier of a block or of all of them, bound:n shifts the bound of the n-th
    comparison by one, outwards, atomic:n makes the n-th atomic operation a plain one, shuffle:n leaves each
    thread its own value in the n-th shuffle, multiply:n leaves out the n-th matrix instruction,
    wait:n the n-th waiting for asynchronous copies; all are counted from 1.
    """
    text = _without_comments(text)
    spelled = {
        place.start(): (place, f"EMULATOR_{'MEETING' if place[1] else 'BARRIER'}({number});")
        for number, place in _numbered(text, "barrier")
    }
    spelled |= {
        place.start(): (place, f" EMULATOR_{_BOUNDS[place[1]]}({number}) ")
        for number, place in _numbered(text, "bound")
    }
    spelled |= {
        place.start(): (place, f"EMULATOR_ATOMIC({number}, {place[1]}, ")
        for number, place in _numbered(text, "atomic")
    }
    spelled |= {
        place.start(): (place, f"EMULATOR_SHUFFLE({number}, {place[1]}, ")
        for number, place in _numbered(text, "shuffle")
    }
    spelled |= {
        place.start(): (place, f"EMULATOR_MULTIPLY({number}, {place[1]}, ")
        for number, place in _numbered(text, "multiply")
    }
    spelled |= {
        place.start(): (place, f"EMULATOR_WAIT({number});") for number, place in _numbered(text, "wait")
    }
    parts, end = [], 0
    for start, (place, spelling) in sorted(spelled.items()):
        parts += [text[end:start], spelling]
        end = place.end()
    return "".join([*parts, text[end:]])


def _numbered(text: str, kind: str) -> enumerate[re.Match[str]]:
    return enumerate(_places(text, kind), 1)


def _places(text: str, kind: str) -> list[re.Match[str]]:
    """Where a mistake can be made, in the kernels: what comes before helps them to find the least of two."""
    first = _FIRST_KERNEL.search(text)
    assert first
    return list(_KINDS[kind].finditer(text, first.start()))


def _operands(text: str) -> str:
    """The operands of an instruction as arguments of a function."""
    return re.sub(r'"[^"]*"\s*', "", text).replace(":", ",")


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def main() -> int:
    """Compile the file of the command line; the exit code."""
    sources, output, kept = [], "", []
    words = iter(sys.argv[1:])
    for word in words:
        value = next(words) if word in _WITH_VALUE else ""
        if word == "-o":
            output = value
        elif word in {"-I", "-D"}:
            kept.append(word + value)
        elif word.startswith(("-I", "-D")):
            kept.append(word)
        elif not word.startswith("-"):
            sources.append(word)
    if len(sources) != 1 or not output:
        sys.stderr.write("nvcc: error: the stand-in takes one file and -o\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="polybuild-emulator-") as folder:
        source = Path(folder, Path(sources[0]).name)
        text = Path(sources[0]).read_text()
        if keep := os.environ.get("POLYBUILD_EMULATOR_KEEP"):
            Path(keep).write_text(text)
        source.write_text(text)
        return compile_image(source, Path(output), kept, Path(folder))


def compile_image(source: Path, output: Path, flags: list[str], folder: Path) -> int:
    """Make the image ``output`` of the CUDA C file ``source``; the exit code."""
    compiler = os.environ.get("POLYBUILD_EMULATOR_CXX", "g++")
    include = ["-include", str(HERE / "cuda_emulator.h"), "-I", str(HERE / "include")]
    expanded = subprocess.run(
        [compiler, *FLAGS, *include, *flags, "-E", "-x", "c++", str(source)],
        check=False,
        capture_output=True,
        text=True,
    )
    if expanded.returncode:
        sys.stderr.write(expanded.stderr)
        return expanded.returncode
    kernels = re.findall(
        r"__global__\s+void\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*\(", expanded.stdout
    )
    text = _MATRICES.sub(lambda found: f"emulator_multiply({_operands(found[1])};", expanded.stdout)
    text = re.sub(r"\b__global__\b", "__attribute__((noinline))", text)
    text += "".join(
        f'\nextern "C" void emulator_call_{name}(void **values) {{ emulator::call({name}, values); }}'
        f'\nextern "C" unsigned emulator_sizes_{name}(std::size_t *found)'
        f" {{ return emulator::sizes({name}, found); }}"
        for name in kernels
    )
    unit, assembly, library = folder / "kernels.ii", folder / "kernels.s", folder / "kernels.so"
    unit.write_text(text + "\n")
    runtime = os.environ["POLYBUILD_EMULATOR_LIBRARY"]
    instrumented = [
        *FLAGS,
        "-fsanitize=thread,bounds",
        "-x",
        "c++-cpp-output",
        "-S",
        str(unit),
        "-o",
        str(assembly),
    ]
    linked = [
        *FLAGS,
        "-shared",
        "-o",
        str(library),
        str(assembly),
        str(HERE / "src" / "shared_bounds.cpp"),
        runtime,
    ]
    for step in (instrumented, linked):
        done = subprocess.run([compiler, *step], check=False, capture_output=True, text=True)
        if done.returncode:
            sys.stderr.write(done.stderr)
            return done.returncode
        if step is instrumented:  # a program under test may have a libtsan of its own
            renamed = re.sub(r"__(tsan|ubsan_handle)_", "emulator_", assembly.read_text())
            assembly.write_text(renamed)
    data = library.read_bytes()
    output.write_bytes(MAGIC + struct.pack("<Q", len(data)) + data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
