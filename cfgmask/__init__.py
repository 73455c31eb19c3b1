"""Grammar-constrained decoding: which tokens can still lead to a text of a grammar.

Importing this imports neither torch, transformers, llama_cpp nor lark; what needs them does so when called.
"""

try:
    from cfgmask._core import CompiledGrammar, Matcher, fill_masks
except ModuleNotFoundError as error:
    if error.name != "cfgmask._core":
        raise
    from cfgmask.source_tree import explain_missing_core

    raise explain_missing_core() from None

from cfgmask import grammars
from cfgmask.compiler import Compiler, Explanation, Grammar, MaskEvent, compile
from cfgmask.diagnostics import Diagnostic, Source, Span
from cfgmask.drafts import advance_many, fill_draft_masks, fill_draft_masks_many, rollback_many
from cfgmask.errors import (
    BudgetTooSmall,
    CfgmaskError,
    GrammarError,
    LimitExceeded,
    ParseError,
    TokenRejected,
    VocabularyError,
)
from cfgmask.limits import Limits
from cfgmask.patterns import json_regex
from cfgmask.vocabulary import Vocabulary

__all__ = [
    "BudgetTooSmall",
    "CfgmaskError",
    "CompiledGrammar",
    "Compiler",
    "Diagnostic",
    "Explanation",
    "Grammar",
    "GrammarError",
    "LimitExceeded",
    "Limits",
    "MaskEvent",
    "Matcher",
    "ParseError",
    "Source",
    "Span",
    "TokenRejected",
    "Vocabulary",
    "VocabularyError",
    "advance_many",
    "compile",
    "fill_draft_masks",
    "fill_draft_masks_many",
    "fill_masks",
    "grammars",
    "json_regex",
    "rollback_many",
]
