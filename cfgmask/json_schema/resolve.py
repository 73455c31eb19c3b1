"""What the references of a schema point to.

There is one node for each place and dynamic scope. References are resolved as RFC 3986 and the drafts say, within the
document that was given and those that its reader retrieves: nothing is fetched here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from urllib.parse import unquote, urldefrag, urljoin

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import LimitExceeded
from cfgmask.json_schema.contents import Contents
from cfgmask.json_schema.drafts import ASSERTIONS
from cfgmask.json_schema.dynamic_scope import NO_SCOPE, RECURSIVE, DynamicAnchors, Scope
from cfgmask.json_schema.near_references import near_reference
from cfgmask.json_schema.nodes import (
    SCHEMA_MAP_KEYWORDS,
    UNDECLARED,
    Dialect,
    Node,
    Retriever,
    declared_dialect,
    is_reference,
    quoted,
    subschema_places,
)
from cfgmask.json_schema.values import JsonValue, escape, read_object, unescape
from cfgmask.limits import Limits
from cfgmask.suggest import question

# What a schema counts of the rules: it takes some 15 microseconds to be found and looked at. In dynamic scopes a few
# resources that refer to each other have thousands.
_RULES_PER_SCHEMA = 16


class Schemas:
    """All places of a schema document and of those that it refers to. Not for use by several threads at once.

    retrieve   gives further documents; none where it is None
    annotates  whether some schema asks for what others have evaluated (`unevaluated…`)
    Raises LimitExceeded(max_rules) where there are too many schemas, and what reading a document raises.
    """

    def __init__(
        self,
        document: JsonValue,
        limits: Limits = Limits(),  # noqa: B008  # immutable
        retrieve: Retriever | None = None,
    ) -> None:
        self._limits = limits
        self._retrieve = retrieve
        self._nodes: dict[tuple[str, Scope], Node] = {}
        self._children: dict[tuple[Node, tuple[str, ...]], Node] = {}
        self._entered: dict[str, tuple[str, Dialect]] = {}
        self._resources: dict[str, Node] = {}
        self._anchors: dict[tuple[str, str], Node] = {}
        self._dynamic_anchors = DynamicAnchors(limits)
        self._dynamic_targets: dict[str, Node] = {}
        self._n_rules = 0
        self._disregarded: set[str] = set()
        self.notes: list[Diagnostic] = []
        self.annotates = False
        self._contents = Contents()
        self.root = self._in_scope(self._add(document, "", "", UNDECLARED), NO_SCOPE)

    def disregard(self, pointers: Iterable[str]) -> None:
        """Go on as if the keywords at these places were absent, and what should be a schema there but is not, `true`.

        Lets what is wrong elsewhere be found. References into what is disregarded lead where they led.
        """
        new = frozenset(pointers)
        if not new:
            return
        self._disregarded |= new
        self._children.clear()
        for place, node in self._nodes.items():
            node.forget()
            if place[0] in new and not isinstance(node.value, (dict, bool)):
                self._nodes[place] = replace(node, value=True)
        self.root = self._nodes[self.root.pointer, self.root.scope]

    def child(self, node: Node, *path: str) -> Node:
        """The schema at a path inside another one. The path must exist."""
        found = self._children.get((node, path))
        if found is None:
            found = self._children[node, path] = self._inner(node, path)
        return found

    def _inner(self, node: Node, path: tuple[str, ...]) -> Node:
        value, pointer, base, dialect, scope = node.value, node.pointer, node.base, node.dialect, node.scope
        is_map = False  # of schemas, which says nothing itself
        for token in path:
            pointer = f"{pointer}/{escape(token)}"
            value = _step(value, token)
            is_map = not is_map and token in SCHEMA_MAP_KEYWORDS
            if is_map:
                continue
            outer = base
            if pointer not in self._entered:
                self._entered[pointer] = self._enter(value, base, dialect, pointer)
            base, dialect = self._entered[pointer]
            if base != outer:
                scope = self._dynamic_anchors.entered(scope, base, pointer)
        return self._node(value, pointer, base, dialect, scope)

    def children(self, node: Node, keyword: str) -> list[Node]:
        """The schemas of a keyword that holds a list or an object of schemas."""
        held = node.get(keyword)
        if isinstance(held, list):
            return [self.child(node, keyword, str(index)) for index in range(len(held))]
        return [self.child(node, keyword, name) for name in held] if isinstance(held, dict) else []

    def content(self, node: Node) -> Hashable:
        """An object that two nodes share only if they say the same: equal keywords in one order, read in one way."""
        assert isinstance(node.value, dict)
        said = tuple((k, self._contents.number(v)) for k, v in node.value.items() if k in ASSERTIONS)
        return said, node.base, node.dialect, node.scope

    def target(self, node: Node, keyword: str) -> Node | Diagnostic:
        """What the reference of a node points to, or why it points nowhere."""
        reference, pointer = node.get(keyword), node.at(keyword)
        assert isinstance(reference, str)
        try:
            joined = _join(node.base, reference)
            uri, fragment = urldefrag(joined)
            fragment = unquote(fragment, errors="strict")
        except ValueError:
            return Diagnostic("schema-reference", f"the reference {quoted(reference)} is not a URI", pointer=pointer)
        resource = self._resource(uri, node, keyword)
        if isinstance(resource, Diagnostic):
            return resource
        found = self._within(resource, fragment)
        if found is None:
            near = near_reference(resource.value, reference)
            return Diagnostic(
                "schema-reference",
                f"the reference {quoted(reference)} points to nothing",
                pointer=pointer,
                help="correct it, or add the schema that it means" if near is None else question(near),
            )
        # A pointer may lead through resources: only the one that it ends in is entered.
        found = self._dynamic(self._in_scope(found, node.scope), keyword, fragment, node.scope)
        if not isinstance(found.value, (dict, bool)):
            message = f"the reference {quoted(reference)} points to something that is not a schema"
            return Diagnostic("schema-reference", message, pointer=pointer)
        return found

    def _dynamic(self, found: Node, keyword: str, fragment: str, scope: Scope) -> Node:
        """What a reference leads to that would lead to `found` if it were a `$ref`."""
        value = found.value if isinstance(found.value, dict) else {}
        if keyword == "$dynamicRef" and fragment and value.get("$dynamicAnchor") == fragment:
            name = fragment
        elif keyword == "$recursiveRef" and value.get("$recursiveAnchor") is True:
            name = RECURSIVE
        else:
            return found
        return self._in_scope(self._dynamic_targets[found.scope.targets[name]], scope)

    def _resource(self, uri: str, node: Node, keyword: str) -> Node | Diagnostic:
        """The schema resource with the URI to which a reference leads, retrieved where it is not known yet."""
        reference, pointer = node.get(keyword), node.at(keyword)
        assert isinstance(reference, str)
        known = self._resources.get(uri)
        if known is not None:
            return known
        if self._retrieve is None:
            near = None if "://" in reference else near_reference(self.root.value, reference)
            help = "nothing is fetched: put the schema it means under $defs, or pass a function as retrieve"
            return Diagnostic(
                "schema-remote-reference",
                f"the reference {quoted(reference)} leads out of this document",
                pointer=pointer,
                help=help if near is None else f"{question(near)} {help[0].upper()}{help[1:]}",
            )
        try:
            given = self._retrieve(uri)
        except Exception as error:  # whatever a caller's function raises
            reason = f"{type(error).__name__}: {error}"
            return Diagnostic(
                "schema-remote-reference", f"{quoted(uri)} could not be retrieved: {reason}", pointer=pointer
            )
        document = read_object(given, self._limits)
        for problem in document.problems:
            message = f"{quoted(uri)} is no schema: {problem.message} (at {problem.pointer or 'its root'})"
            return Diagnostic("schema-remote-reference", message, pointer=pointer)
        return self._resources.setdefault(uri, self._add(document.value, f"{uri}#", uri, node.dialect))

    def _add(self, document: JsonValue, pointer: str, uri: str, dialect: Dialect) -> Node:
        """Add a document: its root, with every `$id` and every anchor inside of it registered. Linear."""
        self._contents.add(document)
        base, dialect = self._enter(document, uri, dialect, pointer, is_root=True)
        root = self._resources[uri] = self._node(document, pointer, base, dialect, NO_SCOPE)
        todo = [root]
        while todo:
            node = todo.pop()
            if isinstance(node.value, dict):
                self._register(node, node.value)
                todo.extend(self.child(node, *path) for path in subschema_places(node.value))
        return root

    def _in_scope(self, node: Node, scope: Scope) -> Node:
        """A schema as it is reached from a scope."""
        entered = self._dynamic_anchors.entered(scope, node.base, node.pointer)
        return self._node(node.value, node.pointer, node.base, node.dialect, entered)

    def _within(self, resource: Node, fragment: str) -> Node | None:
        if not fragment:
            return resource
        if not fragment.startswith("/"):
            anchored = self._anchors.get((resource.base, fragment))
            return None if anchored is None else self._in_scope(anchored, resource.scope)
        path = [unescape(token) for token in fragment[1:].split("/")]
        value = resource.value
        for token in path:
            try:
                value = _step(value, token)
            except (KeyError, IndexError, ValueError):
                return None
        return self.child(resource, *path)

    def _node(self, value: JsonValue, pointer: str, base: str, dialect: Dialect, scope: Scope) -> Node:
        node = self._nodes.get((pointer, scope))
        if node is None:
            if pointer in self._disregarded and not isinstance(value, (dict, bool)):
                value = True
            node = self._nodes[pointer, scope] = Node(value, pointer, base, dialect, scope, self._disregarded)
            self._n_rules += _RULES_PER_SCHEMA
            if self._n_rules > self._limits.max_rules:
                raise LimitExceeded("max_rules", self._limits.max_rules, f"schemas, at {pointer}")
        return node

    def _enter(
        self, value: JsonValue, base: str, dialect: Dialect, pointer: str, *, is_root: bool = False
    ) -> tuple[str, Dialect]:
        """Base URI and dialect inside a value that may be a schema with an identifier or a `$schema` of its own."""
        if not isinstance(value, dict):
            return base, dialect
        is_resource = is_root or isinstance(value.get(dialect.draft.id_keyword), str)
        dialect = self._declared(value, dialect, pointer)
        if not is_resource:
            # What is no identifier in the draft around it was not meant to change what references are relative to.
            return base, dialect
        identifier = value.get(dialect.draft.id_keyword)
        if not isinstance(identifier, str) or (dialect.draft.reference_hides_siblings and is_reference(value)):
            return base, dialect
        try:
            return urldefrag(_join(base, identifier))[0], dialect
        except ValueError:
            return base, dialect

    def _declared(self, value: dict[str, JsonValue], dialect: Dialect, pointer: str) -> Dialect:
        uri = value.get("$schema")
        if not isinstance(uri, str):
            return dialect
        declared = declared_dialect(uri, self._retrieve)
        if declared is not None:
            return declared
        self.notes.append(
            Diagnostic(
                "schema-unknown-draft",
                f"$schema {quoted(uri)} is not a draft known here; the schema is read as {dialect.draft.label}",
                pointer=f"{pointer}/$schema",
                severity="note",
            )
        )
        return dialect

    def _register(self, node: Node, value: dict[str, JsonValue]) -> None:
        if node.dialect.draft.reference_hides_siblings and is_reference(value):
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
                if keyword == "$dynamicAnchor" and node.dialect.asserts("$dynamicRef"):
                    self._register_dynamic(anchor, node)
        is_root = node.base in self._resources and self._resources[node.base].pointer == node.pointer
        if is_root and value.get("$recursiveAnchor") is True and node.dialect.asserts("$recursiveRef"):
            self._register_dynamic(RECURSIVE, node)

    def _register_dynamic(self, anchor: str, node: Node) -> None:
        self._dynamic_anchors.add(node.base, anchor, node.pointer)
        self._dynamic_targets[node.pointer] = node
        # In which scope a schema is reached depends on the anchors.
        self._children.clear()


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
