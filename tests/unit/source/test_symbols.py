"""Which names a region sees, and what is known of them."""

# ruff: noqa: E501 - C texts read best on one line

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast
from reading import Reader, function, region

from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.types import ArrayType, FloatingType, FunctionType, IntegerType, PointerType, RecordType

EMPTY = "#pragma scop\n#pragma endscop"


def symbols(
    read: Reader, body: str, parameters: str = "int n, double *a", before: str = ""
) -> Mapping[str, Symbol]:
    return region(read(before + function(body, parameters))).visible.symbols


def test_storage(read: Reader) -> None:
    before = "int g; static double sg; extern int eg[]; _Thread_local int tl; int tp;\n#pragma omp threadprivate(tp)\n"
    body = f"int l; static int s; extern int x; register int r;\nfor (int i = 0; i < n; i++) {{\n{EMPTY}\ng = sg + eg[0] + tl + tp;\n}}"
    found = symbols(read, body, before=before)
    storages = {name: symbol.storage for name, symbol in found.items()}
    assert storages == {
        "n": StorageClass.PARAMETER,
        "a": StorageClass.PARAMETER,
        "l": StorageClass.LOCAL,
        "r": StorageClass.LOCAL,
        "i": StorageClass.LOCAL,
        "s": StorageClass.STATIC,
        "x": StorageClass.GLOBAL,
        "g": StorageClass.GLOBAL,
        "sg": StorageClass.GLOBAL,
        "eg": StorageClass.GLOBAL,
        "tl": StorageClass.GLOBAL,
        "tp": StorageClass.GLOBAL,
    }
    assert {name for name, symbol in found.items() if symbol.thread_local} == {"tl", "tp"}


def test_scopes(read: Reader) -> None:
    before = "float n, b, c; typedef int T;\n"
    body = f"{{ long a; int hidden; }}\ndouble T = 1;\n{{ short b;\n{EMPTY}\nint late; }}\nb = c;"
    found = symbols(read, body, "int n, char a", before)
    names = {name: getattr(symbol.type, "name", "") for name, symbol in found.items()}
    assert names == {"n": "int", "a": "char", "b": "short", "c": "float", "T": "double"}


def test_names_declared_in_a_switch(read: Reader) -> None:
    body = f"switch (n) {{ case 0: ; int x; x = 1; break; case 1: ; long y; y = 2;\n{EMPTY}\nint z; }}"
    assert set(symbols(read, body)) == {"n", "a", "x", "y"}


def test_array_parameters_keep_their_extents(read: Reader) -> None:
    found = symbols(
        read, EMPTY, "int n, double A[n][20], double B[restrict static 4], double C[], double D[*][*]"
    )
    a, b, c = (found[name].type for name in "ABC")
    assert isinstance(a, ArrayType)
    assert isinstance(a.extent, c_ast.ID)
    assert isinstance(a.element, ArrayType)
    assert a.element.element == FloatingType("double", 8)
    assert isinstance(b, ArrayType)
    assert isinstance(c, ArrayType)
    assert c.extent is None
    assert [found[name].restrict for name in "ABC"] == [False, True, False]
    assert all(found[name].storage is StorageClass.PARAMETER for name in "ABC")


def test_pointers_to_arrays(read: Reader) -> None:
    found = symbols(
        read,
        EMPTY,
        "int n, double (*restrict A)[n], double *__restrict__ B, float **C, void (*f)(int), int g(int)",
    )
    a = found["A"].type
    assert isinstance(a, PointerType)
    assert a.restrict
    assert isinstance(a.target, ArrayType)
    assert found["A"].restrict
    assert found["B"].restrict
    assert found["C"].type == PointerType(PointerType(FloatingType("float", 4)))
    for name in "fg":
        kind = found[name].type
        assert isinstance(kind, PointerType)
        assert isinstance(kind.target, FunctionType)


def test_later_declarations_do_not_lose_extents(read: Reader) -> None:
    found = symbols(read, f"{EMPTY}\nA[0] = 1;", before="extern int A[10];\nextern int A[];\n")
    assert isinstance(found["A"].type, ArrayType)
    assert found["A"].type.extent is not None


def test_parameters_that_lead_elsewhere_are_pointers(read: Reader) -> None:
    parameters = "int n, double a[n][4], double b[restrict n][4], double c[n][4]"
    found = symbols(read, f"double (*d)[4] = a; a = b; b = d; c[0][0] = 1;\n{EMPTY}", parameters)
    pointers = {name for name, each in found.items() if isinstance(each.type, PointerType)}
    assert pointers == {"a", "b", "d"}
    assert found["b"].restrict
    assert not found["a"].restrict
    assert not found["a"].address_taken


def test_addresses(read: Reader) -> None:
    before = "struct s { int x[3]; int y; }; void use(double *); int scan(int *);\n"
    body = (
        "int taken, counted, untaken; double decayed[3], passed[3], kept[3], rowed[3][4], sized[3];\n"
        "struct s member, whole; double *p = decayed; int *q = member.x;\n"
        f"scan(&taken); use(passed); use(rowed[1]); scan(&counted + 1); kept[0] = sizeof sized + kept[untaken];\n{EMPTY}\n"
        "rowed[0][0] = p[0] + q[0] + whole.y;"
    )
    found = symbols(read, body, before=before)
    taken = {name for name, symbol in found.items() if symbol.address_taken}
    assert taken == {"taken", "counted", "decayed", "passed", "rowed", "member"}


def test_addresses_of_what_pointers_lead_to(read: Reader) -> None:
    """The pointer itself stays where nobody else knows of it."""
    before = "struct s { int x[3]; int *y; };\n"
    body = (
        "int *p = 0, *q = 0, **rows = 0; struct s *record = 0, whole; int *a = &p[3], *b = &record->x[1];\n"
        f"int *c = &*q, *d = &rows[1][2], *e = &whole.y[2], **f = &rows[0], **g = &whole.y;\n{EMPTY}"
    )
    taken = {name for name, symbol in symbols(read, body, before=before).items() if symbol.address_taken}
    assert taken == {"whole"}


def test_volatile_anywhere_in_the_type(read: Reader) -> None:
    before = "typedef volatile int v;\n"
    found = symbols(
        read,
        EMPTY,
        "volatile int a, volatile int *b, int *volatile c, v d, v *e, const int *f, volatile int g[3]",
        before,
    )
    assert {name for name, symbol in found.items() if symbol.volatile} == set("abcdeg")


def test_functions_enumerators_and_records(read: Reader) -> None:
    before = (
        "enum { N = 4 }; struct node { struct node *next; double value; };\n"
        "static inline double twice(double x) { return 2 * x; }\n"
        "__attribute__((noinline)) static int (*choose(int which))(double, float) { return 0; }\n"
        "double unused(int);\n"
    )
    body = f"{EMPTY}\nstruct node first; first.value = twice(N); choose(1);"
    found = region(read(before + function(body)))
    assert {"twice", "choose", "f"} <= set(found.visible.functions)
    assert "unused" not in found.visible.functions
    twice = found.visible.functions["twice"]
    assert isinstance(twice, FunctionType)
    assert (twice.result, twice.parameters) == (FloatingType("double", 8), (FloatingType("double", 8),))
    assert found.visible.enumerators["N"] == 4
    assert found.visible.scope.data_model.pointer_size == 8


def test_records_may_point_to_themselves(read: Reader) -> None:
    before = "typedef struct node node; struct node { node *next; int x; unsigned bit : 3; };\n"
    found = symbols(read, EMPTY, "node *list", before)["list"].type
    assert isinstance(found, PointerType)
    record = found.target
    assert isinstance(record, RecordType)
    assert record.fields is not None
    assert [(each.name, each.bits) for each in record.fields] == [("next", None), ("x", None), ("bit", 3)]
    assert record.fields[0].type == PointerType(record)
    assert record.fields[1].type == IntegerType("int", 32, signed=True)
