"""What must be true of all drafts of a region together."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from polybuild.c.syntax_tree import location, walk
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable
from polybuild.scop.accesses import any_element
from polybuild.scop.draft import StatementDraft
from polybuild.scop.model import AccessKind
from polybuild.scop.parameters import Parameters


def check_parameters(drafts: Collection[StatementDraft], names: Names, parameters: Parameters) -> None:
    """Refuse if a called function changes what the model took for a parameter."""
    counters = {counter for draft in drafts for counter in draft.point.counters}
    for draft in drafts:
        for each in draft.accesses:
            key = each.base.variable, each.base.members
            counts = each.base.variable in counters and each.base.variable not in names.demoted
            changed = counts or parameters.has(*key) or parameters.has_element(*key)
            if each.kind is not AccessKind.READ and changed:
                raise Unsupported(
                    "call",
                    f"a called function changes '{each.base.variable.name}', on which the region relies",
                    location(each.node),
                    "copy it to a local variable before the region",
                )


def check_counters(
    drafts: Collection[StatementDraft],
    names: Names,
    finals: Collection[Variable],
    needed: Collection[Variable],
) -> None:
    """Refuse counters of loops that also count in what was kept whole, if they are ``needed`` later.

    ``finals`` are those that loops leave a value in, loops without statements among them.
    """
    counted = {counter for draft in drafts for counter in draft.point.counters}.union(finals)
    for variable in sorted(names.demoted & counted, key=lambda each: each.name):
        if variable in names.escaping or variable in needed:
            raise Unsupported(
                "iterator-used-outside-loop",
                f"'{variable.name}' counts several loops of the region and is read outside of them",
                variable.location,
                "use a variable of its own for each loop",
            )


def with_reads_of_everything(drafts: list[StatementDraft], calls: Collection[object]) -> list[StatementDraft]:
    """``calls``, which may read any memory, read all that the region writes and others can reach."""
    if not calls:
        return drafts
    written = {
        each.array.name: each
        for draft in drafts
        for each in draft.accesses
        if each.kind is not AccessKind.READ
        and not each.array.provenance.restrict
        and (each.array.provenance.by_pointer or each.array.provenance.is_reachable)
    }
    found = []
    for draft in drafts:
        call = next((node for node in walk(draft.body) if node in calls), None)
        more = () if call is None else (any_element(each, draft.point, call) for each in written.values())
        found.append(dataclasses.replace(draft, accesses=(*more, *draft.accesses)))
    return found
