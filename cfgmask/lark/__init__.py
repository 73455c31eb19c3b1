"""Extended Lark text to `GrammarIR`.

One stage a file, in this order:

    statements  text -> lists of tokens, one a statement        syntax      the parser of one, by tables
    reader      tokens -> `Document` of syntax nodes            literals    strings, counts, token sets
    link        definitions and imports -> one table            modules      the grammars that `%import` reads
    names       checks of every name                            templates    `list{x}: ...` -> rules
    terminals   syntax nodes -> regex trees                     json_blocks  `%json {...}` -> rules of a schema
    rules       syntax nodes -> rules of the IR                 options     `%cfgmask {...}`
    parse       all of them in a row

The `lark` package is imported only where a grammar imports one of its modules.
"""

from cfgmask.lark.parse import parse_lark

__all__ = ["parse_lark"]
