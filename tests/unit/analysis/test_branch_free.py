"""Which conditions are written without branches."""

from __future__ import annotations

import pytest
from compiling import output, transform, write

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
static void step(int n, int q, unsigned char (*restrict out)[n], unsigned char (*restrict in)[n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      int around = in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1];
      out[i][j] = %s;
    }
#pragma endscop
  (void)q;
}
int main(void)
{
  for (int n = 3; n < 40; n += 4) {
    unsigned char *out = calloc((size_t)n * (size_t)n, 1), *in = malloc((size_t)n * (size_t)n);
    unsigned sum = 0;
    for (int k = 0; k < n * n; k++)
      in[k] = k * 7 %% 5 < 2;
    step(n, 2, (void *)out, (void *)in);
    for (int k = 0; k < n * n; k++)
      sum = sum * 31 + out[k];
    printf("%%u\\n", sum);
    free(out);
    free(in);
  }
  return 0;
}
"""
BRANCH_FREE = {
    "around == 3 || (around == 2 && in[i][j])": "(around == 3) | ((around == 2) & (in[i][j] != 0))",
    "!around && in[i][j] < in[i][j - 1]": "(!around) & (in[i][j] < in[i][j - 1])",
    "around == 4 && in[i][j + 2 < n ? j + 2 : j]": "(around == 4) & (in[i][",
    "in[i][j] && around": "(in[i][j] != 0) & (around != 0)",
    "around == 2 && in[i][j] & 6": "(around == 2) & ((in[i][j] & 6) != 0)",
    "around > 1 && in[i][j - 1] != in[i][j + 1] ? 7 : 1": "(around > 1) & (in[i][j - 1] != in[i][j + 1])",
}
BRANCHES = (
    "q != 0 && around / q == 1",
    "around > 1 && around + in[i][j] > 2",
    "around > 1 || (i + 3 < n && in[i + 3][j] == 1)",
)


def test_bits(tmp_path):
    """Of a bit and a comparison gcc finds no narrow vectors but by their product."""
    text = transform(tmp_path / "source.c", PROGRAM % "around == 2 && in[i][j] & 1", "-O3").text
    assert "(around == 2) * (in[i][j] & 1)" in text
    original = write(tmp_path / "original.c", PROGRAM % "around == 2 && in[i][j] & 1")
    assert output(write(tmp_path / "new.c", text), "-O3") == output(original, "-O3")


@pytest.mark.parametrize("condition", [*BRANCH_FREE, *BRANCHES])
def test_conditions(tmp_path, condition):
    text = transform(tmp_path / "source.c", PROGRAM % condition, "-O3").text
    loops = text[text.index("the new order") : text.index("the original loops")]
    assert (" & " in loops) is (condition in BRANCH_FREE)
    assert BRANCH_FREE.get(condition, "") in loops
    original = write(tmp_path / "original.c", PROGRAM % condition)
    new = write(tmp_path / "new.c", text)
    assert output(new, "-Wno-unknown-pragmas") == output(original, "-Wno-unknown-pragmas")
