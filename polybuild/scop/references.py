"""References: which object a C lvalue like ``p->a[i].x`` names, with which subscripts."""

from __future__ import annotations

import dataclasses

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.conversions import decayed
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import location, walk
from polybuild.c.synthetic import Displaced, PointerCast
from polybuild.c.typing import field_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, qualifiers
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class LvalueReference:
    """A reference as written: the object, the subscripts, and the type reached so far.

    ``expression`` is the part before the first subscript; ``suffixes`` has per
    subscript the member accesses that follow it. ``extents`` are C expressions,
    None where C knows none. ``target`` names the last pointer on the way, empty if there is none.
    Of a pointer, ``offset`` is how many elements past the object it points. ``followed`` has after how
    many subscripts a pointer that is an element itself is followed.
    """

    variable: Variable
    members: tuple[str, ...]
    expression: c_ast.Node
    type: types.Type
    subscripts: tuple[c_ast.Node, ...] = ()
    extents: tuple[c_ast.Node | None, ...] = ()
    suffixes: tuple[str, ...] = ()
    by_pointer: bool = False
    restrict: bool = False
    target: str = ""
    offset: c_ast.Node | None = None
    followed: tuple[int, ...] = ()

    @property
    def path(self) -> str:
        """The variable and the members, without subscripts."""
        return ".".join((self.variable.name, *self.members))


_ZERO = c_ast.Constant("int", "0")
_OF_BITS = "read it into a variable before the region"
_MAXIMUM_ROW_SUBSCRIPTS = 4  # that a check at run time can follow


def read_reference(node: c_ast.Node, names: Names) -> LvalueReference:
    """What ``node`` refers to: a scalar, or an element, of arithmetic type; raises Unsupported otherwise."""
    reference = resolve_reference(node, names)
    kind = reference.type
    if isinstance(kind, types.IntegerType | types.FloatingType):
        return reference
    name = reference.variable.name
    if isinstance(kind, types.ArrayType):
        message = f"'{name}' has more dimensions than subscripts here"
        raise Unsupported("partial-subscript", message, location(node), "write all subscripts")
    if isinstance(kind, types.RecordType):
        message = f"'{name}' is read or written as a whole structure"
        raise Unsupported("struct-copy", message, location(node), "copy the members one by one")
    if isinstance(kind, types.PointerType):
        message = f"the pointer '{name}' is used as a value"
        raise Unsupported("pointer-value", message, location(node), "use subscripts instead of pointers")
    raise Unsupported("unknown-type", f"the type of '{name}' is not modelled", location(node), "")


def resolve_reference(node: c_ast.Node, names: Names) -> LvalueReference:
    """What ``node`` refers to, of whatever type. Raises Unsupported if its path is not modelled."""
    if isinstance(node, c_ast.ID):
        return _root(node, names)
    if isinstance(node, c_ast.ArrayRef):
        return _subscripted(resolve_reference(node.name, names), node.subscript, node, names)
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        return _subscripted(resolve_reference(node.expr, names), _ZERO, node, names)
    if isinstance(node, PointerCast):
        pointer = _with_own_name(resolve_reference(node.expr, names))
        return dataclasses.replace(pointer, type=node.pointer, expression=node)
    if isinstance(node, Displaced):
        return _displaced(resolve_reference(node.left, names), node, names)
    if isinstance(node, c_ast.StructRef):
        base = resolve_reference(node.name, names)
        if node.type == "->":
            base = _through_pointer(base, node, names)
        return _member(base, node)
    raise Unsupported(
        "pointer-arithmetic",
        "memory is reached by a cast or by pointer arithmetic",
        location(node),
        "use subscripts of a declared array or pointer",
    )


def _with_own_name(pointer: LvalueReference) -> LvalueReference:
    """``pointer``, where it is an element with a number, as a member with that for a name."""
    if not pointer.subscripts or not all(isinstance(each, c_ast.Constant) for each in pointer.subscripts):
        return pointer
    members = (*pointer.members, *(str(each.value) for each in pointer.subscripts))
    return dataclasses.replace(
        pointer, members=members, subscripts=(), extents=(), suffixes=(), followed=(), restrict=False
    )


def _displaced(base: LvalueReference, node: Displaced, names: Names) -> LvalueReference:
    """The pointer ``node`` into the array ``base``, which is taken to be another one than that."""
    kind = decayed(base.type)
    if not isinstance(kind, types.PointerType) or base.subscripts or base.offset is not None:
        raise Unsupported("pointer-arithmetic", "a part of what is not an array", location(node), "")
    _check_pointer(base, node, names)
    place = ("at", *_words(node.right))
    pointer = types.PointerType(kind.target, volatile=kind.volatile)
    return dataclasses.replace(
        base, members=(*base.members, *place), expression=node, type=pointer, restrict=False
    )


def _words(node: c_ast.Node) -> list[str]:
    """The names and numbers of ``node``."""
    parts = (each for each in walk(node) if isinstance(each, c_ast.ID | c_ast.Constant))
    return [str(each.name if isinstance(each, c_ast.ID) else each.value) for each in parts]


def _root(node: c_ast.ID, names: Names) -> LvalueReference:
    variable = names.variables.get(node)
    if variable is None:
        raise Unsupported("unknown-name", f"'{node.name}' is not a known variable", location(node), "")
    check_object(variable, node)
    argument = names.bound.get(variable)
    if argument is not None:
        if variable in names.written:
            raise _reassigned(node.name, node)
        return pointer_reference(argument, names, variable.type)
    return LvalueReference(variable, (), node, variable.type)


def pointer_reference(node: c_ast.Node, names: Names, kind: types.Type | None = None) -> LvalueReference:
    """The object that the argument ``node`` points to, to be subscripted; ``kind`` is its parameter's type.

    ``&a[i]`` and ``p + k`` leave an offset. Raises Unsupported if it is not understood.
    """
    found = _pointed_to(node, names)
    if kind is not None and not _same(_pointee(kind), _pointee(found.type)):
        raise Unsupported(
            "pointer-cast",
            f"'{found.variable.name}' is passed as a pointer to another type",
            location(node),
            "give the parameter the type of the argument",
        )
    return found


def _pointed_to(node: c_ast.Node, names: Names) -> LvalueReference:
    if isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.ArrayRef):
        base = resolve_reference(node.expr.name, names)
        return _moved(base, node.expr.subscript)
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        base = resolve_reference(node.expr, names)
        return dataclasses.replace(base, type=types.ArrayType(base.type, None), offset=ObjectAddress())
    if isinstance(node, c_ast.BinaryOp) and node.op == "+":
        return _moved(resolve_reference(node.left, names), node.right)
    return resolve_reference(node, names)


class ObjectAddress(c_ast.Constant):  # type: ignore[misc] # pycparser has no types
    """The offset of a pointer to a single object: only the object itself can be reached."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("int", "0")


def _moved(base: LvalueReference, by: c_ast.Node) -> LvalueReference:
    offset = by if base.offset is None else c_ast.BinaryOp("+", base.offset, by, by.coord)
    return dataclasses.replace(base, offset=offset)


def _pointee(kind: types.Type) -> types.Type:
    if isinstance(kind, types.PointerType):
        return kind.target
    return kind.element if isinstance(kind, types.ArrayType) else kind


def _same(first: types.Type, second: types.Type) -> bool:
    """Whether objects of these types may be accessed as each other, element by element."""
    if isinstance(first, types.ArrayType) and isinstance(second, types.ArrayType):
        return _same(first.element, second.element)
    return first is second or (not isinstance(first, types.ArrayType) and first == second)


def _reassigned(name: str, node: c_ast.Node) -> Unsupported:
    return Unsupported(
        "pointer-reassigned",
        f"the pointer '{name}' is set inside the region",
        location(node),
        "set the pointer before the region",
    )


def check_object(variable: Variable, node: c_ast.Node) -> None:
    """Refuse objects whose value is not the program's alone, or not the same for all threads."""
    if variable.volatile:
        raise Unsupported(
            "volatile",
            f"'{variable.name}' is volatile",
            location(node),
            "copy it to a plain variable before the region",
        )
    if variable.thread_local:
        raise Unsupported(
            "thread-local",
            f"each thread has its own '{variable.name}'",
            location(node),
            "copy it to a local variable before the region",
        )


def _check_pointer(base: LvalueReference, node: c_ast.Node, names: Names) -> None:
    """Refuse to follow a pointer that the region changes."""
    if base.variable in names.written or base.variable.local:
        raise _reassigned(base.variable.name, node)


def _check_element(base: LvalueReference, node: c_ast.Node) -> None:
    """Refuse to follow a pointer that is an element behind too many others."""
    if len(base.subscripts) > _MAXIMUM_ROW_SUBSCRIPTS:
        raise Unsupported(
            "pointer-indirection",
            f"'{base.variable.name}' leads to this element by too many pointers",
            location(node),
            "let a variable point nearer to it before the region",
        )


def _check_pointee(pointer: types.PointerType, node: c_ast.Node) -> None:
    if pointer.volatile:
        raise Unsupported("volatile", "the pointer leads to volatile memory", location(node), "")


def _subscripted(
    base: LvalueReference, subscript: c_ast.Node, node: c_ast.Node, names: Names
) -> LvalueReference:
    kind = base.type
    if isinstance(base.offset, ObjectAddress):
        if not isinstance(subscript, c_ast.Constant) or subscript.value not in {"0", "anything"}:
            raise Unsupported(
                "pointer-arithmetic",
                f"memory beside '{base.variable.name}' is reached from its address",
                location(node),
                "use subscripts of a declared array",
            )
        return dataclasses.replace(base, type=_pointee(kind), offset=None)
    if base.offset is not None:
        subscript = _sum(base.offset, subscript)
        base = dataclasses.replace(base, offset=None)
    extent: c_ast.Node | None = None
    by_pointer, restrict, target, followed = base.by_pointer, base.restrict, base.target, base.followed
    if isinstance(kind, types.PointerType):
        _check_pointer(base, node, names)
        _check_pointee(kind, node)
        element: types.Type = kind.target
        by_pointer, restrict, target = True, kind.restrict and _promises(base), base.path
        if base.subscripts:
            _check_element(base, node)
            restrict, target = False, f"{base.path}[]"
            followed = (*followed, len(base.subscripts))
    elif isinstance(kind, types.ArrayType):
        element, extent = kind.element, kind.extent
        is_parameter = base.variable.storage is StorageClass.PARAMETER and not base.members
        if is_parameter and not base.subscripts:
            _check_pointer(base, node, names)
            by_pointer, restrict, target = True, base.variable.restrict, base.path
    else:
        raise Unsupported(
            "pointer-arithmetic", "a subscript of something that is not an array", location(node), ""
        )
    return dataclasses.replace(
        base,
        type=element,
        subscripts=(*base.subscripts, subscript),
        extents=(*base.extents, extent),
        suffixes=(*base.suffixes, ""),
        by_pointer=by_pointer,
        restrict=restrict,
        target=target,
        followed=followed,
    )


def _promises(base: LvalueReference) -> bool:
    """Whether ``restrict`` on a pointer is believed: one of file scope promises more than programs keep."""
    return bool(base.members) or not base.variable.storage.is_static


def _sum(offset: c_ast.Node, subscript: c_ast.Node) -> c_ast.Node:
    """``offset + subscript``, which is anything if one of them is."""
    if isinstance(subscript, c_ast.Constant) and subscript.value in {"0", "anything"}:
        return offset if subscript.value == "0" else subscript
    return c_ast.BinaryOp("+", offset, subscript, subscript.coord)


def _through_pointer(base: LvalueReference, node: c_ast.Node, names: Names) -> LvalueReference:
    """The object a pointer points at, for ``->``."""
    if not isinstance(base.type, types.PointerType) or base.subscripts:
        return _subscripted(base, _ZERO, node, names)
    _check_pointer(base, node, names)
    _check_pointee(base.type, node)
    return dataclasses.replace(
        base,
        type=base.type.target,
        by_pointer=True,
        restrict=base.type.restrict and _promises(base),
        target=base.path,
    )


def union_of(node: c_ast.Node, names: Names) -> tuple[Variable, list[c_ast.Node]] | None:
    """The union that ``node`` is a part of, and the subscripts on the way; None of anything else.

    No pointer is followed on the way.
    """
    found = _part(node, names)
    if found is None or not isinstance(found[0].type, types.RecordType) or found[0].type.kind != "union":
        return None
    return found[0], found[2]


def _part(node: c_ast.Node, names: Names) -> tuple[Variable, types.Type, list[c_ast.Node]] | None:
    """The variable that ``node`` is a part of, its type, and its subscripts; None behind a pointer."""
    if isinstance(node, c_ast.ID):
        own = names.variables.get(node)
        return None if own is None else (own, own.type, [])
    if not isinstance(node, c_ast.ArrayRef) and not (isinstance(node, c_ast.StructRef) and node.type == "."):
        return None
    found = _part(node.name, names)
    if found is None:
        return None
    variable, kind, subscripts = found
    if isinstance(node, c_ast.ArrayRef) and isinstance(kind, types.ArrayType):
        return variable, kind.element, [*subscripts, node.subscript]
    if isinstance(node, c_ast.StructRef) and isinstance(kind, types.RecordType):
        member = field_of(kind, node.field.name)
        return None if member is None else (variable, member.type, subscripts)
    return None


def _never_changes(reference: LvalueReference) -> bool:
    """Whether ``reference`` is to an object from before the region that is constant: whatever it shares."""
    variable = reference.variable
    constant = "const" in qualifiers(variable.declaration)
    return constant and not (variable.local or reference.by_pointer)


def _member(base: LvalueReference, node: c_ast.StructRef) -> LvalueReference:
    record = base.type
    name = node.field.name
    if not isinstance(record, types.RecordType) or record.fields is None:
        raise Unsupported("unknown-type", f"the structure with '{name}' is not known", location(node), "")
    if record.kind == "union" and not _never_changes(base):
        hint = "declare the union in the block that uses it, or use a structure"
        raise Unsupported("union", f"'{name}' is a member of a union", location(node), hint)
    found = field_of(record, name)
    if found is not None and not any(each.name == name for each in record.fields):
        message = f"'{name}' is a member of an unnamed structure or union"
        raise Unsupported("anonymous-member", message, location(node), "give the inner structure a name")
    if found is None:
        raise Unsupported("unknown-type", f"the member '{name}' is not known", location(node), "")
    if found.bits is not None:
        raise Unsupported("bit-field", f"'{name}' is a bit-field", location(node), _OF_BITS)
    if found.volatile:
        raise Unsupported("volatile", f"the member '{name}' is volatile", location(node), "")
    suffixes = base.suffixes
    if suffixes:
        suffixes = (*suffixes[:-1], f"{suffixes[-1]}.{name}")
    return dataclasses.replace(
        base,
        members=(*base.members, name),
        type=found.type,
        expression=base.expression if base.subscripts else node,
        suffixes=suffixes,
    )
