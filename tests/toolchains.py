"""Other toolchains in place of gcc: ``pytest --toolchain NAME`` has tests build and run with one of them."""

from __future__ import annotations

import re
import shlex
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Toolchain:
    """A compiler that takes the words of gcc, and what runs its programs where the machine does not."""

    compiler: tuple[str, ...]
    runner: tuple[str, ...] = ()
    native: str = "-march=native"
    """What stands for the processor of this machine where that is not the one that is compiled for."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The programs that are needed."""
        words = (*self.compiler[:1], *self.runner)
        return tuple(each for each in words if re.fullmatch(r"[\w.-]+", each) and each[0] != "-")


TOOLCHAINS = {
    "aarch64": Toolchain(
        ("aarch64-linux-gnu-gcc",),
        # the sanitizer of leaks looks at the program from outside, where the emulator is
        ("env", "ASAN_OPTIONS=detect_leaks=0", "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
        "-march=armv8-a",
    ),
    # Beside the cross compiler for aarch64 Debian has the 32 bits without /usr/include/asm, which lies here.
    "i386": Toolchain(
        ("gcc", "-m32", "-msse2", "-mfpmath=sse", "-idirafter", "/usr/include/x86_64-linux-gnu")
    ),
    "musl": Toolchain(("musl-gcc",)),
    "clang": Toolchain(("clang",)),
}

_WRAPPER = """\
#!/bin/sh
for word; do
  shift
  [ "$word" = -march=native ] && word={native}
  set -- "$@" "$word"
done
# A program becomes a script that has it run by what can run it.
{compiler} "$@" || exit
output=a.out
for word; do
  case $previous in -o) output=$word ;; esac
  case $word in -c|-S|-E|-M|-MM|-shared|-fsyntax-only|--version|-v|-dump*|-print-*) exit ;; esac
  previous=$word
done
[ -f "$output" ] && [ -x "$output" ] || exit 0
mv -- "$output" "$output.program"
printf '#!/bin/sh\\nexec %s "$0.program" "$@"\\n' {runner} > "$output"
chmod +x "$output"
"""


def install(toolchain: Toolchain, folder: Path) -> None:
    """Make ``gcc`` in ``folder`` the compiler of ``toolchain``."""
    folder.mkdir(parents=True, exist_ok=True)
    found = shutil.which(toolchain.compiler[0]) or toolchain.compiler[0]
    compiler = shlex.join([found, *toolchain.compiler[1:]])
    if toolchain.runner:
        text = _WRAPPER.format(
            compiler=compiler, native=toolchain.native, runner=shlex.quote(shlex.join(toolchain.runner))
        )
    else:
        text = f'#!/bin/sh\nexec {compiler} "$@"\n'
    path = folder / "gcc"
    path.write_text(text, "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
