// Included before every source: fmt's formatter (5 s a file, 15 s under sanitizers) is compiled once,
// in libfmt or, where fmt is headers only (clang), in src/base/fmt_once.cc.
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
