"""Where files lie that come with the package: CMake's, the C headers, the documentation."""

from __future__ import annotations

from importlib.metadata import Distribution, distributions
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_CONFIG = "polybuildConfig.cmake"


def cmake_dir() -> Path:
    """The directory with polybuildConfig.cmake, for CMake's ``polybuild_DIR``.

    That of the installation which runs; for a source tree that is not
    installed, the tree's own. Raises FileNotFoundError if there is neither.
    """
    for distribution in distributions(name="polybuild"):
        if _is_of_this_package(distribution):
            for file in distribution.files or ():
                path = Path(str(distribution.locate_file(file))).resolve()
                if file.name == _CONFIG and path.is_file():
                    return path.parent
    if (_PACKAGE.parent / "cmake" / _CONFIG).is_file():
        return _PACKAGE.parent / "cmake"
    raise FileNotFoundError(f"{_CONFIG} is not installed with {_PACKAGE}")


def include_dir() -> Path:
    """The directory with polybuild's C headers, for the compiler's ``-I``."""
    return _PACKAGE / "runtime" / "include"


def documentation_dir() -> Path:
    """The directory with the pages of the documentation, as Markdown.

    Wheels have a copy in the package; a source tree has its own. Raises FileNotFoundError if there is none.
    """
    for folder in (_PACKAGE / "documentation", _PACKAGE.parent / "docs"):
        if (folder / "reference" / "cli.md").is_file():
            return folder
    raise FileNotFoundError(f"the documentation is not installed with {_PACKAGE}")


def _is_of_this_package(distribution: Distribution) -> bool:
    """Whether ``distribution`` installed the package that runs, as a copy or as a link to its tree."""
    module = Path(str(distribution.locate_file("polybuild/integrations/locations.py")))
    if module.is_file():
        return module.samefile(__file__)
    return _PACKAGE.parent.as_uri() in (distribution.read_text("direct_url.json") or "")
