"""Templates: `list{x}: x ("," x)*` becomes a rule for each list of arguments that it is used with.

As in Lark, equal uses are one rule, so that templates may be recursive, and a template may be an argument.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from cfgmask.diagnostics import Span
from cfgmask.errors import LimitExceeded
from cfgmask.lark import nodes
from cfgmask.lark.extension_terminals import EXTENSION_TEMPLATES
from cfgmask.lark.problems import Problems
from cfgmask.lark.tokens import BYTES_PER_TOKEN
from cfgmask.limits import Limits

MAX_DEPTH = 50
"""How deep uses of templates may stand in the arguments of others, once all are written out."""

_MAX_NAME = 120
"""The longest name of a rule that a template becomes; those of arguments may double in each round."""


def expand(
    rules: Mapping[str, nodes.Definition], limits: Limits, problems: Problems
) -> tuple[dict[str, nodes.Definition], list[nodes.Definition]]:
    """The rules without templates and their uses; and the templates that nothing uses.

    Reports uses with arguments that do not fit, and templates whose uses never end.
    Raises LimitExceeded (max_source_bytes) where they come to more than a grammar of that size could say.
    Linear in the outcome.
    """
    # Most grammars have none.
    if not any(rule.parameters or _has_uses(rule) for rule in rules.values()):
        return dict(rules), []
    return _Expansion(rules, limits, problems).run()


def _has_uses(rule: nodes.Definition) -> bool:
    return any(isinstance(node, nodes.TemplateUse) for node in rule.uses)


class _Expansion:
    def __init__(self, rules: Mapping[str, nodes.Definition], limits: Limits, problems: Problems) -> None:
        self._templates = {name: rule for name, rule in rules.items() if rule.parameters}
        self._plain = [rule for rule in rules.values() if not rule.parameters]
        self._limits = limits
        self._problems = problems
        self._n_parts = 0
        self._names: dict[Hashable, str | None] = {}
        self._taken = set(rules)
        self._depths: dict[str, int] = {}
        self._pending: list[tuple[nodes.Definition, Mapping[str, nodes.Expression]]] = []
        self._used: set[str] = set()
        self._endless = False
        self._reported: set[tuple[str, Span]] = set()

    def run(self) -> tuple[dict[str, nodes.Definition], list[nodes.Definition]]:
        found = {rule.name: self._written_out(rule, {}) for rule in self._plain}
        while self._pending:
            rule = self._written_out(*self._pending.pop())
            found[rule.name] = rule
        return found, [template for name, template in self._templates.items() if name not in self._used]

    def _written_out(self, rule: nodes.Definition, arguments: Mapping[str, nodes.Expression]) -> nodes.Definition:
        """The rule with arguments in place of its parameters, and names of rules in place of templates."""
        if not arguments and not self._may_use_templates(rule):
            return rule
        held = {id(part) for node in nodes.walk(rule.body) for part in _arguments(node)}

        def combine(node: nodes.Expression, parts: list[nodes.Expression]) -> nodes.Expression:
            if arguments:
                self._count()
            if isinstance(node, nodes.Name):
                value = arguments.get(node.text, node)
                return value if id(node) in held else self._plain_use(value, node)
            if isinstance(node, nodes.TemplateUse):
                return self._use(node, arguments.get(node.name), parts)
            return nodes.with_children(node, parts)

        return replace(rule, body=nodes.fold(rule.body, combine), parameters=())

    def _may_use_templates(self, rule: nodes.Definition) -> bool:
        if self._templates and not rule.used_names.isdisjoint(self._templates):
            return True
        return _has_uses(rule)

    def _count(self) -> None:
        self._n_parts += 1
        most = self._limits.max_source_bytes // BYTES_PER_TOKEN
        if self._n_parts > most:
            detail = f"templates written out have more than {most} parts, one for {BYTES_PER_TOKEN} bytes of the limit"
            raise LimitExceeded("max_source_bytes", self._limits.max_source_bytes, detail)

    def _plain_use(self, value: nodes.Expression, place: nodes.Name) -> nodes.Expression:
        """What a name stands for where no template takes it."""
        if isinstance(value, nodes.Name) and value.text in self._templates:
            return self._wrong_number(self._templates[value.text], 0, place)
        return value

    def _use(
        self, use: nodes.TemplateUse, argument: nodes.Expression | None, parts: list[nodes.Expression]
    ) -> nodes.Expression:
        """The name of the rule that a use is. `argument` is what the template's name stands for, if a parameter."""
        if argument is None and use.name in EXTENSION_TEMPLATES and use.name not in self._taken:
            return nodes.with_children(use, parts)
        if argument is None or isinstance(argument, nodes.Name):
            template = self._templates.get(use.name if argument is None else argument.text)
        else:
            template = None
        if template is None:
            # What is unknown was reported as that.
            if argument is not None or use.name in self._taken:
                self._report("lark-not-a-template", f"`{use.name}` is no template", use.template)
            return nodes.Invalid(use.span)
        self._used.add(template.name)
        if len(parts) != len(template.parameters):
            return self._wrong_number(template, len(parts), use)
        name = self._instance(template, parts, use)
        return nodes.Invalid(use.span) if name is None else nodes.Name(name, use.span)

    def _instance(
        self, template: nodes.Definition, parts: list[nodes.Expression], use: nodes.TemplateUse
    ) -> str | None:
        """The name of the rule for these arguments, which is made if there is none; None if it would have no end."""
        key = (template.name, *map(_key, parts))
        if key not in self._names:
            depth = 1 + max(self._depth(part) for part in parts)
            if depth > MAX_DEPTH or self._endless:
                self._report_endless(template, use)
                return None
            name = self._names[key] = self._new_name(template, parts)
            self._depths[name] = depth
            given = {parameter.text: part for parameter, part in zip(template.parameters, parts, strict=True)}
            self._pending.append((replace(template, name=name), given))
        return self._names[key]

    def _depth(self, part: nodes.Expression) -> int:
        return self._depths.get(part.text, 0) if isinstance(part, nodes.Name) else 0

    def _new_name(self, template: nodes.Definition, parts: Iterable[nodes.Expression]) -> str:
        shown = f"{template.name}{{{','.join(map(_shown, parts))}}}"
        if len(shown) > _MAX_NAME or shown in self._taken:
            shown = f"{shown[:_MAX_NAME]}#{len(self._taken)}"
        self._taken.add(shown)
        return shown

    def _wrong_number(
        self, template: nodes.Definition, given: int, place: nodes.Name | nodes.TemplateUse
    ) -> nodes.Expression:
        self._used.add(template.name)
        number = len(template.parameters)
        message = f"the template `{template.name}` takes {number} argument{'s' * (number != 1)}, not {given}"
        parameters = ", ".join(parameter.text for parameter in template.parameters)
        help = f"write `{template.name}{{{parameters}}}` with a value for each"
        self._report("lark-template-arguments", message, place.span, help)
        return nodes.Invalid(place.span)

    def _report_endless(self, template: nodes.Definition, use: nodes.TemplateUse) -> None:
        if not self._endless:
            message = f"the template `{template.name}` is used with arguments that grow without end"
            help = f"arguments may hold templates in templates {MAX_DEPTH} deep: use a parameter as it is"
            self._report("lark-endless-template", message, use.span, help)
        self._endless = True

    def _report(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        """Report a place once, in however many uses of a template it is wrong."""
        if (code, span) not in self._reported:
            self._reported.add((code, span))
            self._problems.error(code, message, span, help=help)


def _arguments(node: nodes.Expression) -> tuple[nodes.Expression, ...]:
    return node.arguments if isinstance(node, nodes.TemplateUse) else ()


def _key(argument: nodes.Expression) -> Hashable:
    """What makes two arguments equal."""
    if isinstance(argument, nodes.Name):
        return "name", argument.text
    return literal_key(argument) or id(argument)


def literal_key(node: nodes.Expression) -> Hashable | None:
    """What makes two literals the same terminal to Lark; None for what is no literal."""
    if isinstance(node, nodes.String):
        return "string", node.value, node.ignore_case
    if isinstance(node, nodes.Pattern):
        return "regex", node.body.source.text[node.body.start : node.body.end], "".join(sorted(node.flags))
    if isinstance(node, nodes.CharacterRange):
        return "range", node.first, node.last
    if isinstance(node, nodes.SpecialTokens):
        return "tokens", node.names, node.ranges, node.negated
    return None


def _shown(argument: nodes.Expression) -> str:
    return argument.text if isinstance(argument, nodes.Name) else nodes.spelling(argument)
