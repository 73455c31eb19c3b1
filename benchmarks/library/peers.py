"""The engines that can be measured, one small adapter each. A new peer is a class here and a line in `ENGINES`.

An adapter is imported only when it is chosen, and does nothing between the clock readings but call its engine.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

import cfgmask
from library.cases import Case
from library.vocabularies import BenchVocabulary

Mask = NDArray[np.int32]


class Refused(Exception):
    """The engine does not take this grammar."""


class Session(Protocol):
    """One sequence under one grammar. `mask` is a row of words, least significant bit first."""

    mask: Mask

    def fill(self) -> None:
        """Write the mask of the next token into `mask`."""

    def advance(self, token: int) -> None:
        """Consume a token that the mask allows."""

    def restart(self) -> None:
        """Go back to the start; what was learnt may be kept."""


class Engine(Protocol):
    name: str

    def __init__(self, vocabulary: BenchVocabulary) -> None: ...

    def start(self, case: Case) -> Session:
        """Everything that an engine does from the grammar's text to the first mask, but for the mask itself.

        Raises `Refused`.
        """


class CfgmaskEngine:
    name = "cfgmask"
    schema_options: ClassVar[dict[str, Any]] = {}

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        self._vocabulary = vocabulary.vocabulary

    def start(self, case: Case) -> Session:
        try:
            compiled = cfgmask.compile(_read(case, self.schema_options), self._vocabulary)
        except (cfgmask.GrammarError, cfgmask.LimitExceeded) as error:
            raise Refused(str(error)) from error
        return CfgmaskSession(compiled)


def _read(case: Case, schema_options: dict[str, Any]) -> cfgmask.Grammar:
    if case.kind == "lark":
        return cfgmask.Grammar.from_lark(case.source, folder=case.folder)
    return cfgmask.Grammar.from_json_schema(case.source, **schema_options)


class CfgmaskSession:
    def __init__(self, compiled: cfgmask.CompiledGrammar) -> None:
        matcher = compiled.matcher()
        self.compiled = compiled
        self.mask = row(compiled.vocabulary.n_vocab)
        self.fill = partial(matcher.fill_mask, self.mask)
        self.advance = matcher.advance
        self.restart = matcher.reset


class LlguidanceEngine:
    name = "llguidance"

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        import llguidance

        self._tokenizer = _lltokenizer(vocabulary)
        self._matcher_type = llguidance.LLMatcher

    def start(self, case: Case) -> Session:
        matcher_type = self._matcher_type
        try:
            if case.kind == "lark":
                grammar = matcher_type.grammar_from_lark(case.source)
            else:
                grammar = matcher_type.grammar_from_json_schema(case.source)
        except ValueError as error:
            raise Refused(str(error)) from error
        matcher = matcher_type(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return _LlguidanceSession(matcher, self._tokenizer.vocab_size)


class _LlguidanceSession:
    def __init__(self, matcher: object, n_vocab: int) -> None:
        self.mask = row(n_vocab)
        # Its fastest way to a mask.
        self.fill = partial(matcher.unsafe_compute_mask_ptr, self.mask.ctypes.data, self.mask.nbytes)  # type: ignore[attr-defined]
        self.advance = matcher.consume_token  # type: ignore[attr-defined]
        self.restart = matcher.reset  # type: ignore[attr-defined]


class XgrammarEngine:
    name = "xgrammar"

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        import xgrammar

        ours = vocabulary.vocabulary
        tokenizer = xgrammar.TokenizerInfo(
            list(ours.tokens),
            vocab_type=xgrammar.VocabType.RAW,
            vocab_size=ours.n_vocab,
            stop_token_ids=list(ours.eos_token_ids),
        )
        self._n_vocab = ours.n_vocab
        self._compiler = xgrammar.GrammarCompiler(tokenizer)
        self._matcher_type = xgrammar.GrammarMatcher

    def start(self, case: Case) -> Session:
        if case.kind != "json_schema":
            raise Refused("xgrammar does not read Lark")
        try:
            # Its strict mode, which is its default, forbids all keys and items that a schema does not name.
            compiled = self._compiler.compile_json_schema(case.source, strict_mode=False)
        except (RuntimeError, ValueError) as error:
            raise Refused(str(error)) from error
        return _XgrammarSession(self._matcher_type(compiled), self._n_vocab)


class _XgrammarSession:
    def __init__(self, matcher: object, n_vocab: int) -> None:
        self.mask = row(n_vocab)
        self.fill = partial(matcher.fill_next_token_bitmask, self.mask.reshape(1, -1))  # type: ignore[attr-defined]
        self.advance = matcher.accept_token  # type: ignore[attr-defined]
        self.restart = matcher.reset  # type: ignore[attr-defined]


class OutlinesCoreEngine:
    name = "outlines_core"

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        import outlines_core

        ours = vocabulary.vocabulary
        ids: dict[bytes, list[int]] = {}
        for token, text in enumerate(ours.tokens):
            if text and token not in ours.eos_token_ids:
                ids.setdefault(text, []).append(token)
        self._n_vocab = ours.n_vocab
        self._vocabulary = outlines_core.Vocabulary(ours.eos_token_ids[0], ids)
        self._library = outlines_core

    def start(self, case: Case) -> Session:
        if case.kind != "json_schema":
            raise Refused("outlines_core does not read Lark")
        try:
            regex = self._library.json_schema.build_regex_from_schema(case.source)
            index = self._library.Index(regex, self._vocabulary)
        except (TypeError, ValueError) as error:
            raise Refused(str(error)) from error
        return _OutlinesCoreSession(self._library.Guide(index), self._n_vocab)


class _OutlinesCoreSession:
    def __init__(self, guide: object, n_vocab: int) -> None:
        self.mask = row(n_vocab)
        place = self.mask.ctypes.data, len(self.mask), self.mask.itemsize
        self.fill = partial(guide.write_mask_into, *place)  # type: ignore[attr-defined]
        self._advance = guide.advance  # type: ignore[attr-defined]
        self.restart = guide.reset  # type: ignore[attr-defined]

    def advance(self, token: int) -> None:
        self._advance(token, return_tokens=False)


def _lltokenizer(vocabulary: BenchVocabulary) -> object:
    """llguidance's tokenizer over the same bytes; its native one where it has one, since it encodes in masks."""
    import llguidance

    if vocabulary.tiktoken is not None:
        from llguidance.tiktoken import lltokenizer_from_encoding

        return lltokenizer_from_encoding(vocabulary.tiktoken)

    class Tokens:
        eos_token_id = vocabulary.vocabulary.eos_token_ids[0]
        bos_token_id = None
        tokens = vocabulary.vocabulary.tokens
        special_token_ids = tuple(vocabulary.vocabulary.special_tokens.values())

        def __call__(self, text: str) -> list[int]:
            return vocabulary.encode(text)

    return llguidance.LLTokenizer(
        llguidance.TokenizerWrapper(Tokens()), eos_token=list(vocabulary.vocabulary.eos_token_ids)
    )


def row(n_vocab: int) -> Mask:
    """A mask that allows nothing."""
    return np.zeros((n_vocab + 31) // 32, dtype=np.int32)


_ENGINES: tuple[type[Engine], ...] = (CfgmaskEngine, LlguidanceEngine, XgrammarEngine, OutlinesCoreEngine)
# The name of an engine is that of its module.
ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in _ENGINES}


def installed() -> list[str]:
    """The names of the engines that can be imported here."""
    return [name for name in ENGINES if importlib.util.find_spec(name) is not None]


def make(names: Sequence[str], vocabulary: BenchVocabulary) -> list[Engine]:
    """The engines of these names, or all that are installed."""
    return [ENGINES[name](vocabulary) for name in names or installed()]
