// JSON documents of Python values.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "json_schema/document/json_document.h"
#include "util/hash_table.h"
#include "util/pause.h"

namespace cfgmask {

namespace nb = nanobind;

class JsonValues {
 public:
  // nullopt for a value that nests deeper, or that a closer look might not take for JSON. Parts that are one object are
  // one value. Linear. Other threads may run meanwhile (bindings/long_call.h); where they change what is read, the
  // document has some of it, or there is none.
  static std::optional<JsonDocument> document(nb::handle value, uint64_t max_depth) {
    JsonDocument made;
    if (!JsonValues(max_depth, made).read(value)) return std::nullopt;
    return made;
  }

  // For many values, one after the other, in one document.
  JsonValues(uint64_t max_depth, JsonDocument& document) : max_depth_(max_depth), document_(document) {}

  // Puts a value in place of what the document has; some of it where this is false. As `document`.
  bool read(nb::handle value) {
    document_.clear();
    known_.clear();
    kept_.clear();
    members_.clear();
    items_.clear();
    const auto root = this->value(value.ptr(), 0);
    if (root) document_.set_root(*root);
    return root.has_value();
  }

  // Of a text. As above.
  static std::optional<JsonDocument> parsed(nb::handle json, uint64_t max_depth) {
    const auto found = text(json.ptr());
    return found ? JsonDocument::parse(*found, max_depth) : std::nullopt;
  }

 private:
  using Kind = JsonDocument::Kind;

  std::optional<JsonId> value(PyObject* value, uint64_t depth) {
    Pause::tick();
    if (depth > max_depth_) return std::nullopt;
    if (value == Py_None) return document_.add(Kind::kNull);
    if (value == Py_True) return document_.add(Kind::kTrue);
    if (value == Py_False) return document_.add(Kind::kFalse);
    if (PyUnicode_CheckExact(value)) {
      const auto found = text(value);
      return found ? std::optional(document_.add_string(*found)) : std::nullopt;
    }
    if (PyLong_CheckExact(value) || PyFloat_CheckExact(value)) return number(value);
    if (!PyDict_CheckExact(value) && !PyList_CheckExact(value)) return std::nullopt;
    const auto place = reinterpret_cast<uintptr_t>(value);
    if (const auto known = known_.find(place)) return JsonId(*known);
    const auto found = PyDict_CheckExact(value) ? object(value, depth) : array(value, depth);
    if (found) {
      known_.insert(place, found->value);
      kept_.push_back(nb::borrow(value));
    }
    return found;
  }

  // nullopt where it has half of a surrogate pair.
  static std::optional<std::string_view> text(PyObject* value) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(value, &size);
    if (data == nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
    return std::string_view(data, static_cast<size_t>(size));
  }

  std::optional<JsonId> number(PyObject* value) {
    if (PyLong_CheckExact(value)) {
      // What fits 64 bits is a number of few enough digits.
      int overflow = 0;
      PyLong_AsLongLongAndOverflow(value, &overflow);
      if (overflow != 0) return std::nullopt;
    } else if (!std::isfinite(PyFloat_AS_DOUBLE(value))) {
      return std::nullopt;
    }
    return document_.add_number(nb::repr(nb::handle(value)).c_str());
  }

  std::optional<JsonId> object(PyObject* value, uint64_t depth) {
    const size_t first = members_.size();
    PyObject *key = nullptr, *held = nullptr;
    const Py_ssize_t size = PyDict_GET_SIZE(value);
    for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &held) != 0;) {
      const nb::object kept_key = nb::borrow(key), kept = nb::borrow(held);
      const auto name = PyUnicode_CheckExact(key) ? text(key) : std::nullopt;
      const auto found = name ? this->value(held, depth + 1) : std::nullopt;
      if (!found || PyDict_GET_SIZE(value) != size) return std::nullopt;
      members_.push_back({document_.key(*name), *found});
    }
    const auto found = document_.add_object(std::span(members_).subspan(first));
    members_.resize(first);
    return found;
  }

  std::optional<JsonId> array(PyObject* value, uint64_t depth) {
    const size_t first = items_.size();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); ++i) {
      const nb::object kept = nb::borrow(PyList_GET_ITEM(value, i));
      const auto found = this->value(kept.ptr(), depth + 1);
      if (!found) return std::nullopt;
      items_.push_back(*found);
    }
    const JsonId found = document_.add_array(std::span(items_).subspan(first));
    items_.resize(first);
    return found;
  }

  uint64_t max_depth_;
  JsonDocument& document_;
  HashTable known_;               // by place
  std::vector<nb::object> kept_;  // these, so that no other has its place
  // Of the objects and arrays that are not read to their ends yet.
  std::vector<JsonDocument::Member> members_;
  std::vector<JsonId> items_;
};

}  // namespace cfgmask
