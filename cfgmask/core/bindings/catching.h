// Callbacks of C libraries, which can raise nothing.
//
// A signal handler may raise at the first instruction of any Python function, before a `try` in it is reached: where
// ctypes calls such a function, it prints the exception and returns to the library, which goes on without what the
// callback had to do. No handler runs between a C function and the Python function that it calls.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "bindings/interpreter.h"

namespace cfgmask {

namespace nb = nanobind;

// Calls a function and gives what it raises to another one.
class Catching {
 public:
  Catching(nb::object function, nb::object on_error) : function_(std::move(function)), on_error_(std::move(on_error)) {}

  void operator()(const nb::args& arguments) const {
    in_python([&] {
      try {
        function_(*arguments);
      } catch (nb::python_error& error) {
        on_error_(error.value(), *arguments);
      }
    });
  }

  // The functions lead to the model that they are the callback of: the collector has to see them.
  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const auto& catching = *nb::inst_ptr<Catching>(self);
    Py_VISIT(catching.function_.ptr());
    Py_VISIT(catching.on_error_.ptr());
    return 0;
  }
  static int clear(PyObject* self) {
    auto& catching = *nb::inst_ptr<Catching>(self);
    catching.function_.reset();
    catching.on_error_.reset();
    return 0;
  }

 private:
  nb::object function_;
  nb::object on_error_;
};

}  // namespace cfgmask
