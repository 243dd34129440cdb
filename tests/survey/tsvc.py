"""The loops of TSVC-2: each marked mechanically, transformed, run beside gcc's original.

    python tests/survey/tsvc.py FOLDER-OF-TSVC_2

The folder is a checkout of https://github.com/UoB-HPC/TSVC_2. What is timed in
each function, the body of its repetition loop up to the call of ``dummy``,
becomes a region. ``dummy`` is replaced by one that hashes every array, so each
repetition of each loop is compared bit by bit. Nothing is written outside a
temporary folder.
"""

# ruff: noqa: T201 - printing is what this is for

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from polybuild.driver.file import FileResult, compile_source
from polybuild.options import Options

FLAGS = ("-std=gnu99", "-O2", "-ffp-contract=off", "-w")
SIZES = {"iterations": 64, "LEN_1D": 640, "LEN_2D": 32}
_FUNCTION = re.compile(r"^real_t (\w+)\(struct args_t", re.MULTILINE)
_REPETITION = re.compile(
    r"^(\s*for \(int nl = [^{]*\{[ \t]*\n)(.*?)(^[ \t]*dummy\()", re.MULTILINE | re.DOTALL
)

HASHING = r"""
#include <stdio.h>
#include <stddef.h>
#include "common.h"
#include "array_defs.h"
static unsigned long long state = 14695981039346656037ull;
static void hash(const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t k = 0; k < size; k++) state = (state ^ bytes[k]) * 1099511628211ull;
}
int dummy(real_t p[LEN_1D], real_t q[LEN_1D], real_t r[LEN_1D], real_t s[LEN_1D], real_t t[LEN_1D],
          real_t pp[LEN_2D][LEN_2D], real_t qq[LEN_2D][LEN_2D], real_t rr[LEN_2D][LEN_2D], real_t value) {
  hash(a, sizeof a), hash(b, sizeof b), hash(c, sizeof c), hash(d, sizeof d), hash(e, sizeof e);
  hash(x, sizeof x), hash(flat_2d_array, sizeof flat_2d_array), hash(indx, sizeof indx);
  hash(aa, sizeof aa), hash(bb, sizeof bb), hash(cc, sizeof cc), hash(tt, sizeof tt);
  hash(&value, sizeof value);
  return 0;
}
real_t original_checksum(const char *name);
real_t calc_checksum(const char *name) {
  printf("%s %016llx\n", name, state);
  state = 14695981039346656037ull;
  return 0;
}
"""


def marked(text: str) -> str:
    """``tsvc.c`` with a region in each repetition loop."""

    def mark(match: re.Match[str]) -> str:
        return f"{match[1]}#pragma scop\n{match[2]}#pragma endscop\n{match[3]}"

    return _REPETITION.sub(mark, text)


def prepared(checkout: Path, folder: Path) -> Path:
    """A copy of the suite in ``folder`` with small sizes, regions and our ``dummy``; its main file."""
    for path in (checkout / "src").iterdir():
        if path.suffix in {".c", ".h"}:
            (folder / path.name).write_bytes(path.read_bytes())
    header = (folder / "common.h").read_text()
    for name, value in SIZES.items():
        header = re.sub(rf"#define {name} \d+", f"#define {name} {value}", header)
    (folder / "common.h").write_text(header)
    (folder / "dummy.c").write_text(HASHING)
    main = folder / "tsvc.c"
    main.write_text(marked(main.read_text()))
    return main


def hashes(main: Path, folder: Path, *flags: str) -> dict[str, str]:
    """What each function of the suite computed, by its name."""
    program = main.with_suffix("")
    common = ["gcc", *FLAGS, "-Dcalc_checksum=original_checksum", "-c", str(folder / "common.c")]
    subprocess.run([*common, "-o", str(folder / "common.o")], check=True)
    command = ["gcc", *FLAGS, *flags, "-I", str(folder), str(main), str(folder / "dummy.c")]
    subprocess.run([*command, str(folder / "common.o"), "-lm", "-o", str(program)], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=600)
    return dict(re.findall(r"(\w+) ([0-9a-f]{16})$", done.stdout, re.MULTILINE))


def by_function(result: FileResult, text: str) -> dict[str, list[str]]:
    """What became of the regions of each function: a code, or how many loops are parallel."""
    starts = [(text.count("\n", 0, match.start()) + 1, match[1]) for match in _FUNCTION.finditer(text)]
    outcomes: dict[str, list[str]] = {}
    for region in result.regions:
        name = [each for line, each in starts if line < region.line][-1]
        parallel = "parallel" if region.parallel_loops else "serial"
        outcomes.setdefault(name, []).append(region.code or parallel)
    return outcomes


def main() -> int:
    """Print one line per function and the counts; the exit code is 1 if a result is wrong."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = prepared(Path(sys.argv[1]), folder)
        result = compile_source(str(source), Options(min_work=0), ["gcc"], [*FLAGS, "-I", str(folder)])
        new = folder / "transformed.c"
        new.write_text(result.text)
        before, after = hashes(source, folder), hashes(new, folder, "-fopenmp")
        outcomes = by_function(result, source.read_text())
        wrong = [each for each in before if before[each] != after.get(each)]
        for function, codes in outcomes.items():
            print(f"{function:8} {' '.join(codes)}{'  WRONG' if function in wrong else ''}")
        counts = Counter(code for codes in outcomes.values() for code in codes)
        print(f"\n{len(before)} functions run, {sum(counts.values())} regions")
        for code, count in counts.most_common():
            print(f"{count:5} {code}")
        messages = Counter(each.message for each in result.regions if each.code)
        for message, count in messages.most_common():
            print(f"{count:5}   {message}")
        print(f"{len(wrong):5} wrong: {' '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
