#include "schema/pattern_nodes.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "regex/text_order.h"

namespace cfgmask {

namespace {

// Parts of a tree that begin with texts.
class PatternParts : public PrefixedParts {
 public:
  PatternParts(const PatternNodes& nodes, std::span<const std::string_view> texts, std::vector<uint32_t> bodies)
      : PrefixedParts(std::make_shared<const PrefixedTexts>(texts)), nodes_(nodes), bodies_(std::move(bodies)) {}

  RegexId part(uint32_t place, RegexStore& store) const override { return nodes_.regex(store, bodies_[place]); }

 private:
  const PatternNodes& nodes_;  // which have this
  std::vector<uint32_t> bodies_;
};

RegexId joined(RegexStore& store, const std::vector<RegexId>& parts) {
  RegexId whole = RegexStore::empty_text();
  for (size_t i = parts.size(); i-- > 0;) whole = store.concatenation(parts[i], whole);
  return whole;
}

}  // namespace

void append_utf8(uint32_t c, std::string& out) {
  const auto byte = [&](uint32_t b) { out += static_cast<char>(b); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | (c >> 6));
    byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | (c >> 12));
    byte(0x80 | ((c >> 6) & 0x3F));
    byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | (c >> 18));
    byte(0x80 | ((c >> 12) & 0x3F));
    byte(0x80 | ((c >> 6) & 0x3F));
    byte(0x80 | (c & 0x3F));
  }
}

bool PatternNode::append_to(std::string& run) const {
  if (kind == Kind::kText) {
    run += text;
    return true;
  }
  const auto only = character();
  if (only) append_utf8(*only, run);
  return only.has_value();
}

void PatternNodes::finish() {
  for (uint32_t id = 0; id < nodes_.size(); ++id) {
    const PatternNode& node = nodes_[id];
    if (node.kind == Kind::kAlternation && node.parts.size() >= PrefixedParts::kMany)
      sorted_.emplace(id, sorted(node.parts));
  }
}

PatternNodes::Start PatternNodes::start(uint32_t id, std::deque<std::string>& made) const {
  const std::span<const uint32_t> parts =
      nodes_[id].kind == Kind::kSequence ? std::span(nodes_[id].parts) : std::span(&id, 1);
  if (!parts.empty() && nodes_[parts[0]].kind == Kind::kText && (parts.size() == 1 || !nodes_[parts[1]].character()))
    return {nodes_[parts[0]].text, parts.size() == 1};
  std::string& text = made.emplace_back();
  const auto stopped = std::find_if(parts.begin(), parts.end(), [&](uint32_t p) { return !nodes_[p].append_to(text); });
  return {text, stopped == parts.end()};
}

PatternNodes::Sorted PatternNodes::sorted(const std::vector<uint32_t>& ways) const {
  Sorted found;
  std::deque<std::string> made;
  std::vector<std::string_view> words;
  std::vector<std::pair<std::string_view, uint32_t>> prefixed;
  for (uint32_t way : ways) {
    const auto [text, is_all] = start(way, made);
    if (is_all) {
      words.push_back(text);
    } else if (!text.empty()) {
      prefixed.emplace_back(text, way);
    } else {
      found.others.push_back(way);
    }
  }
  if (!words.empty()) found.words = KeyList::of(std::move(words));
  sort_by_text(prefixed, [](const auto& each) { return each.first; });
  std::vector<std::string_view> texts;
  std::vector<uint32_t> bodies;
  for (const auto& [text, body] : prefixed) {
    texts.push_back(text);
    bodies.push_back(body);
  }
  if (!texts.empty()) found.prefixed = std::make_unique<PatternParts>(*this, texts, std::move(bodies));
  return found;
}

RegexId PatternNodes::regex(RegexStore& store, uint32_t id) const {
  const PatternNode& node = nodes_[id];
  switch (node.kind) {
    case Kind::kText:
      return store.literal(node.text);
    case Kind::kClass:
      return store.char_class(node.ranges);
    case Kind::kSequence:
      return sequence(store, node.parts);
    case Kind::kRepetition:
      return store.repetition(regex(store, node.parts[0]), node.minimum, node.maximum);
    case Kind::kAlternation:
      break;
  }
  if (const auto known = sorted_.find(id); known != sorted_.end()) return alternation(store, known->second);
  std::vector<RegexId> ways;
  for (uint32_t part : node.parts) ways.push_back(regex(store, part));
  return store.alternation(std::move(ways));
}

RegexId PatternNodes::sequence(RegexStore& store, const std::vector<uint32_t>& parts) const {
  std::vector<RegexId> found;
  std::string run;
  const auto end_run = [&] {
    if (!run.empty()) found.push_back(store.literal(run));
    run.clear();
  };
  for (uint32_t part : parts) {
    if (nodes_[part].append_to(run)) continue;
    end_run();
    found.push_back(regex(store, part));
  }
  end_run();
  return joined(store, found);
}

RegexId PatternNodes::alternation(RegexStore& store, const Sorted& ways) const {
  std::vector<RegexId> found;
  if (ways.words) found.push_back(store.key_set(ways.words));
  // Whoever has the parts has the tree.
  if (ways.prefixed)
    found.push_back(store.prefixed(std::shared_ptr<const PrefixedParts>(shared_from_this(), ways.prefixed.get())));
  for (uint32_t way : ways.others) found.push_back(regex(store, way));
  return store.alternation(std::move(found));
}

}  // namespace cfgmask
