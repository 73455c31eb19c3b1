"""The style of a model, found in its chat template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.tokenizers.gguf_file import GgufFile
from cfgmask.tools.style import Style, names, style

Sureness = Literal["sure", "likely"]

_TEMPLATE_KEY = "tokenizer.chat_template"
_MOST_READ = 1_000_000


@dataclass(frozen=True)
class Recognised:
    """A style that was found.

    sureness  "sure" if no other style fits, "likely" if others fit as well
    others    the names of these, the more specific first
    """

    style: Style
    sureness: Sureness
    others: tuple[str, ...]


def style_for(wanted: str | Style, template: Any) -> tuple[Style, tuple[Diagnostic, ...]]:
    """The style of a name, or that of a template for "auto", with a note of how sure that is.

    Errors: TypeError; ValueError for an unknown name; GrammarError (code `tools-style`) if "auto" finds none.
    """
    if isinstance(wanted, Style):
        return wanted, ()
    if not isinstance(wanted, str):
        raise TypeError(f"style must be a str or a Style, not {type(wanted).__name__}")
    if wanted != "auto":
        return style(wanted), ()
    found = recognise(template_of(template)) if template is not None else None
    if found is None:
        message = 'style="auto" needs a `template`' if template is None else "no style fits this chat template"
        raise GrammarError([Diagnostic("tools-style", message, help=f"name a style: {', '.join(names())}")])
    message = f"the style {found.style.name} was found in the chat template: {found.sureness}"
    if found.others:
        message += f", since {' and '.join(found.others)} would fit as well"
    return found.style, (Diagnostic("tools-style", message, severity="note"),)


def recognise(template: str) -> Recognised | None:
    """The style whose signs are in a chat template; None if there is none.

    A sign is a text that is in the template, or with `!` before it one that is not. Of several styles, that with the
    most signs of the first kind is taken. Linear in the template, for each style.
    """
    template = template[:_MOST_READ]
    fitting: list[tuple[int, Style]] = []
    for name in names():
        candidate = style(name)
        signs = [_weight(group) for group in candidate.recognise if group and _fits(group, template)]
        if signs:
            fitting.append((max(signs), candidate))
    if not fitting:
        return None
    fitting.sort(key=lambda found: (-found[0], found[1].name))
    _, best = fitting[0]
    others = tuple(other.name for _, other in fitting[1:])
    return Recognised(best, "likely" if others else "sure", others)


def _fits(signs: Iterable[str], template: str) -> bool:
    return all((sign[1:] not in template) if sign.startswith("!") else (sign in template) for sign in signs)


def _weight(signs: Iterable[str]) -> int:
    return sum(not sign.startswith("!") for sign in signs)


def template_of(source: Any) -> str:
    """The chat template in a text, a tokenizer, a model of llama-cpp-python, its metadata, or a GGUF file.

    Errors: ValueError if there is none in it; OSError.
    """
    if isinstance(source, PathLike) or (isinstance(source, str) and source.endswith(".gguf") and "\n" not in source):
        return template_of(_metadata_of(Path(source)))
    if isinstance(source, str):
        return source
    if isinstance(source, Mapping):
        found = source.get(_TEMPLATE_KEY, source.get("chat_template"))
    else:
        metadata = getattr(source, "metadata", None)
        found = metadata.get(_TEMPLATE_KEY) if isinstance(metadata, Mapping) else getattr(source, "chat_template", None)
    if isinstance(found, (list, tuple)):
        # Several by name, as older tokenizers have them.
        found = {one.get("name"): one.get("template") for one in found if isinstance(one, Mapping)}
    if isinstance(found, Mapping):
        found = found.get("tool_use") or found.get("default")
    if not isinstance(found, str) or not found:
        raise ValueError(f"there is no chat template in this {type(source).__name__}")
    return found


def _metadata_of(path: Path) -> dict[str, str]:
    with GgufFile(path) as file:
        found = file.scalar(_TEMPLATE_KEY)
    return {_TEMPLATE_KEY: found} if isinstance(found, str) else {}
