"""Random Lark grammars against two judges: what Lark reads (`lexer: complete`) and the oracle (longest match).

python -m tests.lark.random_grammars --count 30000 --seed 7

Half of them use what Lark has and are compared by every text of up to four characters, which `tests.lark.spans` judges
as Lark's Earley parser would; the others use what only cfgmask has, too, and are compared mask by mask along random
walks. What disagrees is printed with its seed.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

from lark.exceptions import LarkError

import cfgmask
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.limited_rules import with_limited_rules
from tests.engine.harness import mask_of
from tests.lark import spans
from tests.oracle import Oracle
from tests.oracle_parameters import TooManyValues, expanded
from tests.oracle_regex import Undecided

ALPHABET = "abc"
LONGEST = 4
TOKENS = [b"a", b"b", b"c", b" ", b"ab", b"a ", b"bb", b"cab", b"abca", b"", b"", b""]
END, TOOL, OTHER = 9, 10, 11
SPECIAL = {"<|end|>": END, "<|tool|>": TOOL, "<|other|>": OTHER}
STEPS, WALKS = 10, 3
# What was compared: without it a campaign that compares nothing would look like one that finds nothing.
counts: Counter[str] = Counter()
_MOST_STATES = 400

_LITERALS = ['"a"', '"b"', '"c"', '"ab"', '"ba"', '"aab"', '"B"i', '"a".."b"']
_PATTERNS = ["/a+/", "/[ab]/", "/ab?/", "/(ab)+/", "/[^a]/", "/a{2,3}/", "/b.?/"]
# Lark takes the first match of these, which is not their longest.
_FIRST_IS_SHORT = ["/(?:a|ab)(?:c|bc)?/", "/(?:b|ba|c)+/"]
_LAZY = ["/a.*?b/", "/[ab]*?c/"]
_LOOKING = ["/a(?=b)/", "/a(?!b)/", "/(?<=a)b/", "/(?<!a)b/", "/a(?![bc])[ab]?/", "/\\bab?/"]
_OPERATORS = ["", "", "", "?", "*", "+", "~2", "~1..2", "~0..1", "~0..2"]


class _Writer:
    """Writes one grammar. `of_lark`: only what Lark has, and what means the same there."""

    def __init__(self, rng: random.Random, *, of_lark: bool) -> None:
        self._rng = rng
        self._of_lark = of_lark
        self._rules = ["start", *"xyz"[: rng.randrange(4)]]
        self._templates = rng.random() < 0.3
        self._looks = rng.random() < 0.25
        self._is_parametric = not of_lark and rng.random() < 0.25
        self._has_tokens = not of_lark and rng.random() < 0.25

    def grammar(self, lexer: str) -> str:
        choose = self._rng.random
        lines = [] if lexer == "longest" else ['%cfgmask {"lexer": "complete"}']
        if not self._of_lark and choose() < 0.2:
            lines.append('%cfgmask {"ignore_once": true}')
        for name in self._rules:
            lines.append(f"{name}{self._attributes(name)}: {self._body(3)}")
        if self._templates:
            lines += [f"t{{p}}: {self._body(2, ['p', 't{p}'])}", f"u{{p, q}}: {self._body(2, ['p', 'q', 't{q}'])}"]
        if self._is_parametric:
            at = self._rng.randrange(1, 4)
            lines.append(f"n::_: {self._leaf()} n::incr([0:2]) %if lt([0:2], {at}) | {self._leaf()}")
        lines += [f'T{self._priority()}: "a" "b"?', f"U{self._priority()}: {self._terminal()}"]
        if choose() < 0.3:
            lines += self._ladder()
        if choose() < 0.4:
            # Lark tries only the longest match of ignored text, even with dynamic_complete: no runs for it.
            run = "%ignore /[ c]/" if self._of_lark else "%ignore /[ c]+/"
            lines.append(self._rng.choice(["%ignore /c/", '%ignore " "', run, '%ignore /c/\n%ignore " "']))
        return "\n".join(lines)

    def _ladder(self) -> list[str]:
        """Rules that may be empty, each of the next one."""
        n, step = self._rng.randrange(2, 7), self._rng.choice(["{0}? {0}", "{0} | {0} {0}", "{0}* {0}", "[{0}] | {0}"])
        lines = [f"l{i}: {step.format(f'l{i + 1}')}" for i in range(n)]
        return [*lines, f"l{n}: {self._leaf()} |"]

    def _priority(self) -> str:
        # Under longest match they mean something, and to Lark nothing where every cut counts.
        return self._rng.choice(["", "", "", ".1", ".-1", ".2"])

    def _terminal(self) -> str:
        forms = ["/b+/ | T T", '"c" | "cb"', "(T | /c/)+", '"b"~1..2 ["a"]']
        if not self._of_lark:
            forms += ["/[ab]+/ & ~/aa.*/", "~(/a.*/) & /[abc]+/", "/[abc]{1,3}/ & /.*b/"]
        return self._rng.choice(forms)

    def _attributes(self, name: str) -> str:
        if self._of_lark or name == "start" or self._rng.random() < 0.8:
            return ""
        return self._rng.choice(["[max_tokens=3]", "[max_tokens=2]", "[capture]", "[temperature=0.5]"])

    def _body(self, depth: int, names: list[str] | None = None) -> str:
        return " | ".join(self._sequence(depth, names or []) for _ in range(self._rng.choice([1, 1, 2, 3])))

    def _sequence(self, depth: int, names: list[str]) -> str:
        return " ".join(self._item(depth, names) for _ in range(self._rng.choice([1, 1, 2, 3])))

    def _item(self, depth: int, names: list[str]) -> str:
        kind = self._rng.random()
        if depth and kind < 0.25:
            return f"({self._body(depth - 1, names)}){self._rng.choice(_OPERATORS)}"
        if depth and kind < 0.33:
            return f"[{self._body(depth - 1, names)}]"
        if kind < 0.55:
            return self._rng.choice([*self._rules, *names, *names])
        if self._templates and kind < 0.65:
            return self._rng.choice(
                [f"t{{{self._leaf()}}}", f"u{{{self._leaf()}, x}}" if "x" in self._rules else "t{T}"]
            )
        if self._is_parametric and kind < 0.72:
            return f"n::{self._rng.randrange(3)}"
        if self._has_tokens and kind < 0.8:
            return self._rng.choice(["<|tool|>", "<[4]>", "<[0-2]>", "<[^0]>", "<[*]>"])
        return self._leaf()

    def _leaf(self) -> str:
        leaves = [*_LITERALS, *_LITERALS, *_PATTERNS, "T", "U"]
        if not self._of_lark:
            leaves += _FIRST_IS_SHORT
        if self._looks:
            leaves += [*_LOOKING, *_LOOKING, *_LAZY]
        return self._rng.choice(leaves)


def against_lark(seed: int) -> str | None:
    """A grammar of Lark; what disagrees, or None."""
    grammar = of_lark(seed)
    try:
        theirs = spans.read(grammar)
    except LarkError:
        return None
    try:
        read = cfgmask.Grammar.from_lark('%cfgmask {"lexer": "complete"}\n' + grammar)
        ours = cfgmask.compile(read, _vocabulary())
    except (GrammarError, LimitExceeded) as error:
        return None if _is_expected(error) else f"{grammar}\n{error}"
    texts = short_texts(grammar)
    counts["compared with Lark"] += 1
    theirs_are = spans.accepted(theirs, texts)
    for text in texts:
        matcher = ours.matcher()
        is_ours = matcher.advance_bytes(text.encode()) == len(text) and matcher.is_accepting
        if is_ours != (text in theirs_are):
            return f"{grammar}\n{text!r}: cfgmask {is_ours}, Lark {text in theirs_are}"
    return None


def short_texts(grammar: str) -> list[str]:
    """All that are compared."""
    characters = ALPHABET + (" " if '" "' in grammar or "[ " in grammar else "")
    return ["".join(letters) for length in range(LONGEST + 1) for letters in product(characters, repeat=length)]


def of_lark(seed: int) -> str:
    """A grammar that Lark may read, too."""
    return _Writer(random.Random(seed), of_lark=True).grammar("longest")


def against_oracle(seed: int) -> str | None:
    """A grammar of cfgmask under longest match, or with every cut; what disagrees, or None."""
    rng = random.Random(seed)
    grammar = _Writer(rng, of_lark=False).grammar(rng.choice(["longest", "longest", "longest", "complete"]))
    try:
        read = cfgmask.Grammar.from_lark(grammar)
        compiled = cfgmask.compile(read, _vocabulary())
    except (GrammarError, LimitExceeded) as error:
        return None if _is_expected(error) else f"{grammar}\n{error}"
    try:
        # No token holds a "B", which the oracle would see behind conditions. Where terminals have these, the limit of
        # one is that of a rule; see docs/semantics.md.
        written = cfgmask.Grammar.from_lark(grammar.replace('"B"i', '"b"')).ir
        oracle = Oracle(with_limited_rules(expanded(written)), TOKENS, [END], SPECIAL)
    except (TooManyValues, Undecided, ValueError):
        return None
    for _ in range(WALKS):
        state, matcher, taken = oracle.initial, compiled.matcher(), list[int]()
        for _ in range(STEPS):
            try:
                mask, may_end = oracle.mask(state), oracle.is_accepting(state)
            except Undecided:
                return None
            found = mask_of(matcher, len(TOKENS))
            if found != mask or matcher.is_accepting != may_end:
                return f"{grammar}\nafter {taken}: cfgmask {sorted(found)}, oracle {sorted(mask)}"
            going_on = sorted(mask - {END})
            if not going_on:
                break
            counts["masks compared with the oracle"] += 1
            taken.append(rng.choice(going_on))
            matcher.advance(taken[-1])
            state = oracle.step_token(state, taken[-1])
    return None


def _vocabulary() -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_bytes(TOKENS, [END], SPECIAL)


# What is refused with a reason: rules that never end, terminals that assertions leave empty or entangle, and limits.
_REFUSED = frozenset(
    [
        *["lark-endless-rule", "grammar-empty", "regex-assertions-too-complex", "lark-empty-by-assertion"],
        *["lark-limit-too-small", "lark-complement-of-edges", "lark-lazy-part", "token-beyond-vocabulary"],
        *["lark-token-in-terminal", "lark-duplicate", "lark-rule-in-terminal", "lark-empty-terminal"],
        *["lark-endless-template", "lark-repeated-complement", "lark-unused-rule", "lark-unused-terminal"],
        "regex-lazy-in-count",  # in a rule with a limit that is one terminal
    ]
)


def _is_expected(error: Exception) -> bool:
    if isinstance(error, GrammarError):
        return all(d.code in _REFUSED or d.severity != "error" for d in error.diagnostics)
    return isinstance(error, LimitExceeded)


def disagreement(seed: int) -> str | None:
    """That of one seed."""
    return against_lark(seed) if seed % 2 else against_oracle(seed)


class NotJudgedError(Exception):
    """A judge takes too long."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Ends what takes more CPU time."""

    def end(_: int, __: object) -> None:
        raise NotJudgedError

    signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=2, help="of CPU time that a grammar may take; more is no verdict"
    )
    options = parser.parse_args()
    n_wrong = n_not_judged = 0
    for number, seed in enumerate(range(options.seed, options.seed + options.count), start=1):
        try:
            with at_most(options.seconds):
                found = disagreement(seed)
        except NotJudgedError:
            found = None
            n_not_judged += 1
        except Exception as error:  # whatever it is, it is a fault
            found = f"{type(error).__name__}: {error}"
        if found is not None:
            n_wrong += 1
            sys.stdout.write(f"--- seed {seed}\n{found}\n")
        if number % 1000 == 0 or number == options.count:
            sys.stdout.write(f"{number} grammars, {n_not_judged} not judged, {n_wrong} disagreements; {dict(counts)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
