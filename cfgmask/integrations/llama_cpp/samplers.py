"""A look at the samplers of a generation before its first token.

All calls of llama-cpp-python make their samplers in one method, `Llama._init_sampler`, in the caller's own stack. A
hook is called within C, where nothing can be raised, and then only if no processor before it has raised; and where the
call has a grammar of llama.cpp's own as well, one that allows other tokens, llama.cpp ends the process. So that method
is wrapped, for all models: a call without a hook of ours goes through it as before.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import llama_cpp

from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.llama_cpp.callback import Callback, Hook
from cfgmask.integrations.llama_cpp.checked_sample import OWN_GRAMMAR, check_sampling

_IS_WATCHED = "_cfgmask_is_watched"


def watch_samplers() -> None:
    """Make every `Llama` check its logits processors before a generation begins. Later calls do nothing."""
    method = llama_cpp.Llama._init_sampler
    if not hasattr(method, _IS_WATCHED):
        llama_cpp.Llama._init_sampler = _watched(method)


def _watched(make: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(make)

    @wraps(make)
    def make_checked(llm: Any, *arguments: Any, **options: Any) -> Any:
        given = signature.bind(llm, *arguments, **options)
        processors = given.arguments.get("logits_processor")
        if not isinstance(processors, Iterable):
            return make(llm, *arguments, **options)
        if not isinstance(
            processors, list
        ):  # which may grow later; an iterator would be empty from the second token on
            processors = list(processors)
        hook = _hook_in(processors)
        if hook is not None and given.arguments.get("grammar") is not None:
            raise IntegrationError(OWN_GRAMMAR)
        given.arguments["logits_processor"] = processors
        sampler = make(*given.args, **given.kwargs)
        if hook is not None:
            check_sampling(llm)
            for _, custom in sampler.custom_samplers:
                Callback(hook, llm, processors, custom.apply_func).replace(custom)
        return sampler

    setattr(make_checked, _IS_WATCHED, True)
    return make_checked


def _hook_in(processors: Iterable[Any]) -> Hook | None:
    """The last hook among the processors, and lists of processors among them."""
    found = None
    for processor in processors:
        if isinstance(processor, Hook):
            found = processor
        elif isinstance(processor, (list, tuple)):
            found = _hook_in(processor) or found
    return found
