"""Solve a sparse system, as it is and through polybuild; build/residual.svg shows how fast it converges.

usage: python run.py
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
    programs = side_by_side.build_both(HERE / "build", [HERE / "main.c", HERE / "solver.c"])
    side_by_side.explain(HERE / "solver.c")
    printed = side_by_side.compare(programs, dict.fromkeys(programs, ()))
    before, after = (
        [float(each) for each in re.findall(r"^residual (.*)$", text, re.MULTILINE)]
        for text in printed.values()
    )
    # Sums were allowed to be added in another order, so the last digits may differ.
    close = all(abs(one - other) <= 1e-6 * one for one, other in zip(before, after, strict=True))
    side_by_side.must_agree(close, "residuals")
    figure = HERE / "build" / "residual.svg"
    side_by_side.write_curve(figure, after, "squared residual", "step")
    print(f"figure: {figure}")


if __name__ == "__main__":
    main()
