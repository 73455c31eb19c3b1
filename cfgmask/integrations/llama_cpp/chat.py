"""Messages as a model's own chat template writes them."""

from __future__ import annotations

from typing import Any

from llama_cpp import llama_chat_format

from cfgmask.integrations.options import is_messages


def rendered(llm: Any, prompt: Any) -> Any:
    """The prompt, if it is no list of messages; else the ids of these, up to where the model's answer begins.

    Raises ValueError for a model without a chat template.
    """
    if not is_messages(prompt):
        return prompt
    template = llm.metadata.get("tokenizer.chat_template")
    if template is None:
        raise ValueError("the model has no chat template to write messages with: pass the prompt as text")

    def text_of(token_id: int) -> str:
        return str(llm._model.token_get_text(token_id)) if token_id >= 0 else ""

    formatter = llama_chat_format.Jinja2ChatFormatter(
        template=template, eos_token=text_of(llm.token_eos()), bos_token=text_of(llm.token_bos())
    )
    answer = formatter(messages=[dict(message) for message in prompt])
    return llm.tokenize(answer.prompt.encode(), add_bos=not answer.added_special, special=True)
