"""The pages of the reference that are made from the code: options, report, Python interface.

They stand in ``docs/reference`` as Markdown, so that they can be read wherever the others can. A test holds
them equal to what is made here, and writes them with ``pytest --update-golden``.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polybuild
from polybuild.options import Options

DOCS = Path(__file__).resolve().parent.parent
SCHEMAS = Path(polybuild.__file__).parent / "report" / "record" / "schemas"

INTERFACE = (
    ("polybuild", ("load",)),
    ("polybuild.integrations.loading", ("Module", "LoadedFunction", "BuildError")),
    ("polybuild.integrations.notebook", ("load_ipython_extension", "run_cell")),
    ("polybuild.setuptools", ("PolybuildExtension", "build_ext")),
    ("polybuild.diagnostics", ("PolybuildError", "SourceError", "UsageError")),
)
"""What programs in Python may use: modules, and names in them."""


def pages() -> dict[Path, str]:
    """The text of each generated page by its path."""
    reference = DOCS / "reference"
    return {
        reference / "options.md": options_page(),
        reference / "report.md": report_page(),
        reference / "interface.md": interface_page(),
    }


def options_page() -> str:
    """A section for each option, made from the fields of ``Options``."""
    head = """\
# Options

What can be done with a region. The same names are options of [the command line](cli.md), keywords of
[CMake](../guide/cmake.md), keys of pyproject.toml and clauses of the pragma. A region's own clauses go
before the command line, and that goes before the project. Values are checked where they are given, in CMake
when it configures. Tiles without effect on a region are a warning,
[`unused-setting`](diagnostics.md#regions-as-a-whole).

```toml
[tool.polybuild]
tile-sizes = [32, 32]
simd = false
```

The nearest pyproject.toml with that table counts, looked for from the folder of the C file upwards.
"""
    sections = [_option_section(each) for each in dataclasses.fields(Options)]
    return "\n".join([head, *sections])


def _option_section(option: dataclasses.Field[Any]) -> str:
    about = option.metadata
    name = option.name.replace("_", "-")
    value = about["metavar"] or "VALUE"
    help_text = about["help"].replace("|", "\\|")
    spellings = [
        ("command line", f"`--{name} {value}`"),
        ("CMake", f"`{option.name.upper()} {_cmake_value(value)}`"),
    ]
    if not about["finds_more"]:
        spellings.append(("pyproject.toml", f"`{name}`"))
    if about["of_region"]:
        spellings.append(("pragma", f"`#pragma scop {option.name}({value})`"))
    spellings.append(("default", _default(option.default)))
    lines = [
        f"## {name}",
        "",
        *_wrapped(f"{help_text[0].upper()}{help_text[1:]}. {about['more']}"),
        "",
        *(f"- {where}: {spelled}" for where, spelled in spellings),
        "",
    ]
    return "\n".join(lines)


def _cmake_value(value: str) -> str:
    return value.replace(",", " ")


def _default(value: object) -> str:
    if value in {(), None, ""}:
        return "none"
    if isinstance(value, bool):
        return f"`{'on' if value else 'off'}`"
    return f"`{','.join(map(str, value)) if isinstance(value, tuple) else value}`"


def report_page() -> str:
    """The keys of reports, made from their JSON schemas."""
    head = """\
# Reports

`polybuild compile --report FILE` and `polybuild explain --json` write what was done as JSON;
`POLYBUILD_REPORT=FILE` has programs write [what ran](../guide/what-ran.md), a line for each region. Keys may
be added; what there is keeps its meaning as long as the number of the schema stays. The schemas themselves
are `report.json` and `run.json` in `polybuild/report/record/schemas/`, in the package, too.

```json
{
  "schema": "urn:polybuild:report:1",
  "regions": [{"file": "heat.c", "line": 12, "end_line": 20, "status": "transformed"}],
  "diagnostics": [{"severity": "warning", "code": "break", "file": "heat.c", "line": 30}]
}
```
"""
    parts = [head]
    schema = json.loads((SCHEMAS / "report.json").read_text("utf-8"))
    names = ("region", "advice", "prediction", "device", "loop", "ranks", "dependence", "end", "diagnostic")
    parts += [_table_of(name.capitalize(), schema["$defs"][name]) for name in names]
    run = json.loads((SCHEMAS / "run.json").read_text("utf-8"))
    parts.append(_table_of("What ran", run))
    return "\n".join(parts)


def _table_of(title: str, schema: Mapping[str, Any]) -> str:
    lines = [f"## {title}", ""]
    if "description" in schema:
        lines += [f"{schema['description'][0].upper()}{schema['description'][1:]}.", ""]
    lines += ["| key | type | meaning |", "|---|---|---|"]
    for key, about in schema["properties"].items():
        lines.append(f"| `{key}` | {_type_of(about)} | {about.get('description', '')} |")
    return "\n".join([*lines, ""])


def _type_of(about: Mapping[str, Any]) -> str:
    if "oneOf" in about:
        return " or ".join(_type_of(each) for each in about["oneOf"])
    if "$ref" in about:
        name = about["$ref"].rpartition("/")[2]
        return (
            "strings" if name == "lines" else f"[{name}](#{name})" if name != "parts" else "numbers by name"
        )
    if "enum" in about:
        return ", ".join(f"`{each}`" if each else "empty" for each in about["enum"])
    if "const" in about:
        return f"`{about['const']}`"
    if about.get("type") == "array":
        return f"list of {_type_of(about['items'])}"
    return str(about.get("type", "any"))


def interface_page() -> str:
    """The classes and functions of ``INTERFACE`` with their docstrings."""
    parts = ["# Python interface\n\nFor what it is used see [extensions of Python](../guide/python.md).\n"]
    for module, names in INTERFACE:
        parts.append(f"## {module}\n")
        for name in names:
            parts += _description(name, getattr(importlib.import_module(module), name))
    return "\n".join(parts)


def _description(name: str, what: Any) -> Iterator[str]:
    yield f"### {name}\n"
    if inspect.isfunction(what):
        yield f"```python\n{name}{_signature(what)}\n```\n"
    yield _markdown(inspect.getdoc(what) or "") + "\n"
    if inspect.isclass(what):
        called = vars(what).get("__call__")
        if called is not None:
            yield _markdown(inspect.getdoc(called) or "") + "\n"


def _signature(function: Any) -> str:
    parameters = [str(each) for each in inspect.signature(function).parameters.values()]
    return "(\n" + "".join(f"    {each},\n" for each in _with_star(function, parameters)) + ")"


def _with_star(function: Any, shown: list[str]) -> Iterator[str]:
    """The parameters with the ``*`` that parts those given by name alone."""
    kinds = [each.kind for each in inspect.signature(function).parameters.values()]
    for index, text in enumerate(shown):
        if (
            kinds[index] is inspect.Parameter.KEYWORD_ONLY
            and inspect.Parameter.KEYWORD_ONLY not in kinds[:index]
        ):
            yield "*"
        yield text


def _markdown(docstring: str) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", docstring)


def _wrapped(text: str, columns: int = 118) -> list[str]:
    """``text`` in lines of at most so many ``columns``, broken at blanks outside of links and code."""
    lines = [""]
    for word in re.findall(r"(?:\[[^\]]*\]\([^)]*\)|`[^`]*`|\S)+", text):
        if lines[-1] and len(lines[-1]) + len(word) >= columns:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines
