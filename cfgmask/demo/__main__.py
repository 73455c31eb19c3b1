"""`python -m cfgmask.demo [PROMPT] [--svg FILE]`: one prompt, with and without a grammar, and proof of the difference.

The exit code is 0 only if the text written under the grammar is a valid tool call for a validator that knows nothing of
cfgmask. With `--svg` the two texts are also drawn into a file. Needs `cfgmask[demo]`.
"""

from __future__ import annotations

import argparse
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


def main(prompt: str = PROMPTS[0], svg: str | None = None) -> int:
    """Show both texts side by side and say whether each is a valid tool call; the exit code."""
    llm = llama_cpp.Llama(str(model_path()), n_ctx=CONTEXT_LENGTH, verbose=False)
    schema = tool_call_schema()
    free = llm.create_completion(prompt, max_tokens=_MAX_TOKENS, temperature=0)["choices"][0]["text"]
    held = generate(llm, prompt, cfgmask.Grammar.from_json_schema(schema), max_tokens=_MAX_TOKENS, temperature=0)
    fault = problem(held, schema)
    out = Console(highlight=False, markup=False, emoji=False, record=svg is not None, width=90 if svg else None)
    _show(out, prompt, free, held, schema)
    if svg is not None:
        out.save_svg(svg, title="python -m cfgmask.demo")
    # Once more on a line of its own, for programs.
    print(held)
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


def _show(out: Console, prompt: str, free: str, held: str, schema: dict[str, Any]) -> None:
    out.print(Panel(prompt, title="prompt", title_align="left"))
    sides = Table.grid(expand=True)
    sides.add_column(ratio=1)
    sides.add_column(ratio=1)
    sides.add_row(_panel("without a grammar", free, schema), _panel("with a JSON Schema", held, schema))
    out.print(sides)


def _panel(title: str, text: str, schema: dict[str, Any]) -> Panel:
    fault = problem(text, schema)
    colour, verdict = ("red", fault) if fault else ("green", "a valid tool call")
    return Panel(text, title=title, title_align="left", subtitle=verdict, subtitle_align="left", border_style=colour)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m cfgmask.demo")
    parser.add_argument("prompt", nargs="?", default=PROMPTS[0], help="what the model goes on from")
    parser.add_argument("--svg", metavar="FILE", help="also draw the two texts into FILE")
    chosen = parser.parse_args()
    sys.exit(main(chosen.prompt, chosen.svg))
