"""Sets along the edges of graphs, against following every edge."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cfgmask.analysis.reach import components, reached

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


@given(GRAPHS)
def test_nodes_of_a_component_lead_to_each_other(graph: tuple[list[int], list[list[int]]]) -> None:
    edges = graph[1]
    leads_to = reached([1 << node for node in range(len(edges))], edges)
    groups = components(edges)
    assert sorted(node for group in groups for node in group) == list(range(len(edges)))
    before = 0
    for group in groups:
        members = sum(1 << node for node in group)
        for node in group:
            assert leads_to[node] & members == members
            assert leads_to[node] & ~members & ~before == 0
        before |= members


def test_a_long_chain() -> None:
    n = 100_000
    assert reached([0] * (n - 1) + [1], [*([i + 1] for i in range(n - 1)), []]) == [1] * n
