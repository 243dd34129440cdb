"""Filter a picture, as it is and through polybuild; build/image.png shows what goes in and what comes out.

usage: python run.py [PICTURE.ppm]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import side_by_side  # noqa: E402 -- it lies beside the examples

FILTERS = ("blurred", "edges", "sharp")


def main() -> None:
    """Build, run, compare and show."""
    build = HERE / "build"
    programs = side_by_side.build_both(build, [HERE / "image.c"])
    side_by_side.explain(HERE / "image.c")
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else build / "picture.ppm"
    if len(sys.argv) == 1:
        draw(picture)
    files = {name: [build / f"{name}-{each}.ppm" for each in FILTERS] for name in programs}
    side_by_side.compare(programs, {name: [str(picture), *map(str, files[name])] for name in programs})
    before, after = ([path.read_bytes() for path in each] for each in files.values())
    side_by_side.must_agree(before == after, "pictures")
    show(picture, files["polybuild"], build / "image.png")


def draw(path: Path, width: int = 1600, height: int = 1200) -> None:
    """A picture to filter: hills under a sun, and their reflection in rippled water."""
    rows = []
    for y in range(height):
        row = bytearray()
        for x in range(width):
            horizon = 560 + 120 * math.sin(x / 170) * math.cos(x / 61)
            mirrored = y if y < 760 else 1520 - y + int(14 * math.sin(y / 5) * math.sin(x / 37 + y))
            if (x - 1150) ** 2 + (mirrored - 260) ** 2 < 90**2:
                colour = (255, 214, 92)
            elif mirrored > horizon:
                colour = (40 + (x ^ mirrored) % 64, 100 + (x * 7 ^ mirrored * 3) % 48, 60)
            else:
                colour = (90 + mirrored // 6, 140 + mirrored // 8, 235 - mirrored // 9)
            row += bytes(colour) if y < 760 else bytes(part * 3 // 4 for part in colour)
        rows.append(bytes(row))
    path.write_bytes(b"P6 %d %d 255\n" % (width, height) + b"".join(rows))


def show(picture: Path, filtered: list[Path], path: Path) -> None:
    """The picture and what was made of it, in one row."""
    whole, *others = [side_by_side.Image.read(each).smaller(5) for each in (picture, *filtered)]
    for each in others:
        whole = whole.beside(each)
    whole.write_png(path)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
