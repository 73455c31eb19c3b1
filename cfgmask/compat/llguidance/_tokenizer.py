"""`LLTokenizer` over `Vocabulary`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from cfgmask._core import CompiledGrammar
from cfgmask.compat.llguidance._grammars import read_grammar, warnings_in
from cfgmask.compiler import Grammar, compile
from cfgmask.errors import CfgmaskError, VocabularyError
from cfgmask.integrations.words import words_of
from cfgmask.limits import Limits
from cfgmask.tokenizers.end_texts import known_ends
from cfgmask.tokenizers.parts import Encode, VocabularyParts
from cfgmask.tokenizers.self_check import check_round_trip
from cfgmask.vocabulary import Vocabulary

SPECIAL = b"\xff"
"""What the bytes of a special token begin with; no text does."""

_BYTE_TOKENS = ("<|tool|>", "<|/tool|>", "<|user|>", "<|system|>", "<|assistant|>", "<|end|>")
_MAX_ID = 2**32 - 1

_JSON_STRING = r"[^\"\\\x00-\x1F\x7F]"
_SLICES = [
    r"[\x20\x0A\x0D\x09]+",
    *(_JSON_STRING.replace(r"\"", '"') + count for count in ("{1,10}", "{1,30}", "+")),
]


_warnings: WeakKeyDictionary[CompiledGrammar, list[str]] = WeakKeyDictionary()


def warnings_of(compiled: CompiledGrammar) -> list[str]:
    """What is to be warned of in a grammar that an `LLTokenizer` has compiled."""
    return list(_warnings.get(compiled, ()))


class TokenizerWrapper:
    """A tokenizer of any kind for `LLTokenizer`: a callable from text to ids, with attributes.

    eos_token_id       the id that ends a text
    bos_token_id       the id that begins one, or None
    tokens             the bytes of each id
    special_token_ids  ids that write no text; may be missing
    """

    def __init__(self, gtokenizer: Any) -> None:
        self.eos_token_id = gtokenizer.eos_token_id
        self.bos_token_id = gtokenizer.bos_token_id
        self.tokens: Sequence[bytes] = gtokenizer.tokens
        self.special_token_ids: Sequence[int] = getattr(gtokenizer, "special_token_ids", [])
        self.is_tokenizer_wrapper = True
        self._tokenize = gtokenizer
        try:
            gtokenizer(b"test")
            self._takes_bytes = True
        except Exception:  # what a tokenizer raises for bytes is its own affair
            self._takes_bytes = False

    def __call__(self, s: str) -> list[int]:
        """The ids of a text."""
        return list(self._tokenize(s.encode() if self._takes_bytes else s))


class LLTokenizer:
    """A vocabulary, by the names that llguidance has.

    tokenizer  a `TokenizerWrapper`; or a text: "byte" for a vocabulary of bytes, a tokenizer of `tokenizers` in JSON,
               or the path of such a file or of its folder
    n_vocab    how many ids logits have, if more than the tokenizer: the others are never allowed
    eos_token  the id or ids that end a text; None: the tokenizer's own
    slices     regexes by which llguidance speeds masks up; checked, and not used: nothing is to be chosen here
    vocabulary what it is in this package

    Errors: ValueError for a tokenizer that cannot be read exactly.
    """

    def __init__(
        self,
        tokenizer: str | TokenizerWrapper | Any,
        n_vocab: int | None = None,
        eos_token: int | Sequence[int] | None = None,
        slices: Sequence[str] | None = None,
    ) -> None:
        if eos_token is not None:
            _ends(eos_token, [])
        if isinstance(tokenizer, str):
            parts, names = _from_text(tokenizer, eos_token)
        elif getattr(tokenizer, "is_tokenizer_wrapper", False):
            ends = _ends(eos_token, [tokenizer.eos_token_id])
            special = set(tokenizer.special_token_ids)
            tokens = [
                SPECIAL + token if i in special and not token.startswith(SPECIAL) else token
                for i, token in enumerate(map(bytes, tokenizer.tokens))
            ]
            parts, names = _marked(tokens, ends, tokenizer)
        else:
            raise ValueError("Expecting a TokenizerWrapper() class")
        self._set(parts, names, n_vocab, slices)

    def _set(
        self,
        parts: VocabularyParts,
        names: Mapping[int, bytes],
        n_vocab: int | None,
        slices: Sequence[str] | None,
    ) -> None:
        tokens = [*parts.tokens, *([b""] * ((n_vocab or 0) - len(parts.tokens)))]
        special = dict(parts.special_tokens)
        self.vocabulary = Vocabulary(
            VocabularyParts(tokens, parts.end_token_ids, special, parts.encode, parts.description)
        )
        self._names = dict(names)
        self._slices = _checked_slices(slices)
        self._compiled: WeakValueDictionary[tuple[str, Limits], CompiledGrammar] = WeakValueDictionary()

    @classmethod
    def from_vocabulary(cls, vocabulary: Vocabulary, n_vocab: int | None = None) -> LLTokenizer:
        """One over a vocabulary of this package."""
        made = cls.__new__(cls)
        names = {i: name.encode() for name, i in vocabulary.special_tokens.items() if not vocabulary.tokens[i]}
        parts = VocabularyParts(
            vocabulary.tokens, vocabulary.eos_token_ids, vocabulary.special_tokens, vocabulary.encode
        )
        made._set(parts, names, n_vocab, None)
        return made

    @classmethod
    def from_tiktoken(
        cls,
        *,
        encoder: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
        pattern: str,
        eos_token: int | Sequence[int],
        n_vocab: int | None = None,
        slices: Sequence[str] | None = None,
    ) -> LLTokenizer:
        """One over what a tiktoken encoding is made of. `tiktoken` must be installed."""
        import tiktoken

        from cfgmask.tokenizers.tiktoken import read_tiktoken

        encoding = tiktoken.Encoding(
            "cfgmask", pat_str=pattern, mergeable_ranks=dict(encoder), special_tokens=dict(special_tokens)
        )
        made = cls.__new__(cls)
        parts = read_tiktoken(encoding, tuple(_ends(eos_token, [])))
        made._set(parts, {i: name.encode() for name, i in special_tokens.items()}, n_vocab, slices)
        return made

    @classmethod
    def from_llamacpp(
        cls,
        *,
        tokens: Sequence[bytes],
        tokenize: Callable[[str], Sequence[int]] | None = None,
        eos_token: int | Sequence[int],
        slices: Sequence[str] | None = None,
    ) -> LLTokenizer:
        """One over the tokens of a llama.cpp vocabulary: the bytes of each id, with 0xff before those of special ones.

        tokenize  the tokenizer's own way from text to ids, if it can be had
        """
        made = cls.__new__(cls)
        parts, names = _marked(list(tokens), _ends(eos_token, []), tokenize)
        made._set(parts, names, None, slices)
        return made

    def with_slices(self, slices: Sequence[str]) -> LLTokenizer:
        """The same with other slices, which change nothing here but are checked."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._slices = _checked_slices(slices)
        return made

    @staticmethod
    def general_slices() -> list[str]:
        """The regexes that llguidance takes by default."""
        return list(_SLICES)

    @staticmethod
    def json_slices() -> list[str]:
        """The regexes that llguidance takes for JSON."""
        return list(_SLICES)

    @property
    def vocab_size(self) -> int:
        """The number of ids, those of `n_vocab` included."""
        return self.vocabulary.n_vocab

    @property
    def eos_token(self) -> int:
        """The first id that ends a text."""
        return self.vocabulary.eos_token_ids[0]

    @property
    def eos_tokens(self) -> list[int]:
        """The ids that end a text."""
        return list(self.vocabulary.eos_token_ids)

    @property
    def is_canonical(self) -> bool:
        """Whether the tokenizer's own tokens of a text are known."""
        return self.vocabulary.encode is not None

    def compile(self, grammar: str, limits: Limits) -> CompiledGrammar:
        """A grammar of `grammar_from` for this vocabulary; the same object while somebody has it.

        Errors: those of `read_grammar` and `cfgmask.compile`.
        """
        found = self._compiled.get((grammar, limits))
        if found is None:
            read = read_grammar(grammar, limits)
            found = compile(read, self.vocabulary, limits)
            self._compiled[grammar, limits] = found
            texts = warnings_in(read)
            if texts:
                _warnings[found] = texts
        return found

    @cached_property
    def end_mask(self) -> NDArray[np.int32]:
        """The mask of the end tokens; not to be changed."""
        return words_of(self.eos_tokens, -(-self.vocab_size // 32)).view(np.int32)

    def greedy_tokenize(self, text: str) -> list[int]:
        """The longest token again and again."""
        return self._greedy(text.encode())

    def tokenize_bytes(self, utf8bytes: bytes, *, parse_special: bool = False) -> list[int]:
        """The tokenizer's own tokens as far as the bytes are text, and the longest ones for the rest.

        parse_special  whether the names of special tokens are these tokens
        """
        if parse_special:
            found, end = [], 0
            for name in self._special_names.finditer(utf8bytes):
                found += [*self.tokenize_bytes(utf8bytes[end : name.start()]), self._special_ids[name[0]]]
                end = name.end()
            return [*found, *self.tokenize_bytes(utf8bytes[end:])]
        valid = _valid_end(utf8bytes)
        encode = self.vocabulary.encode
        if encode is None:
            return self._greedy(utf8bytes)
        own = list(encode(utf8bytes[:valid].decode())) if valid else []
        return [*own, *self._greedy(utf8bytes[valid:])]

    def tokenize_str(self, text: str, *, parse_special: bool = False) -> list[int]:
        """As `tokenize_bytes`, of a text."""
        return self.tokenize_bytes(text.encode(), parse_special=parse_special)

    def tokenize_partial(self, new_bytes: bytes, recent_tokens: Sequence[int] | None = None) -> tuple[list[int], bytes]:
        """The tokens that stay whatever text follows, and the bytes that are left."""
        tokens = self.tokenize_bytes(new_bytes)
        size = len(new_bytes)
        starts = range(max(0, size - self._longest), size)
        stays = next((start for start in starts if new_bytes[start:] in self._beginnings), size)
        kept, end = [], 0
        for token in tokens:
            size = len(self.vocabulary.tokens[token])
            if end + size > stays:
                break
            kept.append(token)
            end += size
        return kept, new_bytes[end:]

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of the tokens, special ones by their names."""
        return b"".join(map(self._shown, tokens))

    def decode_str(self, tokens: Sequence[int]) -> str:
        """The text of the tokens; what is no UTF-8 is U+FFFD."""
        return self.decode_bytes(tokens).decode(errors="replace")

    def dbg_tokens(self, tokens: Sequence[int]) -> str:
        """The tokens for people, with `‧` between them."""
        return f"⟦{self.test_trace_tokens(tokens)}⟧"

    def test_trace_tokens(self, tokens: Sequence[int]) -> str:
        """As `dbg_tokens`, without the brackets."""
        return "‧".join(map(self._named, tokens))

    def is_special_token(self, token: int) -> bool:
        """Whether a token writes no text and has a name."""
        return token in self._names

    def _named(self, token: int) -> str:
        if not 0 <= token < self.vocab_size:
            return f"≺OOB[{token}]≻"
        if token == self.eos_token:
            return "≺EOS≻"
        shown = self._shown(token)
        if not shown:
            return f"≺EMPTY[{token}]≻"
        try:
            return shown.decode().replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
        except UnicodeDecodeError:
            return f"≺HEX[{shown.hex()}]≻"

    def _shown(self, token: int) -> bytes:
        check_id(token)
        if token >= self.vocab_size:
            return f"<[{token}]>".encode()
        return self._names.get(token) or self.vocabulary.tokens[token]

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        # Of equal tokens the first.
        return {token: i for i, token in reversed(list(enumerate(self.vocabulary.tokens))) if token}

    @cached_property
    def _beginnings(self) -> set[bytes]:
        return {token[:n] for token in self._ids for n in range(1, len(token))}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._ids), default=0)

    def _greedy(self, data: bytes) -> list[int]:
        found = []
        position = 0
        while position < len(data):
            for size in range(min(self._longest, len(data) - position), 0, -1):
                token = self._ids.get(data[position : position + size])
                if token is not None:
                    found.append(token)
                    position += size
                    break
            else:
                raise ValueError(f"no token of the vocabulary holds the byte {data[position : position + 1]!r}")
        return found

    @cached_property
    def _special_ids(self) -> dict[bytes, int]:
        # Of equal names the first.
        return {name: i for i, name in sorted(self._names.items(), reverse=True) if name}

    @cached_property
    def _special_names(self) -> re.Pattern[bytes]:
        """The names of special tokens, of those that begin at one place the longest; nothing if there are none."""
        longest_first = sorted(self._special_ids, key=len, reverse=True)
        return re.compile(b"|".join(map(re.escape, longest_first)) or rb"(?!)")


def check_id(token: int) -> None:
    """Raises OverflowError for what is no id of any vocabulary."""
    if not 0 <= token <= _MAX_ID:
        raise OverflowError(f"{token} is not a token id")


def _from_text(text: str, eos_token: int | Sequence[int] | None) -> tuple[VocabularyParts, dict[int, bytes]]:
    if text == "byte":
        return _byte_tokenizer()
    from tokenizers import Tokenizer

    try:
        if text.lstrip().startswith("{"):
            tokenizer = Tokenizer.from_str(text)
        else:
            path = Path(text)
            tokenizer = Tokenizer.from_file(str(path / "tokenizer.json" if path.is_dir() else path))
    except Exception as error:  # `tokenizers` raises nothing more exact
        raise ValueError(f"error loading tokenizer: {text[:80]}: {error}") from None
    added = {token.content: i for i, token in tokenizer.get_added_tokens_decoder().items()}
    ends = _ends(eos_token, known_ends(added))
    from cfgmask.tokenizers.transformers import read_transformers

    parts = read_transformers(tokenizer, ends)
    return parts, {i: name.encode() for name, i in parts.special_tokens.items()}


def _byte_tokenizer() -> tuple[VocabularyParts, dict[int, bytes]]:
    tokens = [bytes([b]) for b in range(256)] + [SPECIAL + name.encode() for name in _BYTE_TOKENS]
    return _marked(tokens, [len(tokens) - 1], lambda text: list(text.encode()))


def _marked(
    tokens: list[bytes], ends: Sequence[int], tokenize: Callable[[str], Sequence[int]] | None
) -> tuple[VocabularyParts, dict[int, bytes]]:
    """The parts of a vocabulary whose special tokens are marked with 0xff, and the bytes that these are shown by."""
    names = {i: token[1:] or token for i, token in enumerate(tokens) if token.startswith(SPECIAL)}
    names |= {i: tokens[i] for i in ends if i not in names and 0 <= i < len(tokens)}
    # A token that is no more than this byte is one of a vocabulary of bytes.
    texts = [b"" if i in names and token != SPECIAL else token for i, token in enumerate(tokens)]
    special = {name.decode(errors="replace"): i for i, name in reversed(names.items()) if name != SPECIAL}
    encode: Encode | None = tokenize
    if encode is not None:
        try:
            check_round_trip(tuple(texts), encode, "the tokenizer", skip=names.__contains__)
        except VocabularyError:
            # It changes its text; without it masks are the same, and nothing is proposed.
            encode = None
    return VocabularyParts(texts, list(ends), special, encode, "llguidance's interface"), names


def _ends(given: int | Sequence[int] | None, own: Iterable[int | None]) -> list[int]:
    if given is None:
        ends = [i for i in own if i is not None]
    else:
        ends = list(given) if isinstance(given, Iterable) else [given]
        if not ends:
            raise ValueError("eos_token list must not be empty")
    if not ends:
        raise ValueError("the tokenizer names no end token: say which with eos_token=")
    return ends


def _checked_slices(slices: Sequence[str] | None) -> list[str]:
    for slice in slices or ():
        try:
            Grammar.from_regex(slice, dialect="rust")
        except CfgmaskError as error:
            raise RuntimeError(str(error)) from error
    return list(_SLICES if slices is None else slices)


def _valid_end(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return len(data)
