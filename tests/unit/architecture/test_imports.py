"""Imports follow the table of rooms in ARCHITECTURE.md, and nothing imports in a circle."""

from __future__ import annotations

import pytest
from import_rules import circles, imports, order_of_rooms, room_of, runtime_calls, wrong_arrows
from package_modules import ROOT, package_modules, planted

ROOMS = order_of_rooms((ROOT / "ARCHITECTURE.md").read_text())

SMALL = {
    "": "",
    "options": "",
    "scop.model": "from polybuild.options import Options",
    "targets.cpu.mapping": "from polybuild.scop.model import Scop",
    "targets.gpu.mapping": "from polybuild.scop import model",
}
"""A package that keeps the rules."""


def graph(**changes: str) -> dict[str, set[str]]:
    return imports(planted(SMALL | {name.replace("__", "."): text for name, text in changes.items()}))


def test_every_room_of_the_table_is_there_and_every_module_has_one():
    package = ROOT / "polybuild"
    assert len(ROOMS) > 15
    for room in ROOMS:
        path = package / room.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), room
    for name, module in package_modules().items():
        assert not name or not module.text or room_of(name, ROOMS) >= 0


def test_imports_go_down():
    assert wrong_arrows(imports(package_modules()), ROOMS) == []


def test_no_module_imports_itself_through_others():
    assert circles(imports(package_modules())) == []


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"options": "import polybuild.scop.model"}, "up: options imports scop.model"),
        ({"options": "def f():\n    from polybuild.scop import model"}, "up: options imports scop.model"),
        (
            {"options": "if TYPE_CHECKING:\n    from polybuild.scop.model import Scop"},
            "up: options imports scop.model",
        ),
        (
            {"targets__cpu__mapping": "from polybuild.targets.gpu import mapping"},
            "across: targets.cpu.mapping imports targets.gpu.mapping",
        ),
    ],
)
def test_a_wrong_arrow_is_seen(changes, complaint):
    assert wrong_arrows(graph(), ROOMS) == []
    assert wrong_arrows(graph(**changes), ROOMS) == [complaint]


def test_a_circle_is_seen():
    assert circles(graph()) == []
    texts = {"scop__model": "from polybuild.scop import walk", "scop__walk": "import polybuild.scop.model"}
    assert circles(graph(**texts)) == ["scop.model <-> scop.walk"]


def test_a_module_without_a_room_is_refused():
    with pytest.raises(LookupError, match=r"attic\.old is in no room"):
        wrong_arrows(graph(attic__old="import polybuild.options"), ROOMS)


def test_the_innermost_room_counts():
    assert room_of("report.explain.page", ROOMS) > room_of("driver.region", ROOMS)
    assert room_of("driver.region", ROOMS) > room_of("report.record.model", ROOMS)


def runtime() -> dict[str, str]:
    return {path.name: path.read_text() for path in (ROOT / "polybuild/runtime/src").glob("*.c")}


def test_files_of_the_runtime_call_each_other_in_no_circle():
    calls = runtime_calls(runtime())
    assert len(set().union(*calls.values())) > 4
    assert circles(calls) == []


def test_a_circle_in_the_runtime_is_seen():
    sources = {"a.c": "int a(int x)\n{ return b(x); }\n", "b.c": "/* a */ int b(int x)\n{ return x; }\n"}
    assert circles(runtime_calls(sources)) == []
    sources["b.c"] = "int b(int x)\n{ return x ? a(x - 1) : 0; }\n"
    assert circles(runtime_calls(sources)) == ["a.c <-> b.c"]
