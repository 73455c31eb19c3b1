// Objects of data classes of Python, made without running Python: their constructors took most of the time of reading a
// pattern or the statements of a grammar.
//
// Threads: as of Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>

namespace cfgmask {

namespace nb = nanobind;

// The object that a function of Python's C interface returned. Throws what it raised where that is null.
inline nb::object made(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

// A data class that has neither slots nor `__post_init__`. The fields named here come first; the others keep their
// defaults.
template <size_t N>
class DataClass {
 public:
  template <typename... Names>
  DataClass(nb::handle module, const char* type, Names... fields)
      : type_(module.attr(type)), fields_{nb::steal(PyUnicode_InternFromString(fields))...} {
    static_assert(sizeof...(Names) == N);
  }

  template <typename... Values>
  nb::object operator()(const Values&... values) const {
    static_assert(sizeof...(Values) == N);
    static const nb::handle nothing = PyTuple_New(0);
    auto* type = reinterpret_cast<PyTypeObject*>(type_.ptr());
    const nb::object object = made(PyBaseObject_Type.tp_new(type, nothing.ptr(), nullptr));
    size_t at = 0;
    (set(object, fields_[at++], nb::cast(values)), ...);
    return object;
  }

 private:
  // Where the class is frozen, too.
  static void set(const nb::object& object, const nb::object& field, const nb::object& value) {
    if (PyObject_GenericSetAttr(object.ptr(), field.ptr(), value.ptr()) != 0) throw nb::python_error();
  }

  nb::object type_;
  std::array<nb::object, N> fields_;
};

template <typename... Names>
DataClass(nb::handle, const char*, Names...) -> DataClass<sizeof...(Names)>;

}  // namespace cfgmask
