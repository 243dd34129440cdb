"""The command line: ``python -m benchmarks.gpu``."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.cpu.suites import Kernel, OwnKernels
from benchmarks.gpu.programs import Accumulations
from polybuild.driver.file import compile_source
from polybuild.driver.progress import ProgressLine
from polybuild.machine.file import read_machine_file
from polybuild.machine.model import Machine, Origin
from polybuild.options import Options

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
DESCRIPTION = """\
Prepares a folder with the thirty kernels, a matrix product and the accumulations (sums, histograms, sparse
rows, products with vectors) for CUDA, and runs it: every result is compared with the host's, kernels and
copies are timed, beside the bandwidth and the peak of the device (of --machine), and the product is set
against cuBLAS. One of the thirty that the compiler leaves to the host, with a reason, is a row like the
others; any other kernel that runs there fails the command. The accumulations run on data that stay on the
device, with leave to reorder sums, beside the bandwidth of a copy there, cuBLAS and cuSPARSE. With --prepare
the folder is only written, to be run elsewhere by 'python3 run.py': that needs no polybuild."""


PRODUCT = "matmul"
"""The product of matrices that is set against cuBLAS."""
_ON_HOST = "runs on the host: "
"""What a remark begins with that says why there are no kernels."""
_IN_ORDER = {"allow_reassociation": "off"}
_FORMS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "csr": {"": _IN_ORDER},  # csr-warp has the other form
    "ell": {"in-order": _IN_ORDER},
    "equake": {"in-order": _IN_ORDER},
    "hog": {"in-order": _IN_ORDER},
}
"""Options of accumulations by the word for a form of theirs; the plain one may reorder sums."""


def main() -> int:
    """Prepare and run; the exit code is that of the run."""
    parser = argparse.ArgumentParser("python -m benchmarks.gpu", description=DESCRIPTION)
    parser.add_argument("folder", type=Path, help="where to build; it is made if it is not there")
    parser.add_argument("--prepare", action="store_true", help="write the folder, do not run it")
    parser.add_argument("--kernels", default="", metavar="A,B", help="only these")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="repetitions; the median counts (5)")
    parser.add_argument("--size", default="large", help="mini, small, medium or large (large)")
    parser.add_argument(
        "--profile", action="store_true", help="ask ncu about accumulations that are far from the bandwidth"
    )
    parser.add_argument(
        "--form",
        action="append",
        default=[],
        metavar="KERNEL@WORD:OPTION=VALUE;...",
        help="time an accumulation with other options, too",
    )
    parser.add_argument("--products", default="", metavar="N,N", help="extents of the products of matrices")
    parser.add_argument(
        "--machine", type=Path, metavar="FILE", help="the device's figures, as 'polybuild machine'"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the results go (results.json)")
    arguments = parser.parse_args()
    names = [name for name in arguments.kernels.split(",") if name]
    known = {PRODUCT, *(each.name for suite in (OwnKernels(), Accumulations()) for each in suite.kernels)}
    unknown = sorted(set(names) - known)
    if unknown:
        parser.error(f"no such kernel: {', '.join(unknown)}")
    prepare(arguments.folder, names, _device(arguments.machine), _forms(arguments.form))
    if arguments.prepare:
        return 0
    command = [sys.executable, "run.py", *names, "--runs", str(arguments.runs), "--size", arguments.size]
    if arguments.profile:
        command.append("--profile")
    if arguments.products:
        command += ["--products", arguments.products]
    if arguments.json:
        command += ["--json", str(arguments.json.absolute())]
    return subprocess.run(command, check=False, cwd=arguments.folder).returncode


def _forms(texts: Sequence[str]) -> dict[str, dict[str, dict[str, str]]]:
    """Options by kernel and word, from ``KERNEL@WORD:OPTION=VALUE;...``."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for each in texts:
        form, _, options = each.partition(":")
        kernel, _, word = form.partition("@")
        found.setdefault(kernel, {})[word] = dict(setting.split("=", 1) for setting in options.split(";"))
    return found


def _device(file: Path | None) -> dict[str, float]:
    """The figures of the device that measurements are set against."""
    machine = Machine()
    if file:
        found = read_machine_file(file)
        if found.diagnostic:
            sys.exit(str(found.diagnostic))
        machine = machine.with_figures(found.figures, Origin.FILE)
    return {name: float(getattr(machine.device, name)) for name in ("bandwidth", "single")}


def prepare(
    folder: Path,
    names: list[str],
    device: dict[str, float],
    forms: Mapping[str, Mapping[str, Mapping[str, str]]] | None = None,
) -> None:
    """Write everything that ``run.py`` needs to ``folder``, accumulations in more ``forms`` as _FORMS has."""
    for part in ("original", "fast", "exact"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for name in ("run.py", "warm.py", "warm.c", "cublas.cu", "libraries.cu"):
        shutil.copy(HERE / name, folder)
    kernels = ROOT / "tests" / "kernels"
    for name in ("driver.c", "driver.h"):
        shutil.copy(kernels / name, folder)
    shutil.copytree(ROOT / "polybuild" / "runtime", folder / "runtime", dirs_exist_ok=True)
    chosen = [each for each in OwnKernels().kernels if not names or each.name in names]
    on_host: dict[str, dict[str, str]] = {}
    accumulations = [each for each in Accumulations().kernels if not names or each.name in names]
    without: dict[str, str] = {}
    product = not names or PRODUCT in names
    with ProgressLine(parts=len(chosen) + len(accumulations) + product) as progress:
        for kernel in chosen:
            progress.at(kernel.name)
            shutil.copy(kernel.source, folder / "original")
            for part, flags in (("fast", ["-O3"]), ("exact", ["-O2", "-ffp-contract=off"])):
                target = folder / part / kernel.source.name
                settings = {} if part == "fast" else {"min_work": "0"}
                reason = _transform(kernel.source, target, flags, settings)
                on_host.setdefault(kernel.name, {})[part] = reason
        if product:
            progress.at(PRODUCT)
            _transform(HERE / "matmul.c", folder / "fast" / "matmul.c", ["-O3"], {})
        for kernel in accumulations:
            progress.at(kernel.name)
            more = (forms or {}).get(kernel.name, {})
            without |= _prepare_warm(kernel, folder / "warm", {**_FORMS.get(kernel.name, {}), **more})
    facts = {"device": device, "on host": on_host, "without kernels": without}
    (folder / "facts.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _prepare_warm(kernel: Kernel, folder: Path, forms: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Write an accumulation in the ``forms`` that are timed; why each has no kernels, or nothing."""
    for part in ("original", "fast"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    shutil.copy(kernel.source, folder / "original")
    reasons = {}
    for word, options in ({"": {}} | {**forms}).items():
        name = f"{kernel.name}@{word}" if word else kernel.name
        settings = {"min_work": "0", "allow_reassociation": "on", **options}
        reasons[name] = _transform(kernel.source, folder / "fast" / f"{name}.c", ["-O3"], settings)
    return reasons


def _transform(source: Path, target: Path, flags: list[str], settings: dict[str, str]) -> str:
    """Write the CUDA version of ``source``, with more ``settings`` of polybuild.

    Gives the reason, as the report has it, if all of it is for the host; empty if some is for the device.
    """
    options = Options().with_settings({"backend": "cuda", **settings})
    include = ["-I", str(ROOT / "tests" / "kernels")]
    result = compile_source(str(source), options, ["gcc"], [*flags, *include])
    target.write_text(result.text, encoding="utf-8")
    if any(region.backend == options.backend for region in result.regions):
        return ""
    told = [each for region in result.regions for each in region.remarks if each.startswith(_ON_HOST)]
    return told[0].removeprefix(_ON_HOST).replace(str(source), source.name) if told else ""


if __name__ == "__main__":
    sys.exit(main())
