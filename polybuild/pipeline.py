"""The road: C text in, C text out. Reading this file top to bottom is reading the design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polybuild.diagnostics import Diagnostic
from polybuild.options import Options
from polybuild.report.model import RegionReport


@dataclass(frozen=True, slots=True)
class Result:
    """What one file became.

    ``text`` is the transformed file (equal to the input where nothing was
    transformed); ``dependencies`` are the files it was made from.
    """

    text: str
    regions: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    dependencies: tuple[str, ...]


def compile_source(path: str, options: Options, compiler: Sequence[str], flags: Sequence[str]) -> Result:
    """Transform the regions of the C file at ``path``.

    ``compiler`` is the command of the build's C compiler (``["gcc"]``), ``flags``
    the flags the file is compiled with. Raises SourceError if the file cannot be
    read or preprocessed; a region that cannot be transformed raises nothing, it
    is kept and reported.
    """
    raise NotImplementedError
