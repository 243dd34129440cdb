"""What an array is kept in, in words."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.scop.model import Scop
from polybuild.storage.buffers import Buffer


def describe(buffer: Buffer) -> str:
    """What an array is kept in, how its elements are mapped to that, and what it took before."""
    if buffer.array.expanded:
        extents = " x ".join(map(str, buffer.extents))
        return (
            f"line {buffer.array.location.line}: '{buffer.array.expanded}' has {extents} values for each"
            f" thread, {_size(buffer.size)}"
        )
    many = "a variable" if buffer.cells == 1 else f"{buffer.cells} variables"
    if not buffer.scalars and buffer.extents:
        many = f"a buffer of {' x '.join(map(str, buffer.extents))} elements"
    terms = ", ".join(
        f"{_text(row)} mod {size}"
        for row, size in zip(buffer.mapping.rows, buffer.mapping.sizes, strict=True)
        if buffer.scalars
    )
    subscripts = "".join(f"[{name}]" for name in _names(len(buffer.array.extents)))
    where = f": {subscripts} in ({terms})" if terms else ""
    if buffer.array.copied:
        return f"elements of '{buffer.array.copied}' are copied to {many} while they are in use{where}"
    box = _box(buffer)
    before = f" instead of {box} elements" if box else ""
    return f"'{buffer.array.spelling}' is kept in {many}{before}{where}"


def describe_moves(before: Scop, after: Scop) -> list[str]:
    """What became of the private variables of ``before`` that ``after`` is without."""
    left = {each.name for each in after.arrays}
    now = {id(each.node): each.array for statement in after.statements for each in statement.accesses}
    found: dict[str, str] = {}
    for each in (access for statement in before.statements for access in statement.accesses):
        kept = now.get(id(each.node))
        if each.array.name in left or (kept is not None and kept.expanded):
            continue
        name = f"line {each.array.location.line}: '{each.array.source_name}'"
        if kept is not None:
            found[each.array.name] = f"{name} is kept in elements of '{kept.source_name}'"
        else:
            found.setdefault(each.array.name, f"{name} is written out where it is used")
    return list(found.values())


def _size(count: int) -> str:
    return f"{count // 1024} KiB" if count % 1024 == 0 else f"{count} bytes"


def _box(buffer: Buffer) -> str:
    """The extents of the array's part that was written; empty if there are no simple ones."""
    written = buffer.written
    build = isl.AstBuild.from_context(written.params())
    texts = []
    for dimension in range(written.dim(isl.dim_type.set)):
        length = written.dim_max(dimension).sub(written.dim_min(dimension)).add_constant_val(isl.Val(1))
        length = length.coalesce().gist_params(written.params())
        if length.n_piece() != 1:
            return ""
        text = build.expr_from_pw_aff(length).to_C_str()
        texts.append(text)
    return " x ".join(each if each.isalnum() or len(texts) == 1 else f"({each})" for each in texts)


def _names(count: int) -> list[str]:
    return list("ijklmnop"[:count])


def _text(row: Sequence[int]) -> str:
    terms = [
        name if factor == 1 else f"{factor}*{name}"
        for factor, name in zip(row, _names(len(row)), strict=True)
        if factor
    ]
    text = " + ".join(terms)
    return text if len(terms) == 1 else f"({text})"
