"""What the directives of loops say."""

from __future__ import annotations

from compiling import transform

SCALE = """
void scale(int n, %(type)s (*restrict out)[n], const %(type)s (*restrict in)[n], %(type)s table[4][4])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[i][j] = in[i][j] / 2 + table[1][2];
#pragma endscop
}
"""


def directives(tmp_path, element):
    text = transform(tmp_path / "scale.c", SCALE % {"type": element}).text
    return [line for line in text.splitlines() if "(parallel for" in line]


def test_threads_have_pointers_of_their_own_where_characters_are_written(tmp_path):
    (line,) = directives(tmp_path, "unsigned char")
    assert "firstprivate(in, out, table)" in line


def test_threads_share_pointers_that_no_write_can_change(tmp_path):
    (line,) = directives(tmp_path, "float")
    assert "firstprivate" not in line
