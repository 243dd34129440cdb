"""What the rooms behind the model are tested on: regions of real files, read with the real compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from reading import Reader

from polybuild.analysis.dependences import Dependences, compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.scop.extract import extract_scop
from polybuild.scop.model import Scop
from polybuild.source.model import Region, Source
from polybuild.source.reader import read_source


@dataclass(frozen=True)
class Model:
    """One region with what is known of it."""

    region: Region
    scop: Scop
    dependences: Dependences
    live: frozenset[str]


@pytest.fixture
def model(tmp_path: Path) -> Callable[..., Model]:
    """The model of ``body``, the region of a function with ``parameters``; other code around as given."""

    def make(body: str, parameters: str, *, top: str = "", before: str = "", after: str = "") -> Model:
        path = tmp_path / "one.c"
        path.write_text(
            f"{top}\nvoid f({parameters}) {{\n{before}\n#pragma scop\n{body}\n#pragma endscop\n{after}\n}}\n"
        )
        (region,) = read_source(str(path), ["gcc"], []).regions
        assert isinstance(region, Region), region.diagnostic
        scop = extract_scop(region)
        live = live_after(region)
        return Model(region, scop, compute_dependences(scop, live), live)

    return make


@pytest.fixture(params=["gcc", "clang"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Reader:
    """Write a C text to a file and read it, with each compiler."""

    def reader(text: str | bytes, *flags: str, name: str = "main.c", **headers: str) -> Source:
        for header, content in headers.items():
            (tmp_path / f"{header}.h").write_text(content)
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_source(str(path), [request.param], flags)

    return reader
