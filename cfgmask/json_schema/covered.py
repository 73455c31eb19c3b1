"""What becomes of each keyword of a schema: whether the grammar holds it, and if not, why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.guidance import POINTER as GUIDANCE
from cfgmask.json_schema.nodes import REFERENCES, Node, Retriever, keyword_note, subschema_places
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.json_schema.problems import MAX_PROBLEMS, ordered
from cfgmask.json_schema.reading import Attempt, attempt
from cfgmask.json_schema.resolve import Schemas
from cfgmask.json_schema.survey import allowed_types
from cfgmask.limits import Limits

Status = Literal["enforced", "annotation", "idle", "relaxed", "refused", "unknown"]


@dataclass(frozen=True)
class Covered:
    """One keyword of a schema, or another place of it at which something is refused or relaxed.

    pointer  its JSON Pointer; with the URI of its document and "#" in front where that is not the one that was given
    keyword  its name; None for a place that is no keyword (a schema as a whole, an element of `required`)
    status   "enforced"    the grammar holds it
             "annotation"  it restricts nothing, wherever it stands
             "idle"        it would restrict something, but not here: nothing refers to the definition around it, the
                           `type` beside it leaves no value that it is about, or the keyword it belongs to is missing
             "relaxed"     more is allowed than it says, as the options want it
             "refused"     there is no grammar because of it
             "unknown"     too much else is wrong for it to be decided
    code     of the diagnostic that says so; None where nothing is reported
    """

    pointer: str
    keyword: str | None
    status: Status
    code: str | None = None


def coverage(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions = DEFAULTS,
    limits: Limits = Limits(),  # noqa: B008  # immutable
    retrieve: Retriever | None = None,
) -> tuple[Covered, ...]:
    """Each keyword of the schema once, in the order of the document; then the other places with problems.

    It takes what `read_schema` takes. Of further documents it has the schemas that are referred to.
    Errors: GrammarError where the text is not JSON; LimitExceeded where a limit is crossed and nothing else is wrong.
    Problems of the schema are no errors here but entries. Cost: that of making the grammar, once more.
    """
    return coverage_of(attempt(schema, options=options, limits=limits, retrieve=retrieve))


def coverage_of(tried: Attempt) -> tuple[Covered, ...]:
    """The same of a schema that was tried before."""
    judge = _Judge(tried)
    listed = {place.pointer: place for place in map(judge.covered, _keywords(judge.live, tried.schemas))}
    return (*listed.values(), *judge.elsewhere(listed))


class _Judge:
    """Decides what becomes of keywords.

    live  the schemas that apply to some value as far as that is plain, each in one of its scopes
    """

    def __init__(self, tried: Attempt) -> None:
        self._schemas = tried.schemas
        self._refused = _codes(tried.errors)
        self._relaxed = _codes(tried.relaxations)
        # Places that say the same as another are reported up to a bound, so beyond it some are missing.
        self._decided = tried.is_complete and max(len(self._refused), len(self._relaxed)) <= MAX_PROBLEMS
        # A contradiction is between keywords that are enforced.
        self._notes = _codes(note for note in tried.survey.notes if note.code != "schema-contradiction")
        self.live = _live(tried.schemas)

    def covered(self, place: tuple[Node, str]) -> Covered:
        """A keyword and its status."""
        node, keyword = place
        pointer = node.at(keyword)
        return Covered(pointer, keyword, *self._status(node, keyword, pointer))

    def elsewhere(self, known: dict[str, Covered]) -> Iterator[Covered]:
        """The places of problems that are no keywords."""
        for pointer, code in self._refused.items():
            if pointer not in known:
                yield Covered(pointer, None, "refused", code)
        for pointer, code in self._relaxed.items():
            if pointer not in known:
                yield Covered(pointer, None, "relaxed", code)

    def _status(self, node: Node, keyword: str, pointer: str) -> tuple[Status, str | None]:
        if pointer in self._refused:
            return "refused", self._refused[pointer]
        if pointer in self._relaxed:
            return "relaxed", self._relaxed[pointer]
        if not node.dialect.asserts(keyword):
            note = None if pointer == GUIDANCE else keyword_note(node, keyword)
            return "annotation", None if note is None else note.code
        if (code := self._notes.get(pointer)) is not None:
            return "annotation" if code == "schema-format-annotation" else "idle", code
        if not self._decided:
            return "unknown", None
        return "enforced" if node.pointer in self.live and _acts(node, keyword, self._schemas) else "idle", None


def _codes(diagnostics: Iterable[Diagnostic]) -> dict[str, str]:
    """The first code at each place."""
    codes: dict[str, str] = {}
    for diagnostic in ordered(diagnostics):
        if diagnostic.pointer is not None:
            codes.setdefault(diagnostic.pointer, diagnostic.code)
    return codes


def _live(schemas: Schemas) -> dict[str, Node]:
    """The schemas that the root reaches through keywords that act, by their pointers. Linear."""
    seen, found, todo = {schemas.root}, dict[str, Node](), [schemas.root]
    while todo:
        node = todo.pop()
        found.setdefault(node.pointer, node)
        for reached in _reached(node, schemas):
            if reached not in seen:
                seen.add(reached)
                todo.append(reached)
    return found


def _reached(node: Node, schemas: Schemas) -> Iterator[Node]:
    if not isinstance(node.value, dict):
        return
    for path in subschema_places(node.value):
        if _acts(node, path[0], schemas):
            yield schemas.child(node, *path)
    for keyword in REFERENCES:
        if node.has(keyword) and isinstance(target := schemas.target(node, keyword), Node):
            yield target


def _keywords(live: dict[str, Node], schemas: Schemas) -> Iterator[tuple[Node, str]]:
    """The keywords of all schemas in the document, and of those elsewhere that are live with all inside of them.

    In the order in which they stand, the document's first: the root is the first of the live ones.
    """
    seen = set[str]()
    for start in live.values():
        todo: list[tuple[Node, str | None]] = [(start, None)]
        while todo:
            node, keyword = todo.pop()
            if keyword is not None:
                yield node, keyword
            elif isinstance(node.value, dict) and node.pointer not in seen:
                seen.add(node.pointer)
                todo += reversed(_contents(node, node.value, schemas))


def _contents(node: Node, value: dict[str, Any], schemas: Schemas) -> list[tuple[Node, str | None]]:
    """The keywords of a schema, the schemas that each holds right after it."""
    inside: dict[str, list[Node]] = {keyword: [] for keyword in value}
    for path in subschema_places(value):
        inside[path[0]].append(schemas.child(node, *path))
    return [
        entry for keyword, held in inside.items() for entry in ((node, keyword), *((child, None) for child in held))
    ]


# When a keyword acts

_ABOUT: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        [
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
            "unevaluatedProperties",
        ],
        frozenset(["object"]),
    ),
    **dict.fromkeys(
        [
            "items",
            "prefixItems",
            "additionalItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
            "unevaluatedItems",
        ],
        frozenset(["array"]),
    ),
    **dict.fromkeys(["minLength", "maxLength", "pattern", "format"], frozenset(["string"])),
    **dict.fromkeys(
        ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], frozenset(["integer", "number"])
    ),
}

_PARTNERS = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}


def _acts(node: Node, keyword: str, schemas: Schemas) -> bool:
    """Whether a keyword restricts some value that the `type` beside it allows, given the keywords beside it."""
    if not node.has(keyword) or not _ABOUT.get(keyword, allowed_types(node)) & allowed_types(node):
        return False
    if keyword in _PARTNERS:
        return node.has(_PARTNERS[keyword])
    if keyword == "if":
        # An `if` alone only evaluates.
        return schemas.annotates or node.has("then") or node.has("else")
    if keyword in ("additionalItems", "prefixItems"):
        return isinstance(node.get("items"), list) == (keyword == "additionalItems")
    if keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(node.get(keyword), bool):
        return node.has("minimum" if keyword == "exclusiveMinimum" else "maximum")
    return True
