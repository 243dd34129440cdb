from __future__ import annotations

from pathlib import Path

import pytest

from polybuild.diagnostics import UsageError
from polybuild.driver.flags_file import FIRST_LINE, expand


def test_a_response_file_is_quoted_as_for_a_shell(tmp_path: Path) -> None:
    file = tmp_path / "flags"
    file.write_text("-O2 '-DA=\"b c\"'\n  -I\"with space\" -Dx=\\'y\\'\n")
    assert expand(["-c", f"@{file}", "-g"]) == ["-c", "-O2", '-DA="b c"', "-Iwith space", "-Dx='y'", "-g"]


def test_response_files_nest(tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("-DINNER")
    (tmp_path / "outer").write_text(f"-DOUTER @{tmp_path / 'inner'}")
    assert expand([f"@{tmp_path / 'outer'}"]) == ["-DOUTER", "-DINNER"]


def test_a_file_that_is_not_there_is_a_word() -> None:
    assert expand(["@no-such-file", "@"]) == ["@no-such-file", "@"]


def test_one_flag_a_line(tmp_path: Path) -> None:
    file = tmp_path / "flags"
    lines = [
        FIRST_LINE,
        "# comment",
        "",
        "SHELL:-O2 -D'A B'",
        "SHELL:",
        '-DTEXT="it\'s\\n"',
        "-I",
        "-Ia b",
        "-D",
    ]
    file.write_text("\n".join(lines))
    assert expand([f"@{file}"]) == ["-O2", "-DA B", '-DTEXT="it\'s\\n"', "-Ia b"]


@pytest.mark.parametrize("text", ["'never closed", "@{itself}"])
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "flags"
    file.write_text(text.replace("{itself}", str(file)))
    with pytest.raises(UsageError, match="flags"):
        expand([f"@{file}"])
