"""Cut preprocessed text into top-level chunks and find which of them a function needs.

Nothing is parsed here: a chunk that no region needs costs one pass of a regular
expression, whatever it contains.
"""

from __future__ import annotations

import bisect
import copy
import functools
import itertools
import operator
import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from polybuild.c.tokens import CHARACTER, KEYWORDS, STRING, WORD, identifiers, matching_bracket, token_texts
from polybuild.effort import LONG_DECLARATION, PARSED_CHUNKS
from polybuild.patterns import pattern
from polybuild.values import dataclass

_TOP = pattern(rf"{STRING}|{CHARACTER}|\#[^\n]*|[{{}};]", re.DOTALL)
_BODY = pattern(rf"{STRING}|{CHARACTER}|\#[^\n]*|[{{}}]", re.DOTALL)
_FLAT_BODY = pattern(r"\{[^{}\"'#]*\}")
_BLANK = pattern(r"(?:[ \t\f\v\r\n]|\#[^\n]*(?:\n|\Z))*")
_WORD = pattern(WORD)
_CALL_LIKE = pattern(r"([A-Za-z_$][\w$]*)\s*\(")
_DIRECTIVE = pattern(r"^[ \t]*#.*$", re.MULTILINE)
_DOUBTFUL_HEAD = pattern(r"=|\b(?:struct|union|enum)\s*(?:__attribute|__declspec|_Alignas|\[\[)")
_OLD_STYLE_HEAD = pattern(r"\)\s*[A-Za-z_]")
_TYPEDEF = pattern(r"(?:__extension__\s+)?typedef")
_TABLE = pattern(r"=\s*\{")
_ATTRIBUTE = pattern(r"\b(?:__attribute__|__attribute|__declspec|_Alignas|__asm__|asm)\s*(?=\()|(?=\[\s*\[)")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A declaration or a function definition: ``text[start:end]``.

    ``body`` is the offset of a function definition's opening brace, None for
    every other chunk.
    """

    start: int
    end: int
    body: int | None

    def is_old_style(self, text: str) -> bool:
        """Whether this defines a function whose parameters are declared after the parentheses."""
        return self.body is not None and text[self.start : self.body].rstrip()[-1:] in {";", ""}


def cut(text: str) -> list[Chunk]:
    """The top-level chunks of preprocessed ``text``, in order, in linear time."""
    chunks: list[Chunk] = []
    start, position = _blank_end(text, 0), 0
    while match := _TOP.search(text, position):
        position = match.end()
        mark = text[match.start()]
        if mark == "{":
            opening = match.start()
            position = _body_end(text, opening)
            if not _opens_function(text[start:opening]):
                continue
            if start == opening:  # after the parameter declarations of an old-style definition
                start = _old_style_start(text, chunks, start)
            chunks.append(Chunk(start, position, opening))
        elif mark == ";":
            chunks.append(Chunk(start, position, None))
        elif mark != "}":  # a stray closing brace ends what came before it
            continue
        start = _blank_end(text, position)
        position = max(position, start)
    if start < len(text):
        chunks.append(Chunk(start, len(text), None))
    return chunks


def _blank_end(text: str, position: int) -> int:
    """The offset of the first code after ``position``."""
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _body_end(text: str, opening: int) -> int:
    """The offset after the brace that closes the one at ``opening``, or the end of the text."""
    if match := _FLAT_BODY.match(text, opening):
        return match.end()
    depth = 0
    for match in _BODY.finditer(text, opening):
        mark = text[match.start()]
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def _opens_function(head: str) -> bool:
    """Whether a brace after ``head`` opens a function body, not a record, enumeration or initialiser."""
    head = head.rstrip()
    if "#" in head:
        head = _DIRECTIVE.sub("", head).rstrip()
    if not head:
        return True
    if not head.endswith((")", "]")):
        return False
    if _DOUBTFUL_HEAD.search(head):
        head = without_attributes(head).rstrip()
        return head.endswith((")", "]")) and "=" not in _without_groups(head)
    return True


def without_attributes(text: str) -> str:
    """``text`` with attribute groups removed."""
    parts: list[str] = []
    position = 0
    while match := _ATTRIBUTE.search(text, position):
        end = matching_bracket(text, match.end())
        if end is None:
            break
        parts.append(text[position : match.start()])
        position = end
    return "".join(parts) + text[position:]


def without_tables(text: str) -> str:
    """A long declaration without its initialisers in braces, lines kept; they say nothing of names."""
    if len(text) < LONG_DECLARATION:
        return text
    parts: list[str] = []
    position = 0
    while match := _TABLE.search(text, position):
        end = _body_end(text, match.end() - 1)
        parts += [text[position : match.start()], "\n" * text.count("\n", match.start(), end)]
        position = end
    return "".join(parts) + text[position:]


def _old_style_start(text: str, chunks: list[Chunk], start: int) -> int:
    """Where the definition starts whose parameter declarations are the last chunks; takes them away."""
    for number in range(len(chunks) - 1, -1, -1):
        chunk = chunks[number]
        if chunk.body is not None:
            break
        if _OLD_STYLE_HEAD.search(without_attributes(text[chunk.start : chunk.end])):
            del chunks[number:]
            return chunk.start
    return start


def _without_groups(text: str) -> str:
    """``text`` without what stands in parentheses and brackets."""
    kept: list[str] = []
    depth = 0
    for mark in token_texts(text):
        if mark in "([":
            depth += 1
        elif mark in ")]":
            depth -= 1
        elif depth == 0:
            kept.append(mark)
    return " ".join(kept)


class ChunkIndex:
    """The chunks of a preprocessed text and, for each name, the chunks that declare it.

    Headers declare hundreds of names of which a region needs a few: only chunks that have the word of one in
    them are looked at closely, once. What is ``known`` of chunks by their numbers is there for whoever reads.
    """

    def __init__(self, text: str) -> None:
        """Cut ``text`` and index its words."""
        self.text = text
        self.chunks = cut(text)
        self._declared: dict[int, AbstractSet[str]] = {}
        self._declaring: dict[str, tuple[int, ...]] = {}
        self._mentions: dict[int, AbstractSet[str]] = {}
        self._typedefs: dict[int, AbstractSet[str]] = {}
        self._with_word: dict[str, list[int]] = {}
        self.known: dict[tuple[str, int], Any] = {}
        for number, chunk in enumerate(self.chunks):
            end = chunk.end if chunk.body is None else chunk.body
            for word in _words_of(text[chunk.start : end]):
                self._with_word.setdefault(word, []).append(number)

    def with_inserted(self, text: str, inserted: Sequence[tuple[int, int]]) -> ChunkIndex:
        """The index of ``text``: this one's with lines ``inserted`` in bodies of functions.

        Each is an offset into the text of this one and how many characters more there are from there on.
        """
        places = [offset for offset, _ in inserted]
        moves = list(itertools.accumulate((length for _, length in inserted), initial=0))

        def moved(offset: int) -> int:
            return offset + moves[bisect.bisect_right(places, offset)]

        new = copy.copy(self)
        new.text = text
        new.chunks = [
            Chunk(moved(each.start), moved(each.end), None if each.body is None else moved(each.body))
            for each in self.chunks
        ]
        return new

    def _names(self, number: int) -> AbstractSet[str]:
        """What a chunk declares."""
        if number not in self._declared:
            chunk = self.chunks[number]
            if chunk.body is None:
                names: AbstractSet[str] = declared_names(self.head(number))
            else:
                names = set(_CALL_LIKE.findall(self.text, chunk.start, chunk.body)) - KEYWORDS
            self._declared[number] = names
        return self._declared[number]

    def typedefs(self, number: int) -> AbstractSet[str]:
        """The names of types that a chunk declares with ``typedef``."""
        if number not in self._typedefs:
            head = self.head(number)
            self._typedefs[number] = declared_names(head) if _TYPEDEF.match(head) else set()
        return self._typedefs[number]

    def _mentioned(self, number: int) -> AbstractSet[str]:
        """The names that what a chunk declares asks for."""
        if number not in self._mentions:
            self._mentions[number] = _mentioned_in(self.head(number))
        return self._mentions[number]

    def at(self, offset: int) -> int | None:
        """The number of the chunk that contains ``offset``, None between chunks."""
        number = bisect.bisect_right(self.chunks, offset, key=operator.attrgetter("start")) - 1
        return number if number >= 0 and offset < self.chunks[number].end else None

    def head(self, number: int) -> str:
        """What a chunk declares: its text without long initialisers or the body of a function."""
        chunk = self.chunks[number]
        return without_tables(self.text[chunk.start : chunk.end if chunk.body is None else chunk.body])

    def declaring(self, name: str) -> tuple[int, ...]:
        """The chunks that declare ``name``, in order."""
        if name not in self._declaring:
            with_word = () if name in KEYWORDS else self._with_word.get(name, ())
            self._declaring[name] = tuple(each for each in with_word if name in self._names(each))
        return self._declaring[name]

    def definition(self, name: str) -> int | None:
        """The chunk that defines the function ``name``, None if none does, or several might."""
        found = [each for each in self.declaring(name) if self.chunks[each].body is not None]
        return found[0] if len(found) == 1 else None

    def needed_by(self, function: int, mentioned: Collection[str] = ()) -> list[int]:
        """The chunks before ``function`` that declare what it mentions, transitively, in order.

        ``mentioned`` are more names whose declarations are wanted.
        An over-approximation: a name stands for every chunk that declares it,
        be it an object, a type, a tag or an enumerator.
        """
        chunk = self.chunks[function]
        pending = identifiers(self.text[chunk.start : chunk.end]).union(mentioned)
        seen: set[str] = set()
        needed: set[int] = set()
        while pending:
            name = pending.pop()
            seen.add(name)
            for number in self.declaring(name):
                if number < function and number not in needed:
                    needed.add(number)
                    pending |= self._mentioned(number) - seen
        return sorted(needed)


@functools.lru_cache(maxsize=PARSED_CHUNKS)  # a file is cut anew for each candidate in it
def _mentioned_in(head: str) -> frozenset[str]:
    return frozenset(identifiers(without_attributes(head)))


@functools.lru_cache(maxsize=PARSED_CHUNKS)
def _words_of(head: str) -> frozenset[str]:
    return frozenset(_WORD.findall(head))


_AFTER_NAME = frozenset([*";,[(=:", "__attribute__", "__attribute", "__asm__", "__asm", "asm"])
_BEFORE_NAME = frozenset({"*", "(", "const", "volatile", "restrict", "__restrict", "__restrict__"})


@functools.lru_cache(maxsize=PARSED_CHUNKS)
def declared_names(text: str) -> frozenset[str]:
    """The names a declaration declares: objects, functions, types, tags and enumerators.

    A few more are harmless (parameters of function pointers).
    """
    words = [word for word in token_texts(without_attributes(text)) if word[0] not in "#\"'"]
    names: set[str] = set()
    braces: list[str] = []  # what each open brace belongs to
    owner, depth = "", 0
    for previous, word, following in zip(["", *words], words, [*words[1:], ""], strict=False):
        if word == "{":
            braces.append(owner)
        elif word == "}":
            owner = ""
            if braces:
                braces.pop()
        elif word in {"struct", "union", "enum"}:
            owner = word
        elif word == "=":
            owner = ""
        elif word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
        elif (word[0].isalpha() or word[0] in "_$") and word not in KEYWORDS:
            if braces:
                enumerator = braces[-1] == "enum" and previous in {"{", ","}
                declared = enumerator or following == "{"
            elif depth == 0:
                declared = following == "{" or following in _AFTER_NAME
            else:
                declared = previous in _BEFORE_NAME and following in {")", "[", "("}
            if declared:
                names.add(word)
    return frozenset(names)
