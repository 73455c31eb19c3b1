"""SGLang: the grammar backend `cfgmask`. docs/sglang.md says how to choose it."""

from __future__ import annotations

from typing import Any

__all__ = ["register"]


def register() -> None:
    """Make `--grammar-backend cfgmask` a choice. SGLang calls it in each process: it is an entry point."""
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend

    if "cfgmask" not in GRAMMAR_BACKEND_CHOICES:
        GRAMMAR_BACKEND_CHOICES.append("cfgmask")
    register_grammar_backend("cfgmask", _create)


def _create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: set[int] | None = None) -> Any:
    from cfgmask.integrations.sglang.backend import create_backend

    return create_backend(tokenizer, eos_token_ids)
