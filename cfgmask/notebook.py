"""HTML of grammars, matchers, explanations and results, which notebooks show at the end of a cell.

Only inline styles that work on light and dark pages; all text is escaped.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from cfgmask.diagnostics import quoted

if TYPE_CHECKING:
    from cfgmask._core import Matcher
    from cfgmask.compiler.explanation import Explanation
    from cfgmask.compiler.grammar import Grammar
    from cfgmask.values.events import Capture, Message

_MOST_LINES = 40
_MOST_TOKENS = 24
_MOST_NAMES = 12
_GREEN, _RED = "#2e9e5b", "#d1493f"
_PRE = '<pre style="margin:.4em 0;white-space:pre-wrap">{}</pre>'


def grammar(shown: Grammar, source: str | None) -> str:
    """The name of a grammar, its text and its notes."""
    parts = [f"<b>Grammar</b> {escape(shown.name)}"]
    if source is not None:
        parts.append(_PRE.format(escape(_first_lines(source))))
    notes = [f"<li><code>{escape(note.code)}</code> {escape(note.message)}</li>" for note in shown.notes]
    if notes:
        parts.append(f"<ul>{''.join(_shortened(notes, '<li>…</li>'))}</ul>")
    return _box(parts)


def matcher(shown: Matcher) -> str:
    """Where a matcher stands: what may come next, by terminals and by tokens."""
    table = shown.compiled.vocabulary
    bits = array("I", bytes(4 * -(-table.n_vocab // 32)))
    shown.fill_mask(bits)  # type: ignore[arg-type]  # a buffer of words
    count = sum(word.bit_count() for word in bits)
    ends = set(table.end_tokens)
    allowed = (32 * i + bit for i, word in enumerate(bits) if word for bit in range(32) if word >> bit & 1)
    tokens: list[str] = []
    for token in allowed:
        if len(tokens) == _MOST_TOKENS:
            break
        if token not in ends:
            data = table.text(token)
            tokens.append(f"<code>{escape(quoted(data)) if data else token}</code>")
    state = "finished" if shown.is_finished else "may end here" if shown.is_accepting else "may not end yet"
    rows = [("state", f"{state}, after {_many(shown.n_steps, 'step')}")]
    if shown.tokens_left is not None:
        rows.append(("budget", f"{_many(shown.tokens_left, 'token')} left"))
    if forced := shown.forced_bytes():
        rows.append(("forced", f"<code>{escape(quoted(forced))}</code>"))
    if names := [f"<code>{escape(name)}</code>" for name in shown.expected()]:
        rows.append(("expected", " ".join(_shortened(names, "…"))))
    more = " …" if count > len(tokens) + sum(bits[end // 32] >> (end % 32) & 1 for end in ends) else ""
    rows.append(("allowed", f"{_many(count, 'token')}: {' '.join(tokens)}{more}" if tokens else _many(count, "token")))
    return _box(["<b>Matcher</b>", _table(rows)])


def explanation(shown: Explanation) -> str:
    """An explanation as it is printed, with a coloured edge."""
    return _box([_PRE.format(escape(str(shown)))], _GREEN if shown.allowed else _RED)


def text(written: str, is_complete: bool, finish_reason: str | None, n_tokens: int) -> str:
    """The text of a call, and how it ended; None: it has not ended."""
    end = "not ended" if finish_reason is None else f"finish reason {finish_reason}"
    how = f"{'complete' if is_complete else 'incomplete'}, {end}, {_many(n_tokens, 'token')}"
    return _box([_PRE.format(escape(written)), f"<small>{escape(how)}</small>"], _GREEN if is_complete else _RED)


def choice(chosen: str, probabilities: Mapping[str, float]) -> str:
    """How likely each of some texts is, as bars, the likeliest first; the one that was chosen is bold."""
    ordered = sorted(probabilities.items(), key=lambda each: -each[1])
    rows = []
    for name, probability in ordered[:_MOST_LINES]:
        shown = f"<code>{escape(_first_lines(name))}</code>"
        width = f"width:{100 * probability:.1f}px"
        bar = f'<div style="display:inline-block;height:.7em;{width};background:{_GREEN}"></div>'
        rows.append((f"<b>{shown}</b>" if name == chosen else shown, f"{bar} {probability:.1%}"))
    if len(ordered) > _MOST_LINES:
        rows.append(("…", f"{_many(len(ordered) - _MOST_LINES, 'more choice')}"))
    return _box(["<b>Choice</b>", _table(rows)])


def message(shown: Message) -> str:
    """The thinking, the text, the calls of tools and the answer of a text, as far as there are any."""
    rows = [
        (label, _PRE.format(escape(_first_lines(text))))
        for label, text in (("reasoning", shown.reasoning), ("content", shown.content))
        if text is not None
    ]
    for call in shown.tool_calls[:_MOST_NAMES]:
        rows.append((f"calls <code>{escape(call.name or '…')}</code>", _value(call.arguments)))
    if len(shown.tool_calls) > _MOST_NAMES:
        rows.append(("…", _many(len(shown.tool_calls) - _MOST_NAMES, "more call")))
    if shown.value is not None:
        rows.append(("value", _value(shown.value)))
    return _box(["<b>Message</b>", _table(rows)])


def captures(shown: Sequence[Capture]) -> str:
    """The names and values of captures, those inside of others below them, moved to the right."""
    rows: list[tuple[str, str]] = []
    # Captures may be nested deeply.
    left = [(0, each) for each in reversed(shown)]
    while left and len(rows) < _MOST_LINES:
        depth, capture = left.pop()
        name = f'<span style="margin-left:{min(depth, 20)}em">{escape(capture.name)}</span>'
        rows.append((name, _value(capture.value)))
        left += [(depth + 1, each) for each in reversed(capture.captures)]
    if left:
        rows.append(("…", "more captures"))
    return _box(["<b>Captures</b>", _table(rows)])


def _value(value: object) -> str:
    try:
        written = repr(value)
    except RecursionError:
        written = "…"
    return f"<code>{escape(_first_lines(written))}</code>"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><td style="text-align:left">{k}</td><td style="text-align:left">{v}</td></tr>' for k, v in rows
    )
    return f"<table>{cells}</table>"


def _box(parts: Iterable[str], edge: str = "#7f8aa3") -> str:
    return f'<div style="border-left:4px solid {edge};padding-left:.8em">{"".join(parts)}</div>'


def _first_lines(source: str) -> str:
    lines = source.splitlines()
    more = ["…"] if len(lines) > _MOST_LINES else []
    return "\n".join(line if len(line) <= 400 else line[:400] + "…" for line in (*lines[:_MOST_LINES], *more))


def _shortened(items: list[str], more: str) -> list[str]:
    return items if len(items) <= _MOST_NAMES else [*items[:_MOST_NAMES], more]


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
