"""JSON Pointers (RFC 6901, section 3) and relative ones (draft-bhutton-relative-json-pointer-00, section 3)."""

from __future__ import annotations

JSON_POINTER = r"(?:/(?:[^/~]|~[01])*)*"
_NUMBER = "(?:0|[1-9][0-9]*)"
# Without the index manipulation (`0+1`) of that draft: earlier ones, and most validators, do not have it.
RELATIVE_JSON_POINTER = rf"{_NUMBER}(?:#|{JSON_POINTER})"
POSSIBLE_RELATIVE_JSON_POINTER = rf"{_NUMBER}(?:[+-]{_NUMBER})?(?:#|{JSON_POINTER})"
