"""Masks in llama-cpp-python.

The one-call way:

    from cfgmask.integrations.llama_cpp import generate

    text = generate(llm, "Call a tool: ", cfgmask.Grammar.from_file("tool_call.lark"), max_tokens=200)

Within llama-cpp-python's own calls, streaming or not:

    from cfgmask.integrations.llama_cpp import LogitsProcessor, LogitsProcessorList, StoppingCriterion

    processor = LogitsProcessor(cfgmask.compile(grammar, cfgmask.Vocabulary.from_llama(llm)))
    llm.create_completion(
        prompt,
        logits_processor=LogitsProcessorList([processor]),
        stopping_criteria=llama_cpp.StoppingCriteriaList([StoppingCriterion(processor)]),
    )

Chat calls take no `stopping_criteria`; ask the processor instead:

    answer = llm.create_chat_completion(messages, logits_processor=LogitsProcessorList([processor]))
    processor.raise_error()

The hook is given logits that lie in host memory whatever the backend, so builds with CUDA or Metal need nothing else.
"""

from __future__ import annotations

from cfgmask.tokenizers.library import require

require("llama_cpp", "llama")

from cfgmask.integrations.choices import Choice  # noqa: E402
from cfgmask.integrations.errors import IntegrationError  # noqa: E402
from cfgmask.integrations.generated import GeneratedText, TextStream  # noqa: E402
from cfgmask.integrations.llama_cpp.choosing import choose  # noqa: E402
from cfgmask.integrations.llama_cpp.generation import generate  # noqa: E402
from cfgmask.integrations.llama_cpp.processor import LogitsProcessor, StoppingCriterion  # noqa: E402
from cfgmask.integrations.llama_cpp.processor_list import LogitsProcessorList  # noqa: E402
from cfgmask.integrations.llama_cpp.samplers import watch_samplers  # noqa: E402
from cfgmask.integrations.logprobs import Logprob, TokenLogprob  # noqa: E402

watch_samplers()

__all__ = [
    "Choice",
    "GeneratedText",
    "IntegrationError",
    "LogitsProcessor",
    "LogitsProcessorList",
    "Logprob",
    "StoppingCriterion",
    "TextStream",
    "TokenLogprob",
    "choose",
    "generate",
]
