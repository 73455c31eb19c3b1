"""llguidance's names over this engine: for programs that were written for llguidance 1.9.1.

Import from here in place of `llguidance`, or call `install()` before they are imported. docs/llguidance.md says what is
different.
"""

from __future__ import annotations

from cfgmask.compat.llguidance._executor import LLExecutor
from cfgmask.compat.llguidance._grammars import GrammarFormat, JsonCompileOptions, grammar_from, regex_to_lark
from cfgmask.compat.llguidance._install import install
from cfgmask.compat.llguidance._limits import LLParserLimits
from cfgmask.compat.llguidance._matcher import LLMatcher, StopReason
from cfgmask.compat.llguidance._old import JsonCompiler, LarkCompiler, LLInterpreter, RegexCompiler
from cfgmask.compat.llguidance._struct_tag import StructTag
from cfgmask.compat.llguidance._tokenizer import LLTokenizer, TokenizerWrapper

__version__ = "1.9.1"
"""The version of llguidance whose names these are."""

__all__ = [
    "GrammarFormat",
    "JsonCompileOptions",
    "JsonCompiler",
    "LLExecutor",
    "LLInterpreter",
    "LLMatcher",
    "LLParserLimits",
    "LLTokenizer",
    "LarkCompiler",
    "RegexCompiler",
    "StopReason",
    "StructTag",
    "TokenizerWrapper",
    "__version__",
    "get_version",
    "grammar_from",
    "install",
    "regex_to_lark",
]


def get_version() -> str:
    """That it is this package, and the version of llguidance whose names these are."""
    return f"cfgmask (llguidance@{__version__})"
