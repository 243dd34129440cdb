"""Programs whose loops run in the lanes of vectors, beside the originals."""

from __future__ import annotations

from pathlib import Path

from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

AVX2 = "-mavx2"
ALWAYS = Options(min_work=0)
SUM = """\
static unsigned long long sum(const void *data, unsigned long size)
{
  unsigned long long found = 7;
  for (unsigned long i = 0; i < size; i++)
    found = found * 31 + ((const unsigned char *)data)[i];
  return found;
}
"""
"""What programs print their data by, in place of ``{sum}``."""


def transformed(
    directory: Path, program: str, kind: str, *flags: str, options: Options = ALWAYS, **parts: str
) -> tuple[Path, str]:
    """A file, and its text transformed for ``flags``: ``program`` with ``parts``, for numbers of ``kind``."""
    words = {"root": "sqrtf", "size": "fabsf"} if kind == "float" else {"root": "sqrt", "size": "fabs"}
    source = write(directory / "one.c", program.format(type=kind, sum=SUM, **words, **parts))
    result = compile_source(str(source), options, ["gcc"], ["-O3", *flags])
    assert [each.message for each in result.regions if each.status != "transformed"] == []
    return source, result.text


def run(compiler: str, source: Path, *flags: str) -> str:
    """What the program ``source`` prints."""
    return output(source, "-Wno-misleading-indentation", "-O2", *flags, compiler=compiler)


def check_results(source: Path, text: str) -> None:
    """That the transformed ``text`` prints what ``source`` does, with threads and with sanitizers."""
    expected = run("gcc", source, AVX2)
    new = write(source.with_name("new.c"), text)
    assert run("gcc", new, AVX2, "-fopenmp") == expected
    assert run("gcc", new, AVX2, *SANITIZED) == expected
