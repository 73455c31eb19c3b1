// Statements of Lark grammars to the syntax nodes of Python (cfgmask.lark.nodes).
//
// What most grammars consist of is made here; the rest, and what is wrong, is left to the methods of a reader, as
// cfgmask.lark.reader has it: `build_*`, one for each rule of syntax.lark, and those that report.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/data_class.h"
#include "bindings/interpreter.h"
#include "lark/assembler.h"
#include "lark/lexer.h"
#include "lark/statements.h"
#include "lark/syntax.h"

namespace cfgmask {

namespace nb = nanobind;

// The characters of a part of a Python string.
inline std::u32string characters_of(const nb::str& text, size_t start, size_t end) {
  if (start > end || end > nb::len(text)) throw nb::value_error("there is no such part of the text");
  std::u32string found;
  const auto take = [&](const auto* data) { found.assign(data + start, data + end); };
  switch (PyUnicode_KIND(text.ptr())) {
    case PyUnicode_1BYTE_KIND:
      take(PyUnicode_1BYTE_DATA(text.ptr()));
      break;
    case PyUnicode_2BYTE_KIND:
      take(PyUnicode_2BYTE_DATA(text.ptr()));
      break;
    default:
      take(PyUnicode_4BYTE_DATA(text.ptr()));
      break;
  }
  return found;
}

inline CharacterKinds python_characters() {
  return {.is_word = [](char32_t c) { return Py_UNICODE_ISALNUM(c) != 0; },
          .is_digit = [](char32_t c) { return Py_UNICODE_ISDECIMAL(c) != 0; },
          .is_space = [](char32_t c) { return Py_UNICODE_ISSPACE(c) != 0; }};
}

// Looked up once: that takes as long as to read a small grammar.
class LarkNodeTypes {
 public:
  LarkNodeTypes() : LarkNodeTypes(nb::module_::import_("cfgmask.lark.nodes")) {}

  const nb::object& token() const { return token_; }
  // As the type's own constructor, which is a function in Python, would make it.
  nb::object span(nb::handle source, uint32_t start, uint32_t end) const {
    const nb::tuple arguments = nb::make_tuple(nb::make_tuple(source, start, end));
    auto* type = reinterpret_cast<PyTypeObject*>(span_.ptr());
    return made(PyTuple_Type.tp_new(type, arguments.ptr(), nullptr));
  }

  const DataClass<2> name;
  const DataClass<3> string;
  const DataClass<3> pattern;
  const DataClass<2> sequence;
  const DataClass<2> choice;
  const DataClass<4> repeat;
  const DataClass<2> ignore;
  const DataClass<4> definition;

 private:
  explicit LarkNodeTypes(const nb::module_& nodes)
      : name(nodes, "Name", "text", "span"),
        string(nodes, "String", "value", "ignore_case", "span"),
        pattern(nodes, "Pattern", "flags", "body", "span"),
        sequence(nodes, "Sequence", "parts", "span"),
        choice(nodes, "Choice", "parts", "span"),
        repeat(nodes, "Repeat", "body", "minimum", "maximum", "span"),
        ignore(nodes, "Ignore", "body", "span"),
        definition(nodes, "Definition", "name", "is_terminal", "body", "span"),
        token_(nb::module_::import_("cfgmask.lark.tokens").attr("Token").attr("of")),
        span_(nb::module_::import_("cfgmask.diagnostics").attr("Span")) {}

  nb::object token_;
  nb::object span_;
};

class LarkNodes {
 public:
  // Of the characters of `source` from `start` on, which are `text`.
  LarkNodes(const LarkNodeTypes& types, nb::handle reader, nb::handle source, uint32_t start, std::u32string_view text)
      : types_(types), reader_(reader), source_(source), whole_(source.attr("text")), start_(start), text_(text) {}

  // What the reader is told of tokens.
  nb::object token(const LarkToken& token) const {
    const char* type = kLarkTerminalNames[static_cast<size_t>(token.type)];
    return in_python([&]() -> nb::object {
      return types_.token()(type, text_of(token.start, token.end), start_ + token.start, start_ + token.end);
    });
  }
  nb::list tokens(std::span<const LarkToken> tokens) const {
    nb::list found;
    for (const LarkToken& token : tokens) found.append(this->token(token));
    return found;
  }

  // The statements that one becomes, a list. May raise what the reader raises. Linear.
  nb::object build(std::span<const LarkToken> tokens, std::span<const LarkStep> steps) {
    names_ = nb::list();
    has_others_ = false;
    return assemble_lark<nb::object>(tokens, steps,
                                     [this](LarkRule rule, const Parts& parts, uint32_t start, uint32_t end) {
                                       return node(rule, parts, span(start, end));
                                     });
  }

 private:
  // A node is whatever the reader makes in place of one, too.
  using Piece = LarkPiece<nb::object>;
  using Parts = LarkPieces<nb::object>;

  nb::object node(LarkRule rule, const Parts& parts, const nb::object& span) {
    switch (rule) {
      case LarkRule::kStart:
        return parts[0].node;
      case LarkRule::kName:
        if (name_of(parts[0]) == LarkName::kNone) break;
        names_.append(types_.name(name_text(parts[0]), span));
        return names_[names_.size() - 1];
      case LarkRule::kString: {
        const std::u32string_view token = characters(parts[0]);
        const bool ignores_case = token.back() == U'i';
        if (token.find(U'\\') != std::u32string_view::npos) break;
        return types_.string(text_of(parts[0].start + 1, parts[0].end - 1 - ignores_case), ignores_case, span);
      }
      case LarkRule::kPattern: {
        const auto slash = parts[0].start + static_cast<uint32_t>(characters(parts[0]).rfind(U'/'));
        return types_.pattern(text_of(slash + 1, parts[0].end), this->span(parts[0].start + 1, slash), span);
      }
      case LarkRule::kSequence:
        return parts.size() == 1 ? parts[0].node : types_.sequence(nodes_of(parts), span);
      case LarkRule::kBody:
        return parts.size() == 1 ? parts[0].node : types_.choice(nodes_of(parts), span);
      case LarkRule::kGroup:
        return types_.sequence(nb::make_tuple(parts[1].node), span);
      case LarkRule::kOptional:
        return types_.repeat(parts[1].node, 0, 1, span);
      case LarkRule::kRepeat: {
        if (parts[0].rule == LarkRule::kComplement || parts[1].token->type == LarkTerminal::kCount) break;
        const char32_t operation = text_[parts[1].start];
        const nb::object most = operation == U'?' ? nb::object(nb::int_(1)) : nb::none();
        return types_.repeat(parts[0].node, operation == U'+' ? 1 : 0, most, span);
      }
      case LarkRule::kIgnore: {
        nb::list statements;
        statements.append(types_.ignore(parts[1].node, span));
        return statements;
      }
      case LarkRule::kDefinition: {
        // Of a name and a body, as most are.
        const LarkName name = parts.size() == 2 && parts[0].token != nullptr ? name_of(parts[0]) : LarkName::kNone;
        if (name == LarkName::kNone) break;
        const nb::object definition = types_.definition(name_text(parts[0]), name == LarkName::kTerminal, parts[1].node,
                                                        this->span(parts[0].start, parts[0].end));
        // What it would find by walking through its body.
        if (!has_others_) nb::setattr(definition, "uses", nb::tuple(names_));
        nb::list statements;
        statements.append(definition);
        return statements;
      }
      default:
        break;
    }
    has_others_ = true;
    nb::list given;
    for (const Piece& part : parts) given.append(part.token == nullptr ? part.node : token(*part.token));
    const std::string method = std::string("build_") + kLarkRuleNames[static_cast<size_t>(rule)];
    return in_python([&]() -> nb::object { return reader_.attr(method.c_str())(given); });
  }

  static nb::tuple nodes_of(const Parts& parts) {
    nb::list nodes;
    for (const Piece& part : parts) nodes.append(part.node);
    return nb::tuple(nodes);
  }

  std::u32string_view characters(const Piece& piece) const {
    return text_.substr(piece.start, piece.end - piece.start);
  }
  LarkName name_of(const Piece& piece) const { return lark_name(characters(piece)); }
  nb::object text_of(uint32_t start, uint32_t end) const {
    return made(PyUnicode_Substring(whole_.ptr(), start_ + start, start_ + end));
  }
  // Interned, since names are looked up again and again.
  nb::object name_text(const Piece& piece) const {
    PyObject* text = text_of(piece.start, piece.end).release().ptr();
    PyUnicode_InternInPlace(&text);
    return nb::steal(text);
  }
  nb::object span(uint32_t start, uint32_t end) const { return types_.span(source_, start_ + start, start_ + end); }

  const LarkNodeTypes& types_;
  nb::handle reader_;
  nb::handle source_;
  nb::object whole_;
  uint32_t start_;
  std::u32string_view text_;
  nb::list names_;           // of the statement so far, in order
  bool has_others_ = false;  // whether the reader made some of its nodes
};

// Documented in _core.pyi.
inline nb::list lark_statements(const LarkNodeTypes& types, nb::handle reader, nb::handle source, uint32_t start,
                                uint32_t end, uint64_t max_tokens, uint64_t max_nesting) {
  const std::u32string text = characters_of(nb::cast<nb::str>(source.attr("text")), start, end);
  const LarkStatements found = cut_lark(text, python_characters(), max_tokens, max_nesting);
  LarkNodes nodes(types, reader, source, start, text);
  const auto tell = [&](const char* method, const auto&... arguments) {
    in_python([&] { reader.attr(method)(arguments...); });
  };
  for (const LarkLexicalProblem& problem : found.problems) {
    using Kind = LarkLexicalProblem::Kind;
    switch (problem.kind) {
      case Kind::kUnreadable:
        tell("report_unreadable", nodes.token(problem.token));
        break;
      case Kind::kUnclosed: {
        const nb::object next = problem.next_begins ? nb::object(nb::int_(start + *problem.next_begins)) : nb::none();
        tell("report_unclosed", nodes.token(problem.token), next);
        break;
      }
      case Kind::kTooDeep:
        tell("refuse_nesting", nodes.token(problem.token));
        break;
      case Kind::kTooManyTokens:
        tell("refuse_tokens");
        break;
    }
  }
  nb::list statements;
  std::vector<LarkStep> steps;
  for (const auto& statement : found.statements) {
    const auto tokens = found.tokens_of(statement);
    const auto error = statement.broken ? std::nullopt : parse_lark_statement(tokens, steps);
    if (!error && !statement.broken) {
      statements.extend(nodes.build(tokens, steps));
      continue;
    }
    const nb::list wrong_ones = nodes.tokens(tokens);
    if (error) {
      nb::set expected;
      for (LarkTerminal terminal : error->expected) expected.add(kLarkTerminalNames[static_cast<size_t>(terminal)]);
      const bool at_end = error->token == tokens.size();
      const uint32_t end_of_last = tokens.back().end;
      const LarkToken wrong = at_end ? LarkToken{LarkTerminal::kEnd, end_of_last, end_of_last} : tokens[error->token];
      tell("report_syntax", wrong_ones, nodes.token(wrong), expected);
    }
    tell("pass_over", wrong_ones);
  }
  return statements;
}

}  // namespace cfgmask
