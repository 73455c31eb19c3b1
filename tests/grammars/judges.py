"""What reads the texts of a grammar beside cfgmask: a judge raises where it cannot.

Judges forgive what the grammar's file says it leaves out, and nothing else.
"""

from __future__ import annotations

import ast
import csv
import http.client
import io
import ipaddress
import json
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, time
from itertools import count
from urllib.parse import urlsplit
from xml.parsers import expat

from tests.grammars.python_stdlib import in_lark


def _arithmetic(text: str) -> None:
    """As Python reads it, where powers are `**`, numbers begin with no zeros, and names are no keywords."""
    with_powers = re.sub(r"\b0+(?=\d)", "", text.replace("^", "**"))
    ast.parse(re.sub(r"(?<![\w.])[A-Za-z_]\w*", "name", with_powers).strip(), mode="eval")


def _json(text: str) -> None:
    json.loads(text)


def _json_with_comments(text: str) -> None:
    """Strings first, so that what looks like a comment in them stays."""
    pieces = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*\n|/\*.*?\*/', lambda found: found[1] or " ", text, flags=re.DOTALL)
    json.loads(pieces)


def _csv(text: str) -> None:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise ValueError(text) from error
    if not rows or not all(rows):
        raise ValueError(text)


def _url(text: str) -> None:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https", "ws", "wss", "ftp") or not parts.hostname or parts.geturl() == "":
        raise ValueError(text)
    if parts.port == 0 or (":" in parts.hostname and not ipaddress.IPv6Address(parts.hostname)):
        raise ValueError(text)


def _iso_date(text: str) -> None:
    if "T" in text:
        datetime.fromisoformat(text)
    elif ":" in text:
        time.fromisoformat(text)
    else:
        date.fromisoformat(text)


def _markdown_table(text: str) -> None:
    rows = text.removesuffix("\n").split("\n")
    cells = [re.findall(r"((?:\\.|[^\\|])*)\|", row[1:]) for row in rows]
    if len({len(row) for row in cells}) != 1 or not all(re.fullmatch(r"\s?:?-+:?\s?", cell) for cell in cells[1]):
        raise ValueError(text)


def _http_request(text: str) -> None:
    stream = io.BytesIO(text.encode())
    method, target, version = stream.readline().decode().rstrip("\r\n").split(" ")
    headers = http.client.parse_headers(stream)
    if headers.defects or headers["Host"] is None or version != "HTTP/1.1" or not target or not method.isupper():
        raise ValueError(text)


_STATEMENT = re.compile(r"""(?:[^;'"`]|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`)+""")


_UNKNOWN_TO_SQLITE = re.compile(
    r"\b(?:DATE|TIMESTAMP|INTERVAL)\s+(?=')|(?<=INTERSECT)\s+ALL\b|(?<=EXCEPT)\s+ALL\b", re.IGNORECASE
)
# Other letters that are i, s and k where case is ignored.
_FOLDED = str.maketrans({"\u0131": "i", "\u0130": "I", "\u017f": "s", "\u212a": "K"})


def _sql(text: str) -> None:
    """What SQLite's parser takes; what it then misses in its empty database does not count."""
    with closing(sqlite3.connect(":memory:")) as database:
        for statement in _STATEMENT.findall(_UNKNOWN_TO_SQLITE.sub("", text.translate(_FOLDED))):
            if not statement.strip():
                continue
            try:
                database.execute(f"EXPLAIN {statement}")
            except sqlite3.Error as error:
                if re.search("syntax error|incomplete input|unrecognized token", str(error)):
                    raise ValueError(f"{statement!r}: {error}") from error


def _tool_calls(pattern: str, arguments: str) -> Callable[[str], None]:
    """All of the text is calls as `pattern` has them, each with a group of JSON that names a tool and its arguments."""

    def judge(text: str) -> None:
        if not re.fullmatch(f"(?:{pattern})+", text):
            raise ValueError(text)
        for found in re.finditer(pattern, text):
            value = json.loads(found[1])
            keys = {"get_weather": {"city", "unit"}, "set_timer": {"minutes"}}[value["name"]]
            if value.keys() != {"name", arguments} or value[arguments].keys() != keys:
                raise ValueError(text)

    return judge


def _mistral_list(text: str) -> None:
    calls = json.loads(text.removeprefix("[TOOL_CALLS]"))
    if not calls or not all(call.keys() == {"name", "arguments"} for call in calls):
        raise ValueError(text)


def _thinking(text: str) -> None:
    thought, _, answer = text.partition("</think>")
    if not thought.startswith("<think>") or json.loads(answer).keys() != {"answer", "confidence"}:
        raise ValueError(text)


def _toml(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if not re.search("Cannot (?:overwrite|declare|mutate)|Duplicate inline table key", str(error)):
            raise


def _xml(text: str) -> None:
    """Any names in any tags: those of end tags do not count, and attributes are numbered."""
    kept, open_names, numbers = list[str](), list[str](), count()
    for piece in re.findall(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<[^>]*>|[^<]+", text, re.DOTALL):
        tag = re.match(r"<(/?)([A-Za-z_][^\s/>]*)", piece)
        if tag and tag[1]:
            piece = f"</{open_names.pop()}>"
        elif tag:
            piece = re.sub(r"""[^\s=]+=("[^"]*"|'[^']*')""", lambda found: f"_{next(numbers)}={found[1]}", piece)
            open_names += [] if piece.endswith("/>") else [tag[2]]
        kept.append(piece)
    _well_formed("".join(kept))


def _well_formed(text: str) -> None:
    try:
        expat.ParserCreate().Parse(text, True)
    except expat.ExpatError as error:
        raise ValueError(text) from error


def _yaml(text: str) -> None:
    """Only its structure: PyYAML reads YAML 1.1, where some plain scalars are dates and the like."""
    try:
        yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(text) from error


def _python(text: str) -> None:
    """By the same grammar, as Lark reads it."""
    place = in_lark(text)
    if place is not None:
        raise ValueError(f"{text!r} at {place}")


JUDGES: dict[str, Callable[[str], None]] = {
    "arithmetic.lark": _arithmetic,
    "csv.lark": _csv,
    "http_request.lark": _http_request,
    "json.lark": _json,
    "jsonc.lark": _json_with_comments,
    "markdown_table.lark": _markdown_table,
    "python.lark": _python,
    "sql.lark": _sql,
    "sql_select.lark": _sql,
    "thinking.lark": _thinking,
    "tool_call_hermes.lark": _tool_calls(r"<tool_call>\n((?s:.*?))\n</tool_call>\n?", "arguments"),
    "tool_call_llama.lark": _tool_calls(r"(?:<\|python_tag\|>)?((?s:.+))", "parameters"),
    "tool_call_mistral.lark": _mistral_list,
    "url.lark": _url,
    "xml.lark": _xml,
    "xml_elements.lark": _well_formed,
}
if sys.version_info >= (3, 11):  # which reads all of ISO 8601
    import tomllib

    JUDGES |= {"iso_date.lark": _iso_date, "toml.lark": _toml}
try:
    import yaml

    JUDGES["yaml.lark"] = _yaml
except ImportError:  # which tokenizers brings
    pass
