"""`cfgmask mask`: what may come next, with the demo model's vocabulary unless another is given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cfgmask
from tests.cli.conftest import Run

VOCABULARIES = Path(__file__).parents[3] / "shared" / "data" / "vocab"


def test_whole_output(run: Run) -> None:
    result = run("mask", "greeting.lark", "--prefix", "hello you", "--limit", "4")
    assert result.exit_code == 0
    assert (
        result.stdout
        == """\
expected  NAME, "!" or ","
 allowed  339 of 1,024 tokens
       4  "!"
      15  ","
      68  "a"
      69  "b"
     ...  and 335 more (--limit)
"""
    )


def test_what_is_forced_and_the_end(run: Run, folder: Path) -> None:
    (folder / "word.lark").write_text('start: "ab" "cd"?\n')
    assert (
        run("mask", "word.lark").stdout
        == """\
expected  "ab"
  forced  "ab"
 allowed  2 of 1,024 tokens
      68  "a"
     634  "ab"
"""
    )
    assert (
        run("mask", "word.lark", "--prefix", "ab").stdout
        == """\
expected  "cd" or the end of the text
 allowed  2 of 1,024 tokens
       1  the end of the text
      70  "c"
"""
    )


def test_json(run: Run) -> None:
    result = run("mask", "greeting.lark", "--prefix", "hello you", "--limit", "1", "--json")
    assert json.loads(result.stdout) == {
        "ok": True,
        "prefix": {
            "source": "prefix",
            "outcome": "incomplete",
            "offset": 9,
            "line": 1,
            "column": 10,
            "expected": ["NAME", '"!"', '","'],
            "may_end": False,
            "forced": {"text": "", "hex": ""},
        },
        "n_vocab": 1024,
        "n_allowed": 339,
        "tokens": [{"id": 4, "is_end": False, "text": "!", "hex": "21"}],
    }


def test_tokens_that_hold_part_of_a_character(run: Run, folder: Path) -> None:
    (folder / "euro.lark").write_text('start: "€"\n')
    tokens = json.loads(run("mask", "euro.lark", "--json").stdout)["tokens"]
    assert [(token["text"], token["hex"]) for token in tokens] == [(None, "e2")]


def test_a_refused_prefix(run: Run) -> None:
    result = run("mask", "greeting.lark", "--prefix", "hello 1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr
        == """\
error[text-refused]: the text is refused at byte 6
  --> prefix:1:7
1 | hello 1
  |       ^
  help: expected NAME

"""
    )


def test_a_refused_prefix_as_json(run: Run) -> None:
    result = run("mask", "greeting.lark", "--prefix", "hello 1", "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert answer["ok"] is False
    assert answer["prefix"]["offset"] == 6


def test_another_vocabulary(run: Run) -> None:
    vocabulary = VOCABULARIES / "ggml-vocab-llama-bpe.gguf"
    if not vocabulary.exists():
        pytest.skip("the real vocabularies are not here")
    result = run("mask", "greeting.lark", "--prefix", "hello you", "--limit", "0", "--vocab", str(vocabulary))
    assert result.stdout.splitlines()[-1] == " allowed  17,858 of 128,256 tokens"


def test_a_saved_vocabulary(run: Run, folder: Path) -> None:
    others = [bytes([byte]) for byte in range(256) if byte not in b"h "]
    cfgmask.Vocabulary.from_bytes([b"h", b"he", b"x", b"", *others], 3).save(folder / "small.json")
    result = run("mask", "greeting.lark", "--vocab", "small.json", "--json")
    assert [token["id"] for token in json.loads(result.stdout)["tokens"]] == [0, 1]


def test_a_file_that_is_no_vocabulary(run: Run, folder: Path) -> None:
    (folder / "bad.gguf").write_bytes(b"not a vocabulary")
    result = run("mask", "greeting.lark", "--vocab", "bad.gguf")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[vocabulary-unusable]: ")


def test_why_a_token_is_refused(run: Run) -> None:
    result = run("mask", "greeting.lark", "--prefix", "hello you", "--why", "9")
    assert result.exit_code == 1
    assert (
        result.stdout
        == """\
error[token-refused]: token 9 "&" is refused at its byte 0, "&"
  note: `start` expects NAME, "!" or ","
  --> greeting.lark:1:1
1 | start: "hello" NAME ("," NAME)* "!"
  | ^^^^^
  help: expected NAME, "!" or ","

"""
    )


def test_why_a_token_is_allowed(run: Run) -> None:
    result = run("mask", "greeting.lark", "--prefix", "hello you", "--why", "!")
    assert (result.exit_code, result.stdout) == (
        0,
        'note[token-allowed]: token 4 "!" is allowed\n  help: after it may come the end of the text\n\n',
    )


def test_why_in_json(run: Run) -> None:
    answer = json.loads(run("mask", "greeting.lark", "--why", "9999", "--json").stdout)
    assert (answer["ok"], answer["reason"], answer["id"]) == (False, "unknown", 9999)
    assert answer["expected"] == [{"name": '"hello"', "rules": ["start"]}]


def test_why_needs_a_token(run: Run) -> None:
    result = run("mask", "greeting.lark", "--why", "no such token")
    assert result.exit_code == 2
    assert 'no token of the vocabulary is "no such token"' in result.stderr
