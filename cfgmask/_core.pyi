"""The compiled core: what happens for each token.

Thread rule for the whole module: a `Matcher` belongs to one thread at a time; `TokenTable` and `CompiledGrammar` may be
used by any number of threads at once (their caches are guarded inside). No mask calls back into Python.

The docstrings of this file are those that `help` shows: the build copies them into the module.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, final

from numpy.typing import NDArray

from cfgmask.compiler.explanation import Explanation
from cfgmask.compiler.observation import MaskEvent
from cfgmask.diagnostics import Source
from cfgmask.grammar.ir import EndlessKind, HoldsKind
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.lark import nodes
from cfgmask.regex.parser import PatternData

@final
class TokenTable:
    """The byte strings of a vocabulary as a trie; `cfgmask.Vocabulary.core` is one. Immutable, for any thread.

    tokens      bytes of each id; b"" for an id without text
    end_tokens  ids that end a text; their bytes are ignored
    common      what most grammars have, by which the caches that grammars share are begun
    Errors: ValueError for no tokens or too many, and for end tokens that are no ids.
    Cost: linear in the bytes plus a sort; about 30 ms for 128k tokens.
    """

    def __init__(self, tokens: Sequence[bytes], end_tokens: Sequence[int], common: Sequence[PortableRegex]) -> None: ...
    @property
    def n_vocab(self) -> int:
        """The number of ids."""
    @property
    def end_tokens(self) -> list[int]:
        """The ids that end a text, ascending."""
    @property
    def fingerprint(self) -> int:
        """A hash of the bytes of all tokens, end tokens left out.

        Equal for equal vocabularies in one process; different for others, but for chance.
        """
    @property
    def held_bytes(self) -> bytes:
        """The bytes that some token holds, end tokens left out; ascending."""
    @property
    def holds_every_byte(self) -> bool:
        """Whether these are all bytes, so that no text is beyond the vocabulary."""
    @property
    def writes_json(self) -> bool:
        """Whether these bytes complete whatever they begin of a JSON value.

        They are all printable characters of ASCII, and all bytes of longer characters or none.
        """
    @staticmethod
    def fingerprint_of(tokens: Sequence[bytes], end_tokens: Sequence[int]) -> int:
        """The `fingerprint` that a vocabulary of these tokens has. Errors: as of `TokenTable`. Cost: a pass."""
    def text(self, token: int) -> bytes:
        """The bytes of a token; b"" for an end token. Raises IndexError for an id that there is not."""

class RegexBuilder:
    """Interns regex nodes and answers questions about them. Nodes are small integers that belong to this builder."""

    def __init__(self, limits: dict[str, int] | None = None) -> None: ...
    @property
    def search_steps(self) -> int:
        """How many derivatives all searches took so far."""
    def is_empty(self, node: int) -> bool:
        """Whether no text matches. Raises LimitExceeded(max_search_steps)."""
    def is_endless(self, node: int) -> bool: ...
    def is_infinite(self, node: int) -> bool:
        """Whether infinitely many texts match. Raises LimitExceeded(max_search_steps)."""
    def count(self, node: int, at_most: int) -> int | None:
        """How many texts match; None for infinitely many or more than `at_most`. Raises LimitExceeded."""
    def matches(self, node: int, data: bytes) -> bool: ...
    def is_prefix(self, node: int, data: bytes) -> bool:
        """Whether some matching text starts with `data`."""
    def shortest(self, node: int) -> bytes | None:
        """A shortest matching byte string, the smallest of them bytewise; None if nothing matches."""
    def automaton(
        self, nodes: Sequence[int], max_states: int
    ) -> list[tuple[list[int], list[int], list[tuple[bytes, int]]]] | None:
        """What a lexer does in which these nodes are live, without the empty text; None beyond `max_states`.

        For each state, the first being the one before any byte: the positions in `nodes` that may still match, those
        that match what was read, and for each next state the bytes that lead there, as 256 bits, least significant
        first. Raises LimitExceeded.
        """
    def first(self, node: int) -> bytes:
        """The bytes that a matching text may begin with, and perhaps some more, as 256 bits."""
    def lexeme_ends(self, nodes: Sequence[int], max_states: int) -> LexemeEnds | None:
        """The automaton that `automaton` gives, for questions about it."""
    def trees(self, max_nesting: int) -> RegexTreeBuilder:
        """What makes nodes out of regex trees; `max_nesting` bounds the height of these."""
    def portable(self, regex: PortableRegex) -> int:
        """The node of a regex. Linear the first time. Raises LimitExceeded (max_nesting, max_regex_nodes)."""

class PortableRegex:
    """A regex that any builder can make nodes of, without Python. Immutable, for any thread; see `portable_regex`."""

def regex_as_tree(tree: RegexTree, max_nesting: int) -> RegexTree:
    """The regex of a tree as the core has it, simplified, as a tree again. For tests."""

def portable_regex(tree: RegexTree, max_nesting: int) -> PortableRegex:
    """The regex of a tree of `cfgmask.grammar.regex_tree`. Linear in the tree's objects.

    Raises LimitExceeded (max_nesting, which bounds the height of trees) and OverflowError for counts beyond 31 bits.
    """

class LexemeEnds:
    """How the lexemes of some terminals end where all of them are live. Sets of bytes are 256 bits in 32 bytes.

    A terminal is its position in the nodes that this was made of. Every question is linear in the automaton.
    Made by `RegexBuilder.lexeme_ends`.
    """

    @property
    def n_states(self) -> int:
        """The number of states of the automaton."""
    @property
    def states(self) -> list[tuple[list[int], list[int], list[tuple[bytes, int]]]]:
        """All of the automaton, as from `RegexBuilder.automaton`."""
    @property
    def matched_sets(self) -> list[list[int]]:
        """The different sets of terminals that are complete together."""
    @property
    def first(self) -> list[tuple[bytes, list[int]]]:
        """What a lexeme may begin with: bytes, and the terminals that are live behind them."""
    def ends(self, terminal: int) -> list[tuple[int, bytes]]:
        """The different ends of a terminal's lexemes: a number into `matched_sets`, and the bytes that are taken."""
    def always_reaches(self, terminal: int, good: Sequence[int]) -> bool:
        """Whether every beginning of a terminal's lexeme can go on to one of these ends, numbers into `ends`."""
    def can_be_left(self, terminal: int, begin: bytes, wanted: bytes, chosen: Sequence[bool]) -> bool:
        """Whether a terminal's lexeme that begins with one of `begin` can end where a byte of `wanted` is not taken.

        chosen  for each of `matched_sets`, whether the parser is given the terminal there
        """

class RegexTreeBuilder:
    """Makes nodes of a builder out of the trees of `cfgmask.grammar.regex_tree`. A tree object is taken once.

    Made by `RegexBuilder.trees`.
    """

    def node(self, tree: RegexTree) -> int:
        """The builder's node for a tree. Linear in the objects not seen before.

        Raises LimitExceeded (max_nesting, which bounds the height of trees; max_regex_nodes) and OverflowError for
        counts beyond 31 bits.
        """

class GrammarBuilder:
    """Takes a grammar's rules, whose bodies are expressions; `compile` makes it one. Used by `cfgmask.compiler` alone.

    Numbers of scopes, rules, rows and expressions are those that the methods return; the core numbers symbols itself.
    A place is a number of the caller's, by which `Matcher.explain` asks where a symbol stands. Regexes are trees of
    `cfgmask.grammar.regex_tree`; a tree object is read once. Raises LimitExceeded (max_nesting, which bounds the height
    of trees), OverflowError for counts of regexes beyond 31 bits, and IndexError for numbers that are none.
    """

    def __init__(self, max_nesting: int) -> None: ...
    def scope(self, ignore_once: bool) -> int: ...
    def ignore(
        self,
        scope: int,
        regex: RegexTree,
        name: str,
        before: RegexTree | None = None,
        after: RegexTree | None = None,
    ) -> None: ...
    def indenter(self, newline: RegexTree, scope: int, tab_len: int, name: str) -> None: ...
    def rule(
        self,
        place: int,
        parametric: bool = False,
        capture: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        opens_set: bool = False,
        required: Sequence[str] = (),
        minimum: int = 0,
        maximum: int | None = None,
        endless: bool = False,
        holds: str = "values",
        step: tuple[int, int | None] = (0, None),
        members: Sequence[tuple[str | None, int | None, int | None]] = (),
    ) -> int:
        """Add a rule and return its number; `body` sets its body. The arguments after `opens_set` bound the set."""
    def body(self, rule: int, body: int) -> None: ...
    def terminal(
        self,
        name: str,
        regex: RegexTree,
        scope: int,
        place: int,
        priority: int = 0,
        distinct: bool = False,
        closes_set: bool = False,
        lazy: bool = False,
        endless: str = "",
        role: str = "",
        step: tuple[int, int | None] = (0, None),
        max_tokens: int | None = None,
        before: RegexTree | None = None,
        after: RegexTree | None = None,
        suffix: tuple[RegexTree, RegexTree, str] | None = None,
    ) -> int:
        """Add a terminal, as an expression. Equal ones are one, which has the least of their places.

        suffix  body, end, and the name under which the end is captured, or ""
        """
    def token_set(self, ids: int, scope: int, name: str, place: int) -> int:
        """Add a token set, as an expression. `ids` is a number in what `compile` is given."""
    def indent(self, is_dedent: bool, scope: int, name: str, place: int) -> int: ...
    def reference(self, rule: int) -> int: ...
    def call(self, rule: int, keep: int, set: int) -> int: ...
    def call_counting(self, rule: int, low: int, high: int, up: bool) -> int: ...
    def part(
        self, schema: SchemaWithLayout, form: SchemaForm | None, tokens: Sequence[int], may_be_empty: bool, place: int
    ) -> int:
        """Add a schema, of which rules are made when texts come to them, as an expression.

        form    that the schema is written in, if that is not JSON; see `SchemaWithLayout.in_form`
        tokens  the form's tokens, which are token sets
        """
    def rows(
        self,
        texts: Sequence[str],
        schemas: Sequence[SchemaWithLayout],
        may_be_empty: Sequence[bool],
        text_capture: str | None,
        schema_capture: str | None,
        scope: int,
        form: SchemaForm | None,
        tokens: Sequence[int],
        text_place: int,
        schema_place: int,
    ) -> int:
        """Add texts, and a schema for each. `scope` is that of the texts; the rest: as for `part`."""
    def variants(self, rows: int, body: Sequence[int]) -> int:
        """Add an alternative for each row, with the row's in place of `row_text` and `row_part`.

        It is a body, or stands in a choice that is one.
        """
    def row_text(self) -> int: ...
    def row_part(self) -> int: ...
    def sequence(self, parts: Sequence[int]) -> int: ...
    def choice(self, parts: Sequence[int]) -> int: ...
    def repeat(self, body: int, minimum: int, maximum: int | None) -> int: ...
    def guarded(self, body: int, condition: Sequence[tuple[str, bool, int, int, int]]) -> int: ...
    def start(self, expression: int, scope: int, complete: bool, ignore_initial: bool, ignore_final: bool) -> None:
        """Set the rule or part that every text matches. Text that `scope` ignores may stand at both ends of a text."""
    def compile(
        self, vocabulary: TokenTable, limits: dict[str, int], shard: int, token_ids: Sequence[Sequence[int]]
    ) -> CompiledGrammar | tuple[Literal["no text", "needs rules", "distinct within limits"], list[int]]:
        """Bind the grammar to a vocabulary. The form takes no more, and stays with the compiled grammar.

        token_ids  those of token sets, by their numbers
        returns    or why that fails. "no text": the grammar has none at all, with the places of terminals that match
                   none, and of rules whose limits hold none. "needs rules": parts within limits on tokens have to be
                   rules. "distinct within limits": there are values that have to be there and to differ, with the
                   places of the limits around them
        Raises LimitExceeded.
        """

def compile_schema(
    schema: SchemaWithLayout, vocabulary: TokenTable, limits: dict[str, int], shard: int
) -> CompiledGrammar:
    """Bind a schema to a vocabulary. Raises LimitExceeded."""

def number_regex(
    kind: Literal["number", "integer"],
    low: tuple[str, bool] | None,
    high: tuple[str, bool] | None,
    step: str | None,
) -> RegexTree | Literal["no numbers", "too many digits"]:
    """The numbers of JSON that meet all conditions, written without an exponent, integers without a point.

    low, high  bounds as decimals, and whether they are exclusive
    step       the numbers are multiples of this one, which is positive
    returns    or why there is no regex: no number meets the conditions, or numbers have too many digits to tell
    Linear in the digits.
    """

class KnownStrings:
    """What all readings of schemas know of strings: the patterns of formats, and conditions met before. For any thread.

    formats      for each, its name, the parts that its strings are one after the other, and a pattern that all strings
                 of the format match, if the parts do not say all of them. A part is a pattern of Python's dialect in
                 which `.` is any character, and a bound on its octets in UTF-8, if it has one; no parts: the regex is
                 asked for
    pattern_dialect  that of the patterns of schemas: "ecma", "python" or "rust"
    data         what is asked for data of Unicode
    max_nesting  of the patterns
    """

    def __init__(
        self,
        formats: Sequence[tuple[str, Sequence[tuple[str, int | None]], str | None]],
        pattern_dialect: str,
        data: PatternData,
        max_nesting: int,
    ) -> None: ...
    def format(self, name: str) -> PortableRegex | None:
        """The regex of a format's decoded strings; None if only Python has it. KeyError for an unknown format."""

_PatternCases = list[tuple[RegexTree, RegexTree | None, RegexTree | None]]

class PatternReader:
    """Reads patterns into regex trees.

    data  what is asked for data of Unicode, and for the texts of named groups; all but names and properties once
    """

    def __init__(self, data: PatternData) -> None: ...
    def read(
        self,
        pattern: str,
        dialect: Literal["python", "rust", "ecma"],
        flags: str,
        use: Literal["text", "search", "lexeme", "extended-text", "extended-lexeme"],
        named_groups: bool,
        ascii_digits: bool,
        keep_excluded: bool,
        max_nesting: int,
        max_parts: int,
    ) -> tuple[
        object,
        list[tuple[str, int, int, tuple[str, ...]]],
        tuple[Literal["problems", "lazy", "max_nesting", "max_regex_nodes"], int] | None,
    ]:
        r"""What a pattern means, what is wrong, and why and where reading was given up, if it was.

        A problem is a code of `cfgmask.regex.messages`, the characters from where to where, and what its text is about.
        With any problem there is no meaning.
        flags          letters that stand after the pattern
        use            "text": the tree of the texts that match as a whole; "search": of those in which it is found.
                       "lexeme": cases, each a tree and what all of the text before and after must be (None: anything);
                       and the words that the only case must not begin with: their tree, the characters of words and
                       those of these words but for the first of each; None for no words.
                       "extended-...": expressions, each after those that it consists of: a kind, from where to where,
                       and a tree, cases, a name, or places in the list and then counts
        named_groups   groups of some names mean more than grouping, and several may have the same one
        ascii_digits   `\d` matches those of ASCII only
        keep_excluded  words that a lexeme must not begin with may stay words
        max_parts      what groups, classes and so on may come to, a run of characters being one part
        Linear, a microsecond a part; up to tenths of a second for assertions other than anchors.
        """

    def has_lazy(
        self, pattern: str, dialect: Literal["python", "rust", "ecma"], flags: str, max_nesting: int, max_parts: int
    ) -> bool:
        """Whether a pattern has lazy repetitions that leave it a choice. False where it has errors."""

def combined_lexemes(
    how: Literal["sequence", "alternation", "intersection", "repetition"],
    lexemes: Sequence[_PatternCases],
    minimum: int,
    maximum: int | None,
) -> _PatternCases | None:
    """Lexemes put together, as the cases of `PatternReader.read`, of which some look at what stands beside them.

    The counts are those of a repetition, of one lexeme. None where it takes more states, cases or steps than are
    allowed, or a tree is of another kind than patterns are made of.
    """

class LarkNodeTypes:
    """Reads statements of extended Lark into the nodes of `cfgmask.lark`, which it looks up when it is made."""

    def read(
        self, reader: object, source: Source, start: int, end: int, max_tokens: int, max_nesting: int
    ) -> list[nodes.Statement]:
        """The statements of a part of a text, one after the other.

        reader       is told what is wrong, and makes what the core does not; as `cfgmask.lark.reader` has it
        start, end   of the part, in characters
        max_tokens   what may be in it, JSON apart, or else `reader.refuse_tokens` is called
        max_nesting  how many brackets may be open, or else `reader.refuse_nesting` is called
        Raises what the reader raises. Linear.
        """

def lark_tokens(text: str) -> list[tuple[str, int, int]]:
    """The tokens of a text in extended Lark: terminals of `syntax.lark`, or "UNREADABLE", with start and end."""

MAX_LARK_NAME: Final[int]
"""The characters of the longest name; names are repeated in messages."""

def lark_name(text: str) -> Literal["rule", "terminal"] | None:
    """Whether a text is the name of a rule or of a terminal, of at most `MAX_LARK_NAME` characters."""

class JsonDocument:
    """An object or a boolean in JSON as the core reads it. Immutable; made by `json_document`."""

    @property
    def schema_uri(self) -> str | None:
        """What it says under `$schema`."""

def json_document(value: Any, max_nesting: int) -> JsonDocument | None:
    """The document of a JSON text, or of Python values: None, bool, int, float, str, list, dict.

    None for what is no object and no boolean, or not certain to be JSON without a closer look, and for a `$schema` that
    is no string. Linear.
    """

class SchemaIR:
    """A JSON Schema that the core reads, to the last reference. Immutable; made by `SchemaReader`."""

    def holds_with_digits(self, most: int | None) -> bool:
        """Whether there are enough unique items if numbers have at most so many digits in a row."""

class YamlLayout:
    """How schemas are written in YAML. Immutable.

    strings  those that need no quotes
    keys     the same of keys
    numbers  those that are read as such
    most_of_key  how many characters a key without a name has at most
    most_of_written_key  the same of one with a name, with its quotes and escapes
    indent   by how many spaces a block below a key is indented, at least 1
    """

    def __init__(
        self,
        strings: PortableRegex,
        keys: PortableRegex,
        numbers: PortableRegex,
        most_of_key: int,
        most_of_written_key: int,
        indent: int,
    ) -> None: ...

class ValueLayout:
    """How the values of schemas are written: the same for all with the same options. Immutable.

    max_digits      as in `JsonSchemaOptions`
    plain_numbers   whether its `numbers` are "plain"
    marks           how these are written: `{`, `[`, `}` after a member, `}` right after `{`, the same of `]`, `,`, `:`
    ignored         what may stand between lexemes, if anything may, and what it is called
    ignore_once     as in `Scope`
    indent          as in `JsonSchemaOptions`; the marks are then written as lines want it
    yaml            of `syntax` "yaml", which has neither marks nor `indent`
    canonical_strings  whether `escapes` are "canonical"
    strings         what strings of JSON are written, if not all spellings are
    any_order       whether `property_order` is "any"
    """

    def __init__(
        self,
        max_digits: int | None,
        plain_numbers: bool,
        marks: Sequence[PortableRegex],
        ignored: PortableRegex | None,
        ignored_name: str,
        ignore_once: bool,
        indent: int | None,
        yaml: YamlLayout | None,
        canonical_strings: bool,
        strings: PortableRegex | None,
        any_order: bool,
    ) -> None: ...

class SchemaWithLayout:
    """What was read, and how it is written: all that a grammar takes. Immutable."""

    def __init__(self, reading: SchemaIR, layout: ValueLayout) -> None: ...
    def rules(
        self, form: SchemaForm | None, n_tokens: int, limits: dict[str, int], max_nonterminals: int
    ) -> tuple[
        tuple[list[tuple[str, RegexTree]], bool],
        list[tuple[str, RegexTree, bool, bool, EndlessKind, bool, tuple[int, int | None]] | None],
        list[tuple[int, int, int | None]],
        list[
            tuple[
                list[str],
                int,
                int | None,
                bool,
                HoldsKind,
                tuple[int, int | None],
                tuple[tuple[str | None, int | None, int | None], ...],
            ]
        ],
        list[tuple[int | None, list[list[int]] | None]],
        bool,
    ]:
        """The rules that the schema becomes, those first that are nearest to the start, for those who look at them.

        form      in which the outermost object is written, and how many tokens that has; None: it is JSON
        max_nonterminals  where there are so many, others get no rules any more: they are the frontier
        returns   what may stand between lexemes, as names and regexes, and whether only once in a gap; the terminals,
                  as (name, regex, may be empty, distinct, endless, closes_set, step); the repeats, as (symbol, minimum,
                  maximum); sets, as the fields of `SetBounds`; and for each nonterminal, of which 0 is the start, its
                  set and its alternatives, None for one of the frontier; and whether there is no frontier
        A symbol is a number: its kind in the bits from the 29th on (a terminal 0, a nonterminal 1, a token 2, a repeat
        3) and its place in the list in those below. Errors: LimitExceeded.
        """
    @property
    def nests_too_deep(self) -> bool:
        """Whether the schema allows values that are nested too deep for indented lines."""
    @property
    def has_keys_without_names(self) -> bool:
        """Whether some object may have keys that the schema does not name."""
    def in_form(
        self, form: SchemaForm, max_rules: int, regexes: Callable[[], RegexBuilder]
    ) -> tuple[list[str], list[str], list[str], bool, bool] | None:
        """How the outermost object of the schema can be written in a form, if it can.

        The names of members that not every form can write; names in values that the form cannot write; what else it
        cannot: "any order", "equal numbers", "counted keys" or "equal composites"; whether some text that is not empty
        is left, if nothing is refused; and whether the outermost object may have no members. None if it is read as
        lines.

        Linear; but strings with patterns are asked about in `regexes`, which is called for them alone, and all rules
        are made, at most `max_rules`, where some value may have no text. Raises LimitExceeded.
        """
    @property
    def regexes(self) -> list[PortableRegex]:
        """Those of its terminals that no list, pattern or range says."""

class SchemaForm:
    """A form of arguments that is not JSON, as the core writes the outermost object of a schema in it. Immutable.

    keys       the pieces before a value, the same for all; or six such lists, for null, booleans, numbers, strings,
               arrays and objects. A piece is ("text", text, "", 0); ("key", before, behind, 0), which is a key between
               two texts; ("gap", "", "", 0), white space that may be missing; or ("token", "", "", n), a token by its
               number
    end        the text that ends a value, up to a token
    after_end  the pieces from that token on
    stop       strings do not hold it
    pad        may stand around strings with conditions
    has_gaps   whether white space may stand before each member and after the last one
    has_python_words  whether null, true and false may be written as Python does
    values     what is not written as text: arrays and objects, as "json" or as literals of Python ("python inside");
               all values, as such literals ("python"); or the outermost object, too ("python object"). Or all objects
               have keys without quotes, and strings are text between delimiters ("delimited object"); or the form is
               that of all arrays and objects ("tags")
    separator  between members
    delimiter  before and after a string
    item       the pieces before and after an item
    key_characters  matches a character of a key
    """

    def __init__(
        self,
        keys: Sequence[Sequence[tuple[str, str, str, int]]],
        end: str,
        after_end: Sequence[tuple[str, str, str, int]],
        stop: str,
        pad: str,
        has_gaps: bool,
        has_python_words: bool,
        values: str,
        separator: str,
        delimiter: Sequence[tuple[str, str, str, int]],
        item: tuple[Sequence[tuple[str, str, str, int]], Sequence[tuple[str, str, str, int]]],
        key_characters: PortableRegex | None,
    ) -> None: ...

class Writable:
    """Which values are left of a schema, since texts lack some bytes or escapes. For `cfgmask.json_schema` alone.

    held           the bytes that there are
    max_digits, plain_numbers  how numbers are written, as of `ValueLayout`
    has_strings    whether there are any
    arrays, objects  whether there are any, and how many items or keys one may have at most; None: any number
    strings        the strings that can be written, as a schema in JSON; empty: all
    is_written     tells whether a string that a schema lists can be written, or the name of a member (is_name)
    """

    def __init__(
        self,
        held: bytes,
        max_digits: int | None,
        plain_numbers: bool,
        has_strings: bool,
        arrays: tuple[bool, int | None],
        objects: tuple[bool, int | None],
        strings: str,
        is_written: Callable[[str, bool], bool],
    ) -> None: ...

class SchemaReader:
    """Reads JSON Schemas whose root is in one dialect. Immutable, for any thread.

    Used by `cfgmask.json_schema` alone.

    asserted    keywords that restrict instances
    strings     the formats that do, and what is known of strings
    identifier  the keyword that gives a schema a URI
    reference_hides_siblings  whether an object with `$ref` is nothing but a reference
    exclusive   what `exclusiveMinimum` and `exclusiveMaximum` are: "boolean", in draft 4, of which an integer has no
                fraction, "number", or "either"
    plain_numbers  whether a schema with numbers that no double holds is not taken
    is_indented  whether one is not taken that has only values that are nested too deep to be indented
    yaml        whether one is not taken that cannot be written in YAML
    any_order   whether one is not taken in which keys that must hold something may run out in some order
    """

    def __init__(
        self,
        asserted: Sequence[str],
        strings: KnownStrings,
        identifier: str,
        reference_hides_siblings: bool,
        exclusive: Literal["boolean", "number", "either"],
        plain_numbers: bool,
        is_indented: bool,
        yaml: YamlLayout | None,
        any_order: bool,
    ) -> None: ...
    def read(
        self,
        document: JsonDocument,
        answers: Any,
        max_nesting: int,
        max_rules: int,
        max_search_steps: int,
        writable: Writable | None,
    ) -> SchemaIR | None:
        """The schema; None where it cannot be enforced, or is not certain to be a schema at all.

        `answers` has these methods:

        alike(folding, only_ascii)  the classes of two or more characters that the flag i of a pattern makes equal, by a
                         name of `cfgmask.regex.case_folding`; only_ascii: those with a letter of ASCII
        format(name)     the texts of a format that `KnownStrings` has without parts; asked once
        properties(name)  the characters of a property by its name in a pattern, if there is such: the first and the
                         last of each range, sorted and apart from each other, as numbers of 32 bits
        drafts(uri, around)  how a schema is read that has this `$schema` and stands in one that the other reader reads;
                         the same for the same dialect
        document(uri)    a document that the schema refers to and does not have; None if there is none. What is asked
                         for is added to `document`

        Linear, but for conditions on strings that take a search. Raises LimitExceeded (max_rules, max_search_steps)
        with the place in the schema, also where an answer raises it, and what else the answers raise.
        """
    def read_leniently(
        self,
        document: JsonDocument,
        answers: Any,
        max_nesting: int,
        max_rules: int,
        max_search_steps: int,
        writable: Writable | None,
    ) -> tuple[SchemaIR | None, list[tuple[int, str]]]:
        """The schema without what cannot be enforced, and that: numbers of `refusals.REFUSALS` and JSON Pointers.

        None where nothing can be made of it, with the reason as the last refusal; for no value at all, with the places
        that nothing satisfies together. Patterns that are not read are no conditions, and not told of.
        """
    def read_all(
        self,
        schemas: Sequence[Any],
        answers: Callable[[], Any],
        layout: ValueLayout,
        max_nesting: int,
        max_rules: int,
        max_search_steps: int,
    ) -> list[SchemaWithLayout | None]:
        """What `json_document`, `read` and `SchemaWithLayout` make of each schema; None for one with a `$schema`, too.

        answers  makes what answers the questions of one schema

        Cost: half of that of these calls. Errors as of `read`, for the first schema with one.
        """

@final
class CompiledGrammar:
    """A grammar bound to a vocabulary, made by `cfgmask.compile`.

    Threads: it is immutable for its users, so any number of threads may use it at once.

    Its matchers share masks and states. When these reach `mask_cache_bytes`, `shared_cache_bytes` or half of another
    limit, new texts begin without them, and they are freed with the last matcher that uses them.
    A compiled grammar can be weakly referenced. It takes no attributes and has no subclasses.
    """

    def matcher(
        self,
        max_tokens: int | None = None,
        stall_after: int | None = None,
        *,
        stop_token_ids: Sequence[int] | None = None,
        canonical: bool = False,
    ) -> Matcher:
        """A new matcher at the start of the grammar.

        max_tokens   budget: the text is complete after this many tokens, whichever allowed tokens are taken. A token is
                     allowed only if the text can be completed in the rest of the budget. End tokens don't count: a loop
                     that counts them passes one less. None: no budget.
        stall_after  guard against repetition, at least 1. If this many tokens have only repeated one piece of at most
                     128 bytes, and the completion has not become shorter, then only tokens that make it shorter are
                     allowed, until the text differs. The last 16 bytes of each token are compared. Off in free text,
                     where the text may end or go on with any token of whole characters. None: no guard.
        stop_token_ids  ids at which the host stops, besides the vocabulary's end tokens. Like those, they are allowed
                     exactly where the text may end, and end it. Their bytes are ignored, even if the grammar names them
        canonical    if true and `forced_tokens()` has tokens, the mask allows only the first of them. `advance` still
                     takes every token that the grammar allows.
        Errors: BudgetTooSmall if no completion within `max_tokens` is found; it says how many tokens the shortest one
        that was found takes. That is the shortest in bytes, which may not be the fewest tokens; where values must
        differ (`uniqueItems`, keys in any order), or must not, a shorter one may exist. The verdict depends on the
        grammar, the vocabulary and the limits, not on other texts. ValueError for numbers that are too small, for
        stop tokens that the vocabulary lacks, and, with a budget or guard, for stop tokens that a text may contain;
        VocabularyError for `canonical` if the vocabulary has no encoder.
        Cost: constant; the first budget of a grammar is linear in its rules and its shortest text. A guard adds about a
        microsecond per token, and a few while the text repeats.
        """
    @property
    def vocabulary(self) -> TokenTable:
        """The compiled form of the vocabulary."""
    def stats(self) -> dict[str, Any]:
        """Sizes of the caches, and counts of masks, their time and limits crossed.

        masks_made       masks computed by all matchers; never falls, like all counts up to `rejected_mass`
        masks_copied     masks that were remembered, and only copied
        mask_seconds     time of all masks that were more than a copy: new ones, and those that a budget, a guard or the
                         keys of an object narrow. Includes waits for other threads
        limits_met       dict from the name of a limit to how often a text crossed it
        rejected_masses  number of measurements of the rejected mass: see `observe`
        rejected_mass    sum of these measurements, each from 0 to 1
        masks, mask_bytes  remembered masks, and their size
        bytes            size of all that this grammar has learnt
        states, item_sets, items  states of the parser
        lexer_states, regex_nodes, tables, lexer_bytes, regex_bytes, table_bytes  numbers and sizes of what all grammars
                         of the vocabulary share
        masks_computed   masks computed since the caches last began anew, masks for budgets included
        The entries tables_texts, tables_renamed, tables_counted, tables_bounded, tables_difference, tables_clipped,
        tables_patched and tables_walked count the tables made since then, by the way they were made.
        Cost: some microseconds. Counting adds a few nanoseconds to each mask.
        """
    def observe(self, callback: Callable[[MaskEvent], object] | None = None, *, rejected_mass: bool = False) -> None:
        """Call a function after each mask, and measure the rejected mass.

        callback       function of one `cfgmask.MaskEvent`. It is called in the thread that asked for the mask, after
                       the mask is written; by `fill_masks` at the end, once for each row. An exception that it raises
                       goes to `sys.unraisablehook`, and has no other effect. None: no callback
        rejected_mass  if true, `Matcher.apply` and the integrations measure the share of the probability that the mask
                       takes away. 0 means that the model would have written an allowed token anyway
        Each call replaces the one before; `observe()` switches both off. Pickles contain neither.
        Errors: TypeError if `callback` is not callable.
        Cost: a microsecond per mask and the time of the callback; for the measurement, one exponential per token of the
        vocabulary.
        """
    @property
    def asks_for_rejected_mass(self) -> bool:
        """Whether `observe` was called with `rejected_mass`. Hosts that mask logits themselves then measure it."""
    def add_rejected_mass(self, mass: float) -> None:
        """Count a measurement of the host's own: the share of the probability that a mask took away, from 0 to 1.

        Errors: ValueError for any other number.
        """
    def clear_masks(self) -> None:
        """Forget every remembered mask; for tests and benchmarks. Masks are computed anew when asked for."""

@final
class Matcher:
    """Follows one text through a grammar. Made by `CompiledGrammar.matcher()`.

    A matcher belongs to one thread at a time, which is not checked; its forks may belong to others. It can be weakly
    referenced; it takes no attributes and no subclasses.

    Errors: most methods may raise LimitExceeded, and then leave the matcher as it was.
    Cost: a state that any matcher of the grammar has been in before is looked up, in a microsecond or less; a new state
    is computed once for all matchers.

    Example:
        matcher = compiled.matcher()
        while not matcher.is_finished:
            logits = model(token_ids)
            matcher.apply(logits)
            token_id = int(logits.argmax())
            matcher.advance(token_id)
    """

    def fill_mask(self, bits: NDArray[Any]) -> None:
        """Write the mask of the next token.

        bits  one-dimensional contiguous array of uint32 or int32, at least ceil(n_vocab / 32) words; bit i % 32 of word
              i // 32 is token i, 1 = allowed. Words beyond the mask are set to 0.
        Errors: TypeError and ValueError for any other array, which is not changed; LimitExceeded, and then the array
        allows only end tokens, and only if the text is complete.
        Cost: a copy of a remembered mask; for a new one microseconds to a few milliseconds.
        """
    def apply(self, logits: Any) -> bool:
        """Set the logits outside the mask to -inf, in place.

        logits  one-dimensional buffer of float16, bfloat16, float32 or float64 on the CPU (numpy, torch) of any stride,
                at least n_vocab long; what is beyond n_vocab becomes -inf too
        Returns whether a token is left to sample. False if all allowed tokens were at -inf (or NaN) before, for example
        after a filter for the likeliest tokens.
        Errors: as `fill_mask`; after LimitExceeded the logits are masked in the same way.
        Cost: as `fill_mask`, and a pass over the logits.
        """
    def advance(self, token_id: int) -> None:
        """Consume a token.

        Errors: TokenRejected for a token that is not allowed here, or an id that the vocabulary lacks; the matcher does
        not move.
        """
    def try_advance(self, tokens: Sequence[int], *, consume: bool = True) -> int:
        """The number of tokens that fit, from the first. Consumes them only if all fit and `consume` is true."""
    def advance_bytes(self, data: bytes) -> int:
        """Consume bytes as if they were tokens of one byte each; one step for `rollback`.

        Returns how many bytes fit. The matcher moves only if all fit. They take one token of a budget.
        """
    def rollback(self, n: int) -> None:
        """Take the last n steps back. Cost: n pointers.

        Errors: ValueError if there are fewer steps; the matcher does not move.
        """
    def fork(self) -> Matcher:
        """A second, independent matcher in the same state. Cost: constant."""
    def reset(self) -> None:
        """Go back to the start of the grammar, with no steps to take back."""
    @property
    def is_accepting(self) -> bool:
        """Whether the text may end here, that is, whether end tokens are allowed."""
    @property
    def is_finished(self) -> bool:
        """Whether an end token was consumed; then only end tokens are allowed."""
    @property
    def state(self) -> int:
        """The number of the state: matchers of one grammar with the same number have the same masks from here on, apart
        from tokens that `max_tokens` and `stall_after` remove and `stop_token_ids` change.

        0 after an end token. Other numbers have no meaning, and two states with different numbers may be alike. With
        `canonical`, masks depend on the text too.
        """
    @property
    def n_steps(self) -> int:
        """Steps that `rollback` can take back."""
    def forced_bytes(self) -> bytes:
        """The longest text that every continuation starts with, at most 64 KiB; b"" if the text may end here.

        Cost: up to 256 steps of the lexer for each byte.
        """
    def forced_tokens(self) -> list[int]:
        """The forced text that comes next, in the tokenizer's own tokens.

        However the text goes on, its encoding has these tokens here. The end of the forced text is left out if a
        continuation could join it into another token. The result is empty if the tokenizer would join the end of the
        text so far with the forced text, if it can't encode the text byte for byte (for example after part of a
        character), or if the vocabulary has no encoder. Each token is allowed in its turn.
        The text so far begins after the last token without text; of a long text, only the last words count.
        Unusual tokenizers, whose patterns look ahead at anything but spaces, may choose other tokens.
        Errors: any that `encode` raises, except VocabularyError.
        Cost: as `forced_bytes`; if text is forced, also a few encodings of some hundred bytes and the forced text.
        """
    def jump(self) -> tuple[int, list[int]]:
        """The number of steps to take back, and tokens to write instead: the same text, and the forced text after it.

        Like `forced_tokens`, but text that is not in the tokenizer's own tokens is rewritten. 0 steps and no tokens if
        nothing is forced. The matcher does not move; `rollback` and `try_advance` do that.
        """
    def captures(self) -> list[tuple[str, bytes]]:
        """The matches so far of rules with `[capture]` and of ends with `stop_capture`: names and bytes.

        They are in the order of their ends, inner ones first. A repeated rule appears each time, so `dict(…)` keeps the
        last match. Rules that have not ended yet, or that matched the empty text, are left out. While the last
        lexeme may still go on, its rule counts as ended only if the text is complete. If a text has several readings,
        the captures are those of one reading, always the same for the same text. Tokens without bytes add nothing.

        The result depends on the text alone, so it is right after any `rollback` and in forks.
        Cost: the whole text is read again. Linear in the text and the result; nested captures are each copied.
        Raises LimitExceeded.
        """
    @property
    def temperature(self) -> float | None:
        """The sampling temperature that the grammar asks for here: that of the innermost rule with `[temperature=…]`.

        None if no rule around the next token has one. If the text has several readings, the highest.
        """
    def completion(self) -> list[int] | None:
        """Tokens that complete the text: as few as spell the completion that is shortest in bytes.

        If values must differ, the completion is short, but not always the shortest. Empty if the text is complete; None
        if nothing completes it (a dead end of the grammar). Each token is allowed in its turn, and makes the completion
        at least one token shorter. With a budget, it fits the rest.
        Errors: LimitExceeded if no completion was found within `max_search_steps`, or half of the rest of a limit; the
        other half is kept for the text. ValueError if it would write one of `stop_token_ids` as text.
        Cost: the first time microseconds per byte of the text, then a look-up per token.
        """
    @property
    def tokens_left(self) -> int | None:
        """The rest of the budget in tokens; None without a budget. `rollback` and `reset` give tokens back."""
    @property
    def is_stalled(self) -> bool:
        """Whether the text only repeats, so that `stall_after` narrows the mask here."""
    @property
    def n_stalled(self) -> int:
        """The number of steps that were taken while `is_stalled` was true."""
    def expected(self) -> list[str]:
        """Names of the terminals and token sets that may begin or go on here, without duplicates.

        Ignored terminals are named only if nothing else may come and the text may not end: `WS | COMMENT` for two.
        """
    def explain(self, token_id: int) -> Explanation:
        """Why a token is rejected here, or that it is allowed; `print` it.

        It says how many of the token's bytes fit, and what the grammar expects after them: terminals and their rules,
        with places in the grammar's text. Ids that the vocabulary lacks are explained too.
        Cost: linear in the grammar; meant for people.
        """
    def _repr_html_(self) -> str:
        """What notebooks show: the state, and what may come next."""
    @property
    def compiled(self) -> CompiledGrammar:
        """The compiled grammar of this matcher."""
    def steps(self) -> list[int | bytes]:
        """The steps so far: the id of each token, and the bytes of each `advance_bytes`. Linear."""
    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `CompiledGrammar.matcher`, by name."""
    def to_bytes(self) -> bytes:
        """The position as bytes, from which another process goes on with `from_bytes`. `pickle` does the same.

        They contain the steps so far, the arguments of `CompiledGrammar.matcher`, and fingerprints of grammar and
        vocabulary.
        Cost: linear in the steps. The first call for a grammar is also linear in its text and in the
        vocabulary.
        """
    @staticmethod
    def from_bytes(compiled: CompiledGrammar, data: bytes) -> Matcher:
        """A matcher at the position that `to_bytes` gave, with the same steps to take back.

        compiled  the same grammar, compiled for an equal vocabulary, in any process
        Errors: ValueError for damaged data, and for data of another version, grammar or vocabulary; whatever
        `CompiledGrammar.matcher` raises; LimitExceeded.
        Cost: one `advance` per step.
        """

@final
class Segments:
    """The captures of a text while it is written, for `cfgmask.values.Parser`. It belongs to one thread at a time.

    Decided is what nothing that may follow can change. An event is (whether a capture begins, its name, position in
    bytes).
    """

    def __init__(self, compiled: CompiledGrammar) -> None: ...
    def take_bytes(self, data: bytes) -> int:
        """How many of the bytes fit; these are taken. Limits of rules on tokens count one token for each call."""
    def take_token(self, token_id: int, shown: int = 0) -> bool:
        """Whether the token fits; if so, it is taken. One without text counts as `shown` bytes in positions."""
    def decide(self) -> tuple[list[tuple[bool, str, int]], int]:
        """The events that are decided now and were not told before, and how much of the text is decided."""
    def finish(self) -> tuple[list[tuple[bool, str, int]], int] | None:
        """The same of all that is left, if the text ends here; None if it may not. It may go on after that."""
    def expected(self) -> list[str]:
        """Names of what may begin or go on here, as `Matcher.expected` gives them."""
    @property
    def may_end(self) -> bool:
        """Whether the text may end here."""
    @property
    def names(self) -> list[str]:
        """The names of all captures of the grammar, sorted."""
    def fork(self) -> Segments:
        """A second one at the same place. Cost: constant."""

@final
class Catching:
    """Wraps a function for a C library, which handles no exceptions: gives what it raises to `on_error`.

    function  called with the arguments of the callback; its result is dropped
    on_error  called with the exception and the same arguments; should raise nothing

    A Python function would not do: a signal handler may raise before its first line, outside of any `try` in it.
    Threads: as its functions.
    """

    def __init__(self, function: Callable[..., object], on_error: Callable[..., object]) -> None: ...
    def __call__(self, *args: object) -> None:
        """Call the function."""

def mask_candidates(matcher: Matcher, logits: Any, among: NDArray[Any] | None, may_move: bool) -> int:
    """As `Matcher.apply`, for the candidates of llama.cpp: what the tokens are sampled from.

    logits    as of `apply`; with `may_move` the second of three 32-bit fields of records that begin with the token's id
    among     words of the tokens that are allowed at all, as those that `fill_mask` writes; None: all
    may_move  whether the records of the allowed tokens may be moved to the front, instead of writing -inf to the others
    returns   how many records still count: 0 where no token is left to sample; otherwise all, or those that were moved
    Errors: as `Matcher.apply`; ValueError for logits that are in no such records.
    Cost: that of `fill_mask`, and for 128k tokens 54 microseconds where few are allowed; 3 where they may be moved.
    """

def apply_masks(logits: Any, bits: Any, indices: Sequence[int] | None = None) -> None:
    """Set the logits of each row outside its mask to -inf, in place.

    logits   two-dimensional buffer of float16, bfloat16, float32 or float64 on the CPU, of any strides; columns beyond
             the words of the masks become -inf too
    bits     two-dimensional array of uint32 or int32 with as many rows, each contiguous; row i is for row i of `logits`
    indices  the rows to mask; None: all
    Errors: TypeError and ValueError for other arrays, and for indices that are not rows; nothing is changed then.
    Threads: works without Python's interpreter lock.
    """

def fill_masks(matchers: Sequence[Matcher | None], bits: NDArray[Any], threads: int = 1) -> list[Exception | None]:
    """Fill row i of `bits` with the mask of matcher i.

    matchers  one per row, each matcher once. None gives a row of ones
    bits      two-dimensional array of uint32 or int32 with at least as many rows as matchers, each contiguous and of at
              least ceil(n_vocab / 32) words. Rows beyond the matchers are not changed
    threads   number of threads that share the work, at least 1
    returns   for each matcher, None or an error. A row with an error allows only end tokens, and only if the text is
              complete; the other rows are right
    Errors: TypeError and ValueError for arguments of another shape or type. An exception of a signal handler, such as
    KeyboardInterrupt, ends the call; then some rows may not have been written.
    Cost: 64 remembered masks of 128k tokens take 55 microseconds on one thread. Threads share the copying of remembered
    masks. New masks are computed in parallel for grammars of different shards (see `compile`), one at a time within a
    shard.
    Threads: works without Python's interpreter lock.
    """
