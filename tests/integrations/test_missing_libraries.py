"""A library that is missing is named, with the command that installs all that its integration needs."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("integration", "missing", "extras"),
    [
        ("llama_cpp", "llama_cpp", "llama"),
        ("transformers", "torch", "transformers,torch"),
        ("transformers", "transformers", "transformers,torch"),
    ],
)
def test_missing_library(integration: str, missing: str, extras: str) -> None:
    # Others that the integration needs may be missing here, too.
    code = f"""
import sys, types
sys.modules.update(torch=types.ModuleType("torch"), transformers=types.ModuleType("transformers"))
sys.modules[{missing!r}] = None
try:
    import cfgmask.integrations.{integration}
except ImportError as error:
    print(error.name, error, sep=": ")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == (
        f"{missing}: cfgmask needs the module {missing!r} for this; install it with: pip install 'cfgmask[{extras}]'\n"
    )
