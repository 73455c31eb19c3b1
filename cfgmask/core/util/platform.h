// What compilers and systems spell differently. Everything else in the core is standard C++20.
#pragma once

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <xmmintrin.h>
#endif
#ifndef _WIN32
#include <pthread.h>
#endif

namespace cfgmask {

// Asks for the memory at `address`, which is about to be written. A hint: `address` may lie beyond what is allocated.
inline void prefetch_to_write([[maybe_unused]] const char* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 1);
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
  _mm_prefetch(address, _MM_HINT_T0);
#endif
}

// From now on calls f() in each child that `fork` makes, before `fork` returns there. Windows has no `fork`.
// Returns 0, or an error number if there is no memory for it.
inline int call_in_forked_children([[maybe_unused]] void (*f)()) {
#ifdef _WIN32
  return 0;
#else
  return pthread_atfork(nullptr, nullptr, f);
#endif
}

}  // namespace cfgmask
