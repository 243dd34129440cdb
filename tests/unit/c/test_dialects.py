"""Code beyond standard C, near regions and in headers, must not cost a region."""

# ruff: noqa: E501 - C texts read best on one line

from __future__ import annotations

import pytest
from pycparser import c_ast
from reading import Reader, codes, function, region, rejected

from polybuild.c.dialects import OPAQUE
from polybuild.source import parse

LOOP = "for (int i = 0; i < n; i++) a[i] = 1;"
REGION = f"#pragma scop\n{LOOP}\n#pragma endscop"

BEFORE = {
    "attribute": "__attribute__((unused, aligned(16))) static int x; struct __attribute__((packed)) s { int a; } y;",
    "attributed function": '__attribute__((format(printf, 1, 2))) void g(const char *, ...) __asm__("g2");',
    "statement expression": "static int g(int x) { return ({ int y = x; y + 1; }); }",
    "nested function": "int g(int x) { int h(int y) { return x + y; } return h(1); }",
    "assembly": '__asm__(".globl nothing");\nstatic inline int g(void) { int x; __asm__ volatile("" : "=r"(x)); return x; }',
    "vector": "typedef float v4 __attribute__((vector_size(16))); v4 g(v4 x) { return x * x; }",
    "typeof": "int x0; __typeof__(x0) x1; extern __typeof__(&x0) x2;",
    "static assertion": '_Static_assert(sizeof(int) == 4, "{ not ; a brace");',
    "braces in literals": "const char *s = \"}{;\\\"\"; char q = '{', r = '\\'', t = '\"';",
    "initialiser": "struct p { int x, y; }; struct p ps[] = { [0] = { .x = 1 }, [1 ... 3] = { 2, 3 } }; int *z = (int[]){1, 2};",
    "old style": "int g(x) int x; { return x; }",
    "stray semicolon": ";;;",
    "float types": "_Float128 g(_Float128 x); __int128 big; __extension__ typedef struct { long long quot; } lldiv;",
    "complex": "double _Complex g(double _Complex z) { return __real__ z + 1.0i; }",
    "function returning array pointer": "double (*g(int n))[3] { return 0; }",
    "generic": "#define k(x) _Generic((x), int: 1, default: 2)\nint g(void) { return k(1); }",
}


@pytest.mark.parametrize("name", BEFORE)
def test_nonstandard_code_before_the_function(read: Reader, name: str) -> None:
    mention = "(void) sizeof(g);" if " g(" in BEFORE[name] else ""
    source = read(f"{BEFORE[name]}\n{function(mention + chr(10) + REGION)}", name="main.c")
    assert codes(source) == ["ok"]


INSIDE = {
    "assert": ("assert(n > 0);", {"n"}),
    "statement expression": ("int m = ({ int k = n; k > 1 ? k : 1; });", {"n"}),
    "assembly": ('__asm__ volatile("nop" : : "r"(n) : "memory");', {"n"}),
    "barrier": ('asm("");', set()),
    "typeof": ("__typeof__(n) m = n; __typeof__(a) b = a;", {"n", "a"}),
    "elvis": ("int m = n ?: 1;", {"n"}),
    "elvis in a condition": ("if (n ?: a[0]) { a[1] = 2; }", {"n", "a"}),
    "elvis in a loop": ("for (int i = n ?: 2; i < 3; i++) { a[1] = 2; }", {"n"}),
    "case range": ("switch (n) { case 1 ... 3: a[0] = 1; break; }", {"a"}),
    "computed goto": ("void *t = &&l; goto *t; l: ;", set()),
    "nested function": ("int g(int x) { return x + n; }", {"n"}),
    "auto type": ("__auto_type m = n;", {"n"}),
    "local label": ("{ __label__ l; l: n--; }", {"n"}),
    "imaginary": ("__complex__ double z = 1.0i; (void) z;", {"z"}),
}


@pytest.mark.parametrize("name", INSIDE)
def test_nonstandard_code_in_the_function(read: Reader, name: str) -> None:
    text, mentioned = INSIDE[name]
    source = read("#include <assert.h>\n" + function(f"{text}\n{REGION}"))
    found = region(source)
    assert (found.begin.line, found.statements[0].coord.line) == (5, 6)
    assert mentioned <= {node.name for node in walk(found.function.body) if isinstance(node, c_ast.ID)}


def walk(node: c_ast.Node) -> list[c_ast.Node]:
    return [node, *(each for _, child in node.children() for each in walk(child))]


def test_opaque_code_in_a_region_is_visible_as_such(read: Reader) -> None:
    source = read(function('#pragma scop\n__asm__("" : : "r"(n));\n#pragma endscop'))
    call = region(source).statements[0]
    assert call.name.name == OPAQUE
    assert [each.name for each in call.args.exprs] == ["n"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a[0] = n ?: 1;", "a conditional without its middle operand is not modelled"),
        ("{ typeof(n) m = n; a[0] = m; }", "typeof is not modelled"),
        ("a[0] = __real__ (n * 2.0i);", "an imaginary constant is not modelled"),
        ("switch (n) { case 1 ... 3: a[0] = 1; }", "a range of cases is not modelled"),
    ],
)
def test_code_beyond_the_parser_in_a_region_rejects_it(read: Reader, text: str, what: str) -> None:
    source = read(function(f"#pragma scop\n{text}\n#pragma endscop"))
    assert codes(source) == ["not-standard-c"]
    diagnostic = rejected(source).diagnostic
    assert (diagnostic.location.line, diagnostic.message) == (4, what)
    assert diagnostic.hint


def test_offsetof_keeps_its_spelling(read: Reader) -> None:
    text = "#include <stddef.h>\nstruct s { int x, y; };\n"
    found = region(read(text + function("#pragma scop\nn = offsetof(struct s, y);\n#pragma endscop")))
    assert found.statements[0].rvalue.name.name == "__builtin_offsetof"


HEADERS = (
    "stdio stdlib string math complex stdint pthread omp immintrin tgmath stdbool stddef limits time assert"
)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the parser gets: most of a file's time goes there."""
    texts: list[str] = []

    class Parser(parse.CParser):
        def parse(self, text, *arguments, **named):
            texts.append(text)
            return super().parse(text, *arguments, **named)

    monkeypatch.setattr(parse, "CParser", Parser)
    parse._parsed.cache_clear()
    return texts


@pytest.mark.links("-fopenmp")
@pytest.mark.parametrize(
    "flags", [(), ("-O2", "-D_FORTIFY_SOURCE=2"), ("-std=c99",), ("-O3", "-march=native", "-g3")]
)
def test_system_headers_are_no_obstacle_and_cheap(
    read: Reader, flags: tuple[str, ...], parsed: list[str]
) -> None:
    text = "".join(f"#include <{name}.h>\n" for name in HEADERS.split())
    body = 'size_t s = strlen("x"); FILE *out = stdout; pthread_t t; uint8_t u = 1; bool b = true; time_t w = 0;\n'
    body += 'double complex z = csqrt(2.0); memcpy(a, a, s); printf("%d", u);\n'
    body += "#pragma scop\nfor (int i = 0; i < n; i++) a[i] = sqrt(fabs(a[i])) + (b ? INT_MAX : (int) w);\n#pragma endscop\n"
    body += "(void) z; (void) t; (void) out;"
    source = read(text + function(body), "-fopenmp", *flags)
    found = region(source)
    assert {"strlen", "memcpy"} <= set(found.visible.functions)
    assert "u" in found.visible.symbols
    assert 0 < sum(map(len, parsed)) < 10_000
    assert len(source.dependencies) > 20


def test_long_tables_are_not_parsed(read: Reader, parsed: list[str]) -> None:
    table = ", ".join(str(number) for number in range(100_000))
    text = f"static const int table[] = {{ {table} }}, other = 3;\n" + function(
        f"n = table[0] + other;\n{REGION}"
    )
    found = region(read(text))
    assert {"table", "other"} <= set(found.visible.symbols)
    assert 0 < sum(map(len, parsed)) < 1000
