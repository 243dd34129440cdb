"""Arrays of other libraries, on the host or a device, as NumPy's interfaces and DLPack show them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from typing import Any

from polybuild.values import dataclass

CUDA, HIP = 0, 1
"""The kinds of devices, as ``polybuild_device.h`` numbers them."""

_LEGACY_STREAM = 1
_NO_STREAM = 2**64 - 1
_ORDER = "<" if sys.byteorder == "little" else ">"


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """Where an array on a device is, and what orders the work on it.

    ``stream`` has what was done with it before and, unless the host ``waits`` in its place, waits for what is
    done next; None: nothing is to be waited for.
    """

    kind: int
    stream: int | None
    waits: bool


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An array: its address, and ``facts`` as of NumPy's array interface. ``owner`` keeps it alive."""

    facts: Mapping[str, Any]
    address: int
    read_only: bool
    device: DeviceMemory | None = None
    owner: Any = None


class Foreign(ctypes.Structure):
    """``polybuild_foreign``."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("waits", ctypes.c_int),
        ("pointer", ctypes.c_ulonglong),
        ("stream", ctypes.c_ulonglong),
    )


def foreign(device: DeviceMemory, address: int) -> Foreign:
    """What the runtime is told of the array at ``address``."""
    stream = _NO_STREAM if device.stream is None else device.stream
    return Foreign(device.kind, int(device.waits), address, stream)


def view_of(value: Any) -> ArrayView | None:
    """How ``value`` shows itself, None if it is no array. Raises ValueError for what cannot be used."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _of_interface(interface, _of_cuda(interface))
    interface = getattr(value, "__array_interface__", None)
    if interface is not None:
        return _of_interface(interface, None)
    return _of_dlpack(value) if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__") else None


def _of_interface(interface: Mapping[str, Any], device: DeviceMemory | None) -> ArrayView:
    address, read_only = interface["data"]
    return ArrayView(interface, address, bool(read_only), device)


def _of_cuda(interface: Mapping[str, Any]) -> DeviceMemory:
    """The order of work as the CUDA array interface tells it; before its third version it does not."""
    if interface.get("mask") is not None:
        raise ValueError("it has a mask, which is not heeded here")
    if "stream" not in interface:
        return DeviceMemory(CUDA, _LEGACY_STREAM, waits=True)
    stream = interface["stream"]
    if stream == 0:
        raise ValueError("its stream is 0, which the CUDA array interface has no meaning for")
    return DeviceMemory(CUDA, stream, waits=stream is None)


# ---- DLPack: https://dmlc.github.io/dlpack/latest/


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("dimensions", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


_HOSTS = {1, 3, 11}
"""The host's memory: usual one, pinned for CUDA, for ROCm."""

_KINDS = {2: CUDA, 13: CUDA, 10: HIP}
"""CUDA's memory, managed memory of CUDA, and ROCm's."""

_CODES = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


def _of_dlpack(value: Any) -> ArrayView:
    """The array of a capsule, which is kept: its producer has the legacy stream wait, and knows no more."""
    kind, _ = value.__dlpack_device__()
    if kind not in _HOSTS and kind not in _KINDS:
        raise ValueError(f"it is on a device of a kind ({kind} of DLPack) that is not known here")
    # ROCm calls its legacy stream 0
    stream = {CUDA: _LEGACY_STREAM, HIP: 0}[_KINDS[kind]] if kind in _KINDS else None
    capsule = value.__dlpack__() if stream is None else value.__dlpack__(stream=stream)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    code, bits = _CODES.get(tensor.type.code), tensor.type.bits
    if code is None or tensor.type.lanes != 1 or bits % 8:
        raise ValueError("it has elements of a type that C does not have")
    shape = tuple(tensor.shape[i] for i in range(tensor.dimensions))
    strides = (
        tuple(tensor.strides[i] * bits // 8 for i in range(tensor.dimensions)) if tensor.strides else None
    )
    facts = {"shape": shape, "strides": strides, "typestr": f"{_ORDER if bits > 8 else '|'}{code}{bits // 8}"}
    device = DeviceMemory(_KINDS[kind], _LEGACY_STREAM, waits=True) if kind in _KINDS else None
    return ArrayView(facts, (tensor.data or 0) + tensor.offset, read_only=False, device=device, owner=capsule)
