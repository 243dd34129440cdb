"""The site's own part of MkDocs: pages that lie elsewhere in the tree, and links to what is no page.

README.md is the first page; those of examples and benchmarks, and those for contributors, become pages as
they are. A link from one file of the tree to another stays a link where both are in the site, leads to the
repository where its address is known (``repo_url``), and is its text alone where it is not.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
PICTURES = (".png", ".svg")

_LINK = r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)"
_CODE = r"^```(?s:.*?)^```$|`[^`\n]*`"
_LINK_OR_CODE = re.compile(f"{_LINK}|{_CODE}", re.MULTILINE)
"""A link, whose text may have code in it, or code, which may look like a link."""


def places() -> dict[str, str]:
    """Where files of the tree that are not in ``docs`` stand in the site; both by paths with slashes."""
    found = {"README.md": "index.md", "benchmarks/README.md": "benchmarks.md"}
    found |= {name: f"project/{name.lower()}" for name in PROJECT}
    for page in sorted((ROOT / "examples").glob("*/README.md")):
        folder = page.parent.name
        found[f"examples/{folder}/README.md"] = f"examples/{folder}.md"
        for picture in sorted(page.parent.iterdir()):
            if picture.suffix in PICTURES:
                found[f"examples/{folder}/{picture.name}"] = f"examples/{folder}/{picture.name}"
    return found


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files that lie elsewhere."""
    for source, place in places().items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page with links as they are in the site."""
    elsewhere = places()
    back = {place: source for source, place in elsewhere.items()}
    here = page.file.src_uri
    folder = posixpath.dirname(back.get(here, f"docs/{here}"))

    def link(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        if target is None:
            return match[0]
        path, hash_sign, anchor = target.partition("#")
        if not path or ":" in path:
            return match[0]
        source = posixpath.normpath(posixpath.join(folder, path))
        place = elsewhere.get(source, source.removeprefix("docs/"))
        if files.get_file_from_path(place):
            inside = posixpath.relpath(place, posixpath.dirname(here) or ".")
            return f"{mark}[{text}]({inside}{hash_sign}{anchor})"
        if not (ROOT / source).exists():
            return match[0]  # MkDocs tells of it
        return f"[{text}]({config.repo_url.rstrip('/')}/blob/HEAD/{source})" if config.repo_url else text

    return _LINK_OR_CODE.sub(link, markdown)
