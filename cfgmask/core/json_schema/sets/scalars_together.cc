#include "json_schema/sets/scalars_together.h"

#include <deque>
#include <string_view>
#include <utility>

#include "regex/text_order.h"

namespace cfgmask {

namespace {

class TextsTogether : public PrefixedParts {
 public:
  using Part = std::pair<std::shared_ptr<const PatternNodes>, SimplePattern::Branch>;

  TextsTogether(std::shared_ptr<const PrefixedTexts> starts, std::vector<Part> parts)
      : PrefixedParts(std::move(starts)), parts_(std::move(parts)) {}

  RegexId part(uint32_t place, RegexStore& store) const override {
    return SimplePattern::regex(store, *parts_[place].first, parts_[place].second);
  }

 private:
  std::vector<Part> parts_;
};

class RangesTogether : public PrefixedParts {
 public:
  RangesTogether(std::shared_ptr<const ScalarsTogether> of, const NumberStyle& style)
      : PrefixedParts(of->starts, style.most ^ (style.is_plain() ? 1U << 31 : 0)), of_(std::move(of)), style_(style) {}

  RegexId part(uint32_t place, RegexStore& store) const override { return of_->ranges[place]->regex(store, style_); }

 private:
  std::shared_ptr<const ScalarsTogether> of_;
  NumberStyle style_;
};

// Parts in the order of the texts that they begin with.
template <class Part>
class Started {
 public:
  void add(std::string_view start, ValueId id, Part part) { parts_.push_back({start, id, std::move(part)}); }
  bool are_many() const { return parts_.size() >= PrefixedParts::kMany; }

  // Moves the parts out.
  std::pair<std::shared_ptr<const PrefixedTexts>, std::vector<Part>> take() {
    sort_by_text(parts_, [](const Each& each) { return each.start; });
    std::vector<std::string_view> starts;
    std::vector<Part> parts;
    for (Each& each : parts_) {
      starts.push_back(each.start);
      parts.push_back(std::move(each.part));
    }
    return {std::make_shared<const PrefixedTexts>(starts), std::move(parts)};
  }
  void give_back(std::vector<ValueId>& ids) const {
    for (const Each& each : parts_) ids.push_back(each.id);
  }

 private:
  struct Each {
    std::string_view start;
    ValueId id;
    Part part;
  };

  std::vector<Each> parts_;
};

// The only terminal of a value that has nothing else; null for others.
const SchemaIR::Terminal* only_terminal(const SchemaIR& schema, ValueId id) {
  const SchemaIR::Value& value = schema.at(schema.resolved(id));
  const bool one = value.terminals.size() == 1 && !value.array && !value.object && value.alternatives.empty();
  return one ? &schema.terminal(value.terminals[0]) : nullptr;
}

}  // namespace

std::shared_ptr<const PrefixedParts> ScalarsTogether::numbers(const std::shared_ptr<const ScalarsTogether>& self,
                                                              const NumberStyle& style) {
  return self->starts ? std::make_shared<const RangesTogether>(self, style) : nullptr;
}

std::shared_ptr<const ScalarsTogether> scalars_together(const SchemaIR& schema,
                                                        const std::vector<ValueId>& alternatives) {
  if (alternatives.size() < PrefixedParts::kMany) return nullptr;
  std::deque<std::string> made;
  Started<TextsTogether::Part> texts;
  Started<std::shared_ptr<const NumberSet>> ranges;
  auto found = std::make_shared<ScalarsTogether>();
  for (ValueId id : alternatives) {
    const auto* terminal = only_terminal(schema, id);
    if (terminal != nullptr && terminal->spelling == SchemaIR::Spelling::kNumbers) {
      if (auto start = terminal->numbers->start()) {
        ranges.add(made.emplace_back(*std::move(start)), id, terminal->numbers);
        continue;
      }
    } else if (terminal != nullptr && terminal->spelling == SchemaIR::Spelling::kText) {
      const SimplePattern* pattern = schema.only_pattern(*terminal);
      const auto* branch = pattern == nullptr ? nullptr : pattern->only_branch();
      const bool starts = branch != nullptr && branch->from_start;
      const auto start = starts ? pattern->nodes()->start(branch->body, made).text : std::string_view();
      if (!start.empty()) {
        texts.add(start, id, {pattern->nodes(), *branch});
        continue;
      }
    }
    found->others.push_back(id);
  }
  if (texts.are_many()) {
    auto [starts, parts] = texts.take();
    found->texts = std::make_shared<const TextsTogether>(std::move(starts), std::move(parts));
  } else {
    texts.give_back(found->others);
  }
  if (ranges.are_many()) {
    std::tie(found->starts, found->ranges) = ranges.take();
  } else {
    ranges.give_back(found->others);
  }
  return found->texts || found->starts ? found : nullptr;
}

}  // namespace cfgmask
