"""Programs as C text: one function with the regions, and one around it that makes and hashes the data."""

from __future__ import annotations

from collections.abc import Sequence

from .abstractions import Abstractions, bare
from .measure import OUTSIDE_START, Layout, is_affine, layout
from .program import (
    TYPES,
    Array,
    Bin,
    Bump,
    Declare,
    Do,
    Expr,
    If,
    Loop,
    Not,
    Num,
    Pick,
    Program,
    Read,
    Stmt,
    Store,
    Var,
    counters_outside,
    walk,
)

_Kind = tuple[int, bool, bool]
_INT: _Kind = (32, True, False)
_APART = -100000
HEADER = "regions.h"
"""The file of ``header_text``, beside that of ``batch_text``."""
# bit operations and divisions as something that a floating type has, too
_FLOATING_OPS = {
    "&": "-",
    "|": "+",
    "^": "-",
    "/": "*",
    "%": "+",
    "<<": "+",
    ">>": "-",
    "&=": "-=",
    "|=": "+=",
    "^=": "-=",
}
_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}


def batch_text(programs: Sequence[Program], *, distributed: bool = False) -> str:
    """One C file with all ``programs`` and the table that the driver runs.

    If their arrays stay ``distributed`` each runs twice in a row. Some regions are in ``header_text``.
    """
    parts = ['#include "driver.h"\n']
    if any(each.header or each.abstractions for each in programs):
        parts.append(f'#include "{HEADER}"\n')
    rows = []
    for program in programs:
        printer = Printer(program, distributed=distributed)
        parts.append(printer.caller() if program.header else printer.text())
        values = ", ".join(str(value) for run in program.runs for value in run)
        parts.append(f"static const long runs_{program.name}[] = {{{values}}};\n")
        counts = f"{len(program.sizes)}, {len(program.runs)}, {len(program.overlaps)}"
        rows.append(f'  {{"{program.name}", run_{program.name}, {counts}, runs_{program.name}}},\n')
    parts.append(f"const struct fuzz_kernel fuzz_kernels[] = {{\n{''.join(rows)}}};\n")
    parts.append(f"const int fuzz_kernel_count = {len(rows)};\n")
    return "\n".join(parts)


def header_text(programs: Sequence[Program]) -> str:
    """What ``programs`` have in a header: parts that have names, and functions with regions."""
    texts = []
    for program in programs:
        printer = Printer(program)
        function = printer.callee()  # which gathers what it names
        texts += ["\n".join([*printer.abstract.lines, ""])] if program.abstractions else []
        texts += [function] if program.header else []
    return "\n".join(['#ifndef REGIONS\n#define REGIONS\n#include "driver.h"\n', *texts, "#endif\n"])


def _table(array: Array, extents: Sequence[str], name: str = "") -> str:
    """The declaration of a pointer to the pointers to the rows of an array."""
    inner = "".join(f"[{each}]" for each in extents[2:])
    pointer = f"**{name or array.name}"
    return f"{array.type} ({pointer}){inner}" if inner else f"{array.type} {pointer}"


def _fuzz_kind(type_name: str) -> str:
    return {"float": "FUZZ_FLOAT", "double": "FUZZ_DOUBLE"}.get(type_name, "FUZZ_INTEGER")


class Printer:
    """Prints one program."""

    def __init__(self, program: Program, *, distributed: bool = False) -> None:
        self.program = program
        self.distributed = distributed
        self.layout: Layout = layout(program)
        self.arrays = {each.key: each for each in program.arrays}
        used = {each.array for each in walk(program.regions) if isinstance(each, Read | Declare)}
        self.used = [each for each in program.arrays if each.key in used]
        self.members = {each.name for each in program.sizes if each.member}
        self.types = {each.name: each.type for each in program.sizes}
        for each in walk(program.regions):
            if isinstance(each, Loop):
                self.types.setdefault(each.counter, each.type)
        self.in_region = False
        self.abstract = Abstractions(program)
        self.counters: list[str] = []  # of the loops around

    def of_kind(self, *kinds: str) -> list[Array]:
        return [each for each in self.used if each.kind in kinds]

    def text(self) -> str:
        return f"{self.callee()}{self.caller()}"

    def callee(self) -> str:
        """What the function with the regions needs, and that function."""
        return "\n".join([*self._file_scope(), *self._function(), ""])

    def caller(self) -> str:
        """The function that the driver calls."""
        return "\n".join([*self._wrapper(), ""])

    # Declarations

    def _extents(self, array: Array) -> list[str]:
        return [
            f"{size} + {constant}" if size and constant else size or str(constant)
            for size, constant in self.layout.extents[array.key]
        ]

    def _brackets(self, extents: Sequence[str]) -> str:
        return "".join(f"[{each}]" for each in extents)

    def _file_scope(self) -> list[str]:
        name = self.program.name
        lines = [
            f"static {each.type} {each.name}{self._brackets(self._extents(each))};"
            for each in self.of_kind("global")
        ]
        for each in self.of_kind("const"):
            count = 1
            for _, extent in self.layout.extents[each.key]:
                count *= extent
            values = ", ".join(str((7 * index + 3) % 11) for index in range(count))
            lines.append(
                f"static const {each.type} {each.name}{self._brackets(self._extents(each))} = {{{values}}};"
            )
        for kind, tag in (("member", "s"), ("record", "g"), ("cell", "q")):
            fields = [
                f"{self.abstract.type(each.type)} {each.name}"
                f"{self._brackets(self._extents(each)[kind == 'cell' :])};"
                for each in self.of_kind(kind)
            ]
            if kind == "member":
                fields += [f"{each.type} {each.name};" for each in self.program.sizes if each.member]
            if fields:
                text = f"struct {tag}_{name} {{ {' '.join(fields)} }};"
                if self.abstract.has("types"):
                    self.abstract.lines[text] = None
                else:
                    lines.append(text)
        if self.of_kind("record"):
            lines.append(f"static struct g_{name} g_{name};")
        return lines

    def _parameters(self) -> list[tuple[str, str]]:
        """Declaration and argument of each parameter of the function."""
        found = [(f"{each.type} {each.name}", each.name) for each in self.program.sizes]
        name = self.program.name
        for each in self.of_kind("parameter", "pointer"):
            extents = self._extents(each)
            restrict = "restrict " if each.restrict else ""
            if each.rows:
                found.append((_table(each, extents), f"rows_{each.name}"))
                continue
            kind = self.abstract.type(each.type)
            if self.abstract.is_flat(each):
                text = f"{self.abstract.pointed_to(each)} *{restrict}{each.name}"
            elif each.kind == "parameter":
                text = f"{kind} {each.name}[{restrict}{extents[0]}]{self._brackets(extents[1:])}"
            elif len(extents) > 1:
                text = f"{kind} (*{restrict}{each.name}){self._brackets(extents[1:])}"
            else:
                text = f"{kind} *{restrict}{each.name}"
            found.append((text, f"(void *)at_{each.name}"))
        if self.of_kind("member") or self.members:
            found.append((f"struct s_{name} *s", "&s"))
        if cells := self.of_kind("cell"):
            restrict = "restrict " if cells[0].restrict else ""
            found.append((f"struct q_{name} *{restrict}q", "q"))
        return found or [("void", "")]

    # The function with the regions

    def _function(self) -> list[str]:
        program = self.program
        lines = [f"static void f_{program.name}({', '.join(text for text, _ in self._parameters())}) {{"]
        local = self.of_kind("local")
        for each in local:
            lines.append(f"  {each.type} {each.name}{self._brackets(self._extents(each))};")
            real = TYPES[each.type][2]
            value = "fuzz_random_real()" if real else "fuzz_random()"
            lines += self._each_element(each, f"{{}} = ({each.type}){value};")
        outside = counters_outside(program)
        lines += [f"  {kind} {name} = {OUTSIDE_START};" for name, kind in outside.items()]
        for region in program.regions:
            lines.append("#pragma scop")
            self.in_region = True
            for each in region:
                text = self._statement(each, "  ")
                lines += self.abstract.body(text, (), nested=False) if isinstance(each, Loop) else text
            self.in_region = False
            lines.append("#pragma endscop")
        for each in local:
            if not each.dead:
                real = TYPES[each.type][2]
                lines += self._each_element(
                    each, "fuzz_mix_real({});" if real else "fuzz_mix((unsigned long){});"
                )
        lines += [f"  fuzz_mix((unsigned long){name});" for name in outside]
        return [*lines, "}"]

    def _each_element(self, array: Array, statement: str) -> list[str]:
        """Loops over a local array, without taking its address."""
        element = array.name
        head = ""
        for depth, extent in enumerate(self._extents(array)):
            head += f"for (long z{depth} = 0; z{depth} < (long)({extent}); z{depth}++) "
            element += f"[z{depth}]"
        return [f"  {head}{statement.format(element)}"]

    def _wrapper(self) -> list[str]:
        """The function that the driver calls."""
        program, name = self.program, self.program.name
        lines = [
            f"static void run_{name}(const long *sizes, int overlap) {{",
            "  (void)sizes; (void)overlap;",
        ]
        for index, size in enumerate(program.sizes):
            lines.append(f"  {size.type} {size.name} = ({size.type})sizes[{index}]; (void){size.name};")
        lines += self._allocations()
        filled = self._contents()
        lines += [f"  fuzz_fill({text}, sizeof {kind}, {real});" for text, kind, real in filled[0]]
        lines += [f"  {each}" for each in filled[1]]
        lines += self._calls(f"f_{name}({', '.join(argument for _, argument in self._parameters())});")
        lines += [f"  fuzz_hash({text}, sizeof {kind}, {real});" for text, kind, real in filled[0]]
        lines += [f"  {each.replace('fuzz_fill', 'fuzz_hash')}" for each in filled[1]]
        return [*lines, "}"]

    def _calls(self, call: str) -> list[str]:
        """One call, or two between which arrays stay distributed."""
        prefixes = {"global": "", "member": "s.", "record": f"g_{self.program.name}."}
        whole = [each for each in self.of_kind(*prefixes) if self.layout.extents[each.key]]
        listed = [f"{prefixes[each.kind]}{each.name}" for each in whole]
        overlapping = [each for each in self.program.may_overlap() if each in self.used]
        listed += [
            f"at_{each.name}[0:count_{each.name}]"
            for each in self.of_kind("parameter", "pointer")
            if each not in overlapping
        ]
        listed += ["pool[0:pool_count]"] if overlapping else []
        if cells := self.of_kind("cell"):
            listed.append(f"q[0:{self.layout.extents[cells[0].key][0][1]}]")
        if not (self.distributed and listed):
            return [f"  {call}"]
        return [f"#pragma polybuild distributed({', '.join(listed)})", f"  {{ {call} {call} }}"]

    def _allocations(self) -> list[str]:
        lines = []
        overlapping = [each for each in self.program.may_overlap() if each in self.used]
        for each in self.of_kind("parameter", "pointer"):
            count = " * ".join(f"(unsigned long)({extent})" for extent in self._extents(each)) or "1"
            lines.append(f"  unsigned long count_{each.name} = {count};")
            if each not in overlapping:
                lines.append(
                    f"  {each.type} *at_{each.name} = fuzz_new(count_{each.name} * sizeof *at_{each.name});"
                )
        if overlapping:
            kind = overlapping[0].type
            total = " + ".join(f"count_{each.name} + 8" for each in overlapping)
            cases = ", ".join(str(_APART if each is None else each) for each in self.program.overlaps)
            furthest = max((abs(each or 0) for each in self.program.overlaps), default=0) * len(overlapping)
            lines += [
                f"  static const int apart[] = {{{cases}}};",
                f"  unsigned long pool_count = {total} + {furthest};",
                f"  {kind} *pool = fuzz_new(pool_count * sizeof *pool);",
                f"  fuzz_fill(pool, pool_count * sizeof *pool, {_fuzz_kind(kind)});",
                f"  long far = apart[overlap] == {_APART}, step = apart[overlap];",
                f"  long where = step < 0 && !far ? -{len(overlapping)} * step : 0;",
            ]
            for each in overlapping:
                lines += [
                    f"  {kind} *at_{each.name} = pool + where;",
                    f"  where += far ? (long)count_{each.name} + 8 : step;",
                ]
        for each in self.of_kind("parameter", "pointer"):
            lines += self._rows(each) if each.rows else []
        name = self.program.name
        if self.of_kind("member") or self.members:
            lines.append(f"  struct s_{name} s;")
        if cells := self.of_kind("cell"):
            count = self.layout.extents[cells[0].key][0][1]
            lines.append(f"  struct q_{name} *q = fuzz_new({count} * sizeof *q);")
        return lines

    def _rows(self, array: Array) -> list[str]:
        """The table of pointers to the rows of an array, every third pair of them exchanged."""
        first, *inner = self._extents(array)
        row = " * ".join(f"(unsigned long)({extent})" for extent in inner)
        table = _table(array, [first, *inner], f"rows_{array.name}")
        return [
            f"  {table} = fuzz_new(((unsigned long)({first}) + 1) * sizeof *rows_{array.name});",
            f"  for (long z = 0; z < (long)({first}); z++) {{",
            f"    long to = z % 6 < 2 && (z ^ 1) < (long)({first}) ? z ^ 1 : z;",
            f"    rows_{array.name}[to] = (void *)(at_{array.name} + z * {row});",
            "  }",
        ]

    def _contents(self) -> tuple[list[tuple[str, str, str]], list[str]]:
        """What to fill and hash: (pointer, object for sizeof, kind), and whole lines for other things."""
        objects, lines = [], []
        for each in self.of_kind("global", "member", "record"):
            prefix = {"global": "", "member": "s.", "record": f"g_{self.program.name}."}[each.kind]
            objects.append((f"&{prefix}{each.name}", f"{prefix}{each.name}", _fuzz_kind(each.type)))
        overlapping = [each for each in self.program.may_overlap() if each in self.used]
        for each in self.of_kind("parameter", "pointer"):
            if each not in overlapping:
                size = f"count_{each.name} * sizeof *at_{each.name}"
                lines.append(f"fuzz_fill(at_{each.name}, {size}, {_fuzz_kind(each.type)});")
        if overlapping:
            lines.append(f"fuzz_fill(pool, pool_count * sizeof *pool, {_fuzz_kind(overlapping[0].type)});")
        for each in self.of_kind("cell"):
            count = self.layout.extents[each.key][0][1]
            lines.append(
                f"for (int z = 0; z < {count}; z++)"
                f" fuzz_fill(&q[z].{each.name}, sizeof q[z].{each.name}, {_fuzz_kind(each.type)});"
            )
        lines += [f"s.{size.name} = {size.name};" for size in self.program.sizes if size.member]
        return objects, lines

    # Statements

    def _block(self, body: Sequence[Stmt], indent: str) -> list[str]:
        return [line for each in body for line in self._statement(each, indent + "  ")]

    def _statement(self, node: Stmt, indent: str) -> list[str]:
        if isinstance(node, Do) and isinstance(node.expr, Store) and self.abstract.has("updates"):
            return [f"{indent}{self._update(node.expr, self._is_real(node.expr))};"]
        if isinstance(node, Do):
            return [f"{indent}{bare(self.data(node.expr, self._is_real(node.expr))[0])};"]
        if isinstance(node, Declare):
            array = self.arrays[node.array]
            text = (
                f"{indent}{self.abstract.type(array.type)} {array.name}{self._brackets(self._extents(array))}"
            )
            if node.value is not None:
                text += f" = {bare(self.data(node.value, TYPES[array.type][2])[0])}"
            return [f"{text};"]
        if isinstance(node, If) and node.test == Num(1) and not node.no:  # a plain block
            return [f"{indent}{{", *self._block(node.yes, indent), f"{indent}}}"]
        if isinstance(node, If):
            affine = is_affine(node.test)
            test = self.affine(node.test) if affine else self.data(node.test, self._is_real(node.test))[0]
            lines = [f"{indent}if ({bare(test)}) {{", *self._block(node.yes, indent)]
            if node.no:
                lines += [f"{indent}}} else {{", *self._block(node.no, indent)]
            return [*lines, f"{indent}}}"]
        declared = "" if node.outside else f"{self.abstract.type(node.type)} "
        bound = f"{node.counter} {node.relation} {self.affine(node.bound)}"
        if node.also is not None:
            bound += f" && {node.counter} {node.relation} {self.affine(node.also)}"
        directive = [f"#pragma {node.directive}"] if node.directive else []
        head = f"for ({declared}{node.counter} = {bare(self.affine(node.start))}; {bound}; {_advance(node)})"
        around = self.types[node.counter]  # another loop's counter may have the name
        self.types[node.counter] = node.type
        self.counters.append(node.counter)
        body = self._block(node.body, indent)
        if not any(isinstance(each, Loop) for each in walk(node.body)):
            body = self.abstract.body(body, self.counters, nested=True)
        self.counters.pop()
        self.types[node.counter] = around
        if len(body) == 1 and "BODY" in body[0]:
            return [*directive, f"{indent}{head} {{", *body, f"{indent}}}"]
        if len(node.body) == 1 and not isinstance(node.body[0], Declare):
            return [*directive, f"{indent}{head}", *body]
        return [*directive, f"{indent}{head} {{", *body, f"{indent}}}"]

    def _is_real(self, expr: Expr) -> bool:
        return any(isinstance(each, Read) and TYPES[self.arrays[each.array].type][2] for each in walk(expr))

    # Expressions

    def affine(self, node: Expr) -> str:
        """An integer expression, in parentheses where it has an operator."""
        if isinstance(node, Num):
            return self.abstract.constant(node.value)
        if isinstance(node, Var):
            return self._variable(node.name)
        if isinstance(node, Not):
            return f"!{self.affine(node.operand)}"
        if isinstance(node, Pick):
            parts = (self.affine(each) for each in (node.test, node.yes, node.no))
            return "({} ? {} : {})".format(*parts)
        if isinstance(node, Bin):
            return f"({self.affine(node.left)} {node.op} {self.affine(node.right)})"
        raise TypeError(node)

    def _variable(self, name: str) -> str:
        return f"s->{name}" if name in self.members and self.in_region else name

    def _element(self, node: Read) -> str:
        array = self.arrays[node.array]
        prefix = {"member": "s->", "record": f"g_{self.program.name}."}.get(array.kind, "")
        offsets = self.layout.offsets[node.array]
        if array.kind != "cell" and (
            macro := self.abstract.element(array, f"{prefix}{array.name}", offsets, self._extents(array))
        ):
            return f"{macro}({', '.join(bare(self.affine(each)) for each in node.subscripts)})"
        subscripts = [
            f"[{bare(self.affine(_shifted(each, offset)))}]"
            for each, offset in zip(node.subscripts, offsets, strict=True)
        ]
        if array.kind == "cell":
            return f"q{subscripts[0]}.{array.name}{''.join(subscripts[1:])}"
        if array.kind == "pointer" and array.rank == 1 and subscripts == ["[0]"]:
            return f"*{array.name}"
        return f"{prefix}{array.name}{''.join(subscripts)}"

    def data(self, node: Expr, real: bool) -> tuple[str, _Kind]:
        """Text and C type of an expression over data, in which nothing overflows."""
        if isinstance(node, Num):
            if real:
                return repr(node.value * 0.125), (64, True, True)
            return (f"{node.value}u", (32, False, False)) if node.value >= 0 else (f"({node.value})", _INT)
        if isinstance(node, Var):
            return self._variable(node.name), _promoted(TYPES[self.types[node.name]])
        if isinstance(node, Read):
            return self._element(node), _promoted(TYPES[self.arrays[node.array].type])
        if isinstance(node, Store):
            return self._store(node, real)
        if isinstance(node, Bump):
            kind = TYPES[self.arrays[node.target.array].type]
            target = self._element(node.target)
            target = f"({target})" if target.startswith("*") else target
            if kind[1] and not kind[2] and kind[0] >= 32:
                return f"({target} {node.op[-1]}= 1u)", kind
            return (f"{target}{node.op[1:]}" if node.op[0] == "p" else f"({node.op}{target})"), _promoted(
                kind
            )
        if isinstance(node, Not):
            return f"!{self.data(node.operand, real)[0]}", _INT
        if isinstance(node, Pick):
            test = self.affine(node.test) if is_affine(node.test) else self.data(node.test, real)[0]
            (yes, one), (no, other) = self.data(node.yes, real), self.data(node.no, real)
            return f"({test} ? {yes} : {no})", _common(one, other)
        return self._binary(node, real)

    def _binary(self, node: Bin, real: bool) -> tuple[str, _Kind]:
        (left, one), (right, other) = self.data(node.left, real), self.data(node.right, real)
        if node.op in _COMPARISONS or node.op in {"&&", "||"}:
            return f"({left} {node.op} {right})", _INT
        kind = _promoted(one) if node.op in {"<<", ">>"} else _common(one, other)
        if kind[2] or real:
            op = _FLOATING_OPS.get(node.op, node.op)
            return self.abstract.operation(left, op, right, "double"), (64, True, True)
        if kind[1]:
            left = f"({'unsigned long' if kind[0] == 64 else 'unsigned'}){left}"
            kind = (kind[0], False, False)
        if node.op in {"<<", ">>"}:
            return f"({left} {node.op} ({right} & 7))", kind
        if node.op in {"/", "%"}:
            return f"({left} {node.op} ({right} | 1u))", kind
        return self.abstract.operation(left, node.op, right, _c_type(kind)), kind

    def _update(self, node: Store, real: bool) -> str:
        """The call that makes the assignment of a statement."""
        op, value, kind = self._assigned(node, real)
        type_name = self.arrays[node.target.array].type
        return self.abstract.update(self._element(node.target), type_name, op, value, _c_type(kind))

    def _store(self, node: Store, real: bool) -> tuple[str, _Kind]:
        op, value, _ = self._assigned(node, real)
        kind = TYPES[self.arrays[node.target.array].type]
        return f"({self._element(node.target)} {op} {value})", _promoted(kind)

    def _assigned(self, node: Store, real: bool) -> tuple[str, str, _Kind]:
        """Operator, value and its type."""
        target = self.arrays[node.target.array]
        kind = TYPES[target.type]
        value, value_kind = self.data(node.value, real)
        op = _FLOATING_OPS.get(node.op, node.op) if kind[2] else node.op
        common = _common(kind, value_kind)
        if op != "=" and common[1] and not common[2]:
            value = f"({'unsigned long' if common[0] == 64 else 'unsigned'}){value}"
            value_kind = (common[0], False, False)
        elif op == "=":
            value = bare(value)
        return op, value, value_kind


def _c_type(kind: _Kind) -> str:
    """The type of an operand of this kind."""
    if kind[2]:
        return "double"
    return {(32, True): "int", (32, False): "unsigned", (64, True): "long", (64, False): "unsigned long"}[
        kind[:2]
    ]


def _promoted(kind: _Kind) -> _Kind:
    return _INT if kind[0] < 32 else kind


def _common(one: _Kind, other: _Kind) -> _Kind:
    if one[2] or other[2]:
        return (64, True, True)
    one, other = _promoted(one), _promoted(other)
    if one[0] != other[0]:
        return max(one, other)
    return one[0], one[1] and other[1], False


def _shifted(node: Expr, offset: int) -> Expr:
    """``node + offset`` without a needless operation."""
    if isinstance(node, Bin) and node.op in {"+", "-"} and isinstance(node.right, Num):
        value = node.right.value if node.op == "+" else -node.right.value
        node, offset = node.left, offset + value
    if isinstance(node, Num):
        return Num(node.value + offset)
    if not offset:
        return node
    return Bin("+" if offset > 0 else "-", node, Num(abs(offset)))


def _advance(node: Loop) -> str:
    name, amount = node.counter, abs(node.step)
    sign = "+" if node.step > 0 else "-"
    ways = [f"{name} {sign}= {amount}", f"{name} = {name} {sign} {amount}"]
    if sign == "+":
        ways.append(f"{name} = {amount} + {name}")
    if amount == 1:
        ways = [f"{name}{sign}{sign}", f"{sign}{sign}{name}", *ways]
    return ways[node.spelling % len(ways)]
