"""Preprocessed text is cut at the right places, whatever it contains."""

# ruff: noqa: E501 - C texts read best on one line

from __future__ import annotations

import itertools

import pytest

from polybuild.c.dialects import lower_dialect
from polybuild.source.chunks import ChunkIndex, cut, declared_names

CHUNKS = {
    "int x;": ["d"],
    "int f(void) { return 1; } int y;": ["f", "d"],
    "struct s { int x; } y; union u { int a; };": ["d", "d"],
    "struct __attribute__((packed)) s { int x; };": ["d"],
    "struct __attribute__((packed)) { int x; } f(void) { }": ["f"],
    "int a[] = { 1, 2 }; int b = (int) { 1 };": ["d", "d"],
    "int (*f(int n))[3] { return 0; }": ["f"],
    "int x = f(); int g(int a[n = 1]) { }": ["d", "f"],
    "enum e { A, B = ';', C = '}' }; char *s = \"{\";": ["d", "d"],
    "int f(a, b) int a; double b; { } int y;": ["f", "d"],
    '# 1 "a{b.c"\nint f(void)\n# 2 "x"\n{\n#pragma it\'s }\n}\nint z;': ["f", "d"],
    "typedef struct { struct { int x; } y; } t; t f(t x) { if (1) { } else { } }": ["d", "f"],
    "__attribute__((x)) int f(int) __attribute__((y(1))); int g(void) { }": ["d", "f"],
    "} int x;": ["d"],
    "int f(void) {": ["f"],
    "int x": ["d"],
    "": [],
}


@pytest.mark.parametrize("text", CHUNKS)
def test_cutting(text: str) -> None:
    chunks = cut(text)
    assert ["d" if chunk.body is None else "f" for chunk in chunks] == CHUNKS[text]
    assert all(left.end <= right.start for left, right in itertools.pairwise(chunks))


NAMES = {
    "typedef unsigned long size_t;": {"size_t"},
    "int a, *b, c[3], (*d)(int x), e = 1, (f);": {"a", "b", "c", "d", "e", "f"},
    "extern int g(int n, double p) __attribute__((nonnull(2)));": {"g"},
    "static double (*const act)(double) = half, (*volatile const t[2])(void);": {"act", "half", "t"},
    "void (*signal(int sig, void (*handler)(int)))(int);": {"signal", "handler"},
    "struct tag { int field; struct inner { int y; } z; } object;": {"tag", "inner", "object"},
    "enum e { A, B = 3, C } x;": {"e", "A", "B", "C", "x"},
    "typedef struct __attribute__((packed)) p { int x; } p_t;": {"p", "p_t"},
}


@pytest.mark.parametrize("text", NAMES)
def test_declared_names(text: str) -> None:
    assert declared_names(text) == NAMES[text]


def test_only_what_is_needed_is_collected() -> None:
    text = (
        "typedef int T; typedef T U; struct s { U x; }; int unused; int g(struct s *p); int h(T t) { return unused; }\n"
        "void f(void) { g(0); h(1); } int after;"
    )
    index = ChunkIndex(text)
    function = index.at(text.index("g(0)"))
    assert function is not None
    heads = [index.head(number) for number in index.needed_by(function)]
    assert heads == [
        "typedef int T;",
        "typedef T U;",
        "struct s { U x; };",
        "int g(struct s *p);",
        "int h(T t) ",
    ]


def test_lines_in_bodies_move_what_follows() -> None:
    text = "int a;\nvoid f(void)\n{\n  a = 1;\n  a = 2;\n}\nint b;\nvoid g(void)\n{\n  b = 1;\n}\n"
    pieces = [
        (text.index("  a = 1"), "#x\n"),
        (text.index("  a = 2"), "#yy\n"),
        (text.index("  b ="), "#z\n"),
    ]
    new = text
    for offset, line in reversed(pieces):
        new = new[:offset] + line + new[offset:]
    index = ChunkIndex(text)
    moved = index.with_inserted(new, [(offset, len(line)) for offset, line in pieces])
    assert moved.chunks == ChunkIndex(new).chunks
    assert [moved.head(number) for number in range(4)] == [index.head(number) for number in range(4)]
    assert moved.at(new.index("b = 1")) == 3
    assert moved.definition("g") == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__inline__ int __restrict x;", "inline     int restrict   x;"),
        ("int x __attribute__((aligned(\n8))) = 1;", "int x                        \n     = 1;"),
        ('char *s = "__inline__ ({";', 'char *s = "__inline__ ({";'),
        ("x = ({ int y = z.w; y; }) + 1;", "x = __polybuild_opaque(y, z) + 1;"),
        ("x = ({ T t;\nt = g(u); });", "x = __polybuild_opaque(t, u)\n;"),
        ('{ asm volatile("x" : : "r"(y)); }', "{ __polybuild_opaque(y); }"),
        ('int f(void) __asm__("g");', "int f(void)             ;"),
    ],
)
def test_dialect_is_lowered_in_place(text: str, expected: str) -> None:
    assert lower_dialect(text, {"T"}).rstrip() == expected
