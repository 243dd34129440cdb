"""``polybuild docs``: the pages of the documentation that is installed with the package."""

from __future__ import annotations

import difflib
import pydoc
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from polybuild.cli.arguments import Parser, bare_parser
from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError, UsageError
from polybuild.integrations import locations
from polybuild.report.explain import terminal

_FENCE = re.compile(r"^ {0,3}```")
_COMMENT = re.compile(r"^<!--.*?-->\n", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#+) +(.*?) *$")


def run(words: Sequence[str]) -> int:
    """Show the page or the section that ``words`` name, or tell which pages there are.

    Raises UsageError for what is not there, SourceError if the pages are not installed.
    """
    name = parser().parse(words).name
    try:
        folder = locations.documentation_dir()
    except FileNotFoundError as error:
        place = Location(str(locations.include_dir()), 0)
        raise SourceError(Diagnostic(Severity.ERROR, "not-installed", str(error), place)) from None
    pages = {
        path.relative_to(folder).with_suffix("").as_posix(): _COMMENT.sub("", path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.md"))
    }
    text = found(pages, name) if name else index(pages)
    if sys.stdout.isatty():
        pydoc.pager(text)
    else:
        terminal.write(sys.stdout, text)
    return 0


def parser() -> Parser:
    """The options of ``polybuild docs``."""
    parser = bare_parser("docs", "Show a page of the documentation, or a section of one.")
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        default="",
        help="a page, an option, the code of a diagnostic, or another heading; without it, pages are listed",
    )
    return parser


def index(pages: Mapping[str, str]) -> str:
    """A line for each page: its name and its title."""
    width = max(map(len, pages))
    titles = {name: next((title for _, title, _ in sections(text)), "") for name, text in pages.items()}
    return "".join(f"{name:{width}}  {title}\n" for name, title in titles.items())


def found(pages: Mapping[str, str], name: str) -> str:
    """The page ``name``, with or without its folder, or else what has that name.

    That are rows of tables that begin with it, as those of codes do, and sections with such a heading. Raises
    UsageError if there is none, or more than one page.
    """
    wanted = name.removesuffix(".md")
    named = [page for page in pages if wanted in {page, page.rpartition("/")[2]}]
    if len(named) > 1:
        raise UsageError(f"'{name}' may be {' or '.join(named)}")
    if named:
        return pages[named[0]]
    anchor = anchor_of(wanted)
    parts = [
        f"[{page}]\n\n{part}"
        for page, whole in pages.items()
        for part in (
            *_rows(whole, wanted),
            *(text for _, title, text in sections(whole) if anchor_of(title) == anchor),
        )
    ]
    if not parts:
        known = {page.rpartition("/")[2] for page in pages}
        known |= {anchor_of(title) for whole in pages.values() for _, title, _ in sections(whole)}
        near = difflib.get_close_matches(anchor, sorted(known), n=1)
        advice = f"; did you mean '{near[0]}'?" if near else ""
        raise UsageError(f"there is no page or section '{name}'{advice} (see 'polybuild docs')")
    return "\n".join(parts)


def _rows(text: str, name: str) -> Iterator[str]:
    """The rows of tables whose first cell has ``name`` as code."""
    for line in text.splitlines(keepends=True):
        if line.startswith("|") and f"`{name}`" in line.split("|")[1]:
            yield line


def sections(text: str) -> Iterator[tuple[int, str, str]]:
    """The sections of a page, each with its level, its heading and its text with those below it."""
    lines = text.splitlines(keepends=True)
    headings: list[tuple[int, int, str]] = []
    in_code = False
    for number, line in enumerate(lines):
        in_code ^= bool(_FENCE.match(line))
        match = None if in_code else _HEADING.match(line)
        if match:
            headings.append((number, len(match[1]), match[2]))
    for index, (begin, level, title) in enumerate(headings):
        ends = (number for number, other, _ in headings[index + 1 :] if other <= level)
        yield level, title, "".join(lines[begin : next(ends, len(lines))])


def anchor_of(title: str) -> str:
    """The name of a heading in addresses: small letters and digits, with ``-`` for blanks."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower())).strip("-")
