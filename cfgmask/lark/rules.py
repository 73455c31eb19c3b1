"""Rules to rules of the IR."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from cfgmask.diagnostics import Related
from cfgmask.grammar import ir
from cfgmask.grammar.productive import NOTHING, without_nothing
from cfgmask.lark import nodes
from cfgmask.lark.extension_terminals import EXTENSION_TEMPLATES, EXTENSION_TEXTS, EXTENSION_TOKENS
from cfgmask.lark.indenter import IndenterOption
from cfgmask.lark.inner import GrammarText, InnerGrammars
from cfgmask.lark.names import Symbols
from cfgmask.lark.one_terminal import OneTerminalLowering
from cfgmask.lark.problems import Problems
from cfgmask.lark.reader import is_terminal_name
from cfgmask.lark.templates import literal_key
from cfgmask.lark.terminals import TerminalLowering, TerminalRegex

_LITERALS = (nodes.String, nodes.Pattern, nodes.CharacterRange, nodes.RegexBlock)
_INNER = (nodes.JsonBlock, nodes.LarkBlock, nodes.Subgrammar)
_LEAVES = (nodes.SpecialTokens, *_INNER, *_LITERALS)
_NOTHING_MORE = ir.Sequence(())


@dataclass(frozen=True)
class Place:
    """Where rules go: the grammar that they are lowered to, the text of it that they are from, and their scope."""

    inner: InnerGrammars
    text: GrammarText
    scope: int


class RuleLowering:
    """Lowers the bodies of rules, given the regexes of the named terminals."""

    def __init__(
        self,
        symbols: Symbols,
        named: Mapping[str, TerminalRegex],
        declared: Mapping[str, ir.Expr],
        literals: TerminalLowering,
        one_terminal: OneTerminalLowering,
        place: Place,
        problems: Problems,
    ) -> None:
        self._literals = literals
        self._one_terminal = one_terminal
        self._place = place
        self._prefix = place.text.prefix
        self._problems = problems
        self._named = named
        self._terminals: dict[str, ir.Expr] = {}
        self._symbols = symbols
        self._declared = dict(declared)
        self._uses_nothing = False
        self._priorities = _priorities(symbols)
        # A template's literals are the same nodes in each of its uses.
        self._lowered: dict[int, tuple[nodes.Expression, ir.Expr]] = {}
        self._strings: dict[str, ir.Expr] = {}

    def lower(self, rule: nodes.Definition) -> ir.Rule:
        """The rule in its place. What rules cannot hold is reported."""
        attributes = rule.attributes
        terminal = self._as_terminal(rule)
        body = nodes.fold(rule.body, self._combine) if terminal is None else terminal
        if self._uses_nothing:
            body = without_nothing(body)
        return ir.Rule(
            self._prefix + rule.name,
            body,
            self._place.scope,
            rule.span,
            parametric=rule.parametric,
            capture=attributes.capture,
            temperature=attributes.temperature,
            max_tokens=attributes.max_tokens if terminal is None else None,
            json=attributes.json or (attributes.capture is not None and _is_json(rule.body)),
        )

    def _as_terminal(self, rule: nodes.Definition) -> ir.Expr | None:
        """The body of a rule that is one terminal by its attributes; None for any other."""
        limited_alone = rule.attributes.max_tokens is not None and not self._leads_further(rule)
        if rule.attributes.one_terminal is None and not limited_alone:
            return None
        return self._one_terminal.lower(rule)

    def _leads_further(self, rule: nodes.Definition) -> bool:
        """Whether its body is more than one terminal."""
        return any(
            isinstance(node, (*_INNER, nodes.SpecialTokens, nodes.Conditional))
            or (isinstance(node, nodes.TemplateUse) and node.name not in EXTENSION_TEMPLATES)
            or (isinstance(node, nodes.Name) and node.text not in self._named and node.text not in EXTENSION_TEXTS)
            for node in nodes.walk(rule.body)
        )

    def terminal(self, name: nodes.Name) -> ir.Expr | None:
        """The terminal that a name is used for; None for an unknown one. What no lexeme can be is reported."""
        if name.text not in self._named:
            return None
        if name.text not in self._terminals:
            definition = self._symbols.terminals[name.text]
            lowered = self._literals.whole(self._named[name.text], definition.body)
            self._literals.check_used(lowered, name)
            self._terminals[name.text] = self._literals.terminals(
                definition.name, lowered, definition.priority, definition.span, definition.body
            )
        return self._terminals[name.text]

    def _combine(self, node: nodes.Expression, parts: list[ir.Expr]) -> ir.Expr:
        # Most nodes are one of the first.
        if isinstance(node, nodes.Name):
            return self._name(node)
        if isinstance(node, nodes.String):
            return self._string(node)
        if isinstance(node, nodes.Sequence):
            return parts[0] if len(parts) == 1 else ir.Sequence(tuple(parts))
        if isinstance(node, nodes.Choice):
            return parts[0] if len(parts) == 1 else ir.Choice(tuple(parts))
        if isinstance(node, nodes.Repeat):
            return _repeat(parts[0], node)
        if isinstance(node, _LEAVES):
            if id(node) not in self._lowered:
                self._lowered[id(node)] = node, self._leaf(node)
            return self._lowered[id(node)][1]
        if isinstance(node, (nodes.Intersection, nodes.Complement)):
            return self._refuse(node)
        if isinstance(node, nodes.TemplateUse) and node.name in EXTENSION_TEMPLATES:
            return self._extension(node)
        if isinstance(node, nodes.Conditional):
            return ir.Guarded(parts[0], node.condition)
        # An alias; or something invalid, which was reported.
        return parts[0] if parts else _NOTHING_MORE

    def _string(self, node: nodes.String) -> ir.Expr:
        """One terminal for all places of a string: many grammars are mostly strings, and few of them differ."""
        spelling = nodes.spelling(node)
        if spelling not in self._strings:
            self._strings[spelling] = self._literal(node)
        return self._strings[spelling]

    def _name(self, node: nodes.Name) -> ir.Expr:
        if node.text in self._symbols.rules:
            return self._rule(node)
        declaration = self._symbols.declared.get(node.text)
        if declaration is None:
            terminal = self.terminal(node) or self._extension_of(node)
            return terminal or self._rule(node)
        if node.text not in self._declared:
            self._report_unbound(node, declaration)
            # Once is enough. As in Lark, where nothing makes a declared terminal no text has it.
            self._declared[node.text] = NOTHING
            self._uses_nothing = True
        return self._declared[node.text]

    def _rule(self, name: nodes.Name) -> ir.RuleRef:
        return ir.RuleRef(self._prefix + name.text, name.span, name.argument)

    def _extension_of(self, node: nodes.Name) -> ir.Expr | None:
        """What the name stands for if it is one that every grammar has."""
        if node.text in EXTENSION_TOKENS:
            return replace(EXTENSION_TOKENS[node.text], span=node.span)
        tree = EXTENSION_TEXTS.get(node.text)
        return None if tree is None else ir.Terminal(node.text, tree, span=node.span)

    def _extension(self, node: nodes.TemplateUse) -> ir.Expr:
        """A terminal with arguments, which are terminals."""
        for part in nodes.walk(node):
            if isinstance(part, nodes.Name) and part.text in self._symbols.rules:
                message = f"`{node.name}` is one terminal, which cannot use the rule `{part.text}`"
                help = "use terminals here, or write the list as rules"
                self._problems.error("lark-rule-in-terminal", message, part.span, help=help)
            elif isinstance(part, nodes.Name) and part.text in self._symbols.declared:
                message = f"`{node.name}` cannot use the declared terminal `{part.text}`, which has no regex"
                self._problems.error("lark-declared-in-terminal", message, part.span, help="use it in a rule")
        lowered = self._literals.lower(node, self._named)
        if lowered.only_empty:
            return _NOTHING_MORE
        return self._literals.terminals(nodes.spelling(node), lowered, 0, node.span, node)

    def _report_unbound(self, node: nodes.Name, declaration: nodes.Declaration) -> None:
        related = (Related(declaration.span, "it is declared here"),)
        if is_terminal_name(node.text):
            message = f"the declared terminal `{node.text}` is bound to nothing, so no text has it"
            help = f'bind it to a special token: `%cfgmask {{"declared": {{"{node.text}": "<name>"}}}}`'
            if node.text in (IndenterOption.INDENT_type, IndenterOption.DEDENT_type):
                help = 'let an indenter write it: `%cfgmask {"indenter": true}`'
            self._problems.warning("lark-unbound", message, node.span, related=related, help=help)
        else:
            message, help = f"the declared rule `{node.text}` is not defined", "define it with `%override`"
            self._problems.error("lark-unbound", message, node.span, related=related, help=help)

    def _leaf(self, node: nodes.Expression) -> ir.Expr:
        if isinstance(node, nodes.SpecialTokens):
            return ir.TokenSet(nodes.spelling(node), node.names, node.ranges, node.negated, span=node.span)
        if isinstance(node, _INNER):
            return self._place.inner.lower(node, self._place.text)
        if isinstance(node, nodes.Pattern) and (expr := self._literals.with_tokens(node)) is not None:
            return expr
        return self._literal(node)

    def _literal(self, node: nodes.Expression) -> ir.Expr:
        lowered = self._literals.literal(node)
        if lowered.only_empty:
            return _NOTHING_MORE
        priority = self._priorities.get(literal_key(node), 0) if self._priorities else 0
        self._literals.check_used(lowered, node)
        return self._literals.terminals(nodes.spelling(node), lowered, priority, node.span, node)

    def _refuse(self, node: nodes.Intersection | nodes.Complement) -> ir.Expr:
        operator = "&" if isinstance(node, nodes.Intersection) else "~"
        self._problems.error(
            "lark-operator-in-rule",
            f"`{operator}` works on terminals only",
            node.span,
            help="define a terminal (its name in upper case) with it, and use that here",
        )
        return _NOTHING_MORE


def _priorities(symbols: Symbols) -> dict[Hashable, int]:
    """The priorities of terminals that are one literal, which that literal has in rules too: to Lark they are one."""
    found: dict[Hashable, int] = {}
    for definition in symbols.terminals.values():
        key = literal_key(_sole_part(definition.body))
        if key is not None and definition.priority:
            found.setdefault(key, definition.priority)
    return found


def _sole_part(node: nodes.Expression) -> nodes.Expression:
    while isinstance(node, (nodes.Sequence, nodes.Choice)) and len(node.parts) == 1:
        node = node.parts[0]
    return node


def _repeat(body: ir.Expr, node: nodes.Repeat) -> ir.Expr:
    if node.maximum == 0:
        return _NOTHING_MORE
    if node.minimum == node.maximum == 1:
        return body
    return ir.Repeat(body, node.minimum, node.maximum, node.span)


def _is_json(body: nodes.Expression) -> bool:
    """Whether a body is a `%json` block, or one of several."""
    if isinstance(body, nodes.Choice):
        return bool(body.parts) and all(map(_is_json, body.parts))
    if isinstance(body, nodes.Sequence):
        return len(body.parts) == 1 and _is_json(body.parts[0])
    return isinstance(body, nodes.JsonBlock)
