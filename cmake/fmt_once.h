// Included before every source: fmt's formatter is compiled once, in libfmt or, where fmt is headers only (clang), in
// src/base/fmt_once.cc, and not again in each file that calls fmt::join or fmt::format_to (5 s a file, 8 to 15 s under sanitizers).
#pragma once
#include <fmt/core.h>

#if FMT_VERSION >= 90000 && FMT_VERSION < 100000
FMT_BEGIN_NAMESPACE
namespace detail {
extern template void vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                      basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
#endif
