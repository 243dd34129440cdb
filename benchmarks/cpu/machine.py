"""The machine and the compilers that figures come from."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path


def describe(compiler: str) -> dict[str, object]:
    """What must be known of a machine to read its figures."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "caches": _caches(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "compiler": version(compiler),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def _processor() -> str:
    """The processor's name; in a virtual machine that hides it, its family and model at least."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", info, flags=re.MULTILINE))
    name = fields.get("model name", platform.processor())
    return f"{name} (family {fields.get('cpu family', '?')}, model {fields.get('model', '?')})"


def _caches() -> dict[str, str]:
    """The caches of the first core, as in ``{"L1 Data": "32K"}``."""
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        caches[f"L{level} {kind}"] = size
    return caches


def version(command: str) -> str:
    """What a tool says of its version, in one line; empty if it will not say."""
    done = subprocess.run([command, "--version"], check=False, capture_output=True, text=True, timeout=60)
    return next((line for line in done.stdout.splitlines() if line.strip()), "")
