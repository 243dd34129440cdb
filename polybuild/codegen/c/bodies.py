"""Statement bodies as C text: the user's expression, its accesses and iterators replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from polybuild.analysis.branch_free import is_bit, is_truth
from polybuild.c.numbers_in_bytes import NumberInBytes, number_into_bytes, number_of_bytes
from polybuild.c.syntax_tree import location
from polybuild.codegen.c.expressions import ADDITIVE, MULTIPLICATIVE, Operand
from polybuild.codegen.c.layout import CodeLine, Role, between, closing, condition, opening
from polybuild.scop.model import Array

Sizes = Sequence[Callable[[], str]]
"""The inner extents of a view, as operands of a product: printed only where they are written."""

_OF_EQUALS = {"==": "1", "<=": "1", ">=": "1", "!=": "0", "<": "0", ">": "0"}  # what comparisons give
_INDENT = "  "
_STATEMENTS = (c_ast.Compound, c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch)


class BodyPrinter(CGenerator):  # type: ignore[misc]
    """Prints a statement body.

    ``accesses`` maps the identity of an access's node to its text; ``iterator``
    gives the text of a loop counter by name, None if the name is not one. The conditions
    ``branch_free`` are written without a branch. ``in_place`` says of an access by its identity whether it is
    one to the memory that the user's code accesses.
    """

    def __init__(
        self,
        accesses: Mapping[int, str],
        iterator: Callable[[str], str | None],
        branch_free: frozenset[int] = frozenset(),
        in_place: Callable[[int], bool] | None = None,
    ) -> None:
        super().__init__()
        self._in_place = in_place
        self._branch_free = branch_free
        self._accesses = accesses
        self._iterator = iterator
        # names that the statement declares itself: no loop counters
        self._hidden: frozenset[str] = frozenset()

    def statement(self, node: c_ast.Node) -> str:
        """The text of a body as a statement, on one or more lines."""
        if isinstance(node, _STATEMENTS):
            return self.visit(node).rstrip()
        return self.visit(node).rstrip("; \n") + ";"

    def lines(self, node: c_ast.Node, indent: str) -> list[CodeLine]:
        """The code of a body, each statement in it on lines that belong to its own of the user's."""
        stored = self._stored_at_once(node)
        if isinstance(node, c_ast.Compound) and stored is None:
            return [opening(f"{indent}{{"), *self._inside(node, indent), closing(indent)]
        if isinstance(node, c_ast.If):
            head = condition(f"{indent}if ({self.visit(node.cond)})", location(node).line, verbatim=True)
            lines = [head, *self._inside(node.iftrue, indent)]
            if node.iffalse is not None:
                lines += [between(indent), *self._inside(node.iffalse, indent)]
            return [*lines, closing(indent)]
        special = stored is None and isinstance(node, (*_STATEMENTS, c_ast.Decl))
        role = Role.OTHER if special else Role.STATEMENT
        texts = (f"{indent}{each}" for each in (stored or self.statement(node)).splitlines() if each.strip())
        return [CodeLine(each, location(node).line, verbatim=True, role=role) for each in texts]

    def _inside(self, node: c_ast.Node, indent: str) -> list[CodeLine]:
        """The code in a block, which ``node`` is or is all of."""
        saved, nodes = self._hidden, node.block_items or () if isinstance(node, c_ast.Compound) else (node,)
        lines = [
            line
            for each in nodes
            if not isinstance(each, c_ast.EmptyStatement | c_ast.Pragma)
            for line in self.lines(each, indent + _INDENT)
        ]
        self._hidden = saved
        return lines

    def visit(self, node: c_ast.Node) -> str:
        """The text of ``node``, which an access replaces whole."""
        replaced = self._accesses.get(id(node))
        return replaced if replaced is not None else str(super().visit(node))

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> str:  # noqa: N802 - pycparser's naming
        """An operation; only arithmetic goes without parentheses that compilers would ask for."""
        if node.op in _OF_EQUALS and self._is_one_counter(node):
            return _OF_EQUALS[node.op]  # gcc warns of a value that is compared with itself
        if id(node) in self._branch_free:
            # of a bit and a comparison gcc finds no narrow vectors but by their product
            bits = node.op == "&&" and any(map(is_bit, (node.left, node.right)))
            return f"{self._truth(node.left)} {'*' if bits else node.op[0]} {self._truth(node.right)}"
        self.reduce_parentheses: bool
        saved = self.reduce_parentheses
        self.reduce_parentheses = node.op in {"+", "-", "*", "/"}
        try:
            return str(super().visit_BinaryOp(node))
        finally:
            self.reduce_parentheses = saved

    def _is_one_counter(self, node: c_ast.BinaryOp) -> bool:
        """Whether both operands are loop counters that are the same here."""
        texts = [
            self._iterator(each.name)
            for each in (node.left, node.right)
            if isinstance(each, c_ast.ID) and each.name not in self._hidden
        ]
        return len(texts) == 2 and texts[0] is not None and texts[0] == texts[1]

    def _truth(self, node: c_ast.Node) -> str:
        """0 or 1: whether ``node`` is not 0."""
        return (
            f"({self.visit(node)})" if is_truth(node) else f"({self._parenthesize_unless_simple(node)} != 0)"
        )

    def visit_ID(self, node: c_ast.ID) -> str:  # noqa: N802 - pycparser's naming
        """A name, or the expression that stands for a loop counter."""
        text = None if node.name in self._hidden else self._iterator(node.name)
        return node.name if text is None else text

    def visit_Decl(self, node: c_ast.Decl, no_type: bool = False) -> str:  # noqa: N802
        """A declaration; from here to the end of the block its name is no loop counter."""
        self._hidden |= {node.name}
        return str(super().visit_Decl(node, no_type))

    def visit_ElementPointer(self, node: c_ast.Decl) -> str:  # noqa: N802
        """A declaration."""
        return self.visit_Decl(node)

    def visit_Compound(self, node: c_ast.Compound) -> str:  # noqa: N802
        """A block, which ends what was declared in it."""
        stored = self._stored_at_once(node)
        if stored is not None:
            return f"{stored}\n"
        saved, text = self._hidden, str(super().visit_Compound(node))
        self._hidden = saved
        return text

    def visit_For(self, node: c_ast.For) -> str:  # noqa: N802
        """A loop, which ends what its header declared."""
        saved, text = self._hidden, str(super().visit_For(node))
        self._hidden = saved
        return text

    def visit_CountedLoop(self, node: c_ast.For) -> str:  # noqa: N802
        """One loop of the normal form, whose counter is nobody's variable."""
        return self.visit_For(node)

    def visit_BlockLoop(self, node: c_ast.For) -> str:  # noqa: N802
        """One loop over the steps of a block."""
        return self.visit_For(node)

    def visit_If(self, node: c_ast.If) -> str:  # noqa: N802
        """A condition; one inside another gets braces, as compilers ask for where an ``else`` follows."""
        if isinstance(node.iftrue, c_ast.If):
            node = c_ast.If(node.cond, c_ast.Compound([node.iftrue]), node.iffalse)
        return str(super().visit_If(node))

    def visit_Pragma(self, node: c_ast.Pragma) -> str:  # noqa: ARG002, N802
        """Nothing: what a pragma asks for is decided anew."""
        return ""

    def visit_EntryValue(self, node: c_ast.ID) -> str:  # noqa: N802
        """A variable of before the region, which the generated code changes only at its end."""
        return str(node.name)

    def visit_ExactCast(self, node: c_ast.Cast) -> str:  # noqa: N802
        """A conversion."""
        return str(super().visit_Cast(node))

    def visit_PointerDifference(self, node: c_ast.BinaryOp) -> str:  # noqa: N802
        """A subtraction."""
        return self.visit_BinaryOp(node)

    def visit_Quotient(self, node: c_ast.BinaryOp) -> str:  # noqa: N802
        """A division."""
        return self.visit_BinaryOp(node)

    def visit_StepCount(self, node: c_ast.BinaryOp) -> str:  # noqa: N802
        """A division."""
        return self.visit_BinaryOp(node)

    def visit_PointerCast(self, node: c_ast.Cast) -> str:  # noqa: N802
        """A cast pointer, ready to be followed."""
        return f"({self.visit_Cast(node)})"

    def visit_Displaced(self, node: c_ast.BinaryOp) -> str:  # noqa: N802
        """A pointer to be subscripted."""
        return f"({self.visit_BinaryOp(node)})"

    def visit_BoundedEnd(self, node: c_ast.BinaryOp) -> str:  # noqa: N802
        """A remainder."""
        return self.visit_BinaryOp(node)

    def visit_Residue(self, node: c_ast.BinaryOp) -> str:  # noqa: N802
        """A remainder."""
        return self.visit_BinaryOp(node)

    def visit_PointerTest(self, node: c_ast.BinaryOp) -> str:  # noqa: N802
        """A comparison."""
        return self.visit_BinaryOp(node)

    def visit_CompoundLiteral(self, node: c_ast.CompoundLiteral) -> str:  # noqa: N802
        """In one line, with the type that it may declare."""
        return " ".join(super().visit_CompoundLiteral(node).split())

    def visit_StructRef(self, node: c_ast.StructRef) -> str:  # noqa: N802
        """A member access; the member's name is never a loop counter."""
        loaded = self._at_once(number_of_bytes(node), "const ")
        return loaded or f"{self._parenthesize_unless_simple(node.name)}{node.type}{node.field.name}"

    def _stored_at_once(self, node: c_ast.Node) -> str | None:
        """The statement that takes a number to bytes that stay in memory; None of any other ``node``."""
        stored = number_into_bytes(node)
        target = self._at_once(stored)
        return f"{target} = {self.visit(stored.value)};" if stored is not None and target else None

    def _at_once(self, found: NumberInBytes | None, qualifier: str = "") -> str | None:
        """The number in bytes that stay in memory, by a member of a structure that may stand anywhere."""
        if found is None or self._in_place is None or not all(self._in_place(id(n)) for n in found.elements):
            return None
        declared = " ".join(super().visit_Decl(found.member).split())
        kind = f"{qualifier}struct __attribute__((packed, may_alias)) {{ {declared}; }} *"
        return f"(({kind})&{self.visit(found.elements[0])})->{found.member.name}"


def c_text(node: c_ast.Node) -> str:
    """A tree as C text, nothing replaced."""
    return BodyPrinter({}, lambda _name: None).visit(node)


def element(
    array: Array,
    subscripts: Sequence[Operand],
    sizes: Sizes = (),
    pointers: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The C expression of one element of ``array``.

    ``sizes`` are the inner extents of its view. A variable of the region is declared anew
    under the array's own name. Some rows, by their texts, have ``pointers`` in variables.
    """
    text = array.name if array.local else c_text(array.expression)
    suffixes = array.suffixes or ("",) * len(subscripts)
    if array.flat > 1:
        start, end = array.view.start, array.view.stop
        flat = _flat_subscript(subscripts[start:end], sizes)
        subscripts = [*subscripts[:start], flat, *subscripts[end:]]
        suffixes = (*suffixes[:start], *suffixes[end - 1 :])
    parts = [f"[{subscript.text}]{suffix}" for subscript, suffix in zip(subscripts, suffixes, strict=True)]
    around = text + "".join(parts[: array.row_subscripts])
    return pointers.get(around, around) + "".join(parts[array.row_subscripts :])


def row(array: Array, subscripts: Sequence[Operand], count: int) -> str:
    """The C expression of what the first ``count`` of ``subscripts``, all of them of rows, lead to."""
    pairs = zip(subscripts[:count], array.suffixes[:count], strict=True)
    return c_text(array.expression) + "".join(f"[{subscript.text}]{suffix}" for subscript, suffix in pairs)


def steps_in_bytes(array: Array, sizes: Sizes) -> list[str]:
    """How far apart in memory the elements of an array of structures are, along each dimension, as C text.

    ``sizes`` are the inner extents of its view.
    """
    text = c_text(array.expression)
    steps: list[str] = []
    for position in range(array.flat - 1, len(array.extents)):
        text += "[0]"
        steps.append(f"sizeof({text})")
        text += array.suffixes[position]
    for size in reversed(sizes):
        steps.insert(0, f"{size()} * {steps[0]}")
    return steps


def _flat_subscript(subscripts: Sequence[Operand], sizes: Sizes) -> Operand:
    """The row-major position of an element: ``(i * m + j) * p + k`` for the sizes ``m`` and ``p``."""
    flat, *rest = subscripts
    for size, subscript in zip(sizes, rest, strict=True):
        if flat.is_zero:
            flat = subscript
            continue
        flat = Operand(f"{flat.bound(MULTIPLICATIVE)} * {size()}", MULTIPLICATIVE)
        if not subscript.is_zero:
            flat = Operand(f"{flat.text} + {subscript.bound(ADDITIVE)}", ADDITIVE)
    return flat
