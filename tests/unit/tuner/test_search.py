"""The search of the tuner, with a stand-in for the user's build and program whose times are known."""

from __future__ import annotations

import math

import pytest

from polybuild.tuner.bench import Run, TrialError
from polybuild.tuner.candidates import NEVER, decisions, neighbours
from polybuild.tuner.search import Search
from polybuild.tuning.record import Build
from polybuild.tuning.trial import MetRegion

BUILD = Build("gcc", (), {})


def region(digest="d1", **changes):
    values = {
        "digest": digest,
        "file": "a.c",
        "line": int(digest[1:]),
        "build": BUILD,
        "tile_sizes": (),
        "given": (),
        "parallel": True,
        "code": "",
    }
    return MetRegion(**{**values, **changes})


class Imagined:
    """A bench of regions whose ``seconds`` are a function of their settings."""

    def __init__(self, seconds, tiles=(), printed=b"1\n", given=()):
        self.seconds = seconds
        self.tiles = tiles
        self.printed = printed
        self.given = given
        self.settings = {}
        self.builds = 0
        self.runs = 0

    def build(self, settings):
        self.builds += 1
        self.settings = {digest: dict(settings.get(digest, {})) for digest in self.seconds}
        return tuple(
            region(
                digest,
                code=repr((digest, sorted(own.items()))),
                given=self.given,
                tile_sizes=tuple(map(int, own["tile-sizes"].split(",")))
                if "tile-sizes" in own
                else self.tiles,
            )
            for digest, own in self.settings.items()
        )

    def run(self):
        self.runs += 1
        times = {("a.c", int(digest[1:])): self.seconds[digest](own) for digest, own in self.settings.items()}
        printed = self.printed if isinstance(self.printed, bytes) else self.printed(self)
        return Run(sum(times.values()), times, printed)


def _sizes(own):
    return tuple(int(each) for each in own.get("tile-sizes", "").split(",") if each)


def test_a_region_on_a_device_tries_what_devices_can():
    there = region(tile_sizes=(64, 64, 16), block_sizes=(16, 16))
    names = {name for each in decisions(there) for name in each}
    assert {"device-tiles", "device-launches", "tile-shape"} <= names
    assert names.isdisjoint({"simd", "registers", "parallel"})
    assert not any("device-tiles" in each for each in decisions(region(tile_sizes=(64, 64))))
    tried = list(neighbours(there, {}, there.tile_sizes, there.block_sizes))
    assert {"tile-sizes": "128,64,16"} in tried
    assert {"block-sizes": "32,32"} in tried
    assert {"block-sizes": "16,8"} in tried
    assert not any(each.get("block-sizes") == "64,32" for each in neighbours(there, {}, (), (32, 32)))
    given = region(tile_sizes=(64, 64, 16), block_sizes=(16, 16), given=("block_sizes",))
    assert not any("block-sizes" in each for each in neighbours(given, {}, (64,), (16, 16)))


def tuned(bench, seconds=30.0):
    said = []
    search = Search(bench, 1, seconds, said.append)
    search.begin()
    search.go_on()
    search.confirm()
    return {digest: each.best for digest, each in search.regions.items()}, said


def test_each_region_gets_what_is_best_for_it():
    bench = Imagined(
        {
            "d1": lambda own: 0.5 if own.get("schedule") == "pluto" else 1.0,
            "d2": lambda own: 0.5 if own.get("min-work") == NEVER else 1.0,
            "d3": lambda _: 1.0,
        }
    )
    best, _ = tuned(bench)
    assert best == {"d1": {"schedule": "pluto"}, "d2": {"min-work": NEVER}, "d3": {}}


def test_tile_sizes_are_climbed():
    def seconds(own):
        first, second = map(int, own.get("tile-sizes", "32,32").split(","))
        return 1 + abs(math.log2(first / 256)) + abs(math.log2(second / 8))

    best, _ = tuned(Imagined({"d1": seconds}, tiles=(32, 32)))
    assert best == {"d1": {"tile-sizes": "256,8"}}


def test_what_prints_something_else_is_not_used_and_others_are():
    bench = Imagined(
        {
            "d1": lambda own: 0.1 if "fusion" in own else 1.0,
            "d2": lambda own: 0.5 if "fusion" in own else 1.0,
        },
        printed=lambda bench: b"2\n" if "fusion" in bench.settings["d1"] else b"1\n",
    )
    best, said = tuned(bench)
    assert best["d1"] == {}
    assert best["d2"] == {"fusion": "max"}
    assert any("the program prints something else; not used" in each for each in said)


def test_a_program_that_prints_its_times_is_not_compared():
    counter = iter(range(1000))
    bench = Imagined(
        {"d1": lambda own: 0.5 if "fusion" in own else 1.0}, printed=lambda _: str(next(counter)).encode()
    )
    best, said = tuned(bench)
    assert best == {"d1": {"fusion": "max"}}
    assert "prints something else each time" in said[0]


def test_what_does_not_last_is_taken_back():
    times = iter([1.0, 1.0, 0.5])
    best, said = tuned(Imagined({"d1": lambda _: next(times, 1.0)}))
    assert best == {"d1": {}}
    assert any("no better when timed again" in each for each in said)


def test_the_same_code_is_not_timed_twice():
    class Same(Imagined):
        def build(self, settings):
            return tuple(region(each.digest) for each in super().build(settings))

    bench = Same({"d1": lambda _: 1.0})
    tuned(bench)
    assert bench.runs == 2
    assert bench.builds > 5


def test_the_time_ends_the_search():
    bench = Imagined({"d1": lambda _: 1.0})
    _, said = tuned(bench, seconds=0.0)
    assert bench.builds == 1
    assert said == ["the time is over: more is tried with a longer --budget"]


def test_the_search_leaves_time_to_confirm_what_was_found(monkeypatch):
    """A round takes 10 of 65 seconds: the first one, two to find something, four to confirm it."""
    bench = Imagined({"d1": lambda own: 1.0 - 0.1 * len(own)})
    now = [0.0]
    build = bench.build

    def built(settings):
        now[0] += 10.0
        return build(settings)

    monkeypatch.setattr(bench, "build", built)
    monkeypatch.setattr("polybuild.tuner.search.time.monotonic", lambda: now[0])
    best, _ = tuned(bench, seconds=65.0)
    assert best["d1"]
    assert bench.builds == 1 + 2 + 4


def test_a_build_that_does_not_build_anew_is_told():
    with pytest.raises(TrialError, match="it has to build anew"):
        tuned(Imagined({}))


def test_what_the_user_set_is_left_alone():
    given = region(given=("fusion", "tile_sizes"), tile_sizes=(32,))
    assert not any("fusion" in each for each in decisions(given))
    assert list(neighbours(given, {}, (32,))) == []
    sequential = region(parallel=False)
    assert not any("parallel" in each for each in decisions(sequential))
