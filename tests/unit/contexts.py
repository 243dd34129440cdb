"""What passes are told of options, machine and compiler, for tests of them."""

from __future__ import annotations

from polybuild.context import CompileContext
from polybuild.options import Options


def context_of(**options: object) -> CompileContext:
    """``options`` on a usual machine, with a compiler that optimises."""
    return CompileContext().with_options(Options(**options))  # type: ignore[arg-type]
