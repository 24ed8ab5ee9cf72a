// Included before every source: fmt's formatter, which sits compiled in libfmt, is not compiled again
// in each file that calls fmt::join or fmt::format_to (5 s a file, 15 s under sanitizers).
#pragma once
#include <fmt/core.h>

#if FMT_VERSION >= 90000 && FMT_VERSION < 100000 && !defined(FMT_HEADER_ONLY)
FMT_BEGIN_NAMESPACE
namespace detail {
extern template void vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                      basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
#endif
