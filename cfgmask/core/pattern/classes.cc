// Bracketed classes, with the nested sets and set operators of Rust and of ECMA's flag v.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "pattern/scanner.h"

namespace cfgmask {

namespace {

using Kind = SyntaxNode::Kind;
using NodeId = SyntaxTree::Id;

// What a class counts for when parts are limited, beside its members: about as many parts of the size of a character.
constexpr uint64_t kClassParts = 5;
// A named set in a class has hundreds of ranges, of which each has its other cases where case is without regard.
constexpr uint64_t kSetParts = 64;
constexpr uint64_t kCasedSetParts = 512;
// So has a range, as many as there are characters in it, of which not all have case.
constexpr uint64_t kCasedRangeParts = 128;
constexpr uint64_t kCasedPerPart = 16;

// A class that is open: its finished terms and the members of the term that is being read.
struct OpenClass {
  size_t start;
  bool negated;
  std::vector<NodeId> terms = {};
  char operation = '|';
  std::vector<NodeId> members = {};

  bool is_new() const { return members.empty() && terms.empty(); }
};

class ClassReading {
 public:
  ClassReading(PatternScanner& scan, size_t depth) : scan_(scan), dialect_(scan.dialect), depth_(depth) {}

  std::optional<NodeId> read() {
    levels_.push_back(open());
    for (;;) {
      skip_space();
      if (scan_.at_end()) {
        const size_t start = levels_[0].start;
        scan_.report_up_to("unclosed-class", start, start + 1);
        return std::nullopt;
      }
      if (scan_.accept(U"]")) {
        const NodeId closed = close();
        levels_.pop_back();
        if (levels_.empty()) return closed;
        levels_.back().members.push_back(closed);
      } else if (scan_.looking_at(U"[")) {
        bracket();
      } else if (!operation()) {
        scan_.count(1);
        member();
      }
    }
  }

 private:
  bool has_sets() const { return !dialect_.set_operators.empty(); }
  bool has_difference() const {
    return std::ranges::find(dialect_.set_operators, U"--") != dialect_.set_operators.end();
  }
  void skip_space() {
    if (dialect_.spaced_classes) scan_.skip_verbose();
  }
  OpenClass& level() { return levels_.back(); }
  void add(const SyntaxNode& node) { level().members.push_back(scan_.tree.add(node)); }
  SyntaxNode range(size_t start, size_t end, char32_t low, char32_t high) const {
    SyntaxNode node = scan_.node(Kind::kRange, start, end);
    node.low = low;
    node.high = high;
    return node;
  }

  OpenClass open() {
    const size_t start = scan_.position;
    scan_.count(kClassParts);
    ++scan_.position;
    OpenClass opened{start, scan_.accept(U"^")};
    if (!dialect_.leading_bracket) return opened;
    // In Rust hyphens that come first are no operator; `re` reads `[--a]` as a range, as `member` does.
    while (has_sets() && scan_.accept(U"-"))
      opened.members.push_back(scan_.tree.add(range(scan_.position - 1, scan_.position, U'-', U'-')));
    if (opened.is_new() && scan_.looking_at(U"]")) {
      levels_.push_back(std::move(opened));
      member();
      opened = std::move(levels_.back());
      levels_.pop_back();
    }
    return opened;
  }

  void finish_term() {
    SyntaxNode term = scan_.node(Kind::kTerm, level().start);
    term.letter = level().operation;
    level().terms.push_back(scan_.tree.add_parts(term, level().members));
    level().members.clear();
  }

  NodeId close() {
    finish_term();
    if (dialect_.single_operands && level().terms.size() > 1) check_operands();
    SyntaxNode node = scan_.node(Kind::kSet, level().start);
    node.negated = level().negated;
    return scan_.tree.add_parts(node, level().terms);
  }

  // ECMA: operators of one kind only, each between two single operands, which ranges are not.
  void check_operands() {
    const auto& terms = level().terms;
    const auto operation_of = [&](NodeId term) { return scan_.tree[term].letter; };
    if (std::any_of(terms.begin() + 1, terms.end(),
                    [&](NodeId t) { return operation_of(t) != operation_of(terms[1]); }))
      scan_.report("set-syntax.mixed", level().start);
    for (NodeId term : terms) {
      const auto members = scan_.tree.parts(scan_.tree[term]);
      const bool is_single = members.size() == 1 && (scan_.tree[members[0]].kind != Kind::kRange ||
                                                     scan_.tree[members[0]].low == scan_.tree[members[0]].high);
      if (is_single) continue;
      scan_.report("set-syntax.operand", level().start);
      return;
    }
  }

  // A `[` inside of a class: a POSIX class, a nested one, or the character.
  void bracket() {
    const size_t start = scan_.position;
    if (const auto posix = posix_class()) {
      if (dialect_.name == PatternDialect::Name::kRust && is_posix_name(scan_.tree.name(*posix))) {
        add(*posix);
        return;
      }
      if (!has_sets()) {
        scan_.report("posix-class", start, {std::u32string(scan_.since(start))});
        return;
      }
      scan_.position = start;
    }
    if (!has_sets()) {
      member();
      return;
    }
    OpenClass opened = open();
    levels_.push_back(std::move(opened));
    scan_.check_nesting(depth_ + levels_.size());
  }
  // `[:name:]` or `[:^name:]`.
  std::optional<SyntaxNode> posix_class() {
    const size_t start = scan_.position;
    if (!scan_.accept(U"[:")) return std::nullopt;
    SyntaxNode node;
    node.negated = scan_.accept(U"^");
    const size_t first = scan_.position;
    const size_t size = scan_.take_while([](char32_t c) { return U'a' <= c && c <= U'z'; }).size();
    if (size == 0 || !scan_.accept(U":]")) {
      scan_.position = start;
      return std::nullopt;
    }
    SyntaxNode made = scan_.node(Kind::kPosix, start);
    made.negated = node.negated;
    made.first = static_cast<uint32_t>(first);
    made.size = static_cast<uint32_t>(size);
    return made;
  }
  static bool is_posix_name(std::u32string_view name) {
    static constexpr std::array<std::u32string_view, 14> kNames{U"alnum", U"alpha", U"ascii", U"blank", U"cntrl",
                                                                U"digit", U"graph", U"lower", U"print", U"punct",
                                                                U"space", U"upper", U"word",  U"xdigit"};
    return std::ranges::find(kNames, name) != kNames.end();
  }

  bool operation() {
    for (std::u32string_view written : dialect_.set_operators) {
      if (!scan_.accept(written)) continue;
      finish_term();
      level().operation = static_cast<char>(written[0]);
      return true;
    }
    return false;
  }

  // One character, range or escape.
  void member() {
    const size_t start = scan_.position;
    const auto first = atom();
    if (!range_follows()) {
      if (first) add(*first);
      return;
    }
    const size_t hyphen = scan_.position;
    ++scan_.position;
    skip_space();
    if (scan_.at_end() || (scan_.looking_at(U"[") && has_sets())) {
      scan_.report("bad-class-range.open", start);
      return;
    }
    const auto last = atom();
    if (!first || !last) return;
    if (first->kind != Kind::kRange || last->kind != Kind::kRange) {
      if (dialect_.shorthand_ranges) {
        add(*first);
        add(range(hyphen, hyphen + 1, U'-', U'-'));
        add(*last);
      } else {
        scan_.report("bad-class-range.ends", start);
      }
    } else if (first->low > last->high) {
      scan_.report("reversed-range", start);
    } else {
      if (scan_.flags.ignore_case)
        scan_.count(std::min<uint64_t>(kCasedRangeParts, (last->high - first->low) / kCasedPerPart));
      add(range(start, scan_.position, first->low, last->high));
    }
  }

  bool range_follows() {
    skip_space();
    const char32_t next = scan_.peek(1);
    if (scan_.peek() != U'-' || next == U']' || next == PatternScanner::kEnd) return false;
    return !(next == U'-' && has_difference());
  }

  // One character or escape. None where it was reported as wrong.
  std::optional<SyntaxNode> atom() {
    const size_t start = scan_.position;
    if (dialect_.single_operands && reserved()) return std::nullopt;
    if (scan_.accept(U"\\")) {
      char32_t character = 0;
      const auto escape = read_escape(scan_, true, character);
      if (escape && escape->kind != Kind::kRange) scan_.count(scan_.flags.ignore_case ? kCasedSetParts : kSetParts);
      return escape;
    }
    const char32_t c = scan_.peek();
    ++scan_.position;
    return range(start, scan_.position, c, c);
  }

  // Reports what the flag v reserves inside of classes.
  bool reserved() {
    const size_t start = scan_.position;
    if (scan_.accept_up_to(U"\\q{", U'}')) {
      scan_.report("set-syntax.strings", start);
      return true;
    }
    static constexpr std::u32string_view kDoubled = U"&!#$%*+,.:;<=>?@^`~";
    static constexpr std::u32string_view kSingle = U"()[{}/-|]";
    const char32_t c = scan_.peek();
    if (kSingle.find(c) != kSingle.npos) {
      scan_.position += 1;
    } else if (kDoubled.find(c) != kDoubled.npos && scan_.peek(1) == c) {
      scan_.position += 2;
    } else {
      return false;
    }
    scan_.report("set-syntax.reserved", start, {std::u32string(scan_.since(start))});
    return true;
  }

  PatternScanner& scan_;
  const PatternDialect& dialect_;
  size_t depth_;
  std::vector<OpenClass> levels_;
};

}  // namespace

std::optional<NodeId> read_class(PatternScanner& scan, size_t depth) { return ClassReading(scan, depth).read(); }

}  // namespace cfgmask
