"""Build a heat solver for a GPU, and run it there, or on the host where there is none.

usage: python run.py [cuda|opencl]
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import side_by_side  # noqa: E402 -- it lies beside the examples


def main() -> None:
    """Build, run, compare and show."""
    build = HERE / "build"
    backend = sys.argv[1] if len(sys.argv) > 1 else "opencl"
    flags = ("-ffp-contract=off",)
    programs = side_by_side.build_both(build, [HERE / "heat.c"], *flags, options=["--backend", backend])
    pictures = {name: program.with_suffix(".pgm") for name, program in programs.items()}
    side_by_side.compare(programs, {name: [str(path)] for name, path in pictures.items()}, rounds=1)
    before, after = (path.read_bytes() for path in pictures.values())
    side_by_side.must_agree(before == after, "temperatures")
    print("where it ran:")
    side_by_side.run(programs["polybuild"], str(pictures["polybuild"]), POLYBUILD_VERBOSE="1")
    side_by_side.Image.read(pictures["polybuild"]).write_png(build / "heat.png")
    print(f"picture: {build / 'heat.png'}")


if __name__ == "__main__":
    main()
