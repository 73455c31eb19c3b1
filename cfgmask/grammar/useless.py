"""A grammar without rules that no text uses, each of which is warned of."""

from __future__ import annotations

from collections.abc import Mapping

from cfgmask.diagnostics import Related, Span
from cfgmask.grammar.ir import GrammarIR
from cfgmask.grammar.productive import empty_terminals, productive_rules, without_nonproductive
from cfgmask.grammar.reachable import reachable_rules, without_unreachable
from cfgmask.problems import Problems

UNUSED = "use it, or take it out: no text has anything of it"
"""What to do about a definition that nothing leads to."""

_ENDLESS = "add an alternative without recursion"


def without_useless(
    grammar: GrammarIR, problems: Problems, *, endless: str, unused: str, places: Mapping[str, Span] | None = None
) -> GrammarIR:
    """The same language without rules that can never end and rules that nothing leads to. Linear.

    endless, unused  the codes of the warnings. Of the scopes but the first, unused rules are not warned of
    places           if given, the rules to be warned of where they are unused, and where
    Raises GrammarError if the start rule is one of those that can never end.
    """
    productive = productive_rules(grammar)
    for rule in grammar.rules:
        if rule.name not in productive:
            empty = [terminal.span for terminal in empty_terminals(rule) if terminal.span is not None]
            related = tuple(Related(span, "no text matches this") for span in dict.fromkeys(empty))
            needed = "what no text matches, or a rule that never ends" if related else "a rule that never ends"
            message = f"the rule `{rule.shown_name}` can never end: each of its alternatives needs {needed}"
            report = problems.error if rule.name == grammar.start else problems.warning
            help = "mend what no text matches, or add an alternative without it" if related else _ENDLESS
            report(endless, message, rule.span, related=related, help=help)
    problems.raise_errors()
    reachable = reachable_rules(grammar)
    for rule in grammar.rules:
        is_own = rule.scope == 0 if places is None else rule.name in places
        if rule.name not in reachable and is_own:
            place = rule.span if places is None else places[rule.name]
            problems.warning(unused, f"the rule `{rule.shown_name}` is not used", place, help=UNUSED)
    pruned = without_nonproductive(grammar, productive)
    return without_unreachable(pruned, reachable if pruned is grammar else None)
