"""A sampling loop of one's own: numpy, a vocabulary of bytes, logits from anywhere.

    python examples/numpy_loop.py

The logits are random here. Everything that a loop needs of cfgmask is in `sample`.
"""

import numpy as np

import cfgmask

END = 256
VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_token_id=END)

# Sums and products of small numbers, nested to any depth.
GRAMMAR = cfgmask.Grammar.from_lark(r"""
start: expression
expression: term (("+" | "-") term)*
term: factor ("*" factor)*
factor: NUMBER | "(" expression ")"
NUMBER: /[1-9][0-9]{0,2}/
""")


def sample(compiled: cfgmask.CompiledGrammar, rng: np.random.Generator, max_tokens: int = 40) -> tuple[bytes, bool]:
    """A random text, and whether it is complete."""
    matcher = compiled.matcher()
    text = b""
    for _ in range(max_tokens):
        logits = rng.normal(scale=3.0, size=VOCABULARY.n_vocab).astype(np.float32)
        matcher.apply(logits)
        probabilities = np.exp(logits - logits.max())
        token_id = int(rng.choice(VOCABULARY.n_vocab, p=probabilities / probabilities.sum()))
        matcher.advance(token_id)
        if matcher.is_finished:
            return text, True
        text += VOCABULARY.tokens[token_id]
    return text, matcher.is_accepting


def main() -> None:
    compiled = cfgmask.compile(GRAMMAR, VOCABULARY)
    rng = np.random.default_rng(0)
    for _ in range(10):
        text, complete = sample(compiled, rng)
        print(text.decode(), "" if complete else "  (cut off)")


if __name__ == "__main__":
    main()
