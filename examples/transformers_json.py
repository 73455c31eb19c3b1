"""JSON of a schema out of transformers' `generate`.

The model is made on the spot, tiny and of random weights: what it says is noise, its form is right all the same.
With a model of your own, only the marked lines change. Needs cfgmask[transformers,torch].
"""

import json

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import cfgmask
from cfgmask.integrations.transformers import LogitsProcessor

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 3},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}


def byte_tokenizer() -> transformers.PreTrainedTokenizerFast:
    """A tokenizer whose tokens are the 256 bytes, and one that ends a text."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({character: i for i, character in enumerate(alphabet)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<end>"])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>", pad_token="<end>")


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

    vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=model.generation_config.eos_token_id)
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(SCHEMA), vocabulary)
    prompt = tokenizer("A person: ", return_tensors="pt")
    output = model.generate(
        input_ids=prompt["input_ids"],
        attention_mask=prompt["attention_mask"],
        logits_processor=[LogitsProcessor(compiled)],
        do_sample=True,
        max_new_tokens=400,
    )
    text = tokenizer.decode(output[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)
    print(json.loads(text))


if __name__ == "__main__":
    main()
