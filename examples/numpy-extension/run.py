"""Install an extension with pip, and time it beside NumPy; build/times.svg shows both.

usage: python run.py

Makes an environment in build/, for which pip fetches NumPy and setuptools; needs the headers of Python.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import side_by_side  # noqa: E402 -- it lies beside the examples


def main() -> None:
    """Install, run and show."""
    build = HERE / "build"
    python = build / "environment" / "bin" / "python"
    if not python.exists():
        venv.create(build / "environment", with_pip=True)
        pip(python, "numpy", "setuptools>=77", str(side_by_side.TREE))
    project = build / "project"
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir()
    for path in [*HERE.glob("*.[ch]"), HERE / "pyproject.toml"]:
        shutil.copy(path, project)
    pip(python, "--no-build-isolation", "--force-reinstall", "--no-deps", str(project))
    times = json.loads(subprocess.run([python, HERE / "times.py"], check=True, stdout=subprocess.PIPE).stdout)
    for name, (numpy, extension) in times.items():
        ratio = f"{numpy / extension:.1f} times as fast"
        print(f"{name:10}numpy{numpy:9.4f} s   extension{extension:9.4f} s   {ratio}")
    write_bars(build / "times.svg", times)
    print(f"figure: {build / 'times.svg'}")


def pip(python: Path, *what: str) -> None:
    """Install with the pip of ``python``."""
    print(f"== pip install {' '.join(what)}", flush=True)
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "install", "-q", *what], check=True)


def write_bars(path: Path, times: dict[str, list[float]]) -> None:
    """A bar for each time, as long as it is, with that of NumPy as the unit."""
    parts = []
    for number, (name, both) in enumerate(times.items()):
        for which, (seconds, colour) in enumerate(zip(both, ("#999", "#1f5fa8"), strict=True)):
            y = 34 + 70 * number + 26 * which
            width = 300 * seconds / both[0]
            label = f"{('NumPy', 'extension')[which]}, {1000 * seconds:.1f} ms"
            parts.append(
                f'<rect x="90" y="{y}" width="{width:.1f}" height="22" fill="{colour}"/>'
                f'<text x="{96 + width:.1f}" y="{y + 16}">{label}</text>'
            )
        parts.append(f'<text x="80" y="{34 + 70 * number + 30}" text-anchor="end">{name}</text>')
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="560" height="{44 + 70 * len(times)}"'
        ' font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="#fff"/>'
        '<text x="90" y="18">time; shorter is better</text>'
        f"{''.join(parts)}</svg>\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
