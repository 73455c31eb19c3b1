"""A tool call written by llama.cpp, streamed in one call and then through llama-cpp-python's own API.

    python examples/llama_cpp_tool_call.py [model.gguf]

Without a model of your own, the small one that ships with cfgmask is used. Needs cfgmask[llama].
"""

import json
import sys

import llama_cpp

import cfgmask
from cfgmask.demo import model_path
from cfgmask.integrations.llama_cpp import LogitsProcessor, LogitsProcessorList, StoppingCriterion, generate

# The name of a tool decides which arguments may follow it.
GRAMMAR = """
start: weather | timer
weather: %json {
  "type": "object",
  "properties": {
    "name": {"const": "get_weather"},
    "arguments": {
      "type": "object",
      "properties": {"city": {"type": "string", "maxLength": 40}, "unit": {"enum": ["celsius", "fahrenheit"]}},
      "required": ["city", "unit"],
      "additionalProperties": false
    }
  },
  "required": ["name", "arguments"],
  "additionalProperties": false
}
timer: %json {
  "type": "object",
  "properties": {
    "name": {"const": "set_timer"},
    "arguments": {
      "type": "object",
      "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 1440}},
      "required": ["minutes"],
      "additionalProperties": false
    }
  },
  "required": ["name", "arguments"],
  "additionalProperties": false
}
"""


def main(model: str) -> None:
    llm = llama_cpp.Llama(model, n_ctx=512, verbose=False)
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark(GRAMMAR), cfgmask.Vocabulary.from_llama(llm))

    for piece in generate(llm, "User: what is the weather in Oslo?\nCall: ", compiled, stream=True, temperature=0):
        print(piece, end="", flush=True)
    print()

    # Within create_completion or create_chat_completion a processor masks, and a criterion raises what goes wrong.
    processor = LogitsProcessor(compiled)
    completion = llm.create_completion(
        "User: set a timer for ten minutes\nCall: ",
        max_tokens=200,
        temperature=0,
        logits_processor=LogitsProcessorList([processor]),
        stopping_criteria=llama_cpp.StoppingCriteriaList([StoppingCriterion(processor)]),
    )
    call = json.loads(completion["choices"][0]["text"])
    print(call["name"], call["arguments"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(model_path()))
