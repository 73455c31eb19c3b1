"""A vocabulary as one file, so that a process need not load its tokenizer.

The file is a JSON document: `format` and `version`, the tokens' bytes behind each other in base64 with their lengths,
the end tokens and the special ones. It holds no trie: reading one back with the checks that a stranger's file needs
takes as long as building it.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.documents import MAX_TOKENS, expect, load_document
from cfgmask.tokenizers.parts import Encode, VocabularyParts

_FORMAT = "cfgmask vocabulary"
_VERSION = 1
# Flags that not every system has.
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)


def write_saved(parts: VocabularyParts, path: Path) -> None:
    """Write the file, all of it or, where that fails, nothing. A symlink at `path` is replaced, not followed: what it
    points to stays as it is. Raises OSError.
    """
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "description": parts.description,
        "end_token_ids": list(parts.end_token_ids),
        "special_tokens": parts.special_tokens,
        "lengths": [len(token) for token in parts.tokens],
        "bytes": base64.b64encode(b"".join(parts.tokens)).decode("ascii"),
    }
    # In a folder that others may write to, a name that can be guessed may be a symlink to any file of the user's.
    temporary = path.with_name(f".{secrets.token_hex(16)}.tmp")
    # This descriptor is of a file that was made here.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(document).encode("ascii"))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_saved(path: Path, encode: Encode | None) -> VocabularyParts:
    """Read the file. Raises OSError where that fails, VocabularyError where it is none of these files, of another
    version, or damaged. Cost: 50 ms for 128,256 tokens.
    """
    try:
        document = load_document(path)
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise VocabularyError("this is no saved vocabulary")
        if document["version"] != _VERSION:
            raise VocabularyError(f"version {document['version']!r:.20} of the format is not known; save it again")
        special = {name: expect(token_id, int) for name, token_id in expect(document["special_tokens"], dict).items()}
        ends = [expect(token_id, int) for token_id in expect(document["end_token_ids"], list)]
        tokens = _tokens(document)
        return VocabularyParts(tokens, ends, special, encode, expect(document["description"], str))
    except VocabularyError as error:
        raise VocabularyError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise VocabularyError(f"{path}: this is no saved vocabulary, or it is damaged ({error!r:.80})") from None


def _tokens(document: dict[str, Any]) -> Sequence[bytes]:
    try:
        data = base64.b64decode(expect(document["bytes"], str), validate=True)
    except binascii.Error as error:
        raise VocabularyError(f"the bytes of its tokens are not base64: {error}") from None
    lengths = expect(document["lengths"], list)
    if len(lengths) > MAX_TOKENS:
        raise VocabularyError(f"it has more than {MAX_TOKENS} tokens")
    if any(type(length) is not int or length < 0 for length in lengths) or sum(lengths) != len(data):
        raise VocabularyError("the lengths of its tokens are not those of its bytes")
    ends = itertools.accumulate(lengths)
    return [data[end - length : end] for end, length in zip(ends, lengths, strict=True)]
