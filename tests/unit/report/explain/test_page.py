"""The page of an explanation: whole, well formed, and with pictures of what is there."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.report.explain.gather import gather
from polybuild.report.explain.page import page
from polybuild.report.explain.pictures.footprints import footprints
from polybuild.report.explain.pictures.iterations import iteration_space, nests
from polybuild.report.explain.pictures.tiling import tiling
from polybuild.report.explain.pictures.tree import schedule_tree

SOURCE = """\
void heat(int steps, int n, double a[restrict n][n], double b[restrict n][n]) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]); // <&>
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = 2 * b[i][j];
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) if (a[0][i] > (a[0][i] = 1)) goto out;
#pragma endscop
out:;
}
"""
_VOID = {"meta", "br"}


class Balance(HTMLParser):
    """Fails where a tag closes another one than the last that is open."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 -- the parser calls it so
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "heat & co.c"
    path.write_text(SOURCE)
    return str(path), compile_source(str(path), Options(), ["gcc"], [])


def test_the_page_is_whole(result):
    path, found = result
    text = page(path, *gather(found))
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert text.count("<svg") == 4
    assert "Tiles of one colour run at the same time." in text
    assert "heat &amp; co.c" in text
    assert "&lt;&amp;&gt;" in text
    assert "<script" not in text
    assert 'src="' not in text
    assert "Kept." in text
    assert "a[i][j] (line 9) writes what is read by a[i - 1][j] (line 6)" in text
    assert "<td>line 6</td><td><code>n &gt;= 1</code>: " in text


def test_a_page_of_several_regions_begins_with_an_index_and_shows_what_is_kept(result):
    path, found = result
    text = page(path, *gather(found))
    assert text.index('<a href="#region2">lines 12 to 14</a>') < text.index(
        '<h2 id="region1">Lines 2 to 11 in'
    )
    kept = text[text.index('<h2 id="region2">Lines 12 to 14 in <code>heat</code>') :]
    assert 'class="n">13 </span>' in kept
    (caret,) = [line for line in kept.splitlines() if "^" in line]
    source = next(line for line in SOURCE.splitlines() if "goto" in line)
    assert caret.index("<span") - len("12 ") == source.index("goto")


def test_pointers_are_compared_in_words(tmp_path):
    path = tmp_path / "in.c"
    path.write_text(
        "void f(int n, double *a, double *c) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) c[i] = a[i];\n#pragma endscop\n}\n"
    )
    text = page(str(path), *gather(compile_source(str(path), Options(), ["gcc"], [])))
    assert "<summary>&#x27;a&#x27; and &#x27;c&#x27; must not overlap</summary>" in text


def test_kernels_stand_beside_the_source(tmp_path):
    path = tmp_path / "in.c"
    path.write_text(OTHERS)
    text = page(str(path), *gather(compile_source(str(path), Options(backend="opencl"), ["gcc"], [])))
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    beside = text[text.index("<figcaption>the source") : text.index("Where there is no device")]
    assert "__kernel" in beside
    assert "POLYBUILD_OMP" not in beside


def test_the_page_is_always_the_same(result):
    path, found = result
    again = compile_source(path, Options(), ["gcc"], [])
    assert page(path, *gather(found)) == page(path, *gather(again))


def test_pictures_show_iterations_elements_and_order(result):
    details = result[1].details[0]
    (nest,) = nests(details.scop)
    drawn = [
        iteration_space(details.scop, details.dependences, nest),
        footprints(details.scop),
        schedule_tree(details.scop, details.schedule),
    ]
    circles, boxes, words = (ET.fromstring(each) for each in drawn)  # noqa: S314 -- our own
    space = "{http://www.w3.org/2000/svg}"
    # six steps by six rows of two statements, and two dots in the legend
    assert len(circles.findall(f"{space}circle")) == 2 * 36 + 2
    kinds = [each.get("class") for each in boxes.findall(f"{space}rect")]
    assert kinds.count("strong") == 4 + 1 + 1  # the stencil, its result, the legend
    said = " ".join(each.text for each in words.findall(f"{space}text"))
    assert "run by threads" in said
    assert "floor(" in said


def test_arrows_bend_around_the_iterations_in_their_way(tmp_path):
    path = tmp_path / "decay.c"
    path.write_text(
        "void decay(int n, double *restrict a) {\n#pragma scop\n"
        "for (int i = 2; i < n; i++) a[i] = 0.5 * a[i - 1] + 0.25 * a[i - 2];\n#pragma endscop\n}\n"
    )
    details = compile_source(str(path), Options(), ["gcc"], []).details[0]
    (nest,) = nests(details.scop)
    drawn = ET.fromstring(iteration_space(details.scop, details.dependences, nest))  # noqa: S314 -- our own
    space = "{http://www.w3.org/2000/svg}"
    # among six iterations five that are one apart, and one in the legend; four that are two apart
    assert len([each for each in drawn.findall(f"{space}line") if each.get("class") == "flow"]) == 5 + 1
    assert len(drawn.findall(f"{space}path")) == 4


# a product in register tiles, whose operands are packed; a sweep that slants; a loop that stays as it is
OTHERS = """\
void product(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
#pragma endscop
#pragma scop tile_sizes(6,12,8)
  for (int t = 0; t < n; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) a[i][j] += a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
#pragma endscop
#pragma scop
  for (int i = 1; i < n; i++) a[i][0] = a[i - 1][0] * 2;
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    path = tmp_path_factory.mktemp("others") / "in.c"
    path.write_text(OTHERS)
    return str(path), compile_source(str(path), Options(), ["gcc"], [])


def test_a_page_of_packed_buffers(others):
    path, found = others
    text = page(path, *gather(found))
    assert "copies into a packed buffer" in text
    assert text.count("Tiles of the new order") == 2


def test_tiles_that_slant(others):
    product, sweep, chain = others[1].details
    (nest,) = nests(product.scop)
    assert tiling(product.scop, product.schedule, nest)[0].count("<title>tiles along i and") == 1
    (nest,) = nests(sweep.scop)
    picture, caption = tiling(sweep.scop, sweep.schedule, nest)
    assert caption.startswith("Tiles of one colour run at the same time.")
    assert caption.endswith("a square stands for 1 of t and 1 of i.")
    assert all(f'class="tile{colour}"' in picture for colour in range(4))  # one wavefront after the other
    (nest,) = nests(chain.scop)
    assert tiling(chain.scop, chain.schedule, nest) == ("", "")
