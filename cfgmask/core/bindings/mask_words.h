// The words of a mask in a caller's array.
//
// Threads: the caller holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace cfgmask {

namespace nb = nanobind;

// A one-dimensional contiguous writable buffer of 32-bit integers, as numpy's arrays have; for as long as it lives.
// Asking for the buffer takes 300 instructions, for the tensor that nanobind makes of an array 1,500: more than a
// remembered mask of a few words costs otherwise.
class WordBuffer {
 public:
  explicit WordBuffer(nb::handle array) {
    if (PyObject_CheckBuffer(array.ptr()) == 0) return;
    held_ = PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_CONTIG | PyBUF_FORMAT) == 0;
    if (!held_) PyErr_Clear();  // another layout, which is for others to refuse
  }
  WordBuffer(const WordBuffer&) = delete;
  WordBuffer& operator=(const WordBuffer&) = delete;
  ~WordBuffer() {
    if (held_) PyBuffer_Release(&buffer_);
  }

  bool holds_words() const {
    return held_ && buffer_.ndim == 1 && buffer_.itemsize == sizeof(uint32_t) && buffer_.format != nullptr &&
           reinterpret_cast<uintptr_t>(buffer_.buf) % alignof(uint32_t) == 0 && is_word(buffer_.format);
  }
  std::span<uint32_t> words() const {
    return {static_cast<uint32_t*>(buffer_.buf), static_cast<size_t>(buffer_.len) / sizeof(uint32_t)};
  }

 private:
  // As ctypes writes it, too: there, the bytes' order is said.
  static bool is_word(const char* format) {
    if (format[0] == (std::endian::native == std::endian::little ? '<' : '>')) ++format;
    return std::strcmp(format, "I") == 0 || std::strcmp(format, "i") == 0;
  }

  Py_buffer buffer_{};
  bool held_ = false;
};

// numpy's own arrays, read by the beginning of their object, which numpy's headers have compiled into every extension
// that uses it since 1.0. Numpy makes a buffer anew each time it is asked for one, which takes longer than to find a
// remembered mask.
class NumpyRows {
 public:
  // The words of a one-dimensional contiguous writable array of 32-bit integers; nullopt for anything else.
  static std::optional<std::span<uint32_t>> words(PyObject* object) {
    if (Py_TYPE(object) != trusted_) return std::nullopt;
    return read(object);
  }
  // `buffer` is what `object` said of itself. Arrays are read as above once one was seen to be laid out like that.
  static void learn(PyObject* object, const WordBuffer& buffer) {
    if (trusted_ != nullptr || !is_array(object)) return;
    const auto words = read(object);
    if (words && words->data() == buffer.words().data() && words->size() == buffer.words().size())
      trusted_ = Py_TYPE(object);
  }

  // Whether an object is of numpy's own type, not of one that is derived from it.
  static bool is_array(PyObject* object) {
    static PyTypeObject* known = nullptr;
    if (known != nullptr) return Py_TYPE(object) == known;
    const nb::object modules = nb::borrow(PyImport_GetModuleDict());
    const nb::object numpy = nb::steal(PyMapping_GetItemString(modules.ptr(), "numpy"));
    if (!numpy.is_valid()) {
      PyErr_Clear();
      return false;
    }
    const nb::object type = nb::getattr(numpy, "ndarray", nb::none());
    if (type.ptr() != reinterpret_cast<PyObject*>(Py_TYPE(object))) return false;
    Py_INCREF(Py_TYPE(object));
    known = Py_TYPE(object);
    return true;
  }

 private:
  struct Descr {
    PyObject head;
    PyTypeObject* type;
    char kind;
    char letter;
    char byte_order;
  };
  struct Array {
    PyObject head;
    char* data;
    int n_dimensions;
    Py_ssize_t* shape;
    Py_ssize_t* strides;
    PyObject* base;
    Descr* descr;
    int flags;
  };
  // NPY_ARRAY_C_CONTIGUOUS, _ALIGNED and _WRITEABLE.
  static constexpr int kPlain = 0x1 | 0x100 | 0x400;

  static std::optional<std::span<uint32_t>> read(PyObject* object) {
    const auto* array = reinterpret_cast<const Array*>(object);
    const Descr& descr = *array->descr;
    const bool is_integer = (descr.kind == 'i' || descr.kind == 'u') && (descr.letter == 'i' || descr.letter == 'I');
    if (!is_integer || descr.byte_order == '>' || descr.byte_order == '<') return std::nullopt;
    if (array->n_dimensions != 1 || (array->flags & kPlain) != kPlain) return std::nullopt;
    return std::span<uint32_t>(reinterpret_cast<uint32_t*>(array->data), static_cast<size_t>(array->shape[0]));
  }

  static inline PyTypeObject* trusted_ = nullptr;
};

}  // namespace cfgmask
