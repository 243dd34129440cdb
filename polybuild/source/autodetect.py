"""Loops that nobody marked as regions: outermost ones first, that a caller finds worth taking.

The preprocessed text gets markers around candidate loops, as if the user had
written them there, and is read like any other. Loops that are refused give way
to the loops inside them; neighbours that are taken are joined where that is
taken, too. Only loops that stand on lines of their own, with whole calls of macros and whole
preprocessor conditionals in them, are candidates, and none in functions that have
marked regions or share work by OpenMP already; but where that is wanted those under
``omp parallel`` are, loops or blocks, with their directives. Hints to compilers, as ``ivdep`` and
``omp simd``, do not matter. Loops in a marked region that is not understood as a whole are candidates, too.
"""

from __future__ import annotations

import dataclasses
import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import reduce

from polybuild.c.tokens import Token, tokens
from polybuild.diagnostics import Diagnostic, Severity
from polybuild.effort import DETECTED_DEPTH
from polybuild.patterns import pattern
from polybuild.source.chunks import Chunk, ChunkIndex
from polybuild.source.inclusions import LOOP, REGION, quoted_name
from polybuild.source.lines import LineTable, PresumedLocation
from polybuild.source.loop_nests import work_and_trips
from polybuild.source.markers import Marker
from polybuild.source.model import Region, RejectedRegion, Source, Span
from polybuild.source.openmp import OF_LANES, PARALLEL, gives_way, is_shared_by_others
from polybuild.source.preprocess import preprocess
from polybuild.source.reader import FileText, Regions, file_text, files_of, regions_in, residents_in, text_of
from polybuild.source.regions import CONDITIONAL, MARKING, RegionFinder
from polybuild.source.statements import LOOPS, statement_end
from polybuild.values import dataclass

Accept = Callable[[Region], Diagnostic | None]
"""Why a region is not to be taken, None if it is."""


def _nothing(_region: Region) -> None:
    """No region is certain to be refused."""


NOT_TRIED = "not-tried"
"""The code of a loop that was not tried, as there is no time for it, nor for any other."""

_COMMENT = pattern(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_HINTS = pattern(
    r"(?:(?:GCC|clang)\s+)?(?:ivdep|unroll|loop)\b|(?:nounroll|vector|novector|simd|omp\s+simd)\b"
)
_OF_TEAMS = ("{", "if", *LOOPS)
_SIMPLE = pattern(r"[^{}#]*")
_NO_CODE = pattern(r"^[ \t]*#.*$|\s", re.MULTILINE)
_CONTROL = frozenset({"if", "else", "switch", "case", "default", "goto", "return", "break", "continue", ":"})


@dataclass(frozen=True, slots=True)
class StatementRange:
    """Whole statements of a function, one after the other: offsets into the preprocessed text, and lines.

    ``clauses`` are those of the region around them.
    """

    start: int
    end: int
    first_line: int
    last_line: int
    block: int | None
    clauses: str = ""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class _PendingLoop:
    """A loop to be tried, which is a ``region``, in order: by the work that it seems to do, most first.

    It is in ``depth`` others that were refused; its body runs so often in all, as ``runs`` says.
    """

    negative_work: float
    start: int
    loop: StatementRange = field(compare=False)
    region: Region | RejectedRegion = field(compare=False)
    depth: int = field(compare=False)
    runs: int = field(compare=False)


_Nested = tuple[StatementRange, _PendingLoop | None]
"""A loop with the one that it is in, if that is another candidate."""

_Refused = tuple[_PendingLoop, Diagnostic]
"""A loop with the reason why it is not taken."""


@dataclass(frozen=True, slots=True)
class RefusedLoop:
    """A loop that nobody marked and that is not taken as a whole: its lines in the user's file, and why."""

    file: str
    first_line: int
    last_line: int
    diagnostic: Diagnostic

    @property
    def remark(self) -> Diagnostic:
        """What is said of it to the user."""
        message = f"not taken by itself: {self.diagnostic.message}"
        return replace(self.diagnostic, severity=Severity.REMARK, message=message)


@dataclass(frozen=True, slots=True)
class Detection:
    """A file with the regions that were found in it besides those marked, and the loops left alone."""

    source: Source
    refused: tuple[RefusedLoop, ...]


def detect_regions(
    path: str,
    compiler: Sequence[str],
    flags: Sequence[str],
    accept: Accept,
    *,
    refuse: Accept = _nothing,
    shared: bool = False,
    headers: bool = False,
) -> Detection:
    """Read the file at ``path`` with its marked regions and those ``accept`` takes.

    What ``refuse`` has a reason for is not taken either; it is asked first, and takes no time. Loops and
    blocks that OpenMP shares out are candidates if they are ``shared``, and those of ``headers`` if wanted.
    Raises SourceError as ``read_source`` does.
    """
    file, dependencies = _file_text(path, compiler, flags, headers=headers, wanted=LOOP)
    detector = _Detector(file, (refuse, accept), shared=shared)
    taken = detector.run(detector.in_functions())
    regions, diagnostics = detector.read(taken)
    residents, problems = residents_in(file, file.user_text(), regions)
    diagnostics += problems
    source = Source(path, file.text, regions, dependencies, diagnostics, residents, file.names or {})
    return Detection(source, tuple(detector.refused))


def regions_inside(
    kept: Sequence[Region],
    path: str,
    command: tuple[Sequence[str], Sequence[str]],
    asks: tuple[Accept, Accept],
    *,
    headers: bool = False,
    detected: bool = False,
) -> list[Region]:
    """Those regions inside of ``kept`` ones of the file at ``path`` that are taken, in order.

    As ``detect_regions`` finds them, which ``asks`` to refuse and to accept; ``command`` is the compiler and
    its flags. They get the clauses of the region that they are in. The file was read with ``headers``, or
    without, and looked at for loops that nobody marked if others were ``detected``. Raises SourceError as
    ``read_source`` does.
    """
    file, _ = _file_text(path, *command, headers=headers, wanted=LOOP if detected else REGION)
    user_text = file.user_text()
    text = file.preprocessed
    finder = RegionFinder(user_text, LineTable(text, user_text, path), ChunkIndex(text))
    finder.find()
    spans = {each.span for each in kept}
    detector = _Detector(replace(file, preprocessed=_without_markers(text)), asks, shared=False)
    ranges = detector.run(
        each
        for candidate in finder.candidates
        if candidate.span in spans and candidate.end is not None
        for each in detector.in_region(candidate.begin.end, candidate.end.start, candidate.begin.clauses)
    )
    return [each for each in detector.read(ranges)[0] if isinstance(each, Region) and each.detected]


def _file_text(
    path: str, compiler: Sequence[str], flags: Sequence[str], *, headers: bool, wanted: re.Pattern[str]
) -> tuple[FileText, tuple[str, ...]]:
    """The file at ``path``, and the files that it is made from."""
    preprocessed = preprocess(path, compiler, flags)
    file = file_text(path, text_of(path), flags, preprocessed, headers=headers, wanted=wanted)
    return file, files_of(path, preprocessed)


def _without_markers(text: str) -> str:
    """Preprocessed ``text`` with spaces in place of the markers of regions."""
    return MARKING.sub(lambda found: " " * len(found[0]), text)


class _Detector:
    """The search in one file; ``refused`` says why loops were not taken.

    It ``asks`` whether a loop is certain to be refused, and then whether it is to be taken.
    """

    def __init__(self, file: FileText, asks: tuple[Accept, Accept], *, shared: bool) -> None:
        self._shared = shared
        self._file = file
        self._refuse, self._accept = asks
        self._user_text = file.user_text()
        self._lines = LineTable(file.preprocessed, self._user_text, file.path)
        self._chunks = ChunkIndex(file.preprocessed)
        self.refused: list[RefusedLoop] = []

    def in_functions(self) -> Iterator[StatementRange]:
        """The outermost loops of functions without marked regions."""
        for chunk in self._functions():
            yield from self._loops(chunk.body or 0, chunk.end)

    def in_region(self, start: int, end: int, clauses: str) -> Iterator[StatementRange]:
        """The outermost loops between markers with ``clauses``; where one is all there is, those inside."""
        loops = self._loops(start, end)
        text = self._lines.text
        if len(loops) == 1 and not _NO_CODE.sub("", text[start : loops[0].start] + text[loops[0].end : end]):
            loops = self._loops(*self._inside(loops[0]))
        for each in loops:
            yield replace(each, clauses=clauses)

    def run(self, outermost: Iterable[StatementRange]) -> list[StatementRange]:
        """The statements to take of the ``outermost`` loops, in order."""
        if self._user_text.renumbered and not self._user_text.expanded:
            return []
        taken: list[StatementRange] = []
        refused: list[_Refused] = []
        pending = self._sifted([(each, None) for each in outermost], refused)
        heapq.heapify(pending)
        while pending:
            candidate = heapq.heappop(pending)
            problem = self._problem_of(candidate.region)
            if problem is None:
                taken.append(candidate.loop)
                continue
            refused.append((candidate, problem))
            if problem.code != NOT_TRIED:  # else nor are those inside
                for each in self._sifted(self._inner(candidate), refused):
                    heapq.heappush(pending, each)
        refused.sort(key=lambda pair: (pair[0].depth, pair[0].loop.start))
        ends = any(problem.code == NOT_TRIED for _, problem in refused)
        self.refused += [self._refused(each.loop, why) for each, why in refused]
        taken.sort(key=lambda each: each.start)
        return taken if ends else self._joined(taken)

    def _refused(self, loop: StatementRange, reason: Diagnostic) -> RefusedLoop:
        """A ``loop`` as the user knows it."""
        first, last = map(self._lines.written, (loop.first_line, loop.last_line))
        return RefusedLoop(first.file, first.line, last.line, reason)

    def read(self, ranges: Sequence[StatementRange]) -> Regions:
        """The regions of the file with ``ranges`` marked."""
        spans = {self._span(each) for each in ranges}
        user_text = self._user_text.with_markers(
            marker for statements in ranges for marker in self._markers(statements)
        )
        marked = self._marked(ranges)
        regions, diagnostics = regions_in(marked, user_text)
        return (
            tuple(
                # what is in an array that the user names for others may go from one of these to the next
                replace(each, detected=True, temporaries=())
                if isinstance(each, Region) and each.span in spans
                else each
                for each in regions
            ),
            diagnostics,
        )

    # Candidates

    def _functions(self) -> Iterator[Chunk]:
        text = self._lines.text
        for chunk in self._chunks.chunks:
            if chunk.body is None or is_shared_by_others(
                text, chunk.body, chunk.end, teams_give_way=self._shared
            ):
                continue
            if self._lines.physical_line(self._lines.presumed_at(chunk.body)) is not None:
                yield chunk

    def _directive_of(self, start: int) -> bool:
        """Whether a directive that makes a team stands at ``start``."""
        return PARALLEL.match(self._lines.text, start) is not None

    def _loops(self, start: int, end: int) -> list[StatementRange]:
        """The outermost loops that start in ``text[start:end]`` and can be candidates."""
        found = [each for each in tokens(self._lines.text, start, end) if each.text[0] != "#"]
        loops: list[StatementRange] = []
        blocks: list[int] = []
        position = 0
        while position < len(found):
            token = found[position]
            is_team = self._shared and token.text in _OF_TEAMS and self._is_team(token.start)
            if token.text in LOOPS or is_team:
                following = statement_end(found, position)
                candidate = self._statements(token, found[following - 1], blocks[-1] if blocks else None)
                if candidate is not None:
                    loops.append(candidate)
                elif token.text != "do" and not is_team:
                    following = position + 1  # a loop inside may do
                position = following
                continue
            if token.text == "{":
                blocks.append(token.start)
            elif token.text == "}" and blocks:
                blocks.pop()
            position += 1
        return loops

    def _inside(self, loop: StatementRange) -> tuple[int, int]:
        """Where to look for the loops inside ``loop``."""
        found = list(tokens(self._lines.text, loop.start, loop.end))
        last = statement_end(found, 1) if found[0].text == "do" else len(found)
        return found[0].end, found[last - 1].end

    def _statements(self, first: Token, last: Token, block: int | None) -> StatementRange | None:
        """The lines from ``first`` to ``last`` if these, and nothing else, stand there in the user's text."""
        text = self._lines.text
        line_start = text.rfind("\n", 0, first.start) + 1
        line_end = text.find("\n", last.end)
        line_end = len(text) if line_end < 0 else line_end
        begin, end = (
            self._lines.physical_line(self._lines.presumed_at(each.start)) for each in (first, last)
        )
        if begin is None or end is None or end < begin:
            return None
        if text[line_start : first.start].strip() or text[last.end : line_end].strip():
            return None
        if self._is_interrupted(range(begin, end + 1)) or self._is_marked(range(begin, end + 1)):
            return None
        raw = self._file.text[self._user_text.line_span(begin).start : self._user_text.line_span(end).end]
        code = _COMMENT.sub(" ", raw)
        if not _is_balanced([token.text for token in tokens(code)]):
            return None
        if raw.count("/*") != raw.count("*/"):
            return None
        return self._with_directive(StatementRange(line_start, line_end, begin, end, block))

    def _with_directive(self, loop: StatementRange) -> StatementRange | None:
        """``loop`` with the directive before it, if that is of its work; None if it is elsewhere."""
        start = self._directive_before(loop.start, PARALLEL)
        if start is None and self._shared:
            start = self._directive_before(loop.start, OF_LANES)
        if start is None:
            return loop
        line = self._lines.physical_line(self._lines.presumed_at(start))
        return None if line is None else replace(loop, start=start, first_line=line)

    def _is_team(self, position: int) -> bool:
        return self._directive_before(self._lines.text.rfind("\n", 0, position) + 1, PARALLEL) is not None

    def _directive_before(self, start: int, kind: re.Pattern[str]) -> int | None:
        """Where a directive of some ``kind`` is for the statement in the line that starts at ``start``."""
        text = self._lines.text
        while start > 0:
            before = text.rfind("\n", 0, start - 1) + 1
            if kind.match(text, before):
                return before
            if text[before:start].strip() and not text[before:start].lstrip().startswith("#"):
                break
            start = before
        return None

    def _sifted(self, loops: Sequence[_Nested], refused: list[_Refused]) -> list[_PendingLoop]:
        """``loops`` to be tried, and those inside of others: what is certain to be ``refused`` is that now.

        All loops of a level are read at a time.
        """
        found: list[_PendingLoop] = []
        while loops:
            inner: list[_Nested] = []
            for each in self._candidates(loops):
                problem = self._refusal_of(each.region)
                if problem is None:
                    found.append(each)
                else:
                    refused.append((each, problem))
                    inner += self._inner(each)
            loops = inner
        return found

    def _inner(self, around: _PendingLoop) -> list[_Nested]:
        """The loops inside of one that is not taken, where threads do not run what is inside."""
        loop = around.loop
        if around.depth >= DETECTED_DEPTH - 1 or self._directive_of(loop.start):
            return []
        return [(replace(each, clauses=loop.clauses), around) for each in self._loops(*self._inside(loop))]

    def _candidates(self, loops: Sequence[_Nested]) -> Iterator[_PendingLoop]:
        """``loops`` with what they seem to do."""
        regions = self._regions([loop for loop, _ in loops])
        for (loop, around), region in zip(loops, regions, strict=True):
            depth, runs = (around.depth + 1, around.runs) if around else (0, 1)
            found = [each for each in tokens(self._lines.text, loop.start, loop.end) if each.text[0] != "#"]
            work, trips = work_and_trips(found)
            yield _PendingLoop(-runs * work, loop.start, loop, region, depth, runs * trips)

    def _regions(self, loops: Sequence[StatementRange]) -> list[Region | RejectedRegion]:
        """Each loop as a region of its own."""
        regions, _ = self.read(loops)
        by_span = {each.span: each for each in regions}
        return [by_span[self._span(loop)] for loop in loops]

    def _refusal_of(self, region: Region | RejectedRegion) -> Diagnostic | None:
        """What is certain to keep a loop from being taken by itself."""
        return self._refuse(region) if isinstance(region, Region) else region.diagnostic

    def _problem_of(self, region: Region | RejectedRegion) -> Diagnostic | None:
        """Why a loop that is not certain to be refused is not to be taken by itself."""
        return self._accept(region) if isinstance(region, Region) else region.diagnostic

    # Neighbours

    def _joined(self, taken: list[StatementRange]) -> list[StatementRange]:
        """``taken`` with neighbours put together where the whole is taken as well."""
        joined: list[StatementRange] = []
        for run in self._runs(taken):
            whole = reduce(lambda first, then: self._both(first, then) or first, run)
            if run[2:] and self._is_taken(whole):  # of two that is all there is to try
                joined.append(whole)
            else:
                joined += self._joined_one_by_one(run)
        return joined

    def _runs(self, taken: Sequence[StatementRange]) -> list[list[StatementRange]]:
        """``taken`` in runs of neighbours that could be together."""
        runs: list[list[StatementRange]] = []
        for each in taken:
            if runs and self._both(runs[-1][-1], each) is not None:
                runs[-1].append(each)
            else:
                runs.append([each])
        return runs

    def _joined_one_by_one(self, run: Sequence[StatementRange]) -> list[StatementRange]:
        """The neighbours of a ``run``, each put to what is before it if that is taken."""
        joined = [run[0]]
        for each in run[1:]:
            whole = self._both(joined[-1], each)
            if whole is not None and self._is_taken(whole):
                joined[-1] = whole
            else:
                joined.append(each)
        return joined

    def _is_taken(self, statements: StatementRange) -> bool:
        region = self._regions([statements])[0]
        return self._refusal_of(region) is None and self._problem_of(region) is None

    def _both(self, first: StatementRange, then: StatementRange) -> StatementRange | None:
        """The statements from ``first`` to ``then`` if they share a block and little is between them."""
        between = self._lines.text[first.end : then.start]
        lines = range(first.last_line, then.first_line + 1)
        if first.block != then.block or first.clauses != then.clauses or not _SIMPLE.fullmatch(between):
            return None
        if self._is_interrupted(lines):
            return None
        if any(token.text in _CONTROL or token.text in LOOPS for token in tokens(between)):
            return None
        return replace(first, end=then.end, last_line=then.last_line)

    def _is_interrupted(self, lines: range) -> bool:
        """Whether a directive stands in ``lines`` that is no hint, and no conditional as a whole."""
        depth = 0
        for directive in self._user_text.directives:
            if directive.line not in lines:
                continue
            if directive.name in CONDITIONAL or directive.name.startswith("el"):
                depth += CONDITIONAL.get(directive.name, 0)
                if depth < 0 or (depth == 0 and directive.name.startswith("el")):
                    return True
            elif directive.name == "include" and depth:
                continue  # the text that is chosen is read as that of a marked region is
            elif directive.name != "pragma" or not self._gives_way(directive.arguments):
                return True
        return depth != 0

    def _is_marked(self, lines: range) -> bool:
        """Whether a marker shares ``lines`` with code."""
        return any(each.first_line in lines or each.last_line in lines for each in self._user_text.markers)

    def _gives_way(self, pragma: str) -> bool:
        """Whether a pragma says nothing that another order of the loops would not keep."""
        return bool(_HINTS.match(pragma) or (self._shared and gives_way(pragma)))

    # Markers

    def _span(self, statements: StatementRange) -> Span:
        return Span(
            self._user_text.line_span(statements.first_line).start,
            self._user_text.line_span(statements.last_line).end,
        )

    def _markers(self, statements: StatementRange) -> list[Marker]:
        span = self._span(statements)
        first, last = statements.first_line, statements.last_line
        return [
            Marker("scop", Span(span.start, span.start), first, first, 1),
            Marker("endscop", Span(span.end, span.end), last, last, 1),
        ]

    def _marked(self, ranges: Sequence[StatementRange]) -> FileText:
        """The file with pragmas around ``ranges`` when preprocessed; all lines keep their numbers."""
        text = self._lines.text
        pieces: list[str] = []
        inserted: list[tuple[int, int]] = []
        position = 0
        for statements in sorted(ranges, key=lambda each: each.start):
            begin = self._lines.presumed_at(statements.start)
            end = self._lines.presumed_at(statements.end)
            before = f"#pragma scop {statements.clauses}\n{_line(begin)}"
            after = f"\n{_line(end)}#pragma endscop\n{_line(PresumedLocation(end.file, end.line + 1))}"
            pieces += [
                text[position : statements.start],
                before,
                text[statements.start : statements.end],
                after,
            ]
            position = statements.end + 1
            inserted += [(statements.start, len(before)), (position, len(after) - 1)]
        pieces.append(text[position:])
        new = "".join(pieces)
        return replace(self._file, preprocessed=new, chunks=self._chunks.with_inserted(new, inserted))


def _line(presumed: PresumedLocation) -> str:
    """The line marker for ``presumed``."""
    return f"# {presumed.line} {quoted_name(presumed.file)}\n"


def _is_balanced(texts: Sequence[str]) -> bool:
    return all(texts.count(opening) == texts.count(closing) for opening, closing in ("()", "[]", "{}"))
