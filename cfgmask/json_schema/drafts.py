"""The drafts of JSON Schema: which there are, how `$schema` names them, which keywords each of them defines."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Draft(enum.IntEnum):
    """A draft. Later drafts compare greater."""

    DRAFT_4 = 4
    DRAFT_6 = 6
    DRAFT_7 = 7
    DRAFT_2019_09 = 8
    DRAFT_2020_12 = 9

    @property
    def label(self) -> str:
        """What diagnostics call the draft."""
        return _LABELS[self]

    @property
    def id_keyword(self) -> str:
        """The keyword that gives a schema a URI."""
        return "id" if self is Draft.DRAFT_4 else "$id"

    @property
    def reference_hides_siblings(self) -> bool:
        """Whether an object with `$ref` is nothing but a reference."""
        return self <= Draft.DRAFT_7


_LABELS = {
    Draft.DRAFT_4: "draft 4",
    Draft.DRAFT_6: "draft 6",
    Draft.DRAFT_7: "draft 7",
    Draft.DRAFT_2019_09: "draft 2019-09",
    Draft.DRAFT_2020_12: "draft 2020-12",
}

_BY_URI = {
    "json-schema.org/draft-04/schema": Draft.DRAFT_4,
    "json-schema.org/draft-06/schema": Draft.DRAFT_6,
    "json-schema.org/draft-07/schema": Draft.DRAFT_7,
    "json-schema.org/draft/2019-09/schema": Draft.DRAFT_2019_09,
    "json-schema.org/draft/2020-12/schema": Draft.DRAFT_2020_12,
}

LATEST = Draft.DRAFT_2020_12


def draft_of_uri(uri: str) -> Draft | None:
    """The draft that a `$schema` names; the scheme and an empty fragment do not matter."""
    return _BY_URI.get(uri.partition("://")[2].removesuffix("#").rstrip("/"))


def _since(draft: Draft) -> frozenset[Draft]:
    return frozenset(d for d in Draft if d >= draft)


def _until(draft: Draft) -> frozenset[Draft]:
    return frozenset(d for d in Draft if d <= draft)


# Keywords that restrict instances, and the drafts in which they do.
ASSERTIONS: dict[str, frozenset[Draft]] = {
    **dict.fromkeys(
        [
            "$ref",
            "type",
            "enum",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "pattern",
            "format",
            "items",
            "minItems",
            "maxItems",
            "uniqueItems",
            "properties",
            "patternProperties",
            "additionalProperties",
            "required",
            "minProperties",
            "maxProperties",
        ],
        frozenset(Draft),
    ),
    **dict.fromkeys(["const", "contains", "propertyNames"], _since(Draft.DRAFT_6)),
    **dict.fromkeys(["if", "then", "else"], _since(Draft.DRAFT_7)),
    **dict.fromkeys(
        [
            "dependentRequired",
            "dependentSchemas",
            "minContains",
            "maxContains",
            "unevaluatedProperties",
            "unevaluatedItems",
        ],
        _since(Draft.DRAFT_2019_09),
    ),
    "prefixItems": _since(Draft.DRAFT_2020_12),
    "$dynamicRef": _since(Draft.DRAFT_2020_12),
    "$recursiveRef": frozenset([Draft.DRAFT_2019_09]),
    "dependencies": _until(Draft.DRAFT_7),
    "additionalItems": _until(Draft.DRAFT_2019_09),
}

# Of the vocabularies of the drafts that have them: the keywords that do not restrict where a metaschema leaves one out.
# What is in none of them belongs to the core vocabulary.
_VALIDATION = frozenset(
    [
        *["type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
        *["minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains"],
        *["minProperties", "maxProperties", "required", "dependentRequired"],
    ]
)
_UNEVALUATED = frozenset(["unevaluatedItems", "unevaluatedProperties"])
_APPLICATOR = frozenset(
    [
        *["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "prefixItems", "items"],
        *["additionalItems", "contains", "properties", "patternProperties", "additionalProperties", "propertyNames"],
    ]
)
_VOCABULARIES: dict[str, frozenset[str]] = {
    "2019-09/vocab/applicator": _APPLICATOR | _UNEVALUATED,
    "2019-09/vocab/validation": _VALIDATION,
    "2019-09/vocab/format": frozenset(["format"]),
    "2020-12/vocab/applicator": _APPLICATOR,
    "2020-12/vocab/unevaluated": _UNEVALUATED,
    "2020-12/vocab/validation": _VALIDATION,
    "2020-12/vocab/format-annotation": frozenset(["format"]),
    "2020-12/vocab/format-assertion": frozenset(["format"]),
}
_VOCABULARY_URI = "https://json-schema.org/draft/"


def idle_keywords(vocabularies: Iterable[str]) -> frozenset[str]:
    """The keywords that restrict nothing where a metaschema has these vocabularies, by their URIs, and no others."""
    used = [_VOCABULARIES.get(uri.removeprefix(_VOCABULARY_URI), frozenset()) for uri in vocabularies]
    return frozenset().union(*_VOCABULARIES.values()).difference(*used)


# Keywords that say something about a schema or an instance without restricting it. A draft that does not know one of
# them ignores it all the same.
ANNOTATIONS = frozenset(
    [
        "$schema",
        "$id",
        "id",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$vocabulary",
        "$comment",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
    ]
)

# Keywords of OpenAPI, of editors and of libraries, which no draft has and which restrict nothing.
EXTENSIONS = frozenset(
    [
        *["nullable", "example", "discriminator", "xml", "externalDocs", "optional", "strict", "propertyOrdering"],
        *["propertyOrder", "order", "enumNames", "enumDescriptions", "markdownDescription", "errorMessage"],
        *["markdownEnumDescriptions", "deprecationMessage", "patternErrorMessage", "defaultSnippets"],
        *["doNotSuggest", "suggestSortText", "allowComments", "allowTrailingCommas", "tsType", "javaType"],
        *["$async", "$merge", "$patch", "name", "label", "options", "meta", "version", "author", "links", "unit"],
        *["formatMinimum", "formatMaximum", "formatExclusiveMinimum", "formatExclusiveMaximum", "fileMatch", "hidden"],
    ]
)
