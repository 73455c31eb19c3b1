"""`python -m cfgmask.demo [PROMPT]`: one prompt, with and without a grammar, and proof that the difference is real.

The exit code is 0 only if the text written under the grammar is a valid tool call for a validator that knows nothing of
cfgmask. Needs `cfgmask[demo]`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

import cfgmask
from cfgmask.demo import CONTEXT_LENGTH, PROMPTS, model_path
from cfgmask.demo.tools import tool_call_schema
from cfgmask.integrations.llama_cpp import generate
from cfgmask.tokenizers.library import require

jsonschema: Any = require("jsonschema", "demo")
llama_cpp: Any = require("llama_cpp", "demo")

_MAX_TOKENS = 120


def main(prompt: str = PROMPTS[0]) -> int:
    """Show both texts side by side and say whether each is a valid tool call; the exit code."""
    llm = llama_cpp.Llama(str(model_path()), n_ctx=CONTEXT_LENGTH, verbose=False)
    schema = tool_call_schema()
    free = llm.create_completion(prompt, max_tokens=_MAX_TOKENS, temperature=0)["choices"][0]["text"]
    held = generate(llm, prompt, cfgmask.Grammar.from_json_schema(schema), max_tokens=_MAX_TOKENS, temperature=0)
    fault = problem(held, schema)
    _show(prompt, free, held, schema)
    return 1 if fault else 0


def problem(text: str, schema: dict[str, Any]) -> str | None:
    """Why the text is not an instance of the schema, in one line; None if it is."""
    try:
        jsonschema.validate(json.loads(text), schema, format_checker=jsonschema.FormatChecker())
    except json.JSONDecodeError as error:
        return f"not JSON from character {error.pos} on"
    except jsonschema.ValidationError as error:
        return f"not a tool call: {error.message}"
    return None


def _show(prompt: str, free: str, held: str, schema: dict[str, Any]) -> None:
    out = Console(highlight=False, markup=False, emoji=False)
    out.print(Panel(prompt, title="prompt", title_align="left"))
    sides = Table.grid(expand=True)
    sides.add_column(ratio=1)
    sides.add_column(ratio=1)
    sides.add_row(_panel("without a grammar", free, schema), _panel("with a JSON Schema", held, schema))
    out.print(sides)
    # Once more on a line of its own, for programs.
    out.print(held, soft_wrap=True)


def _panel(title: str, text: str, schema: dict[str, Any]) -> Panel:
    fault = problem(text, schema)
    colour, verdict = ("red", fault) if fault else ("green", "a valid tool call")
    return Panel(text, title=title, title_align="left", subtitle=verdict, subtitle_align="left", border_style=colour)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
