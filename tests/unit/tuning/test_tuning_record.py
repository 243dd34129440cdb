"""The file of tuned regions: what is written is read again, in the same bytes; what is wrong is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from polybuild.machine.model import Machine, Origin
from polybuild.tuning.record import (
    Build,
    TunedRegion,
    TuningFileError,
    merged,
    read_tuning_file,
    region_digest,
    tuning_text,
)

BUILD = Build("gcc", ("-O3",), {"vector.bytes": 32.0})
REGION = TunedRegion("d1", "src/a.c", 7, BUILD, {"tile-sizes": "32,64"}, 0.25, 0.5, 12)


def test_what_is_written_is_read(tmp_path):
    regions = (REGION, replace(REGION, digest="d2", line=40, settings={}))
    path = tmp_path / "t.json"
    path.write_text(tuning_text(regions))
    assert read_tuning_file(path) == regions


def test_the_same_regions_give_the_same_bytes():
    other = replace(REGION, file="src/b.c")
    assert tuning_text([REGION, other]) == tuning_text([other, REGION])


def test_regions_are_told_apart_by_file_and_text_but_for_blanks():
    digest = region_digest("src/a.c", "for (;;)\n  f();\n")
    assert digest == region_digest("elsewhere/a.c", "for (;;) f();")
    assert digest != region_digest("src/b.c", "for (;;) f();")
    assert digest != region_digest("src/a.c", "for (;;) g();")


def test_builds_are_told_apart_by_compiler_flags_and_machine():
    machine = Machine().with_figures({"l2.bytes": 1 << 21}, Origin.HOST)
    flags = ["-O3", "-Iinclude", "-DN=3", "-march=native", "-c"]
    build = Build.of(["/usr/bin/gcc"], flags, machine)
    assert build == Build("gcc", ("-O3", "-march=native"), {"l2.bytes": 1 << 21})
    assert build == Build.of(
        ["ccache", "gcc"], flags, machine.with_figures({"l1.bytes": 1024}, Origin.OPTION)
    )
    assert build != Build.of(["clang"], flags, machine)


def test_new_regions_replace_those_of_the_same_build():
    faster, other = replace(REGION, seconds=0.1), replace(REGION, build=replace(BUILD, compiler="clang"))
    assert merged([REGION, other], [faster]) == (other, faster)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is not JSON"),
        ("[]", "its version is null"),
        ('{"version": 2}', "its version is 2; this polybuild reads version 1"),
        ('{"version": 1}', "an entry is not as it should be"),
        ('{"version": 1, "regions": [{}]}', "an entry is not as it should be"),
        ('{"version": 1, "regions": [3]}', "an entry is not as it should be"),
    ],
)
def test_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(TuningFileError, match=message):
        read_tuning_file(path)


@pytest.mark.parametrize(
    "change", [{"settings": {"tile": 3}}, {"line": "x"}, {"digest": 4}, {"build": "gcc"}]
)
def test_wrong_entries(tmp_path, change):
    content = json.loads(tuning_text([REGION]))
    content["regions"][0] |= change
    path = tmp_path / "t.json"
    path.write_text(json.dumps(content))
    with pytest.raises(TuningFileError, match="an entry is not as it should be"):
        read_tuning_file(path)
