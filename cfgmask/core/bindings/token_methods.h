// Methods that are called once for each token.
//
// nanobind looks at each call for the overload that takes its arguments, and makes objects of them: half a microsecond
// here, as long as a remembered mask takes. So these are methods of Python's own making, with one argument each.
//
// Threads: the caller holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <exception>
#include <string>

#include "util/limits.h"

namespace cfgmask {

namespace nb = nanobind;

// Sets Python's error to the exception in flight; null.
inline PyObject* python_error_in_flight(void (*raise_limit)(const LimitExceeded&)) noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const nb::builtin_exception& e) {
    PyErr_SetString(e.type() == nb::exception_type::value_error ? PyExc_ValueError : PyExc_TypeError, e.what());
  } catch (const LimitExceeded& e) {
    raise_limit(e);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

// The argument of a call with one, by place or by name.
inline nb::handle only_argument(PyObject* const* arguments, Py_ssize_t n, PyObject* names, const char* name) {
  if (n == 1 && names == nullptr) return arguments[0];
  const bool by_name = n == 0 && names != nullptr && PyTuple_GET_SIZE(names) == 1 &&
                       PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), name) == 0;
  if (by_name) return arguments[0];
  throw nb::type_error((std::string("one argument is needed: ") + name).c_str());
}

template <class Self>
Self& self_of(PyObject* self) {
  if (!nb::inst_ready(self)) throw nb::type_error("this object was never initialised");
  return *nb::inst_ptr<Self>(self);
}

}  // namespace cfgmask
