"""A model calls a tool, the program runs it, and the model answers with its result; in transformers.

    python examples/transformers_tools.py

The model is made on the spot, tiny and of random weights: what it says is noise, its form is right all the same.
With a model of your own, only the marked lines change. Needs cfgmask[transformers,torch].
"""

import json

import torch
import transformers
from transformers_json import byte_tokenizer

import cfgmask
from cfgmask.integrations.transformers import generate


def get_weather(city: str) -> dict[str, object]:
    """The weather in a city."""
    return {"city": city, "sky": "clear", "celsius": 21}


ANSWER = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "celsius": {"type": "integer"}},
    "required": ["city", "celsius"],
    "additionalProperties": False,
}


def main() -> None:
    torch.manual_seed(0)
    tokenizer = byte_tokenizer()  # AutoTokenizer.from_pretrained(...)
    model = transformers.LlamaForCausalLM(  # AutoModelForCausalLM.from_pretrained(...)
        transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )

    def grammar(prompt: str, tool_choice: str) -> cfgmask.Grammar:
        # With a chat template, the prompt comes from it, and so does the style: style="auto", template=tokenizer.
        return cfgmask.Grammar.from_tools(
            [get_weather],
            style="generic",
            tool_choice=tool_choice,
            parallel_tool_calls=False,
            response_format=ANSWER,
            prompt=prompt,
        )

    prompt = "User: what is the weather in Oslo?\nCall: "
    written = generate(model, tokenizer, prompt, grammar(prompt, "required"), max_tokens=200)
    print(written)
    (call,) = written.value.tool_calls
    result = get_weather(**call.arguments)
    prompt += f"{written}\nResult: {json.dumps(result)}\nAnswer: "
    answer = generate(model, tokenizer, prompt, grammar(prompt, "none"), max_tokens=200)
    print(answer.value.value)


if __name__ == "__main__":
    main()
