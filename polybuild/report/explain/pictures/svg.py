"""The little of SVG that the pictures need; colours follow the reader's light or dark mode."""

from __future__ import annotations

import re
from functools import partial
from xml.etree import ElementTree as ET

# Light and dark, in colours that colour-blind readers can tell apart (after Okabe and Ito).
_COLOURS = {
    "ink": ("#1f2328", "#e6edf3"),
    "faint": ("#6e7781", "#8b949e"),
    "line": ("#d0d7de", "#3d444d"),
    "paper": ("#ffffff", "#0d1117"),
    "flow": ("#0072b2", "#58a6ff"),
    "anti": ("#b5651d", "#e0963f"),
    "read": ("#cfe5f5", "#1d3f5e"),
    "write": ("#f6d9b8", "#5e3f17"),
    "both": ("#cdeccf", "#1f5130"),
    "fourth": ("#ecd3ea", "#53294f"),
}
_RULES = """\
text{font:13px system-ui,sans-serif;fill:ink}
.code{font-family:ui-monospace,monospace;font-size:12px}
.faint{fill:faint}
.middle{text-anchor:middle}
.right{text-anchor:end}
.paper{fill:paper}
.axis{stroke:faint}
.box{fill:none;stroke:faint}
.strong{fill:none;stroke:ink;stroke-width:2}
.point{fill:ink}
.other{fill:paper;stroke:ink;stroke-width:1.5}
.flow{stroke:flow;fill:flow}
.anti{stroke:anti;fill:anti;stroke-dasharray:4 2}
path.flow{fill:none}
path.anti{fill:none}
.read{fill:read;stroke:line}
.write{fill:write;stroke:line}
.both{fill:both;stroke:line}
.tile0{fill:read;stroke:line}
.tile1{fill:write;stroke:line}
.tile2{fill:both;stroke:line}
.tile3{fill:fourth;stroke:line}
.empty{fill:none;stroke:line}
"""


def style() -> str:
    """The style sheet of a picture, with no variables, as not every viewer knows them."""
    light, dark = (
        "".join(f"svg {_WORD.sub(partial(_colour, mode), rule)}\n" for rule in _RULES.splitlines())
        for mode in (0, 1)
    )
    return f"\n{light}@media(prefers-color-scheme:dark){{\n{dark}}}\n"


_WORD = re.compile(r"(?<=:)[a-z]+(?=[;}])")


def _colour(mode: int, word: re.Match[str]) -> str:
    return _COLOURS[word.group()][mode] if word.group() in _COLOURS else word.group()


_LETTER = 7.3  # width of a letter of code, in pixels


class Drawing:
    """A picture of ``width`` by ``height`` pixels; y grows downwards."""

    def __init__(self, width: float, height: float, title: str) -> None:
        size = (f"{width:.0f}", f"{height:.0f}")
        self._root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "width": size[0],
                "height": size[1],
                "viewBox": f"0 0 {size[0]} {size[1]}",
                "role": "img",
            },
        )
        self._add("title", title)
        self._add("style", style())
        self._add("rect", width=size[0], height=size[1], kind="paper")

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """A straight line."""
        self._add("line", kind=kind, x1=_(start[0]), y1=_(start[1]), x2=_(end[0]), y2=_(end[1]))

    def arrow(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        kind: str,
        *,
        gap: float = 5,
        bend: float = 0,
    ) -> None:
        """A line with a head at ``end``; both ends keep ``gap`` pixels away from the points.

        With ``bend`` it is a curve that leaves the straight way by as many pixels, to the left.
        """
        across, down = end[0] - start[0], end[1] - start[1]
        length = (across**2 + down**2) ** 0.5
        if length <= 2 * gap:
            return
        turn = (
            start[0] + across / 2 + 2 * bend * down / length,
            start[1] + down / 2 - 2 * bend * across / length,
        )
        tail, head = _towards(start, turn, gap), _towards(end, turn, gap)
        if bend:
            points = [_(each) for point in (tail, turn, head) for each in point]
            self._add("path", kind=kind, d="M{} {}Q{} {} {} {}".format(*points))
        else:
            self.line(tail, head, kind)
        base = _towards(head, turn, 6)
        aside = ((head[1] - base[1]) / 2, (head[0] - base[0]) / 2)
        corners = [head, (base[0] - aside[0], base[1] + aside[1]), (base[0] + aside[0], base[1] - aside[1])]
        self._add("polygon", kind=kind, points=" ".join(f"{_(x)},{_(y)}" for x, y in corners))

    def circle(self, centre: tuple[float, float], radius: float, kind: str) -> None:
        """A circle."""
        self._add("circle", kind=kind, cx=_(centre[0]), cy=_(centre[1]), r=_(radius))

    def box(
        self, corner: tuple[float, float], size: tuple[float, float], kind: str, round_: float = 0
    ) -> None:
        """A rectangle; ``corner`` is its upper left one."""
        self._add(
            "rect",
            kind=kind,
            x=_(corner[0]),
            y=_(corner[1]),
            width=_(size[0]),
            height=_(size[1]),
            rx=_(round_),
        )

    def text(self, place: tuple[float, float], text: str, kind: str = "") -> None:
        """A line of text whose baseline starts at ``place``."""
        self._add("text", text, kind=kind, x=_(place[0]), y=_(place[1]))

    def svg(self) -> str:
        """The picture as the text of an SVG file, or of an element of a page."""
        return ET.tostring(self._root, encoding="unicode") + "\n"

    def _add(self, tag: str, text: str = "", *, kind: str = "", **attributes: str) -> None:
        if kind:
            attributes["class"] = kind
        ET.SubElement(self._root, tag, attributes).text = text or None


def code_width(text: str) -> float:
    """About how many pixels ``text`` takes as code."""
    return len(text) * _LETTER


def _towards(start: tuple[float, float], end: tuple[float, float], distance: float) -> tuple[float, float]:
    """The point ``distance`` away from ``start`` on the way to ``end``."""
    across, down = end[0] - start[0], end[1] - start[1]
    part = distance / (across**2 + down**2) ** 0.5
    return start[0] + across * part, start[1] + down * part


def _(number: float) -> str:
    """A coordinate, short and the same on every machine."""
    return f"{number:.1f}".removesuffix(".0")
