"""Names and prose use the field's terms, and a class name means one thing."""

from __future__ import annotations

import pytest
from package_modules import ROOT, package_modules, planted
from vocabulary import invented_names, invented_phrases, prose, repeated_classes


def written() -> dict[str, str]:
    texts = {f"polybuild/{name}": prose(module.text) for name, module in package_modules().items()}
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    return texts | {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in pages}


def test_every_class_has_a_name_of_its_own():
    assert repeated_classes(package_modules()) == []


def test_names_are_the_field_s():
    assert invented_names(package_modules()) == []


def test_prose_uses_the_field_s_terms():
    assert invented_phrases(written()) == []


def test_a_class_name_that_means_two_things_is_seen():
    text = "class Plan: ...\nclass Other: ..."
    assert repeated_classes(planted({"a": text})) == []
    assert repeated_classes(planted({"a": text, "b.c": "def f():\n    class Plan: ..."})) == ["Plan: a, b.c"]


@pytest.mark.parametrize(
    ("module", "text", "found"),
    [
        ("driver.ladder", "", "module ladder"),
        ("a", "class _HeldElement: ...", "class _HeldElement"),
        ("a", "class A:\n    def _expect_apart(self): ...", "function _expect_apart"),
        ("a", "def f(*, block_dates): ...", "variable block_dates"),
        ("a", "MOST_LOST = 3", "variable MOST_LOST"),
        ("a", "class Known: ...", "class Known"),
        ("a", "x._slopes = 3", "variable _slopes"),
        ("a", "import b as coarse", "variable coarse"),
        ("a", "def at_least(): ...", "function at_least"),
        ("a", "class Site: ...", "class Site"),
        ("a.iterations", "", "module iterations"),
    ],
)
def test_an_invented_name_is_seen(module, text, found):
    assert any(f"{module}: {found}: " in line for line in invented_names(planted({module: text})))


@pytest.mark.parametrize(
    "text",
    [
        "almost = atleast = update = brother = 1",
        "iterations = [ends for ends in places]",
        "class CallSite: ...",
        "def check_instance_coverage(): ...",
        "print(held)",
    ],
)
def test_other_names_are_fine(text):
    assert invented_names(planted({"a": text})) == []


def test_invented_prose_is_seen():
    assert invented_phrases({"a": "x = 1\n# Those behind read it.\n"}) == ["a:2: Those behind: last writers"]
    assert invented_phrases({"a": prose('"""All dates."""\ndates = 1\n')}) == ["a:1: dates: time stamps"]
    assert invented_phrases({"a": "It is up to date on the broad way."}) == []
