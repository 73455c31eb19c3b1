// The rules of a plain schema whose text is indented, as `json.dumps(indent=n)` does.
//
// The indentation of a line depends on its depth, so each depth has rules of its own. They belong to a DeferredSchema,
// which takes the symbols of items and members from the one of the next depth. The rules of a depth are made when a
// text first reaches it. cfgmask/json_schema/indent.py makes the same language of any schema.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "earley/deferred_rules.h"
#include "schema/deferred_schema.h"
#include "schema/plain_rules.h"

namespace cfgmask {

class IndentedSchema : public DeferredPart {
 public:
  // The most brackets around a value; indent.py has the same limit.
  static constexpr uint32_t kMaxDepth = 32;

  // `scope` is the grammar's.
  IndentedSchema(std::shared_ptr<const PlainSchemaParts> parts, uint32_t scope)
      : parts_(std::move(parts)), scope_(scope) {}

  bool has_keys() const override { return DeferredSchema::has_keys(*parts_->schema); }
  bool fits_in_limits() const override {
    return !parts_->layout->has_any_order && !parts_->schema->overview().needs_distinct;
  }
  Symbol start(const DeferredAdditions& to) override;
  void define(uint32_t nonterminal, const DeferredAdditions& to) override;
  void define_terminal(uint32_t terminal, const DeferredAdditions& to) override;
  std::vector<Symbol> after_key(uint32_t object, uint32_t member, const DeferredAdditions& to) override;
  uint32_t terminal_of_key(uint32_t object, uint32_t member, const DeferredAdditions& to) override;
  size_t bytes() const override { return parts_->schema->bytes(); }

  // The rules of a depth, ready for additions. Only during a call from outside.
  DeferredSchema& at(uint32_t depth);

 private:
  void enter(const DeferredAdditions& to);
  static uint32_t objects_of_depth(const DeferredAdditions& to) { return to.n_objects / (kMaxDepth + 1); }
  uint32_t depth_of_object(uint32_t object, const DeferredAdditions& to) const;
  template <class Has>
  DeferredSchema& where(Has has);

  std::shared_ptr<const PlainSchemaParts> parts_;
  uint32_t scope_;
  std::deque<DeferredSchema> depths_;  // those that a text has reached
  // During a call.
  const DeferredAdditions* to_ = nullptr;
  std::array<std::optional<DeferredAdditions>, kMaxDepth + 1> to_depths_;
};

}  // namespace cfgmask
