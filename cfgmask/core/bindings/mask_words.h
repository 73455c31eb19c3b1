// The words of a mask in a caller's array.
//
// Threads: the caller holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
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
           (std::strcmp(buffer_.format, "I") == 0 || std::strcmp(buffer_.format, "i") == 0);
  }
  std::span<uint32_t> words() const {
    return {static_cast<uint32_t*>(buffer_.buf), static_cast<size_t>(buffer_.len) / sizeof(uint32_t)};
  }

 private:
  Py_buffer buffer_{};
  bool held_ = false;
};

}  // namespace cfgmask
