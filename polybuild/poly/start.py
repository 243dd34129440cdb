"""Importing islpy in half the time.

It asks the metadata of its distribution for its version, with modules (for messages of mail, among others)
that take longer to load than isl. The name of the folder of that metadata says the same.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

_MODULE = "islpy.version"


def import_islpy() -> None:
    """Import islpy, which knows its version as ever; raises what importing it raises."""
    version = None if "islpy" in sys.modules else _version()
    if version is not None:
        sys.modules[_MODULE] = version
        try:
            islpy = import_module("islpy")  # it looks for what stands here
        except ImportError:  # another islpy wants to know more; what is raised here tells of both errors
            del sys.modules[_MODULE]
            import_module("islpy")
        else:
            islpy.version = version  # type: ignore[attr-defined]  # as importing it from a file does
    import_module("islpy")


def _version() -> ModuleType | None:
    """What ``islpy.version`` says; None if the name of a folder does not tell."""
    found = PathFinder.find_spec("islpy")
    if found is None or found.origin is None:
        return None
    folders = list(Path(found.origin).parents[1].glob("islpy-*.dist-info"))
    text = folders[0].name.removesuffix(".dist-info").partition("-")[2] if len(folders) == 1 else ""
    parts = text.split(".")
    if not all(each.isdigit() for each in parts):
        return None
    module = ModuleType(_MODULE)
    module.__dict__.update(VERSION_TEXT=text, VERSION_STATUS="", VERSION=tuple(map(int, parts)))
    return module
