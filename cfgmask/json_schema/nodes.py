"""The places of a schema: what a schema at a place is, how its keywords are read, which further schemas it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.drafts import ANNOTATIONS, ASSERTIONS, LATEST, Draft, draft_of_uri, idle_keywords
from cfgmask.json_schema.dynamic_scope import NO_SCOPE, Scope
from cfgmask.json_schema.misspelt import meant_by
from cfgmask.json_schema.values import JsonValue, escape
from cfgmask.suggest import question

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True)
class Dialect:
    """How the keywords of a schema are read.

    declared  whether a `$schema` says so. Without one the draft is a guess, so keywords that only earlier drafts have
              are enforced as those define them instead of being ignored.
    idle      keywords of vocabularies that the metaschema leaves out
    """

    draft: Draft = LATEST
    declared: bool = False
    idle: frozenset[str] = frozenset()

    def asserts(self, keyword: str) -> bool:
        """Whether the keyword restricts instances."""
        return keyword in self.assertions

    @cached_property
    def assertions(self) -> frozenset[str]:
        """The keywords that restrict instances."""
        if self.declared:
            asserted = frozenset(keyword for keyword, drafts in ASSERTIONS.items() if self.draft in drafts)
            return asserted - self.idle
        return _WITHOUT_DRAFT


_WITHOUT_DRAFT = frozenset(ASSERTIONS) - {"$recursiveRef"}

UNDECLARED = Dialect()
"""That of a schema without `$schema`."""

DECLARED = {draft: Dialect(draft, declared=True) for draft in Draft}
"""Those of schemas whose `$schema` is that of a draft."""


Retriever = Callable[[str], Any]
"""Gives the schema with a URI, as Python values; raises any exception where there is none."""


def declared_dialect(uri: str, retrieve: Retriever | None) -> Dialect | None:
    """That of a schema whose `$schema` is this; None where that is no draft's, nor a metaschema's that says a draft.

    retrieve  gives metaschemas; none where it is None
    """
    draft = draft_of_uri(uri)
    if draft is not None:
        return DECLARED[draft]
    if retrieve is None:
        return None
    try:
        metaschema = retrieve(uri)
    except Exception:  # whatever a caller's function raises: the draft is unknown then, which is reported
        return None
    declared = metaschema.get("$schema") if isinstance(metaschema, dict) else None
    draft = draft_of_uri(declared) if isinstance(declared, str) else None
    if draft is None:
        return None
    vocabularies = metaschema.get("$vocabulary")
    if draft < Draft.DRAFT_2019_09 or not isinstance(vocabularies, dict):
        return DECLARED[draft]
    return Dialect(draft, declared=True, idle=idle_keywords(map(str, vocabularies)))


@dataclass(frozen=True, eq=False)
class Node:
    """A schema at a place, in a dynamic scope. Nodes are equal only if both are the same.

    pointer      after the URI of the document and "#" where that is not the one that was given
    disregarded  the places of keywords that count as absent; the nodes of a document share it
    """

    value: JsonValue
    pointer: str
    base: str
    dialect: Dialect
    scope: Scope = NO_SCOPE
    disregarded: Set[str] = frozenset()

    def get(self, keyword: str) -> JsonValue:
        """The value of a keyword that the dialect enforces here; None where there is none."""
        return self.keywords.get(keyword)

    def has(self, keyword: str) -> bool:
        """Whether the keyword is there and restricts instances."""
        return keyword in self.keywords

    @cached_property
    def keywords(self) -> dict[str, JsonValue]:
        """The keywords that are there and restrict instances, with their values, in the order of the schema."""
        if not isinstance(self.value, dict):
            return {}
        if self.is_only_reference:
            said = {"$ref": self.value["$ref"]}
        else:
            said = {keyword: held for keyword, held in self.value.items() if self.dialect.asserts(keyword)}
        if not self.disregarded:
            return said
        return {keyword: held for keyword, held in said.items() if self.at(keyword) not in self.disregarded}

    def forget(self) -> None:
        """Read the keywords again when they are next asked for, since `disregarded` has changed."""
        self.__dict__.pop("keywords", None)

    @property
    def is_only_reference(self) -> bool:
        """Whether the draft lets `$ref` hide everything beside it."""
        return is_reference(self.value) and self.dialect.draft.reference_hides_siblings

    def at(self, keyword: str) -> str:
        """The JSON Pointer of a keyword of this schema."""
        return f"{self.pointer}/{escape(keyword)}"


# Which keywords hold schemas, and how.
SCHEMA_KEYWORDS = frozenset(
    [
        "not",
        "if",
        "then",
        "else",
        "items",
        "additionalItems",
        "contains",
        "propertyNames",
        "additionalProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
SCHEMA_LIST_KEYWORDS = frozenset(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
SCHEMA_MAP_KEYWORDS = frozenset(
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"]
)


def subschema_places(value: dict[str, JsonValue]) -> Iterator[tuple[str, ...]]:
    """The paths of what should be the schemas right inside a schema, by the names of the keywords that hold them."""
    for keyword, held in value.items():
        if keyword in SCHEMA_MAP_KEYWORDS and isinstance(held, dict):
            for name, child in held.items():
                # A list in `dependencies` names keys.
                if not (keyword == "dependencies" and isinstance(child, list)):
                    yield keyword, name
        elif keyword in SCHEMA_LIST_KEYWORDS and isinstance(held, list):
            for index in range(len(held)):
                yield keyword, str(index)
        elif keyword in SCHEMA_KEYWORDS and isinstance(held, (dict, bool)):
            yield (keyword,)


def keyword_note(node: Node, keyword: str) -> Diagnostic | None:
    """What to report about a keyword that restricts nothing here; None for one that does or that is well known."""
    if node.dialect.asserts(keyword) or keyword in ANNOTATIONS:
        return None
    if keyword in ASSERTIONS:
        return Diagnostic(
            "schema-other-draft",
            f"{keyword} is no keyword of {node.dialect.draft.label} and restricts nothing",
            pointer=node.at(keyword),
            severity="warning",
            help="change $schema to the draft that this schema is written for",
        )
    message = f"{quoted(keyword)} is no keyword of JSON Schema and restricts nothing"
    meant = meant_by(keyword)
    if meant is None:
        return Diagnostic("schema-unknown-keyword", message, pointer=node.at(keyword), severity="note")
    return Diagnostic(
        "schema-misspelt-keyword", message, pointer=node.at(keyword), severity="warning", help=question(meant)
    )


def is_reference(value: JsonValue) -> bool:
    """Whether a value is an object with a `$ref`."""
    return isinstance(value, dict) and isinstance(value.get("$ref"), str)


def quoted(value: str) -> str:
    """A text of a schema as messages show it."""
    shown = value if len(value) <= 80 else value[:77] + "..."
    return f'"{shown}"'
