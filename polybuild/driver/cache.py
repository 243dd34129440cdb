"""Results kept between builds, found again by what they were made from.

An entry is a folder ``<cache>/<d>/<digest>`` with one file, the result, and
``record.json``, which says the rest. It appears whole (a folder is renamed) and
is never changed, so any number of builds may use one cache. Nothing is
believed that another user could have written, or whose bytes are not those
that were stored. The cache is kept below its size by dropping what was used
least recently.

The environment: POLYBUILD_CACHE_DIR is the folder (else that of the XDG base
directories), POLYBUILD_CACHE=off does without, POLYBUILD_CACHE_SIZE is the
size, in bytes or with K, M or G.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from polybuild.diagnostics import UsageError
from polybuild.values import dataclass

_FORMAT = "1"
_SHARDS = 16
_RECORD = "record.json"
_TEMPORARY = ".new-"
_DEFAULT_SIZE = 256 << 20
# Another build may be about to read what was used a moment ago.
_GRACE_SECONDS = 60
_ABANDONED_SECONDS = 3600
_MARK = "CACHEDIR.TAG"
_MARK_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of polybuild.\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored result: the file that holds it, its bytes, and what was recorded with it."""

    path: Path
    data: bytes
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a cache holds, how large it may grow, and how often it was asked."""

    entries: int
    bytes: int
    limit: int
    hits: int
    misses: int


class Cache:
    """The cache in one folder; its methods do without rather than fail."""

    def __init__(self, folder: Path, limit: int = _DEFAULT_SIZE) -> None:
        """``folder`` exists and is trusted (see :func:`open_cache`); ``limit`` is in bytes."""
        self.folder = folder
        self.limit = limit

    def get(self, key: str, name: str, *, counted: bool = True) -> Entry | None:
        """The entry of ``key``, whose file has the name ``name``; None if there is none to be trusted.

        Statistics tell of what is ``counted``.
        """
        folder = self._place(key)
        try:
            record = json.loads(_trusted_bytes(folder / _RECORD))
            data = _trusted_bytes(folder / name)
        except (OSError, ValueError):
            data, record = b"", None
        if not isinstance(record, dict) or record.get("sha256") != hashlib.sha256(data).hexdigest():
            if counted:
                self._count("misses")
            return None
        with contextlib.suppress(OSError):
            os.utime(folder)
        if counted:
            self._count("hits")
        return Entry(folder / name, data, record)

    def put(self, key: str, name: str, data: bytes, record: Mapping[str, Any]) -> Entry | None:
        """Store ``data`` under ``key`` as a file called ``name``; None if that cannot be done."""
        if name == _RECORD:
            return None
        place = self._place(key)
        whole = {**record, "sha256": hashlib.sha256(data).hexdigest()}
        new = place.parent / f"{_TEMPORARY}{os.urandom(8).hex()}"
        try:
            new.mkdir(mode=0o700, parents=True)
            _write(new / name, data)
            _write(new / _RECORD, json.dumps(whole).encode("ascii"))
            try:
                new.rename(place)
            except OSError:
                if self._is_sound(place, name):  # another build was faster
                    shutil.rmtree(new, ignore_errors=True)
                else:
                    shutil.rmtree(place, ignore_errors=True)
                    new.rename(place)
            self._shrink(place.parent)
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
            return None
        return Entry(place / name, data, whole)

    def statistics(self) -> Statistics:
        """What is in the cache now."""
        sizes = [size for shard in self._shards() for _, size, _ in _entries(shard)]
        counts = self._counts()
        return Statistics(len(sizes), sum(sizes), self.limit, counts.get("hits", 0), counts.get("misses", 0))

    def clear(self) -> int:
        """Remove everything; how many entries there were."""
        removed = 0
        for shard in self._shards():
            removed += len(list(_entries(shard)))
            shutil.rmtree(shard, ignore_errors=True)
        with contextlib.suppress(OSError):
            (self.folder / "counts").unlink()
        return removed

    def _place(self, key: str) -> Path:
        return self.folder / key[0] / key

    def _shards(self) -> list[Path]:
        return [self.folder / f"{number:x}" for number in range(_SHARDS)]

    @staticmethod
    def _is_sound(place: Path, name: str) -> bool:
        try:
            record = json.loads(_trusted_bytes(place / _RECORD))
            return bool(record["sha256"] == hashlib.sha256(_trusted_bytes(place / name)).hexdigest())
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _shrink(self, shard: Path) -> None:
        """Drop the entries used least recently until ``shard`` has no more than its part of the size."""
        now = time.time()
        entries = sorted(_entries(shard, now))
        total = sum(size for _, size, _ in entries)
        for used, size, path in entries:
            if total <= self.limit // _SHARDS or used > now - _GRACE_SECONDS:
                break
            shutil.rmtree(path, ignore_errors=True)
            total -= size

    def _counts(self) -> dict[str, int]:
        try:
            counts = json.loads((self.folder / "counts").read_text(encoding="ascii"))
            return {name: int(counts[name]) for name in ("hits", "misses")}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _count(self, what: str) -> None:
        with contextlib.suppress(OSError), (self.folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            counts = {"hits": 0, "misses": 0} | self._counts()
            counts[what] += 1
            _write(self.folder / "counts", json.dumps(counts).encode("ascii"))


def open_cache(*, default: bool) -> Cache | None:
    """The cache that the environment asks for; made if need be.

    None if there is to be none, or if its folder cannot be made or trusted.
    Where the environment says nothing, ``default`` decides. Raises UsageError
    for a size that is none.
    """
    wanted = os.environ.get("POLYBUILD_CACHE", "").lower()
    if wanted in {"0", "off", "no", "false"}:
        return None
    if not (default or wanted or os.environ.get("POLYBUILD_CACHE_DIR")):
        return None
    folder, limit = cache_folder(), _limit()
    try:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(folder / _MARK, _MARK_TEXT.encode("ascii"))
        if not is_trusted(folder) or not os.access(folder, os.W_OK):
            return None
    except OSError:
        return None
    return Cache(folder, limit)


def cache_folder() -> Path:
    """The folder of the cache, whether it is there or not."""
    wanted = os.environ.get("POLYBUILD_CACHE_DIR")
    if wanted:
        return Path(wanted).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path("~/.cache").expanduser()) / "polybuild"


def is_trusted(path: Path) -> bool:
    """Whether ``path`` is this user's and nobody else can write it. OSError if it is not there."""
    return _is_private(path.stat())


def key_of(parts: Iterable[str | bytes]) -> str:
    """The digest of ``parts``; equal for equal sequences only."""
    digest = hashlib.sha256(_FORMAT.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()


@functools.cache
def tool_identity() -> str:
    """What changes when polybuild, or a library it works with, does: an upgrade or an edit."""
    package = Path(__file__).resolve().parents[1]
    parts = []
    for folder, _, files in sorted(os.walk(package)):
        for name in sorted(files):
            if name.endswith((".py", ".h", ".c", ".json", ".toml")):
                status = os.stat(f"{folder}/{name}")  # noqa: PTH116 -- some hundred times at each start
                parts.append(f"{folder[len(str(package)) :]}/{name} {status.st_size} {status.st_mtime_ns}")
    for entry in sys.path:
        with contextlib.suppress(OSError):
            parts += sorted(
                name
                for name in os.listdir(entry or ".")  # noqa: PTH208 -- as above
                if name.startswith(("islpy-", "pycparser-")) and name.endswith("-info")
            )
    return key_of(parts)


def compiler_identity(compiler: Sequence[str]) -> str:
    """What changes when the compiler does: its program's path, size and time."""
    path = shutil.which(compiler[0]) or compiler[0]
    try:
        status = os.stat(path)  # noqa: PTH116 -- follows the link, as is wanted
        facts = [os.path.realpath(path), str(status.st_size), str(status.st_mtime_ns)]
    except OSError:
        facts = [path]
    return key_of([*compiler, *facts])


def _limit() -> int:
    text = os.environ.get("POLYBUILD_CACHE_SIZE", "").strip()
    if not text:
        return _DEFAULT_SIZE
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1].upper(), 1)
    number = text if factor == 1 else text[:-1]
    if not number.isascii() or not number.isdigit():
        raise UsageError(f"POLYBUILD_CACHE_SIZE must be a number of bytes, with K, M or G, not '{text}'")
    return int(number) * factor


def _is_private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _trusted_bytes(path: Path) -> bytes:
    """What a regular file of this user holds; PermissionError if others may have written it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file:  # noqa: PTH123 -- of a descriptor
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not _is_private(status):
            raise PermissionError(f"{path} is not to be trusted")
        return file.read()


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{_TEMPORARY}{os.urandom(8).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 -- of a descriptor
        file.write(data)
    temporary.rename(path)


def _entries(shard: Path, now: float | None = None) -> Iterator[tuple[float, int, Path]]:
    """Each entry of a shard: when it was used, its size, its folder. Drops what a crash left over."""
    try:
        folders = list(shard.iterdir())
    except OSError:
        return
    for folder in folders:
        with contextlib.suppress(OSError):
            used = folder.stat().st_mtime
            if folder.name.startswith(_TEMPORARY):
                if now is not None and used < now - _ABANDONED_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            yield used, sum(file.stat().st_size for file in folder.iterdir()), folder
