"""vLLM: this engine in the place of the guidance backend. docs/vllm.md says how to choose it."""

from __future__ import annotations

__all__ = ["SUPPORTED", "install", "plugin"]

SUPPORTED = "0.33"
"""The version of vLLM that the backend is written for."""


def install() -> None:
    """Replace vLLM's backend `guidance` by this engine, in this process from now on.

    vLLM has no registry for backends of others, so one of its own gives up its name: choose it with
    `structured_outputs_config.backend="guidance"`. A second call does nothing.
    Errors: RuntimeError for another version of vLLM, whose interface may be another, and if vLLM lacks one of the names
    that are replaced; nothing is replaced then.
    """
    import vllm

    if not f"{vllm.__version__}.".startswith(f"{SUPPORTED}."):
        raise RuntimeError(f"cfgmask supports vLLM {SUPPORTED}, and this is {vllm.__version__}")
    from vllm.v1 import structured_output
    from vllm.v1.structured_output import backend_guidance

    from cfgmask.integrations.vllm.backend import CfgmaskBackend, validate

    replaced = ((structured_output, "GuidanceBackend"), (backend_guidance, "validate_guidance_grammar"))
    for module, name in replaced:
        if not hasattr(module, name):
            raise RuntimeError(f"this vLLM {vllm.__version__} has no {name}, in whose place cfgmask would be")
    structured_output.GuidanceBackend = CfgmaskBackend
    backend_guidance.GuidanceBackend = CfgmaskBackend
    backend_guidance.validate_guidance_grammar = validate


def plugin() -> None:
    """`install`, if vLLM's setting `VLLM_PLUGINS` names `cfgmask`. vLLM calls it in each of its processes."""
    import vllm.envs

    if "cfgmask" in (vllm.envs.VLLM_PLUGINS or ()):
        install()
