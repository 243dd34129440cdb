"""Regions kept in the cache: an edit elsewhere costs none of them anything, and changes no byte."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import pytest

from polybuild.driver import file as pipeline
from polybuild.driver import file_regions, passes
from polybuild.driver.cache import Cache
from polybuild.driver.experience import Experience
from polybuild.driver.region_store import RegionStore
from polybuild.options import Options

TEXT = """\
#include <stdio.h>
#define N 100
enum { FIRST = 1 };
struct cell { double value; int kind; };
double grid[N][N];
static double half(double x)
{
  return x / 2;
}

void sweep(int n, double *a, double *b, struct cell *cells)
{
  double sum = 0;
#pragma scop
  for (int i = FIRST; i < n - 1; i++)
    a[i] = half(b[i - 1] + b[i + 1]) + cells[i].value;
#pragma endscop
  for (int i = 0; i < N; i++)
#pragma scop
    for (int j = 0; j < N; j++)
      sum += grid[i][j];
#pragma endscop
  printf("%f", sum);
}

void tell(int n, int *a)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    printf("%d", a[i]);
    a[i] = 0;
  }
#pragma endscop
}
"""


@pytest.fixture
def build(tmp_path, monkeypatch):
    """What became of a text, and which regions were compiled for it, with and without the cache."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cache").mkdir(mode=0o700)
    compiled = []
    compile_region = file_regions.compile_region

    def counting(region, *arguments, **named):
        compiled.append(region.index)
        return compile_region(region, *arguments, **named)

    monkeypatch.setattr(file_regions, "compile_region", counting)

    def run(text, *flags, stored=True, **options):
        (tmp_path / "one.c").write_text(text)
        store = RegionStore(Cache(tmp_path / "cache"), "this build") if stored else None
        experience = Experience(store=store)
        compiled.clear()
        result = pipeline.compile_source(
            "one.c", Options(**options), ["gcc"], ["-O2", *flags], experience=experience
        )
        reports = [dataclasses.replace(each, compile_seconds=0.0) for each in result.regions]
        return (result.text, reports, result.diagnostics), tuple(compiled)

    return run


def changed(old, new):
    assert old in TEXT
    return TEXT.replace(old, new, 1)


SAME = {
    "nothing": TEXT,
    "lines above": "/* of\n * two lines\n */\n" + TEXT,
    "a function above": changed("void sweep", "int other(int x)\n{\n  return x;\n}\nvoid sweep"),
    "a region above": changed(
        "void sweep",
        "void zero(double *a)\n{\n#pragma scop\n  for (int i = 0; i < 9; i++) a[i] = 0;\n"
        "#pragma endscop\n}\nvoid sweep",
    ),
    "a comment in the function": changed("  double sum", "  /* a sum\n     of all */\n  double sum"),
    "a comment in the region": changed("    a[i] = half", "    /* here */\n    a[i] = /* the mean */ half"),
    "a comment in what is called": changed("  return x / 2;", "  // by two\n  return x / 2;"),
    "a declaration that it does not use": changed(
        "enum {", "typedef int number;\nextern number count;\nenum {"
    ),
    "lines below": TEXT + "\n/* the end */\nint last;\n",
    "a macro that it does not use": changed("#define N 100", "#define N 100\n#define OTHER 7"),
    "a macro that says the same": changed("#define N 100", "#define N (50 * 2)").replace("(50 * 2)", "100 "),
}


@pytest.mark.parametrize("edit", SAME)
def test_an_edit_elsewhere_costs_nothing_and_changes_no_byte(build, edit):
    cold, all_of_them = build(TEXT)
    assert cold == build(TEXT, stored=False)[0]
    assert all_of_them == (0, 1, 2)
    text = SAME[edit]
    again, compiled = build(text)
    assert compiled == ((0,) if edit == "a region above" else ())
    assert again == build(text, stored=False)[0]


OTHER = {
    "its text": changed("b[i + 1]", "b[i + 2]"),
    "a macro in it": changed("FIRST = 1", "FIRST = 2"),
    "what it calls": changed("return x / 2", "return x / 4"),
    "the type of a variable": changed("double *b,", "float *b,"),
    "a promise of a variable": changed("double *a, double *b", "double *restrict a, double *restrict b"),
    "a type that it uses": changed("int kind;", "int kind, more;"),
    "a clause": changed("#pragma scop", "#pragma scop tile_sizes(7)"),
    "a name that ours must not be": changed("#define N 100", "#define N 100\n#define pb_n 3"),
}


@pytest.mark.parametrize("edit", OTHER)
def test_what_matters_is_compiled_again(build, edit):
    build(TEXT)
    text = OTHER[edit]
    again, compiled = build(text)
    assert 0 in compiled
    assert again == build(text, stored=False)[0]


def test_what_is_read_later_matters(build):
    build(TEXT)
    text = changed('  printf("%f", sum);', "  sum = 0;")
    again, compiled = build(text)
    assert 1 in compiled
    assert again == build(text, stored=False)[0]


def test_options_and_compilers_matter(build):
    build(TEXT)
    assert build(TEXT, tile=False)[1] == (0, 1, 2)
    assert build(TEXT, "-ffast-math")[1] == (0, 1, 2)
    assert build(TEXT, "-DNOBODY_ASKS=1")[1] == ()


def test_messages_name_the_lines_of_today(build):
    (_, reports, diagnostics), _ = build(TEXT)
    (_, moved, told), compiled = build("\n" * 100 + TEXT)
    assert compiled == ()
    assert [each.line + 100 for each in reports] == [each.line for each in moved]
    assert [each.location.line + 100 for each in diagnostics] == [each.location.line for each in told]
    assert [each.line + 100 for each in reports[0].advice] == [each.line for each in moved[0].advice]


def test_where_lines_are_in_the_code_nothing_is_kept(build, tmp_path):
    checked, compiled = build(TEXT, verify=True)
    assert compiled == build(TEXT, verify=True)[1] == (0, 1, 2)
    assert checked == build(TEXT, stored=False, verify=True)[0]
    assert not list((tmp_path / "cache").rglob("record.json"))


@pytest.mark.parametrize("damage", ["[]", '[1, null, [], {"os": ["system"]}]', "{", '[{"RegionReport": []}]'])
def test_what_does_not_read_as_a_result_is_made_anew(build, tmp_path, damage):

    cold, _ = build(TEXT)
    for path in (tmp_path / "cache").rglob("region.json"):
        record = json.loads((path.parent / "record.json").read_text())
        path.write_text(damage)
        record["sha256"] = hashlib.sha256(damage.encode()).hexdigest()
        (path.parent / "record.json").write_text(json.dumps(record))
    assert build(TEXT) == (cold, (0, 1, 2))


def test_what_may_be_better_next_time_is_not_kept(build, monkeypatch):

    extract_scop = passes.extract_scop
    monkeypatch.setattr(passes, "extract_scop", lambda *_, **__: 1 / 0)
    (text, _, diagnostics), _ = build(TEXT)
    assert text == TEXT
    assert {each.code for each in diagnostics} == {"internal"}
    monkeypatch.setattr(passes, "extract_scop", extract_scop)
    assert build(TEXT)[1] == (0, 1, 2)
