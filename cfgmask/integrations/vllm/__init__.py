"""vLLM: this engine in the place of the guidance backend. docs/vllm.md says how to choose it."""

from __future__ import annotations

__all__ = ["SUPPORTED", "install", "plugin"]

SUPPORTED = "0.33"
"""The version of vLLM whose interface the backend is written for."""


def install() -> None:
    """Have vLLM make the grammars of its `guidance` backend with this engine, in this process from now on.

    vLLM knows its backends by name and takes no others. This takes the place of one of them: choose it with
    `structured_outputs_config.backend="guidance"`. A second call does nothing.
    Errors: RuntimeError for another version of vLLM, whose interface may be another.
    """
    import vllm
    from vllm.v1 import structured_output
    from vllm.v1.structured_output import backend_guidance

    from cfgmask.integrations.vllm.backend import CfgmaskBackend, validate

    if not f"{vllm.__version__}.".startswith(f"{SUPPORTED}."):
        raise RuntimeError(f"cfgmask supports vLLM {SUPPORTED}, and this is {vllm.__version__}")
    structured_output.GuidanceBackend = CfgmaskBackend
    backend_guidance.GuidanceBackend = CfgmaskBackend
    backend_guidance.validate_guidance_grammar = validate


def plugin() -> None:
    """What vLLM calls in each of its processes: `install`, if its setting `VLLM_PLUGINS` names `cfgmask`."""
    import vllm.envs

    if "cfgmask" in (vllm.envs.VLLM_PLUGINS or ()):
        install()
