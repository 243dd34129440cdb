"""Build the code base with its own Makefile, twice: make, and make CC="polybuild cc -- gcc".

usage: python run.py
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import side_by_side  # noqa: E402 -- it lies beside the examples


def main() -> None:
    """Build, run, compare and show."""
    build = HERE / "build"
    compilers = {
        "as it is": side_by_side.COMPILER,
        "polybuild": side_by_side.polybuild("cc", "--", *side_by_side.COMPILER),
    }
    programs = {name: make(build / name.replace(" ", "-"), command) for name, command in compilers.items()}
    side_by_side.explain(HERE / "advance.c")
    pictures = {name: program.with_suffix(".pgm") for name, program in programs.items()}
    side_by_side.compare(programs, {name: [str(path)] for name, path in pictures.items()})
    before, after = (path.read_bytes() for path in pictures.values())
    side_by_side.must_agree(before == after, "fields")
    side_by_side.Image.read(pictures["polybuild"]).smaller(2).write_png(build / "field.png")
    print(f"picture: {build / 'field.png'}")


def make(folder: Path, compiler: list[str]) -> Path:
    """The program, made in a copy of the sources."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*HERE.glob("*.[ch]"), HERE / "Makefile"]:
        shutil.copy2(path, folder)
    side_by_side.run("make", "-s", f"CC={shlex.join(compiler)}", folder=folder)
    return folder / "transport"


if __name__ == "__main__":
    main()
