"""The places of a schema and what its references point to.

A `Node` is a schema at a place; there is one node a place. References are resolved as RFC 3986 and the drafts say,
within the one document that was given: nothing is ever fetched.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from urllib.parse import unquote, urldefrag, urljoin

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.drafts import ANNOTATIONS, ASSERTIONS, LATEST, Draft, draft_of_uri
from cfgmask.json_schema.values import JsonValue, escape, kind, unescape


@dataclass(frozen=True)
class Dialect:
    """How the keywords of a schema are read.

    declared  whether a `$schema` says so. Without one the draft is a guess, so keywords that only earlier drafts have
              are enforced as those define them instead of being ignored.
    """

    draft: Draft = LATEST
    declared: bool = False

    def asserts(self, keyword: str) -> bool:
        """Whether the keyword restricts instances."""
        drafts = ASSERTIONS.get(keyword)
        if drafts is None or (keyword == "$recursiveRef" and not self.declared):
            return False
        return self.draft in drafts or not self.declared


@dataclass(frozen=True, eq=False)
class Node:
    """A schema at a place. Nodes are equal only if they are the same place of the same document.

    disregarded  the places of keywords that count as absent; the nodes of a document share it
    """

    value: JsonValue
    pointer: str
    base: str
    dialect: Dialect
    disregarded: Set[str] = frozenset()

    def get(self, keyword: str) -> JsonValue:
        """The value of a keyword that the dialect enforces here; None where there is none."""
        return self.value.get(keyword) if isinstance(self.value, dict) and self.has(keyword) else None

    def has(self, keyword: str) -> bool:
        """Whether the keyword is there and restricts instances."""
        if not isinstance(self.value, dict) or keyword not in self.value or not self.dialect.asserts(keyword):
            return False
        if self.disregarded and self.at(keyword) in self.disregarded:
            return False
        return keyword == "$ref" or not self.is_only_reference

    @property
    def is_only_reference(self) -> bool:
        """Whether the draft lets `$ref` hide everything beside it."""
        return self.dialect.draft.reference_hides_siblings and _is_reference(self.value)

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


class Schemas:
    """All places of one schema document. Not for use by several threads at once.

    annotates  whether some schema asks for what others have evaluated (`unevaluated…`)
    """

    def __init__(self, document: JsonValue) -> None:
        self._nodes: dict[str, Node] = {}
        self._resources: dict[str, Node] = {}
        self._anchors: dict[tuple[str, str], Node] = {}
        self._disregarded: set[str] = set()
        self.notes: list[Diagnostic] = []
        self.annotates = False
        self._contents = _content_numbers(document)
        base, dialect = self._enter(document, "", Dialect(), "")
        self.root = self._node(document, "", base, dialect)
        self._resources[""] = self.root
        self._register_identifiers()

    def disregard(self, pointers: Iterable[str]) -> None:
        """Go on as if the keywords at these places were absent, and what should be a schema there but is not, `true`.

        Lets what is wrong elsewhere be found. References into what is disregarded lead where they led.
        """
        for pointer in pointers:
            self._disregarded.add(pointer)
            node = self._nodes.get(pointer)
            if node is not None and not isinstance(node.value, (dict, bool)):
                self._nodes[pointer] = replace(node, value=True)
        self.root = self._nodes[""]

    def child(self, node: Node, *path: str) -> Node:
        """The schema at a path inside another one. The path must exist."""
        value, pointer, base, dialect = node.value, node.pointer, node.base, node.dialect
        for token in path:
            pointer = f"{pointer}/{escape(token)}"
            value = _step(value, token)
            if pointer in self._nodes:
                base, dialect = self._nodes[pointer].base, self._nodes[pointer].dialect
            else:
                base, dialect = self._enter(value, base, dialect, pointer)
        return self._node(value, pointer, base, dialect)

    def children(self, node: Node, keyword: str) -> list[Node]:
        """The schemas of a keyword that holds a list or an object of schemas."""
        held = node.get(keyword)
        if isinstance(held, list):
            return [self.child(node, keyword, str(index)) for index in range(len(held))]
        return [self.child(node, keyword, name) for name in held] if isinstance(held, dict) else []

    def content(self, node: Node) -> Hashable:
        """An object that two nodes share only if they say the same: equal keywords in one order, read in one way."""
        assert isinstance(node.value, dict)
        said = tuple((k, self._contents[id(v)]) for k, v in node.value.items() if k in ASSERTIONS)
        return said, node.base, node.dialect

    def target(self, node: Node, keyword: str = "$ref") -> Node | Diagnostic:
        """What the reference of a node points to, or why it points nowhere."""
        reference, pointer = node.get(keyword), node.at(keyword)
        assert isinstance(reference, str)
        try:
            joined = _join(node.base, reference)
            uri, fragment = urldefrag(joined)
            fragment = unquote(fragment, errors="strict")
        except ValueError:
            return Diagnostic("schema-reference", f"the reference {_quoted(reference)} is not a URI", pointer=pointer)
        resource = self._resources.get(uri)
        if resource is None:
            return Diagnostic(
                "schema-remote-reference",
                f"the reference {_quoted(reference)} leads out of this document",
                pointer=pointer,
                help="nothing is fetched: put the schema it means under $defs and refer to it there",
            )
        found = self._within(resource, fragment)
        if found is None:
            return Diagnostic(
                "schema-reference",
                f"the reference {_quoted(reference)} points to nothing",
                pointer=pointer,
                help="correct it, or add the schema that it means",
            )
        if not isinstance(found.value, (dict, bool)):
            message = f"the reference {_quoted(reference)} points to something that is not a schema"
            return Diagnostic("schema-reference", message, pointer=pointer)
        return found

    def _within(self, resource: Node, fragment: str) -> Node | None:
        if not fragment:
            return resource
        if not fragment.startswith("/"):
            return self._anchors.get((resource.base, fragment))
        path = [unescape(token) for token in fragment[1:].split("/")]
        value = resource.value
        for token in path:
            try:
                value = _step(value, token)
            except (KeyError, IndexError, ValueError):
                return None
        return self.child(resource, *path)

    def _node(self, value: JsonValue, pointer: str, base: str, dialect: Dialect) -> Node:
        node = self._nodes.get(pointer)
        if node is None:
            node = self._nodes[pointer] = Node(value, pointer, base, dialect, self._disregarded)
        return node

    def _enter(self, value: JsonValue, base: str, dialect: Dialect, pointer: str) -> tuple[str, Dialect]:
        """Base URI and dialect inside a value that may be a schema with an identifier of its own."""
        if not isinstance(value, dict):
            return base, dialect
        identifier = value.get(dialect.draft.id_keyword)
        if pointer == "" or isinstance(identifier, str):
            dialect = self._declared(value, dialect, pointer)
        identifier = value.get(dialect.draft.id_keyword)
        if not isinstance(identifier, str) or (dialect.draft.reference_hides_siblings and _is_reference(value)):
            return base, dialect
        try:
            return urldefrag(_join(base, identifier))[0], dialect
        except ValueError:
            return base, dialect

    def _declared(self, value: dict[str, JsonValue], dialect: Dialect, pointer: str) -> Dialect:
        uri = value.get("$schema")
        if not isinstance(uri, str):
            return dialect
        draft = draft_of_uri(uri)
        if draft is not None:
            return Dialect(draft, declared=True)
        self.notes.append(
            Diagnostic(
                "schema-unknown-draft",
                f"$schema {_quoted(uri)} is not a draft known here; the schema is read as {dialect.draft.label}",
                pointer=f"{pointer}/$schema",
                severity="note",
            )
        )
        return dialect

    def _register_identifiers(self) -> None:
        """Find every `$id` and every anchor of the document. Linear."""
        todo = [self.root]
        while todo:
            node = todo.pop()
            if not isinstance(node.value, dict):
                continue
            self._register(node, node.value)
            todo.extend(self.child(node, *path) for path in subschema_places(node.value))

    def _register(self, node: Node, value: dict[str, JsonValue]) -> None:
        if node.dialect.draft.reference_hides_siblings and _is_reference(value):
            return
        self.annotates |= node.has("unevaluatedItems") or node.has("unevaluatedProperties")
        identifier = value.get(node.dialect.draft.id_keyword)
        if isinstance(identifier, str):
            if identifier.startswith("#"):
                self._anchors.setdefault((node.base, identifier[1:]), node)
            else:
                self._resources.setdefault(node.base, node)
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = value.get(keyword)
            if isinstance(anchor, str):
                self._anchors.setdefault((node.base, anchor), node)


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
    message = f"{_quoted(keyword)} is no keyword of JSON Schema and restricts nothing"
    return Diagnostic("schema-unknown-keyword", message, pointer=node.at(keyword), severity="note")


def _content_numbers(document: JsonValue) -> dict[int, int]:
    """A number for each value inside a document, by its identity: the same for equal values. Linear.

    Objects with the same members in another order are different: the order of properties is that of their schema.
    """
    numbers: dict[int, int] = {}
    known: dict[Hashable, int] = {}
    todo: list[tuple[JsonValue, bool]] = [(document, False)]
    while todo:
        value, entered = todo.pop()
        parts: Hashable
        if isinstance(value, (dict, list)) and not entered:
            todo.append((value, True))
            todo.extend((child, False) for child in (value.values() if isinstance(value, dict) else value))
            continue
        if isinstance(value, dict):
            parts = tuple((key, numbers[id(child)]) for key, child in value.items())
        elif isinstance(value, list):
            parts = tuple(numbers[id(child)] for child in value)
        else:
            parts = value
        numbers[id(value)] = known.setdefault((kind(value), parts), len(known))
    return numbers


def _is_reference(value: JsonValue) -> bool:
    return isinstance(value, dict) and isinstance(value.get("$ref"), str)


def _step(value: JsonValue, token: str) -> JsonValue:
    """The element of an array or the member of an object. Raises KeyError, IndexError or ValueError without one."""
    if isinstance(value, dict):
        return value[token]
    if isinstance(value, list) and token.isascii() and token.isdigit() and (token == "0" or token[0] != "0"):
        return value[int(token)] if len(token) < 10 else value[len(value)]
    raise KeyError(token)


def _join(base: str, reference: str) -> str:
    # urljoin drops the base where it does not know its scheme (urn:), which matters for bare fragments.
    return base + reference if reference.startswith("#") else urljoin(base, reference)


def _quoted(value: str) -> str:
    shown = value if len(value) <= 80 else value[:77] + "..."
    return f'"{shown}"'
