from __future__ import annotations

from pathlib import Path

import pytest
from reading import Reader

from polybuild.source.model import Source
from polybuild.source.reader import read_source


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
