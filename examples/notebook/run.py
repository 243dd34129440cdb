"""Run the cells of the notebook, one after the other, and print what they print.

usage: python run.py

Needs IPython and NumPy: pip install 'polybuild[notebook]'. With Jupyter, open mandelbrot.ipynb instead.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import side_by_side  # noqa: E402 -- it lies beside the examples


def main() -> None:
    """Run all; the program ends with an error if a cell does."""
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415 -- the example's only need

    os.environ.update(side_by_side.environment())
    sys.path.insert(0, str(side_by_side.TREE))
    shell = InteractiveShell.instance()
    for number, cell in enumerate(json.loads((HERE / "mandelbrot.ipynb").read_text("utf-8"))["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        print(f"== cell {number}", flush=True)
        done = shell.run_cell("".join(cell["source"]))
        if not done.success:
            sys.exit(f"cell {number} failed")
    draw(shell.user_ns["count"], HERE / "build" / "mandelbrot.png")


def draw(count: object, path: Path) -> None:
    """The counts of the notebook as a picture."""
    rows = count.tolist()  # type: ignore[attr-defined]  # an array
    pixels = bytes(part for row in rows for each in row for part in colour(each))
    path.parent.mkdir(exist_ok=True)
    side_by_side.Image(len(rows[0]), len(rows), pixels).write_png(path)
    print(f"picture: {path}")


def colour(steps: int) -> tuple[int, int, int]:
    """Black inside, brighter the later a point leaves."""
    return (0, 0, 0) if steps >= 60 else (min(255, 5 * steps), min(255, 9 * steps), min(255, 70 + 12 * steps))


if __name__ == "__main__":
    main()
