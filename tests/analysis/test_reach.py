"""Sets along the edges of graphs, against following every edge."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cfgmask.analysis.reach import reached

GRAPHS = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 15), min_size=n, max_size=n),
        st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n),
    )
)


@given(GRAPHS)
def test_each_node_has_what_it_leads_to(graph: tuple[list[int], list[list[int]]]) -> None:
    own, edges = graph
    for node, found in enumerate(reached(own, edges)):
        seen, expected = {node}, 0
        pending = [node]
        while pending:
            at = pending.pop()
            expected |= own[at]
            pending += [to for to in edges[at] if to not in seen]
            seen.update(edges[at])
        assert found == expected


def test_a_long_chain() -> None:
    n = 100_000
    assert reached([0] * (n - 1) + [1], [*([i + 1] for i in range(n - 1)), []]) == [1] * n
