"""Extensions of Python whose C files have regions, built by setuptools: the names for setup.py."""

from polybuild.integrations.setuptools_extension import (
    PolybuildExtension,
    Transforming,
    build_ext,
    check_keyword,
    finalize,
)

__all__ = ["PolybuildExtension", "Transforming", "build_ext", "check_keyword", "finalize"]
