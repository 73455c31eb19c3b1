"""A model of 0.9 million parameters that ships inside, so that everything can be tried at once and offline.

It is a GGUF file of llama architecture with a byte-level BPE vocabulary of its own (1,024 tokens), made by
`scripts/train_demo_model.py` from text that `scripts/demo_model/corpus.py` writes: tool calls, records as JSON, small
SQL, CSV, arithmetic, dates and plain sentences.

It knows those templates and nothing else; its context is 512 tokens.
It was trained to be sloppy: most answers in its corpus chat before the JSON or break its syntax, so that what it writes
freely is rarely valid, and what it writes under a grammar is.
Its sums are mostly wrong: a grammar makes a text well-formed, not true.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

CONTEXT_LENGTH = 512

PROMPTS = (
    "User: what is the weather in Paris?\nCall: ",
    "User: how much is 50 euros in dollars?\nCall: ",
    "User: tell Anna that dinner is ready\nCall: ",
    "User: please plan yoga class for 14 May 2025\nCall: ",
    "User: find a blue lamp under 30 dollars\nCall: ",
    "Anna is 34 years old and lives in Oslo.\nJSON: ",
    "Question: the name of all users with age above 40\nSQL: ",
)
"""Prompts of the shapes that the model knows; the first five ask for one of the tools of `cfgmask.demo.tools`."""


def model_path() -> Path:
    """Where the model's file is. The package is installed as plain files, never as an archive."""
    return Path(str(resources.files(__name__) / "model.gguf"))
