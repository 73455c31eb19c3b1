// The rules of a schema whose text is indented: JSON as `json.dumps(indent=n)` writes it, or YAML.
//
// The indentation of a line depends on its column: in JSON how many brackets are open, in YAML how many units of
// indentation a block has. So each column has rules of its own. They belong to a SchemaRules, which takes the
// symbols of items and members from the ones of further columns. The rules of a column are made when a text first
// reaches it. Rules with the column as a parameter would be fewer, but none of those can be deferred (Parser::define).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "earley/deferred_rules.h"
#include "json_schema/layouts/value_layout.h"
#include "json_schema/rules/schema_rules.h"

namespace cfgmask {

class IndentedRules : public DeferredPart {
 public:
  // The most brackets around a value. In YAML so many fit.
  static constexpr uint32_t kMaxDepth = 32;
  // What values have to fit into, the last of which rules are made for. `yaml`: null for JSON.
  static std::vector<Nesting> nestings(const YamlLayout* yaml);

  // `scope` is the grammar's.
  IndentedRules(std::shared_ptr<const SchemaWithLayout> parts, uint32_t scope);

  bool has_keys() const override { return parts_->layout->yaml == nullptr && SchemaRules::has_keys(*parts_->schema); }
  bool fits_in_limits() const override {
    return !parts_->layout->has_any_order && !parts_->schema->overview().needs_distinct;
  }
  Symbol start(const DeferredAdditions& to) override;
  void define(uint32_t nonterminal, const DeferredAdditions& to) override;
  void define_terminal(uint32_t terminal, const DeferredAdditions& to) override;
  std::vector<Symbol> after_key(uint32_t object, uint32_t member, const DeferredAdditions& to) override;
  uint32_t terminal_of_key(uint32_t object, uint32_t member, const DeferredAdditions& to) override;
  size_t bytes() const override { return parts_->schema->bytes(); }

  // The rules of a column, ready for additions. Only during a call from outside.
  SchemaRules& at(uint32_t column);
  // The same of values that YAML writes in brackets, whatever the column.
  SchemaRules& flow();

 private:
  // One that a text has reached, and what its rules are added to during a call.
  struct Column {
    std::unique_ptr<SchemaRules> rules;
    std::optional<DeferredAdditions> to;
  };

  void enter(const DeferredAdditions& to);
  uint32_t objects_of_column(const DeferredAdditions& to) const {
    return to.n_objects / static_cast<uint32_t>(columns_.size());
  }
  uint32_t column_of_object(uint32_t object, const DeferredAdditions& to) const;
  template <class Has>
  uint32_t where(Has has) const;

  std::shared_ptr<const SchemaWithLayout> parts_;
  uint32_t scope_;
  std::vector<Column> columns_;
  Column flow_;
  const DeferredAdditions* to_ = nullptr;  // during a call
};

}  // namespace cfgmask
