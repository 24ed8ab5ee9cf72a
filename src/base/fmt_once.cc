// The one place of fmt's formatter where fmt is headers only: cmake/fmt_once.h.
#include <fmt/format.h>

#if FMT_VERSION >= 90000 && FMT_VERSION < 100000 && defined(FMT_HEADER_ONLY)
FMT_BEGIN_NAMESPACE
namespace detail {
template void vformat_to<char>(buffer<char>&, basic_string_view<char>,
                               basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
#endif
