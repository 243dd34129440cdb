"""Each example of a diagnostic gets it, and what stands below it does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "diagnostic-examples.md"
SECTION = re.compile(
    r"^## (?P<code>[\w-]+)\n\n```c\n(?P<told>.*?)```\n\n[^`\n].*?\n\n```c\n(?P<taken>.*?)```",
    re.DOTALL | re.MULTILINE,
)
EXAMPLES = {each["code"]: (each["told"], each["taken"]) for each in SECTION.finditer(PAGE.read_text("utf-8"))}


def compiled(path: Path, text: str):
    path.write_text(text)
    return compile_source(str(path), Options(min_work=0), ["gcc"], ["-O2"])


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example(code, tmp_path):
    told, taken = EXAMPLES[code]
    result = compiled(tmp_path / "told.c", told)
    assert code in {each.code for each in result.diagnostics}
    result = compiled(tmp_path / "taken.c", taken)
    assert [each.message for each in result.diagnostics] == []
    assert result.regions


def test_every_section_is_an_example():
    assert len(EXAMPLES) == PAGE.read_text("utf-8").count("\n## ") > 30
