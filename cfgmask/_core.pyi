"""The compiled core: what happens for each token.

Thread rule for the whole module: a `Matcher` belongs to one thread at a time; `Vocabulary` and `CompiledGrammar` may be
used by any number of threads at once (their caches are guarded inside). Nothing here calls back into Python.
"""

from collections.abc import Sequence
from typing import Any, final

from numpy.typing import NDArray

@final
class Vocabulary:
    """The byte strings of a vocabulary as a trie. Immutable.

    tokens      bytes of each id; b"" for an id without text
    end_tokens  ids that end a text; their bytes are ignored
    Cost: linear in the bytes plus a sort; about 50 ms for 128k tokens.
    """

    def __init__(self, tokens: Sequence[bytes], end_tokens: Sequence[int]) -> None: ...
    @property
    def n_vocab(self) -> int: ...
    @property
    def end_tokens(self) -> list[int]: ...

class RegexBuilder:
    """Interns regex nodes and answers questions about them. Nodes are small integers that belong to this builder."""

    def __init__(self, limits: dict[str, int] | None = None) -> None: ...
    def literal(self, data: bytes) -> int: ...
    def char_class(self, ranges: Sequence[tuple[int, int]]) -> int: ...
    def byte_class(self, ranges: Sequence[tuple[int, int]]) -> int: ...
    def concatenation(self, parts: Sequence[int]) -> int: ...
    def alternation(self, parts: Sequence[int]) -> int: ...
    def repetition(self, body: int, minimum: int, maximum: int | None) -> int: ...
    def intersection(self, parts: Sequence[int]) -> int: ...
    def complement(self, body: int) -> int: ...
    def key_set(self, keys: Sequence[bytes]) -> int: ...
    def divisible(self, modulus: int) -> int: ...
    def json_string(self, body: int, escapes: str) -> int: ...
    def is_empty(self, node: int) -> bool:
        """Whether no text matches. Raises LimitExceeded(max_search_steps)."""
    def matches(self, node: int, data: bytes) -> bool: ...
    def is_prefix(self, node: int, data: bytes) -> bool:
        """Whether some matching text starts with `data`."""
    def shortest(self, node: int) -> bytes | None:
        """A shortest matching byte string, the smallest of them bytewise; None if nothing matches."""

class GrammarBuilder(RegexBuilder):
    """Takes a grammar's rules one by one; `build` gives the `CompiledGrammar`. Used by `cfgmask.compiler` alone."""

    def __init__(self, vocabulary: Vocabulary, limits: dict[str, int] | None = None) -> None: ...
    def scope(self, ignore: int | None, ignore_once: bool) -> int: ...
    def terminal(self, regex: int, scope: int, priority: int, name: str) -> int: ...
    def token_set(self, ids: Sequence[int], scope: int, name: str) -> int: ...
    def nonterminal(self, name: str) -> int: ...
    def repeat(self, symbol: int, minimum: int, maximum: int | None) -> int: ...
    def alternative(self, nonterminal: int, symbols: Sequence[int]) -> None: ...
    def build(
        self,
        vocabulary: Vocabulary,
        start: int,
        start_scope: int,
        complete: bool,
        ignore_initial: bool,
        ignore_final: bool,
    ) -> CompiledGrammar:
        """Raises ValueError where the start symbol matches nothing. The builder is spent.

        vocabulary   the one that the builder was made for
        start_scope  the scope whose skips may stand at the ends of a text
        """

@final
class CompiledGrammar:
    """A grammar bound to a vocabulary. Immutable to its users; what its matchers learn is shared by all of them."""

    def matcher(self) -> Matcher: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    def stats(self) -> dict[str, int]:
        """Sizes of the caches: states, item_sets, items, lexer_states, regex_nodes, masks, mask_bytes,
        tables, bytes. Lexer states, regex nodes and tables are those of all grammars that share the vocabulary.
        """
    def clear_masks(self) -> None:
        """Forget every remembered mask; for tests and benchmarks. Masks are computed anew when asked for."""

@final
class Matcher:
    """One sequence. Its state is an immutable value: `fork` is constant, `rollback(n)` is O(n) pointer steps."""

    def fill_mask(self, bits: NDArray[Any]) -> None:
        """Write the mask of the next token.

        bits: contiguous uint32 or int32 array of at least ceil(n_vocab / 32) words; bit i % 32 of word i // 32 is
        token i, 1 = allowed. Words beyond the mask are set to 0.
        Errors: LimitExceeded (the array is then all zero but for end tokens where they are allowed).
        """
    def apply(self, logits: Any) -> None:
        """Set logits outside the mask to -inf, in place.

        logits: one-dimensional float32 or float16 CPU buffer of any stride (numpy, torch), at least n_vocab long;
        what is beyond n_vocab becomes -inf too.
        """
    def advance(self, token_id: int) -> None:
        """Consume a token. Raises TokenRejected (IndexError-free for ids out of range too) and changes nothing then."""
    def try_advance(self, tokens: Sequence[int], *, consume: bool = True) -> int:
        """How many of the tokens fit, from the first. Consumes all of them if all fit and `consume`, else none."""
    def advance_bytes(self, data: bytes) -> int:
        """Consume bytes as if they were tokens of one byte each, as one step for `rollback`.

        Returns how many fit; only if all do, the matcher has moved.
        """
    def rollback(self, n: int) -> None:
        """Take the last n steps back. Raises ValueError (and changes nothing) if there are fewer."""
    def fork(self) -> Matcher: ...
    def reset(self) -> None: ...
    @property
    def is_accepting(self) -> bool: ...
    @property
    def is_finished(self) -> bool: ...
    @property
    def n_steps(self) -> int:
        """Steps that `rollback` can take back."""
    def forced_bytes(self) -> bytes:
        """The longest text that every continuation starts with (at most 64 KiB of it); b"" where the text may stop."""
    def expected(self) -> list[str]:
        """Names of the terminals and token sets that may begin or go on here, without duplicates."""
    @property
    def compiled(self) -> CompiledGrammar: ...

def fill_masks(matchers: Sequence[Matcher | None], bits: NDArray[Any], threads: int = 1) -> list[Exception | None]:
    """Fill row i of `bits` (2-D, rows of at least ceil(n_vocab / 32) words) with the mask of matcher i.

    A None matcher gives a row of ones. Returns an error or None per row; a row with an error allows nothing.
    """
