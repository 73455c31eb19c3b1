"""The public `Grammar`: one class, many ways in.

What reads a grammar is imported with the first one, but not inside of the function that needs it: an import that has
nothing to do takes 7 to 12 microseconds where other work has emptied the processor's caches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, lru_cache, partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypedDict, overload

from cfgmask import json_schema, lark, regex
from cfgmask.compiler.recipe import FORMAT, Documents, KeptSchema, Recipe
from cfgmask.diagnostics import Diagnostic, Source, Span
from cfgmask.errors import GrammarError, ParseError
from cfgmask.grammar.embedding import with_prefix
from cfgmask.grammar.ir import GrammarIR, Part, Rule, Scope, Terminal
from cfgmask.grammar.parts import expanded, notes_of, parts_of
from cfgmask.grammar.regex_tree import KeySet, RegexTree
from cfgmask.grammar.variants import spread
from cfgmask.json_schema.guidance import writes_as_usual
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.json_schema.session import session
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.source_file import read_source

if TYPE_CHECKING:
    from cfgmask import _core
    from cfgmask.lark import Files
    from cfgmask.regex import DialectName, Digits
    from cfgmask.tags.tagged import Tagged
    from cfgmask.tools.answer import Answer
    from cfgmask.tools.read import Tool
    from cfgmask.tools.style import Style
    from cfgmask.types import ReadType
    from cfgmask.values import Parser
    from cfgmask.values.reading import Reading
    from cfgmask.vocabulary import Vocabulary


if TYPE_CHECKING:
    from typing_extensions import TypeVar, Unpack

    # Of a grammar that says nothing of its values, any: `Grammar` alone is `Grammar[Any]`.
    Value_co = TypeVar("Value_co", covariant=True, default=Any)

    class TypeOptions(TypedDict, total=False):
        """What `Grammar.from_type` takes by name; its docstring says more."""

        strict: bool
        limits: Limits | None
        whitespace: str
        item_separator: str
        key_separator: str
        indent: int | None
        numbers: Literal["plain", "any"]
        max_digits: int | None
        syntax: Literal["json", "yaml", "call"]
        escapes: Literal["any", "canonical"]
        property_order: Literal["schema", "any"]
        formats: Literal["assert", "annotate"]
        on_unsupported: Literal["error", "relax"]
        unknown_keywords: Literal["warn", "error"]
        pattern_dialect: Literal["ecma", "python", "rust"] | None
else:
    from typing import TypeVar

    Value_co = TypeVar("Value_co", covariant=True)
Kind = TypeVar("Kind")

_Written: TypeAlias = "Callable[[_core.TokenTable], GrammarIR | None]"
"""As `Grammar.written_with`."""

PATTERN_SOURCE = "<pattern>"
"""What diagnostics call a pattern that is a grammar by itself."""


class Grammar(Generic[Value_co]):
    """A grammar that was read and checked, not yet bound to a vocabulary. Made by one of the `from_…` methods.

    `cfgmask.compile(grammar, vocabulary)` is the next step.

    The `from_…` methods raise GrammarError with every problem they find, TypeError for arguments of another type, and
    LimitExceeded. Their cost is linear in the text, apart from searches that `Limits` bound.

    Threads: a grammar is immutable, so any number of threads may use it.

    Type checkers know the type of the values: `Grammar.from_type(City)` is a `Grammar[City]`.

    A pickle contains the text or schema, the options, and everything that was retrieved, imported or passed as
    `grammars`. Unpickling reads the grammar again from these, and no other file. It raises ValueError for a pickle in
    the format of another version.

    Example:
        grammar = cfgmask.Grammar.from_json_schema({"type": "object"})
        compiled = cfgmask.compile(grammar, vocabulary)
        value = grammar.parse('{"a": 1}')
    """

    # `lazy`: the JSON Schema that it was made of, as the core read it, or the intermediate form with schemas as parts;
    # `ir` says the same.

    __slots__ = ("_bind", "_ends", "_for_text", "_ir", "_notes", "_reading", "_recipe", "_written", "lazy", "name")

    def __init__(
        self,
        ir: GrammarIR | Callable[[], GrammarIR],
        name: str = "<grammar>",
        lazy: _core.SchemaWithLayout | GrammarIR | None = None,
    ) -> None:
        if not isinstance(ir, GrammarIR) and not callable(ir):
            raise TypeError(
                f"Grammar() is not called with a {type(ir).__name__}: use Grammar.from_lark(text), "
                "Grammar.from_json_schema(schema), Grammar.from_regex(pattern) or another `from_` method"
            )
        self._ir = ir
        self.name = name
        self.lazy = lazy
        self._recipe: Recipe | None = None
        # Of a grammar with markers, which a vocabulary may have as tokens.
        self._bind: Callable[[Vocabulary], GrammarIR] | None = None
        self._ends: tuple[str, ...] | None = None  # of texts that call tools
        # Where there are schemas; of others, and where this says None, the intermediate form has them.
        self._notes: Callable[[], tuple[Diagnostic, ...]] | None = None
        # Of a grammar with values of JSON: what it is where they cannot be written with every byte.
        self._written: _Written | None = None
        # How values are made of its texts, where that is not for its captures to say.
        self._reading: Callable[[], Reading] | None = None
        # Compiled for `parse` without a vocabulary, once it was asked for, and the special tokens.
        self._for_text: tuple[_core.CompiledGrammar, Mapping[str, int]] | None = None

    @property
    def ir(self) -> GrammarIR:
        """The intermediate form; of a schema it is made when it is first asked for.

        Raises LimitExceeded where all rules at once take more than the limits of the schema allow.
        """
        if not isinstance(self._ir, GrammarIR):
            self._ir = self._ir()
        return self._ir

    def ir_for(self, vocabulary: Vocabulary) -> GrammarIR:
        """`parted_ir` for a vocabulary: markers of tags and tools are written by the tokens that it has for them."""
        return spread(self.compact_ir_for(vocabulary))

    def compact_ir_for(self, vocabulary: Vocabulary) -> GrammarIR:
        """`ir_for` where alternatives that are alike may be `ir.Variants`. For the compiler."""
        return self.parted_ir if self._bind is None else self._bind(vocabulary)

    @property
    def parted_ir(self) -> GrammarIR:
        """The intermediate form in which schemas are parts (`ir.Part`) where the core reads them. Not for analysis."""
        lazy = self.lazy
        if lazy is None:
            return self.ir
        if isinstance(lazy, GrammarIR):
            return lazy
        part = Part("", lazy, self._lower_part, lambda: self.notes)
        return GrammarIR((Rule("start", part),), "start", ignore_initial=False, ignore_final=False)

    def _lower_part(self, prefix: str) -> GrammarIR:
        return with_prefix(self.ir, prefix)

    def written_with(self, tokens: _core.TokenTable) -> GrammarIR | None:
        """The intermediate form for a vocabulary without some bytes; None if it is no other than for any.

        Values that the vocabulary cannot write are left out, so that arrays without equal items, and objects with so
        many keys, are not begun if there are too few. The core takes care of everything else.
        Raises GrammarError if what is left cannot be enforced, and LimitExceeded.
        """
        return None if self._written is None else self._written(tokens)

    def __repr__(self) -> str:
        return f"<Grammar {self.name}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the name, the text and the notes."""
        from cfgmask import notebook

        return notebook.grammar(self, self._source())

    def _source(self) -> str | None:
        """The text or schema as text; None for a grammar that was made of neither."""
        import json

        if self._recipe is None:
            return None
        arguments = self._recipe.arguments()
        for name in ("text", "pattern"):
            if isinstance(arguments.get(name), str):
                return str(arguments[name])
        schema = arguments.get("schema")
        if isinstance(schema, KeptSchema):
            schema = schema.value
        return schema if isinstance(schema, str) or schema is None else json.dumps(schema, indent=2, default=repr)

    def __reduce__(self) -> tuple[Callable[..., Grammar], tuple[int, str, dict[str, Any]]]:
        if self._recipe is None:
            return _made_again, (FORMAT, "ir", {"ir": self.ir, "name": self.name})
        return _made_again, (FORMAT, self._recipe.reader, self._recipe.arguments())

    def _made_by(self, reader: str, arguments: Callable[[], dict[str, Any]]) -> Grammar:
        self._recipe = Recipe(reader, arguments)
        return self

    def __copy__(self) -> Grammar:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Grammar:
        return self

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Warnings and annotations found while the grammar was read. Never raises."""
        return self.ir.notes if self._notes is None else self._notes()

    def parse(
        self,
        text: str | bytes | Iterable[int],
        vocabulary: Vocabulary | _core.CompiledGrammar | None = None,
    ) -> Value_co:
        """The value of a text that the grammar matches. See docs/how-to/values.md.

        text        str, bytes, or token ids. Ids need a vocabulary; an end token may be the last of them
        vocabulary  a Vocabulary, or the grammar compiled for one. None: the text is read byte by byte, and special
                    tokens by their names
        returns     for a JSON Schema, the JSON value; for a type, an instance; for tools, a `cfgmask.values.Message`;
                    for other captures, `cfgmask.values.Captures`; otherwise the text
        Errors: ParseError if the grammar does not match the text; it gives the byte offset and what was expected there.
        TypeError for ids without a vocabulary. ValueError for an integer with more digits than Python reads
        (`sys.set_int_max_str_digits`). Whatever making the instance raises, such as `pydantic.ValidationError`.
        Cost: linear in the text. The first call without a vocabulary also compiles the grammar for single bytes.

        Example: Grammar.from_json_schema({"type": "array"}).parse("[1, 2]")
        """
        from cfgmask.values.whole import parse

        value: Value_co = parse(self.parser(vocabulary), text, vocabulary is not None)
        return value

    def parser(self, vocabulary: Vocabulary | _core.CompiledGrammar | None = None) -> Parser:
        """A parser for one text, which you feed piece by piece. See docs/how-to/values.md.

        vocabulary  a Vocabulary, or the grammar compiled for one; needed to feed token ids. None: feed text or bytes
        returns     a `cfgmask.values.Parser`, with the events and the value so far
        Cost: the first call without a compiled grammar compiles it.
        """
        from cfgmask.compiler.for_text import compiled_for_text
        from cfgmask.compiler.named_ends import last_tokens
        from cfgmask.compiler.readings import names_of
        from cfgmask.values.parser import Parser
        from cfgmask.values.reading import Reading

        reading = Reading() if self._reading is None else self._reading()
        compiled, special_tokens = compiled_for_text(self, vocabulary)
        return Parser(compiled, reading, special_tokens, last=last_tokens(compiled), names=names_of(compiled))

    @classmethod
    def from_lark(
        cls,
        text: str,
        *,
        name: str = "<grammar>",
        limits: Limits | None = None,
        folder: str | PathLike[str] | None = None,
        grammars: Mapping[str, Grammar | str | dict[str, Any]] | None = None,
        start: str = "start",
    ) -> Grammar:
        """A grammar in extended Lark syntax. See docs/lark.md.

        text      the grammar
        name      name of the text in diagnostics
        start     name of the start rule
        folder    folder of `%import .file`, which reads `.lark` files there and below. None: such imports are errors
        grammars  the meaning of each `@name`: a Grammar, a text in the same syntax, or a JSON Schema as a dict
        Errors: GrammarError with every problem and its place; TypeError; LimitExceeded.
        Cost: linear in the text; a few milliseconds for a page.

        Example: Grammar.from_lark('start: "yes" | "no"')
        """
        _require_text("a grammar", text)
        _require_text("start", start)
        limits = _limits(limits)
        files = lark.Files(None if folder is None else Path(folder))
        return cls._from_lark(text, name, limits, files, dict(grammars or {}), start)

    @classmethod
    def _from_lark(
        cls,
        text: str,
        name: str,
        limits: Limits,
        files: Files,
        grammars: dict[str, Grammar | str | dict[str, Any]],
        start: str,
    ) -> Grammar:
        parse = partial(lark.parse_lark, text, name=name, limits=limits, folder=files, start=start)
        given = {key: _given(key, value, limits) for key, value in grammars.items()}
        read = partial(parse, grammars=given, lazy=True)
        # Schemas may be changed before somebody pickles the grammar.
        handed_over = {
            key: KeptSchema.of(value) if isinstance(value, dict) else value for key, value in grammars.items()
        }

        def arguments() -> dict[str, Any]:
            return {
                "text": text,
                "name": name,
                "limits": limits,
                "folder": None if files.folder is None else str(files.folder),
                "files": files.texts,
                "grammars": handed_over,
                "start": start,
            }

        def written(tokens: _core.TokenTable) -> GrammarIR | None:
            # Without `%json` blocks, in files that it imports, too, there are no values.
            has_values = handed_over or files.texts or "%json" in text
            if not has_values or (tokens.writes_json and not handed_over):
                return None
            if tokens.holds_every_byte:
                return None
            given = {key: _given(key, value, limits, tokens) for key, value in handed_over.items()}
            return parse(grammars=given, held=tokens.held_bytes, lazy=True)

        parted = cache(read)

        def whole() -> GrammarIR:
            with session(limits):
                return expanded(parted())

        if not parts_of(parted()):
            made = cls(parted(), name)
        else:
            made = cls(whole, name, parted())
            made._notes = lambda: notes_of(parted())
        made._written = written
        json = _captures_of_json(parted())
        made._reading = None if not json else partial(_capture_reading, json)
        return made._made_by("lark", arguments)

    @classmethod
    def from_gbnf(
        cls, text: str, *, name: str = "<grammar>", limits: Limits | None = None, start: str = "root"
    ) -> Grammar[str]:
        """A grammar in GBNF, llama.cpp's format, with the extensions of xgrammar's EBNF. See docs/gbnf.md.

        text   the grammar
        name   name of the text in diagnostics
        start  name of the start rule
        Errors: GrammarError with every problem and its place; TypeError; LimitExceeded.

        Example: Grammar.from_gbnf('root ::= "yes" | "no"')
        """
        from cfgmask.gbnf import parse_gbnf

        _require_text("a grammar", text)
        _require_text("start", start)
        given_limits = _limits(limits)
        made = cls(parse_gbnf(text, name=name, limits=given_limits, start=start), name)
        return made._made_by("gbnf", lambda: {"text": text, "name": name, "limits": given_limits, "start": start})

    @classmethod
    def from_json_schema(
        cls,
        schema: dict[str, Any] | bool | str,
        *,
        name: str = "<schema>",
        limits: Limits | None = None,
        retrieve: Callable[[str], Any] | None = None,
        whitespace: str = DEFAULTS.whitespace,
        item_separator: str = DEFAULTS.item_separator,
        key_separator: str = DEFAULTS.key_separator,
        indent: int | None = DEFAULTS.indent,
        numbers: Literal["plain", "any"] = DEFAULTS.numbers,
        max_digits: int | None = DEFAULTS.max_digits,
        syntax: Literal["json", "yaml"] = DEFAULTS.syntax,
        escapes: Literal["any", "canonical"] = DEFAULTS.escapes,
        property_order: Literal["schema", "any"] = DEFAULTS.property_order,
        formats: Literal["assert", "annotate"] = DEFAULTS.formats,
        on_unsupported: Literal["error", "relax"] = DEFAULTS.on_unsupported,
        unknown_keywords: Literal["warn", "error"] = DEFAULTS.unknown_keywords,
        pattern_dialect: Literal["ecma", "python", "rust"] = DEFAULTS.pattern_dialect,
    ) -> Grammar:
        """The JSON texts that are valid against a schema, of any draft from 3 to 2020-12. See docs/json_schema.md.

        schema    the schema as Python values, or as JSON text; with text, numbers stay exact and errors have lines
        name      name of the schema in diagnostics
        retrieve  function from a URI to a schema, as Python values; called for references that leave the schema. None:
                  such references are errors. Nothing is ever fetched
        The other arguments choose how values are written and what is enforced; docs/json_schema.md#options has a table.
        Errors: GrammarError with a JSON Pointer for each keyword that can't be enforced; ValueError for an unknown
        value of an option; TypeError if `schema` is no schema; LimitExceeded; whatever `retrieve` raises.
        Cost: linear in the schema; 0.1 to 1 millisecond for most. Values become rules when a text reaches them.

        Example: Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}})
        """
        limits = _limits(limits)
        _require_schema(schema)
        chosen = _options(
            whitespace,
            item_separator,
            key_separator,
            indent,
            numbers,
            max_digits,
            syntax,
            escapes,
            property_order,
            formats,
            on_unsupported,
            unknown_keywords,
            pattern_dialect,
        )
        documents = None if retrieve is None else Documents(retrieve)
        return cls._from_json_schema(schema, name, limits, documents, chosen)

    @classmethod
    def _from_json_schema(
        cls,
        schema: dict[str, Any] | bool | str,
        name: str,
        limits: Limits,
        documents: Documents | None,
        options: JsonSchemaOptions,
    ) -> Grammar:
        def span_of(schema: Any) -> Span | None:
            return Span(Source(name, schema), 0, len(schema)) if isinstance(schema, str) else None

        read, known_notes = json_schema.read_schema(
            schema, options=options, limits=limits, span=span_of(schema), retrieve=documents
        )
        # The caller may change the schema before somebody asks for the intermediate form, or pickles the grammar.
        kept = KeptSchema.of(schema)

        def again() -> Documents | None:
            """The documents as they were."""
            return None if documents is None else Documents(None, documents.kept)

        def notes() -> tuple[Diagnostic, ...]:
            if known_notes is not None:
                return known_notes
            schema = kept.value
            return json_schema.schema_notes(
                schema, read, options=options, span=span_of(schema), limits=limits, retrieve=again()
            )

        def rules() -> GrammarIR:
            made = json_schema.core_grammar(read, span=span_of(kept.value), limits=limits)
            return replace(made, notes=notes())

        def arguments() -> dict[str, Any]:
            kept_documents = None if documents is None else documents.kept
            return {"schema": kept, "name": name, "limits": limits, "documents": kept_documents, "options": options}

        @lru_cache(maxsize=1)
        def lower_for(held: bytes) -> GrammarIR:
            schema = kept.value
            part = json_schema.schema_part(
                schema, "", options=options, span=span_of(schema), limits=limits, retrieve=again(), held=held
            )
            return GrammarIR((Rule("start", part),), "start", ignore_initial=False, ignore_final=False)

        def written(tokens: _core.TokenTable) -> GrammarIR | None:
            if tokens.holds_every_byte or (tokens.writes_json and writes_as_usual(kept.value, options)):
                return None
            return lower_for(tokens.held_bytes)

        made = cls(rules, name, read)
        made._notes = notes
        made._written = written
        made._reading = partial(_json_reading, options.syntax)
        return made._made_by("json_schema", arguments)

    @overload
    @classmethod
    def from_type(
        cls,
        kind: type[Kind],
        **options: Unpack[TypeOptions],
    ) -> Grammar[Kind]: ...

    @overload
    @classmethod
    def from_type(
        cls,
        kind: Any,
        **options: Unpack[TypeOptions],
    ) -> Grammar: ...

    @classmethod
    def from_type(
        cls,
        kind: Any,
        *,
        strict: bool = False,
        limits: Limits | None = None,
        whitespace: str = DEFAULTS.whitespace,
        item_separator: str = DEFAULTS.item_separator,
        key_separator: str = DEFAULTS.key_separator,
        indent: int | None = DEFAULTS.indent,
        numbers: Literal["plain", "any"] = DEFAULTS.numbers,
        max_digits: int | None = DEFAULTS.max_digits,
        syntax: Literal["json", "yaml", "call"] = DEFAULTS.syntax,
        escapes: Literal["any", "canonical"] = DEFAULTS.escapes,
        property_order: Literal["schema", "any"] = DEFAULTS.property_order,
        formats: Literal["assert", "annotate"] = DEFAULTS.formats,
        on_unsupported: Literal["error", "relax"] = DEFAULTS.on_unsupported,
        unknown_keywords: Literal["warn", "error"] = DEFAULTS.unknown_keywords,
        pattern_dialect: Literal["ecma", "python", "rust"] | None = None,
    ) -> Grammar:
        """The JSON texts from which a value of a Python type can be made. See docs/types.md.

        kind     any type that Pydantic has a JSON Schema for (`pip install 'cfgmask[types]'`), or a function, whose
                 arguments are then the value. Without Pydantic: enums, Literal, and dataclasses of JSON's own types
        strict   true: it is an error if the grammar can't check everything that the type checks, such as validators
                 written in Python. False: `notes` lists these parts
        syntax   "json", "yaml", or "call" for constructor calls such as `Point(x=1, name='a')`: see
                 docs/how-to/constructor-calls.md. With "call", white space, separators and escapes can't be chosen
        pattern_dialect  syntax of the patterns in the type. None: the one that Pydantic uses for it
        The other arguments are those of `from_json_schema`.
        Errors: GrammarError with each part of the type that has no JSON Schema; as `from_json_schema`.
        Cost: as `from_json_schema`, and what Pydantic takes to make the schema.

        Example: Grammar.from_type(list[int]).parse("[1, 2]")
        """
        from cfgmask.types import read_type

        if syntax == "call":
            if strict:
                _refuse_notes(read_type(kind, pattern_dialect))
            chosen = _options(
                whitespace,
                item_separator,
                key_separator,
                indent,
                numbers,
                max_digits,
                DEFAULTS.syntax,
                escapes,
                property_order,
                formats,
                on_unsupported,
                unknown_keywords,
                pattern_dialect or DEFAULTS.pattern_dialect,
            )
            made = cls._from_call(kind, chosen, _limits(limits))
            made._notes = partial(_notes_of_type, kind, pattern_dialect)
            return made

        read = read_type(kind, pattern_dialect)
        if strict:
            _refuse_notes(read)
        made = cls.from_json_schema(
            read.schema,
            name=f"<{getattr(kind, '__name__', kind)}>",
            limits=limits,
            whitespace=whitespace,
            item_separator=item_separator,
            key_separator=key_separator,
            indent=indent,
            numbers=numbers,
            max_digits=max_digits,
            syntax=syntax,
            escapes=escapes,
            property_order=property_order,
            formats=formats,
            on_unsupported=on_unsupported,
            unknown_keywords=unknown_keywords,
            pattern_dialect=read.dialect,
        )
        notes_of_schema = made._notes
        assert notes_of_schema is not None
        made._notes = lambda: (*read.notes, *notes_of_schema())
        made._reading = partial(_json_reading, syntax, read.instance)
        return made

    @classmethod
    def _from_call(cls, kind: Any, options: JsonSchemaOptions, limits: Limits) -> Grammar:
        from cfgmask.types.call import call_grammar, read_call, shape_of
        from cfgmask.values.reading import Reading

        for option in _OF_JSON:
            if getattr(options, option) != getattr(DEFAULTS, option):
                raise TypeError(f"the option {option!r} is for JSON, and syntax is 'call'")
        shape = shape_of(kind)
        with session(limits):
            ir = call_grammar(shape, options, limits)
        made = cls(ir, f"<{getattr(kind, '__name__', kind)}>")
        made._reading = lambda: Reading("text", convert=lambda value, _: read_call(shape, value))
        return made

    @classmethod
    def from_regex(
        cls,
        pattern: str,
        *,
        dialect: DialectName = "python",
        flags: str = "",
        digits: Digits = "unicode",
        limits: Limits | None = None,
    ) -> Grammar[str]:
        r"""The texts that a pattern matches as a whole. See docs/lark.md#regexes.

        pattern  the regular expression
        dialect  its syntax: "python", "rust" or "ecma" (ECMA-262, with the flag `u`)
        flags    letters of the dialect's flags, for example "i" to ignore case
        digits   what `\d` matches: "unicode", as in the dialect; or "ascii", as in ECMA-262
        Groups such as `(?P<QUOTED_TEXT>)` and `(?P<TEXT_TOKEN>)` have the meaning that docs/lark.md gives them.
        Errors: GrammarError with every problem and its place; LimitExceeded.
        Cost: linear in the pattern.

        Example: Grammar.from_regex("[0-9]{4}-[0-9]{2}")
        """
        _require_text("a pattern", pattern)
        limits = _limits(limits)
        span = Span(Source(PATTERN_SOURCE, pattern), 0, len(pattern))
        expr = regex.parse_extended(pattern, dialect=dialect, flags=flags, span=span, limits=limits, digits=digits)
        if isinstance(expr, Terminal):
            ir = _one_terminal("PATTERN", expr.regex, span)
        else:
            # Where the tokens of a regex begin is not for the longest match to decide.
            ir = GrammarIR((Rule("start", expr, span=span),), "start", lexer="complete")
        arguments = {"pattern": pattern, "dialect": dialect, "flags": flags, "digits": digits, "limits": limits}
        return cls(ir, PATTERN_SOURCE)._made_by("regex", lambda: arguments)

    @classmethod
    def from_tools(
        cls,
        tools: Sequence[Any] | Mapping[str, Any],
        *,
        style: str | Style = "auto",
        tool_choice: str | Mapping[str, Any] = "auto",
        parallel_tool_calls: bool | int = True,
        reasoning: str | bool | Mapping[str, Any] = "auto",
        response_format: Any = None,
        prompt: str | None = None,
        template: Any = None,
        name: str = "<tools>",
        limits: Limits | None = None,
        whitespace: str = DEFAULTS.whitespace,
        item_separator: str = DEFAULTS.item_separator,
        key_separator: str = DEFAULTS.key_separator,
        numbers: Literal["plain", "any"] = DEFAULTS.numbers,
        max_digits: int | None = DEFAULTS.max_digits,
        escapes: Literal["any", "canonical"] = DEFAULTS.escapes,
        property_order: Literal["schema", "any"] = DEFAULTS.property_order,
        formats: Literal["assert", "annotate"] = DEFAULTS.formats,
        on_unsupported: Literal["error", "relax"] = DEFAULTS.on_unsupported,
        unknown_keywords: Literal["warn", "error"] = DEFAULTS.unknown_keywords,
        pattern_dialect: Literal["ecma", "python", "rust"] = DEFAULTS.pattern_dialect,
    ) -> Grammar:
        """Thinking, tool calls and answers, in the format of a model family. See docs/tools.md.

        tools            dicts in the format of OpenAI or MCP, Python functions, dataclasses, or Pydantic models
        style            name of the format; `cfgmask.tools.style.names()` lists them. "auto" finds it in `template`,
                         and a note says how certain that is
        tool_choice      "auto", "required", "none", or OpenAI's dict that names one tool or the allowed ones
        parallel_tool_calls  true: any number of calls; false: one; an int: at most so many
        reasoning        "enabled", "disabled", "auto", or {"max_tokens": n}
        response_format  format of an answer: a JSON Schema, OpenAI's dict, or a Python type. None: free text
        prompt           end of the rendered prompt, at least its last turn. It shows whether thinking is already open,
                         and whether a call has begun. None: unknown
        template         where "auto" looks: the text of a chat template, a tokenizer of transformers, a `Llama` of
                         llama-cpp-python, or the path of a GGUF file
        The other arguments are those of `from_json_schema`, for the arguments of tools and for answers.
        Errors: GrammarError with every problem and a JSON Pointer into `tools`; ValueError for an unknown value of an
        argument; LimitExceeded.
        Cost: linear in the tools. The rules of a tool are made when a text first reaches it.

        Example: Grammar.from_tools([get_weather], style="hermes", tool_choice="required")
        """
        from cfgmask.tools import read, recognise
        from cfgmask.tools.answer import read_answer

        chosen = _options(
            whitespace,
            item_separator,
            key_separator,
            DEFAULTS.indent,
            numbers,
            max_digits,
            DEFAULTS.syntax,
            escapes,
            property_order,
            formats,
            on_unsupported,
            unknown_keywords,
            pattern_dialect,
        )
        if prompt is not None:
            _require_text("prompt", prompt)
        found, notes = recognise.style_for(style, template)
        kept = read.read_tools(tools)
        schemas = [tool.schema for tool in kept]
        copy = KeptSchema.of_json(schemas)
        given: dict[str, Any] = {}
        if copy is None:
            schemas = KeptSchema.of(schemas).value
            kept = tuple(tool.with_schema(schema) for tool, schema in zip(kept, schemas, strict=True))
        else:
            # What is read now is the caller's; what is read later is a copy.
            names = [tool.name for tool in kept]
            given = dict(zip(names, schemas, strict=True))
            later = cache(partial(_named_values, names, copy))
            kept = tuple([tool.with_later_schema(later) for tool in kept])
        return cls._from_tools(
            tools=kept,
            given=given,
            style=found,
            tool_choice=KeptSchema.of(tool_choice).value,
            parallel_tool_calls=parallel_tool_calls,
            reasoning=reasoning,
            answer=read_answer(response_format),
            prompt=prompt,
            name=name,
            limits=_limits(limits),
            options=chosen,
            notes=notes,
        )

    @classmethod
    def _from_tools(
        cls,
        tools: tuple[Tool, ...],
        style: Style,
        tool_choice: Any,
        parallel_tool_calls: bool | int,
        reasoning: Any,
        answer: Answer,
        prompt: str | None,
        name: str,
        limits: Limits,
        options: JsonSchemaOptions,
        notes: tuple[Diagnostic, ...],
        given: Mapping[str, Any] = MappingProxyType({}),
    ) -> Grammar:
        from cfgmask.tools import lower
        from cfgmask.tools.choice import read_choice

        arguments = {key: value for key, value in locals().items() if key in _TOOL_ARGUMENTS}
        choice = read_choice(tools, tool_choice, parallel_tool_calls)
        with session(limits):
            tagged, found = lower.lower_tools(
                style,
                choice,
                reasoning=lower.read_reasoning(reasoning),
                answer=answer,
                prompt=prompt,
                options=options,
                limits=limits,
                given=given,
            )
        if answer.is_value:
            _check_answer(answer.schema, lower.begins_without_marker(style, choice), limits)
        every = (*notes, *found)

        def whole() -> GrammarIR:
            with session(limits):
                made = expanded(tagged.ir)
            return replace(made, notes=(*every, *made.notes))

        made = cls(whole, name)
        made._bind = tagged.for_vocabulary
        made._notes = lambda: (*every, *notes_of(tagged.ir))
        made._reading = partial(_message_reading, {tool.name: tool for tool in tools}, options)
        made._ends = tuple(dict.fromkeys((*style.ends.call, *style.ends.answer)))
        return made._made_by("tools", lambda: arguments)

    @classmethod
    def from_structural_tag(
        cls,
        tag: dict[str, Any] | str,
        *,
        name: str = "<structural tag>",
        limits: Limits | None = None,
        whitespace: str = DEFAULTS.whitespace,
        item_separator: str = DEFAULTS.item_separator,
        key_separator: str = DEFAULTS.key_separator,
        numbers: Literal["plain", "any"] = DEFAULTS.numbers,
        max_digits: int | None = DEFAULTS.max_digits,
        escapes: Literal["any", "canonical"] = DEFAULTS.escapes,
        formats: Literal["assert", "annotate"] = DEFAULTS.formats,
        on_unsupported: Literal["error", "relax"] = DEFAULTS.on_unsupported,
        unknown_keywords: Literal["warn", "error"] = DEFAULTS.unknown_keywords,
        pattern_dialect: Literal["ecma", "python", "rust"] = DEFAULTS.pattern_dialect,
    ) -> Grammar:
        """Text, values and tags, described in the JSON format of xgrammar, vLLM and SGLang. See
        docs/structural_tags.md.

        tag   `{"type": "structural_tag", "format": ...}` as Python values or JSON text; or the older form with
              `structures` and `triggers`
        name  name of the tag in diagnostics
        The other arguments are those of `from_json_schema`, for every schema in the tag.
        Errors: GrammarError with a JSON Pointer for each problem; ValueError for an unknown value of an option;
        TypeError for anything but a dict or a str; LimitExceeded.
        Cost: linear in the tag.
        """
        if not isinstance(tag, (dict, str)):
            raise TypeError(f"a structural tag must be a dict or a str, not {type(tag).__name__}")
        chosen = _options(
            whitespace,
            item_separator,
            key_separator,
            DEFAULTS.indent,
            numbers,
            max_digits,
            DEFAULTS.syntax,
            escapes,
            DEFAULTS.property_order,
            formats,
            on_unsupported,
            unknown_keywords,
            pattern_dialect,
        )
        return cls._from_structural_tag(KeptSchema.of(tag), name, _limits(limits), chosen)

    @classmethod
    def _from_tagged(cls, tagged: Tagged, name: str, limits: Limits | None = None) -> Grammar:
        def whole() -> GrammarIR:
            with session(_limits(limits)):
                return expanded(tagged.ir)

        made = cls(whole, name, tagged.ir)
        made._bind = tagged.for_vocabulary
        made._notes = lambda: notes_of(tagged.ir)
        return made

    @classmethod
    def _from_structural_tag(cls, tag: KeptSchema, name: str, limits: Limits, options: JsonSchemaOptions) -> Grammar:
        from cfgmask.tags.read import read_structural_tag

        with session(limits):
            tagged = read_structural_tag(tag.value, name=name, options=options, limits=limits)
        return cls._from_tagged(tagged, name, limits)._made_by(
            "structural_tag", lambda: {"tag": tag, "name": name, "limits": limits, "options": options}
        )

    @classmethod
    def from_choices(cls, choices: Iterable[str]) -> Grammar[str]:
        """Exactly one of the given texts.

        choices  at least one text; equal ones count once
        Errors: GrammarError if there are none, or one is not Unicode; TypeError for a single text.
        Cost: linear in the size of all texts.

        Example: Grammar.from_choices(["yes", "no"])
        """
        if isinstance(choices, (str, bytes)):
            raise TypeError("choices must be a list of texts, not one text")
        texts = list(choices)
        if not texts:
            raise GrammarError(
                [Diagnostic("choices-empty", "there is nothing to choose from", help="give at least one text")]
            )
        made = cls(_one_terminal("CHOICE", KeySet(tuple(map(_encoded, texts))), None), "<choices>")
        return made._made_by("choices", lambda: {"choices": texts})

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        limits: Limits | None = None,
        start: str | None = None,
        whitespace: str = DEFAULTS.whitespace,
        item_separator: str = DEFAULTS.item_separator,
        key_separator: str = DEFAULTS.key_separator,
        indent: int | None = DEFAULTS.indent,
        numbers: Literal["plain", "any"] = DEFAULTS.numbers,
        max_digits: int | None = DEFAULTS.max_digits,
        syntax: Literal["json", "yaml"] = DEFAULTS.syntax,
        escapes: Literal["any", "canonical"] = DEFAULTS.escapes,
        property_order: Literal["schema", "any"] = DEFAULTS.property_order,
        formats: Literal["assert", "annotate"] = DEFAULTS.formats,
        on_unsupported: Literal["error", "relax"] = DEFAULTS.on_unsupported,
        unknown_keywords: Literal["warn", "error"] = DEFAULTS.unknown_keywords,
        pattern_dialect: Literal["ecma", "python", "rust"] = DEFAULTS.pattern_dialect,
    ) -> Grammar:
        """The grammar in a file: `.lark`, `.gbnf`, or `.json` for a JSON Schema or a structural tag.

        path   the file. A `.lark` file may import others (`%import .file`) from its own folder and from those below;
               nothing else is read
        start  name of the start rule. None: `start` in Lark, `root` in GBNF. An error with a schema, which has no rules
        The other arguments are those of `from_json_schema`, and only for a schema or a tag.
        Errors: OSError; GrammarError, also for a file that is not UTF-8 and for an unknown suffix; TypeError for an
        option that the file has no use for; LimitExceeded.

        Example: Grammar.from_file(cfgmask.grammars.path("json"))
        """
        limits = _limits(limits)
        path = Path(path)
        chosen = _options(
            whitespace,
            item_separator,
            key_separator,
            indent,
            numbers,
            max_digits,
            syntax,
            escapes,
            property_order,
            formats,
            on_unsupported,
            unknown_keywords,
            pattern_dialect,
        )
        if path.suffix == ".json":
            if start is not None:
                message = f"{path.name} is a JSON Schema: it has no rule `{start}`"
                raise GrammarError([Diagnostic("file-no-rules", message)])
            text = read_source(path, limits)
            if is_structural_tag(text):
                if chosen.syntax != DEFAULTS.syntax:
                    raise TypeError(f"the option 'syntax' is for a JSON Schema, and {path.name} is a structural tag")
                return cls._from_structural_tag(KeptSchema(text), str(path), limits, chosen)
            return cls.from_json_schema(text, name=str(path), limits=limits, **vars(chosen))
        readers: dict[str, Callable[..., Grammar]] = {
            ".lark": partial(cls.from_lark, folder=path.parent),
            ".gbnf": cls.from_gbnf,
        }
        read = readers.get(path.suffix)
        if read is None:
            help = "name it .lark, .gbnf or .json (a JSON Schema)"
            raise GrammarError([Diagnostic("file-suffix", f"{path.name} does not say what it holds", help=help)])
        for option in fields(chosen):
            if getattr(chosen, option.name) != getattr(DEFAULTS, option.name):
                raise TypeError(f"the option {option.name!r} is for a JSON Schema, and {path.name} is none")
        rule = {} if start is None else {"start": start}
        return read(read_source(path, limits), name=str(path), limits=limits, **rule)


def recipe_of(grammar: Grammar) -> Recipe | None:
    """How a grammar was made; None where it was made of its intermediate form."""
    return grammar._recipe


def _notes_of_type(kind: Any, dialect: DialectName | None) -> tuple[Diagnostic, ...]:
    """What the grammar of a type does not check. Calls write some types that have no JSON Schema; these have none."""
    from cfgmask.types import read_type

    try:
        return read_type(kind, dialect).notes
    except GrammarError:
        return ()


def _refuse_notes(read: ReadType) -> None:
    if read.notes:
        raise GrammarError([replace(note, severity="error") for note in read.notes])


def _json_reading(
    syntax: Literal["json", "yaml"], convert: Callable[[Any, bytes | None], Any] | None = None
) -> Reading:
    from cfgmask.values.reading import Reading

    return Reading(syntax, convert=convert)


def _captures_of_json(grammar: GrammarIR) -> frozenset[str]:
    """The names of the captures whose texts are JSON, of all rules with the name."""
    captured = [rule for rule in grammar.rules if rule.capture is not None]
    others = {rule.capture for rule in captured if not rule.json}
    return frozenset(rule.capture for rule in captured if rule.capture is not None and rule.capture not in others)


def _capture_reading(json: frozenset[str]) -> Reading:
    from cfgmask.values.reading import Reading

    return Reading(json=json)


def _message_reading(tools: Mapping[str, Tool], options: JsonSchemaOptions) -> Reading:
    from cfgmask.values.reading import Reading

    @cache
    def grammar_of(tool: str, key: str) -> Grammar | None:
        """Of the values of an argument; None where it may be anything."""
        whole = tools[tool].schema if tool in tools else None
        if not isinstance(whole, dict):
            return None
        schema = whole.get("properties", {}).get(key, whole.get("additionalProperties"))
        if not isinstance(schema, dict):
            return None
        definitions = {name: whole[name] for name in ("$defs", "definitions") if name in whole}
        try:
            return Grammar._from_json_schema({**definitions, **schema}, name, limits, None, options)
        except GrammarError:
            return None

    limits, name = DEFAULT_LIMITS, "<argument>"

    def allows(tool: str, key: str, text: str) -> bool:
        grammar = grammar_of(tool, key)
        if grammar is None:
            return True
        try:
            grammar.parse(text)
        except ParseError:
            return False
        return True

    return Reading("message", allows)


@lru_cache(maxsize=256, typed=True)
def _known_options(*values: Any) -> JsonSchemaOptions:
    return JsonSchemaOptions(*values)


def _options(*values: Any) -> JsonSchemaOptions:
    """The options with these values, in the order of their fields. Raises ValueError."""
    try:
        return _known_options(*values)
    except TypeError:
        # A value that cannot be hashed is wrong, which the options say.
        return JsonSchemaOptions(*values)


# What says how JSON is written, which constructor calls are not.
_OF_JSON = ("whitespace", "item_separator", "key_separator", "indent", "escapes", "property_order")


def _made_again(version: int, reader: str, arguments: dict[str, Any]) -> Grammar:
    """What a pickle holds."""
    if version != FORMAT:
        raise ValueError(
            f"the pickle of a grammar has the format {version}, and this version of cfgmask reads {FORMAT}: "
            "pickle it with the version that is to read it"
        )
    return _READERS[reader](**arguments)


def _lark_again(
    *, folder: str | None, files: dict[str, tuple[str, str]], grammars: dict[str, Any], **arguments: Any
) -> Grammar:
    given = {key: value.value if isinstance(value, KeptSchema) else value for key, value in grammars.items()}
    kept = lark.Files(None if folder is None else Path(folder), files)
    return Grammar._from_lark(files=kept, grammars=given, **arguments)


def _named_values(names: list[str], kept: KeptSchema) -> dict[str, Any]:
    """The values of a list by the names of its items."""
    return dict(zip(names, kept.value, strict=True))


def _json_schema_again(*, schema: KeptSchema, documents: dict[str, KeptSchema] | None, **arguments: Any) -> Grammar:
    kept = None if documents is None else Documents(None, documents)
    return Grammar._from_json_schema(schema.value, documents=kept, **arguments)


_READERS: dict[str, Callable[..., Grammar]] = {
    "ir": Grammar,
    "lark": _lark_again,
    "gbnf": Grammar.from_gbnf,
    "json_schema": _json_schema_again,
    "regex": Grammar.from_regex,
    "choices": Grammar.from_choices,
    "tools": Grammar._from_tools,
    "structural_tag": Grammar._from_structural_tag,
}


_TOOL_ARGUMENTS = (
    *("tools", "style", "tool_choice", "parallel_tool_calls", "reasoning", "answer"),
    *("prompt", "name", "limits", "options", "notes"),
)


def _check_answer(schema: Any, begins: list[str], limits: Limits) -> None:
    """Raise GrammarError if a value of the schema can begin like a call."""
    if not begins:
        return
    from cfgmask.compiler.build import compile
    from cfgmask.vocabulary import Vocabulary

    grammar = Grammar.from_json_schema(schema, name="<response_format>", limits=limits)
    every_byte = Vocabulary.from_bytes([*(bytes([i]) for i in range(256)), b""], eos_token_id=256)
    compiled = compile(grammar, every_byte, limits)
    for begin in begins:
        data = list(begin.encode())
        if compiled.matcher().try_advance(data) == len(data):
            message = f"an answer could begin with `{begin}`, as calls do in this style"
            help = "use another name for the first property, or a style whose calls begin with a marker"
            raise GrammarError([Diagnostic("tools-response-format", message, pointer="/response_format", help=help)])


def _given(
    name: str,
    value: Grammar | KeptSchema | str | dict[str, Any],
    limits: Limits,
    tokens: _core.TokenTable | None = None,
) -> GrammarIR | str:
    """A grammar that another one uses as `@name`; for a vocabulary, as that writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, KeptSchema):
        value = value.value
    if isinstance(value, dict):
        value = Grammar.from_json_schema(value, name=f"@{name}", limits=limits)
    if not isinstance(value, Grammar):
        raise TypeError(f"the grammar {name!r} must be a Grammar, a str or a schema, not {type(value).__name__}")
    if tokens is None:
        return value.parted_ir
    written = value.written_with(tokens)
    return value.ir if written is None else written


def _require_text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")


def _limits(value: Limits | None) -> Limits:
    if value is None:
        return DEFAULT_LIMITS
    if not isinstance(value, Limits):
        raise TypeError(f"limits must be cfgmask.Limits, not {type(value).__name__}")
    return value


def _require_schema(value: object) -> None:
    """Raise TypeError, which names the right call, if it is often taken for a schema. The reader rejects the rest."""
    if isinstance(value, (dict, bool, str)):
        return
    if isinstance(value, Grammar):
        raise TypeError("from_json_schema takes a schema, and this is a Grammar already: use it as it is")
    if isinstance(value, type) or hasattr(value, "__origin__"):
        shown = getattr(value, "__name__", value)
        raise TypeError(f"from_json_schema takes a schema, and {shown} is a type: call Grammar.from_type({shown})")
    if isinstance(value, PathLike):
        raise TypeError("from_json_schema takes a schema, not a path: call Grammar.from_file(path)")
    if isinstance(value, (bytes, bytearray)):
        raise TypeError("from_json_schema takes JSON text as a str, not bytes: decode it")
    if isinstance(value, Mapping):
        raise TypeError(f"a schema must be a dict, and this is a {type(value).__name__}: call dict(schema)")


def is_structural_tag(text: str) -> bool:
    """Whether JSON text says of itself that it is a structural tag; no JSON Schema has that type."""
    if '"structural_tag"' not in text:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("type") == "structural_tag"


def _encoded(choice: str) -> bytes:
    _require_text("a choice", choice)
    try:
        return choice.encode()
    except UnicodeEncodeError as error:
        message = f"a choice holds the lone surrogate U+{ord(choice[error.start]):04X}, which is no character"
        problem = Diagnostic("choices-surrogate", message, help="choices are written as UTF-8: remove it")
        raise GrammarError([problem]) from None


def _one_terminal(name: str, regex: RegexTree, span: Span | None) -> GrammarIR:
    """A grammar of one terminal, without anything to ignore."""
    terminal = Terminal(name, regex, span=span)
    return GrammarIR(rules=(Rule("start", terminal, span=span),), start="start", scopes=(Scope("main"),))
