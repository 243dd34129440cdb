from __future__ import annotations

import pytest

from polybuild.diagnostics import UsageError
from polybuild.driver.settings import FileSettings, with_project_settings
from polybuild.options import Options


def project(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return str(folder / "pyproject.toml")


def test_without_a_project_nothing_changes(tmp_path):
    assert with_project_settings(Options(), str(tmp_path / "in.c")) == FileSettings(Options())


def test_the_values_of_toml_are_read(tmp_path):
    where = project(
        tmp_path, '[tool.polybuild]\ntile-sizes = [32, 16]\ntile = false\nfusion = "max"\nmin-work = 7\n'
    )
    found = with_project_settings(Options(), str(tmp_path / "src" / "deep" / "in.c"))
    assert found.names == {"tile-sizes", "tile", "fusion", "min-work"}
    assert found.options == Options(tile_sizes=(32, 16), tile=False, fusion="max", min_work=7)
    assert found.file == where


def test_the_nearest_table_counts_and_files_without_one_do_not(tmp_path):
    project(tmp_path, '[tool.polybuild]\nfusion = "min"\n')
    project(tmp_path / "a", '[tool.polybuild]\nfusion = "max"\n')
    project(tmp_path / "a" / "b", "[tool.other]\nx = 1 # not [tool.polybuild]\n")
    assert with_project_settings(Options(), str(tmp_path / "a" / "b" / "in.c")).options.fusion == "max"


def test_the_file_may_be_named_from_where_one_is(tmp_path, monkeypatch):
    project(tmp_path, '[tool.polybuild]\nfusion = "min"\n')
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    assert with_project_settings(Options(), "in.c").options.fusion == "min"


def test_the_file_of_the_machine_is_looked_for_beside_the_project(tmp_path, monkeypatch):
    project(tmp_path, '[tool.polybuild]\nmachine = "target.toml"\n')
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    assert with_project_settings(Options(), "in.c").options.machine == str(tmp_path / "target.toml")
    project(tmp_path, '[tool.polybuild]\nmachine = "measured"\n')
    assert with_project_settings(Options(), "in.c").options.machine == "measured"


@pytest.mark.parametrize(
    "text",
    [
        "[tool.polybuild]\ntile-size = [32]\n",
        '[tool.polybuild]\nfusion = "most"\n',
        "[tool.polybuild]\nfusion = 1.5\n",
        "[tool.polybuild.fusion]\nx = 1\n",
        "[tool.polybuild\n",
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_the_file(tmp_path, text):
    where = project(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        with_project_settings(Options(), str(tmp_path / "in.c"))
    assert str(caught.value).startswith(where)
    assert "\n" not in str(caught.value)
