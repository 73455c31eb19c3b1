"""Tools: lists of them to a grammar of calls, in the style of a model family. docs/tools.md has the guide.

`read` reads tools, `choice` what may be called, `style` the styles, which are data; `lower` brings them together.
"""
