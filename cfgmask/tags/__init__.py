"""Structural tags: text, values and free text between markers, as data. docs/structural_tags.md has the format.

`nodes` are the forms of content, `lower` makes a grammar of them. Lists of tools are lowered through the same nodes.
"""
