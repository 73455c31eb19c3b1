"""Errors for arguments of `compile` that are of another type: each names the call that makes the right one."""

from __future__ import annotations

from cfgmask.compiler.grammar import Grammar
from cfgmask.grammar.ir import GrammarIR
from cfgmask.limits import Limits
from cfgmask.vocabulary import Vocabulary


def check_arguments(grammar: object, vocabulary: object, limits: object) -> None:
    """Raise TypeError if these are not what `compile` takes."""
    if not isinstance(grammar, (Grammar, GrammarIR)):
        raise TypeError(f"compile takes a Grammar first, not {_shown(grammar)}{_grammar_help(grammar)}")
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"compile takes a Vocabulary second, not {_shown(vocabulary)}{_vocabulary_help(vocabulary)}")
    if not isinstance(limits, (Limits, type(None))):
        raise TypeError(f"limits must be cfgmask.Limits or None, not {_shown(limits)}")


def _shown(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def _grammar_help(value: object) -> str:
    if isinstance(value, Vocabulary):
        return ": the grammar comes first, then the vocabulary"
    if isinstance(value, str):
        return ": call Grammar.from_lark(text), from_json_schema, from_regex or from_gbnf"
    if isinstance(value, dict):
        return ": call Grammar.from_json_schema(schema)"
    if isinstance(value, type):
        return f": call Grammar.from_type({value.__name__})"
    if isinstance(value, (list, tuple)):
        return ": call Grammar.from_choices(choices)"
    return ""


def _vocabulary_help(value: object) -> str:
    # By what the libraries' objects have: none of them is imported for a message.
    if hasattr(value, "n_vocab") and hasattr(value, "create_completion"):
        return ": call Vocabulary.from_llama(llm)"
    if (hasattr(value, "n_vocab") and hasattr(value, "mergeable_ranks")) or hasattr(value, "_mergeable_ranks"):
        return ": call Vocabulary.from_tiktoken(encoding)"
    if hasattr(value, "piece_to_id"):
        return ": call Vocabulary.from_sentencepiece(processor)"
    if hasattr(value, "get_vocab"):
        return ": call Vocabulary.from_transformers(tokenizer)"
    if isinstance(value, (list, tuple)):
        return ": call Vocabulary.from_bytes(tokens, eos_token_id=…)"
    return ": use one of the Vocabulary.from_ methods, such as from_llama or from_transformers"
