"""llama.cpp's callback into Python, and what a hook that is alone in it may do.

llama-cpp-python lays a new record array over the candidates at each token and gives its processors a view of the
logits. After the model's own work nothing of that is in the caches any more, and it takes as long as all of a mask.
All samplers then pass over all candidates, of which few are allowed at most places. So where nobody looks at the scores
after the hook, it may drop candidates; and where it is the only one, it takes the place of the callback.
Where it is not, the callback is called as it is, and what it raises is kept from llama.cpp's bridge, which would print
it and sample without the masks.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import FrameType
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from cfgmask import _core

_RECORD, _LOGIT = llama_cpp.llama_token_data, llama_cpp.llama_token_data.logit
# What the core moves.
_IS_KNOWN_RECORD = ctypes.sizeof(_RECORD) == 12 and _RECORD.id.offset == 0 and _LOGIT.offset == 4


class Hook(ABC):
    """A logits processor that can be told whose the scores are."""

    @abstractmethod
    def mask(self, input_ids: NDArray[np.intc], scores: NDArray[np.single], candidates: Callable[[], Any]) -> None:
        """Mask the scores, or drop candidates from the `llama_token_data_array` if there is one. Raises nothing."""

    @abstractmethod
    def fail(self, error: BaseException, scores: NDArray[np.single]) -> None:
        """End the text with an error that another processor raised, which leaves the scores as they may be."""


def own_candidates(hook: Hook, caller: FrameType) -> Any:
    """The `llama_token_data_array` that a hook is called for, if nobody looks at the scores after it; else None.

    caller  the frame that the hook was called from: llama-cpp-python's callback itself, or there is somebody

    The hook is given no more than the logits, hence the look at the callback's variables.
    """
    if caller.f_code.co_name != "apply_func" or caller.f_globals is not vars(llama_cpp.llama) or not _IS_KNOWN_RECORD:
        return None
    variables = caller.f_locals
    array, processors = variables.get("token_data_array"), variables.get("logits_processor")
    if not isinstance(processors, list) or processors[-1:] != [hook]:
        return None
    return array.contents if isinstance(array, llama_cpp.llama_token_data_array_p) else None


class Callback:
    """What llama-cpp-python's own callback does with a list of processors, of which one is a hook of ours.

    hook        the hook
    llm         the model
    processors  the list, which may grow meanwhile
    original    llama-cpp-python's own callback, for a list of more than the hook
    """

    def __init__(self, hook: Hook, llm: Any, processors: list[Any], original: Callable[[Any], None]) -> None:
        self._hook = hook
        self._llm = llm
        self._processors = processors
        self._original = original
        self._place: tuple[int, int] | None = None
        self._scores = np.zeros(0, dtype=np.single)

    def replace(self, custom: Any) -> None:
        """Become what a `CustomSampler` calls, whatever happens in it."""
        # Not only Exception: a KeyboardInterrupt would be swallowed too, and the token sampled without a mask.
        called = llama_cpp.llama_cpp.llama_sampler_i_apply(_core.Catching(self._apply, self._fail))
        custom.sampler.iface.contents.apply = called

    def _apply(self, sampler: Any, candidates: Any) -> None:
        """Mask the candidates of a `llama_token_data_array_p`."""
        array = candidates.contents
        if _IS_KNOWN_RECORD and self._processors == [self._hook]:
            self._hook.mask(self._llm._input_ids, self._scores_of(array), lambda: array)
        else:
            self._original(candidates)

    def _fail(self, error: BaseException, sampler: Any, candidates: Any) -> None:
        self._hook.fail(error, self._scores_of(candidates.contents))

    def _scores_of(self, array: Any) -> NDArray[np.single]:
        # llama.cpp puts them at the same place again as long as it can.
        place = ctypes.addressof(array.data.contents), array.size
        if place != self._place:
            records = (_RECORD * array.size).from_address(place[0])
            self._scores = np.ndarray(array.size, np.single, records, _LOGIT.offset, (ctypes.sizeof(_RECORD),))
            self._place = place
        return self._scores
