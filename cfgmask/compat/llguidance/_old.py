"""What llguidance keeps for old callers."""

from __future__ import annotations

from typing import Any, NoReturn

from cfgmask.compat.llguidance import _grammars
from cfgmask.compat.llguidance._matcher import LLMatcher


class LLInterpreter:
    """Refused: it may take tokens back that were sampled, and says what to do in JSON of its own. Use `LLMatcher`."""

    def __new__(cls, *arguments: Any, **options: Any) -> NoReturn:
        """Raises NotImplementedError."""
        raise NotImplementedError("LLInterpreter is not here: use LLMatcher, which has the same masks")


def _compiled(grammar: str, check: bool) -> str:
    if check:
        error = LLMatcher.validate_grammar(grammar)
        if error:
            raise ValueError(error)
    return grammar


class JsonCompiler:
    """Makes grammars of JSON Schemas. `LLMatcher.grammar_from_json_schema` does, too, and takes the same options."""

    def __init__(
        self,
        separators: tuple[str, str] | None = None,
        whitespace_flexible: bool = False,
        coerce_one_of: bool = False,
        whitespace_pattern: str | None = None,
        json_allowed_escapes: str | None = None,
        json_allow_general_unicode_escapes: bool = False,
    ) -> None:
        item, key = separators or ((",", ":") if whitespace_flexible else (", ", ": "))
        self._options = {
            "item_separator": item,
            "key_separator": key,
            "whitespace_flexible": whitespace_flexible,
            "whitespace_pattern": whitespace_pattern,
            "coerce_one_of": coerce_one_of,
            "lenient": False,
            "json_allowed_escapes": json_allowed_escapes,
            "json_allow_general_unicode_escapes": json_allow_general_unicode_escapes,
        }

    def compile(self, schema: str, check: bool = True) -> str:
        """The grammar of a schema. Errors: ValueError, with `check` also for one that cannot be enforced."""
        if not isinstance(_grammars.read_json(schema), dict):
            return _compiled(_grammars.from_json_schema(schema), check)
        return _compiled(_grammars.from_json_schema(schema, overrides=self._options), check)


class LarkCompiler:
    """Makes grammars of Lark texts."""

    def compile(self, lark: str, check: bool = True) -> str:
        """The grammar of a text. Errors: ValueError for a wrong one, with `check`."""
        return _compiled(_grammars.wrapped("lark_grammar", lark_grammar=lark), check)


class RegexCompiler:
    """Makes grammars of regexes."""

    def compile(self, regex: str, check: bool = True) -> str:
        """The grammar of a regex. Errors: ValueError for a wrong one, with `check`."""
        return _compiled(_grammars.from_regex(regex), check)
