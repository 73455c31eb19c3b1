"""The exceptions that cfgmask raises. All derive from `CfgmaskError`."""

from __future__ import annotations

from collections.abc import Iterable

from cfgmask.diagnostics import Diagnostic, visible

_SHOWN_NAMES = 12


class CfgmaskError(Exception):
    """The base of every error of this package."""


class GrammarError(CfgmaskError, ValueError):
    """A grammar, schema or pattern that cannot be used.

    `diagnostics` holds every problem found (not only the first), warnings included.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(d.render() for d in self.diagnostics))

    def __reduce__(self) -> tuple[type[GrammarError], tuple[tuple[Diagnostic, ...]]]:
        return type(self), (self.diagnostics,)


class VocabularyError(CfgmaskError, ValueError):
    """A vocabulary that cannot be read exactly; masks made from it would be wrong."""


class TokenRejected(CfgmaskError, ValueError):
    """A token that the grammar does not allow here. The matcher is as it was before the call.

    token_id  the rejected id
    data      its bytes; empty for end tokens, special tokens without text and unknown ids
    offset    number of these bytes that the grammar can take
    expected  names of the terminals that may go on or begin after them; may be empty if finding them met a limit
    may_end   whether the text may end after them
    `Matcher.explain(token_id)` also gives the rules and their places in the grammar.
    """

    def __init__(
        self,
        message: str,
        token_id: int | None = None,
        data: bytes = b"",
        offset: int = 0,
        expected: tuple[str, ...] = (),
        may_end: bool = False,
    ) -> None:
        super().__init__(message)
        self.token_id = token_id
        self.data = data
        self.offset = offset
        self.expected = expected
        self.may_end = may_end

    def __reduce__(self) -> tuple[type[TokenRejected], tuple[object, ...]]:
        return type(self), (str(self), self.token_id, self.data, self.offset, self.expected, self.may_end)


class ParseError(CfgmaskError, ValueError):
    """A text that the grammar does not match.

    offset     number of bytes, from the first, that fit
    expected   names of the terminals that may go on or begin there; may be empty if finding them crossed a limit
    may_end    whether the text may end there
    is_prefix  whether more text could make it match
    """

    def __init__(self, offset: int, expected: tuple[str, ...] = (), may_end: bool = False, is_prefix: bool = False):
        self.offset = offset
        self.expected = expected
        self.may_end = may_end
        self.is_prefix = is_prefix
        names = [*expected, *(["the end of the text"] if may_end else [])]
        shown = names if len(names) <= _SHOWN_NAMES else [*names[:_SHOWN_NAMES], f"{len(names) - _SHOWN_NAMES} more"]
        what = "the text is incomplete at its end" if is_prefix else "the text is not of the grammar at"
        message = f"{what}{',' if is_prefix else ''} byte {offset}"
        super().__init__(f"{message}: expected {' or '.join(shown)}" if shown else message)

    def __reduce__(self) -> tuple[type[ParseError], tuple[object, ...]]:
        return type(self), (self.offset, self.expected, self.may_end, self.is_prefix)


class BudgetTooSmall(CfgmaskError, ValueError):
    """A budget of tokens for which no completion was found that fits.

    max_tokens  the budget
    needed      number of tokens of the shortest completion found, which is accepted as a budget; None if there is none.
                A shorter one may exist: see `CompiledGrammar.matcher`
    bound       name of the budget: the argument `max_tokens`, or the room in a context
    """

    def __init__(self, max_tokens: int, needed: int | None, bound: str = "max_tokens") -> None:
        self.max_tokens = max_tokens
        self.needed = needed
        self.bound = bound
        if needed is None:
            message = f"{bound} is {max_tokens}, and no text of the grammar can be completed: it leads into a dead end"
        else:
            message = f"{bound} is {max_tokens}, and the shortest completion found takes {needed} tokens"
        super().__init__(message)

    def __reduce__(self) -> tuple[type[BudgetTooSmall], tuple[int, int | None, str]]:
        return type(self), (self.max_tokens, self.needed, self.bound)


class LimitExceeded(CfgmaskError, RuntimeError):
    """A bound on time, memory or depth was crossed. It says nothing about the grammar.

    limit  name of the field of `cfgmask.Limits`
    value  value of that field
    """

    def __init__(self, limit: str, value: int, detail: str = "") -> None:
        self.limit = limit
        self.value = value
        self.detail = detail
        where = f" ({visible(detail)})" if detail else ""
        super().__init__(
            f"the limit {limit} = {value} was exceeded{where}; "
            f"if this input is trusted, raise it with Limits({limit}=...)"
        )

    def __reduce__(self) -> tuple[type[LimitExceeded], tuple[str, int, str]]:
        return type(self), (self.limit, self.value, self.detail)
