"""Constructor calls: `Point(x=1, name='a')` for a type, read back without `eval`.

`shape_of` reads a type into a tree of shapes, one for each way of writing a value. From that tree come the grammar
(`rules`), the reader of texts (`reading`) and the writer (`writing`).
"""

from cfgmask.types.call.reading import read_call
from cfgmask.types.call.rules import call_grammar
from cfgmask.types.call.shapes import shape_of
from cfgmask.types.call.writing import write_call

__all__ = ["call_grammar", "read_call", "shape_of", "write_call"]
