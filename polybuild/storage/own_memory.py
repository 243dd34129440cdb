"""Arrays that a region has of its own, in memory that it allocates: how large, and how they are reached."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.synthetic import declarator
from polybuild.c.types import FloatingType, IntegerType
from polybuild.scop.model import Array, Provenance

_set = isl.dim_type.set


def extents_for(elements: isl.Set, main: Array) -> tuple[isl.PwAff, ...] | None:
    """Extents of an array with ``elements``, those of ``main`` where they suffice; None without bounds."""
    local, found = isl.LocalSpace.from_space(elements.get_space()), []
    nowhere = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0)
    for dimension, declared in enumerate(main.extents):
        subscript = isl.PwAff.var_on_domain(local, _set, dimension)
        if elements.is_empty() or not elements.dim_has_upper_bound(_set, dimension):
            return None
        if dimension and declared is not None:
            extent = declared.project_domain_on_params()
            if elements.is_subset(subscript.lt_set(extent.insert_domain(elements.get_space()))):
                found.append(declared)
                continue
        largest = elements.dim_max(dimension).gist_params(elements.params()).coalesce()
        largest = largest.add_constant_val(isl.Val(1))
        found.append(largest.insert_domain(nowhere.align_params(largest.get_space())))
    return tuple(found)


def allocated_array(name: str, extents: tuple[isl.PwAff, ...], main: Array) -> Array:
    """An array for elements of ``main``, in memory that the region allocates, reached by flat subscripts."""
    assert isinstance(main.element, IntegerType | FloatingType)  # noqa: S101 - asked before
    declared = c_ast.PtrDecl([], declarator(name, main.element))
    return Array(
        name,
        c_ast.ID(name),
        main.element,
        extents,
        Provenance(StorageClass.LOCAL, allocated=True),
        main.location,
        local=True,
        declared=c_ast.Decl(name, [], [], [], [], declared, None, None),
        suffixes=("",) * len(extents),
        flat=len(extents),
        copied=main.spelling,
    )


def array_of_threads(name: str, extents: tuple[isl.PwAff, ...], main: Array) -> Array:
    """The same of which each thread has one."""
    array = allocated_array(name, extents, main)
    return replace(array, provenance=replace(array.provenance, each_thread=True))


def names_for_threads(name: str) -> tuple[str, str]:
    """What the memory for all threads is called, and its size, of the array ``name`` that each has one of."""
    return f"{name}_all", f"{name}_size"
