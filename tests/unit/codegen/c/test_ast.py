"""From tree to AST: what goes wrong inside isl's callbacks comes out, and is not printed."""

from __future__ import annotations

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
