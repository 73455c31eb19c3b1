"""How the model in `cfgmask/demo` is made: text, tokenizer, network, export. `scripts/train_demo_model.py` runs it."""
