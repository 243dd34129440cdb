"""Diagnostics point at the text the user wrote, not at its expansion."""

from __future__ import annotations

from pycparser import c_ast
from reading import Reader, function, region

from polybuild.diagnostics import Location
from polybuild.source.columns import locate, locate_token

TEXT = "int x;\n  LONGER(i) = alpha + beta; /* alpha */\n\n"


def test_tokens() -> None:
    assert locate_token(TEXT, "f.c", 2, "alpha") == Location("f.c", 2, 15)
    assert locate_token(TEXT, "f.c", 2, "alpha", 32) == Location("f.c", 2, 32)
    assert locate_token(TEXT, "f.c", 2, "alph") == Location("f.c", 2, 3)
    assert locate_token(TEXT, "f.c", 2, "") == Location("f.c", 2, 3)
    assert locate_token(TEXT, "f.c", 3, "x") == Location("f.c", 3, 0)
    assert locate_token(TEXT, "f.c", 99, "x") == Location("f.c", 99, 0)


def test_nodes(read: Reader) -> None:
    text = "#define WIDE ((((((n))))))\n"
    text += function(
        "#pragma scop\n  for (int i = WIDE; i < n; i++) a[i] = WIDE + target(i);\n#pragma endscop"
    )
    source = read(text)
    loop = region(source).statements[0]
    line = text.split("\n")[4]
    assert locate(source.text, source.path, loop) == Location(source.path, 5, 3)
    call = loop.stmt.rvalue.right
    assert isinstance(call, c_ast.FuncCall)
    assert locate(source.text, source.path, call) == Location(source.path, 5, line.index("target") + 1)


def test_nodes_of_other_files_keep_file_and_line(read: Reader) -> None:
    text = function('#pragma scop\n#include "body.h"\n#pragma endscop')
    source = read(text, body="\na[0] = 1;\n")
    place = locate(source.text, source.path, region(source).statements[0])
    assert place.file.endswith("body.h")
    assert place.line == 2
