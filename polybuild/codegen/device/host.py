"""The host's side of the kernels of a region: buffers, copies, launches.

The generated lines open a session, name its buffers and run the host's loops
with launches in them; ``polybuild_device.h`` says what each call means. Where
anything fails the session leaves the user's data as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.inspectors import Inspector
from polybuild.codegen.c.buffers import NamedBuffer, named_buffers
from polybuild.codegen.c.conditions import ConditionPrinter
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.inspectors import InspectorText, extrema_declarations, write_inspectors
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.layout import indented
from polybuild.codegen.c.locals import local_declaration
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.device.arrays import DeviceArrays, device_arrays
from polybuild.codegen.device.ast import NO_LAUNCH, KernelAst, Launch, build_kernel_ast
from polybuild.codegen.device.boxes import BoxPrinter, regular
from polybuild.codegen.device.descriptions import requested
from polybuild.codegen.device.functions import DeviceFunctions
from polybuild.codegen.device.kernels import KernelPrinter, KernelText
from polybuild.codegen.device.model import DeviceRequest, DeviceText, HostNames, label_of, object_name
from polybuild.codegen.device.registers import addressable
from polybuild.codegen.device.remembered_extrema import RememberedExtrema, may_be_remembered
from polybuild.codegen.device.statements import KernelSource
from polybuild.codegen.device.together import TogetherPrinter, parts_of
from polybuild.poly.marks import Mark
from polybuild.scop.model import Scop
from polybuild.source.model import Region
from polybuild.targets.device import InspectedRange
from polybuild.targets.gpu.transfers import variables_read

_INDENT = "  "
_PARAM = isl.dim_type.param


def write_device(
    region: Region,
    request: DeviceRequest,
    host: HostNames,
    conditions: ConditionPrinter,
) -> DeviceText:
    """Generate the device's part of a region.

    Raises Unsupported for what the language cannot express.
    """
    copies = addressable(region, request.plan.transfers)
    request = replace(request, plan=replace(request.plan, transfers=copies.transfers))
    return _device_text(region, request, host, conditions, copies.before).followed_by(copies.after)


def _device_text(
    region: Region,
    request: DeviceRequest,
    host: HostNames,
    conditions: ConditionPrinter,
    declared: Sequence[str],
) -> DeviceText:
    """As write_device, after the lines of what is ``declared``."""
    scop, plan = request.scop, request.plan
    reserved = {*request.language.reserved, *(each.name for each in scop.arrays)}
    buffers = named_buffers(plan.buffers, reserved)
    ast = build_kernel_ast(scop, plan.tree, buffers)
    known = frozenset(host.parameters.values())
    measured = {one.maximum: one for each in plan.transfers for one in each.inspected if one.counts}
    host = replace(host, parameters={**host.parameters, **{name: name for name in measured}})
    kernels = _Kernels(scop, region, request, ast, buffers)
    loops = HostPrinter(ast, host, kernels).lines()
    boxes = BoxPrinter(scop, host.parameters, host.in_use)
    name = object_name(region)
    travelling = [each for each in plan.transfers if each.goes_in or each.comes_out]
    uses = ", ".join(map(boxes.use, travelling))
    used = f"pb_uses, {len(travelling)}"
    shapes, remembered = _boxes(region, request, host, conditions, boxes)
    counted = _counted(measured.values(), plan.limit)
    lines = [
        *(
            local_declaration(each.array)
            for each in plan.transfers
            if each.array.local and not each.array.expanded
        ),
        *declared,
        *shapes,
        f"const polybuild_use pb_uses[] = {{{uses}}};",
        *_kernel_works(request, conditions),
        f"polybuild_session *const pb_session = {counted}polybuild_open(&{name},",
        f"{_INDENT * 2}&(const polybuild_work){{{_work(request, conditions)}}},",
        f"{_INDENT * 2}{used});",
        "if (pb_session) {",
        *(f"{_INDENT}{line}" for each in plan.transfers for line in boxes.buffer(each)),
        *(f"{_INDENT}{line}" for line in remembered),
        *indented(loops, _INDENT),
        f"{_INDENT}pb_done = polybuild_close(pb_session);",
        "}",
        "if (!pb_done)",
        f"{_INDENT}pb_home = polybuild_home({used});",
    ]
    condition = _condition(request, host, known)
    functions = tuple(text.function(called) for called, text in kernels.found.items())
    return DeviceText(
        request.language,
        name,
        functions,
        kernels.functions.texts,
        condition,
        tuple(lines),
        includes=tuple(kernels.includes),
        exceeded=plan.exceeded,
        described={called: text.described for called, text in kernels.found.items()},
        request=request,
    )


def _condition(request: DeviceRequest, host: HostNames, known: Collection[str]) -> str:
    """What has to hold of the ``known`` variables of the host for all indices to fit; may be empty."""
    scop, plan = request.scop, request.plan
    spelled = (str(scop.context.get_dim_name(_PARAM, each)) for each in range(scop.context.dim(_PARAM)))
    names = dict.fromkeys([*(each.name for each in scop.parameters), *spelled])
    parameters = [host.parameters[each] for each in names if plan.limit and each in host.parameters]
    parameters = [each for each in parameters if each in known]
    host.in_use.variables.update(parameters)
    limits = [f"{each} >= -{plan.limit} && {each} <= {plan.limit}" for each in parameters]
    return " && ".join([*limits, *regular(each.array for each in plan.transfers)])


def _counted(measured: Iterable[InspectedRange], limit: int) -> str:
    """The begin of a choice: whether ``measured`` numbers of elements are such as kernels take."""
    limits = [f"{each.maximum} <= {limit}" for each in measured if limit]
    tests = [f"{each.minimum} >= 0 && {each.maximum} >= {each.minimum}" for each in measured]
    return f"!({' && '.join([*tests, *limits])}) ? 0 : " if tests else ""


def _boxes(
    region: Region, request: DeviceRequest, host: HostNames, conditions: ConditionPrinter, boxes: BoxPrinter
) -> tuple[list[str], list[str]]:
    """The boxes of all arrays; where data choose the elements, after a look at the data, at home.

    Then what the runtime is to remember of that as soon as the arrays are on the device.
    """
    extrema: dict[Inspector, tuple[str, str]] = {}
    lines: list[str] = []
    remembered: list[str] = []
    for transfer in request.plan.transfers:
        new = {
            each.inspector: (each.minimum, each.maximum)
            for each in transfer.inspected
            if each.inspector not in extrema
        }
        extrema |= new
        names = frozenset[str]().union(*map(variables_read, new))
        known = [each for each in request.plan.transfers if each.array.name in names]
        text = InspectorText(request.scop, host.parameters, host.taken, host.in_use, conditions.sizes, new)
        lines += extrema_declarations(list(new), new)
        look: list[str] = [*write_inspectors(list(new), text, parallel=False)]
        if known:
            uses = f"pb_tells_of_{transfer.array.name}"
            lines.append(f"const polybuild_use {uses}[] = {{{', '.join(map(boxes.look, known))}}};")
            look.insert(0, f"polybuild_home({uses}, {len(known)});")
        if known and names == {each.array.name for each in known} and may_be_remembered(new):
            keys = [host.parameters[each.name] for each in request.scop.parameters if not each.is_limit]
            host.in_use.variables.update(keys)
            extremes = RememberedExtrema(object_name(region), len(remembered), uses, len(known), keys, new)
            remembered += extremes.remember()
            look = extremes.recall(look)
        lines += look
        lines += boxes.box(transfer)
    return lines, remembered


def _work(request: DeviceRequest, conditions: ConditionPrinter) -> str:
    """The initialiser of a ``polybuild_work``: what runs in all, what in one thread, and launches."""
    instances = _instances(request, conditions)
    alone = [text for name, text in instances.items() if name in request.plan.serial]
    launches = (conditions.instances([each]) for each in request.plan.launches)
    costs = request.plan.tree.costs
    return (
        f".instances = {_sum(instances.values())},"
        f" .serial = {_sum(alone)},"
        f" .launches = {_sum(launches)},"
        f" .minimum = {request.minimum_work}.0"
        + (f", .kernels = pb_kernels, .kernel_count = {len(costs)}" if costs else "")
        + (f", .runs = {conditions.instances([request.runs])}" if request.runs else "")
        + (", .replay = 1" if request.launches == "graphs" else "")
    )


def _instances(request: DeviceRequest, conditions: ConditionPrinter) -> dict[str, str]:
    """How many instances each statement has, in double, by its name."""
    found: dict[str, str] = {}
    for statement, trips in zip(request.scop.statements, request.work, strict=True):
        share = request.shares.get(statement.name)
        text = conditions.instances([trips])
        found[statement.name] = text if share is None else f"{share:.3g} * {text}"
    return found


def _sum(products: Iterable[str]) -> str:
    """The sum of ``products``, in double."""
    counted = Counter(products)
    terms = (f"{count}.0 * {text}" if count > 1 else text for text, count in counted.items())
    return " + ".join(terms) or "0.0"


def _kernel_works(request: DeviceRequest, conditions: ConditionPrinter) -> list[str]:
    """The lines that declare what each kernel takes that many threads run, ``pb_kernels``."""
    known = _instances(request, conditions)
    lines: list[str] = []
    for cost in request.plan.tree.costs.values():
        alike: dict[str, float] = {}
        for name, time in cost.statements.items():
            alike[known[name]] = alike.get(known[name], 0.0) + time
        times = " + ".join(f"{time:.3g} * {instances}" for instances, time in alike.items())
        lines.append(
            f"{_INDENT * 2}{{{times or '0.0'}, {conditions.instances([cost.grid])}, {cost.at_once}}},"
        )
    return ["const polybuild_kernel_work pb_kernels[] = {", *lines, "};"] if lines else []


class _Kernels:
    """Collects the kernels of a region; equal ones are one."""

    def __init__(
        self,
        scop: Scop,
        region: Region,
        request: DeviceRequest,
        ast: KernelAst,
        buffers: Sequence[NamedBuffer],
    ) -> None:
        self._scop = scop
        self._region = region
        self._request = request
        self._ast = ast
        self._arrays: DeviceArrays = device_arrays(scop, request.plan.private, request.language, buffers)
        self._kernels = {each.mark(): each for each in request.plan.kernels}
        self._atomics = {each.statement.name: each for each in request.plan.atomics}
        self.functions = DeviceFunctions(region, request.language)
        self.found: dict[str, KernelText] = {}
        self.includes: dict[str, None] = {}
        self._source = KernelSource(
            scop, region, ast, self._arrays, self.functions, self._atomics, request.plan.copies
        )
        self._counter_type = "int" if request.plan.limit else COUNTER_TYPE

    def launch(self, node: isl.AstNode, launch: Launch, names: Mapping[str, str]) -> tuple[str, KernelText]:
        """The name and the text of the kernel at ``node``, where the host knows ``names``."""
        printer = KernelPrinter(self._source, self._request.language, names, counter_type=self._counter_type)
        tree = self._request.plan.tree
        text = printer.kernel(node, self._kernels[launch.kernel], tree.tiles[launch.kernel])
        text = replace(text, described=(*text.described, *requested(tree.requests.get(launch.kernel, ()))))
        return self._named(text), text

    def together(self, loop: isl.AstNode, names: Mapping[str, str]) -> tuple[str, KernelText] | None:
        """The name and the text of the kernel that ``loop`` of the host is; None if it launches several."""
        meeting = self._request.language.exchange.meeting
        if meeting is None or self._request.launches != "together":
            return None
        tree = self._request.plan.tree
        found = parts_of(loop, self._ast, self._kernels, tree.tiles, self._request.plan.copies)
        if not found:
            return None
        printer = TogetherPrinter(
            self._source, self._request.language, names, counter_type=self._counter_type, parts=found
        )
        text = printer.loop(loop)
        self.includes[meeting.include] = None
        return self._named(text), text

    def _named(self, text: KernelText) -> str:
        """The name of the kernel with ``text``."""
        for name, known in self.found.items():
            if known == text:
                return name
        name = f"polybuild_{label_of(self._region)}{self._request.part}_{len(self.found)}"
        self.found[name] = text
        return name


class HostPrinter(LoopPrinter):
    """Prints the host's loops around the kernels, with a launch for each kernel."""

    def __init__(self, ast: KernelAst, names: HostNames, kernels: _Kernels) -> None:
        directives = DirectivePrinter({}, names.in_use)
        super().__init__(ast, NamesInScope(names.parameters, names.taken), directives, sizes={})
        self._launches = ast.launches
        self._kernels = kernels
        self._in_loop = False  # that one kernel may be instead

    def _mark(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        annotation = node.get_annotation().get_name()
        if annotation == NO_LAUNCH:
            return super()._mark(node, indent, before)
        launch = self._launches[annotation]
        name, text = self._kernels.launch(node.mark_get_node(), launch, dict(self._names))
        self._in_use.variables.update(text.outer)
        grid = _three([self._expression().text(each) for each in launch.grid])
        block = ", ".join(map(str, text.block))
        return [
            f"{indent}polybuild_launch(pb_session, {name},",
            f"{indent}{_INDENT * 2}(const long[]){{{grid}}}, (const long[]){{{block}}},",
            *_arguments(text, indent),
            f"{indent}{_INDENT * 2}}}, {len(text.arguments)});",
        ]

    def _for(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        found = None if self._in_loop else self._kernels.together(node, dict(self._names))
        if found is None:
            return super()._for(node, indent, before)
        name, text = found
        self._in_use.variables.update(text.outer)
        self._in_loop = True
        loop = super()._for(node, indent + _INDENT, before)
        self._in_loop = False
        return [
            f"{indent}if (!polybuild_launch_together(pb_session, {name},",
            f"{indent}{_INDENT * 3}(const long[]){{{', '.join(map(str, text.block))}}},",
            *_arguments(text, indent + _INDENT),
            f"{indent}{_INDENT * 3}}}, {len(text.arguments)})) {{",
            *loop,
            f"{indent}}}",
        ]


def _arguments(text: KernelText, indent: str) -> list[str]:
    """The begin of the array of what is passed to a kernel."""
    values = [f"{indent}{_INDENT * 3}{each.initialiser}," for each in text.arguments]
    return [f"{indent}{_INDENT * 2}(const polybuild_argument[]){{", *values]


def _three(sizes: Sequence[str]) -> str:
    """Sizes along x, y and z from those outermost first."""
    return ", ".join([*reversed(sizes), "1", "1", "1"][:3])
