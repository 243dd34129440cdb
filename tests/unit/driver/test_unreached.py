"""Regions that nothing transforms are found in headers and C++ files."""

from __future__ import annotations

import pytest

from polybuild.driver import unreached
from polybuild.driver.file import compile_source
from polybuild.options import Options

REGION = "\n#  pragma scop\nfor (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n"
HEADER = f"static void in_header(int n, double *a) {{{REGION}}}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "beside.h").write_text(HEADER)
    (tmp_path / "inner" / "deep.h").write_text(HEADER)
    (tmp_path / "flags").write_text("-O2\n-Iinner\n")
    (tmp_path / "plain.h").write_text("/* a region begins with #pragma scop */ #define SCOPE\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "flags", "place"),
    [
        (b'#include "beside.h"\n', [], ("beside.h", 2)),
        (b' # include "beside.h"', [], ("beside.h", 2)),
        (b'#include "deep.h"\n', ["-O2", "-I", "inner"], ("inner/deep.h", 2)),
        (b'#include "deep.h"\n', ["@flags"], ("inner/deep.h", 2)),
        (b'#include "deep.h"\n', [], None),
        (b'#include "plain.h"\n', [], None),
        (b'/* include "beside.h" */\n', [], None),
        (b"#include <beside.h>\n", [], None),
    ],
)
@pytest.mark.usefixtures("folder")
def test_regions_in_headers(text, flags, place):
    assert unreached.first_unreached("file.c", text, flags) == place


def test_regions_in_cxx():
    assert unreached.first_unreached("file.cc", HEADER.encode(), [], cxx=True) == ("file.cc", 2)
    assert unreached.first_unreached("file.cc", b"int scop;\n#pragma scope\n", [], cxx=True) is None


def test_the_header_of_a_file_with_regions(folder):
    path = folder / "file.c"
    path.write_text(f'#include "beside.h"\nvoid f(int n, double *a) {{{REGION}}}\n')
    for headers, codes in ((False, ["region-in-header"]), (True, [])):
        result = compile_source(str(path), Options(headers=headers), ["gcc"], [])
        assert [each.code for each in result.diagnostics] == codes
        assert [each.status for each in result.regions] == ["transformed"] * (2 - len(codes))


def test_a_header_that_is_not_taken_is_told(folder):
    (folder / "beside.h").write_text(f"#ifdef __cplusplus\n#endif\n{HEADER}")
    path = folder / "file.c"
    path.write_text('#include "beside.h"\n')
    (found,) = compile_source(str(path), Options(headers=True), ["gcc"], []).diagnostics
    assert found.code == "region-in-header"
    assert "C++ cannot read" in found.hint
