"""Which regions are found, where they are in the user's text, and what is wrong with the others."""

# ruff: noqa: E501 - C texts read best on one line

from __future__ import annotations

import pytest
from pycparser import c_ast
from pycparser.c_parser import CParser
from reading import Reader, codes, function, region, rejected

from polybuild.diagnostics import Location
from polybuild.source import parse as parsing
from polybuild.source.reader import read_source

LOOP = "for (int i = 0; i < n; i++) a[i] = 1;"


def test_region_is_placed_by_whole_lines(read: Reader) -> None:
    text = function(
        f"  a[0] = 2;\n  #  pragma   scop tile_sizes(4, 4) /* hi */\n  {LOOP}\n#pragma endscop // bye\n  a[1] = 3;"
    )
    source = read(text)
    found = region(source)
    assert text[found.span.start : found.span.end] == "\n".join(text.split("\n")[3:6]) + "\n"
    assert text[found.body.start : found.body.end] == f"  {LOOP}\n"
    assert found.clauses == "tile_sizes(4, 4)"
    assert (found.begin.line, found.begin.column, found.end.line) == (4, 3, 6)
    assert [type(each) for each in found.statements] == [c_ast.For]
    assert found.statements[0].coord.line == 5
    assert found.statements[0].coord.file == source.path


def test_several_regions_in_blocks_loops_and_functions(read: Reader) -> None:
    text = function(
        f"if (n) {{\n#pragma scop\n{LOOP}\n#pragma endscop\n}}\nwhile (n--) {{\n#pragma scop\n{LOOP}\n#pragma endscop\n}}"
    )
    text += text.replace("void f", "void g")
    source = read(text)
    assert codes(source) == ["ok"] * 4
    assert [each.index for each in source.regions] == [0, 1, 2, 3]
    assert [region(source, index).begin.line for index in range(4)] == [4, 9, 17, 22]
    items = region(source, 1).function.body.block_items[1].stmt.block_items
    assert [each.string for each in items if isinstance(each, c_ast.Pragma)] == [
        "polybuild begin 1",
        "polybuild end 1",
    ]


def test_continued_marker_and_comment_that_continues_it(read: Reader) -> None:
    text = function(f"#pragma \\\n  scop /* one\n two */ fusion(max)\n{LOOP}\n#pragma endscop")
    found = region(read(text))
    assert found.clauses == "fusion(max)"
    assert text[found.body.start : found.body.end] == f"{LOOP}\n"
    assert found.begin.line == 3


def test_operator_alone_on_its_line_takes_the_line(read: Reader) -> None:
    text = function(f'  _Pragma("scop");\n{LOOP}\n  _Pragma ( "endscop" )\n  a[0] = 1;')
    found = region(read(text))
    assert text[: found.span.start].endswith("{\n")
    assert text[found.span.end :].startswith("  a[0] = 1;")


def test_operator_among_code_is_placed_exactly(read: Reader) -> None:
    text = function(f'a[0] = 1; _Pragma("scop") {LOOP} _Pragma("endscop") a[1] = 2;')
    found = region(read(text))
    assert text[: found.span.start].endswith("a[0] = 1; ")
    assert text[found.body.start : found.body.end] == f" {LOOP} "
    assert text[found.span.end :].startswith(" a[1] = 2;")


def test_macros_alone_on_their_lines(read: Reader) -> None:
    header = '#define BEGIN _Pragma("scop")\n#define PRAGMA(x) _Pragma(#x)\n'
    text = '#include "marks.h"\n' + function(f"/* SCOP */ BEGIN;\n{LOOP}\n  PRAGMA(endscop)  // done")
    found = region(read(text, marks=header))
    assert text[found.body.start : found.body.end] == f"{LOOP}\n"
    assert found.begin.line == 4


@pytest.mark.parametrize("line", ["BEGIN a[0] = 2;", "a[0] = 2; BEGIN"])
def test_macro_among_code_is_rejected(read: Reader, line: str) -> None:
    text = '#define BEGIN _Pragma("scop")\n' + function(f"{line}\n{LOOP}\n#pragma endscop")
    source = read(text)
    assert codes(source) == ["macro-region"]
    assert rejected(source).diagnostic.location.line == 4


def test_macro_of_a_whole_region_is_rejected(read: Reader) -> None:
    text = f'#define KERNEL _Pragma("scop") {LOOP} _Pragma("endscop")\n' + function("KERNEL")
    assert codes(read(text)) == ["macro-region"]


def test_regions_that_are_not_compiled_do_not_exist(read: Reader) -> None:
    text = function(
        f"#if 0\n#pragma scop\n#endif\n/* #pragma scop */\n#ifdef X\n#pragma scop\n{LOOP}\n#pragma endscop\n#endif"
    )
    assert codes(read(text)) == []
    assert codes(read(text, "-DX")) == ["ok"]


def test_text_in_strings_and_comments_is_no_marker(read: Reader) -> None:
    body = f'const char *s = "#pragma scop"; // #pragma scop\n/*\n#pragma endscop\n*/\n#pragma scop\n{LOOP}\n#pragma endscop\n(void)s;'
    found = region(read(function(body)))
    assert found.begin.line == 7


@pytest.mark.parametrize("text", ["microscope", "int scope;", "", "int main(void) { return 0; }"])
def test_files_without_regions_are_not_preprocessed(tmp_path, text: str) -> None:
    from polybuild.source.reader import read_source  # noqa: PLC0415

    path = tmp_path / "x.c"
    path.write_text(text.replace("microscope", "/* scope */"))
    source = read_source(str(path), ["/no/such/compiler"], [])
    assert source.regions == ()
    assert source.dependencies == (str(path),)


def test_region_in_a_header_is_not_ours(read: Reader) -> None:
    header = function(f"#pragma scop\n{LOOP}\n#pragma endscop")
    text = '#include "kernel.h"\n' + header.replace("void f", "void g")
    source = read(text, kernel=header)
    assert codes(source) == ["ok", "region-in-header"]
    assert region(source).begin.line == 4
    assert source.diagnostics[0].location.line == 3


MISTAKES = {
    "missing end": (f"#pragma scop\n{LOOP}", ["missing-endscop"], [3]),
    "stray end": (f"{LOOP}\n#pragma endscop", ["stray-endscop"], [4]),
    "nested": (f"#pragma scop\n#pragma scop\n{LOOP}\n#pragma endscop\n#pragma endscop", ["nested-scop"], [4]),
    "into a block": (f"#pragma scop\nif (n) {{\n{LOOP}\n#pragma endscop\n}}", ["unbalanced-region"], [3]),
    "out of a block": (f"if (n) {{\n#pragma scop\n{LOOP}\n}}\n#pragma endscop", ["unbalanced-region"], [4]),
    "across blocks": (f"{{\n#pragma scop\n{LOOP}\n}} {{\n#pragma endscop\n}}", ["unbalanced-region"], [4]),
    "in an expression": ("a[0] = 1 +\n#pragma scop\n2;\n#pragma endscop", ["unbalanced-region"], [4]),
    "ends in an expression": ("#pragma scop\na[0] = 1 +\n#pragma endscop\n2;", ["unbalanced-region"], [3]),
    "open parenthesis": (f"#pragma scop\nfor (;;\n{LOOP}\n#pragma endscop", ["syntax-error"], [4]),
    "closed parenthesis": (f"#pragma scop\nfor (;;))\n{LOOP}\n#pragma endscop", ["syntax-error"], [4]),
    "no parenthesis": (f"#pragma scop\nwhile 1)\n{LOOP}\n#pragma endscop", ["syntax-error"], [4]),
    "for header": ("for (;\n#pragma scop\n;)\n#pragma endscop\n;", ["unbalanced-region"], [4]),
    "syntax": (f"#pragma scop\n{LOOP}\na[0] = = 1;\n#pragma endscop", ["syntax-error"], [5]),
    "syntax elsewhere": (f"a[0] = = 1;\n#pragma scop\n{LOOP}\n#pragma endscop", ["syntax-error"], [3]),
    "missing brace": (f"#pragma scop\nif (n) {{\n{LOOP}\n#pragma endscop", ["unbalanced-region"], [3]),
    "cut if": ("#pragma scop\nif (n) a[0] = 1;\n#pragma endscop\nelse a[0] = 2;", ["syntax-error"], [6]),
    "escaping": ("#pragma scop\nint x = n;\n#pragma endscop\na[0] = x;", ["declaration-escapes"], [4]),
    "escaping type": (
        "#pragma scop\nstruct s { int y; };\n#pragma endscop\nstruct s z; z.y = 1;",
        ["declaration-escapes"],
        [4],
    ),
    "straddling": (
        f"#ifdef X\n#pragma scop\n#else\n#pragma scop\n#endif\n{LOOP}\n#pragma endscop",
        ["unbalanced-conditional"],
        [7],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_get_one_diagnostic_each(read: Reader, name: str) -> None:
    body, expected, lines = MISTAKES[name]
    source = read(function(body))
    assert codes(source) == expected
    found = [each.diagnostic for each in source.regions] + list(source.diagnostics)
    assert [each.location.line for each in found] == lines
    assert {each.location.file for each in found} == {source.path}


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("for (int i = 0; i < n; i++", 5),
        ("for (int i = 0; i < n; i++))", 28),
        ("for (int i = 0; i < n; i+)", 26),
        ("for int i = 0; i < n; i++)", 26),
        ("a[2 = 0;", 2),
    ],
)
def test_a_syntax_error_has_its_own_column(tmp_path, line: str, column: int) -> None:
    path = tmp_path / "file.c"
    path.write_text(
        f"void f(int n, double a[n]) {{\n#pragma scop\n{line}\n  a[0] = 1;\n#pragma endscop\n}}\n"
    )
    (region,) = read_source(str(path), ["gcc"], []).regions
    assert (region.diagnostic.location.line, region.diagnostic.location.column) == (3, column)


def test_mistakes_outside_functions(read: Reader) -> None:
    source = read(
        "#pragma scop\nint x;\n#pragma endscop\n" + function(f"#pragma scop\n{LOOP}\n#pragma endscop")
    )
    assert codes(source) == ["region-outside-function", "ok"]


def test_missing_end_does_not_swallow_the_next_function(read: Reader) -> None:
    good = function(f"#pragma scop\n{LOOP}\n#pragma endscop").replace("void f", "void g")
    source = read(function(f"#pragma scop\n{LOOP}") + good)
    assert codes(source) == ["missing-endscop", "ok"]


def test_syntax_error_costs_only_its_function(read: Reader) -> None:
    good = function(f"#pragma scop\n{LOOP}\n#pragma endscop")
    bad = good.replace("void f", "void g").replace("= 1", "= = 1")
    source = read(good + bad + good.replace("void f", "void h"))
    assert codes(source) == ["ok", "syntax-error", "ok"]
    assert rejected(source, 1).diagnostic.location == Location(source.path, 10, LOOP.index("= 1") + 3)


def test_regions_of_old_style_definitions_know_their_parameters(read: Reader) -> None:
    text = f"void f(n, a, k) double *a; long n;\n{{\nint i;\n#pragma scop\n{LOOP}\n#pragma endscop\n}}\n"
    source = read(text)
    assert codes(source) == ["ok"]
    symbols = source.regions[0].visible.symbols
    assert [symbols[name].type.name for name in ("n", "k")] == ["long", "int"]


UNBRACED = {
    "if": (f"if (n)\n#pragma scop\n{LOOP}\n#pragma endscop", "ok"),
    "else": (f"if (n) a[0] = 1; else\n#pragma scop\n{LOOP}\n#pragma endscop", "ok"),
    "for": (f"for (int t = 0; t < 3; t++)\n#pragma scop\n{LOOP}\n#pragma endscop", "ok"),
    "do": (f"do\n#pragma scop\n{LOOP}\n#pragma endscop\nwhile (n--);", "ok"),
    "then with else": (f"if (n)\n#pragma scop\n{LOOP}\n#pragma endscop\nelse a[0] = 1;", "ok"),
    "two statements": (f"if (n)\n#pragma scop\n{LOOP}\na[0] = 1;\n#pragma endscop", "unbraced-region"),
    "nothing": ("if (n)\n#pragma scop\n#pragma endscop\na[0] = 1;", "unbraced-region"),
    "stolen else": (
        "if (n)\n#pragma scop\nif (a[0]) a[1] = 2;\n#pragma endscop\nelse a[0] = 1;",
        "unbraced-region",
    ),
    "label": (f"goto here; here:\n#pragma scop\n{LOOP}\na[0] = 1;\n#pragma endscop", "ok"),
    "case": (f"switch (n) {{ case 1:\n#pragma scop\n{LOOP}\na[0] = 1;\n#pragma endscop\nbreak; }}", "ok"),
    "after case": (
        f"switch (n) {{ case 1: a[1] = 2;\n#pragma scop\n{LOOP}\n#pragma endscop\nbreak; }}",
        "ok",
    ),
    "label under if": (
        f"if (n) here:\n#pragma scop\n{LOOP}\na[0] = 1;\n#pragma endscop\ngoto here;",
        "unbraced-region",
    ),
}


@pytest.mark.parametrize("name", UNBRACED)
def test_region_as_the_body_of_a_statement(read: Reader, name: str) -> None:
    body, expected = UNBRACED[name]
    assert codes(read(function(body))) == [expected]


def test_unbraced_region_stays_below_its_statement(read: Reader) -> None:
    found = region(read(function(UNBRACED["if"][0])))
    body = found.function.body.block_items
    assert [type(each) for each in body] == [c_ast.If]
    assert body[0].iftrue.block_items[1] is found.statements[0]


def test_declaration_that_stays_inside_is_fine(read: Reader) -> None:
    body = "#pragma scop\nint x = n;\na[0] = x;\n#pragma endscop\nstruct { int x; } s; s.x = 1; (void) s;"
    assert codes(read(function(body))) == ["ok"]


def test_conditionals_inside_are_fine(read: Reader) -> None:
    body = f"#pragma scop\n#if 1\n{LOOP}\n#else\nnonsense\n#endif\n#pragma endscop"
    found = region(read(function(body)))
    assert len(found.statements) == 1


def test_marks_under_conditionals_of_their_own(read: Reader) -> None:
    marks = [f"#ifdef X\n#pragma {kind}\n#endif" for kind in ("scop", "endscop")]
    text = function(f"{marks[0]}\n{LOOP}\n{marks[1]}")
    assert codes(read(text)) == []
    found = region(read(text, "-DX"))
    assert text[found.body.start : found.body.end] == f"{LOOP}\n"
    assert text[found.span.start : found.span.end].count("#endif") == 2


def test_other_pragmas_vanish(read: Reader) -> None:
    body = f"#pragma scop\n#pragma omp parallel for\n#pragma GCC ivdep\n{LOOP}\n#pragma endscop\n#pragma omp barrier"
    found = region(read(function(body)))
    assert [type(each) for each in found.statements] == [c_ast.For]
    assert len(found.function.body.block_items) == 3


def test_line_directives_are_followed(read: Reader) -> None:
    text = function(f'#line 100 "other.y"\na[0] = 1;\n#pragma scop\n{LOOP}\n#pragma endscop')
    source = read(text)
    found = region(source)
    assert (found.begin.line, found.end.line) == (5, 7)
    assert text[found.body.start : found.body.end] == f"{LOOP}\n"
    assert found.statements[0].coord.line == 6
    assert found.statements[0].coord.file == source.path


def test_line_directives_that_hide_the_place_are_refused(read: Reader) -> None:
    pragma = f"#line 5\n#pragma scop\n{LOOP}\n#pragma endscop\n"
    source = read(function(pragma + pragma))
    assert set(codes(source)) == {"line-directive"}


def test_file_that_includes_itself(read: Reader) -> None:
    kernel = function(f"#pragma scop\n{LOOP}\n#pragma endscop").replace("f(", "NAME(")
    text = f'#ifndef NAME\n#define NAME f\n#include "main.c"\n#undef NAME\n#define NAME g\n#endif\n{kernel}'
    assert codes(read(text)) == ["ok", "ok"]
    assert codes(read(f'#line 1 "main.c"\n{text}')) == ["repeated-region"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_ends_bytes_and_marks_survive(read: Reader, ending: str) -> None:
    lines = [
        "\ufeff// caf\xe9",
        *function(f'\f/* \udce9 */ a[0] = "\xe9"[0];\n#pragma scop\n{LOOP}\n#pragma endscop')
        .strip()
        .split("\n"),
    ]
    data = ending.join(lines).encode("utf-8", "surrogateescape")  # without a final newline
    source = read(data)
    assert source.text.encode("utf-8", "surrogateescape") == data
    found = region(source)
    assert source.text[found.body.start : found.body.end] == LOOP + ending
    assert found.begin.line == 5


def test_marker_on_the_first_line_keeps_the_byte_order_mark(read: Reader) -> None:
    source = read("\ufeff#pragma endscop\n")
    assert codes(source) == ["stray-endscop"]


def test_digraphs(read: Reader) -> None:
    text = f"void f(int n, double *a) <%\n%:pragma scop\n{LOOP}\n%:pragma endscop\n%>\n"
    source = read(text)
    assert len(source.regions) == 1


def test_declarations_are_parsed_once_for_all_functions(
    read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    parse = CParser.parse

    def counted(parser: CParser, text: str, name: str) -> object:
        texts.append(text)
        return parse(parser, text, name)

    monkeypatch.setattr(CParser, "parse", counted)
    parsing._parsed.cache_clear()
    loop = "#pragma scop\nfor (int i = 0; i < p->n; i++) p->x[i] = half(p->x[i]);\n#pragma endscop\n"
    source = read(
        "typedef double number;\nstruct points { int n; number x[9]; };\n"
        "static number half(number x) { return x / 2; }\n"
        + "".join(f"void f{each}(struct points *p) {{\n{loop}}}\n" for each in range(3))
    )
    assert [len(region(source, index).callees) for index in range(3)] == [1, 1, 1]
    assert sum("struct points {" in each for each in texts) == 1
    assert sum("return x / 2" in each for each in texts) == 1


def test_names_of_types_are_those_declared_before(read: Reader) -> None:
    """A product for the parser, unless ``t`` is a type: each declaration is parsed by itself."""
    source = read(
        "typedef int t;\nvoid f(int *a) {\n#pragma scop\nfor (int i = 0; i < 9; i++) { t *p = a; p[i] = (t)i; }\n"
        "#pragma endscop\n}\nvoid g(int *a, int t, int p) {\n#pragma scop\n"
        "for (int i = 0; i < 9; i++) a[i] = t * p;\n#pragma endscop\n}\n"
    )
    assert codes(source) == ["ok", "ok"]
    body = region(source, 1).statements[0].stmt
    assert isinstance(body.rvalue, c_ast.BinaryOp)
