"""The changes have the form that tools and people know: Keep a Changelog."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "CHANGELOG.md").read_text("utf-8")
VERSIONS = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_versions_have_a_number_and_a_date():
    heads = [version.partition("\n")[0] for version in VERSIONS]
    assert heads[0] == "[Unreleased]"
    form = re.compile(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d")
    assert [each for each in heads[1:] if not form.fullmatch(each)] == []


def test_changes_stand_in_sections_that_come_once():
    for version in VERSIONS:
        before, *sections = re.split(r"^### ", version, flags=re.MULTILINE)
        kinds = [section.partition("\n")[0] for section in sections]
        assert set(kinds) <= KINDS
        assert len(set(kinds)) == len(kinds)
        assert re.findall(r"^- ", before, re.MULTILINE) == []
        for section in sections:
            lines = section.splitlines()[1:]
            assert [each for each in lines if each and not each.startswith(("- ", "  "))] == []


def test_no_change_is_told_twice():
    changes = re.findall(r"^- .*", TEXT, re.MULTILINE)
    assert [each for each in set(changes) if changes.count(each) > 1] == []
