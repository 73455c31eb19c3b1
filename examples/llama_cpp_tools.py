"""A model calls a tool, the program runs it, and the model answers with its result.

    python examples/llama_cpp_tools.py [model.gguf [style]]

Without a model of your own, the small one that ships with cfgmask is used, with the style "generic".
Needs cfgmask[llama].
"""

import json
import sys

import llama_cpp

import cfgmask
from cfgmask.demo import model_path
from cfgmask.integrations.llama_cpp import generate


def get_weather(city: str) -> dict[str, object]:
    """The weather in a city."""
    return {"city": city, "sky": "clear", "celsius": 21}


ANSWER = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "celsius": {"type": "integer"}},
    "required": ["city", "celsius"],
    "additionalProperties": False,
}


def main(model: str, style: str) -> None:
    llm = llama_cpp.Llama(model, n_ctx=512, verbose=False)
    vocabulary = cfgmask.Vocabulary.from_llama(llm)

    def write(prompt: str, tool_choice: str) -> str:
        grammar = cfgmask.Grammar.from_tools(
            [get_weather],
            style=style,
            tool_choice=tool_choice,
            parallel_tool_calls=False,
            response_format=ANSWER,
            prompt=prompt,
        )
        return generate(llm, prompt, cfgmask.compile(grammar, vocabulary), temperature=0, max_tokens=80)

    # With a chat template of the model, the prompt comes from it, and so does the style.
    prompt = "User: what is the weather in Oslo?\nCall: "
    written = write(prompt, "required")
    print(written)
    call = json.loads(written[written.index("{") : written.rindex("}") + 1])
    result = get_weather(**call["arguments"])
    prompt += f"{written}\nResult: {json.dumps(result)}\nAnswer: "
    print(write(prompt, "none"))


if __name__ == "__main__":
    main(*(sys.argv[1:3] or [str(model_path())]), *([] if len(sys.argv) > 2 else ["generic"]))
