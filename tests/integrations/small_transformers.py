"""A model of transformers with random weights, and a tokenizer of bytes for it, with a chat template."""

from __future__ import annotations

from typing import Any

from tests.tokenizers.small import byte_characters

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
BOS, EOS, END_OF_TURN = 259, 260, 261


def small_tokenizer(template: str | None = TEMPLATE) -> Any:
    """256 bytes, three longer tokens, <s>, </s> and a second end."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocab = {character: token_id for token_id, character in enumerate(byte_characters())}
    merges = [("h", "e"), ("Ġ", "he"), ("a", "b")]
    for left, right in merges:
        vocab[left + right] = len(vocab)
    backend = Tokenizer(models.BPE(vocab, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(name, special=True) for name in ("<s>", "</s>", "<end>")])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = template
    return tokenizer


def small_model(*, context: int = 256, scale: float = 20.0, kind: str = "llama", seed: int = 0) -> Any:
    """More logits than the vocabulary has tokens, as in models whose vocabulary is padded; two end tokens.

    scale  how far apart its logits lie
    """
    import torch
    import transformers

    torch.set_num_threads(1)  # tests run side by side
    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 272}
    ends = {"bos_token_id": BOS, "eos_token_id": [EOS, END_OF_TURN], "pad_token_id": EOS}
    if kind == "mamba":
        model = transformers.MambaForCausalLM(transformers.MambaConfig(**sizes, **ends, state_size=8)).eval()
    else:
        heads = {"intermediate_size": 64, "num_attention_heads": 2, "max_position_embeddings": context}
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, **heads, **ends)).eval()
    with torch.no_grad():
        model.get_output_embeddings().weight.mul_(scale)
    return model
