"""Masks in transformers' `generate`: batches, beams, drafts, a grammar for each row.

from cfgmask.integrations.transformers import LogitsProcessor

vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=model.generation_config.eos_token_id)
processor = LogitsProcessor(cfgmask.compile(grammar, vocabulary))
model.generate(**tokenizer("A prompt", return_tensors="pt"), logits_processor=[processor])
"""

from __future__ import annotations

from cfgmask.tokenizers.library import require

# transformers itself brings no torch, so one command that names both serves whichever is missing.
require("torch", "transformers,torch")
require("transformers", "transformers,torch")

from cfgmask.integrations.choices import Choice  # noqa: E402
from cfgmask.integrations.errors import IntegrationError  # noqa: E402
from cfgmask.integrations.transformers.choosing import choose  # noqa: E402
from cfgmask.integrations.transformers.processor import LogitsProcessor  # noqa: E402

__all__ = ["Choice", "IntegrationError", "LogitsProcessor", "choose"]
