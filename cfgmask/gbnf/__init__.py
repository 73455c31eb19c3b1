"""GBNF, the grammar format of llama.cpp, to `GrammarIR`. `parse_gbnf` is the whole interface.

One stage a file, in this order:

    tokens    text -> tokens                       literals  what stands inside of them: escapes, classes, counts
    reader    tokens -> rules of the IR            macros    the calls of xgrammar's EBNF
    names     which names are defined and used
    parse     all of them in a row
"""

from cfgmask.gbnf.parse import parse_gbnf

__all__ = ["parse_gbnf"]
