"""The intermediate form of grammars and the passes over it."""
