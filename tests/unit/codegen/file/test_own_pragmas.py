"""Pragmas for polybuild that are left in what it wrote become comments, and nothing else changes."""

from __future__ import annotations

import pytest

from polybuild.codegen.file.own_pragmas import without_pragmas


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "#pragma scop tile_sizes(8)\nx;\n#pragma endscop\n",
            "/* #pragma scop tile_sizes(8) */\nx;\n/* #pragma endscop */\n",
        ),
        ("#pragma scop\r\n", "/* #pragma scop */\r\n"),
        ('{ _Pragma("scop") x; }\n', '{ /* _Pragma("scop") */ x; }\n'),
        ("#pragma polybuild resident(a, \\\n  b)\nx;", "/* #pragma polybuild resident(a, \n  b) */\nx;"),
        ("#pragma scop /* so */\nx;", "/* #pragma scop / * so * / */\nx;"),
        ("  %:pragma scop\n", "  /* %:pragma scop */\n"),
        ("#ifdef A\n#pragma scop\n#endif\n", "#ifdef A\n/* #pragma scop */\n#endif\n"),
    ],
)
def test_pragmas_become_comments(before, after):
    assert without_pragmas(before.encode()) == after.encode()


@pytest.mark.parametrize(
    "text",
    [
        b"#pragma omp parallel for\nx;\n",
        b'puts("#pragma scop"); /* #pragma scop */ // #pragma scop\n',
        b'#define MARK _Pragma("scop")\nMARK\n',
        b"#pragma scopes\n",
        b"/* caf\xe9 */ int x;\r\n",
    ],
)
def test_others_stay(text):
    assert without_pragmas(text) == text


def test_bytes_of_other_encodings_stay():
    assert without_pragmas(b"// \xe9\n#pragma endscop") == b"// \xe9\n/* #pragma endscop */"
