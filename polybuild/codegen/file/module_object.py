"""The kernels of a file as data in that file: the module object that the runtime loads.

See ``polybuild_device.h`` for the structure. String literals are kept within what C99 promises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from polybuild.machine.model import Machine
from polybuild.values import dataclass

_WORD = 8
_WORDS_A_LINE = 5
_LONGEST_LITERAL = 1000  # characters, each of at most four bytes; C99 promises 4095 bytes
_LONGEST_LINE = 100
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "?": "\\?"}


@dataclass(frozen=True, slots=True)
class DriverSource:
    """Kernels that a driver compiles when the program runs, and its options; empty: there are none."""

    text: str = ""
    options: str = ""


def module_object(
    name: str,
    kernels: Sequence[str],
    machine: Machine,
    *,
    fatbin: bytes = b"",
    sources: Mapping[str, DriverSource] = MappingProxyType({}),
) -> str:
    """C text that defines the static ``polybuild_module`` called ``name``.

    ``kernels`` are their names in the order in which they are launched by number; ``fatbin`` is what they
    are compiled to for CUDA, empty if there is no such image, and ``sources`` has their text for ``opencl``
    and ``hip``. What runs cost on ``machine`` goes along.
    """
    parts = [_array("const char *const", f"{name}_kernels", [f'"{kernel}"' for kernel in kernels])]
    if fatbin:
        parts.append(_words(f"{name}_fatbin", fatbin))
    texts: list[str] = []
    for language in ("opencl", "hip"):
        source = sources.get(language, DriverSource())
        if source.text:
            pieces = ["\n".join(_literals(piece)) for piece in _pieces(source.text)]
            parts.append(_array("const char *const", f"{name}_{language}", [*pieces, "0"], "\n"))
        texts.append(f"{name}_{language}" if source.text else "0")
        texts.append(f'"{source.options}"' if source.options else "0")
    fields = [
        "POLYBUILD_DEVICE_VERSION",
        str(len(kernels)),
        f"{name}_kernels",
        f"{name}_fatbin" if fatbin else "0",
        str(len(fatbin)),
        *texts,
        _costs(machine),
        "0",
    ]
    parts.append(f"static polybuild_module {name} = {{{', '.join(fields)}}};\n")
    return "".join(parts)


def _costs(machine: Machine) -> str:
    """The initialiser of a ``polybuild_costs``."""
    device, interconnect, cooperative = machine.device, machine.interconnect, machine.cooperative
    members = {
        "start": interconnect.start,
        "copy": interconnect.copy,
        "bandwidth": interconnect.bandwidth,
        "launch": device.launch,
        "alone": device.alone,
        "host": device.host,
        "meeting": cooperative.meeting,
        "fixed": cooperative.fixed,
        "wave": machine.throughput.wave,
        "processors": machine.multiprocessor.count,
    }
    return f"{{{', '.join(f'.{name} = {float(value)!r}' for name, value in members.items())}}}"


def _array(of: str, name: str, items: Sequence[str], separator: str = " ") -> str:
    return f"static {of} {name}[] = {{{f',{separator}'.join(items)}}};\n"


def _words(name: str, data: bytes) -> str:
    """An array of words whose bytes, in the order of this kind of machine, are ``data``."""
    padded = data + bytes(-len(data) % _WORD)
    words = [f"0x{int.from_bytes(padded[i : i + _WORD], 'little'):x}" for i in range(0, len(padded), _WORD)]
    lines = [", ".join(words[i : i + _WORDS_A_LINE]) for i in range(0, len(words), _WORDS_A_LINE)]
    return _array("const unsigned long long", name, lines, "\n")


def _pieces(text: str) -> Iterator[str]:
    """``text`` cut into pieces that each fit into one string literal."""
    for start in range(0, len(text), _LONGEST_LITERAL):
        yield text[start : start + _LONGEST_LITERAL]


def _literals(piece: str) -> Iterator[str]:
    """``piece`` as string literals that C joins, one for each line or part of one."""
    for line in piece.splitlines(keepends=True):
        for start in range(0, len(line), _LONGEST_LINE):
            yield f'"{"".join(map(_escaped, line[start : start + _LONGEST_LINE]))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if " " <= character <= "~":
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode())
