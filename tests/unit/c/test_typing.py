"""Types of declarations and expressions, compared with what gcc says they are."""

# ruff: noqa: E501 - C texts read best on one line

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pycparser import c_ast
from reading import Reader, function, region

from polybuild.c.symbols import StorageClass
from polybuild.c.types import (
    ArrayType,
    FloatingType,
    FunctionType,
    IntegerType,
    PointerType,
    RecordType,
    Type,
    UnknownType,
    VoidType,
)
from polybuild.c.typing import type_of
from polybuild.source.model import Region

DECLARATIONS = """
typedef unsigned char byte;
typedef double row[8]; typedef unsigned long size_type;
typedef struct point { double x, y; struct point *next; int low : 3; unsigned wide : 32; unsigned few : 5;
                       union { int u; float v; }; } point;
enum colour { RED, GREEN = 5, BLUE };
enum sign { MINUS = -1, PLUS = 1 };
byte b; char c; signed char sc; short s; unsigned short us; int i; unsigned u; long l; unsigned long ul;
long long ll; unsigned long long ull; _Bool flag; float f; double d; long double ld;
float _Complex fc; double _Complex dc; long double _Complex ldc;
enum colour col; enum sign sgn;
int arr[10]; double mat[4][8]; row rows[3]; row *rp; double (*mp)[8]; char *str; void *vp;
point p, *pp; point ps[4];
int g(int, double); double h(void); point make(void); double (*fp)(double); void *alloc(unsigned long);
"""

EXPRESSIONS = [
    "",
    "b c sc s us i u l ul ll ull flag f d ld fc dc ldc col sgn RED BLUE MINUS arr mat rows rp mp str vp p pp ps",
    "1 2147483647 2147483648 4294967296 0x7fffffff 0x80000000 0xffffffffffffffff 017 1u 1l 1ul 1ll 1LLu 0b11",
    "1.0 1.f 1.0L 1e5 0x1p3 'a' L'a' u'a' U'a' '\\n' 'ab' \"abc\"[0] L\"abc\"[0]",
    "+c -b ~us !d -u +f -flag ~l -fc",
    "b+b c+s us*us u+i l+u ul+l ll+ul ull+ll i+f f+d d+ld l+f fc+d f+fc ldc*f col+1 sgn*2 col-RED flag+flag",
    "b<<l l<<1 us>>1 u<<1L i%u i&ul c|c i^s i<d i==f d&&d i||d p.x<1",
    "i?c:s i?1:1.0f i?u:-1 i?pp:0 i?0:str i?vp:pp i?(void*)0:pp i?ps:pp i?f:dc i?b:b",
    "arr[1] mat[1] mat[1][2] rows[1][2] (*rp)[1] mp[1][2] 1[arr] *arr **mat *mat *pp str[0] rp[0]",
    "&i &arr &arr[1] &mat[1] &p.x &*pp &mat",
    "arr+1 1+arr arr-1 pp-ps &arr[3]-arr mat+1 mp+1 str+us",
    "p.x pp->y pp->next->x ps[1].y p.low p.low+1 p.few+1u p.wide+1 p.u p.v pp->next p.few*-1 -p.wide",
    "g(1,2) h() make().x fp(1.0) (*fp)(1.0) alloc(3) make() fp g(1,2)+h()",
    "(byte)i (float)d (double*)vp (row*)vp (point){1,2}.x (size_type)i sizeof(i) sizeof(int[3])",
    "i++ ++b d-- arr[i++] i=d,d c=i i+=d f*=2 us++ (i,d) (1,b) sizeof(arr)/sizeof(arr[0])",
    "",
]


@pytest.fixture(scope="module")
def expressions() -> list[str]:
    return [each for line in EXPRESSIONS for each in line.split()]


def spelled(kind: Type) -> str:
    """A type as C text for a cast-like context (``__typeof__`` of a declared pointer suffices)."""
    match kind:
        case VoidType():
            return "void"
        case IntegerType() | FloatingType():
            return kind.name
        case RecordType():
            return f"{kind.kind} {kind.tag}"
        case PointerType():
            return f"__typeof__({spelled(kind.target)} *)"
        case ArrayType():
            extent = kind.extent.value if isinstance(kind.extent, c_ast.Constant) else ""
            return f"__typeof__({spelled(kind.element)} [{extent}])"
        case FunctionType():
            parameters = ", ".join(spelled(each) for each in kind.parameters or ()) or "void"
            return f"__typeof__({spelled(kind.result)} ({parameters}))"
    return f"unknown {kind}"


def test_types_agree_with_the_compiler(read: Reader, expressions: list[str], tmp_path: Path) -> None:
    body = "".join(f"  (void) ({each});\n" for each in expressions)
    source = read(f"{DECLARATIONS}\nvoid test(void)\n{{\n#pragma scop\n{body}#pragma endscop\n}}\n")
    found = region(source)
    assert len(found.statements) == len(expressions)
    checks = []
    for text, statement in zip(expressions, found.statements, strict=True):
        kind = spelled(type_of(statement.expr, found.visible.symbols, found.visible))
        checks.append(
            f'if (!__builtin_types_compatible_p(__typeof__({text}), {kind})) puts("{"".join(text.split(chr(34)))}");'
        )
    # Bit-fields have no typeof of their own.
    checks = [each for each in checks if "__typeof__(p.low)" not in each]
    program = tmp_path / "check.c"
    program.write_text(
        f"#include <stdio.h>\n{DECLARATIONS}\nint main(void) {{\n{''.join(checks)}\nreturn 0; }}\n".replace(
            "puts(\"'\\n'\")", 'puts("newline")'
        )
    )
    # Functions are called only inside typeof, which evaluates nothing.
    subprocess.run(["gcc", "-w", "-c", str(program), "-o", str(tmp_path / "check.o")], check=True)
    stubs = "int g(int a, double b){return 0;} double h(void){return 0;} struct point; void *alloc(unsigned long n){return 0;}"
    (tmp_path / "stubs.c").write_text(stubs)
    subprocess.run(
        ["gcc", "-w", str(program), str(tmp_path / "stubs.c"), "-o", str(tmp_path / "check")], check=True
    )
    done = subprocess.run([str(tmp_path / "check")], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def typed(read: Reader, declarations: str, expression: str, *flags: str) -> tuple[Type, Region]:
    source = read(
        f"{declarations}\n" + function(f"#pragma scop\n(void) ({expression});\n#pragma endscop"), *flags
    )
    found = region(source)
    return type_of(found.statements[0].expr, found.visible.symbols, found.visible), found


def test_what_is_not_known_is_unknown(read: Reader) -> None:
    for expression in ("undeclared", "undeclared + 1", "undeclared(1)", "-undeclared", "a[undeclared].x"):
        assert isinstance(typed(read, "", expression)[0], UnknownType), expression


@pytest.mark.parametrize(
    "declaration",
    [
        "typedef double v __attribute__((vector_size(32))); extern v x;",
        "extern __int128 x;",
        "extern _Float128 x;",
        "extern _Atomic int x;",
        "extern _Atomic(int) x;",
        "typedef int word __attribute__((__mode__(__word__))); extern word x;",
        "extern __builtin_va_list x;",
        "typedef __typeof__(1 + 1) T; extern T x;",
    ],
)
def test_types_outside_the_model_are_unknown(read: Reader, declaration: str) -> None:
    kind, found = typed(read, declaration, "x")
    assert isinstance(kind, UnknownType)
    assert "x" in found.visible.symbols


def test_signedness_of_char_follows_the_flags(read: Reader) -> None:
    assert typed(read, "", "*(char *) a", "-funsigned-char")[0] == IntegerType("char", 8, signed=False)
    assert typed(read, "", "*(char *) a", "-fsigned-char")[0] == IntegerType("char", 8, signed=True)


def test_built_in_functions_of_mathematics(read: Reader) -> None:
    assert typed(read, "", "__builtin_fabsf(1.0f)")[0] == FloatingType("float", 4)
    assert typed(read, "", "__builtin_pow(1.0, 2.0)")[0] == FloatingType("double", 8)


def test_volatile_and_restrict_of_pointers(read: Reader) -> None:
    kind, _ = typed(read, "typedef volatile int vint; extern vint *x; extern int *restrict y;", "x")
    assert isinstance(kind, PointerType)
    assert kind.volatile
    kind, _ = typed(read, "extern int *restrict y;", "y")
    assert isinstance(kind, PointerType)
    assert kind.restrict
    assert not kind.volatile


def test_declarations_inside_a_region(read: Reader) -> None:
    text = "typedef float real;\n" + function("#pragma scop\nreal t[4]; t[0] = (real) n;\n#pragma endscop")
    found = region(read(text))
    kind = found.visible.scope.resolve(found.statements[0])
    assert isinstance(kind, ArrayType)
    assert kind.element == FloatingType("float", 4)
    cast = found.statements[1].rvalue
    assert found.visible.scope.resolve(cast.to_type) == FloatingType("float", 4)


def test_enumerators_have_values(read: Reader) -> None:
    declaration = (
        "enum { A, B = 1 << 4, C, D = sizeof(int) * 'a', E = -7 / 2, F = B > 3 ? ~0 : 1, G = (char) 300 };"
    )
    _, found = typed(read, declaration, "A + B + C + D + E + F + G")
    assert dict(found.visible.enumerators) == {
        "A": 0,
        "B": 16,
        "C": 17,
        "D": 4 * 97,
        "E": -3,
        "F": -1,
        "G": 44,
    }
    assert StorageClass.PARAMETER is found.visible.symbols["a"].storage
