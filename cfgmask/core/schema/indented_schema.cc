#include "schema/indented_schema.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "schema/text_names.h"

namespace cfgmask {

Symbol IndentedSchema::start(const DeferredAdditions& to) {
  enter(to);
  DeferredSchema& outermost = at(0);
  return outermost.start(*to_depths_[0]);
}

void IndentedSchema::define(uint32_t nonterminal, const DeferredAdditions& to) {
  enter(to);
  where([&](const DeferredSchema& depth) { return depth.owns(nonterminal); }).define(nonterminal);
}

void IndentedSchema::define_terminal(uint32_t terminal, const DeferredAdditions& to) {
  enter(to);
  DeferredSchema& depth = where([&](const DeferredSchema& each) { return each.owns_terminal(terminal); });
  depth.define_terminal(terminal, *to_depths_[depth.depth_]);
}

std::vector<Symbol> IndentedSchema::after_key(uint32_t object, uint32_t member, const DeferredAdditions& to) {
  enter(to);
  const uint32_t depth = depth_of_object(object, to);
  return at(depth).after_key(object, member, *to_depths_[depth]);
}

uint32_t IndentedSchema::terminal_of_key(uint32_t object, uint32_t member, const DeferredAdditions& to) {
  enter(to);
  const uint32_t depth = depth_of_object(object, to);
  return at(depth).terminal_of_key(object, member, *to_depths_[depth]);
}

void IndentedSchema::enter(const DeferredAdditions& to) {
  to_ = &to;
  for (auto& each : to_depths_) each.reset();
}

DeferredSchema& IndentedSchema::at(uint32_t depth) {
  while (depths_.size() <= depth) depths_.emplace_back(parts_, scope_, *this, static_cast<uint32_t>(depths_.size()));
  DeferredSchema& found = depths_[depth];
  if (!to_depths_[depth]) {
    const uint32_t n_objects = objects_of_depth(*to_);
    const uint32_t first = to_->first_object + depth * n_objects;
    to_depths_[depth].emplace(DeferredAdditions{to_->grammar, to_->regexes, to_->rules, first, n_objects,
                                                to_->has_key_roles, to_->has_choices});
    found.enter(*to_depths_[depth]);
  }
  if (!found.has_marks()) found.make_marks();
  return found;
}

uint32_t IndentedSchema::depth_of_object(uint32_t object, const DeferredAdditions& to) const {
  return (object - to.first_object) / objects_of_depth(to);
}

template <class Has>
DeferredSchema& IndentedSchema::where(Has has) {
  const auto found = std::find_if(depths_.begin(), depths_.end(), has);
  return at(static_cast<uint32_t>(found - depths_.begin()));
}

// ---- a depth

uint32_t DeferredSchema::room() const { return whole_ == nullptr ? kUnbounded : IndentedSchema::kMaxDepth - depth_; }

uint32_t DeferredSchema::symbol_inside(PlainValueId id) {
  if (whole_ == nullptr) return symbol_of(id);
  DeferredSchema& inside = whole_->at(depth_ + 1);
  return (tells_apart() ? inside.apart() : inside).symbol_of(id);
}

void DeferredSchema::make_marks_of_lines() {
  const auto line = [&](uint32_t depth) { return '\n' + std::string(size_t{*parts_.layout->indent} * depth, ' '); };
  const auto written = [&](const std::string& text, KeyRole role) {
    return add_terminal(regexes_->literal(text), shown(text), false, to_->has_key_roles ? role : KeyRole::kNone);
  };
  const auto& overview = schema_.overview();
  const auto role = [](bool has_role, KeyRole role) { return has_role ? role : KeyRole::kNone; };
  const auto brackets = [&](const char* open, const std::string& close, bool has_role) {
    const uint32_t opening = written(open, role(has_role, KeyRole::kOpens));
    const KeyRole closes = role(has_role, KeyRole::kCloses);
    return std::pair(opening, Closing{written(close, closes), written(line(depth_) + close, closes)});
  };
  std::tie(open_object_, close_object_) = brackets("{", "}", overview.has_endless_keys);
  std::tie(open_array_, close_array_) = brackets("[", "]", overview.has_endless_items);
  first_line_ = written(line(depth_ + 1), KeyRole::kNone);
  comma_ = written(',' + line(depth_ + 1), KeyRole::kNone);
  colon_ = written(": ", KeyRole::kNone);
}

}  // namespace cfgmask
