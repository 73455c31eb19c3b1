"""What imports, overrides and extensions mean: as Lark has it, file by file."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import LarkError

import cfgmask
from cfgmask import grammars
from cfgmask.lark import parse_lark
from tests.lark.engine import VOCABULARY, accepts
from tests.lark.test_against_lark import expressions, in_lark
from tests.lark.test_diagnostics import write

# Files, the alphabet of texts, and the length up to which all are tried. `main.lark` is the grammar.
CASES = {
    "a terminal of a file": ({"main.lark": "start: X\n%import .a.X", "a.lark": 'X: "a" Y\nY: "b"?'}, "ab", 3),
    "an alias": ({"main.lark": 'start: Z X\nX: "x"\n%import .a.X -> Z', "a.lark": 'X: "a" Y\nY: "b"?'}, "abx", 3),
    "a list": ({"main.lark": "start: x Y\n%import .a (x, Y)", "a.lark": 'x: "a" Y x?\nY: "b"'}, "ab", 6),
    "one name twice": ({"main.lark": "start: x\n%import .a.x\n%import .a.x", "a.lark": 'x: "a"'}, "ab", 2),
    "names of both files": (
        {"main.lark": 'start: x y\ny: "c"\n%import .a.x', "a.lark": 'x: y | x "a"\ny: "b"'},
        "abc",
        4,
    ),
    "folders": (
        {"main.lark": "start: x\n%import .d.a.x", "d/a.lark": 'x: y "a"\n%import .e.b.y', "d/e/b.lark": 'y: "b" y?'},
        "ab",
        4,
    ),
    "a file beside an imported one": (
        {"main.lark": "start: x\n%import .d.a.x", "d/a.lark": "x: y\n%import .b.y", "d/b.lark": 'y: "b"'},
        "ab",
        2,
    ),
    "what an imported file imports": (
        {"main.lark": "start: x\n%import .a.y -> x", "a.lark": "%import .b.y", "b.lark": 'y: "b" z\nz: "a"'},
        "ab",
        3,
    ),
    "one file by two ways": (
        {
            "main.lark": "start: x y\n%import .a.x\n%import .b.y",
            "a.lark": 'x: "a" z\n%import .c.z',
            "b.lark": 'y: "b" z\n%import .c.z\n%override z: "b"',
            "c.lark": 'z: "c"',
        },
        "abc",
        4,
    ),
    "ignored text stays at home": (
        {"main.lark": 'start: x x\n%ignore "c"\n%import .a.x', "a.lark": 'x: "a"\n%ignore "b"'},
        "abc",
        4,
    ),
    "a template": (
        {"main.lark": 'start: list{"a", x}\nx: "b"\n%import .a.list', "a.lark": 'list{y, s}: y (z y)* s\nz: ","'},
        "ab,",
        5,
    ),
    "a template and its own": (
        {"main.lark": 'start: t{"a"}\n%import .a.t', "a.lark": "t{x}: u{x} t{x}? | x\nu{x}: x x"},
        "ab",
        6,
    ),
    "an override": (
        {"main.lark": 'start: x\n%import .a (x, y)\n%override y: "b"', "a.lark": 'x: "a" y\ny: "c"'},
        "abc",
        3,
    ),
    "an override of a hidden rule": (
        {"main.lark": 'start: x\n%import .a.x\n%override a__y: "b"', "a.lark": 'x: "a" y\ny: "c"'},
        "abc",
        3,
    ),
    "an overridden terminal, and what was made of it": (
        {"main.lark": 'start: X Y z\n%import .a (X, Y, z)\n%override Y: "b"', "a.lark": 'X: "a" Y\nY: "c"\nz: Y'},
        "abc",
        4,
    ),
    "an override in the file itself": ({"main.lark": 'start: X\nX: Y "a"\nY: "b"\n%override Y: "c"'}, "abc", 3),
    "an extension": (
        {"main.lark": 'start: x\n%import .a.x\n%extend x: "b" x', "a.lark": 'x: "a" | "(" x ")"'},
        "ab()",
        5,
    ),
    "an extended terminal": (
        {"main.lark": 'start: X\n%import .a (X, Y)\n%extend Y: "b"', "a.lark": 'X: "a" Y\nY: "c"'},
        "abc",
        3,
    ),
    "an extended template": ({"main.lark": 'start: t{"a"}\nt{x}: x\n%extend t{x}: x x "b"'}, "ab", 4),
    "two extensions": ({"main.lark": 'start: x\nx: "a"\n%extend x: "b"\n%extend x: "c"'}, "abc", 2),
    "an override of an extension": ({"main.lark": 'start: x\nx: "a"\n%extend x: "b"\n%override x: "c"'}, "abc", 2),
    "the start rule": ({"main.lark": "%import .a.start", "a.lark": 'start: "a" x\nx: "b"'}, "ab", 3),
    "a declared terminal that is overridden": ({"main.lark": 'start: A\n%declare A\n%override A: "a"'}, "ab", 2),
    "names with an underscore": (
        {"main.lark": "start: _x\n%import .a._x", "a.lark": '_x: _Y _z\n_Y: "a"\n_z: "b"'},
        "ab",
        3,
    ),
    "priorities": (
        {"main.lark": "start: X | x Y\n%import .a (X, Y, x)", "a.lark": 'X.2: "a"\nY.-1: /[ab]/\nx.3: "b"'},
        "ab",
        3,
    ),
    "unicode": ({"main.lark": "start: WS WS_INLINE\n%import unicode (WS, WS_INLINE)"}, "a \xa0\n", 3),
    "rules of python": (
        {
            "main.lark": "start: testlist\n%import python (testlist, name, number, string)\n"
            '%override name: /[xy]/\n%override number: "1"\n%override string: "s"'
        },
        "x1+(,)",
        3,
    ),
    "a terminal of python": ({"main.lark": "start: HEX_NUMBER\n%import python.HEX_NUMBER"}, "0xA_", 5),
}


def assert_same_language(folder: Path, alphabet: str, longest: int) -> int:
    """Try every text over the alphabet of up to `longest` characters; how many are in the language."""
    main = folder / "main.lark"
    theirs = Lark.open(str(main), parser="earley", lexer="dynamic_complete", ambiguity="forest")
    main.write_text('%cfgmask {"lexer": "complete"}\n' + main.read_text("utf-8"), "utf-8")
    ours = cfgmask.compile(cfgmask.Grammar.from_file(main), VOCABULARY)
    n_accepted = 0
    for length in range(longest + 1):
        for letters in product(sorted(set(alphabet)), repeat=length):
            text = "".join(letters)
            accepted = accepts(ours, text)
            assert accepted == in_lark(theirs, text), repr(text)
            n_accepted += accepted
    return n_accepted


@pytest.mark.parametrize("name", CASES)
def test_same_language(name: str, tmp_path: Path) -> None:
    files, alphabet, longest = CASES[name]
    assert assert_same_language(write(files, tmp_path), alphabet, longest) > 0


names = ["x", "y", "t{x}", "t{A}"]
bodies = expressions(names)


@st.composite
def folders(draw: st.DrawFn) -> dict[str, str]:
    """A grammar that imports a module, which imports another; with overrides and extensions in both."""

    def module(extra: list[str]) -> str:
        lines = [f"{name}: {draw(bodies)}" for name in ("x", "y")]
        lines += [
            "t{p}: " + draw(expressions(["p", "x", "A"])),
            f"A: {draw(terminals)}",
            'T: "a" "b"?',
            "U: /bb?/ | A T",  # Lark tries the wider one first, so that the first match is the longest
        ]
        return "\n".join(lines + extra)

    def changes() -> list[str]:
        kinds = draw(st.lists(st.tuples(st.sampled_from(["override", "extend"]), st.sampled_from("xyAt")), max_size=3))
        return [
            f"%{kind} t{{p}}: {draw(expressions(['p', 'x']))}"
            if name == "t"
            else f"%{kind} {name}: {draw(terminals if name == 'A' else bodies)}"
            for kind, name in kinds
        ]

    terminals = st.sampled_from(['"a"', '"b"', '"ab"', "/b+/", '"a".."b"', "/ab?/"])
    inner = module(changes())
    aliases = {"x": "x", "y": "y", "t": "t", "A": "A", "T": "T", "U": "U"}
    imported = "\n".join(f"%import .m.{name} -> {alias}" for name, alias in aliases.items())
    middle = draw(st.sampled_from([imported, "%import .m (x, y, t, A, T, U)"]))
    shared = "\n".join([middle.replace(".m", ".inner"), *changes()])
    main = "\n".join(["start: " + draw(bodies), middle.replace(".m", ".d.outer"), *changes()])
    return {"main.lark": main, "d/outer.lark": shared, "d/inner.lark": inner}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=folders())
def test_same_language_of_random_files(files: dict[str, str], tmp_path: Path) -> None:
    folder = write(files, tmp_path)
    try:
        Lark.open(str(folder / "main.lark"), parser="earley", lexer="dynamic_complete", ambiguity="forest")
    except LarkError:
        # Alternatives that become equal when `?` and `[]` are written out.
        reject()
    try:
        cfgmask.Grammar.from_file(folder / "main.lark")
    except cfgmask.GrammarError as error:
        if any(problem.code == "lark-endless-rule" for problem in error.diagnostics):
            reject()
        raise
    assert_same_language(folder, "ab", 4)


def codes(text: str, folder: Path | None) -> list[str]:
    with pytest.raises(cfgmask.GrammarError) as caught:
        parse_lark(text, folder=folder)
    return [problem.code for problem in caught.value.diagnostics]


def test_links_lead_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "grammar"
    write({"secret.lark": 'X: "a"', "grammar/own.lark": 'X: "a"', "grammar/own.txt": 'X: "a"'}, tmp_path)
    (folder / "out.lark").symlink_to(tmp_path / "secret.lark")
    (folder / "up").symlink_to(tmp_path)
    (folder / "text.lark").symlink_to(folder / "own.txt")
    (folder / "inside.lark").symlink_to(folder / "own.lark")
    (folder / "self.lark").symlink_to(folder / "self.lark")
    (folder / "folder.lark").mkdir()
    for module in ("out", "up.secret", "text"):
        assert codes(f"start: X\n%import .{module}.X", folder) == ["lark-import-outside"]
    for module in ("self", "folder"):
        assert codes(f"start: X\n%import .{module}.X", folder)[0].startswith("lark-import-")
    assert parse_lark("start: X\n%import .inside.X", folder=folder).rules


def test_paths_are_names() -> None:
    """What is no name cannot be said at all, so no path leads up or to a root."""
    for path in ("..secret.X", "./secret.X", "/etc/passwd.X", "..X", ".a/b.X", ".a\\b.X", ".a%2e.X"):
        assert set(codes(f"start: X\n%import {path}", Path())) & {
            "lark-syntax",
            "lark-unreadable",
            "lark-unknown-directive",
        }


def test_a_text_reads_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a.lark": 'X: "a"'}, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert codes("start: X\n%import .a.X", None) == ["lark-import-without-file"]
    assert cfgmask.Grammar.from_lark("start: X\n%import .a.X", folder=tmp_path).notes == ()


def test_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.lark").write_bytes(b"X: \xff")
    assert codes("start: X\n%import .a.X", tmp_path) == ["file-encoding"]


def test_imports_that_multiply_are_bounded(tmp_path: Path) -> None:
    """Each file imports the next by two ways."""
    for level in range(40):
        text = "".join(f"%import .{way}{level + 1}.x -> x{way}\n" for way in "ab") + "x: xa xb\n"
        write({f"{way}{level}.lark": text for way in "ab"}, tmp_path)
    write({f"{way}40.lark": 'x: "a"' for way in "ab"}, tmp_path)
    with pytest.raises(cfgmask.LimitExceeded, match="max_rules"):
        parse_lark("start: x\n%import .a0.x", folder=tmp_path)


def test_a_long_chain_of_files_is_bounded(tmp_path: Path) -> None:
    for level in range(300):
        write({f"a{level}.lark": f"%import .a{level + 1}.x"}, tmp_path)
    write({"a300.lark": 'x: "a"'}, tmp_path)
    with pytest.raises(cfgmask.LimitExceeded, match="max_nesting"):
        parse_lark("start: x\n%import .a0.x", folder=tmp_path)
    assert parse_lark("start: x\n%import .a150.x", folder=tmp_path).rules


_UNBOUND = ("tool_call_mistral", "tool_call_mistral_args")  # they declare tokens, which the importing grammar binds


@pytest.mark.parametrize("name", [name for name in grammars.names() if name not in _UNBOUND])
def test_shipped_grammars_can_be_imported(name: str) -> None:
    """Their own imports are found beside them, whatever folder the importing grammar has."""
    imported = cfgmask.Grammar.from_lark(f"%import cfgmask.{name}.start -> shipped\nstart: shipped")
    assert imported.ir.rules


def test_shipped_grammars_match_what_they_match_alone() -> None:
    grammar = cfgmask.Grammar.from_lark('%import cfgmask.json.start -> json\nstart: "x" json')
    matcher = cfgmask.compile(grammar, VOCABULARY).matcher()
    text = b'x{"a":[1,true]}'
    assert matcher.advance_bytes(text) == len(text)
    assert matcher.is_accepting
