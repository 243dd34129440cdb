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

    def arrow(self, start: tuple[float, float], end: tuple[float, float], kind: str, gap: float = 5) -> None:
        """A line with a head at ``end``; both ends keep ``gap`` pixels away from the points."""
        across, down = end[0] - start[0], end[1] - start[1]
        length = (across**2 + down**2) ** 0.5
        if length <= 2 * gap:
            return
        unit = (across / length, down / length)
        tail = (start[0] + unit[0] * gap, start[1] + unit[1] * gap)
        head = (end[0] - unit[0] * gap, end[1] - unit[1] * gap)
        self.line(tail, head, kind)
        base = (head[0] - unit[0] * 6, head[1] - unit[1] * 6)
        corners = [
            head,
            (base[0] - unit[1] * 3, base[1] + unit[0] * 3),
            (base[0] + unit[1] * 3, base[1] - unit[0] * 3),
        ]
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


def _(number: float) -> str:
    """A coordinate, short and the same on every machine."""
    return f"{number:.1f}".removesuffix(".0")
