// What stands between an opening parenthesis and a group's body.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "pattern/scanner.h"
#include "util/text_hash.h"

namespace cfgmask {

// What a parenthesis begins.
struct GroupOpening {
  // The node to be, without its body, of a group that is open.
  std::optional<SyntaxNode> group = {};
  // What an ended group without a body stands for, if anything.
  std::optional<SyntaxNode> node = {};
  // The flags in force from here: inside of the group, or after it if it has ended.
  PatternFlags flags = {};
  bool sets_flags = false;  // it has ended and was nothing but flags
  bool reported = false;    // its head is wrong: what else is wrong with the group may come of that
};

using GroupNames = std::unordered_set<std::u32string, TextHash, std::equal_to<>>;

// Reads a group's head; the scanner stands at its parenthesis. names: the groups named so far, which a new name joins.
// at_start: nothing but flags stands before it. Errors are reported; the group then counts as a plain one, so that its
// body is still read.
GroupOpening read_opening(PatternScanner& scan, GroupNames& names, bool at_start);

}  // namespace cfgmask
