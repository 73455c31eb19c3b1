"""How arguments of calls are read that are not written as JSON: by the form that their capture names.

A grammar captures them as `arguments:FORM`. A form is read once it is complete: until then the value is `{}` and the
text is what has come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

ReadForm: TypeAlias = Callable[[str], Any]

FORMS: Final[dict[str, ReadForm]] = {"text": str}
"""Each gives the value of a complete text of arguments. `text`: the text is the value."""


def read_form(name: str, text: str) -> Any:
    """The value of arguments in a form; the text itself in one that is not known here."""
    return FORMS.get(name, str)(text)
