"""What the examples share: build a program as it is and through polybuild, run both, show what comes out.

Needs nothing but Python, gcc (or what $CC names) and polybuild, from this source tree or installed.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
import shlex
import statistics
import struct
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
COMPILER = shlex.split(os.environ.get("CC") or "gcc")
FLAGS = ("-O3", "-march=native")


@dataclass(frozen=True)
class Image:
    """Pixels of red, green and blue, row by row."""

    width: int
    height: int
    pixels: bytes

    @classmethod
    def read(cls, path: Path) -> Image:
        """A PPM (P6) or PGM (P5) without comments."""
        data = path.read_bytes()
        head = re.match(rb"(P[56])\s+(\d+)\s+(\d+)\s+255\s", data)
        if head is None:
            sys.exit(f"{path} is no picture as it is read here")
        pixels = data[head.end() :]
        if head[1] == b"P5":
            pixels = bytes(value for value in pixels for _ in range(3))
        return cls(int(head[2]), int(head[3]), pixels)

    def beside(self, other: Image) -> Image:
        """Both, one beside the other; they are equally high."""
        rows = zip(self.rows(), other.rows(), strict=True)
        return Image(self.width + other.width, self.height, b"".join(left + right for left, right in rows))

    def rows(self) -> list[bytes]:
        """The pixels of each row."""
        length = 3 * self.width
        return [self.pixels[begin : begin + length] for begin in range(0, length * self.height, length)]

    def smaller(self, by: int) -> Image:
        """Every ``by``-th pixel of every ``by``-th row."""
        rows = self.rows()[::by]
        kept = [b"".join(row[at : at + 3] for at in range(0, len(row), 3 * by)) for row in rows]
        return Image(len(kept[0]) // 3, len(kept), b"".join(kept))

    def write_png(self, path: Path) -> None:
        """Write it as PNG."""
        data = zlib.compress(b"".join(b"\0" + row for row in self.rows()), 9)
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        parts = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
        chunks = [
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
            for name, body in parts
        ]
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def write_curve(path: Path, values: Sequence[float], title: str, counted: str) -> None:
    """Draw positive ``values`` over what they are ``counted`` by, on a logarithmic scale, as SVG."""
    logarithms = [math.log10(value) for value in values]
    low, high = math.floor(min(logarithms)), math.ceil(max(logarithms))

    def down(logarithm: float) -> float:
        return 30 + 240 * (high - logarithm) / (high - low)

    points = " ".join(
        f"{60 + 420 * number / (len(values) - 1):.1f},{down(each):.1f}"
        for number, each in enumerate(logarithms)
    )
    lines = [
        f'<line x1="60" x2="480" y1="{down(each):.1f}" y2="{down(each):.1f}" stroke="#ccc"/>'
        f'<text x="52" y="{down(each) + 4:.1f}" text-anchor="end">1e{each}</text>'
        for each in range(low, high + 1, max(1, (high - low) // 6))
    ]
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="500" height="300" font-family="sans-serif"'
        ' font-size="12">'
        f'<rect width="500" height="300" fill="#fff"/><text x="60" y="18">{title}</text>{"".join(lines)}'
        '<text x="60" y="290">0</text>'
        f'<text x="270" y="290" text-anchor="middle">{counted}</text>'
        f'<text x="480" y="290" text-anchor="end">{len(values) - 1}</text>'
        f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="2"/></svg>\n',
        "utf-8",
    )


def polybuild(*words: str) -> list[str]:
    """The command ``polybuild words``; it ends the program where that could not run."""
    missing = [name for name in ("islpy", "pycparser") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"polybuild needs {' and '.join(missing)}: {sys.executable} -m pip install {TREE}")
    return [sys.executable, "-m", "polybuild", *words]


def environment(**variables: str) -> dict[str, str]:
    """The environment of commands: polybuild of this source tree unless it is installed."""
    path = os.pathsep.join(filter(None, [str(TREE), os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": path} | variables


def run(*command: str | Path, folder: Path | None = None, **variables: str) -> str:
    """What a command prints; it ends the program if it fails."""
    done = subprocess.run(
        command, cwd=folder, check=False, stdout=subprocess.PIPE, text=True, env=environment(**variables)
    )
    if done.returncode:
        sys.exit(f"'{shlex.join(map(str, command))}' failed\n{done.stdout}")
    return done.stdout


def build_both(
    folder: Path, sources: Sequence[Path], *flags: str, options: Sequence[str] = ()
) -> dict[str, Path]:
    """The program of ``sources`` in ``folder``, as it is and through polybuild."""
    folder.mkdir(exist_ok=True)
    programs = {"as it is": folder / "plain", "polybuild": folder / "transformed"}
    words = [*FLAGS, *flags, *map(str, sources), "-lm", "-o"]
    run(*COMPILER, "-Wno-unknown-pragmas", *words, programs["as it is"])
    run(*polybuild("cc", *options, "--", *COMPILER), *words, programs["polybuild"])
    return programs


def explain(source: Path, *flags: str) -> None:
    """Print a line for each region of ``source``."""
    print(run(*polybuild("explain", str(source), "--level", "1", "--", *COMPILER, *FLAGS, *flags)), end="")


def seconds_in(text: str) -> float:
    """What a program says it took, in a line ``seconds N``."""
    return float(re.findall(r"^seconds ([\d.e+-]+)$", text, re.MULTILINE)[0])


def compare(
    programs: Mapping[str, Path], arguments: Mapping[str, Sequence[str]], rounds: int = 3
) -> dict[str, str]:
    """Run the programs in turn, each with its ``arguments``; print the medians; what each printed last."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    printed = {}
    for _ in range(rounds):
        for name, program in programs.items():
            printed[name] = run(program, *arguments[name])
            times[name].append(seconds_in(printed[name]))
    tell({name: statistics.median(each) for name, each in times.items()})
    return printed


def tell(seconds: Mapping[str, float]) -> None:
    """Print a line for each time, and the ratio of the first to the last."""
    for name, each in seconds.items():
        print(f"{name:12}{each:10.4f} s")
    first, last = list(seconds.values())[0], list(seconds.values())[-1]
    print(f"{first / last:.2f} times as fast, {os.cpu_count()} processors")


def must_agree(holds: bool, what: str) -> None:
    """End the program with a message unless ``what`` agrees."""
    if not holds:
        sys.exit(f"{what} differ: this is a bug in polybuild, please report it.")
    print(f"{what} agree")
