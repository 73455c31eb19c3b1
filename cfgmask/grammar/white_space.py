"""The white space of JSON, as regexes."""

from __future__ import annotations

from cfgmask.grammar.regex_tree import Alternation, Concatenation, Repetition, char_class, text

_BLANK = char_class([(0x20, 0x20), (0x09, 0x09)])
_LINE_BREAK = Concatenation((Repetition(text("\r"), 0, 1), text("\n")))
_NEW_LINE = Concatenation((_LINE_BREAK, Repetition(_BLANK, 0, 64)))

# One line break at most. What is left of it behind blanks is one sequence, not one that ends there beside one that goes
# on.
BOUNDED = Alternation((Concatenation((Repetition(_BLANK, 1, 8), Repetition(_NEW_LINE, 0, 1))), _NEW_LINE))
# As people and `json.dumps` write it, `NATURAL_GAP` around members and items, and one space after a mark.
NATURAL_SPACE = Repetition(text(" "), 0, 1)
NATURAL_GAP = Repetition(_NEW_LINE, 0, 1)
ANY_SPACE = char_class([(0x20, 0x20), (0x09, 0x0A), (0x0D, 0x0D)])
UNBOUNDED = Repetition(ANY_SPACE, 1, None)
