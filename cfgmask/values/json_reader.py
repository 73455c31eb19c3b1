"""One reader of JSON that is fed piece by piece: the value so far, and what of it is open.

The value of a prefix of a JSON text, as `value` and `open` give it:

- What has ended is as `json.loads` reads it.
- An array has its items so far, an object its members so far; the last of them may be open.
- A string that is open has its characters so far: those of which all bytes, or all of the escape, are there. The first
  half of a surrogate pair waits for the second one.
- A member comes with the beginning of its value, not before: `{"a": ` is `{}`, `{"a": "` is `{"a": ""}`.
- A number comes when something stands behind it, or the text ends, since `1` may become `12`. So do `true`, `false` and
  `null` with their last letter. Until then the array or object around them is without them.
- Of two members with one key the later one counts, from when it comes.
- Before anything has come the value is None.

`open` is the path of keys and indices from the root to the innermost array, object or string that has not ended, `()`
for the root itself. It is None once the value is complete; and where it is not, all values on the path are open, and no
others: JSON ends its values from the inside to the outside.
"""

from __future__ import annotations

import codecs
import re
from typing import Any, Final

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING_RUN = re.compile(r'[^"\\\x00-\x1f]*')
_NUMBER_RUN = re.compile(r"[0-9+\-.eE]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_WORDS: Final[dict[str, tuple[str, bool | None]]] = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


class NotJson(ValueError):
    """A text that is not JSON."""


class JsonReader:
    """Reads one value of JSON from pieces of its text; see the head of this module. For one thread.

    `value` is changed in place as the text goes on: copy what is to stay as it is.
    Errors: ValueError where the text is no JSON, or has an integer of more digits than Python reads
    (`sys.set_int_max_str_digits`); nothing may be asked of the reader after that.
    Cost: linear in the text. `value` of a long string that is open joins its pieces, those since it was last asked.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._root: Any = None
        self._containers: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str] = []  # of each object that is open, the key of its member that is being read
        self._expected = "value"  # or first, member, key, colon, more, end; string, number, word
        self._token: list[str] = []  # of the scalar that is open, decoded
        self._is_key = False
        self._escape = ""  # of an escape that is not complete, from its backslash on
        self._word: tuple[str, bool | None] = ("", None)
        self._n_read = 0

    def feed(self, data: bytes | str) -> None:
        """Read on. A piece may end anywhere, in the middle of a character too."""
        if isinstance(data, (bytes, bytearray, memoryview)):
            text = self._decode.decode(data)
        elif isinstance(data, str):
            text = data
        else:
            raise TypeError(f"feed takes a str or bytes, not {type(data).__name__}")
        at = 0
        while at < len(text):
            at = self._step(text, at)
        self._n_read += len(text)

    def finish(self) -> Any:
        """The value, where the text ends here. Raises ValueError if it is incomplete."""
        if self._expected == "number":
            self._end_number()
        self._decode.decode(b"", final=True)
        if self._expected != "end":
            raise self._wrong("the text is incomplete", 0)
        return self._root

    @property
    def value(self) -> Any:
        """The value so far."""
        if self._expected == "string" and not self._is_key:
            if len(self._token) != 1:
                self._token[:] = ["".join(self._token)]
            self._replace(self._token[0])
        return self._root

    @property
    def open(self) -> tuple[str | int, ...] | None:
        """The path to the innermost value that is open; None once the value is complete."""
        if self._expected == "end":
            return None
        path: list[str | int] = []
        keys = iter(self._keys)
        in_string = self._expected == "string" and not self._is_key
        for depth, container in enumerate(self._containers):
            has_open_child = depth + 1 < len(self._containers) or in_string
            if isinstance(container, list):
                if has_open_child:
                    path.append(len(container) - 1)
            else:
                key = next(keys)
                if has_open_child:
                    path.append(key)
        return tuple(path)

    @property
    def is_complete(self) -> bool:
        """Whether the value has ended; a number at the root ends with the text only."""
        return self._expected == "end"

    # ---- one step of reading: gives where the next one begins

    def _step(self, text: str, at: int) -> int:
        expected = self._expected
        if expected == "string":
            return self._string(text, at)
        if expected == "number":
            end = _NUMBER_RUN.match(text, at).end()  # type: ignore[union-attr]
            self._token.append(text[at:end])
            if end < len(text):
                self._end_number(end)
            return end
        if expected == "word":
            return self._letter(text, at)
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        character = text[at]
        if expected in ("value", "first") and not (expected == "first" and character == "]"):
            self._begin_value(character, at)
            return at if self._expected == "number" else at + 1
        if expected in ("key", "member") and character == '"':
            self._expected, self._is_key, self._token = "string", True, []
        elif expected == "colon" and character == ":":
            self._expected = "value"
        elif expected == "more" and character == ",":
            self._expected = "value" if isinstance(self._containers[-1], list) else "key"
        elif expected in ("more", "first", "member") and self._containers and character == self._closing():
            if character == "}":
                self._keys.pop()
            self._containers.pop()
            self._after_value()
        else:
            raise self._wrong(f"{character!r} does not belong there", at)
        return at + 1

    def _closing(self) -> str:
        return "]" if isinstance(self._containers[-1], list) else "}"

    def _begin_value(self, character: str, at: int) -> None:
        if character == '"':
            self._expected, self._is_key, self._token = "string", False, []
            self._add("")
        elif character == "{":
            self._open({}, "member")
            self._keys.append("")
        elif character == "[":
            self._open([], "first")
        elif character == "-" or "0" <= character <= "9":
            self._expected, self._token = "number", []
        elif character in _WORDS:
            self._expected, self._word, self._token = "word", _WORDS[character], [character]
        else:
            raise self._wrong(f"no value begins with {character!r}", at)

    def _open(self, container: dict[str, Any] | list[Any], expected: str) -> None:
        self._add(container)
        self._containers.append(container)
        self._expected = expected

    def _letter(self, text: str, at: int) -> int:
        word, value = self._word
        n_known = len(self._token)
        if text[at] != word[n_known]:
            raise self._wrong(f"{text[at]!r} does not belong there", at)
        self._token.append(text[at])
        if n_known + 1 == len(word):
            self._add(value)
            self._after_value()
        return at + 1

    def _string(self, text: str, at: int) -> int:
        if self._escape:
            return self._escaped(text, at)
        end = _STRING_RUN.match(text, at).end()  # type: ignore[union-attr]
        if end > at:
            self._token.append(text[at:end])
        if end == len(text):
            return end
        if text[end] == "\\":
            self._escape = "\\"
        elif text[end] == '"':
            self._end_string()
        else:
            raise self._wrong("a control character must be escaped", end)
        return end + 1

    def _escaped(self, text: str, at: int) -> int:
        """One character more of an escape, or of two that write one character."""
        character = text[at]
        escape = self._escape
        if len(escape) == 6:
            # The first half of a pair: `json` keeps it alone where no second one follows.
            if character == "\\":
                self._escape = escape + character
                return at + 1
            self._token.append(chr(int(escape[2:], 16)))
            self._escape = ""
            return at
        in_pair = len(escape) > 6
        own = escape[6:] if in_pair else escape
        if len(own) == 1:
            if character != "u":
                if character not in _ESCAPES:
                    raise self._wrong(f"there is no escape \\{character}", at)
                first = chr(int(escape[2:6], 16)) if in_pair else ""
                self._token.append(first + _ESCAPES[character])
                self._escape = ""
                return at + 1
        elif character not in _HEX:
            raise self._wrong(f"{character!r} is no hexadecimal digit", at)
        self._escape = escape + character
        if len(own) == 5:
            self._end_escape(int(own[2:] + character, 16), int(escape[2:6], 16) if in_pair else None)
        return at + 1

    def _end_escape(self, code: int, first: int | None) -> None:
        if first is not None and 0xDC00 <= code < 0xE000:
            self._token.append(chr(0x10000 + ((first - 0xD800) << 10) + (code - 0xDC00)))
            self._escape = ""
            return
        if first is not None:
            self._token.append(chr(first))
        if 0xD800 <= code < 0xDC00:
            self._escape = f"\\u{code:04x}"
            return
        self._token.append(chr(code))
        self._escape = ""

    # ---- what has ended

    def _end_string(self) -> None:
        text = "".join(self._token)
        self._token = []
        if self._is_key:
            self._keys[-1] = text
            self._expected = "colon"
            return
        self._replace(text)
        self._after_value()

    def _end_number(self, at: int = 0) -> None:
        text = "".join(self._token)
        number = _NUMBER.fullmatch(text)
        if number is None:
            raise self._wrong(f"{text[:40]!r} is no number", at)
        fraction, exponent = number.groups()
        self._add(int(text) if fraction is None and exponent is None else float(text))
        self._token = []
        self._after_value()

    def _after_value(self) -> None:
        self._expected = "more" if self._containers else "end"

    def _add(self, value: Any) -> None:
        if not self._containers:
            self._root = value
            return
        container = self._containers[-1]
        if isinstance(container, list):
            container.append(value)
        else:
            container[self._keys[-1]] = value

    def _replace(self, value: Any) -> None:
        """The string that is open, or ends, has come with its quote."""
        if not self._containers:
            self._root = value
            return
        container = self._containers[-1]
        container[-1 if isinstance(container, list) else self._keys[-1]] = value  # type: ignore[index]

    def _wrong(self, message: str, at: int) -> NotJson:
        return NotJson(f"no JSON: {message}, at character {self._n_read + at}")
