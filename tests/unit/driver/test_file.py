"""The pipeline as a whole: what a fault in one pass costs, what passes print."""

from __future__ import annotations

import pytest

from polybuild import effort
from polybuild.cli import main as cli
from polybuild.driver import file as pipeline
from polybuild.driver import passes
from polybuild.options import Options

TWO_REGIONS = """\
void f(int n, double *restrict a) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) a[i] += 2;
#pragma endscop
}
"""


@pytest.fixture
def failing_once(monkeypatch):
    """The second region's model cannot be made, by a fault of polybuild."""
    extract_scop = passes.extract_scop

    def extract(region, **form):
        if region.index:
            raise KeyError("x")
        return extract_scop(region, **form)

    monkeypatch.setattr(passes, "extract_scop", extract)


def compiled(tmp_path):
    file = tmp_path / "two.c"
    file.write_text(TWO_REGIONS)
    return pipeline.compile_source(str(file), Options(), ["gcc"], [])


@pytest.mark.usefixtures("failing_once")
def test_a_fault_costs_one_region(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("POLYBUILD_DEBUG", raising=False)
    result = compiled(tmp_path)
    assert [region.status for region in result.regions] == ["transformed", "kept"]
    (diagnostic,) = result.diagnostics
    assert (diagnostic.code, diagnostic.location.line) == ("internal", 5)
    assert "KeyError: 'x'" in diagnostic.message
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("failing_once")
def test_the_traceback_is_there_for_who_asks(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("POLYBUILD_DEBUG", "1")
    compiled(tmp_path)
    assert "Traceback" in capsys.readouterr().err


def test_a_region_has_a_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(effort, "REGION_OPERATIONS", 10)
    result = compiled(tmp_path)
    assert [region.code for region in result.regions] == ["too-complex", "too-complex"]
    monkeypatch.undo()
    assert [region.status for region in compiled(tmp_path).regions] == ["transformed", "transformed"]


def test_a_clause_makes_a_kept_region_an_error(tmp_path, capsys):
    source = tmp_path / "in.c"
    text = (
        "void f(int n, int *a) {\n#pragma scop CLAUSE\n  goto out;\n  a[0] = 1;\n#pragma endscop\nout:;\n}\n"
    )
    for clause, code in (("", 0), ("on_unsupported(error)", 1), ("on_unsupported(warn)", 0)):
        source.write_text(text.replace("CLAUSE", clause))
        out = tmp_path / f"out{code}.c"
        out.unlink(missing_ok=True)
        assert cli.run(["compile", str(source), "-o", str(out)]) == code
        assert out.exists() == (code == 0)
        said = capsys.readouterr().err
        assert ("error: " in said) == (code == 1)
        assert cli.run(["explain", str(source)]) == code
        capsys.readouterr()


@pytest.mark.parametrize(("flags", "wanted"), [(["-O3"], False), ([], True)])
@pytest.mark.parametrize("contraction", ["scalars", "copies"])
def test_only_counters_for_a_compiler_that_does_not_optimise_ask_for_registers(
    tmp_path, flags, wanted, contraction
):
    file = tmp_path / "in.c"
    file.write_text(
        "void f(int n, const double *restrict a, double *restrict b) {\n"
        "  double t[1000];\n"
        "#pragma scop parallel(off)\n"
        "  for (int i = 0; i < n; i++) t[i] = 2 * a[i];\n"
        "  for (int i = 1; i < n; i++) b[i] = t[i] + t[i - 1];\n"
        "#pragma endscop\n}\n"
    )
    result = pipeline.compile_source(str(file), Options(contract_arrays=contraction), ["gcc"], flags)
    assert "'t' is kept in 2 variables" in result.regions[0].remarks[0]
    assert ("for (register long long" in result.text) is wanted
