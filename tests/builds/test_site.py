"""The documentation becomes a site without a warning, and links that lead nowhere are one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "mkdocs.yml", "docs")
EXAMPLES = (
    "examples/*/*",
    "benchmarks/README.md",
    "polybuild/report/record/schemas/*.json",
    "tests/projects/*/*.c",
)

pytestmark = pytest.mark.mkdocs


def site(tree: Path, output: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = ["mkdocs", "build", "--strict", "--site-dir", output]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"} | variables
    return subprocess.run(
        command, cwd=tree, check=False, capture_output=True, text=True, timeout=300, env=environment
    )


@pytest.fixture
def tree(tmp_path):
    """What the site is made of."""
    copy = tmp_path / "tree"
    for path in [ROOT / each for each in PARTS] + [path for each in EXAMPLES for path in ROOT.glob(each)]:
        place = copy / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and path.name == "docs":
            shutil.copytree(path, place, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.is_file():
            shutil.copy(path, place)
    return copy


@pytest.mark.fast
def test_the_site_is_built_without_a_warning(tmp_path):
    done = site(ROOT, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    assert "Mark loops in C" in (tmp_path / "site" / "index.html").read_text()
    assert 'href="../examples/heat/"' in (tmp_path / "site" / "benchmarks" / "index.html").read_text()
    assert not list((tmp_path / "site").rglob("*.py"))
    assert "googleapis" not in (tmp_path / "site" / "index.html").read_text()


def test_files_that_are_no_pages_are_linked_where_the_repository_is_known(tmp_path):
    assert site(ROOT, tmp_path / "site", REPO_URL="https://forge.example/polybuild").returncode == 0
    page = (tmp_path / "site" / "guide" / "what-ran" / "index.html").read_text()
    assert "https://forge.example/polybuild/blob/HEAD/tests/projects/reports/solver.c" in page


@pytest.mark.parametrize("link", ["nowhere.md", "tuning.md#nowhere", "../../nowhere.c", "/guide/tuning.md"])
def test_a_link_that_leads_nowhere_is_seen(link, tree, tmp_path):
    page = tree / "docs" / "guide" / "ci.md"
    page.write_text(page.read_text() + f"\nSee [there]({link}).\n")
    done = site(tree, tmp_path / "site")
    assert done.returncode != 0
    assert link.lstrip("./").partition("#")[0] in done.stderr


def test_a_page_that_no_menu_names_is_seen(tree, tmp_path):
    (tree / "docs" / "guide" / "forgotten.md").write_text("# Forgotten\n")
    assert "forgotten.md" in site(tree, tmp_path / "site").stderr
