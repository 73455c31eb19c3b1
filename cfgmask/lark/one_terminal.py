"""Rules whose attributes make them one terminal: its regex says where it ends."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from cfgmask.grammar import ir
from cfgmask.lark import nodes
from cfgmask.lark.problems import Problems
from cfgmask.lark.terminals import TerminalLowering, TerminalRegex
from cfgmask.limits import Limits
from cfgmask.regex.algebra import RegexAlgebra

_END_TOKEN = ir.TokenSet("an end token", end=True)


class OneTerminalLowering:
    """Lowers such rules, given the regexes of the named terminals and the names of all rules.

    Every method may raise LimitExceeded.
    """

    def __init__(
        self,
        named: Mapping[str, TerminalRegex],
        rules: Container[str],
        terminals: TerminalLowering,
        limits: Limits,
        problems: Problems,
    ) -> None:
        self._named = named
        self._rules = rules
        self._terminals = terminals
        self._limits = limits
        self._problems = problems

    def lower(self, rule: nodes.Definition) -> ir.Expr | None:
        """The body of a rule with `attributes.one_terminal`, or with `max_tokens` alone and no rules in it.

        None for one with `max_tokens` alone that looks at the text around it. Values and bodies that leave no text are
        reported.
        """
        self._refuse_rules(rule)
        token = _token_at_end(rule)
        if token is not None:
            return self._until_token(rule, token)
        body = self._body(rule, rule.body)
        if body.edges and rule.attributes.one_terminal is None:
            return None
        if self._problems.has_errors:  # what stands for a broken part says nothing about the whole
            return ir.Sequence(())
        end = rule.attributes.suffix or rule.attributes.stop
        if end is None:
            return self._lazy(rule, body) if rule.attributes.lazy else self._terminal(rule, body, lazy=False)
        if rule.attributes.stop is end and isinstance(end, nodes.String) and not end.value:
            if rule.attributes.stop_capture is not None:
                message = 'with `stop=""` there is no text for `stop_capture`'
                self._problems.error("lark-attribute-clash", message, end.span, help="leave `stop_capture` out")
            text = self._lazy(rule, body) if rule.attributes.lazy else self._terminal(rule, body, lazy=False)
            return ir.Sequence((text, _END_TOKEN))
        return self._ended(rule, body, end)

    def _refuse_rules(self, rule: nodes.Definition) -> None:
        for expression in (rule.body, *rule.attributes.ends):
            for node in nodes.walk(expression):
                if isinstance(node, nodes.Name) and node.text in self._rules:
                    self._problems.error(
                        "lark-rule-in-terminal",
                        f"`{rule.attributes.one_terminal}` makes `{rule.name}` one terminal, which cannot use the rule "
                        f"`{node.text}`",
                        node.span,
                        help="use a terminal here, or give the attribute to a rule that needs no other",
                    )

    def _refuse_edges(self, rule: nodes.Definition, lowered: TerminalRegex, node: nodes.Expression) -> None:
        if lowered.edges and rule.attributes.one_terminal is not None:
            attribute = rule.attributes.one_terminal
            message = f"`{attribute}` makes `{rule.name}` one terminal, which cannot look at the text around it"
            help = "put the assertion and what it looks at into one regex"
            self._problems.error("lark-edges-in-one-terminal", message, node.span, help=help)

    def _until_token(self, rule: nodes.Definition, token: nodes.SpecialTokens) -> ir.Expr:
        """A lazy rule that ends in a token: that is no text, so what stands before it cannot go on."""
        assert isinstance(rule.body, nodes.Sequence)
        body = self._body(rule, replace(rule.body, parts=rule.body.parts[:-1]))
        tokens = ir.TokenSet(nodes.spelling(token), token.names, token.ranges, token.negated, span=token.span)
        return ir.Sequence((self._terminal(rule, body, lazy=False), tokens))

    def _body(self, rule: nodes.Definition, expression: nodes.Expression) -> TerminalRegex:
        body = self._terminals.lower(expression, self._named)
        self._refuse_edges(rule, body, expression)
        maximum = rule.attributes.max_chars
        if maximum is None:
            return body
        bounded = self._terminals.at_most(body, maximum)
        if not self._problems.has_errors and self._algebra().is_empty(bounded.tree):
            message = f"no text of the rule `{rule.name}` has at most {maximum} characters"
            self._problems.error("lark-limit-too-small", message, rule.span, help="raise `max_chars`")
        return bounded

    def _ended(self, rule: nodes.Definition, body: TerminalRegex, end: nodes.Expression) -> ir.Expr:
        ending = self._terminals.lower(end, self._named)
        self._refuse_edges(rule, ending, end)
        if ending.only_empty or self._algebra().matches(ending.tree, b""):
            help = "leave out what makes it empty" if not ending.only_empty else None
            self._problems.error("lark-empty-stop", "what ends the rule may be the empty text", end.span, help=help)
        suffix = ir.Suffix(body.tree, ending.tree, rule.attributes.stop_capture)
        joined = self._terminals.joined(body, ending, rule.body)
        limit = rule.attributes.max_tokens
        if limit == 0:
            return self._no_tokens(rule, joined)
        return ir.Terminal(rule.name, joined.tree, lazy=True, suffix=suffix, max_tokens=limit, span=rule.span)

    def _lazy(self, rule: nodes.Definition, body: TerminalRegex) -> ir.Expr:
        if not body.only_empty and not self._algebra().matches(body.tree, b""):
            return self._terminal(rule, body, lazy=True)
        message = f"the shortest text of the lazy rule `{rule.name}` is empty, so it never matches anything"
        help = "say what it ends with, in its body or with `suffix`"
        self._problems.warning("lark-empty-lazy", message, rule.span, help=help)
        return ir.Sequence(())

    def _terminal(self, rule: nodes.Definition, body: TerminalRegex, *, lazy: bool) -> ir.Expr:
        if body.only_empty:
            return ir.Sequence(())
        limit = rule.attributes.max_tokens
        if limit == 0:
            return self._no_tokens(rule, body)
        return ir.Terminal(rule.name, body.tree, lazy=lazy, max_tokens=limit, span=rule.span)

    def _no_tokens(self, rule: nodes.Definition, body: TerminalRegex) -> ir.Expr:
        """With `max_tokens=0` a rule is the empty text, or nothing."""
        if not self._algebra().matches(body.tree, b""):
            message = f"no text of the rule `{rule.name}` has no tokens"
            self._problems.error("lark-limit-too-small", message, rule.span, help="raise `max_tokens`")
        return ir.Sequence(())

    def _algebra(self) -> RegexAlgebra:
        return RegexAlgebra(self._limits)


def _token_at_end(rule: nodes.Definition) -> nodes.SpecialTokens | None:
    if not rule.attributes.lazy or rule.attributes.ends or not isinstance(rule.body, nodes.Sequence):
        return None
    last = rule.body.parts[-1] if rule.body.parts else None
    return last if isinstance(last, nodes.SpecialTokens) else None
