"""No block of code on a page is without something that holds it; and what is data or grammar is held here."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter

import jsonschema
import pytest
import yaml
from page_blocks import ELSEWHERE, OUTLINES, ROOT, SHOWN, all_blocks, blocks_of, elsewhere, treatment

from benchmarks.programs.recipes import read_recipe
from polybuild.cli.commands import COMMANDS
from polybuild.cli.completion import PARSERS
from polybuild.machine.file import read_machine_file
from polybuild.options import Options
from polybuild.targets.languages import ARGUMENTS

BLOCKS = all_blocks()
HELD = {"session", "data", "usage", "message", "outline"}


def of(kind):
    return [pytest.param(each, id=f"{each.page}-{each.number}") for each in BLOCKS if treatment(each) == kind]


def test_every_block_is_held():
    assert [f"{each.page}, {each.number}" for each in BLOCKS if not treatment(each)] == []
    assert {
        each for each in map(treatment, BLOCKS) if each not in HELD and not (ROOT / each).is_file()
    } == set()
    assert len(BLOCKS) > 200


def test_blocks_that_nothing_holds_are_seen():
    blocks = blocks_of('```c\nint x;\n```\n```c title="x.c"\nint x;\n```\n```\nx\n```\n')
    assert [treatment(each) for each in blocks] == ["", "session", ""]


def test_outlines_are_few_and_known():
    assert Counter(each.page for each in BLOCKS if treatment(each) == "outline") == OUTLINES


def test_code_is_fenced():
    indented = re.compile(r"(?<=\n\n) {4}(?! *[-*\d])\S.*")
    texts = {each.page: (ROOT / each.page).read_text("utf-8") for each in BLOCKS}
    outside = {
        page: re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
        for page, text in texts.items()
    }
    assert [page for page, text in outside.items() if indented.search(text)] == []


def test_what_is_typed_elsewhere_is_on_a_page():
    lines = [line for each in BLOCKS if each.language == "sh" for line in each.lines]
    assert {elsewhere(line) for line in lines} - {""} == set(ELSEWHERE)
    for reason in ELSEWHERE.values():
        assert all((ROOT / path).is_file() for path in re.findall(r"tests/[\w/]+\.py", reason)), reason


@pytest.mark.parametrize("place", SHOWN, ids=lambda place: f"{place[0]}-{place[1]}")
def test_what_is_shown_is_what_is_tested(place):
    (block,) = [each for each in BLOCKS if (each.page, each.number) == place]
    assert block.text in (ROOT / SHOWN[place]).read_text("utf-8")


@pytest.mark.parametrize("block", of("usage"))
def test_grammar_names_commands_and_options(block):
    for line in block.lines:
        command = line.split()[1]
        options = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", line.partition(" -- ")[0]))
        if command.startswith("--"):
            assert options <= set(COMMANDS), line
            continue
        assert command in COMMANDS, line
        known = PARSERS[command]()._option_string_actions if command in PARSERS else {}
        assert options <= {*known, "--"}, line


@pytest.mark.parametrize("block", of("message"))
def test_messages_have_the_words_of_the_source(block):
    """Their wording as a whole is held by the tests of those who say them."""
    said = said_by_source()
    shown = re.sub(r"[\w./-]+\.c\b|`[^`]*`|'[^']*'", "", block.text)
    assert set(re.findall(r"\b[a-z]{4,}\b", shown)) - said == set()


def said_by_source() -> set[str]:
    """The words of the package and its runtime."""
    paths = [path for path in (ROOT / "polybuild").rglob("*") if path.suffix in {".py", ".c", ".h"}]
    return set(re.findall(r"[a-z]{4,}", "\n".join(path.read_text("utf-8") for path in paths)))


@pytest.mark.parametrize("block", of("data"))
def test_data_is_understood(block, tmp_path):
    if block.language == "json":
        schema = ROOT / "polybuild" / "report" / "record" / "schemas" / "report.json"
        jsonschema.validate(json.loads(block.text), excerpt_of(json.loads(schema.read_text("utf-8"))))
    elif block.page == "benchmarks/README.md":
        (tmp_path / "plate").mkdir()
        (tmp_path / "programs").mkdir()
        recipe = tmp_path / "programs" / "heat.toml"
        recipe.write_text(block.text)
        assert read_recipe(recipe).marks
    elif block.title:
        (tmp_path / block.title).write_text(block.text)
        assert read_machine_file(tmp_path / block.title).figures
    elif block.language == "toml":
        settings = tomllib.loads(block.text)["tool"]["polybuild"]
        Options().with_settings({key: as_word(value) for key, value in settings.items()})
    else:
        check_workflow(yaml.safe_load(block.text))


def excerpt_of(schema: object) -> object:
    """A schema that lets keys be left out."""
    if isinstance(schema, dict):
        return {key: excerpt_of(each) for key, each in schema.items() if key != "required"}
    return [excerpt_of(each) for each in schema] if isinstance(schema, list) else schema


def as_word(value: object) -> str:
    """A value of TOML as on the command line."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def check_workflow(data: object) -> None:
    """The hook that is asked for is offered; the commands of steps are understood."""
    if isinstance(data, dict):
        offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
        for hook in data["repos"][0]["hooks"]:
            (entry,) = [each["entry"] for each in offered if each["id"] == hook["id"]]
            command = entry.split()[1]
            PARSERS[command]().parse([*hook["args"], "in.c"])
        return
    assert isinstance(data, list)
    steps = [each["run"] for each in data if "run" in each]
    assert any(each.startswith("cmake") for each in steps)
    for step in steps:
        if step.startswith("polybuild"):
            PARSERS[step.split()[1]]().parse(step.split()[2:])


def test_functions_of_devices():
    text = (ROOT / "docs" / "guide" / "gpu.md").read_text("utf-8")
    named = re.findall(r"`(\w+)`", text[text.index("## Results") : text.index("## Sparse")])
    assert set(ARGUMENTS) <= set(named)
