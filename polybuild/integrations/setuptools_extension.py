"""Extensions of Python whose C files have regions, built by setuptools.

In setup.py::

    from polybuild.setuptools import PolybuildExtension, build_ext

    setup(
        ext_modules=[PolybuildExtension("heat", ["heat.c"], tile_sizes=(32, 32))],
        cmdclass={"build_ext": build_ext},
    )

or, for all extensions of the project, ``setup(polybuild=True)``,
``setup(polybuild={"fusion": "max"})``, a section ``[polybuild]`` in setup.cfg or
a table ``[tool.polybuild]`` in pyproject.toml. The sources stay what they are,
so a source distribution is complete without polybuild; a wheel does not need it
to run.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import setuptools
import setuptools.command.build_ext
from setuptools.errors import SetupError

from polybuild.diagnostics import UsageError
from polybuild.driver.settings import with_project_settings
from polybuild.options import Options
from polybuild.source.preprocess import parse_depfile
from polybuild.tuning.trial import current_trial

Settings = Mapping[str, Any]
"""Options as in pyproject.toml: names with ``-`` or ``_``, values as text, numbers, booleans or lists."""

_KNOBS = tuple(Options.__dataclass_fields__)


class PolybuildExtension(setuptools.Extension):  # type: ignore[misc]
    """An extension whose C sources are transformed; takes the options of polybuild as keywords, too."""

    def __init__(self, name: str, sources: Sequence[str], **keywords: Any) -> None:
        """As for ``setuptools.Extension``. Raises SetupError for an option that is wrong."""
        self.polybuild_settings = {key: keywords.pop(key) for key in _KNOBS if key in keywords}
        _flags(self.polybuild_settings)
        super().__init__(name, list(sources), **keywords)


class Transforming:
    """What makes a ``build_ext`` command compile through ``polybuild cc``."""

    def build_extension(self, extension: Any) -> None:
        """Build one extension; with its regions transformed if that is wanted, and as it is if not."""
        command: Any = self
        settings = _settings_of(command.distribution, extension)
        if settings is None:
            super().build_extension(extension)  # type: ignore[misc]
            return
        if command.compiler.compiler_type != "unix":
            command.warn("polybuild needs gcc, clang or a compiler with their flags; nothing is transformed")
            super().build_extension(extension)  # type: ignore[misc]
            return
        # A copy each: extensions may be built at the same time.
        worker = copy.copy(self)
        worker.compiler = _wrapped(command.compiler, _flags(settings))  # type: ignore[attr-defined]
        extension = copy.copy(extension)
        objects = command.compiler.object_filenames(
            [source for source in extension.sources if source.endswith(".c")], output_dir=command.build_temp
        )
        known = (Path(name).with_suffix(".d") for name in objects)
        stamp = _stamp(Path(command.build_temp), extension.name, settings)
        extension.depends = [*extension.depends, *_prerequisites(known), str(stamp)]
        extension.extra_compile_args = [*extension.extra_compile_args, "-MD"]
        super(Transforming, worker).build_extension(extension)  # type: ignore[misc]


class build_ext(Transforming, setuptools.command.build_ext.build_ext):  # type: ignore[misc]  # noqa: N801
    """The command for ``cmdclass``; transforms each PolybuildExtension."""


def check_keyword(_: Any, attribute: str, value: Any) -> None:
    """Check ``setup(polybuild=...)``. Raises SetupError."""
    if not isinstance(value, (bool, Mapping)):
        raise SetupError(f"setup({attribute}=...) takes True, False or a dictionary of options")
    if isinstance(value, Mapping):
        _flags(value)


def finalize(distribution: Any) -> None:
    """Let all extensions of ``distribution`` be transformed, if the project says so."""
    # Neither setup.cfg nor pyproject.toml have been read into the distribution at this point.
    keyword = getattr(distribution, "polybuild", None)
    if keyword is False or not (keyword is not None or _has_section() or _has_table()):
        return
    current = distribution.cmdclass.get("build_ext") or setuptools.command.build_ext.build_ext
    if not issubclass(current, Transforming):
        distribution.cmdclass["build_ext"] = type("build_ext", (Transforming, current), {})


def _settings_of(distribution: Any, extension: Any) -> Settings | None:
    """The options for ``extension``; None if it is not to be transformed."""
    project = _settings_of_project(distribution)
    own = getattr(extension, "polybuild_settings", None)
    return None if project is None and own is None else {**(project or {}), **(own or {})}


def _settings_of_project(distribution: Any) -> Settings | None:
    """The options for all extensions; None if they are not all to be transformed.

    Those of pyproject.toml are not among them: the compiler's wrapper reads these.
    """
    keyword = getattr(distribution, "polybuild", None)
    if keyword is False:
        return None
    section = distribution.get_option_dict("polybuild")
    settings: dict[str, Any] = {name: value for name, (_, value) in section.items()}
    if isinstance(keyword, Mapping):
        settings |= keyword
    wanted = keyword is not None or section or _has_table()
    return settings if wanted else None


def _has_section() -> bool:
    """Whether the setup.cfg of the project that is built has a section ``[polybuild]``."""
    try:
        lines = Path("setup.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.strip() == "[polybuild]" for line in lines)


def _has_table() -> bool:
    """Whether the pyproject.toml of the project that is built has a table ``[tool.polybuild]``."""
    try:
        name = with_project_settings(Options(), "setup.py").file
    except UsageError as error:
        raise SetupError(str(error)) from None
    return bool(name) and Path(name).parent == Path.cwd()


def _flags(settings: Settings) -> list[str]:
    """``settings`` as options of the command line. Raises SetupError for wrong ones."""
    try:
        texts = {name.replace("_", "-"): _as_text(value) for name, value in settings.items()}
        Options().with_settings(texts)
    except (TypeError, UsageError) as error:
        raise SetupError(f"polybuild: {error}") from None
    return [f"--{name}={text}" for name, text in texts.items()]


def _as_text(value: object) -> str:
    """A value as it would stand on the command line; TypeError if it cannot."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ",".join(_as_text(item) for item in value)
    if isinstance(value, (str, int)):
        return str(value)
    raise TypeError(f"'{value}' is not a setting")


def _wrapped(compiler: Any, flags: Sequence[str]) -> Any:
    wrapped = copy.copy(compiler)
    prefix = [sys.executable, "-m", "polybuild", "cc", *flags, "--"]
    for name in ("compiler_so", "linker_so", "linker_so_cxx"):
        command = getattr(compiler, name, None)
        if command:
            setattr(wrapped, name, [*prefix, *command])
    return wrapped


def _prerequisites(depfiles: Iterator[Path]) -> Iterator[str]:
    """The files that the last build read, as the compiler listed them; what is gone does not count."""
    for path in depfiles:
        try:
            rules = path.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            continue
        yield from (name for name in parse_depfile(rules) if Path(name).exists())


def _stamp(folder: Path, name: str, settings: Settings) -> Path:
    """A file as new as the last change of ``settings``, of what is tried, or of whether they count at all."""
    path = folder / f"{name}.polybuild"
    disabled = os.environ.get("POLYBUILD_DISABLE", "")
    text = f"{sorted(_flags(settings))} {disabled} {current_trial() or ''}\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path
