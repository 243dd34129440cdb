"""pet's test inputs: each read, transformed, and where it can be run, run beside gcc's original.

    python tests/survey/pet.py FOLDER [-v]

The folder holds pet's ``tests`` (https://repo.or.cz/pet.git or a mirror). After
each region a copy of the file gets calls that hash the variables the region
mentions, and at its end a function that calls those with regions, with small
numbers and filled arrays. A file counts as executed if that program links, ends
and is clean under the address and undefined-behaviour sanitizers as it stands.
Nothing is written outside a temporary folder.
"""

# ruff: noqa: T201 - printing is what this is for

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pycparser import c_ast

from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import walk
from polybuild.c.types import ArrayType, FloatingType, IntegerType, PointerType, Type
from polybuild.diagnostics import SourceError
from polybuild.driver.file import compile_source
from polybuild.driver.progress import ProgressLine
from polybuild.options import Options
from polybuild.source.autodetect import detect_regions
from polybuild.source.model import Region, Source
from polybuild.source.reader import read_source

FLAGS = ("-std=gnu99", "-ffp-contract=off", "-w", "-Dmain=survey_main", "-ftrivial-auto-var-init=zero")
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-sanitize=vla-bound")
TOP = (
    "void survey_bytes(const void *, unsigned long); void survey_number(double); void *survey_buffer(int);\n"
)
HARNESS = r"""
#include <stdio.h>
#include <stdlib.h>
static unsigned long long state = 14695981039346656037ull;
void survey_bytes(const void *data, unsigned long size) {
  const unsigned char *bytes = data;
  while (size--) state = (state ^ *bytes++) * 1099511628211ull;
}
void survey_number(double number) { survey_bytes(&number, sizeof number); }
enum { SIZE = 1 << 18, MOST = 16 };
static double *buffers[MOST];
static int used;
void *survey_buffer(int kind) {
  double *buffer = calloc(SIZE, 8);
  for (int k = 0; k < SIZE; k++)
    if (kind == 1) buffer[k] = k % 13 - 4;
    else if (kind == 2) ((float *)buffer)[k] = k % 11 - 3;
    else if (kind == 3) ((int *)buffer)[k] = k % 5;
  return buffers[used++] = buffer;
}
void survey_calls(void);
int main(void) {
  survey_calls();
  for (int k = 0; k < used; k++) survey_bytes(buffers[k], 8 * SIZE), free(buffers[k]);
  printf("%016llx\n", state);
}
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a file: one word per region, and what running it showed."""

    regions: tuple[str, ...]
    execution: str
    detail: str = ""


def hashed(region: Region) -> Iterator[str]:
    """Calls that hash the variables ``region`` mentions, as far as their extent is known."""
    mentioned = {each.name for node in region.statements for each in walk(node) if isinstance(each, c_ast.ID)}
    for name in sorted(mentioned & set(region.visible.symbols)):
        symbol = region.visible.symbols[name]
        if isinstance(symbol.type, IntegerType | FloatingType) and not getattr(symbol.type, "complex", False):
            yield f"survey_number({name});"
        elif symbol.storage is not StorageClass.PARAMETER and _is_flat_array(symbol.type):
            yield f"survey_bytes({name}, sizeof {name});"


def _is_flat_array(kind: Type) -> bool:
    if not isinstance(kind, ArrayType):
        return False
    while isinstance(kind, ArrayType):
        if kind.extent is None:
            return False
        kind = kind.element
    return isinstance(kind, IntegerType | FloatingType)


def argument(symbol: Symbol) -> str:
    """A value for a parameter."""
    kind: Type = symbol.type
    if isinstance(kind, IntegerType):
        return "7"
    if isinstance(kind, FloatingType):
        return "1.5"
    while isinstance(kind, ArrayType | PointerType):
        kind = kind.element if isinstance(kind, ArrayType) else kind.target
    filling = 0
    if isinstance(kind, FloatingType):
        filling = {8: 1, 4: 2}.get(kind.size, 0)
    elif isinstance(kind, IntegerType) and kind.width == 32:
        filling = 3
    return f"survey_buffer({filling})"


def instrumented(source: Source) -> str | None:
    """The file with variables hashed after each region, and calls at its end; None without regions."""
    text, calls = source.text, {}
    for region in sorted(source.regions, key=lambda each: -each.span.start):
        if not isinstance(region, Region):
            return None
        text = f"{text[: region.span.end]} {' '.join(hashed(region))}\n{text[region.span.end :]}"
        function = region.function.decl
        parameters = function.type.args.params if function.type.args is not None else ()
        names = [each.name for each in parameters if getattr(each, "name", None)]
        if any(name not in region.visible.symbols for name in names):
            return None
        calls[function.name] = (
            f"{function.name}({', '.join(argument(region.visible.symbols[each]) for each in names)});"
        )
    if not calls:
        return None
    main = [f"survey_{name}" if name == "main" else name for name in calls]
    text = f"{TOP}{text}\nvoid survey_calls(void) {{ {' '.join(calls.values())} }}\n"
    return text if len(set(main)) == len(calls) else None


def survey(path: Path, folder: Path) -> Outcome:
    """Read, transform and run one file."""
    detected = path.parent.name == "autodetect"
    options = Options(min_work=0, autodetect=detected)
    flags = [*FLAGS, "-I", str(path.parent)]
    try:
        if detected:
            source = detect_regions(str(path), ["gcc"], flags, lambda _: None).source
        else:
            source = read_source(str(path), ["gcc"], flags)
        result = compile_source(str(path), options, ["gcc"], flags)
    except SourceError as error:
        return Outcome((error.diagnostic.code,), "not executed", "cannot be preprocessed")
    regions = tuple(each.code or "transformed" for each in result.regions)
    text = instrumented(source)
    if text is None or "transformed" not in regions:
        return Outcome(regions, "not executed", "nothing to compare")
    copy = folder / "in.c"
    copy.write_text(text)
    new = compile_source(str(copy), options, ["gcc"], flags)
    (folder / "out.c").write_text(new.text)
    (folder / "harness.c").write_text(HARNESS)
    if "transformed" not in {each.status for each in new.regions}:
        return Outcome(regions, "not executed", "kept once its variables are looked at")
    original = run(folder, "in.c", flags, *SANITIZERS)
    if not re.fullmatch("[0-9a-f]{16}", original):
        return Outcome(regions, "not executed", original)
    plain = run(folder, "in.c", flags, "-O2")
    for variant in (("-O2", "-fopenmp"), SANITIZERS):
        transformed = run(folder, "out.c", flags, *variant)
        if transformed != plain:
            return Outcome(regions, "WRONG", f"{plain} became {transformed} ({variant[-1]})")
    return Outcome(regions, "equal")


def run(folder: Path, name: str, flags: list[str], *variant: str) -> str:
    """The hash that the program printed, or what went wrong."""
    program = folder / f"{name}.exe"
    harness = folder / "harness.o"
    subprocess.run(["gcc", "-O2", "-c", str(folder / "harness.c"), "-o", str(harness)], check=True)
    command = ["gcc", *flags, *variant, str(folder / name), str(harness), "-lm", "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        undefined = "undefined reference" in built.stderr
        return "a function is not defined" if undefined else f"does not compile: {_error(built.stderr)}"
    try:
        done = subprocess.run(
            [str(program)], capture_output=True, text=True, errors="replace", timeout=10, check=False
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    return done.stdout.strip() if done.returncode == 0 else f"undefined behaviour: {_error(done.stderr)}"


def _error(text: str) -> str:
    return next((line.split("/")[-1] for line in text.splitlines() if "rror" in line), "")[:90]


def main() -> int:
    """Print one line per file and the counts; the exit code is 1 if something is wrong or crashed."""
    arguments = [each for each in sys.argv[1:] if each != "-v"]
    if len(arguments) != 1:
        print(__doc__)
        return 2
    files = sorted(Path(arguments[0]).rglob("*.c"))
    outcomes = {}
    with ProgressLine(parts=len(files)) as progress:
        for path in files:
            progress.at(path.name)
            with tempfile.TemporaryDirectory() as folder:
                outcomes[path] = survey(path, Path(folder))
            each = outcomes[path]
            if "-v" in sys.argv or each.execution == "WRONG" or "internal" in each.regions:
                progress.clear()
                print(f"{path.name:30} {' '.join(each.regions)}; {each.execution} {each.detail}")
    codes = Counter(code for each in outcomes.values() for code in each.regions)
    print(f"\n{len(files)} files, {sum(codes.values())} regions")
    for code, count in codes.most_common():
        print(f"{count:5} {code}")
    executed = Counter(each.execution for each in outcomes.values())
    for execution, count in executed.most_common():
        print(f"{count:5} files {execution}")
    reasons = Counter(
        each.detail.partition(":")[0] for each in outcomes.values() if each.execution == "not executed"
    )
    for reason, count in reasons.most_common():
        print(f"{count:5}   {reason}")
    return 1 if executed["WRONG"] or codes["internal"] else 0


if __name__ == "__main__":
    sys.exit(main())
