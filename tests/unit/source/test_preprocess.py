"""The compiler is run with the build's flags, and its failures are reported as ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import Reader, codes, function, region

from polybuild.diagnostics import SourceError
from polybuild.source.preprocess import parse_depfile, preprocessing_flags
from polybuild.source.reader import read_source

REGION = "#pragma scop\nfor (int i = 0; i < n; i++) a[i] = LIMIT;\n#pragma endscop"


def failure(path: Path, compiler: str = "gcc", *flags: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_source(str(path), [compiler], flags)
    return caught.value


def test_missing_compiler(tmp_path: Path) -> None:
    path = tmp_path / "x.c"
    path.write_text(function(REGION))
    diagnostic = failure(path, "no-such-compiler-anywhere").diagnostic
    assert diagnostic.code == "compiler-not-found"
    assert "no-such-compiler-anywhere" in diagnostic.message
    assert diagnostic.location.file == str(path)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_preprocessor_error_is_the_compilers_own(tmp_path: Path, compiler: str) -> None:
    path = tmp_path / "x.c"
    path.write_text(f'int x;\n#include "no-such-header.h"\n{function(REGION)}')
    diagnostic = failure(path, compiler, "-fdiagnostics-color=always").diagnostic
    assert diagnostic.code == "preprocess-failed"
    assert "no-such-header.h" in diagnostic.message
    assert "\x1b" not in diagnostic.message
    assert (diagnostic.location.file, diagnostic.location.line) == (str(path), 2)


def test_unreadable_and_binary_files(tmp_path: Path) -> None:
    assert failure(tmp_path / "missing.c").diagnostic.code == "unreadable-file"
    assert failure(tmp_path).diagnostic.code == "unreadable-file"
    binary = tmp_path / "x.c"
    binary.write_bytes(b"int x;\n\0scop")
    assert failure(binary).diagnostic.code == "not-c-source"
    assert failure(binary).diagnostic.location.line == 2


def test_flags_decide_what_the_text_means(read: Reader) -> None:
    source = read(function(REGION), "-DLIMIT=7", "-c", "-o", "main.o", "-MD", "-Werror", "-Wall")
    assert region(source).statements[0].stmt.rvalue.value == "7"


def test_nothing_is_written(read: Reader, tmp_path: Path) -> None:
    dump = ["-c", "-omain.o", "-MMD", "-MF", str(tmp_path / "x.d"), "-save-temps", "-Wp,-MD,y.d", "-DLIMIT=1"]
    (tmp_path / "flags.rsp").write_text(f'-o "{tmp_path}/out file.o" -c -MMD')
    source = read(function(REGION), *dump, f"@{tmp_path}/flags.rsp")
    assert codes(source) == ["ok"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["flags.rsp", "main.c"]


def test_dependencies_start_with_the_file(read: Reader, tmp_path: Path) -> None:
    text = f'#include "has space.h"\n#include "a#b$c.h"\n{function(REGION)}'
    source = read(text, **{"has space": "#define LIMIT 1\n", "a#b$c": ""})
    assert source.dependencies[0] == str(tmp_path / "main.c")
    assert {str(tmp_path / "has space.h"), str(tmp_path / "a#b$c.h")} <= set(source.dependencies)


def test_names_that_need_care(read: Reader) -> None:
    for name in ("with space.c", 'quo"te.c', "back\\slash.c", "caf\u00e9.c", "upper.C", "template.inc"):
        source = read(function(REGION), "-DLIMIT=1", name=name)
        found = region(source)
        assert found.statements[0].coord.file == source.path, name
        assert found.begin.file == source.path


def test_depfile_escapes() -> None:
    rules = "target: a.c \\\n  dir/with\\ space.h $$x.h \\\r\n a\\#b.h a.c\n\nother: z.h\n"
    assert parse_depfile(rules) == ("a.c", "dir/with space.h", "$x.h", "a#b.h")


def test_flags_with_values_stay_together() -> None:
    flags = ["-I", "-c", "-D", "-o", "-include", "x.h", "-o", "y.o", "z.c", "-O2", "-MF", "d", "-std=c99"]
    kept = ["-I", "-c", "-D", "-o", "-include", "x.h", "-O2", "-std=c99"]
    assert preprocessing_flags("z.c", flags) == kept
