"""Where the files that builds need lie: the CMake package and the C headers."""

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


def _is_of_this_package(distribution: Distribution) -> bool:
    """Whether ``distribution`` installed the package that runs, as a copy or as a link to its tree."""
    module = Path(str(distribution.locate_file("polybuild/integrations/locations.py")))
    if module.is_file():
        return module.samefile(__file__)
    return _PACKAGE.parent.as_uri() in (distribution.read_text("direct_url.json") or "")
