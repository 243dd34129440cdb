"""Bytecode of many modules in one file: what is imported from it, and when it is not used."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import polybuild
from polybuild import bytecode

ROOT = Path(polybuild.__file__).parents[1]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules that is imported, and forgotten again afterwards."""
    folder = tmp_path / "stored_package" / "inner"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text("from stored_package.inner.leaf import VALUE\n")
    (folder / "leaf.py").write_text("VALUE = 1\n\n\ndef place():\n    return __file__\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield folder
    forget()


def forget():
    """Take the package for one that was never imported."""
    for name in [each for each in sys.modules if each.startswith("stored_package")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def kept(tmp_path):
    """The file with the modules of the package."""
    file = tmp_path / "cache" / "all.modules"
    importlib.import_module("stored_package.inner")
    bytecode.keep(file, "stored_package")
    forget()
    return file


def test_modules_are_what_they_are_when_imported_one_by_one(package, tmp_path, monkeypatch):
    plain = importlib.import_module("stored_package.inner.leaf")
    file = kept(tmp_path)

    assert list(bytecode.read(file)) == ["stored_package.inner", "stored_package.inner.leaf"]
    assert bytecode.use(file)
    importlib.import_module("stored_package")
    with monkeypatch.context() as patched:  # no source is looked at
        patched.setattr("importlib.machinery.SourceFileLoader.get_code", None)
        patched.setattr("importlib.machinery.SourceFileLoader.get_data", None)
        inner = importlib.import_module("stored_package.inner")
    leaf = sys.modules["stored_package.inner.leaf"]

    assert inner.VALUE == 1
    assert leaf is not plain
    assert leaf.place() == plain.place() == str(package / "leaf.py")
    assert inner.__path__ == [str(package)]
    assert (leaf.__spec__.cached, leaf.__package__) == (plain.__spec__.cached, plain.__package__)
    assert importlib.reload(leaf).VALUE == 1


def rewritten(change):
    """Who changes the bytes of the file."""
    return lambda _package, file: file.write_bytes(change(file.read_bytes()))


SPOILED = {
    "changed": lambda package, _file: (package / "leaf.py").write_text("VALUE = 22\n"),
    "touched": lambda package, _file: os.utime(package / "leaf.py", ns=(1, 1)),
    "removed": lambda package, _file: (package / "leaf.py").unlink(),
    "cut": rewritten(lambda data: data[:-9]),
    "of another Python": rewritten(lambda data: b"1234" + data[4:]),
    "of no rows": rewritten(lambda data: data[:4] + b"N"),
}


@pytest.mark.parametrize("how", SPOILED)
def test_what_is_not_what_the_sources_say_is_not_used(package, tmp_path, how):
    file = kept(tmp_path)
    before = list(sys.meta_path)

    SPOILED[how](package, file)

    assert not bytecode.use(file)
    assert sys.meta_path == before


@pytest.mark.usefixtures("package")
def test_there_may_be_no_file_nor_a_place_for_one(tmp_path, monkeypatch):
    assert not bytecode.use(tmp_path / "none")
    assert not bytecode.use(None)
    (tmp_path / "cache").write_text("no folder")
    assert not kept(tmp_path).exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    bytecode.keep(tmp_path / "unwanted", "stored_package")
    assert not (tmp_path / "unwanted").exists()


def test_a_command_leaves_modules_to_the_next_one_which_writes_the_same(tmp_path):
    loop = "#pragma scop\nfor (int i = 0; i < n; i++)\n  a[i] = 0;\n#pragma endscop\n"
    (tmp_path / "a.c").write_text(f"void f(int n, double *a)\n{{\n{loop}}}\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc")}
    environment |= {"POLYBUILD_CACHE": "off"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def compiled(name, *flags):
        words = [sys.executable, *flags, "-m", "polybuild", "compile", "a.c", "-o", name]
        subprocess.run(words, cwd=tmp_path, env=environment, check=True, capture_output=True)
        return (tmp_path / name).read_text()

    first = compiled("first.c")
    (file,) = (tmp_path / "pyc").rglob("*.modules")
    stored = bytecode.read(file)
    for each in (tmp_path / "pyc").rglob("*.pyc"):
        each.unlink()
    second = compiled("second.c")

    assert first == second
    assert "polybuild.codegen.c.ast" in stored
    written = {each.name.split(".")[0] for each in (tmp_path / "pyc").rglob("*.pyc")}
    assert "grafted_points" not in written  # it came from the file
    assert file.read_bytes()[:4] == importlib.util.MAGIC_NUMBER
