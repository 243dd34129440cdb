"""The full text of small outputs: reviewed when it changes, compiled and run always.

``pytest --update-golden`` writes the texts anew; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import messages, output

from polybuild.driver.file import compile_source
from polybuild.options import Options

HERE = Path(__file__).parent
NAMES = sorted(path.name for path in (HERE / "inputs").glob("*.c"))
SILENT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")


@pytest.mark.parametrize("name", NAMES)
def test_text(name, request, monkeypatch):
    monkeypatch.chdir(HERE / "inputs")  # for a path without directories in the text
    result = compile_source(name, Options(min_work=1000), ["gcc"], ["-O2", "-std=c99"])
    assert "kept" not in {each.status for each in result.regions}
    golden = HERE / name
    if request.config.getoption("--update-golden"):
        golden.write_bytes(result.text.encode())
    assert result.text == golden.read_bytes().decode(), "see the module's description"


@pytest.mark.parametrize("name", NAMES)
def test_results(name, tmp_path):
    programs = {}
    for path in (HERE / "inputs" / name, HERE / name):
        copy = tmp_path / path.parent.name / name
        copy.parent.mkdir()
        copy.write_bytes(path.read_bytes())
        programs[path.parent.name] = copy
    expected = output(programs["inputs"])
    assert output(programs["golden"]) == expected
    assert output(programs["golden"], "-fopenmp") == expected


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", NAMES)
def test_silence(name, compiler):
    assert messages(compiler, HERE / name, *SILENT) == (0, "")
    assert messages(compiler, HERE / name, *SILENT, "-fopenmp") == (0, "")


def test_every_text_has_an_input():
    assert sorted(path.name for path in HERE.glob("*.c")) == NAMES
