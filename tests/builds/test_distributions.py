"""What a release uploads: what is in it, what it says of itself, and that it works where it is unpacked."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import polybuild

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The source distribution, and the wheel that is built from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("distributions")
    command = [sys.executable, "-m", "build", "--outdir", folder, ROOT]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


def tracked() -> set[str]:
    """The files of the source tree."""
    command = ["git", "ls-files", "-z"]
    return set(
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    ) - {""}


def test_the_source_distribution_has_all_sources(distributions):
    source, _ = distributions
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {each for each in tracked() if not Path(each).name.startswith(".git")} - names == set()


def test_the_wheel_has_the_package_and_what_goes_with_it(distributions):
    _, wheel = distributions
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {each for each in tracked() if each.startswith("polybuild/")}
    assert package - names == set()
    pages = {each for each in tracked() if re.fullmatch(r"docs/[\w-]+/.*\.(md|svg)", each)}
    assert {each.replace("docs/", "polybuild/documentation/", 1) for each in pages} - names == set()
    others = names - package - {each for each in names if each.startswith("polybuild/documentation/")}
    assert {each.partition("/")[0].rpartition(".")[2] for each in others} == {"data", "dist-info"}
    assert any(each.endswith("/share/cmake/polybuild/polybuildConfig.cmake") for each in others)
    assert any(each.endswith("/licenses/LICENSE") for each in others)
    assert not [each for each in names if "/tools/" in each or "__pycache__" in each]


def test_the_wheel_describes_itself(distributions):
    _, wheel = distributions
    with zipfile.ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    assert metadata["Version"] == polybuild.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "Topic :: Software Development :: Compilers" in metadata.get_all("Classifier", [])
    text = metadata.get_payload()
    assert "Ten minutes with a real program" in text
    assert [each for each in re.findall(r"\]\(([^)\s]+)\)", text) if ":" not in each] == []


def test_the_wheel_works_where_it_is_unpacked(distributions, tmp_path):
    _, wheel = distributions
    zipfile.ZipFile(wheel).extractall(tmp_path / "unpacked")  # noqa: S202 -- our own
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "unpacked")}

    def printed(*words: str) -> str:
        command = [sys.executable, "-m", "polybuild", *words]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=tmp_path, env=environment
        ).stdout

    assert str(tmp_path / "unpacked") in printed("--includedir")
    assert printed("docs", "tutorial") == (ROOT / "docs" / "guide" / "tutorial.md").read_text("utf-8")
    assert "`--tile-sizes N,N,...`" in printed("docs", "tile-sizes")


def test_the_version_stands_in_one_place():
    assert f"\nversion: {polybuild.__version__}\n" in (ROOT / "CITATION.cff").read_text()
