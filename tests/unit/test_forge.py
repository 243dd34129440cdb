"""What a forge reads: workflows and forms that are well formed and name what there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from polybuild.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
FORGE = ROOT / ".github"
FILES = sorted(FORGE.rglob("*.yml"))
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (FORGE / "workflows").glob("*.yml")
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_commands_and_files_are_there(path):
    text = path.read_text("utf-8")
    assert yaml.safe_load(text)
    for command in re.findall(r"(?:`|run: |=gcc-15 )polybuild ([a-z]+)", text):
        assert command in COMMANDS
    for name in re.findall(r"(?:python3? |run: |, |in )((?:\.ci|tests|examples|docs)/[\w/.-]+)", text):
        assert (ROOT / name).exists(), name


def test_workflows_may_only_read_and_name_what_they_run_on():
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            assert not job["runs-on"].endswith("-latest")
            assert all(("run" in step) != ("uses" in step) for step in job["steps"])


def test_all_versions_of_python_that_are_promised_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    promised = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert WORKFLOWS["tests"]["jobs"]["python"]["strategy"]["matrix"]["python"] == promised


def test_forms_ask_for_the_bundle():
    forms = [path for path in FILES if path.parent.name == "ISSUE_TEMPLATE" and path.stem != "config"]
    assert forms
    for form in forms:
        assert "polybuild doctor --bundle" in form.read_text("utf-8")
        body = yaml.safe_load(form.read_text("utf-8"))["body"]
        names = [each["id"] for each in body if "id" in each]
        assert len(set(names)) == len(names)
        assert "bundle" in names


def test_contacts_and_addresses_stand_in_one_place():
    """Pages say under which name of [project.urls] they are; who publishes sets all of them or none."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    names = {"SECURITY.md": "Security", "CODE_OF_CONDUCT.md": "Conduct"}
    wanted = {"Source", "Documentation", *names.values()}
    for page, name in names.items():
        said = (ROOT / page).read_text("utf-8")
        assert f"`{name}` (`[project.urls]`" in said.replace("\n", " ")
        assert not re.search(r"[\w.]+@[\w.]+\.\w+", said)
    comment = next(each for each in text.split("\n\n") if "Whoever publishes" in each)
    assert all(name in comment for name in wanted)
    assert set(tomllib.loads(text)["project"].get("urls", wanted)) >= wanted
