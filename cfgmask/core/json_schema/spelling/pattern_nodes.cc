#include "json_schema/spelling/pattern_nodes.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "regex/minimum_length.h"
#include "regex/text_order.h"

namespace cfgmask {

namespace {

// A shorter text is sorted when it is needed.
constexpr size_t kLargeText = 4'096;

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

// A way of a part that may be left out, and what of the part may come behind it.
struct Way {
  uint32_t owner;  // the part
  uint32_t body;
  uint32_t again;  // a node that may come so many times more
  uint32_t times;
};

// The parts of a long sequence.
class PatternSequence : public LongSequence {
 public:
  PatternSequence(const PatternNodes& nodes, std::span<const uint32_t> parts, const std::vector<uint32_t>& least,
                  std::vector<Run> runs)
      : LongSequence(least, std::move(runs)), nodes_(nodes), parts_(parts) {}

  RegexId part(uint32_t i, RegexStore& store) const override { return nodes_.regex(store, parts_[i]); }

 private:
  const PatternNodes& nodes_;  // which have this
  std::span<const uint32_t> parts_;
};

// The ways of parts of a long sequence, each with all that may follow.
class PatternWays : public PrefixedParts {
 public:
  PatternWays(const PatternNodes& nodes, uint32_t sequence, std::shared_ptr<const PrefixedTexts> starts,
              std::vector<Way> ways)
      : PrefixedParts(std::move(starts)), nodes_(nodes), sequence_(sequence), ways_(std::move(ways)) {}

  RegexId part(uint32_t place, RegexStore& store) const override {
    const Way& way = ways_[place];
    const RegexId behind = store.sequence(nodes_.long_sequence(sequence_), way.owner + 1);
    const RegexId again =
        way.times == 0 ? RegexStore::empty_text() : store.repetition(nodes_.regex(store, way.again), 0, way.times);
    return store.concatenation(nodes_.regex(store, way.body), store.concatenation(again, behind));
  }
  std::optional<uint32_t> least(uint32_t place) const override {
    const Way& way = ways_[place];
    return add_lengths(nodes_.least(way.body), nodes_.long_sequence(sequence_)->least_from(way.owner + 1));
  }

 private:
  const PatternNodes& nodes_;
  uint32_t sequence_;
  std::vector<Way> ways_;
};

// Makes a long sequence of the parts of a node.
class SequenceMaker {
 public:
  SequenceMaker(const PatternNodes& nodes, uint32_t sequence)
      : nodes_(nodes), sequence_(sequence), parts_(nodes[sequence].parts) {}

  std::unique_ptr<const LongSequence> make() {
    std::vector<uint32_t> least;
    least.reserve(parts_.size());
    uint32_t first = 0;
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      least.push_back(nodes_.least(parts_[i]));
      const size_t n_before = ways_.size();
      if (least[i] == 0 && add_ways(i)) continue;
      ways_.resize(n_before);
      end_run(first, i);
      first = i + 1;
    }
    end_run(first, static_cast<uint32_t>(parts_.size()));
    return std::make_unique<const PatternSequence>(nodes_, parts_, least, std::move(runs_));
  }

 private:
  using Kind = PatternNode::Kind;

  // Appends the ways of a part that may be left out; false where not all of them plainly begin with some text.
  bool add_ways(uint32_t owner) {
    const PatternNode node = nodes_[parts_[owner]];
    if (node.kind == Kind::kAlternation) {
      return std::all_of(node.parts.begin(), node.parts.end(), [&](uint32_t way) {
        const bool is_empty_text = nodes_[way].kind == Kind::kSequence && nodes_[way].parts.empty();
        return is_empty_text || add({owner, way, way, 0});
      });
    }
    if (node.kind != Kind::kRepetition || node.maximum == 0) return false;
    const uint32_t body = node.parts[0];
    const uint32_t times = node.maximum == kUnbounded ? kUnbounded : node.maximum - 1;
    if (nodes_[body].kind != Kind::kAlternation) return add({owner, body, body, times});
    const auto ways = nodes_[body].parts;
    return std::all_of(ways.begin(), ways.end(), [&](uint32_t way) { return add({owner, way, body, times}); });
  }

  bool add(Way way) {
    const std::string_view start = nodes_.start(way.body, made_).text;
    if (!start.empty()) ways_.emplace_back(start, way);
    return !start.empty();
  }

  void end_run(uint32_t first, uint32_t last) {
    if (ways_.size() >= PrefixedParts::kMany) runs_.push_back({first, last, beginnings()});
    ways_.clear();
  }

  std::shared_ptr<const PrefixedParts> beginnings() {
    sort_by_text(ways_, [](const auto& each) { return each.first; });
    std::vector<std::string_view> starts;
    std::vector<uint32_t> owners;
    std::vector<Way> ways;
    for (const auto& [start, way] : ways_) {
      starts.push_back(start);
      owners.push_back(way.owner);
      ways.push_back(way);
    }
    return std::make_shared<const PatternWays>(nodes_, sequence_, std::make_shared<const PrefixedTexts>(starts, owners),
                                               std::move(ways));
  }

  const PatternNodes& nodes_;
  uint32_t sequence_;
  std::span<const uint32_t> parts_;
  std::deque<std::string> made_;
  std::vector<std::pair<std::string_view, Way>> ways_;  // of the run so far
  std::vector<LongSequence::Run> runs_;
};

RegexId joined(RegexStore& store, const std::vector<RegexId>& parts) {
  RegexId whole = RegexStore::empty_text();
  for (size_t i = parts.size(); i-- > 0;) whole = store.concatenation(parts[i], whole);
  return whole;
}

}  // namespace

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
    const PatternNode node = (*this)[id];
    if (node.kind == Kind::kAlternation && node.parts.size() >= PrefixedParts::kMany) {
      sorted_.emplace(id, sorted(node.parts));
    } else if (node.kind == Kind::kSequence && node.parts.size() >= LongSequence::kMany) {
      long_sequences_.emplace(id, SequenceMaker(*this, id).make());
    } else if (node.kind == Kind::kText && node.text.size() >= kLargeText) {
      indexed_texts_.emplace(id, KeyList::of({node.text}));
    }
  }
}

uint32_t PatternNodes::least(uint32_t id) const {
  const PatternNode node = (*this)[id];
  switch (node.kind) {
    case Kind::kText:
      return static_cast<uint32_t>(node.text.size());
    case Kind::kClass: {
      std::string first;
      append_utf8(node.ranges[0].low, first);
      return static_cast<uint32_t>(first.size());
    }
    case Kind::kRepetition:
      return node.minimum == 0 ? 0 : multiply_lengths(least(node.parts[0]), node.minimum);
    case Kind::kSequence: {
      uint32_t sum = 0;
      for (uint32_t part : node.parts) sum = add_lengths(sum, least(part));
      return sum;
    }
    case Kind::kAlternation:
      break;
  }
  uint32_t found = kNoLength;
  for (uint32_t part : node.parts) found = std::min(found, least(part));
  return found;
}

PatternNodes::Start PatternNodes::start(uint32_t id, std::deque<std::string>& made) const {
  const std::span<const uint32_t> parts = (*this)[id].kind == Kind::kSequence ? (*this)[id].parts : std::span(&id, 1);
  if (!parts.empty() && (*this)[parts[0]].kind == Kind::kText && (parts.size() == 1 || !(*this)[parts[1]].character()))
    return {(*this)[parts[0]].text, parts.size() == 1};
  std::string& text = made.emplace_back();
  const auto stopped =
      std::find_if(parts.begin(), parts.end(), [&](uint32_t p) { return !(*this)[p].append_to(text); });
  return {text, stopped == parts.end()};
}

PatternNodes::Sorted PatternNodes::sorted(std::span<const uint32_t> ways) const {
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

RegexId PatternNodes::regex(RegexStore& store, uint32_t id, Sequences how) const {
  const PatternNode node = (*this)[id];
  switch (node.kind) {
    case Kind::kText:
      return text(store, id);
    case Kind::kClass:
      return store.char_class({node.ranges.begin(), node.ranges.end()});
    case Kind::kSequence:
      if (how == Sequences::kByPart && long_sequences_.contains(id)) return store.sequence(long_sequence(id));
      return sequence(store, node.parts, how);
    case Kind::kRepetition:
      return store.repetition(regex(store, node.parts[0], how), node.minimum, node.maximum);
    case Kind::kAlternation:
      break;
  }
  if (const auto known = sorted_.find(id); known != sorted_.end()) return alternation(store, known->second, how);
  std::vector<RegexId> ways;
  for (uint32_t part : node.parts) ways.push_back(regex(store, part, how));
  return store.alternation(std::move(ways));
}

RegexId PatternNodes::text(RegexStore& store, uint32_t id) const {
  const auto large = indexed_texts_.find(id);
  return large == indexed_texts_.end() ? store.literal((*this)[id].text) : store.key_set(large->second);
}

RegexId PatternNodes::sequence(RegexStore& store, std::span<const uint32_t> parts, Sequences how) const {
  std::vector<RegexId> found;
  std::string run;
  const auto end_run = [&] {
    if (!run.empty()) found.push_back(store.literal(run));
    run.clear();
  };
  for (uint32_t part : parts) {
    if (!indexed_texts_.contains(part) && (*this)[part].append_to(run)) continue;
    end_run();
    found.push_back(regex(store, part, how));
  }
  end_run();
  return joined(store, found);
}

RegexId PatternNodes::alternation(RegexStore& store, const Sorted& ways, Sequences how) const {
  std::vector<RegexId> found;
  if (ways.words) found.push_back(store.key_set(ways.words));
  // Whoever has the parts has the tree.
  if (ways.prefixed)
    found.push_back(store.prefixed(std::shared_ptr<const PrefixedParts>(shared_from_this(), ways.prefixed.get())));
  for (uint32_t way : ways.others) found.push_back(regex(store, way, how));
  return store.alternation(std::move(found));
}

}  // namespace cfgmask
