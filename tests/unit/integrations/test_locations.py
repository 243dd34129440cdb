"""Files that builds use lie where polybuild says, and agree about the version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import polybuild
from polybuild.integrations import locations

ROOT = Path(__file__).resolve().parents[3]


def version() -> str:
    return polybuild.__version__


def test_cmake_directory() -> None:
    config = locations.cmake_dir() / "polybuildConfigVersion.cmake"
    assert f'set(PACKAGE_VERSION "{version()}")' in config.read_text()


def test_cmake_files_of_the_tree_have_its_version() -> None:
    text = (ROOT / "cmake" / "polybuildConfigVersion.cmake").read_text()
    assert f'set(PACKAGE_VERSION "{version()}")' in text


def test_every_cmake_file_is_installed_or_for_the_tree_only() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shipped = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    files = {f"cmake/{path.name}" for path in (ROOT / "cmake").iterdir() if path.is_file()}
    installed = {each for each in shipped if each.startswith("cmake/")}
    assert installed == files - {"cmake/PolybuildCheckout.cmake", "cmake/checkout.py"}
    assert shipped["docs/polybuild.1"] == "share/man/man1/polybuild.1"


def test_header() -> None:
    text = (locations.include_dir() / "polybuild.h").read_text()
    assert f'#define POLYBUILD_VERSION "{version()}"' in text
    numbers = [re.search(rf"VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    assert ".".join(numbers) == version()
