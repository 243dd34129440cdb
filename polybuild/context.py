"""What is resolved once for a file, before its regions are ordered: options, machine, compiler.

``Options`` hold what a user said, and nothing else. What follows from it together with the
compiler's flags and the machine is asked here.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum

from polybuild.machine.model import SEPARATE, Machine, Origin
from polybuild.options import Options
from polybuild.values import dataclass


class Reordering(Enum):
    """Which sums, products, minima and maxima may be computed in another order."""

    EXACT = "exact"  # those of which every order gives the same bits
    PROMISED = "promised"  # those, too, of which a clause of OpenMP says so
    ANY = "any"


class Masks(Enum):
    """What vectors do for some of their lanes alone."""

    NONE = "none"
    MEMORY = "memory"  # loads and stores
    ARITHMETIC = "arithmetic"  # these, and operations that may trap


@dataclass(frozen=True, slots=True)
class VectorRules:
    """What the compiler of the generated code computes in vectors.

    It prefers vectors of so many ``bytes``. It compares at most ``compared_pairs`` of accesses that may
    overlap before a loop in vectors: a loop that needs more runs without. With ``outer_lanes`` it computes
    loops in vectors that have one loop inside. One that ``speculates`` computes there what is under
    conditions in any case; another needs ``masks`` for that. With ``backwards`` it takes loops, too, that
    go back over elements that lie apart. Where it ``folds`` sums in order it computes their terms in
    vectors. One that ``widens`` vectors takes wider ones where it is asked for as many lanes as these have;
    another takes several. One that ``tries_strides`` has a second loop for strides of one element, and one
    that ``sums`` adds up integers in vectors without being asked to.
    """

    bytes: int = 32
    compared_pairs: int = 10
    outer_lanes: bool = True
    speculates: bool = False
    masks: Masks = Masks.ARITHMETIC
    backwards: bool = False
    folds: bool = True
    widens: bool = True
    tries_strides: bool = False
    sums: bool = False


@dataclass(frozen=True, slots=True)
class CompilerRules:
    """What the compiler of the generated code may do, by its flags.

    ``may_reassociate`` and ``may_contract`` are about floating-point operations: whether they may be
    computed in another order, and whether a product and a sum may become one operation.
    ``strict_aliasing`` says that it relies on C's rules of effective types. Loops of known counts are
    unrolled if they become ``unrolled_instructions`` or fewer.
    """

    optimises: bool = True
    may_reassociate: bool = False
    may_contract: bool = False
    strict_aliasing: bool = True
    unrolled_instructions: int = 200
    vectors: VectorRules = field(default_factory=VectorRules)


@dataclass(frozen=True, slots=True)
class CompileContext:
    """What the passes from scheduling on may ask: the options, the machine and the compiler's rules.

    A region that is ``repeated`` finds the data of the run before in caches where they fit.
    """

    options: Options = field(default_factory=Options)
    machine: Machine = field(default_factory=Machine)
    compiler: CompilerRules = field(default_factory=CompilerRules)
    repeated: bool = False

    def with_options(self, options: Options) -> CompileContext:
        """The context with ``options`` instead of its own."""
        given = {
            "vector.bytes": options.vector_size,
            "l1.bytes": options.l1_size,
            "l2.bytes": options.l2_size,
        }
        sizes = {path: size for path, size in given.items() if size}
        return replace(self, options=options, machine=self.machine.with_figures(sizes, Origin.OPTION))

    @property
    def may_reassociate(self) -> bool:
        """Whether sums of floating-point numbers may be computed in any order."""
        wanted = self.options.allow_reassociation
        return self.compiler.may_reassociate if wanted is None else wanted

    @property
    def reordering(self) -> Reordering:
        """Which sums may be computed in another order."""
        if self.may_reassociate:
            return Reordering.ANY
        promised = self.options.openmp == "use" and self.options.allow_reassociation is None
        return Reordering.PROMISED if promised else Reordering.EXACT

    @property
    def compiled_vector_bytes(self) -> int:
        """The size of the vectors that the compiler computes loops in by itself."""
        return min(self.machine.vector.bytes, self.compiler.vectors.bytes)

    @property
    def fused(self) -> int:
        """Operations that the compiler makes of a sum with a product of floating-point numbers."""
        return self.machine.arithmetic.fused if self.compiler.may_contract else SEPARATE

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
