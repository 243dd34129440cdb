"""How many threads of a kernel a multiprocessor holds at once, by its registers and its shared memory."""

from __future__ import annotations

from polybuild.machine.model import Machine


def resident_blocks(machine: Machine, threads: int, registers: int, shared: int) -> int:
    """How many blocks of ``threads``, with so many ``registers``, are held; a block has ``shared`` bytes."""
    holds, processor = machine.residency, machine.multiprocessor
    warps = -(-threads // processor.warp)
    each = -(-registers // processor.granularity) * processor.granularity * processor.warp
    room = [
        holds.blocks,
        holds.threads // (warps * processor.warp),
        holds.shared // (shared + holds.system),
    ]
    if each:
        room.append(processor.registers // each // warps)
    return max(0, min(room))


def occupancy(machine: Machine, threads: int, registers: int, shared: int) -> float:
    """The part of the threads that a multiprocessor could hold which it does."""
    warp = machine.multiprocessor.warp
    warps = resident_blocks(machine, threads, registers, shared) * -(-threads // warp)
    return warps * warp / machine.residency.threads
