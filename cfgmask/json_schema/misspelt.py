"""Keywords that are written almost like one of JSON Schema: what they were probably meant to be."""

from __future__ import annotations

from functools import lru_cache

from cfgmask.json_schema.drafts import ANNOTATIONS, ASSERTIONS

_TARGETS = (*ASSERTIONS, "$defs", "definitions")
# Words and keywords of others that are near one of JSON Schema and not meant as it.
_OTHERS = frozenset(
    [
        *[
            "cost",
            "note",
            "notes",
            "when",
            "them",
            "text",
            "tape",
            "mixed",
            "formal",
            "costs",
            "hint",
            "one",
            "any",
            "all",
        ],
        *["example", "nullable", "discriminator", "xml", "externalDocs", "enumNames", "enumDescriptions", "formats"],
        *[
            "inclusiveMinimum",
            "inclusiveMaximum",
            "formatMinimum",
            "formatMaximum",
            "formatExclusiveMinimum",
            "formatExclusiveMaximum",
            "dependency",
        ],
    ]
)
_LEAST_LENGTH = 4
_TWO_MISTAKES = 9
"""From this length on two letters may be wrong."""
_MOST_LENGTH = 40


@lru_cache(maxsize=4096)
def meant_by(keyword: str) -> str | None:
    """The keyword that is meant by one that no draft has; None if it is not near any, or starts with `x-`.

    Near is what differs in one letter, or in two of a long one, where swapped neighbours count as one; in case, hyphens
    and underscores; or in the sign before `$ref`.
    """
    if keyword in ASSERTIONS or keyword in ANNOTATIONS or keyword in _OTHERS or keyword[:2].lower() == "x-":
        return None
    # What begins so was taken out on purpose, or is JSON-LD's.
    if keyword[:1] in ("_", "@"):
        return None
    if not _LEAST_LENGTH - 1 <= len(keyword) <= _MOST_LENGTH:
        return None
    plain = _plain(keyword)
    for target in _TARGETS:
        if plain == _plain(target):
            return target
    best: tuple[int, str] | None = None
    for target in _TARGETS:
        if len(target) < _LEAST_LENGTH:
            continue
        most = 2 if min(len(target), len(keyword)) >= _TWO_MISTAKES else 1
        distance = _distance(keyword, target, most)
        if distance <= most and (best is None or distance < best[0]):
            best = distance, target
    return None if best is None else best[1]


def _plain(keyword: str) -> str:
    return keyword.replace("_", "").replace("-", "").lower().strip("$#: ")


def _distance(left: str, right: str, most: int) -> int:
    """How many letters are added, left out, changed or swapped with the next one; more than `most` where it is more."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and b == left[i - 2]:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
