#pragma once
#include <cstring>

namespace emplace {

// What an errno means, in the same words whatever locale the program has set; from any thread.
inline const char* errno_text(int error) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
  if (const char* const text = strerrordesc_np(error)) return text;
#endif
  return std::strerror(error);
}

}  // namespace emplace
