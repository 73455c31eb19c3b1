"""All inputs from strangers who mean harm."""

from __future__ import annotations

from collections import Counter

from tests.hostile import api, grammars_in_gbnf, grammars_in_lark, patterns, schemas, vocabularies
from tests.hostile.runner import Case


def cases(n_mixes: int | None = None) -> list[Case]:
    """All of them; their names are unique. With `n_mixes` also mixes of schemas, so many random ones among them."""
    found = [
        case
        for area in (api, grammars_in_gbnf, grammars_in_lark, patterns, schemas, vocabularies)
        for case in area.cases()
    ]
    if n_mixes is not None:
        found += schemas.mixes_of(n_mixes)
    repeated = [name for name, n in Counter(case.name for case in found).items() if n > 1]
    assert not repeated, repeated
    return found
