"""All inputs from strangers who mean harm."""

from __future__ import annotations

from collections import Counter

from tests.hostile import api, grammars_in_gbnf, grammars_in_lark, patterns, schemas, vocabularies
from tests.hostile.runner import Case


def cases() -> list[Case]:
    """All of them; their names are unique."""
    found = [
        case
        for area in (api, grammars_in_gbnf, grammars_in_lark, patterns, schemas, vocabularies)
        for case in area.cases()
    ]
    repeated = [name for name, n in Counter(case.name for case in found).items() if n > 1]
    assert not repeated, repeated
    return found
