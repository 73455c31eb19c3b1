"""Extended Lark text to `GrammarIR`.

One stage a file, in this order:

    statements  text -> lists of tokens, one a statement        literals   strings, counts, token sets
    reader      tokens -> `Document` of syntax nodes            refusals   what is known and not supported
    link        definitions and imports -> one table            modules      the grammars that `%import` reads
    names       checks of every name                            templates    `list{x}: ...` -> rules
    terminals   syntax nodes -> regex trees                     json_blocks  `%json {...}` -> rules of a schema
    rules       syntax nodes -> rules of the IR                 options    `%cfgmask {...}`
    parse       all of them in a row

Importing this package does not import `lark`; the first call of `parse_lark` does.
"""

from cfgmask.lark.parse import parse_lark

__all__ = ["parse_lark"]
