"""The command line: ``python -m benchmarks.gpu``."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.cpu.suites import OwnKernels
from polybuild.driver.file import compile_source
from polybuild.driver.progress import ProgressLine
from polybuild.options import Options

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
DESCRIPTION = """\
Prepares a folder with the thirty kernels and a matrix product for CUDA, and runs it: every result is
compared with the host's, kernels and copies are timed, and the product is set against cuBLAS. With
--prepare the folder is only written, to be run elsewhere by 'python3 run.py': that needs no polybuild."""


def main() -> int:
    """Prepare and run; the exit code is that of the run."""
    parser = argparse.ArgumentParser("python -m benchmarks.gpu", description=DESCRIPTION)
    parser.add_argument("folder", type=Path, help="where to build; it is made if it is not there")
    parser.add_argument("--prepare", action="store_true", help="write the folder, do not run it")
    parser.add_argument("--kernels", default="", metavar="A,B", help="only these")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="repetitions; the median counts (5)")
    parser.add_argument("--size", default="large", help="mini, small, medium or large (large)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the results go (results.json)")
    arguments = parser.parse_args()
    names = [name for name in arguments.kernels.split(",") if name]
    unknown = sorted(set(names) - {each.name for each in OwnKernels().kernels})
    if unknown:
        parser.error(f"no such kernel: {', '.join(unknown)}")
    prepare(arguments.folder, names)
    if arguments.prepare:
        return 0
    command = [sys.executable, "run.py", *names, "--runs", str(arguments.runs), "--size", arguments.size]
    if arguments.json:
        command += ["--json", str(arguments.json.absolute())]
    return subprocess.run(command, check=False, cwd=arguments.folder).returncode


def prepare(folder: Path, names: list[str]) -> None:
    """Write everything that ``run.py`` needs to ``folder``."""
    for part in ("original", "fast", "exact"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for name in ("run.py", "cublas.cu"):
        shutil.copy(HERE / name, folder)
    kernels = ROOT / "tests" / "kernels"
    for name in ("driver.c", "driver.h"):
        shutil.copy(kernels / name, folder)
    shutil.copytree(ROOT / "polybuild" / "runtime", folder / "runtime", dirs_exist_ok=True)
    chosen = [each for each in OwnKernels().kernels if not names or each.name in names]
    with ProgressLine(parts=len(chosen) + 1) as progress:
        for kernel in chosen:
            progress.at(kernel.name)
            shutil.copy(kernel.source, folder / "original")
            for part, flags in (("fast", ["-O3"]), ("exact", ["-O2", "-ffp-contract=off"])):
                _transform(kernel.source, folder / part / kernel.source.name, flags, min_work=part == "fast")
        progress.at("matmul")
        _transform(HERE / "matmul.c", folder / "fast" / "matmul.c", ["-O3"], min_work=True)


def _transform(source: Path, target: Path, flags: list[str], *, min_work: bool) -> None:
    """Write the CUDA version of ``source``; small runs use the device, too, unless ``min_work``."""
    options = Options(backend="cuda") if min_work else Options(backend="cuda", min_work=0)
    include = ["-I", str(ROOT / "tests" / "kernels")]
    result = compile_source(str(source), options, ["gcc"], [*flags, *include])
    target.write_text(result.text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
