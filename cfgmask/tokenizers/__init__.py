"""Readers of other libraries' tokenizers, one a library. Each imports its library when it is called, not before."""
