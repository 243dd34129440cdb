"""How many threads of a kernel a multiprocessor holds at once, by its registers and its shared memory."""

from __future__ import annotations

from polybuild.machine.model import Machine


def resident_blocks(machine: Machine, threads: int, registers: int, shared: int) -> int:
    """How many blocks of ``threads``, with so many ``registers``, are held; a block has ``shared`` bytes."""
    holds = machine.residency
    warps = -(-threads // holds.warp)
    each = -(-registers * holds.warp // holds.given) * holds.given
    room = [
        holds.blocks,
        holds.threads // (warps * holds.warp),
        holds.shared // (shared + holds.system),
    ]
    if each:
        room.append(machine.multiprocessor.registers // each // warps)
    return max(0, min(room))


def occupancy(machine: Machine, threads: int, registers: int, shared: int) -> float:
    """The part of the threads that a multiprocessor could hold which it does."""
    holds = machine.residency
    warps = -(-threads // holds.warp)
    return resident_blocks(machine, threads, registers, shared) * warps * holds.warp / holds.threads
