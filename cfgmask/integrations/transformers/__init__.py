"""Masks in transformers: a text in one call, or the model's own `generate` with batches, beams and drafts.

The one-call way, for one text:

    from cfgmask.integrations.transformers import generate

    text = generate(model, tokenizer, "The capital of Peru: ", City, max_tokens=50)

Within the model's own `generate`, a grammar for each row:

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
from cfgmask.integrations.generated import GeneratedText, TextStream  # noqa: E402
from cfgmask.integrations.logprobs import Logprob, TokenLogprob  # noqa: E402
from cfgmask.integrations.transformers.choosing import choose  # noqa: E402
from cfgmask.integrations.transformers.generation import generate  # noqa: E402
from cfgmask.integrations.transformers.processor import LogitsProcessor  # noqa: E402

__all__ = [
    "Choice",
    "GeneratedText",
    "IntegrationError",
    "LogitsProcessor",
    "Logprob",
    "TextStream",
    "TokenLogprob",
    "choose",
    "generate",
]
