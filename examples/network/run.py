"""Train a small network, as it is and through polybuild; build/network.png shows what it learned.

usage: python run.py [STEPS]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import side_by_side  # noqa: E402 -- it lies beside the examples


def main() -> None:
    """Build, run, compare and show."""
    build = HERE / "build"
    # The same operations on both sides: products and sums stay two of them.
    programs = side_by_side.build_both(build, [HERE / "network.c"], "-ffp-contract=off")
    side_by_side.explain(HERE / "network.c", "-ffp-contract=off")
    pictures = {name: program.with_suffix(".ppm") for name, program in programs.items()}
    printed = side_by_side.compare(
        programs, {name: [str(path), *sys.argv[1:2]] for name, path in pictures.items()}, rounds=1
    )
    losses = [re.findall(r"^loss (.*)$", text, re.MULTILINE) for text in printed.values()]
    print(f"loss from {losses[1][0]} to {losses[1][-1]}")
    side_by_side.must_agree(losses[0] == losses[1], "losses")
    side_by_side.Image.read(pictures["polybuild"]).write_png(build / "network.png")
    print(f"picture: {build / 'network.png'}")


if __name__ == "__main__":
    main()
