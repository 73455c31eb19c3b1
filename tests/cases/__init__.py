"""Tables of grammars with hand-checked answers, run through the oracle and through every path of the core."""

from tests.cases import edges, ignoring, indentation, lexing, parsing, tokens

TEXT_CASES = [*lexing.CASES, *parsing.CASES, *ignoring.CASES, *edges.CASES, *indentation.CASES]
TOKEN_CASES = tokens.CASES
