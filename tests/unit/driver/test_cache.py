"""The cache: what is kept, what is believed, what is dropped."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from polybuild.cli import main as cli
from polybuild.diagnostics import UsageError
from polybuild.driver.cache import Cache, cache_folder, key_of, open_cache, tool_identity

KEY = key_of(["a"])


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return Cache(folder)


def test_what_was_put_is_got(cache):
    assert cache.get(KEY, "a.c") is None
    entry = cache.put(KEY, "a.c", b"text", {"regions": [1]})
    assert entry.path.read_bytes() == b"text"
    found = cache.get(KEY, "a.c")
    assert (found.path, found.data, found.record["regions"]) == (entry.path, b"text", [1])
    assert cache.get(key_of(["b"]), "a.c") is None
    statistics = cache.statistics()
    assert (statistics.entries, statistics.hits, statistics.misses) == (1, 1, 2)
    assert statistics.bytes > 4


def test_keys_tell_parts_apart():
    assert len({key_of(parts) for parts in (["ab"], ["a", "b"], ["a", "b", ""], ["b", "a"])}) == 4
    assert tool_identity() == tool_identity()


def spoil(entry, how):
    if how == "other bytes":
        entry.path.write_bytes(b"fake")
    elif how == "no file":
        entry.path.unlink()
    elif how == "others may write":
        entry.path.chmod(0o666)
    elif how == "a link":
        other = entry.path.parent.parent / "elsewhere"
        entry.path.rename(other)
        entry.path.symlink_to(other)
    elif how == "no record":
        (entry.path.parent / "record.json").write_text("[]")
    else:
        (entry.path.parent / "record.json").write_text("{")


@pytest.mark.parametrize(
    "how", ["other bytes", "no file", "others may write", "a link", "no record", "broken record"]
)
def test_what_is_not_as_stored_is_not_believed_and_made_anew(cache, how):
    spoil(cache.put(KEY, "a.c", b"text", {}), how)
    assert cache.get(KEY, "a.c") is None
    cache.put(KEY, "a.c", b"text", {})
    if how != "others may write":  # a foreign file is left alone by those who may not remove it
        assert cache.get(KEY, "a.c").data == b"text"


def test_many_builds_at_once(cache):
    def work(_):
        cache.put(KEY, "a.c", b"x" * 5000, {})
        found = cache.get(KEY, "a.c")
        return found is not None and len(found.data)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(64))) == {5000}
    statistics = cache.statistics()
    assert (statistics.entries, statistics.hits) == (1, 64)
    assert not [path for path in cache.folder.rglob(".new-*") if path.is_dir()]


def test_the_least_recently_used_goes_first(cache):
    keys = ["0" + key_of([str(number)])[1:] for number in range(5)]
    for age, key in enumerate(keys):
        entry = cache.put(key, "a.c", b"x" * 1000, {})
        os.utime(entry.path.parent, (time.time() - 1000 + age,) * 2)
    assert cache.get(keys[0], "a.c")  # used now
    small = Cache(cache.folder, 16 * 3400)
    small.put("0" + KEY[1:], "a.c", b"x" * 1000, {})
    assert [small.get(key, "a.c") is not None for key in keys] == [True, False, False, False, True]
    assert small.statistics().bytes <= 16 * 3400


def test_what_a_crash_left_over_goes(cache):
    entry = cache.put(KEY, "a.c", b"x", {})
    left = entry.path.parent.parent / ".new-abc"
    left.mkdir()
    os.utime(left, (1, 1))
    cache.put(KEY[0] + key_of(["c"])[1:], "a.c", b"x", {})
    assert not left.exists()


def test_clear(cache):
    for name in "abc":
        cache.put(key_of([name]), "a.c", b"x", {})
    assert cache.clear() == 3
    assert cache.statistics() == (cache.statistics().__class__)(0, 0, cache.limit, 0, 0)
    assert cache.put(KEY, "a.c", b"x", {})


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "file").touch()
    cache = Cache(tmp_path / "file")
    assert cache.put(KEY, "a.c", b"x", {}) is None
    assert cache.get(KEY, "a.c") is None


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.delenv("POLYBUILD_CACHE", raising=False)
    monkeypatch.delenv("POLYBUILD_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert open_cache(default=False) is None
    assert open_cache(default=True).folder == tmp_path / "xdg" / "polybuild"
    assert (tmp_path / "xdg" / "polybuild" / "CACHEDIR.TAG").is_file()
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "mine"))
    assert open_cache(default=False).folder == tmp_path / "mine" == cache_folder()
    monkeypatch.setenv("POLYBUILD_CACHE", "off")
    assert open_cache(default=True) is None


def test_a_folder_that_others_can_write_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "open"))
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    assert open_cache(default=True) is None


@pytest.mark.parametrize(("text", "limit"), [("", 256 << 20), ("5000", 5000), ("3k", 3072), ("2G", 2 << 30)])
def test_size(monkeypatch, tmp_path, text, limit):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("POLYBUILD_CACHE_SIZE", text)
    assert open_cache(default=True).limit == limit


def test_wrong_size(monkeypatch, tmp_path):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("POLYBUILD_CACHE_SIZE", "much")
    with pytest.raises(UsageError, match="POLYBUILD_CACHE_SIZE"):
        open_cache(default=True)


def test_the_command(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "c"))
    open_cache(default=True).put(KEY, "a.c", b"x", {})
    assert cli.run(["cache", "stats"]) == 0
    assert "entries  1\n" in capsys.readouterr().out
    assert cli.run(["cache", "clear"]) == 0
    assert capsys.readouterr().out.startswith("1 entries removed")
    assert cli.run(["cache"]) == 2
    monkeypatch.setenv("POLYBUILD_CACHE", "off")
    assert cli.run(["cache", "stats"]) == 1
    assert "there is no cache: it is off" in capsys.readouterr().err


SOURCE = """\
#include "n.h"
double a[N];
void f(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma endscop
}
"""


def test_compile_finds_again_what_it_made(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "f.c").write_text(SOURCE)
    (tmp_path / "n.h").write_text("#define N 100\n")

    def build(*more):
        words = ["compile", "f.c", "-o", "o.c", "--depfile", "o.d", "--report", "o.json", *more]
        assert cli.run([*words, "--min-work", "0", "--", "gcc", "-O2"]) == 0
        names = (tmp_path / "o.d").read_text().replace("\\\n", " ").split()
        assert str(tmp_path / "n.h") in names
        report = json.loads((tmp_path / "o.json").read_text())
        assert report["regions"][0]["status"] == "transformed"
        return (tmp_path / "o.c").read_text(), report

    def counts():
        found = open_cache(default=True).statistics()
        return found.hits, found.misses

    first = build()
    assert counts() == (0, 1)
    assert build() == first
    assert counts() == (1, 1)
    (tmp_path / "n.h").write_text("#define N 200\n")
    assert "199" in build()[0]
    build("--tile-sizes", "8")
    assert counts() == (1, 3)
    (tmp_path / "n.h").write_text("#define N 100\n")
    assert build() == first
    assert counts() == (2, 3)


def test_flags_that_change_no_text_find_it_again(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "f.c").write_text(SOURCE)
    (tmp_path / "n.h").write_text("#ifndef N\n#define N 100\n#endif\n")

    def hits(*flags):
        assert cli.run(["compile", "f.c", "-o", "o.c", "--", "gcc", "-O2", *flags]) == 0
        return open_cache(default=True).statistics().hits

    assert hits() == 0
    found = [
        ("-DNDEBUG",),
        ("-D", "VERSION=3"),
        ("-I", "other"),
        ("-Iother",),
        ("-UX",),
        ("-MD", "-MF", "b.d"),
    ]
    for count, flags in enumerate(found, start=1):
        assert hits(*flags) == count, flags
    for flags in (("-DN=7",), ("-Dc0=1",), ("-DPOLYBUILD_X",), ("-O3",), ("-include", "n.h"), ("-std=c99",)):
        assert hits(*flags) == len(found), flags
