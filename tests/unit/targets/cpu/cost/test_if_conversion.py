"""Which loops with conditions compilers take to lanes: as gcc 12 reports for each kind of vectors."""

from __future__ import annotations

import pytest

from polybuild.context import CompilerRules, Masks, VectorRules
from polybuild.targets.cpu.cost.if_conversion import converts
from polybuild.targets.cpu.strides import references

PARAMETERS = (
    "int n, double z, double *restrict o, const double *restrict a, const double *restrict b,"
    " const double *restrict c, int *restrict q, const int *restrict m"
)
ALWAYS, MASKED, ARITHMETIC, NEVER = "always", "with masks for memory", "with masks for all", "never"
LOOPS = {
    "o[i] = a[i] < b[i] ? a[i] : b[i];": ALWAYS,
    "double v = a[i] * b[i]; if (v < 0) v = 0; if (v > 1) v = 1; o[i] = v;": ALWAYS,
    "double v = a[i]; o[i] = v < 0 ? -v : v;": ALWAYS,
    "double x = a[i], y = b[i]; o[i] = x > 0 && y < 1 ? x : y;": ALWAYS,
    "o[i] = a[i] + b[i] < c[i] ? a[i] + b[i] : c[i];": ALWAYS,
    "double v = a[i], s; if (v < 0) s = 0; else if (v < 9) s = v; else s = z; o[i] = v + s;": ALWAYS,
    "double v = a[i], s; if (v <= 0) s = 0; else s = z; o[i] = c[i] * s;": ALWAYS,
    "double v = a[i], s = 3; if (v <= 0) s = 0; else if (v < 1) s = 1; o[i] = v + .5 * s;": ALWAYS,
    "double s = 1; if (a[i] <= 0) s = 2; o[i] = b[i] * s;": ALWAYS,
    "if (a[i] > 0) o[i] = 1; else o[i] = 0;": ALWAYS,
    "if (a[i] > 0) o[i] = 1; else if (a[i] > -9) o[i] = 2; else o[i] = 3;": ALWAYS,
    "if (a[i] > 0) o[i] = 1; else if (b[i] > 0) o[i] = 2; else o[i] = 3;": MASKED,
    "if (a[i] > 0) o[i] = 1; else if (b[i] > 0) o[i] = 2;": MASKED,
    "if (a[i] > 0) o[i] = 1; else o[i] = c[i];": MASKED,
    "if (a[i] > 0) o[i] = c[i];": MASKED,
    "if (a[i] > 0) if (b[i] < c[i]) o[i] = 1;": MASKED,
    "if (m[i] > 0) q[i] += m[i] * 3;": MASKED,
    "o[i] = m[i] ? b[i] : 0;": MASKED,
    "o[i] = a[i] > 0 ? __builtin_fabs(b[i]) : 0;": MASKED,
    "if (a[i] > 0) o[i] = b[i] + c[i];": ARITHMETIC,
    "if (a[i] > 0) o[i] += c[i];": ARITHMETIC,
    "if (a[i] > 0) o[i] = c[i] + a[i]; else o[i] = b[i] * a[i];": ARITHMETIC,
    "double v = a[i]; o[i] = v < 0 ? v * b[i] : v;": ARITHMETIC,
    "double x = a[i], y = b[i], v = c[i]; o[i] = x > 0 && y * v < 1 ? x : y;": ARITHMETIC,
    "o[i] = a[i] < 0 ? z * z : c[i];": ARITHMETIC,
    "double v = a[i], s; if (v < 0) s = 0; else if (v < 9) s = v; else s = z; o[i] = .5 * s;": ARITHMETIC,
    "double v = a[i]; if (v < 0) v = 0; o[i] = c[i] + 2 * v;": ARITHMETIC,
    "double v = a[i]; if (v > 1) v = 1; if (v < 0) v = 0; v *= 255; o[i] = v;": ARITHMETIC,
    "double v = a[i]; v = v < 0 ? 0 : v; o[i] = 2 * v + 1;": ARITHMETIC,
    "double v = a[i]; double s = v < 0 ? 0 : v; o[i] = s * 2;": ARITHMETIC,
    "double v = a[i], w = b[i], s = 1; if (v <= 0) s = 2; o[i] = w * s;": ARITHMETIC,
    "double s = 1, t = 3; if (a[i] > 1) { s = b[i]; t = a[i]; } o[i] = s - t;": ARITHMETIC,
    "o[i] = a[i] < 0 ? b[0] : c[i];": NEVER,
    "if (m[i] > 0) q[i] = 100 / m[i];": NEVER,
    "o[i] = a[i] > 0 ? (double)m[i] : 0;": NEVER,
    "q[i] = a[i] > 0 && b[i] < 1;": NEVER,
}
NEEDED = {ALWAYS: tuple(Masks), MASKED: (Masks.MEMORY, Masks.ARITHMETIC), ARITHMETIC: (Masks.ARITHMETIC,)}


@pytest.fixture
def taken(model):
    """Whether a compiler takes the loop with a body to lanes."""

    def ask(body: str, compiler: CompilerRules) -> bool:
        found = model(f"for (int i = 0; i < n; i++) {{ {body} }}", PARAMETERS)
        accesses = references(found.scop, found.scop.schedule.get_root().child(0))
        return converts(accesses, 0, found.scop.type_names, compiler)

    return ask


@pytest.mark.parametrize("body", LOOPS)
def test_what_is_under_conditions_needs_masks(taken, body):
    able = [each for each in Masks if taken(body, CompilerRules(vectors=VectorRules(masks=each)))]
    assert able == list(NEEDED.get(LOOPS[body], ()))


@pytest.mark.parametrize(
    ("body", "counter", "lanes"),
    [
        ("if (t[y * w + x] > 3) o[y * w + x] = t[y * w + x + 1];", "int", True),
        ("if (t[y * w + x] > 3) o[y * w + x] = t[(y - 1) * w + x];", "int", False),
        ("if (t[y * w + x] > 3) o[y * w + x] = t[(y - 1) * w + x];", "long", True),
        ("if (t[x] > 3) o[x] = t[x + 1];", "int", True),
        ("if (t[x] > 3) o[(y + 1) * w + x] = 1;", "int", False),
    ],
)
def test_sums_of_narrow_integers_under_conditions_may_overflow(model, body, counter, lanes):
    loops = f"for ({counter} y = 1; y < h - 1; y++) for ({counter} x = 1; x < w - 1; x++)"
    found = model(f"{loops} {{ {body} }}", "int w, int h, const int *restrict t, int *restrict o")
    node = found.scop.schedule.get_root().child(0)
    accesses = references(found.scop, node if node.band_n_member() > 1 else node.child(0))
    types = {each.expression.name: each.type for each in found.scop.parameters}
    last = node.band_n_member() - 1
    assert converts(accesses, last, found.scop.type_names, CompilerRules(), types) is lanes
    assert converts(accesses, last, found.scop.type_names, CompilerRules())


@pytest.mark.parametrize(("masks", "lanes"), [(Masks.MEMORY, False), (Masks.ARITHMETIC, True)])
def test_few_vectors_have_masks_for_bytes(model, masks, lanes):
    parameters = "int n, const signed char *restrict s, signed char *restrict o"
    found = model("for (int i = 0; i < n; i++) { if (s[i] > 3) o[i] = s[i + 1]; }", parameters)
    accesses = references(found.scop, found.scop.schedule.get_root().child(0))
    assert (
        converts(accesses, 0, found.scop.type_names, CompilerRules(vectors=VectorRules(masks=masks))) is lanes
    )


@pytest.mark.parametrize("body", LOOPS)
def test_what_ignores_traps_computes_all_of_it(taken, body):
    assert taken(body, CompilerRules(vectors=VectorRules(speculates=True, masks=Masks.NONE)))
