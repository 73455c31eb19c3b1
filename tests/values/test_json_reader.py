"""The incremental reader of JSON, against `json.loads` at every prefix."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from cfgmask.values.json_reader import JsonReader
from tests.cpu_time import cpu_seconds, hold

ALPHABET = ['"', "\\", "/", "a", "é", "漢", "😀", "\b", "\n", "\t", " ", "\x01", "\x7f", "\ud800", "\udc00", "u", "{"]


def random_value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(8 if depth else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([0, -1, 12, 10**20, -(10**5)])
    if kind == 2:
        return rng.choice([0.5, -1.25e-9, 1e300, 0.1, -0.0])
    if kind <= 5:
        return "".join(rng.choices(ALPHABET, k=rng.randrange(5)))
    if kind == 6:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    keys = ["".join(rng.choices(ALPHABET, k=rng.randrange(3))) for _ in range(rng.randrange(4))]
    return {key: random_value(rng, depth - 1) for key in keys}


def random_text(rng: random.Random) -> str:
    """JSON in any spelling."""

    def space() -> str:
        return "".join(rng.choices(" \n\t\r", k=rng.choice([0, 0, 0, 1, 2])))

    def string(text: str) -> str:
        out = []
        for character in text:
            code = ord(character)
            short = json.dumps(character)[1:-1]
            units = [code] if code < 0x10000 else [0xD800 + ((code - 0x10000) >> 10), 0xDC00 + (code & 0x3FF)]
            hexadecimal = "".join(rng.choice([f"\\u{unit:04x}", f"\\u{unit:04X}"]) for unit in units)
            ways = [hexadecimal]
            if len(short) == 2 or short == character:
                ways.append(short)
            if character == "/":
                ways.append("\\/")
            if code >= 0x20 and character not in '"\\' and not 0xD800 <= code < 0xE000:
                ways.append(character)
            out.append(rng.choice(ways))
        return '"' + "".join(out) + '"'

    def write(value: Any) -> str:
        if isinstance(value, str):
            written = string(value)
        elif isinstance(value, list):
            written = "[" + (",".join(map(write, value)) or space()) + "]"
        elif isinstance(value, dict):
            members = [space() + string(key) + space() + ":" + write(item) for key, item in value.items()]
            if members and rng.random() < 0.2:
                members.append(space() + string(next(iter(value))) + ":" + write(random_value(rng, 0)))
            written = "{" + (",".join(members) or space()) + "}"
        else:
            written = json.dumps(value)
            if isinstance(value, float) and rng.random() < 0.3:
                written = rng.choice(["1E5", "1e-07", "-0.0", "2.50", "1e+3"])
        return space() + written + space()

    return write(random_value(rng, 3))


def partial(text: str) -> tuple[Any, tuple[str | int, ...] | None]:
    """The value of a prefix and its open path, slowly: close what is open in the simplest way and ask `json.loads`."""
    closers: list[tuple[str, str]] = []  # each open bracket's end, and whether a key or a value comes next
    in_string, i, last = False, 0, ""
    string_start = 0
    while i < len(text):
        character = text[i]
        if in_string:
            if character == "\\":
                i += 2
                continue
            if character == '"':
                in_string, last = False, "string"
        elif character == '"':
            in_string, string_start = True, i
        elif character in "{[":
            closers.append(("}" if character == "{" else "]", "key" if character == "{" else "value"))
            last = character
        elif character in "}]":
            closers.pop()
            last = character
        elif character == ":":
            closers[-1] = ("}", "value")
            last = ":"
        elif character == ",":
            if closers[-1][0] == "}":
                closers[-1] = ("}", "key")
            last = ","
        elif character not in " \t\n\r":
            last = "scalar"
        i += 1
    kept = text
    is_key = bool(closers) and closers[-1][1] == "key"
    open_string = in_string and not is_key
    if in_string and is_key:
        kept = kept[:string_start]
    elif in_string:
        kept = complete_characters(text, string_start) + '"'
    elif last == "scalar":
        stripped = kept.rstrip(" \t\n\r")
        start = len(stripped)
        while start > 0 and stripped[start - 1] not in " \t\n\r,:[{":
            start -= 1
        word = stripped[start:]
        is_number = word[0] in "-0123456789"
        if (is_number and stripped == kept) or (not is_number and word not in ("true", "false", "null")):
            kept = kept[:start]
    kept = kept.rstrip(" \t\n\r")
    if kept.endswith(":"):
        kept = without_key(kept[:-1])
    elif not in_string and closers and closers[-1][1] == "key" and kept.endswith('"'):
        kept = without_key(kept)
    if not open_string:
        kept = kept.rstrip(" \t\n\r").removesuffix(",")
    if not kept:
        return None, ()
    value = json.loads(kept + "".join(end for end, _ in reversed(closers)))
    if not closers and not in_string:
        return value, None
    path: list[str | int] = []
    inner = value
    for n in range(len(closers) - (0 if open_string else 1)):
        step: str | int = len(inner) - 1 if isinstance(inner, list) else last_key(kept, n)
        path.append(step)
        inner = inner[step]
    return value, tuple(path)


def complete_characters(text: str, start: int) -> str:
    """The text without the last character of its open string where that is not complete."""
    i = start + 1
    while i < len(text):
        if text[i] != "\\":
            i += 1
            continue
        length = 6 if text[i + 1 : i + 2] == "u" else 2
        if i + length > len(text):
            return text[:i]
        if length == 6 and text[i + 2 : i + 4].lower() in ("d8", "d9", "da", "db"):
            rest = text[i + 6 :]
            whole = rest[:6]
            if (len(whole) < 6 and "\\ud".startswith(whole[:3].lower())) or (whole == "" or whole == "\\"):
                return text[:i]
            if whole.startswith("\\u") and len(whole) < 6:
                return text[:i]
        i += length
    return text


def without_key(text: str) -> str:
    """Without the string at its end."""
    text = text.rstrip(" \t\n\r")
    for start in range(len(text) - 2, -1, -1):
        if text[start] == '"':
            try:
                if isinstance(json.loads(text[start:]), str) and text[:start].rstrip(" \t\n\r")[-1:] in ("{", ","):
                    return text[:start]
            except ValueError:
                continue
    raise AssertionError(text)


def last_key(text: str, depth: int) -> str:
    """The last key of the object that is open at a depth."""
    keys: list[str] = []
    decoder = json.JSONDecoder(strict=False)
    i = 0
    last: str | None = None
    while i < len(text):
        character = text[i]
        if character == '"':
            string, i = decoder.raw_decode(text, i)
            last = string
            continue
        if character in "{[":
            keys.append("")
        elif character in "}]":
            keys.pop()
        elif character == ":":
            assert last is not None
            keys[-1] = last
        i += 1
    return keys[depth]


def same(a: Any, b: Any) -> bool:
    return json.dumps(a) == json.dumps(b)


def test_prefixes() -> None:
    for seed in range(10_000):
        text = random_text(random.Random(seed))
        reader = JsonReader()
        for i, character in enumerate(text):
            reader.feed(character)
            expected, path = partial(text[: i + 1])
            assert same(reader.value, expected), (seed, text[: i + 1], reader.value, expected)
            assert reader.open == path, (seed, text[: i + 1], reader.open, path)
        assert same(reader.finish(), json.loads(text))


def test_pieces_of_bytes() -> None:
    for seed in range(2_000):
        rng = random.Random(seed)
        text = random_text(rng)
        data = text.encode()
        reader = JsonReader()
        at = 0
        while at < len(data):
            size = rng.choice([1, 1, 2, 3, 7, 40])
            reader.feed(data[at : at + size])
            at += size
        assert same(reader.finish(), json.loads(text)), seed


def test_values_never_shrink() -> None:
    """What has come stays: strings are begun by what they were, arrays and objects keep what has ended."""

    def grows(old: Any, new: Any) -> bool:
        if isinstance(old, str) and isinstance(new, str):
            return new.startswith(old)
        if isinstance(old, list) and isinstance(new, list):
            return len(old) <= len(new) and all(map(grows, old, new))
        if isinstance(old, dict) and isinstance(new, dict):
            return old.keys() <= new.keys()
        return old is None or same(old, new)

    for seed in range(500):
        text = random_text(random.Random(seed))
        reader = JsonReader()
        before = None
        for character in text:
            reader.feed(character)
            now = json.loads(json.dumps(reader.value))
            assert grows(before, now), (seed, text)
            before = now


WRONG = ["", "[1,]", "{,}", '{"a" 1}', "[1 2]", "01", "-", "1.", "tru", "trux", '"\n"', r'"\x"', r'"\u12g"', "]", "[}"]
WRONG += ["1 2", "NaN", "Infinity", '{"a":1,}', "{1:2}", "[", '"a', "{", "'a'", "+1", ".5", "1e", "\ufeff1", "[,1]"]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_json(text: str) -> None:
    def read() -> None:
        reader = JsonReader()
        reader.feed(text)
        reader.finish()

    with pytest.raises(ValueError, match="no JSON"):
        read()


def test_random_edits_agree_with_json() -> None:
    rng = random.Random(7)
    for _ in range(5_000):
        text = list(random_text(rng))
        for _ in range(rng.choice([1, 1, 2])):
            text.insert(rng.randrange(len(text) + 1), rng.choice('{}[]",:0-.eEt\\u 1'))
            if rng.random() < 0.5:
                del text[rng.randrange(len(text))]
        edited = "".join(text)
        try:
            expected = json.loads(edited)
        except ValueError:
            expected = ValueError
        reader = JsonReader()
        try:
            for character in edited:
                reader.feed(character)
            value = reader.finish()
        except ValueError:
            assert expected is ValueError, edited
        else:
            assert expected is not ValueError, edited
            assert same(value, expected), edited


def test_deep_values_need_no_stack() -> None:
    reader = JsonReader()
    reader.feed("[" * 100_000)
    assert len(reader.open or ()) == 99_999
    reader.feed("]" * 100_000)
    assert reader.is_complete


def test_cost_is_linear() -> None:
    """Twice the text takes about twice the time, whatever it is made of."""

    def read(data: bytes) -> None:
        reader = JsonReader()
        for i in range(len(data)):
            reader.feed(data[i : i + 1])
        reader.finish()

    for unit in ('"abc\\n", ', '{"a": [1, true]}, ', "123456, "):
        texts = [("[" + unit * (size // len(unit)) + "0]").encode() for size in (50_000, 200_000)]
        short, long = (cpu_seconds(lambda text=text: read(text), runs=3) for text in texts)
        hold(long, 8 * short, unit)
    one_string = [('"' + "x" * size + '"').encode() for size in (50_000, 200_000)]
    short, long = (cpu_seconds(lambda text=text: read(text), runs=3) for text in one_string)
    hold(long, 8 * short)
