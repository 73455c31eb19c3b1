// Unions of many objects, read all at once.
//
// As many alternatives would be as many rules, each with a state of its own in the parser, until a key or a value tells
// them apart. Instead a place is kept for each of the objects that the text may still be of, and what may come next is
// one list of texts: the keys at all of the places, or the strings that they list for a key. Each text leads to the
// places behind it, of which mostly one is left.
//
// Which sets of places there are could be as many as subsets of the objects, so there is room for so many; beyond that
// the objects go on one by one.
//
// Where the members of objects are passed and other keys may come, one that is a member of some objects leaves the
// others. That could be any subset, too: so many objects are two halves then, and what is left of them is what is left
// of each half, of which most keys leave one as it was.
//
// Threads: guarded by the owner of the grammar.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json_schema/sets/schema_ir.h"
#include "util/interner.h"

namespace cfgmask {

class ObjectUnions {
 public:
  // Fewer objects go on one by one.
  static constexpr size_t kMany = 8;

  // So many members are passed of the object of a value; or, where something is said of a member, its index.
  struct Place {
    ValueId of;
    uint32_t member;

    auto operator<=>(const Place&) const = default;
  };
  using Places = std::vector<Place>;

  // Texts that may come next, and the members that each may be the key of or the value of.
  class Ways {
   public:
    struct Way {
      const std::string* text;
      Place place;
    };

    Ways() = default;
    // Those of equal texts must stand together.
    explicit Ways(std::span<const Way> ways);

    // Leaves out texts by their places.
    template <class F>
    void drop_if(F unwanted) {
      std::vector<Way> left;
      left.reserve(places_.size());
      for (size_t i = 0; i < size(); ++i) {
        if (unwanted(places(i))) continue;
        for (Place place : places(i)) left.push_back({texts_[i], place});
      }
      *this = Ways(left);
    }

    size_t size() const { return texts_.size(); }
    const std::string& text(size_t i) const { return *texts_[i]; }
    std::span<const Place> places(size_t i) const {
      return std::span(places_).subspan(starts_[i], starts_[i + 1] - starts_[i]);
    }

   private:
    std::vector<const std::string*> texts_;
    std::vector<uint32_t> starts_{0};
    Places places_;
  };

  // What may come at some places where a key is due.
  struct Next {
    Ways keys;
    Places ends;  // the objects that need no further member
  };
  // What objects that need no further member go on with.
  struct Ends {
    bool may_close = false;  // some of them, which have no other keys
    Places apart;
    struct Of {
      ValueId value;
      Places places;
    };
    std::vector<Of> others;  // by what they hold in other keys
  };
  // What the members at some places hold.
  struct Held {
    Ways strings;  // of members that list strings, where these tell the objects apart
    struct Of {
      ValueId value;
      Places places;
    };
    std::vector<Of> values;  // of the others, which are apart
  };

  enum class Kind : uint32_t {
    kFirst,         // a key is due, the first of its object
    kFurther,       // a comma or the end is due
    kHeld,          // a value is due
    kEach,          // as kFurther, but each object goes on by itself
    kFirstOther,    // as kFirst, and the key is no member
    kFurtherOther,  // as kFurther, and a key that follows is no member
    kWithout,       // the objects of such a state but some
  };
  struct State {
    Kind kind;
    Places places;
    uint32_t of = 0;  // of kWithout, whose places are those that are left out
  };
  // A half of the objects of a state, and those of it that are left out of another.
  struct Half {
    Places places;
    Places missing;

    bool is_left() const { return missing.size() < places.size(); }
  };

  explicit ObjectUnions(const SchemaIR& schema) : schema_(schema) {}

  // Where the objects or arrays of some values begin, each once.
  static Places at_beginning(std::vector<ValueId> ids);
  // Whether a value is objects of which nothing is counted, but for keys that may run out, and nothing else.
  static bool takes(const SchemaIR& schema, ValueId id);
  // The room that some objects need.
  static uint64_t room_for(const SchemaIR& schema, const Places& places);
  void add_room(uint64_t room) { room_ += room; }

  // The states by their numbers. Places are in ascending order.
  uint32_t first(const Places& places) { return state(Kind::kFirst, places); }
  uint32_t held(const Places& places) { return state(Kind::kHeld, places); }
  // What comes after the values of some members. Takes of the room, and is kEach where too little is left.
  uint32_t after(std::span<const Place> members);

  // After members, where other keys may come, in all of which the objects hold the same.
  uint32_t others(const Places& places, bool some) {
    return state(some ? Kind::kFurtherOther : Kind::kFirstOther, places);
  }
  // After a key that is a member of some objects of such a state, not of all. Their places are as there.
  uint32_t without(uint32_t others, const Places& missing);

  // States that another one may begin with have a greater order, all less than kOrders.
  static constexpr uint32_t kOrders = 64;
  uint32_t order(uint32_t state) const;
  State at(uint32_t state) const;
  Next next(const Places& places) const;
  // What follows where nothing but other keys may come; `is_apart` says which of those that may have any key go on by
  // themselves. The places are behind all members.
  Ends ends(const Places& places, const std::function<bool(const SchemaIR::Object&)>& is_apart) const;
  Held held_at(std::span<const Place> members);
  // What stands at some places, by what is there: `value_of` says of each, without names on the way, and `take_room`
  // whether so many texts may be listed.
  static Held apart(const SchemaIR& schema, std::span<const Place> places,
                    const std::function<ValueId(Place)>& value_of, const std::function<bool(uint64_t)>& take_room);
  // The keys of some objects behind their members: all that are none of the names, and those that are no members of
  // some of the objects, each with the places of the objects that have it.
  struct OtherKeys {
    std::vector<std::string_view> names;
    Ways missing;
  };
  OtherKeys other_keys(const Places& places) const;
  // Of a state that is kWithout.
  std::array<Half, 2> halves(const State& state) const;
  // The value that is the same at all of the places; none where they differ.
  std::optional<ValueId> only_value(std::span<const Place> members) const;

 private:
  uint32_t state(Kind kind, const Places& places);
  static std::vector<uint32_t> words_of(Kind kind, const Places& places);
  // Ways by the names of members; `place_of` says what place a member stands for.
  template <class F>
  Ways by_name(Places members, F place_of) const;
  const SchemaIR::Object& object(Place place) const { return *schema_.at(place.of).object; }
  ValueId value(Place member) const;
  // Null where a value is anything but listed strings.
  static const std::vector<std::string>* tags(const SchemaIR& schema, ValueId value);
  // Calls f(member) for each that may come next at a place; returns whether none of them is needed.
  template <class F>
  bool for_each_next(Place place, F f) const;
  bool take_room(uint64_t amount);

  const SchemaIR& schema_;
  Interner states_;
  uint64_t room_ = 0;
};

}  // namespace cfgmask
