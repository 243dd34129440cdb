"""Options from ``[tool.polybuild]`` of a pyproject.toml; the keys are those of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polybuild.diagnostics import UsageError
from polybuild.driver.chosen_machine import MEASURED
from polybuild.driver.tuning_files import TUNING_OFF
from polybuild.options import Options
from polybuild.values import dataclass

_FILE = "pyproject.toml"
# Settings that name files beside the project, with the word that names none.
_PATHS = {"machine": MEASURED, "tuning": TUNING_OFF}


@dataclass(frozen=True, slots=True)
class FileSettings:
    """The options for one file, the ``names`` of those that were set, and the ``file`` of the project.

    Without a project the name of the file is empty.
    """

    options: Options
    names: frozenset[str] = frozenset()
    file: str = ""


def with_project_settings(options: Options, source: str) -> FileSettings:
    """``options`` changed by the settings that govern the file ``source``.

    The nearest pyproject.toml with a table ``[tool.polybuild]`` counts, looked
    for from the file's folder upwards. Raises
    UsageError for a file that is not TOML and for settings that are wrong.
    """
    for folder in Path(source).absolute().parents:
        path = folder / _FILE
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        table = _table(text, path) if "tool.polybuild" in text else None
        if table is not None:
            for name in set(Options.finding_more()).intersection(table):
                raise UsageError(f"{path}: '{name}' is no setting of a project; give it to the command")
            try:
                settings = {name: _as_text(value) for name, value in table.items()}
                for name, word in _PATHS.items():
                    if settings.get(name, word) != word:
                        settings[name] = str(folder / settings[name])
                return FileSettings(options.with_settings(settings), frozenset(settings), str(path))
            except (TypeError, UsageError) as error:
                raise UsageError(f"{path}: [tool.polybuild]: {error}") from None
    return FileSettings(options)


def _table(text: str, path: Path) -> Mapping[str, object] | None:
    import tomllib  # noqa: PLC0415 -- few projects have such a table, and all pay for start-up

    try:
        table = tomllib.loads(text).get("tool", {}).get("polybuild")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    return table if isinstance(table, dict) else None


def _as_text(value: object) -> str:
    """A TOML value as it would stand on the command line; TypeError if it cannot."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ",".join(_as_text(item) for item in value)
    if isinstance(value, (str, int)):
        return str(value)
    raise TypeError(f"'{value}' is not a setting")
