"""The user's file with regions replaced: bytes around them, line numbers, silence."""

from __future__ import annotations

import re

import pytest
from compiling import messages, output, transform, write

from polybuild.codegen.file.names import quoted
from polybuild.driver.file import compile_source
from polybuild.options import Options

COMPILERS = pytest.mark.parametrize("compiler", ["gcc", "clang"])
SILENT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")

FILE = """\
/* first line */
#include <stdio.h>
#define CELL(x) \\
  ((x) + 1)
static double a[300], b[300];

static double sum(void) { double s = 0; for (int i = 0; i < 300; i++) s += a[i] * (i % 7); return s; }

int main(void) {
  int i;\t/* a counter that is read afterwards */
#pragma scop
  for (i = 0; i < 300; i++) {
    // the macro spans lines
    a[i] = CELL(
      i);
    b[i] = a[i] * 2;
  }
#pragma endscop
  printf("%d %f\\n", i, sum());
  if (i > 3)
#pragma scop
    for (int t = 0; t < 20; t++)
      for (int j = 1; j < 299; j++)
        a[j] = (a[j - 1] + a[j] + a[j + 1]) / 3 + b[j];
#pragma endscop
  printf("%f\\n", sum()); _Pragma("scop") for (i = 0; i < 300; i++) a[i] -= b[i]; _Pragma("endscop") i = 7;
  printf("%d %f\\n", i, sum());
  return 0;
}
/* last line */
"""


@pytest.fixture(scope="module")
def spliced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("splice")
    result = transform(folder / "in.c", FILE)
    write(folder / "out.c", result.text)
    return folder


def outside(text):
    """The pieces of a transformed file between its regions."""
    blocks = re.split(r"\n? *\{ /\* polybuild: .*?\n *\} \}\n#line \d+ [^\n]*\n", text, flags=re.DOTALL)
    return [re.sub(r"\A(?:.*?\n)?#line 1 [^\n]*\n", "", blocks[0], flags=re.DOTALL), *blocks[1:]]


def test_it_computes_the_same(spliced):
    expected = output(spliced / "in.c")
    assert output(spliced / "out.c") == expected
    assert output(spliced / "out.c", "-fopenmp") == expected


def test_what_stands_outside_is_unchanged(spliced):
    pieces = outside((spliced / "out.c").read_text())
    assert len(pieces) == 4
    position = 0
    for piece in pieces:
        assert piece in FILE[position:], piece
        position = FILE.index(piece, position) + len(piece)
    assert FILE.startswith(pieces[0])
    assert FILE.endswith(pieces[-1])
    assert pieces[-1].startswith(" i = 7;\n")


def test_the_original_loops_are_there_verbatim(spliced):
    text = (spliced / "out.c").read_text()
    for body in re.findall(r"#pragma scop\n(.*?)\n#pragma endscop", FILE, flags=re.DOTALL):
        assert f"\n{body}\n" in text
    assert "\n for (i = 0; i < 300; i++) a[i] -= b[i]; \n" in text


@COMPILERS
@pytest.mark.parametrize("flags", [(), ("-fopenmp",), ("-O2",)])
def test_no_warning(flags, compiler, spliced):
    assert messages(compiler, spliced / "out.c", *SILENT, *flags) == (0, "")


def test_its_own_output_is_left_alone(spliced):
    again = compile_source(str(spliced / "out.c"), Options(), ["gcc"], [])
    assert again.regions == ()
    assert again.text == (spliced / "out.c").read_text()
    assert again.diagnostics == ()


def test_windows_line_ends_stay(tmp_path):
    unix = transform(tmp_path / "in.c", FILE).text
    windows = transform(tmp_path / "in.c", FILE.replace("\n", "\r\n")).text
    assert windows == unix.replace("\n", "\r\n")
    assert output(write(tmp_path / "out.c", windows)) == output(tmp_path / "in.c")


def test_a_byte_order_mark_stays_first(tmp_path):
    result = transform(tmp_path / "in.c", b"\xef\xbb\xbf" + FILE.encode())
    assert write(tmp_path / "out.c", result.text).read_bytes().startswith(b"\xef\xbb\xbf#")
    assert result.text.count("\ufeff") == 1
    assert output(tmp_path / "out.c") == output(tmp_path / "in.c")


def test_bytes_that_are_no_utf8_stay(tmp_path):
    text = FILE.encode().replace(b"/* first line */", b'static const char name[] = "\xe9\xff"; /* \xfc */')
    text = text.replace(b"// the macro", b"// \xe4 macro").replace(b"%d %f", b"\xe9 %d %f")
    result = transform(tmp_path / "in.c", text)
    data = write(tmp_path / "out.c", result.text).read_bytes()
    for piece in (b'"\xe9\xff"; /* \xfc */', b"// \xe4 macro", b"\xe9 %d %f"):
        assert piece in data


def test_a_missing_last_newline_stays_missing(tmp_path):
    text = transform(tmp_path / "in.c", FILE.rstrip("\n")).text
    assert text.endswith("/* last line */")


def test_a_file_without_regions_is_the_same_file(tmp_path):
    text = "int x;\r\n/* \u00e9 */\nint y;"
    assert transform(tmp_path / "in.c", text).text == text


# each line with a place where BROKEN code has an error
BROKEN = """\
#ifdef BROKEN
struct wrong { double x; };
static struct wrong one, two[50];
#else
static int one, two[50];
#endif
int before(void); int before(void) { return one + 1; } /* error: before */
double f(double *restrict a, double *restrict b);
double f(double *restrict a, double *restrict b) {
#pragma scop
  for (int i = 0; i < 50; i++) {

    a[i] =
      two[i] + 1; /* error: inside */
    b[i] = a[i];
  }
#pragma endscop
  int x = one + 2; /* error: between */
  _Pragma("scop")
  for (int i = 0; i < 50; i++)
    b[i] += two[i] * 3; /* error: second */
  _Pragma("endscop") x += one + 3; /* error: same line */
#pragma scop
  for (int i = 1; i < 50; i++) a[i] = a[i - 1];
#pragma endscop

  return a[0] + x + (one + 4); /* error: after */
}
"""


@COMPILERS
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_errors_are_reported_at_the_users_lines(newline, compiler, tmp_path):
    path = tmp_path / "in.c"
    result = transform(path, BROKEN.replace("\n", newline))
    source = write(tmp_path / "out.c", result.text)
    assert messages(compiler, source, *SILENT) == (0, "")
    code, text = messages(compiler, source, "-DBROKEN", "-ferror-limit=0" if compiler == "clang" else "-w")
    assert code != 0
    wanted = {number for number, line in enumerate(BROKEN.split("\n"), start=1) if "error:" in line}
    # a statement over two lines is generated as one, at its first
    inside = BROKEN.split("\n").index("    a[i] =") + 1
    reported = {
        int(line) for line in re.findall(rf"^{re.escape(str(path))}:(\d+):\d+: error:", text, re.MULTILINE)
    }
    assert reported == wanted | {inside}
    assert str(source) not in text


def test_debuggers_see_the_users_file_and_helpers_apart(tmp_path):
    helpers, *others = re.findall(
        r'^#line \d+ (".*")$', transform(tmp_path / "in.c", FILE).text, flags=re.MULTILINE
    )
    assert helpers == '"polybuild_helpers.h"'
    assert set(others) == {f'"{tmp_path}/in.c"'}


@pytest.mark.parametrize("name", ['q"uote.c', "back\\slash.c", "a space.c", "\u00fcml\u00e4ut.c", "per%d.c"])
def test_odd_file_names(name, tmp_path):
    path = tmp_path / name
    result = transform(path, FILE)
    source = write(tmp_path / "out.c", result.text.replace("return 0;", "return wrong;"))
    _, text = messages("gcc", source)
    line = FILE.split("\n").index("  return 0;") + 1
    assert f"{path}:{line}:" in text


def test_quoted():
    assert quoted('a\\b"c.c') == '"a\\\\b\\"c.c"'
