#include "pattern/parser.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "pattern/opening.h"
#include "regex/regex.h"

namespace cfgmask {

namespace {

using Kind = SyntaxNode::Kind;
using NodeId = SyntaxTree::Id;
using Name = PatternDialect::Name;

// What groups, quantifiers and assertions count for when parts are limited, a character being one part. A group has
// several nodes; what stands around an assertion is translated for several cases, which takes up to half a millisecond.
// In a run of characters without regard to case each is a class of its own, but they are read together.
constexpr uint64_t kGroupParts = 4;
constexpr uint64_t kRepeatParts = 2;
constexpr uint64_t kTextCasedPerPart = 4;
constexpr uint64_t kAnchorParts = 16;
constexpr uint64_t kAssertionParts = 256;

// Of most patterns.
constexpr size_t kExpectedItems = 16;

constexpr uint32_t kLargestCount = (uint32_t{1} << 31) - 1;

// A group that is open (or the whole pattern). What was read of it stands in two lists of all open groups: a list for
// each took a fortieth of the time to a first mask.
struct OpenGroup {
  size_t start;
  SyntaxNode node;
  PatternFlags outer_flags;
  size_t branch_start;
  size_t first_branch;     // where its branches begin
  size_t first_item;       // and the items of the branch that is read
  bool reported = false;   // something was said of its head
  size_t height = 0;       // nesting inside of what was read so far
  size_t last_height = 0;  // that of the last item alone
};

class PatternParser {
 public:
  explicit PatternParser(PatternScanner& scan) : scan_(scan), dialect_(scan.dialect) {
    groups_.push_back({0, {}, scan.flags, 0, 0, 0});
    items_.reserve(kExpectedItems);
  }

  NodeId parse() {
    report_surrogates();
    while (more()) step();
    for (size_t i = groups_.size() - 1; i > 0; --i) {
      if (!groups_[i].reported) scan_.report_up_to("unclosed-group", groups_[i].start, groups_[i].start + 1);
    }
    while (groups_.size() > 1) close();
    return body(groups_[0]);
  }

 private:
  void report_surrogates() {
    const auto is_surrogate = [](char32_t c) { return 0xD800 <= c && c <= 0xDFFF; };
    for (size_t i = 0; i < scan_.pattern.size(); ++i) {
      const size_t start = i;
      while (i < scan_.pattern.size() && is_surrogate(scan_.pattern[i])) ++i;
      if (i > start) scan_.report_up_to("surrogate", start, i);
    }
  }

  // Whether something is left to read, after what the flag x skips.
  bool more() {
    scan_.skip_verbose();
    return !scan_.at_end();
  }

  bool stands_for_itself(char32_t c) const {
    if (is_special(c)) return false;
    return !scan_.flags.verbose || (c != U'#' && !scan_.is_verbose_space(c));
  }
  static bool is_special(char32_t c) {
    static constexpr auto kSpecial = [] {
      std::array<bool, 0x80> found{};
      for (const char special : std::string_view("\\.^$*+?{}[]()|")) found[static_cast<size_t>(special)] = true;
      return found;
    }();
    return c < kSpecial.size() && kSpecial[c];
  }

  void step() {
    const size_t start = scan_.position;
    const std::u32string_view run = scan_.take_while([&](char32_t c) { return stands_for_itself(c); });
    if (!run.empty()) {
      const uint64_t parts = scan_.flags.ignore_case ? 1 + run.size() / kTextCasedPerPart : 1;
      add(scan_.tree.add_text(scan_.node(Kind::kText, start), run), 0, parts);
      return;
    }
    switch (const char32_t c = scan_.peek()) {
      case U'(':
        return open();
      case U')':
        return closing();
      case U'[':
        if (const auto found = read_class(scan_, groups_.size() - 1)) add(*found);
        return;
      case U'*':
      case U'+':
      case U'?':
        ++scan_.position;
        return apply(start, c == U'+' ? 1 : 0, c == U'?' ? 1 : kUnbounded);
      case U'{':
        return brace();
      default:
        ++scan_.position;
        return single(c, start);
    }
  }

  // One character that needs no further reading, or an escape.
  void single(char32_t c, size_t start) {
    if (c == U'\\') {
      char32_t character = 0;
      const auto escape = read_escape(scan_, false, character);
      // A wrong escape still counts as an item, so that a quantifier after it is not wrong as well.
      if (!escape || escape->kind == Kind::kText) {
        const std::u32string_view text(&character, escape ? 1 : 0);
        add(scan_.tree.add_text(scan_.node(Kind::kText, start), text));
      } else {
        add(scan_.tree.add(*escape), 0, escape->kind == Kind::kBoundary ? kAssertionParts : 1);
      }
    } else if (c == U'|') {
      branch();
    } else if (c == U'.') {
      add(scan_.tree.add(scan_.node(Kind::kDot, start)));
    } else if (c == U'^' || c == U'$') {
      SyntaxNode node = scan_.node(Kind::kAnchor, start);
      node.letter = c == U'^' ? 's' : dialect_.newline_before_end ? 'n' : 'e';
      node.option = scan_.flags.multi_line;
      add(scan_.tree.add(node), 0, kAnchorParts);
    } else if ((c == U']' || c == U'}') && dialect_.name == Name::kEcma && !dialect_.literal_brace) {
      scan_.report(c == U']' ? "stray-bracket" : "stray-brace.close", start);
    } else {
      add(scan_.tree.add_text(scan_.node(Kind::kText, start), {&c, 1}));
    }
  }

  void add(NodeId item, size_t height = 0, uint64_t parts = 1) {
    scan_.count(parts);
    OpenGroup& group = groups_.back();
    items_.push_back(item);
    group.last_height = height;
    group.height = std::max(group.height, height);
  }

  void branch() {
    OpenGroup& group = groups_.back();
    scan_.count(1);
    const SyntaxNode node = scan_.node(Kind::kSequence, group.branch_start, scan_.position - 1);
    branches_.push_back(scan_.tree.add_parts(node, items(group)));
    items_.resize(group.first_item);
    group.branch_start = scan_.position;
  }

  void open() {
    const size_t start = scan_.position;
    const OpenGroup& around = groups_.back();
    const bool first = groups_.size() == 1 && items(around).empty() && branches(around).empty();
    const PatternFlags outer = scan_.flags;
    const GroupOpening opening = read_opening(scan_, names_, first);
    scan_.flags = opening.flags;
    if (opening.group) {
      scan_.check_nesting(groups_.size());
      groups_.push_back(
          {start, *opening.group, outer, scan_.position, branches_.size(), items_.size(), opening.reported});
    } else if (opening.node) {
      add(scan_.tree.add(*opening.node));
    } else if (opening.sets_flags && !first) {
      // Flags on their own count as an item, so that a repetition right after them has nothing to repeat.
      add(scan_.tree.add_parts(scan_.node(Kind::kSequence, start), {}));
    }
  }

  void closing() {
    const size_t start = scan_.position;
    ++scan_.position;
    if (groups_.size() > 1) {
      close();
    } else {
      scan_.report("unopened-group", start);
    }
  }

  void close() {
    const OpenGroup group = groups_.back();
    groups_.pop_back();
    scan_.flags = group.outer_flags;
    const NodeId inside = body(group);
    SyntaxNode node = group.node;
    node.end = static_cast<uint32_t>(scan_.position);
    NodeId made = 0;
    if (node.kind == Kind::kGroup) {
      node.low = inside;
      made = scan_.tree.add(node);
    } else {
      made = scan_.tree.add_parts(node, {&inside, 1});
    }
    add(made, group.height + 1, node.kind == Kind::kLookaround ? kAssertionParts : kGroupParts);
  }

  // Takes what was read of the innermost group off the lists.
  NodeId body(const OpenGroup& group) {
    const NodeId last = scan_.tree.add_parts(scan_.node(Kind::kSequence, group.branch_start), items(group));
    items_.resize(group.first_item);
    if (branches(group).empty()) return last;
    branches_.push_back(last);
    const NodeId choice = scan_.tree.add_parts(scan_.node(Kind::kChoice, group.start), branches(group));
    branches_.resize(group.first_branch);
    return choice;
  }

  // Of the innermost group.
  std::span<const NodeId> items(const OpenGroup& group) const { return std::span(items_).subspan(group.first_item); }
  std::span<const NodeId> branches(const OpenGroup& group) const {
    return std::span(branches_).subspan(group.first_branch);
  }

  // A counted repetition, or a brace.
  void brace() {
    const size_t start = scan_.position;
    if (const auto counts = counted()) {
      apply(start, counts->first, counts->second);
      return;
    }
    scan_.position = start + 1;
    if (dialect_.literal_brace) {
      add(scan_.tree.add_text(scan_.node(Kind::kText, start), U"{"));
    } else {
      scan_.report("stray-brace.open", start);
    }
  }

  // `{n}`, `{n,}` or `{n,m}`, in Python also without n. If nothing of the kind comes, the position is of no use.
  std::optional<std::pair<uint32_t, uint32_t>> counted() {
    const size_t start = scan_.position;
    ++scan_.position;
    const bool is_python = dialect_.name == Name::kPython;
    if (is_python && scan_.looking_at(U"}")) return std::nullopt;
    skip_count_space();
    const std::u32string_view low = scan_.take_while(is_ascii_digit);
    if (low.empty() && !is_python) return std::nullopt;
    skip_count_space();
    const bool comma = scan_.accept(U",");
    skip_count_space();
    const std::u32string_view high = comma ? scan_.take_while(is_ascii_digit) : std::u32string_view();
    skip_count_space();
    if (!scan_.accept(U"}")) return std::nullopt;
    const uint32_t minimum = count(low);
    const uint32_t maximum = !high.empty() ? count(high) : comma ? kUnbounded : minimum;
    if (minimum > kLargestCount || (maximum > kLargestCount && maximum != kUnbounded) ||
        (!high.empty() && maximum == kUnbounded)) {
      scan_.report("count-too-large", start, {wide(std::to_string(kLargestCount))});
      return std::pair(0U, kUnbounded);
    }
    if (maximum < minimum) {
      scan_.report("bad-counts", start);
      return std::pair(maximum, minimum);
    }
    return std::pair(minimum, maximum);
  }
  void skip_count_space() {
    if (dialect_.name == Name::kRust) scan_.take_while([&](char32_t c) { return scan_.options.kinds.is_space(c); });
  }
  // More than nine digits are too many in any case.
  static uint32_t count(std::u32string_view digits) {
    digits.remove_prefix(std::min(digits.find_first_not_of(U'0'), digits.size()));
    uint64_t number = 0;
    for (char32_t c : digits.substr(0, 11)) number = number * 10 + (c - U'0');
    return static_cast<uint32_t>(std::min<uint64_t>(number, kUnbounded));
  }

  // Puts the last item into a repetition; the quantifier began at `start` and is read but for its suffix.
  void apply(size_t start, uint32_t minimum, uint32_t maximum) {
    char mode = 'g';
    if (scan_.accept(U"?")) {
      mode = 'l';
      if (minimum != maximum && scan_.options.max_lazy && ++n_lazy_ > *scan_.options.max_lazy)
        throw PatternScanner::Stop::kLazy;
    } else if (dialect_.possessive && scan_.accept(U"+")) {
      mode = 'p';
    }
    const auto item = repeatable(start);
    if (!item) return;
    size_t height = groups_.back().last_height;
    if (scan_.tree[*item].kind == Kind::kRepeat) {
      ++height;
      scan_.check_nesting(groups_.size() - 1 + height);
    }
    SyntaxNode node = scan_.node(Kind::kRepeat, scan_.tree[*item].start);
    node.low = minimum;
    node.high = maximum;
    node.letter = mode;
    add(scan_.tree.add_parts(node, {&*item, 1}), height, kRepeatParts);
  }

  // Takes the last item off the branch, if it may be repeated; of a text only its last character.
  std::optional<NodeId> repeatable(size_t start) {
    const bool is_item = !items(groups_.back()).empty() && scan_.tree[items_.back()].kind != Kind::kSequence &&
                         !is_bare_assertion(scan_.tree[items_.back()]);
    if (!is_item) {
      scan_.report("nothing-to-repeat", start);
      return std::nullopt;
    }
    const NodeId item = items_.back();
    const SyntaxNode node = scan_.tree[item];
    if (node.kind == Kind::kRepeat && !dialect_.stacked_repeats) {
      scan_.report("multiple-repeat", start);
      return std::nullopt;
    }
    items_.pop_back();
    if (node.kind != Kind::kText || node.size < 2) return item;
    // Only plain runs are longer than one character, and in these offsets in text and pattern agree.
    SyntaxNode before = node;
    --before.end;
    --before.size;
    items_.push_back(scan_.tree.add(before));
    SyntaxNode last = node;
    last.start = before.end;
    last.first += before.size;
    last.size = 1;
    return scan_.tree.add(last);
  }
  bool is_bare_assertion(const SyntaxNode& item) const {
    // ECMA's Annex B lets lookahead be repeated, without the flags u and v.
    if (item.kind == Kind::kLookaround) return dialect_.name == Name::kEcma && (item.option || !dialect_.literal_brace);
    return (item.kind == Kind::kAnchor || item.kind == Kind::kBoundary) && !dialect_.repeatable_anchors;
  }

  PatternScanner& scan_;
  const PatternDialect& dialect_;
  std::vector<OpenGroup> groups_;
  std::vector<NodeId> branches_;
  std::vector<NodeId> items_;
  GroupNames names_;
  uint64_t n_lazy_ = 0;
};

// Flags stand after the pattern.
void check_flags(PatternScanner& scan, std::u32string_view flags) {
  const size_t end = scan.pattern.size();
  const auto has = [&](char32_t c) { return flags.find(c) != flags.npos; };
  for (char32_t letter : flags) report_unknown_flag(scan, letter, scan.dialect.flags, end, end);
  if (has(U'u') && has(U'v') && scan.dialect.name == Name::kEcma)
    scan.report_up_to("bad-flag.exclusive", end, end, {U"u", U"v"});
  if (has(U'u') && has(U'a') && scan.dialect.name == Name::kPython)
    scan.report_up_to("bad-flag.exclusive", end, end, {U"a", U"u"});
}

}  // namespace

PatternFlags PatternFlags::with(std::u32string_view added, std::u32string_view removed) const {
  PatternFlags changed = *this;
  const auto change = [&](std::u32string_view letters, bool value) {
    for (char32_t letter : letters) {
      if (letter == U'i') changed.ignore_case = value;
      if (letter == U'm') changed.multi_line = value;
      if (letter == U's') changed.dot_all = value;
      if (letter == U'x') changed.verbose = value;
      if (letter == U'a') changed.ascii = value;
      if (letter == U'u') changed.ascii = !value;
    }
  };
  change(added, true);
  change(removed, false);
  return changed;
}

void report_unknown_flag(PatternScanner& scan, char32_t letter, std::string_view known, size_t start, size_t end) {
  if (letter < 0x80 && known.find(static_cast<char>(letter)) != known.npos) return;
  std::string sorted(known);
  std::ranges::stable_sort(sorted, {}, [](char c) { return c | 0x20; });
  std::u32string list;
  for (char c : sorted) {
    if (!list.empty()) list += U", ";
    list += static_cast<char32_t>(c);
  }
  scan.report_up_to("bad-flag", start, end, {std::u32string(1, letter), wide(scan.dialect.label), list});
}

PatternSyntax read_pattern(std::u32string_view pattern, PatternDialect::Name dialect, std::u32string_view flags,
                           const PatternReadingOptions& options) {
  PatternScanner scan(pattern, pattern_dialect(dialect, flags), options);
  PatternSyntax found;
  try {
    check_flags(scan, flags);
    scan.flags = PatternFlags().with(flags, U"");
    found.root = PatternParser(scan).parse();
  } catch (PatternScanner::Stop stop) {
    found.stop = stop;
    found.stopped_at = scan.position;
  }
  found.tree = std::move(scan.tree);
  found.problems = std::move(scan.problems);
  return found;
}

}  // namespace cfgmask
