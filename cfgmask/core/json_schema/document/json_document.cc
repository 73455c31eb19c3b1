#include "json_schema/document/json_document.h"

#include <algorithm>
#include <utility>

#include "util/pause.h"
#include "util/text_hash.h"
#include "util/utf8.h"

namespace cfgmask {

namespace {

// Longer numbers, and those with longer exponents, are left to a reader that bounds what they cost.
constexpr size_t kMaxNumber = 400;
constexpr size_t kMaxNumberWithExponent = 100;
constexpr size_t kMaxExponent = 2;
constexpr size_t kBlock = size_t{1} << 14;

uint32_t hash_of(std::string_view key) { return static_cast<uint32_t>(text_hash(key)); }

bool is_digit(char c) { return '0' <= c && c <= '9'; }

}  // namespace

class JsonParser {
 public:
  JsonParser(JsonDocument& document, std::string_view text, uint64_t max_depth)
      : document_(document), text_(text), max_depth_(max_depth) {}

  std::optional<JsonId> whole() {
    const auto found = value(0);
    skip_space();
    return at_ == text_.size() ? found : std::nullopt;
  }

 private:
  using Kind = JsonDocument::Kind;

  // NUL where the text ends, which no JSON has.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
  }

  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::optional<JsonId> value(uint64_t depth) {
    Pause::tick();
    if (depth > max_depth_) return std::nullopt;
    skip_space();
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"': {
        const auto found = string();
        return found ? std::optional(document_.add_text(Kind::kString, *found)) : std::nullopt;
      }
      case 'n':
        return take("null") ? std::optional(document_.add(Kind::kNull)) : std::nullopt;
      case 't':
        return take("true") ? std::optional(document_.add(Kind::kTrue)) : std::nullopt;
      case 'f':
        return take("false") ? std::optional(document_.add(Kind::kFalse)) : std::nullopt;
      default:
        return number();
    }
  }

  std::optional<JsonId> object(uint64_t depth) {
    const size_t first = members_.size();
    ++at_;
    skip_space();
    if (!take("}")) {
      do {
        skip_space();
        const auto key = peek() == '"' ? string() : std::nullopt;
        skip_space();
        if (!key || !take(":")) return std::nullopt;
        const auto held = value(depth + 1);
        if (!held) return std::nullopt;
        members_.push_back({document_.kept_key(*key), *held});
        skip_space();
      } while (take(","));
      if (!take("}")) return std::nullopt;
    }
    const auto found = document_.add_object(std::span(members_).subspan(first));
    members_.resize(first);
    return found;
  }

  std::optional<JsonId> array(uint64_t depth) {
    const size_t first = items_.size();
    ++at_;
    skip_space();
    if (!take("]")) {
      do {
        const auto item = value(depth + 1);
        if (!item) return std::nullopt;
        items_.push_back(*item);
        skip_space();
      } while (take(","));
      if (!take("]")) return std::nullopt;
    }
    const JsonId found = document_.add_array(std::span(items_).subspan(first));
    items_.resize(first);
    return found;
  }

  std::optional<JsonId> number() {
    const size_t start = at_;
    const bool is_negative = take("-");
    if (!take("0") && !digits()) return std::nullopt;
    const bool has_point = take(".");
    if (has_point && !digits()) return std::nullopt;
    bool has_exponent = false;
    if (take("e") || take("E")) {
      has_exponent = true;
      if (!take("+")) take("-");
      const size_t exponent = at_;
      if (!digits() || at_ - exponent > kMaxExponent) return std::nullopt;
    }
    const size_t n_marks = (is_negative ? 1 : 0) + (has_point ? 1 : 0);
    if (at_ - start > n_marks + (has_exponent ? kMaxNumberWithExponent : kMaxNumber)) return std::nullopt;
    return document_.add_text(Kind::kNumber, text_.substr(start, at_ - start));
  }

  bool digits() {
    const size_t start = at_;
    while (is_digit(peek())) ++at_;
    return at_ > start;
  }

  // Its characters: a part of the text, if it has no escapes.
  std::optional<std::string_view> string() {
    const size_t start = ++at_;
    skip_plain();
    if (take("\"")) return text_.substr(start, at_ - 1 - start);
    std::string decoded(text_.substr(start, at_ - start));
    while (!take("\"")) {
      if (!take("\\") || !escape(decoded)) return std::nullopt;
      const size_t from = at_;
      skip_plain();
      decoded += text_.substr(from, at_ - from);
    }
    return document_.kept(decoded);
  }

  // Characters that stand for themselves.
  void skip_plain() {
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && static_cast<uint8_t>(text_[at_]) >= 0x20)
      ++at_;
  }

  bool escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (take("u")) return code_unit(out);
    const size_t letter = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
    if (letter == std::string_view::npos) return false;
    ++at_;
    out += kMeanings[letter];
    return true;
  }

  bool code_unit(std::string& out) {
    auto found = hexadecimal();
    if (!found || (0xDC00 <= *found && *found <= 0xDFFF)) return false;
    if (0xD800 <= *found && *found <= 0xDBFF) {
      if (!take("\\u")) return false;
      const auto low = hexadecimal();
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
      *found = 0x10000 + ((*found - 0xD800) << 10) + (*low - 0xDC00);
    }
    append_utf8(*found, out);
    return true;
  }

  std::optional<uint32_t> hexadecimal() {
    uint32_t found = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = peek();
      const char lower = static_cast<char>(c | 0x20);
      if (is_digit(c)) {
        found = found * 16 + static_cast<uint32_t>(c - '0');
      } else if ('a' <= lower && lower <= 'f') {
        found = found * 16 + static_cast<uint32_t>(lower - 'a' + 10);
      } else {
        return std::nullopt;
      }
      ++at_;
    }
    return found;
  }

  JsonDocument& document_;
  std::string_view text_;
  uint64_t max_depth_;
  size_t at_ = 0;
  // Of the objects and arrays that are not closed yet.
  std::vector<JsonDocument::Member> members_;
  std::vector<JsonId> items_;
};

void JsonDocument::clear() {
  nodes_.clear();
  texts_.clear();
  items_.clear();
  members_.clear();
  outgrown_items_.clear();
  outgrown_members_.clear();
  keys_.clear();
  key_ids_.clear();
  last_object_with_.clear();
  n_objects_ = 0;
  if (!blocks_.empty()) {
    blocks_.resize(1);
    free_ = blocks_[0].get();
    n_free_ = kBlock;  // at least
  }
  root_ = {};
}

std::optional<JsonDocument> JsonDocument::parse(std::string_view text, uint64_t max_depth) {
  JsonDocument document;
  const std::string_view kept = document.kept(text);
  const auto root = JsonParser(document, kept, max_depth).whole();
  if (!root) return std::nullopt;
  document.set_root(*root);
  return document;
}

JsonId JsonDocument::new_node(Node node) {
  nodes_.push_back(node);
  return JsonId(nodes_.size() - 1);
}

template <class T>
void JsonDocument::reserve(size_t more, std::vector<T>& held, std::vector<std::vector<T>>& outgrown) {
  const size_t needed = held.size() + more;
  if (needed <= held.capacity()) return;
  std::vector<T> larger;
  larger.reserve(std::max(needed, 2 * held.capacity()));
  larger.insert(larger.end(), held.begin(), held.end());
  outgrown.push_back(std::exchange(held, std::move(larger)));
}

JsonId JsonDocument::append(const JsonDocument& other) {
  reserve(other.items_.size(), items_, outgrown_items_);
  reserve(other.members_.size(), members_, outgrown_members_);
  const auto offset = static_cast<uint32_t>(nodes_.size());
  const auto first_text = static_cast<uint32_t>(texts_.size());
  const auto first_item = static_cast<uint32_t>(items_.size());
  const auto first_member = static_cast<uint32_t>(members_.size());
  std::vector<uint32_t> keys;
  keys.reserve(other.n_keys());
  for (std::string_view text : other.keys_) keys.push_back(key(text));
  for (std::string_view text : other.texts_) texts_.push_back(kept(text));
  for (JsonId item : other.items_) items_.push_back(JsonId(item.value + offset));
  for (const auto& [key, value] : other.members_) members_.push_back({keys[key], JsonId(value.value + offset)});
  for (Node node : other.nodes_) {
    Pause::tick();
    const bool is_text = node.kind == Kind::kString || node.kind == Kind::kNumber;
    node.first += is_text ? first_text : node.kind == Kind::kArray ? first_item : first_member;
    nodes_.push_back(node);
  }
  return JsonId(other.root_.value + offset);
}

std::string_view JsonDocument::kept(std::string_view text) {
  if (text.size() > n_free_) {
    n_free_ = std::max(kBlock, text.size());
    free_ = blocks_.emplace_back(std::make_unique_for_overwrite<char[]>(n_free_)).get();
  }
  const std::string_view copy(free_, text.copy(free_, text.size()));
  free_ += text.size();
  n_free_ -= text.size();
  return copy;
}

JsonId JsonDocument::add_text(Kind kind, std::string_view kept) {
  texts_.push_back(kept);
  return new_node({kind, static_cast<uint32_t>(texts_.size() - 1), 0});
}

uint32_t JsonDocument::kept_key(std::string_view kept) {
  const uint32_t hash = hash_of(kept);
  const auto found = find_key(kept, hash);
  return found ? *found : new_key(kept, hash);
}

uint32_t JsonDocument::new_key(std::string_view kept, uint32_t hash) {
  const auto made = static_cast<uint32_t>(keys_.size());
  keys_.push_back(kept);
  last_object_with_.push_back(0);
  key_ids_.insert(hash, made);
  return made;
}

JsonId JsonDocument::add(Kind constant) { return new_node({constant, 0, 0}); }

JsonId JsonDocument::add_number(std::string_view text) { return add_text(Kind::kNumber, kept(text)); }

JsonId JsonDocument::add_string(std::string_view text) { return add_text(Kind::kString, kept(text)); }

uint32_t JsonDocument::key(std::string_view text) {
  const uint32_t hash = hash_of(text);
  const auto found = find_key(text, hash);
  return found ? *found : new_key(kept(text), hash);
}

JsonId JsonDocument::add_array(std::span<const JsonId> items) {
  const auto first = static_cast<uint32_t>(items_.size());
  items_.insert(items_.end(), items.begin(), items.end());
  return new_node({Kind::kArray, first, static_cast<uint32_t>(items.size())});
}

std::optional<JsonId> JsonDocument::add_object(std::span<const Member> members) {
  ++n_objects_;
  for (const Member& member : members) {
    if (std::exchange(last_object_with_[member.key], n_objects_) == n_objects_) return std::nullopt;
  }
  const auto first = static_cast<uint32_t>(members_.size());
  members_.insert(members_.end(), members.begin(), members.end());
  return new_node({Kind::kObject, first, static_cast<uint32_t>(members.size())});
}

std::optional<uint32_t> JsonDocument::find_key(std::string_view text) const { return find_key(text, hash_of(text)); }

std::optional<uint32_t> JsonDocument::find_key(std::string_view text, uint32_t hash) const {
  return key_ids_.find(hash, [&](uint32_t key) { return keys_[key] == text; });
}

std::optional<JsonId> JsonDocument::member(JsonId object, std::string_view key) const {
  const auto wanted = find_key(key);
  const auto held = members(object);
  const auto found = std::find_if(held.begin(), held.end(), [&](const Member& m) { return m.key == wanted; });
  return found == held.end() ? std::nullopt : std::optional(found->value);
}

void JsonDocument::write_string(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void JsonDocument::write(JsonId id, std::string& out) const {
  const auto list = [&](const auto& parts, char open, char close, auto write_part) {
    out += open;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) out += ',';
      write_part(parts[i]);
    }
    out += close;
  };
  switch (kind(id)) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kFalse:
      out += "false";
      return;
    case Kind::kTrue:
      out += "true";
      return;
    case Kind::kNumber:
      out += text(id);
      return;
    case Kind::kString:
      write_string(text(id), out);
      return;
    case Kind::kArray:
      list(items(id), '[', ']', [&](JsonId item) { write(item, out); });
      return;
    case Kind::kObject:
      list(members(id), '{', '}', [&](const Member& member) {
        write_string(key_text(member.key), out);
        out += ':';
        write(member.value, out);
      });
  }
}

}  // namespace cfgmask
