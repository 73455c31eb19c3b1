"""Network and tokenizer to a GGUF file and back."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf.constants import TokenType
from tokenizers import Tokenizer

from .network import Network, Shape
from .tokenizer import END, SPECIAL_TOKENS, START

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ 'Call: ' if message.role == 'assistant' else 'User: ' }}{{ message.content }}\n"
    "{% endfor %}{% if add_generation_prompt %}Call: {% endif %}"
)

_BLOCK_TENSORS = {
    "attention_norm": "attn_norm",
    "attention.q": "attn_q",
    "attention.k": "attn_k",
    "attention.v": "attn_v",
    "attention.output": "attn_output",
    "ffn_norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}


def write_gguf(network: Network, tokenizer: Tokenizer, path: Path) -> None:
    """Write the model: matrices as float16, norms as float32."""
    writer = gguf.GGUFWriter(str(path), "llama")
    _write_shape(writer, network.shape)
    _write_vocabulary(writer, tokenizer)
    weights = network.state_dict()
    for ours, theirs in tensor_names(network.shape).items():
        data = weights[ours].numpy()
        writer.add_tensor(theirs, data.astype(np.float16 if data.ndim == 2 else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_gguf(path: Path) -> Network:
    """The network of a file that `write_gguf` wrote, its matrices rounded to float16."""
    reader = gguf.GGUFReader(str(path))

    def number(key: str) -> int:
        return int(reader.fields[f"llama.{key}"].contents())

    shape = Shape(
        vocabulary=number("vocab_size"),
        context=number("context_length"),
        width=number("embedding_length"),
        layers=number("block_count"),
        heads=number("attention.head_count"),
        hidden=number("feed_forward_length"),
    )
    stored = {tensor.name: np.array(tensor.data, dtype=np.float32) for tensor in reader.tensors}
    network = Network(shape)
    network.load_state_dict({ours: torch.from_numpy(stored[theirs]) for ours, theirs in tensor_names(shape).items()})
    return network.eval()


def tensor_names(shape: Shape) -> dict[str, str]:
    """Our names of the weights to GGUF's. There is no output matrix: llama.cpp then uses the embedding."""
    names = {"embedding.weight": "token_embd.weight", "output_norm.weight": "output_norm.weight"}
    for layer in range(shape.layers):
        for ours, theirs in _BLOCK_TENSORS.items():
            names[f"blocks.{layer}.{ours}.weight"] = f"blk.{layer}.{theirs}.weight"
    return names


def _write_shape(writer: gguf.GGUFWriter, shape: Shape) -> None:
    writer.add_name("cfgmask-demo")
    writer.add_description("A tiny model that shows grammar-constrained generation; trained on template text")
    writer.add_license("MIT")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(shape.norm_epsilon)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)


def _write_vocabulary(writer: gguf.GGUFWriter, tokenizer: Tokenizer) -> None:
    ids = tokenizer.get_vocab()
    tokens = sorted(ids, key=ids.__getitem__)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if token in SPECIAL_TOKENS else TokenType.NORMAL for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(ids[START])
    writer.add_eos_token_id(ids[END])
    writer.add_add_bos_token(True)
    writer.add_chat_template(CHAT_TEMPLATE)
