#include "pattern/opening.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace cfgmask {

namespace {

using Kind = SyntaxNode::Kind;
using Name = PatternDialect::Name;

class OpeningReading {
 public:
  OpeningReading(PatternScanner& scan, GroupNames& names, bool at_start)
      : scan_(scan), dialect_(scan.dialect), names_(names), at_start_(at_start), start_(scan.position) {}

  GroupOpening read() {
    ++scan_.position;
    if (dialect_.spaced_classes) scan_.skip_verbose();
    if (!scan_.looking_at(U"?")) return group(true);
    if (scan_.accept(U"?:")) return group(false);
    if (dialect_.comments && scan_.looking_at(U"?#")) return comment();
    for (const auto& [head, behind, negated] : kLookarounds) {
      if (!scan_.accept(head)) continue;
      GroupOpening opening = group(false);
      opening.group->kind = Kind::kLookaround;
      opening.group->option = behind;
      opening.group->negated = negated;
      return opening;
    }
    if (scan_.accept(U"?>")) {
      GroupOpening opening = group(false);
      opening.group->kind = Kind::kAtomic;
      return opening;
    }
    if ((dialect_.p_names && scan_.accept(U"?P<")) || scan_.accept(U"?<")) return named();
    if (auto found = reference()) return *found;
    if (auto found = flags()) return *found;
    return unknown();
  }

 private:
  struct LookaroundHead {
    std::u32string_view written;
    bool behind;
    bool negated;
  };
  static constexpr std::array<LookaroundHead, 4> kLookarounds{
      {{U"?=", false, false}, {U"?!", false, true}, {U"?<=", true, false}, {U"?<!", true, true}}};

  GroupOpening group(bool captures, bool reported = false) const {
    GroupOpening opening;
    opening.group = scan_.node(Kind::kGroup, start_);
    opening.group->option = captures;
    opening.flags = scan_.flags;
    opening.reported = reported;
    return opening;
  }
  GroupOpening ended() const {
    GroupOpening opening;
    opening.flags = scan_.flags;
    return opening;
  }

  GroupOpening comment() {
    const size_t end = scan_.pattern.find(U')', start_);
    if (end == scan_.pattern.npos) {
      scan_.position = scan_.pattern.size();
      scan_.report_up_to("unclosed-group.comment", start_, start_ + 3);
    } else {
      scan_.position = end + 1;
    }
    return ended();
  }

  GroupOpening named() {
    const size_t start = scan_.position;
    const size_t size = name_size();
    scan_.position += size;
    const std::u32string_view name = scan_.since(start);
    if (size == 0 || !scan_.accept(U">")) {
      scan_.report("bad-group-name", start);
      return group(false, true);
    }
    const auto& shared = scan_.options.shared_names;
    const bool is_new = names_.emplace(name).second;
    if (!is_new && dialect_.unique_names && std::ranges::find(shared, name) == shared.end())
      scan_.report_up_to("duplicate-group-name", start, start + size, {std::u32string(name)});
    GroupOpening opening = group(true);
    opening.group->first = static_cast<uint32_t>(start);
    opening.group->size = static_cast<uint32_t>(size);
    return opening;
  }
  // Of the name that comes next.
  size_t name_size() const {
    const CharacterKinds& kinds = scan_.options.kinds;
    const bool is_ecma = dialect_.name == Name::kEcma;
    const auto is_word = [&](char32_t c) { return c == U'_' || kinds.is_word(c) || (is_ecma && c == U'$'); };
    const auto is_more = [&](char32_t c) {
      return is_word(c) ||
             (dialect_.name == Name::kRust && std::u32string_view(U".[]").find(c) != std::u32string_view::npos);
    };
    const std::u32string_view rest = scan_.rest();
    if (rest.empty() || !is_word(rest[0]) || kinds.is_digit(rest[0])) return 0;
    return static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), is_more) - rest.begin());
  }

  // Backreferences, recursion and conditionals.
  std::optional<GroupOpening> reference() {
    const size_t start = scan_.position;
    if (const auto name = scan_.accept_up_to(U"?P=", U')')) {
      GroupOpening opening = ended();
      opening.node = scan_.node(Kind::kBackreference, start_);
      opening.node->first = static_cast<uint32_t>(start + 3);
      opening.node->size = static_cast<uint32_t>(name->size());
      return opening;
    }
    if (recursion()) {
      scan_.report("recursion", start_);
      return ended();
    }
    if (scan_.accept_up_to(U"?(", U')', U"(")) {
      scan_.report("conditional", start_);
      return group(false, true);
    }
    return std::nullopt;
  }
  // `?R`, `?1`, `?+1`, `?&name` or `?P>name`, and a parenthesis.
  bool recursion() {
    if (scan_.accept(U"?R)") || scan_.accept_up_to(U"?&", U')') || scan_.accept_up_to(U"?P>", U')')) return true;
    const size_t start = scan_.position;
    scan_.position += 1;
    if (!scan_.accept(U"+")) scan_.accept(U"-");
    const size_t n_digits = scan_.take_while(is_ascii_digit).size();
    if (n_digits > 0 && scan_.accept(U")")) return true;
    scan_.position = start;
    return false;
  }

  std::optional<GroupOpening> flags() {
    const size_t start = scan_.position;
    ++scan_.position;
    const size_t first = scan_.position;
    const std::u32string_view added = scan_.take_while(is_ascii_letter);
    const bool minus = scan_.accept(U"-");
    const size_t second = scan_.position;
    const std::u32string_view removed = scan_.take_while(is_ascii_letter);
    const bool is_group = scan_.looking_at(U":");
    if (!is_group && !scan_.looking_at(U")")) {
      scan_.position = start;
      return std::nullopt;
    }
    ++scan_.position;
    check(added, first, dialect_.inline_flags);
    check(removed, second, dialect_.negated_flags);
    if (added.empty() && removed.empty()) scan_.report("bad-flag.none", start_);
    const auto has = [](std::u32string_view letters, char32_t c) { return letters.find(c) != letters.npos; };
    if (removed.find_first_of(added) != removed.npos || (has(added, U'a') && has(added, U'u')))
      scan_.report("bad-flag.contradiction", start_);
    const PatternFlags changed = scan_.flags.with(added, removed);
    if (is_group) {
      GroupOpening opening = group(false);
      opening.flags = changed;
      return opening;
    }
    const std::u32string written = std::u32string(added) + (minus ? U"-" : U"") + std::u32string(removed);
    if (dialect_.bare_flags == PatternDialect::BareFlags::kNowhere) {
      scan_.report("misplaced-flags.nowhere", start_, {written, wide(dialect_.label)});
    } else if (dialect_.bare_flags == PatternDialect::BareFlags::kStart && (minus || !at_start_)) {
      scan_.report("misplaced-flags.start", start_, {written});
    }
    GroupOpening opening;
    opening.flags = changed;
    opening.sets_flags = true;
    return opening;
  }
  void check(std::u32string_view letters, size_t start, std::string_view known) {
    for (size_t i = 0; i < letters.size(); ++i) report_unknown_flag(scan_, letters[i], known, start + i, start + i + 1);
  }

  GroupOpening unknown() {
    if (is_cut_off()) {
      scan_.position = scan_.pattern.size();
      return group(false);
    }
    scan_.position = std::min(scan_.position + 2, scan_.pattern.size());
    scan_.report("bad-group", start_, {std::u32string(scan_.since(start_)), wide(dialect_.label)});
    return group(false, true);
  }
  // Whether the pattern ends in this head: all that it lacks is its parenthesis.
  bool is_cut_off() const {
    std::u32string_view rest = scan_.rest().substr(1);
    if (rest.starts_with(U"P=") || rest.starts_with(U"P>") || rest.starts_with(U"&") || rest.starts_with(U"("))
      return rest.find(U')') == rest.npos;
    const auto skip_letters = [&] {
      rest.remove_prefix(
          static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), is_ascii_letter) - rest.begin()));
    };
    skip_letters();
    if (rest.starts_with(U"-")) rest.remove_prefix(1);
    skip_letters();
    return rest.empty();
  }

  PatternScanner& scan_;
  const PatternDialect& dialect_;
  GroupNames& names_;
  bool at_start_;
  size_t start_;  // of the parenthesis
};

}  // namespace

GroupOpening read_opening(PatternScanner& scan, GroupNames& names, bool at_start) {
  return OpeningReading(scan, names, at_start).read();
}

}  // namespace cfgmask
