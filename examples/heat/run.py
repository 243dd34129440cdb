"""Build the heat solver with CMake, as it is and through polybuild, run both, and compare.

usage: python run.py [--points N] [--steps N] [--rounds N] [--build-dir DIR]

Needs CMake, a C compiler and polybuild, the last installed for the Python that runs this file.
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
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import side_by_side  # noqa: E402 -- it lies beside the examples


@dataclass(frozen=True)
class Build:
    """One of the two programs: its title, its build directory, and what CMake is told."""

    title: str
    directory: Path
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """What one run of the program printed."""

    seconds: float
    error: float


def main() -> int:
    """Build, run and report; 0 if the transformed program is right."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--points", type=int, default=2000, metavar="N", help="points per side of the plate")
    parser.add_argument("--steps", type=int, default=40, metavar="N", help="time steps")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each program, in turn")
    parser.add_argument("--build-dir", type=Path, default=HERE / "build", metavar="DIR")
    options = parser.parse_args()
    arguments = [str(options.points), str(options.steps)]

    add_scripts_to_path()
    plain = Build("as it is", options.build_dir / "plain", ("-DPOLYBUILD_DISABLE=ON",))
    transformed = Build("polybuild", options.build_dir / "polybuild", ("-DPOLYBUILD_DISABLE=OFF",))
    for build in (plain, transformed):
        make(build)
    regions = print_regions(transformed)

    runs: dict[Build, list[Run]] = {plain: [], transformed: []}
    for _ in range(options.rounds):
        for build, results in runs.items():
            results.append(run(build, arguments))
    picture = options.build_dir / "heat.ppm"
    run(transformed, [*arguments, str(picture)])
    side_by_side.Image.read(picture).write_png(picture.with_suffix(".png"))
    return report(runs[plain], runs[transformed], picture, regions)


def add_scripts_to_path() -> None:
    """Let the programs installed beside this Python (polybuild, perhaps cmake and ninja) be found."""
    scripts = Path(sys.executable).parent
    os.environ["PATH"] = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    if not shutil.which("cmake"):
        sys.exit("This example needs CMake: install it, or run 'pip install cmake ninja'.")
    if shutil.which("ninja"):
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")


def make(build: Build) -> None:
    """Configure and build with CMake; end the program if that fails."""
    asked = [sys.executable, "-m", "polybuild", "--cmakedir"]
    package = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if not package:
        sys.exit(f"This example needs polybuild: run '{sys.executable} -m pip install .' in its source tree.")
    print(f"== building {build.title}: {build.directory}", flush=True)
    configure = [
        "cmake",
        "-S",
        str(HERE),
        "-B",
        str(build.directory),
        f"-Dpolybuild_DIR={package}",
        *build.settings,
    ]
    for command in (configure, ["cmake", "--build", str(build.directory), "--config", "Release"]):
        finished = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        # CMake's own chatter helps nobody, what polybuild and the compiler say does.
        shown = finished.stdout if finished.returncode else re.sub(r"(?m)^-- .*\n?", "", finished.stdout)
        print(shown, end="", flush=True)
        if finished.returncode:
            sys.exit(f"'{' '.join(command)}' failed")


def print_regions(build: Build) -> int:
    """Say what became of each marked region; how many were transformed."""
    transformed = 0
    for file in sorted(build.directory.glob("polybuild/**/*.json")):
        for region in json.loads(file.read_text(encoding="utf-8"))["regions"]:
            transformed += region["status"] == "transformed"
            where = f"{Path(region['file']).name}:{region['line']}"
            print(f"== region at {where}: {region['status']} {region.get('message') or ''}".rstrip())
    return transformed


def run(build: Build, arguments: list[str]) -> Run:
    """Run the program once."""
    places = (build.directory / "heat", build.directory / "Release" / "heat")
    program = next(path for path in places if path.is_file())
    text = subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout
    numbers = dict(re.findall(r"^(.+): ([-+.e0-9]+)$", text, flags=re.MULTILINE))
    return Run(float(numbers["seconds"]), float(numbers["largest error"]))


def report(plain: list[Run], transformed: list[Run], picture: Path, regions: int) -> int:
    """Print times, errors and the speed-up; 0 if the results are as good as the original's."""
    before = statistics.median(run.seconds for run in plain)
    after = statistics.median(run.seconds for run in transformed)
    print(f"\n{'':12}{'seconds':>10}{'error against the formula':>28}")
    print(f"{'as it is':12}{before:10.3f}{plain[0].error:28.3e}")
    print(f"{'polybuild':12}{after:10.3f}{transformed[0].error:28.3e}")
    print(
        f"\nspeed-up: {before / after:.2f} (medians of {len(plain)} runs each, {os.cpu_count()} processors)"
    )
    print(f"picture:  {picture.with_suffix('.png')}")
    worst = max(abs(run.error - plain[0].error) for run in plain + transformed)
    if worst > 1e-9 or not plain[0].error < 1e-2:
        print("The results differ: this is a bug in polybuild, please report it.", file=sys.stderr)
        return 1
    if not regions:
        print("No region was transformed; both programs are the same.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
