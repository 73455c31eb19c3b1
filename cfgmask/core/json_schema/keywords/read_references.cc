#include <algorithm>
#include <charconv>
#include <span>
#include <unordered_set>
#include <utility>

#include "json_schema/keywords/schema_reading.h"
#include "json_schema/references/uri_reference.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// What a context and an anchor in a scope take of max_rules.
constexpr uint64_t kStepsPerContext = 16;
constexpr uint64_t kStepsPerAnchor = 4;
// A URI is put together from the one around it.
constexpr uint64_t kUriCharactersPerStep = 64;

bool is_in(std::string_view keyword, std::span<const std::string_view> keywords) {
  return std::find(keywords.begin(), keywords.end(), keyword) != keywords.end();
}

}  // namespace

void SchemaReading::enter_root() {
  const SchemaReader& reader = root_reader_;
  const JsonId root = document_.root();
  document_roots_.push_back(root);
  const Held declared = is_object(root) ? document_.member(root, "$schema") : std::nullopt;
  const std::optional<std::string_view> uri = declared ? std::optional(text(*declared)) : std::nullopt;
  Held identifier = is_object(root) ? document_.member(root, reader.identifier_) : std::nullopt;
  if (identifier && (!is_text(*identifier) || text(*identifier).starts_with('#'))) identifier = std::nullopt;
  if (reader.hides_siblings_ && identifier && document_.member(root, "$ref")) identifier = std::nullopt;
  const uint32_t base = this->base(identifier ? std::string(uri_reference::split(text(*identifier)).document) : "");
  around_ = context(reader, uri, base, DynamicScopes::kNone);
  around_->known.resize(document_.n_values());
  // Only where there are dynamic anchors does the way to a schema matter.
  if (!document_.find_key("$dynamicAnchor") && !document_.find_key("$recursiveAnchor")) return;
  are_names_known_ = true;
  register_names({root, around_, "#"});
  around_ = in_scope(contexts_.front(), scope_inside(DynamicScopes::kNone, base));
}

SchemaReading::Said SchemaReading::entered(JsonId schema) {
  const uint32_t outside = around_->base;
  Said said = passed_into(schema);
  if (around_->base != outside) around_ = in_scope(*around_, scope_inside(around_->scope, around_->base));
  return said;
}

SchemaReading::Said SchemaReading::passed_into(JsonId schema) {
  Said said = keywords(schema);
  // What is no identifier in the draft around it was not meant to change what references are relative to.
  const bool may_be_identified = said.has(kIdentifier) && !is_document_root(schema);
  if (const SchemaReader& own = reader_of(said); &own != &reader()) {
    around_ = context(own, text(*said[kDialect]), around_->base, around_->scope);
    said = keywords(schema);
  }
  if (may_be_identified && has_own_uri(said)) {
    const std::string_view own = uri_reference::split(text(*said[kIdentifier])).document;
    algebra_.work(kWorkPerRule * ((own.size() + bases_[around_->base].size()) / kUriCharactersPerStep));
    const uint32_t base = this->base(uri_reference::resolved(bases_[around_->base], own));
    around_ = context(reader(), around_->uri, base, around_->scope);
  }
  return said;
}

const SchemaReader& SchemaReading::reader_of(const Said& said) {
  const Held named = said[kDialect];
  if (!named || !is_text(*named) || text(*named) == around_->uri) return reader();
  const SchemaReader*& own = around_->drafts[text(*named)];
  if (own == nullptr) own = questions_.drafts(std::string(text(*named)), reader());
  require(own != nullptr);
  return *own;
}

SchemaReading::Context* SchemaReading::context(const SchemaReader& reader, std::optional<std::string_view> uri,
                                               uint32_t base, uint32_t scope) {
  Context*& found = context_of_[{&reader, base, scope}];
  if (found == nullptr) {
    algebra_.work(kWorkPerRule * kStepsPerContext);
    const auto number = static_cast<uint32_t>(contexts_.size());
    found = &contexts_.emplace_back(Context{number, &reader, base, scope, uri, codes_of(reader)});
  }
  return found;
}

SchemaReading::Context* SchemaReading::in_scope(const Context& around, uint32_t scope) {
  return context(*around.reader, around.uri, around.base, scope);
}

uint32_t SchemaReading::scope_inside(uint32_t scope, uint32_t base) {
  return scopes_.entered(scope, base,
                         [&](size_t n_anchors) { algebra_.work(kWorkPerRule * kStepsPerAnchor * n_anchors); });
}

SchemaReading::Codes* SchemaReading::codes_of(const SchemaReader& reader) {
  const auto known = std::ranges::find(codes_, &reader, &Codes::reader);
  return known != codes_.end() ? &*known : &codes_.emplace_back(Codes{&reader});
}

uint32_t SchemaReading::base(std::string uri) {
  const auto [found, is_new] = base_numbers_.try_emplace(std::move(uri), static_cast<uint32_t>(bases_.size()));
  if (is_new) bases_.push_back(found->first);
  return found->second;
}

std::optional<Keyword> SchemaReading::only_reference(const Said& said) const {
  if (said[kReference] && reader().hides_siblings_) return kReference;
  if (said.has_beside(kOfReferences)) return std::nullopt;
  std::optional<Keyword> found;
  for (Keyword keyword : kReferences) {
    if (!said.has(keyword)) continue;
    if (found) return std::nullopt;
    found = keyword;
  }
  return found;
}

bool SchemaReading::has_own_uri(const Said& said) const {
  const Held identifier = said[kIdentifier];
  if (!identifier || !is_text(*identifier)) return false;
  if (reader().hides_siblings_ && said[kReference]) return false;
  return !text(*identifier).starts_with('#');
}

void SchemaReading::pass(JsonId object) {
  Context*& inside = around_->inside[object.value];
  if (inside == nullptr) {
    Context* const outside = around_;
    passed_into(object);
    inside = std::exchange(around_, outside);
  }
  around_ = inside;
}

ValueId SchemaReading::referred(const Said& said, Keyword keyword, uint64_t depth) {
  Context* const here = around_;
  std::vector<std::pair<Reached, Known*>> passed;
  Target found = target(said, keyword);
  while (auto next = next_in_chain(found)) {
    // A reference that leads back to itself says nothing.
    require(passed.size() < document_.n_values());
    passed.push_back({reached(found.schema, *found.around), &(*found.around)[found.schema]});
    found = *std::move(next);
  }
  around_ = found.around;
  const ValueId id = value(found.schema, found.name, depth + 1);
  const Reached last = reached(found.schema, *found.around);
  for (const auto& [reference_to_it, known] : passed) {
    *known = {Progress::kDone, id};
    if (is_open(last, (*found.around)[found.schema])) add_lead(reference_to_it, last);
  }
  around_ = here;
  return id;
}

std::optional<SchemaReading::Target> SchemaReading::next_in_chain(const Target& reached) {
  if (!is_object(reached.schema)) return std::nullopt;
  const Known& known = (*reached.around)[reached.schema];
  if (known.progress != Progress::kNew || known.id) return std::nullopt;
  Context* const here = std::exchange(around_, reached.around);
  const Said said = keywords(reached.schema);
  const auto reference = only_reference(said);
  std::optional<Target> next;
  if (reference && !said.has(kIdentifier) && !said.has(kDialect)) next = target(said, *reference);
  around_ = here;
  return next;
}

std::optional<ValueId> SchemaReading::referred_later(const Said& said, uint64_t depth) {
  // What applies to the same value is read at once: only so does it show where that leads in a circle.
  if (depth <= kDeep || std::ssize(level_) != level_begin_ + 1) return std::nullopt;
  const auto reference = only_reference(said);
  if (!reference) return std::nullopt;
  Target found = target(said, *reference);
  Known& known = (*found.around)[found.schema];
  if (!is_object(found.schema) || known.progress == Progress::kReading) return std::nullopt;
  if (!known.id) {
    known.id = schema_.reserve();
    later_.push_back({found.schema, std::move(found.name), found.around});
  }
  return *known.id;
}

void SchemaReading::read_later_ones() {
  while (!later_.empty()) {
    const Later next = std::move(later_.back());
    later_.pop_back();
    around_ = next.around;
    value(next.schema, next.pointer, 0);
  }
}

SchemaReading::Target SchemaReading::target(const Said& said, Keyword keyword) {
  const std::string_view reference = text(*said[keyword]);
  Context* const here = around_;
  Place place = target_of_text(reference);
  around_ = here;
  if (!scopes_.are_needed()) return {place.schema, place.around, std::move(place.pointer)};
  // A pointer may lead through resources: only the one that it ends in is entered.
  const auto inside = [&](const Place& reached) {
    around_ = reached.around;
    if (is_object(reached.schema)) passed_into(reached.schema);
    return std::exchange(around_, here)->base;
  };
  if (keyword != kReference) {
    const uint32_t scope = scope_inside(here->scope, inside(place));
    if (const Place* dynamic = dynamic_target(place, reference, keyword, scope)) place = *dynamic;
  }
  // A resource enters itself.
  const bool is_resource = inside(place) != place.around->base;
  Context* const around =
      in_scope(*place.around, is_resource ? here->scope : scope_inside(here->scope, place.around->base));
  return {place.schema, around, std::move(place.pointer)};
}

const SchemaReading::Place* SchemaReading::dynamic_target(const Place& place, std::string_view reference,
                                                          Keyword keyword, uint32_t scope) const {
  if (!is_object(place.schema)) return nullptr;
  std::string name;
  if (keyword == kRecursiveReference) {
    const Held mark = document_.member(place.schema, "$recursiveAnchor");
    if (!mark || !is(*mark, Json::kTrue)) return nullptr;
    name = DynamicScopes::kRecursive;
  } else {
    name = uri_reference::decoded(uri_reference::split(reference).fragment);
    const Held anchor = document_.member(place.schema, "$dynamicAnchor");
    if (name.empty() || !anchor || !is_text(*anchor) || text(*anchor) != name) return nullptr;
  }
  const auto found = scopes_.target(scope, name);
  return found ? &dynamic_places_[*found] : nullptr;
}

SchemaReading::Place SchemaReading::target_of_text(std::string_view reference) {
  const auto [document, encoded] = uri_reference::split(reference);
  const std::string fragment = uri_reference::decoded(encoded);
  // Most references lead into the document of the root.
  const bool is_of_root = document.empty() && around_->base == contexts_.front().base;
  std::string uri;
  if (!is_of_root || (!fragment.empty() && fragment[0] != '/')) {
    if (!std::exchange(are_names_known_, true)) register_names({document_.root(), &contexts_.front(), "#"});
    algebra_.work(kWorkPerRule * ((document.size() + bases_[around_->base].size()) / kUriCharactersPerStep));
    uri = uri_reference::resolved(bases_[around_->base], document);
  }
  const Place resource = is_of_root ? Place{document_.root(), &contexts_.front(), "#"} : named(uri);
  if (fragment.empty()) return resource;
  if (fragment[0] == '/') return step_along(resource, fragment);
  // An anchor is one of the resource, whichever of its URIs the reference names.
  around_ = resource.around;
  if (is_object(resource.schema)) passed_into(resource.schema);
  const auto anchored = named_.find(bases_[around_->base] + '#' + fragment);
  require(anchored != named_.end());
  return anchored->second;
}

const SchemaReading::Place& SchemaReading::named(const std::string& uri) {
  const auto known = named_.find(uri);
  return known != named_.end() ? known->second : retrieved(uri);
}

const SchemaReading::Place& SchemaReading::retrieved(const std::string& uri) {
  const JsonDocument* const found = questions_.documents(uri);
  require(found != nullptr);
  const JsonId root = document_.append(*found);
  if (!annotates_ && asks_for_the_rest(document_)) throw NotAnnotated();
  document_roots_.push_back(root);
  // Its dialect is that of the schema which refers to it, if it says no other.
  around_ = context(reader(), around_->uri, base(uri), DynamicScopes::kNone);
  if (is_object(root)) {
    const Said said = passed_into(root);
    if (has_own_uri(said)) {
      const std::string_view own = uri_reference::split(text(*said[kIdentifier])).document;
      around_ = context(reader(), around_->uri, base(uri_reference::resolved(uri, own)), DynamicScopes::kNone);
    }
  }
  const auto place = named_.try_emplace(uri, Place{root, around_, uri + '#'}).first;
  register_names(Place(place->second));
  return named_.find(uri)->second;
}

void SchemaReading::register_names(const Place& root) {
  Context* const here = around_;
  std::unordered_set<Reached> seen;
  std::vector<Place> todo{root};
  while (!todo.empty()) {
    Pause::tick();
    const Place place = std::move(todo.back());
    todo.pop_back();
    if (!is_object(place.schema) || !seen.insert(reached(place.schema, *place.around)).second) continue;
    around_ = place.around;
    pass(place.schema);
    Context* const inside = around_;
    register_schema(place.schema, inside, place);
    const auto add = [&](JsonId schema, std::string pointer) { todo.push_back({schema, inside, std::move(pointer)}); };
    for (const auto& [key, held] : document_.members(place.schema)) {
      const std::string_view keyword = document_.key_text(key);
      if (is_object(held) && is_in(keyword, kSchemaMaps)) {
        for (const auto& [name, schema] : document_.members(held))
          add(schema, below(place.pointer, keyword, document_.key_text(name)));
      } else if (is_array(held) && is_in(keyword, kSchemaLists)) {
        const auto schemas = document_.items(held);
        for (size_t i = 0; i < schemas.size(); ++i) add(schemas[i], below(place.pointer, keyword, std::to_string(i)));
      } else if (is_object(held) && is_in(keyword, kSingleSchemas)) {
        add(held, below(place.pointer, keyword));
      }
    }
  }
  around_ = here;
}

void SchemaReading::register_schema(JsonId schema, Context* inside, const Place& place) {
  around_ = inside;
  const Held reference = document_.member(schema, "$ref");
  if (reader().hides_siblings_ && reference && is_text(*reference)) return;
  const std::string& uri = bases_[inside->base];
  const auto held_text = [&](std::string_view key) -> std::optional<std::string> {
    const Held held = document_.member(schema, key);
    return held && is_text(*held) ? std::optional(std::string(text(*held))) : std::nullopt;
  };
  const auto identifier = held_text(reader().identifier_);
  if (identifier && identifier->starts_with('#')) {
    add_name(uri + *identifier, place);
  } else if (identifier || is_document_root(schema)) {
    add_name(uri, place);
  }
  const auto anchor = held_text("$anchor");
  if (anchor) add_name(uri + '#' + *anchor, place);
  const auto dynamic = held_text("$dynamicAnchor");
  if (dynamic) {
    add_name(uri + '#' + *dynamic, place);
    if (reader().codes_.contains(std::string(kKeywordNames[kDynamicReference])))
      add_dynamic(*dynamic, inside->base, place);
  }
  const Held mark = document_.member(schema, DynamicScopes::kRecursive);
  if (mark && is(*mark, Json::kTrue) && reader().codes_.contains(std::string(kKeywordNames[kRecursiveReference]))) {
    const auto resource = named_.find(uri);
    if (resource != named_.end() && resource->second.schema == schema)
      add_dynamic(DynamicScopes::kRecursive, inside->base, place);
  }
}

void SchemaReading::add_dynamic(const std::string& anchor, uint32_t base, const Place& place) {
  scopes_.add(base, anchor, static_cast<uint32_t>(dynamic_places_.size()));
  dynamic_places_.push_back(place);
}

SchemaReading::Place SchemaReading::step_along(Place place, std::string_view pointer) {
  JsonId at = place.schema;
  bool is_map = false;  // of schemas, which says nothing itself
  around_ = place.around;
  place.pointer += pointer;
  while (!pointer.empty()) {
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string token = unescaped(pointer.substr(1, end - 1));
    if (is_array(at)) {
      at = element(at, token);
    } else {
      require(is_object(at));
      if (!is_map && !is_document_root(at)) pass(at);
      const auto key = document_.find_key(token);
      require(key.has_value());
      at = step(at, *key);
    }
    is_map = !is_map && std::find(kSchemaMaps.begin(), kSchemaMaps.end(), token) != kSchemaMaps.end();
    pointer.remove_prefix(end);
  }
  return {at, around_, std::move(place.pointer)};
}

std::string SchemaReading::unescaped(std::string_view token) {
  std::string out;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    require(i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'));
    out += token[++i] == '0' ? '~' : '/';
  }
  return out;
}

JsonId SchemaReading::element(JsonId array, std::string_view token) const {
  uint32_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  require(error == std::errc() && end == token.data() + token.size() && (token == "0" || token[0] != '0'));
  require(index < items(array).size());
  return items(array)[index];
}

JsonId SchemaReading::step(JsonId object, uint32_t key) {
  const auto members = document_.members(object);
  if (members.size() <= kFewMembers) {
    const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.key == key; });
    require(found != members.end());
    return found->value;
  }
  auto& table = member_tables_[object.value];
  if (table.empty()) {
    for (const auto& member : members) table.emplace(member.key, member.value);
  }
  const auto found = table.find(key);
  require(found != table.end());
  return found->second;
}

}  // namespace cfgmask
