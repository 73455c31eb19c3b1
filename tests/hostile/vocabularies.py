"""Vocabulary files that are cut off, damaged or made to harm, and tokenizers that are not what they say."""

from __future__ import annotations

import functools
import io
import json
import os
import random
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import cfgmask
from cfgmask import Vocabulary
from tests.hostile.runner import Case, Times
from tests.tokenizers.gguf_writer import write_gguf
from tests.tokenizers.small import byte_level_fields, sentencepiece_fields
from tests.tokenizers.test_tekken import tekken

ANY = frozenset({"accepted", "VocabularyError"})
REFUSED = frozenset({"VocabularyError"})
Load = Callable[[Path], Vocabulary]


def case(name: str, load: Load, data: bytes | Callable[[], bytes], expected: frozenset[str] = ANY) -> Case:
    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "v"
            path.write_bytes(data() if callable(data) else data)
            vocabulary = load(path)
            vocabulary.core  # noqa: B018 - compiles it
            try:
                cfgmask.compile(cfgmask.Grammar.from_regex("a|b"), vocabulary)
            except cfgmask.GrammarError as error:
                # It was read, and has neither of the bytes.
                if [found.code for found in error.diagnostics] != ["grammar-bytes-missing"]:
                    raise

    return Case(f"vocabulary/{name}", run, expected)


@functools.cache
def gguf(kind: str) -> bytes:
    fields = byte_level_fields() if kind == "byte level" else sentencepiece_fields()
    with tempfile.TemporaryDirectory() as folder:
        return write_gguf(Path(folder) / "x", fields).read_bytes()


@functools.cache
def saved() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "v"
        Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b"ab", b""], 257, {"<end>": 257}).save(path)
        return path.read_bytes()


@functools.cache
def tekken_file() -> bytes:
    return json.dumps(tekken()).encode()


@functools.cache
def pieces() -> bytes:
    """A model of sentencepiece; empty if the library is not installed."""
    try:
        import sentencepiece
    except ImportError:
        return b""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["hello world " * 5, "the quick brown fox"]),
        model_writer=model,
        vocab_size=290,
        model_type="bpe",
        byte_fallback=True,
        normalization_rule_name="identity",
        minloglevel=2,
    )
    return model.getvalue()


FORMATS: dict[str, tuple[Load, Callable[[], bytes]]] = {
    "GGUF": (Vocabulary.from_gguf, lambda: gguf("byte level")),
    "GGUF of pieces": (Vocabulary.from_gguf, lambda: gguf("pieces")),
    "saved": (Vocabulary.load, saved),
    "tekken": (Vocabulary.from_tekken, tekken_file),
    "sentencepiece": (Vocabulary.from_sentencepiece, pieces),
}


def cut_off(n: int) -> Iterator[Case]:
    for name, (load, make) in FORMATS.items():
        data = make()
        if data:
            for i in range(n):
                length = len(data) * i // n
                yield case(f"{name}, cut off at {length}", load, data[:length])


def flipped(n: int) -> Iterator[Case]:
    for name, (load, make) in FORMATS.items():
        data = make()
        choose = random.Random(3)
        for number in range(n if data else 0):
            damaged = bytearray(data)
            for _ in range(choose.choice((1, 1, 2, 20))):
                damaged[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
            yield case(f"{name}, flipped {number}", load, bytes(damaged))


def string(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def header(n_fields: int = 1) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, n_fields)


HUGE = (0, 2**31 - 1, 2**32, 2**62, 2**63, 2**64 - 1)


def huge_lengths() -> Iterator[Case]:
    for n in HUGE:
        for name, data in {
            "fields": header(n),
            "a key": header() + struct.pack("<Q", n) + b"k",
            "a text": header() + string(b"k") + struct.pack("<IQ", 8, n),
            "texts": header() + string(b"k") + struct.pack("<IIQ", 9, 8, n),
            "numbers": header() + string(b"k") + struct.pack("<IIQ", 9, 10, n),
            "bytes": header() + string(b"k") + struct.pack("<IIQ", 9, 0, n),
        }.items():
            yield case(f"GGUF, {n} {name}", Vocabulary.from_gguf, data, REFUSED)


def fields_with(changes: Mapping[str, Any]) -> Callable[[], bytes]:
    def make() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            prefixed = {f"tokenizer.ggml.{key}": value for key, value in changes.items()}
            fields = {key: value for key, value in (byte_level_fields() | prefixed).items() if value is not None}
            return write_gguf(Path(folder) / "x", fields).read_bytes()

    return make


GGUF_FIELDS: dict[str, Mapping[str, Any]] = {
    "no tokens": {"tokens": None},
    "empty tokens": {"tokens": []},
    "numbers for tokens": {"tokens": [1, 2, 3]},
    "an unknown model": {"model": "x" * 1_000},
    "a number for a model": {"model": 7},
    "too few types": {"token_type": [1]},
    "texts for types": {"token_type": ["a"]},
    "unknown types": {"token_type": [99] * 260},
    "negative types": {"token_type": [-1] * 260},
    "all control": {"token_type": [3] * 260},
    "no end": {"eos_token_id": None},
    "an end beyond": {"eos_token_id": 4_000_000_000},
    "a text for the end": {"eos_token_id": "x"},
    "equal tokens": {"tokens": ["a"] * 260},
    "unreadable tokens": {"tokens": ["\x00"] * 260},
    "long tokens": {"tokens": ["a" * 100_000] * 260},
    "no UTF-8": {"tokens": [b"\xff\xfe"] * 260},
}


def strange_fields() -> Iterator[Case]:
    for name, changes in GGUF_FIELDS.items():
        yield case(f"GGUF, {name}", Vocabulary.from_gguf, fields_with(changes))
    many = b"".join(string(b"k%d" % i) + struct.pack("<IB", 0, 1) for i in range(100_000))
    yield case("GGUF, many fields", Vocabulary.from_gguf, header(100_000) + many, REFUSED)
    empty = header() + string(b"k") + struct.pack("<IIQ", 9, 8, 10**7)
    yield case("GGUF, many empty texts", Vocabulary.from_gguf, lambda: empty + bytes(8 * 10**7), REFUSED)


TEKKEN: dict[str, Any] = {
    "a pattern that takes for ever": {"pattern": "(a+)+$|(.+)+b|(.*.*)*c"},
    "a pattern that is none": {"pattern": "("},
    "a deep pattern": {"pattern": "(" * 10_000},
    "an empty pattern": {"pattern": ""},
    "a number for a pattern": {"pattern": 5},
    "too many tokens": {"default_vocab_size": 10**12},
    "negative tokens": {"default_vocab_size": -5},
    "no room": {"default_num_special_tokens": 10**9},
    "no tokens": {"vocab": []},
    "tokens that are none": {"vocab": [1, 2, 3]},
    "an object of tokens": {"vocab": {}},
    "equal tokens": {"vocab": [{"rank": i, "token_bytes": "YQ=="} for i in range(400)]},
    "no base64": {"vocab": [{"rank": i, "token_bytes": "%%%"} for i in range(400)]},
    "huge ranks": {"vocab": [{"rank": 10**30, "token_bytes": "YQ=="}]},
    "special tokens beyond": {"special_tokens": [{"rank": 10**9, "token_str": "</s>"}]},
    "special tokens twice": {"special_tokens": [{"rank": i, "token_str": "</s>"} for i in range(3)]},
    "no special tokens": {"special_tokens": []},
    "special tokens that are none": {"special_tokens": "x"},
}


def strange_documents() -> Iterator[Case]:
    for name, changes in TEKKEN.items():
        yield case(f"tekken, {name}", Vocabulary.from_tekken, json.dumps(tekken(**changes)).encode())
    small = json.loads(saved())
    without_lengths = json.dumps({key: value for key, value in small.items() if key != "lengths"} | {"bytes": ""})
    for name, document in {
        "deep": "[" * 1_000_000,
        "a number of many digits": '{"format": ' + "1" * 1_000_000 + "}",
        "many empty objects": Times("{},", 10_000_000, "[", "{}]"),
        "a long text": Times("x", 30_000_000, '"', '"'),
        "too long": Times("x", 40_000_000, '"', '"'),
        "huge lengths": json.dumps(small | {"lengths": [2**63, -(2**63)]}),
        "lengths of floats": json.dumps(small | {"lengths": [1e308]}),
        "many lengths": Times("0,", 10_000_000, without_lengths[:-1] + ', "lengths": [', "0]}"),
        "ends beyond": json.dumps(small | {"end_token_ids": [10**30]}),
        "special beyond": json.dumps(small | {"special_tokens": {"x": 10**30}}),
        "half a surrogate pair": json.dumps(small | {"special_tokens": {"\ud800": 1}, "description": "\ud800"}),
    }.items():
        for kind, load in (("saved", Vocabulary.load), ("tekken", Vocabulary.from_tekken)):
            yield case(f"{kind}, {name}", load, lambda document=document: str(document).encode())


def other_files() -> Iterator[Case]:
    for name, data in {
        "nothing": b"",
        "zeros": bytes(100_000),
        "noise": random.Random(1).randbytes(100_000),
        "text": b"hello\n" * 10_000,
        "a zip": b"PK\x03\x04" + bytes(1_000),
    }.items():
        for kind, (load, make) in FORMATS.items():
            if make():
                yield case(f"{kind}, {name}", load, data, REFUSED)


def tiktoken_cases() -> Iterator[Case]:
    try:
        import tiktoken
    except ImportError:
        return
    single = {bytes([byte]): byte for byte in range(256)}
    for name, (ranks, special, pattern) in {
        "as it should be": (single, {"<|endoftext|>": 256}, r"\w+|\W+"),
        "without some bytes": ({b"a": 0, b"b": 1}, {"<|endoftext|>": 2}, r"\w+|\W+"),
        "with gaps": ({**single, b"ab": 5_000}, {"<|endoftext|>": 4_000}, r"\w+|\W+"),
        "with large gaps": ({**single, b"ab": 2**31}, {"<|endoftext|>": 256}, r"\w+|\W+"),
        "without an end": (single, {}, r"\w+|\W+"),
        "a pattern that leaves gaps": (single, {"<|endoftext|>": 256}, "x"),
    }.items():

        def run(ranks: Any = ranks, special: Any = special, pattern: str = pattern) -> None:
            encoding = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
            vocabulary = Vocabulary.from_tiktoken(encoding)
            cfgmask.compile(cfgmask.Grammar.from_regex("a|b"), vocabulary)

        # What the library itself refuses, it refuses with ValueError, or a panic of its own.
        allowed = ANY | {"ValueError", "PanicException", "OverflowError"}
        yield Case(f"vocabulary/tiktoken, {name}", run, allowed)


def shrinking() -> Iterator[Case]:
    """A file that gets shorter while it is read."""

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "v"
            path.write_bytes(gguf("byte level"))
            from cfgmask.tokenizers.gguf_file import GgufFile

            with GgufFile(path) as file:
                os.truncate(path, 0)
                assert file.strings("tokenizer.ggml.tokens")

    yield Case("vocabulary/GGUF that shrinks", run, frozenset({"accepted"}))


def cases() -> Iterator[Case]:
    yield from tiktoken_cases()
    yield from shrinking()
    yield from other_files()
    yield from strange_fields()
    yield from strange_documents()
    yield from huge_lengths()
    yield from cut_off(20)
    yield from flipped(40)
