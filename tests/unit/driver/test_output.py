from __future__ import annotations

import errno
import os
import shutil
import subprocess

import pytest

from polybuild.driver import output


def test_write_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "out.c"
    path.write_bytes(b"old")
    before = path.stat()
    output.write(str(path), b"old")
    assert path.read_bytes() == b"old"
    assert path.stat().st_mtime_ns >= before.st_mtime_ns
    assert path.stat().st_ino != before.st_ino
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.c"]


def test_write_honours_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        output.write(str(tmp_path / "out.c"), b"")
    finally:
        os.umask(old)
    assert (tmp_path / "out.c").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_what_fails_half_way_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch, failure):
    path = tmp_path / "out.c"
    path.write_bytes(b"old")

    def fail(*_):
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(type(failure)):
        output.write(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.c"]


def test_the_error_names_the_file_that_was_wanted(tmp_path):
    path = str(tmp_path / "none" / "out.c")
    with pytest.raises(FileNotFoundError) as caught:
        output.write(path, b"")
    assert caught.value.filename == path


def test_a_name_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("x" * 255)
    output.write(str(path), b"new")
    assert path.read_bytes() == b"new"


def test_a_link_keeps_pointing_where_it_did(tmp_path):
    (tmp_path / "real.c").write_bytes(b"old")
    (tmp_path / "link.c").symlink_to("real.c")
    output.write(str(tmp_path / "link.c"), b"new")
    assert (tmp_path / "link.c").is_symlink()
    assert (tmp_path / "real.c").read_bytes() == b"new"


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        output.write(str(pipe), b"data")
        assert os.read(reader, 10) == b"data"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "names",
    [("in.c", "", ""), ("./in.c", "", ""), ("out.c", "in.c", ""), ("out.c", "", "link.c"), ("a", "b", "a")],
)
def test_outputs_that_destroy_something_clash(tmp_path, monkeypatch, names):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.c").touch()
    (tmp_path / "link.c").symlink_to("in.c")
    assert output.clash("in.c", names)


@pytest.mark.parametrize(
    "names", [("out.c", "out.d", "out.json"), ("-", "", "r"), ("/dev/null", "/dev/null", "")]
)
def test_outputs_of_their_own_do_not_clash(tmp_path, monkeypatch, names):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.c").touch()
    assert not output.clash("in.c", names)


def test_a_file_with_a_region_is_not_copied(tmp_path):
    source, target = tmp_path / "in.c", tmp_path / "out.c"
    source.write_bytes(b"#pragma scop\n")
    assert not output.copy_unmarked(str(source), (str(target), "", ""))
    assert not target.exists()


@pytest.mark.parametrize("data", [b"", b"int x;", b"\xff\r\n\x00\r", b"int caf\xe9;\n"])
def test_a_file_without_regions_is_copied_to_the_byte(tmp_path, data):
    source, target = tmp_path / "in.c", tmp_path / "out.c"
    source.write_bytes(data)
    assert output.copy_unmarked(str(source), (str(target), "", ""))
    assert target.read_bytes() == data


def test_the_target_keeps_its_name_and_prerequisites_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = output.depfile("build/out.c", ("./in.c", "../h.h", "/usr/x.h", "in.c")).decode()
    assert text.replace("\\\n", "").split() == [
        "build/out.c:",
        f"{tmp_path}/in.c",
        f"{tmp_path}/../h.h",
        "/usr/x.h",
    ]


AWKWARD = ["a b.h", "c#d.h", "e$f.h", "$(g).h", "back\\slash.h", "h\\ i.h", "j\\\\#k.h", "é.h"]


def edited(folder, tool, target, names):
    """Which of the prerequisites make ``tool`` rebuild ``target`` when they are newer."""
    answers = []
    for name in names:
        os.utime(folder / name, (2_000_000_000, 2_000_000_000))
        answers.append(subprocess.run([*tool, target], cwd=folder, stdout=subprocess.PIPE, check=True).stdout)
        os.utime(folder / name, (1_000_000_000, 1_000_000_000))
    return answers


@pytest.mark.make
def test_make_reads_awkward_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in AWKWARD:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1_000_000_000, 1_000_000_000))
    for target in ("out.c", "o ut$.c"):
        (tmp_path / target).touch()
        (tmp_path / "out.d").write_bytes(output.depfile(target, tuple(AWKWARD)))
        (tmp_path / "Makefile").write_text("%.c:\n\t@echo rebuilt\ninclude out.d\n")
        assert edited(tmp_path, ["make", "-s"], target, AWKWARD) == [b"rebuilt\n"] * len(AWKWARD)
        assert b"rebuilt" not in subprocess.run(["make", target], stdout=subprocess.PIPE, check=True).stdout


@pytest.mark.skipif(not shutil.which("ninja"), reason="needs ninja")
def test_ninja_reads_awkward_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [name for name in AWKWARD if "\\#" not in name]  # which Make and Ninja read differently
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1_000_000_000, 1_000_000_000))
    command = "touch $out && cp source.d out.d"
    (tmp_path / "build.ninja").write_text(
        f"rule r\n  command = {command}\n  depfile = out.d\n  deps = gcc\nbuild out.c: r\n"
    )
    (tmp_path / "source.d").write_bytes(output.depfile("out.c", tuple(names)))
    subprocess.run(["ninja", "-v"], stdout=subprocess.DEVNULL, check=True)
    known = subprocess.run(["ninja", "-t", "deps"], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert [line.strip() for line in known.splitlines()[1:] if line.strip()] == [
        f"{tmp_path}/{n}" for n in names
    ]
