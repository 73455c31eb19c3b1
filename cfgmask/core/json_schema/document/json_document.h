// JSON values as schemas are made of: read once from a text, or put together from values of another kind.
//
// Values are numbers of nodes, keys are numbers of distinct texts, so that whoever looks at a document compares and
// remembers by index. No value is made for what a reader does not look at: a schema is mostly descriptions.
//
// Threads: immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/hash_table.h"
#include "util/ids.h"

namespace cfgmask {

using JsonId = Id<struct JsonTag>;

class JsonDocument {
 public:
  enum class Kind : uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };
  struct Member {
    uint32_t key;
    JsonId value;
  };

  JsonDocument() = default;
  JsonDocument(JsonDocument&&) = default;
  JsonDocument& operator=(JsonDocument&&) = default;

  // Forgets all values and keys, and keeps memory for as many: many small documents are read one after the other.
  void clear();

  // nullopt for a text that is no JSON, nests deeper, has a key twice in an object or half of a surrogate pair, or a
  // number so long that it has to be read with care. Valid UTF-8 is not checked. Linear.
  static std::optional<JsonDocument> parse(std::string_view text, uint64_t max_depth);

  // Putting together; a container after what it holds.
  JsonId add(Kind constant);
  JsonId add_number(std::string_view text);
  JsonId add_string(std::string_view text);
  JsonId add_array(std::span<const JsonId> items);
  std::optional<JsonId> add_object(std::span<const Member> members);  // nullopt where a key stands twice
  uint32_t key(std::string_view text);
  void set_root(JsonId root) { root_ = root; }
  // Adds all values of another document; its root among them. What `items`, `members` and the texts have given stays
  // valid. Linear in the other one, on average.
  JsonId append(const JsonDocument& other);

  JsonId root() const { return root_; }
  size_t n_values() const { return nodes_.size(); }
  size_t n_keys() const { return keys_.size(); }
  Kind kind(JsonId id) const { return nodes_[id.value].kind; }
  // The characters of a string, the spelling of a number.
  std::string_view text(JsonId id) const { return texts_[nodes_[id.value].first]; }
  std::span<const JsonId> items(JsonId id) const { return {items_.data() + node(id).first, node(id).size}; }
  std::span<const Member> members(JsonId id) const { return {members_.data() + node(id).first, node(id).size}; }
  std::string_view key_text(uint32_t key) const { return keys_[key]; }
  std::optional<uint32_t> find_key(std::string_view text) const;
  // What an object holds at a key. Linear.
  std::optional<JsonId> member(JsonId object, std::string_view key) const;

  // Appends the value as JSON.
  void write(JsonId id, std::string& out) const;
  static void write_string(std::string_view text, std::string& out);

 private:
  friend class JsonParser;

  struct Node {
    Kind kind;
    uint32_t first;  // in the list of texts, items or members
    uint32_t size;
  };

  const Node& node(JsonId id) const { return nodes_[id.value]; }
  JsonId new_node(Node node);
  // Makes room for more, and keeps what somebody may still look at.
  template <class T>
  static void reserve(size_t more, std::vector<T>& held, std::vector<std::vector<T>>& outgrown);
  std::string_view kept(std::string_view text);
  JsonId add_text(Kind kind, std::string_view kept);
  uint32_t kept_key(std::string_view kept);
  uint32_t new_key(std::string_view kept, uint32_t hash);
  std::optional<uint32_t> find_key(std::string_view text, uint32_t hash) const;

  std::vector<Node> nodes_;
  std::vector<std::string_view> texts_;
  std::vector<JsonId> items_;
  std::vector<Member> members_;
  // What these were before `append` needed more room.
  std::vector<std::vector<JsonId>> outgrown_items_;
  std::vector<std::vector<Member>> outgrown_members_;
  std::vector<std::string_view> keys_;
  HashIndex key_ids_;
  std::vector<uint32_t> last_object_with_;  // by key, to find those that stand twice
  uint32_t n_objects_ = 0;
  // Blocks of characters, of which the last one has some left. Views lead into them, so they never move.
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t n_free_ = 0;
  JsonId root_;
};

}  // namespace cfgmask
