"""What is resolved once for a file, before its regions are ordered: options, machine, compiler.

``Options`` hold what a user said, and nothing else. What follows from it together with the
compiler's flags and the machine is asked here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from polybuild.options import Options


class Origin(Enum):
    """Where a fact of the machine comes from."""

    OPTION = "an option"
    COMPILER = "the compiler's flags"
    HOST = "this machine"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class ByteSize:
    """A size in bytes, and where it comes from."""

    bytes: int
    origin: Origin = Origin.ASSUMED


# The size of AVX-512's registers, in bytes.
_WIDE_VECTOR = 64


@dataclass(frozen=True, slots=True)
class Machine:
    """The hardware that code is generated for; the defaults are those of a usual one.

    ``vector`` is the size of a vector register, ``l1`` that of the first-level data cache, ``l2``
    that of the second-level cache.
    """

    vector: ByteSize = ByteSize(16)
    l1: ByteSize = ByteSize(32 * 1024)
    l2: ByteSize = ByteSize(1024 * 1024)

    @property
    def vector_registers(self) -> int:
        """How many registers hold vectors: 32 where they have 64 bytes (AVX-512), 16 elsewhere at least."""
        return 32 if self.vector.bytes >= _WIDE_VECTOR else 16

    def with_options(self, options: Options) -> Machine:
        """The machine with the sizes that ``options`` give."""
        given = {"vector": options.vector_size, "l1": options.l1_size, "l2": options.l2_size}
        return replace(self, **{name: ByteSize(size, Origin.OPTION) for name, size in given.items() if size})


@dataclass(frozen=True, slots=True)
class CompilerRules:
    """What the compiler of the generated code may do, by its flags.

    ``may_reassociate`` and ``may_contract`` are about floating-point operations: whether they may be
    computed in another order, and whether a product and a sum may become one operation.
    ``strict_aliasing`` says that it relies on C's rules of effective types.
    """

    optimises: bool = True
    may_reassociate: bool = False
    may_contract: bool = False
    strict_aliasing: bool = True


@dataclass(frozen=True, slots=True)
class CompileContext:
    """What the passes from scheduling on may ask: the options, the machine and the compiler's rules."""

    options: Options = field(default_factory=Options)
    machine: Machine = field(default_factory=Machine)
    compiler: CompilerRules = field(default_factory=CompilerRules)

    def with_options(self, options: Options) -> CompileContext:
        """The context with ``options`` instead of its own."""
        return replace(self, options=options, machine=self.machine.with_options(options))

    @property
    def may_reassociate(self) -> bool:
        """Whether sums of floating-point numbers may be computed in any order."""
        wanted = self.options.allow_reassociation
        return self.compiler.may_reassociate if wanted is None else wanted

    @property
    def contraction(self) -> str:
        """How arrays are contracted: as ``contract_arrays`` says, with ``auto`` where the compiler optimises.

        One that does not optimise uses no vectors, but every variable saves it the way to an element.
        """
        wanted = self.options.contract_arrays
        return "copies" if wanted == "auto" and not self.compiler.optimises else wanted

    @property
    def in_variables(self) -> bool:
        """Whether elements of arrays are to be in variables rather than in vectors or buffers."""
        return self.contraction in {"scalars", "copies"}
