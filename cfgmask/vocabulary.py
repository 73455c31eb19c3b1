"""The public `Vocabulary`: what each token id writes, which ids end a text, and how text becomes ids."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from cfgmask import _core
from cfgmask.errors import VocabularyError
from cfgmask.grammar.white_space import BOUNDED
from cfgmask.limits import Limits
from cfgmask.tokenizers.parts import Encode, VocabularyParts
from cfgmask.tokenizers.self_check import check_round_trip

if TYPE_CHECKING:
    import llama_cpp
    import sentencepiece
    import tiktoken


# What most grammars have.
_COMMON = (BOUNDED,)


def _id(given: Any, what: str) -> int:
    """An id of any integer type. Raises TypeError that names what it is of."""
    if isinstance(given, bool) or not hasattr(type(given), "__index__"):
        raise TypeError(f"{what} must be an int, not {type(given).__name__}")
    return operator.index(given)


def _ids(given: Any) -> tuple[int, ...]:
    """End tokens: one id or several, of any integer type."""
    # An array of numpy is both; what it has of dimensions tells which one is meant.
    several = isinstance(given, Iterable) and not isinstance(given, (str, bytes)) and getattr(given, "ndim", 1) > 0
    return tuple(_id(token_id, "eos_token_id") for token_id in (given if several else (given,)))


def _special_ids(given: Any) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise TypeError(f"special_tokens must be a mapping from text to id, not {type(given).__name__}")
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"special_tokens has the key {name!r}, which is no text")
    return {name: _id(token_id, f"the id of special token {name!r}") for name, token_id in given.items()}


def _check_types(tokens: Any, encode: Any) -> None:
    if not isinstance(tokens, Iterable) or isinstance(tokens, (str, bytes, bytearray)):
        raise TypeError(f"tokens must be a list of bytes, not {type(tokens).__name__}")
    if encode is not None and not callable(encode):
        raise TypeError(f"encode must be a function, not {type(encode).__name__}")


# That of pickles.
_FORMAT = 1
_read: WeakValueDictionary[bytes, Vocabulary] = WeakValueDictionary()
_read_lock = threading.Lock()


def _unpickled(
    version: int,
    fingerprint: bytes,
    tokens: tuple[bytes, ...],
    end_token_ids: tuple[int, ...],
    special_tokens: dict[str, int],
    description: str,
) -> Vocabulary:
    """What a pickle holds."""
    if version != _FORMAT:
        raise ValueError(
            f"the pickle of a vocabulary has the format {version}, and this version of cfgmask reads {_FORMAT}"
        )
    with _read_lock:
        found = _read.get(fingerprint)
        if found is None:
            found = Vocabulary(VocabularyParts(tokens, end_token_ids, special_tokens, description=description))
            _read[found.fingerprint] = found
        return found


class Vocabulary:
    """A tokenizer's vocabulary, byte for byte. Made by one of the `from_…` methods.

    tokens          tuple with the bytes of each id in the middle of a text; b"" for an id without text. Control
                    tokens, padding, and end tokens that a library names have no text.
    n_vocab         number of ids. Logits may be wider: ids from `n_vocab` on are never allowed.
    eos_token_ids   ids that end a text, the tokenizer's own end token first
    special_tokens  id of each control or added token by its exact text; grammars name them: `<|tool|>`
    encode          function from text to the ids whose bytes, joined, are that text; None if there is none
    core            the compiled form; asking for it the first time costs about 70 ms for 128,256 tokens
    fingerprint     a hash of all but `encode`, the same in every process

    Threads: it is immutable, so any number of threads may use it.
    Errors: the `from_…` methods raise VocabularyError if the vocabulary can't be read exactly, ImportError with the
    extra to install if a library is missing, and OSError if a file can't be read.

    A pickle contains everything except `encode`, like a file of `save`. Unpickling equal vocabularies gives one object.
    """

    def __init__(self, parts: VocabularyParts) -> None:
        if not isinstance(parts, VocabularyParts):
            raise TypeError(
                f"Vocabulary() is not called with a {type(parts).__name__}: use Vocabulary.from_llama(llm), "
                "from_transformers(tokenizer), from_gguf(path), from_bytes(tokens, eos_token_id=…) or another"
            )
        self.tokens: tuple[bytes, ...] = tuple(parts.tokens)
        self.n_vocab: int = len(self.tokens)
        self.eos_token_ids: tuple[int, ...] = tuple(dict.fromkeys(parts.end_token_ids))
        self.special_tokens: dict[str, int] = dict(parts.special_tokens)
        self.encode: Encode | None = parts.encode
        self._description = parts.description
        self._fingerprint: bytes | None = None
        self._core: _core.TokenTable | None = None
        self._core_lock = threading.Lock()
        self._check()

    @property
    def fingerprint(self) -> bytes:
        """A hash of all but `encode`: the same for equal vocabularies in every process.

        Cost: 5 ms for 128,256 tokens, once.
        """
        if self._fingerprint is None:
            from hashlib import blake2b

            digest = blake2b(digest_size=16)
            special = sorted(self.special_tokens.items())
            digest.update(repr((self.n_vocab, self.eos_token_ids, special, tuple(map(len, self.tokens)))).encode())
            digest.update(b"".join(self.tokens))
            self._fingerprint = digest.digest()
        return self._fingerprint

    def __reduce__(self) -> tuple[Callable[..., Vocabulary], tuple[Any, ...]]:
        parts = (self.eos_token_ids, self.special_tokens, self._description)
        return _unpickled, (_FORMAT, self.fingerprint, self.tokens, *parts)

    def _bare(self) -> Vocabulary:
        """The same without what others have made attributes of it: whoever keeps it keeps none of that alive."""
        made = object.__new__(Vocabulary)
        fields = "tokens n_vocab eos_token_ids special_tokens encode _description _fingerprint _core _core_lock"
        vars(made).update({name: vars(self)[name] for name in fields.split()})
        return made

    def __copy__(self) -> Vocabulary:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Vocabulary:
        return self

    def __repr__(self) -> str:
        ends = ", ".join(map(str, self.eos_token_ids[:4])) + (", …" if len(self.eos_token_ids) > 4 else "")
        return f"<Vocabulary of {self._description}: {self.n_vocab} tokens, ends with {ends}>"

    @property
    def core(self) -> _core.TokenTable:
        """The compiled form, built when first asked for."""
        if self._core is None:
            with self._core_lock:
                if self._core is None:
                    common = [_core.portable_regex(regex, Limits().max_nesting) for regex in _COMMON]
                    self._core = _core.TokenTable(self.tokens, self.eos_token_ids, common)
        return self._core

    @classmethod
    def from_bytes(
        cls,
        tokens: Sequence[bytes],
        eos_token_id: int | Sequence[int],
        special_tokens: Mapping[str, int] | None = None,
        encode: Encode | None = None,
    ) -> Vocabulary:
        """A vocabulary from its bytes.

        tokens          bytes of each id; b"" for an id without text
        eos_token_id    the id or ids that end a text; their bytes are ignored
        special_tokens  id of each special token by its text
        encode          text -> ids; checked on sample texts. Compiled grammars keep it for `forced_tokens`, so one that
                        leads to a grammar compiled with it keeps both for ever

        Errors: TypeError for arguments of another type.
        Example: Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], eos_token_id=256)
        """
        _check_types(tokens, encode)
        special = _special_ids({} if special_tokens is None else special_tokens)
        vocabulary = cls(VocabularyParts(tokens, _ids(eos_token_id), special, encode))
        if encode is not None:
            check_round_trip(vocabulary.tokens, encode, "the vocabulary", skip=lambda _: False)
        return vocabulary

    @classmethod
    def from_llama(cls, llm: llama_cpp.Llama) -> Vocabulary:
        """The vocabulary of a model that llama-cpp-python has loaded, as llama.cpp itself uses it.

        The end tokens are all that `llama_vocab_is_eog` calls an end. `encode` works while the model is loaded; the
        vocabulary does not keep it loaded. Cost: 0.3 s for 128,256 tokens.
        """
        from cfgmask.tokenizers.llama import fingerprints, read_llama

        parts = read_llama(llm)
        fingerprints[llm] = _core.TokenTable.fingerprint_of(parts.tokens, parts.end_token_ids)
        return cls(parts)

    @classmethod
    def from_gguf(cls, path: str | PathLike[str]) -> Vocabulary:
        """The vocabulary of a GGUF file, the same as `from_llama` for a model loaded from it, but without `encode`.

        Reads the tokenizers `gpt2`, `llama`, `t5` and `gemma4` of GGUF; loads no model and needs no library.
        Errors: OSError if the file can't be read. Cost: 0.3 s for 128,256 tokens.
        """
        from cfgmask.tokenizers.gguf import read_gguf

        return cls(read_gguf(path))

    @classmethod
    def from_tiktoken(
        cls, encoding: tiktoken.Encoding, *, eos_token_id: int | Sequence[int] | None = None
    ) -> Vocabulary:
        """The vocabulary of a tiktoken encoding.

        eos_token_id  the id or ids that end a text; None: the special tokens with well-known names of end tokens
        Cost: 0.1 s for 128,256 tokens.
        """
        from cfgmask.tokenizers.tiktoken import read_tiktoken

        return cls(read_tiktoken(encoding, None if eos_token_id is None else _ids(eos_token_id)))

    @classmethod
    def from_transformers(cls, tokenizer: Any, *, eos_token_id: int | Sequence[int] | None = None) -> Vocabulary:
        """The vocabulary of a tokenizer of transformers, or of a `tokenizers.Tokenizer`.

        eos_token_id  the id or ids that end a text; None takes the tokenizer's own. A model may stop at more than that
                      one: give `model.generation_config.eos_token_id` to allow all of them.
        Of slow tokenizers those over sentencepiece and byte-level BPE can be read.
        Cost: 1.3 s for 128,256 tokens, most of it copying the tokenizer.
        """
        from cfgmask.tokenizers.transformers import read_transformers

        return cls(read_transformers(tokenizer, None if eos_token_id is None else _ids(eos_token_id)))

    @classmethod
    def from_sentencepiece(
        cls,
        model: sentencepiece.SentencePieceProcessor | str | PathLike[str],
        *,
        eos_token_id: int | Sequence[int] | None = None,
    ) -> Vocabulary:
        """The vocabulary of a sentencepiece processor, or of the model in a file.

        eos_token_id  the id or ids that end a text; None: the model's own, and pieces with well-known names
        A file needs the library; models that normalise their text are rejected. Cost: 0.1 s for 32,768 pieces.
        """
        from cfgmask.tokenizers.sentencepiece import read_sentencepiece

        return cls(read_sentencepiece(model, None if eos_token_id is None else _ids(eos_token_id)))

    @classmethod
    def from_tekken(cls, path: str | PathLike[str], *, eos_token_id: int | Sequence[int] | None = None) -> Vocabulary:
        """The vocabulary of a tekken file (`tekken.json`), which newer Mistral models have. Needs no library.

        eos_token_id  the id or ids that end a text; None: the special tokens with well-known names of end tokens
        Errors: OSError if the file can't be read. Cost: 0.5 s for 131,072 tokens.
        """
        from cfgmask.tokenizers.tekken import read_tekken

        return cls(read_tekken(path, None if eos_token_id is None else _ids(eos_token_id)))

    @classmethod
    def load(cls, path: str | PathLike[str], *, encode: Encode | None = None) -> Vocabulary:
        """The vocabulary that `save` wrote. Needs no library.

        encode  text -> ids, which a file cannot hold; checked on sample texts
        Errors: OSError if the file can't be read. Cost: 50 ms for 128,256 tokens.
        """
        from cfgmask.tokenizers.saved import read_saved

        parts = read_saved(Path(path), encode)
        if encode is not None:
            check_round_trip(parts.tokens, encode, parts.description, skip=lambda _: False)
        return cls(parts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write all but `encode` into a file, for `load` in another process. Raises OSError.

        A file that is there is replaced at once, when all is written; so is a symlink, and not what it points to.
        Use it if the tokenizer is slow to load: `from_transformers` takes twenty times as long as `load`.
        """
        from cfgmask.tokenizers.saved import write_saved

        parts = VocabularyParts(self.tokens, self.eos_token_ids, self.special_tokens, description=self._description)
        write_saved(parts, Path(path))

    def _check(self) -> None:
        if not self.tokens:
            raise VocabularyError("the vocabulary is empty")
        for token_id, token in enumerate(self.tokens):
            if not isinstance(token, bytes):
                raise VocabularyError(f"token {token_id} is of type {type(token).__name__}, not bytes")
        if not self.eos_token_ids:
            raise VocabularyError("there is no end token, so no text could ever be finished")
        for what, ids in (("end token", self.eos_token_ids), ("special token", self.special_tokens.values())):
            for token_id in ids:
                if not 0 <= token_id < self.n_vocab:
                    raise VocabularyError(f"{what} {token_id} is not an id: there are {self.n_vocab} tokens")
