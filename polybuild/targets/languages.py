"""The languages of kernels, CUDA C, HIP and OpenCL C: tables for one printer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.values import dataclass


def _words(text: str) -> list[str]:
    return text.split()


_EXACT = {
    1: "ceil fabs floor logb nearbyint rint round sqrt trunc",
    2: "copysign fdim fmax fmin fmod nextafter remainder",
    3: "fma",
}
_APPROXIMATE = {
    1: """
    acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 log log10 log1p log2 sin sinh
    tan tanh tgamma
    """,
    2: "atan2 hypot pow",
}
ARGUMENTS: Mapping[str, int] = {
    name: count
    for table in (_EXACT, _APPROXIMATE)
    for count, names in table.items()
    for name in _words(names)
}
"""The functions of ``math.h`` that both languages have, and how many arguments they take."""

APPROXIMATE = frozenset(name for names in _APPROXIMATE.values() for name in _words(names))
"""Those of which each library has its own last bits; what the others give is defined to the bit."""


def mathematical(called: str) -> tuple[str, bool] | None:
    """The name in ARGUMENTS of the function that C calls ``called``, and whether it is that of floats."""
    name = called.removeprefix("__builtin_")
    if name in ARGUMENTS:
        return name, False
    base = name.removesuffix("f")
    return (base, True) if base != name and base in ARGUMENTS else None


@dataclass(frozen=True, slots=True)
class Qualifiers:
    """What stands before kernels and before the functions that they call, and how memory is qualified.

    ``kernel`` is a format with the number of ``threads`` of a block, and that along ``x``, ``y`` and ``z``:
    compilers find as many registers for each as that allows, and devices take blocks of no other size. It may
    have ``resident``, the number of blocks that have to fit a multiprocessor at once, after a comma.
    ``pointer`` and ``restrict`` qualify a pointer to an array in the device's memory, ``shared`` an
    array that the threads of a block share, ``shared_pointer`` a pointer to such a one. An ``aligned`` array
    begins where a vector of 16 bytes may.
    """

    kernel: str
    function: str
    pointer: str
    restrict: str
    shared: str
    aligned: str
    shared_pointer: str = ""


@dataclass(frozen=True, slots=True)
class TypeNames:
    """The names of arithmetic types: ``boolean`` is None if there is none, ``widest`` has 64 bits."""

    boolean: str | None
    widest: str

    def of(self, kind: Type) -> str | None:
        """The name of an arithmetic type with the size it has on the host, None if there is none."""
        if isinstance(kind, FloatingType):
            return kind.name if kind.name in {"float", "double"} else None
        if not isinstance(kind, IntegerType) or kind.width > 64:
            return None
        if kind.width == 1:
            return self.boolean
        name = {8: "char", 16: "short", 32: "int", 64: self.widest}[kind.width]
        if kind.signed:
            return "signed char" if kind.width == 8 else name
        return f"unsigned {name}"


@dataclass(frozen=True, slots=True)
class Atomics:
    """The atomic operations on integers of 32 bits, and of 64 if ``wide``, by C's operators."""

    names: Mapping[str, str]
    wide: bool

    def has(self, operator: str, kind: Type) -> bool:
        """Whether an element of ``kind`` can be updated by ``operator``."""
        widths = {32, 64} if self.wide else {32}
        return operator in self.names and isinstance(kind, IntegerType) and kind.width in widths


@dataclass(frozen=True, slots=True)
class FunctionNames:
    """How functions are called: mathematical ones of floats end with ``of_floats``.

    ``count_ones`` count the bits of unsigned integers of 32 and of 64 bits.
    """

    of_floats: str
    count_ones: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Meeting:
    """How all blocks of a launch wait for each other: what is included, the text, how many there are."""

    include: str
    text: str
    blocks: str


@dataclass(frozen=True, slots=True)
class ThreadExchange:
    """What threads have beside memory and barriers of a block.

    ``shuffle`` is the value that the thread whose number along x differs by ``lanes``, bit by bit, has of
    ``{value}``; empty where threads have to use memory for that. Without a ``meeting`` blocks cannot wait
    for each other. After the statement ``anew`` compilers know the variable ``{value}`` for no value that it
    had before; empty where there is no such statement.
    """

    shuffle: str = ""
    meeting: Meeting | None = None
    anew: str = ""


@dataclass(frozen=True, slots=True)
class KernelLanguage:
    """How a language spells what a kernel needs.

    ``thread`` and ``block`` have the index of a thread and of a block along x, y and z;
    ``loops_for_branches`` says whether a condition around barriers is written as a loop that runs
    at most once (PoCL 3.1 makes wrong code of barriers below an ``if``, but not in a loop).
    No generated name may be one of ``reserved``.
    """

    name: str
    prologue: str
    qualifiers: Qualifiers
    types: TypeNames
    barrier: str
    loops_for_branches: bool
    thread: tuple[str, str, str]
    block: tuple[str, str, str]
    functions: FunctionNames
    atomics: Atomics
    reserved: frozenset[str]
    exchange: ThreadExchange = ThreadExchange()


_MACROS = """\
#define polybuild_min(a, b) ((a) < (b) ? (a) : (b))
#define polybuild_max(a, b) ((a) > (b) ? (a) : (b))
#define polybuild_floordiv(a, b) ((a) < 0 ? -(((b) - 1 - (a)) / (b)) : (a) / (b))
"""

_MATRICES = """\
#define polybuild_multiply(c0, c1, a, b) \\
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \\
      : "+d"(c0), "+d"(c1) : "d"(a), "d"(b))
#if __CUDA_ARCH__ >= 900
#define polybuild_multiply_pair(c0, c1, c2, c3, a0, a1, b) \\
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 " \\
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \\
      : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3) : "d"(a0), "d"(a1), "d"(b))
#else
#define polybuild_multiply_pair(c0, c1, c2, c3, a0, a1, b) \\
  do { polybuild_multiply(c0, c1, a0, b); polybuild_multiply(c2, c3, a1, b); } while (0)
#endif
"""
"""Matrix instructions for doubles; that for two blocks of rows, on devices from 9.0 on, is twice as fast."""

CUDA_C = KernelLanguage(
    name="cuda",
    prologue="#include <cuda_pipeline.h>\n" + _MACROS + _MATRICES,
    qualifiers=Qualifiers(
        kernel='extern "C" __global__ void __launch_bounds__({threads}{resident})',
        function="static __device__ ",
        pointer="",
        restrict="__restrict__",
        shared="__shared__",
        aligned="__align__(16)",
    ),
    types=TypeNames(boolean="bool", widest="long long"),
    barrier="__syncthreads();",
    loops_for_branches=False,
    thread=("threadIdx.x", "threadIdx.y", "threadIdx.z"),
    block=("blockIdx.x", "blockIdx.y", "blockIdx.z"),
    functions=FunctionNames(of_floats="f", count_ones=("__popc", "__popcll")),
    atomics=Atomics({"+": "atomicAdd", "&": "atomicAnd", "|": "atomicOr", "^": "atomicXor"}, wide=True),
    reserved=frozenset(
        _words(
            """
    and and_eq asm bitand bitor bool catch char16_t char32_t class compl const_cast decltype delete
    dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public reinterpret_cast static_assert static_cast template
    this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq threadIdx
    blockIdx blockDim gridDim warpSize min max y0 y1 yn j0 j1 jn lanes
    """
        )
    ),
    exchange=ThreadExchange(
        "__shfl_xor_sync(0xffffffffu, {value}, lanes)",
        Meeting("#include <cooperative_groups.h>", "cooperative_groups::this_grid().sync();", "gridDim.x"),
        'asm volatile("" : "+r"({value}));',
    ),
)

HIP = replace(
    CUDA_C,
    name="hip",
    prologue=_MACROS,
    qualifiers=replace(
        CUDA_C.qualifiers, kernel='extern "C" __global__ void __launch_bounds__({threads})'
    ),  # its second number is another
    exchange=ThreadExchange("__shfl_xor({value}, lanes, 32)"),  # hipRTC has no header for meetings
)

OPENCL_C = KernelLanguage(
    name="opencl",
    prologue="""\
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
#define nearbyint(x) rint(x)
"""
    + _MACROS,
    qualifiers=Qualifiers(
        kernel="__kernel __attribute__((reqd_work_group_size({x}, {y}, {z}))) void",
        function="",
        pointer="__global ",
        restrict="restrict",
        shared="__local",
        aligned="__attribute__((aligned(16)))",
        shared_pointer="__local ",
    ),
    types=TypeNames(boolean=None, widest="long"),
    barrier="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    loops_for_branches=True,
    thread=("get_local_id(0)", "get_local_id(1)", "get_local_id(2)"),
    block=("get_group_id(0)", "get_group_id(1)", "get_group_id(2)"),
    functions=FunctionNames(of_floats="", count_ones=("popcount", "popcount")),
    atomics=Atomics({"+": "atomic_add", "&": "atomic_and", "|": "atomic_or", "^": "atomic_xor"}, wide=False),
    reserved=frozenset(
        _words(
            """
    kernel global local constant private __kernel __global __local __constant __private half quad
    bool true false uchar ushort uint ulong image2d_t image3d_t sampler_t event_t queue_t pipe
    vec_step cross dot normalize length distance clamp mix step smoothstep sign degrees radians
    lanes select mad mad24 mul24 rotate hadd rhadd popcount clz prefetch barrier min max read_only
    write_only read_write uniform complex imaginary any all isequal ordered ilogb lgamma maxmag
    minmag
    """
        )
    ),
)
