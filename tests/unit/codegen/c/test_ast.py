"""From tree to AST: what goes wrong inside isl's callbacks comes out, and where accesses are."""

from __future__ import annotations

import re

import pytest

from polybuild.codegen.c import ast
from polybuild.driver.file import compile_source
from polybuild.options import Options


@pytest.mark.parametrize("callback", ["instance_at", "loop_origin"])
def test_a_failing_callback_fails_the_region(callback, tmp_path, monkeypatch, capfd):
    def fail(*_arguments):
        raise ValueError("planted")

    monkeypatch.setattr(ast, callback, fail)
    monkeypatch.delenv("POLYBUILD_DEBUG", raising=False)
    file = tmp_path / "one.c"
    file.write_text(
        "void f(int n, int *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n}\n"
    )
    (region,) = compile_source(str(file), Options(), ["gcc"], []).regions
    assert region.code == "internal"
    assert "planted" in region.message
    assert capfd.readouterr() == ("", "")


def test_neighbours_across_a_border_are_chosen_without_conditions_of_tiles(tmp_path):
    """Which tile an instance is in says nothing about its neighbours: isl would compare all of that."""
    file = tmp_path / "ring.c"
    file.write_text(
        """
void step(int steps, int n, double u[2][n][n]) {
#pragma scop
  for (int t = 0; t < steps; t++)
    for (int i = 0; i < n; i++)
      for (int j = 1; j < n - 1; j++)
        u[(t + 1) % 2][i][j] = u[t % 2][i == 0 ? n - 1 : i - 1][j] + u[t % 2][i][j] + u[t % 2][i][j - 1];
#pragma endscop
}
"""
    )
    text = compile_source(str(file), Options(), ["gcc"], []).text
    choices = re.findall(r"chosen\d* = ([^?;]*)\?", text)
    assert choices
    assert all(re.fullmatch(r"\w+ [=><]+ \w+ ", each) for each in choices), choices
