// Numbers as text, and text as numbers.
#include <charconv>
#include <clocale>

#include <fmt/format.h>

#include "backends/cpu/loops.h"
#include "backends/cpu/text_kernels.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

locale_t plain_locale() {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

// While it lives, this thread's printf writes 1.5, whatever locale the program has set.
class PlainNumbers {
 public:
  PlainNumbers() : before_(::uselocale(plain_locale())) {}
  ~PlainNumbers() { ::uselocale(before_); }
  PlainNumbers(const PlainNumbers&) = delete;
  PlainNumbers& operator=(const PlainNumbers&) = delete;

 private:
  locale_t before_;
};

std::string_view stripped(std::string_view s) {
  auto space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!s.empty() && space(s.front())) s.remove_prefix(1);
  while (!s.empty() && space(s.back())) s.remove_suffix(1);
  return s;
}

template <class T>
bool read_number(std::string_view s, T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    // Quickly, what both read alike; strtof reads more: signs, hexadecimal digits, what is too large.
    const auto [stop, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (error == std::errc() && stop == s.data() + s.size()) return true;
    const std::string text(s);
    char* end = nullptr;
    if constexpr (sizeof(T) == 4) value = ::strtof_l(text.c_str(), &end, plain_locale());
    else value = ::strtod_l(text.c_str(), &end, plain_locale());
    return !text.empty() && end == text.c_str() + text.size();
  } else {
    if (s.size() > 1 && s[0] == '+' && s[1] != '-') s.remove_prefix(1);
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    return error == std::errc() && end == s.data() + s.size();
  }
}

void to_number(KernelContext& c) {
  using Targets = Types<float, double, int32_t, int64_t, uint32_t, uint64_t>;
  visit_dtype(c.output_type(0), Targets{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_strings<T>(c, [](const std::string& s) {
      T value{};
      if (!read_number(stripped(s), value))
        throw invalid_argument("StringToNumberOp could not correctly convert string: " + s);
      return value;
    });
  });
}

// ---- Numbers as printf writes them.

class Writer {
 public:
  Writer(const KernelInit& init, DType dtype) : dtype_(dtype) {
    const auto precision = init.attr<int64_t>("precision"), width = init.attr<int64_t>("width");
    const bool scientific = init.attr<bool>("scientific"), shortest = init.attr<bool>("shortest");
    const std::string& fill = init.attr<std::string>("fill");
    const bool floating = is_floating(dtype) || is_complex(dtype);
    if (!floating && dtype != DType::kString)
      refuse_float_options(scientific || shortest, precision);
    if (scientific && shortest)
      throw invalid_argument("Cannot select both scientific and shortest notation");
    if (fill.size() > 1) throw invalid_argument("Fill string must be one or fewer characters");
    if (!fill.empty() && std::string_view(" +-0#").find(fill[0]) == std::string_view::npos)
      throw invalid_argument(fmt::format("Fill argument not supported: \"{}\"", fill));
    constexpr int64_t kMost = 1 << 16;  // of memory for one number
    if (width > kMost || precision > kMost)
      throw invalid_argument(fmt::format("width and precision must be at most {}", kMost));
    if (fill.empty() && width <= 0) {
      plain_ = true;
      precision_ = precision < 0 ? 6 : static_cast<int>(precision);
      style_ = scientific ? std::chars_format::scientific
               : shortest ? std::chars_format::general
                          : std::chars_format::fixed;
    }
    format_ = "%" + fill;
    if (width > -1) format_ += std::to_string(width);
    if (precision > -1) format_ += "." + std::to_string(precision);
    format_ += conversion(scientific, shortest);
  }

  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const {
    return format_ == "%s" ? v : print(v.c_str());
  }
  template <class T>
  requires std::is_integral_v<T> std::string operator()(T v) const {
    using Wide = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
    return print(static_cast<Wide>(v));
  }
  std::string operator()(float v) const { return print(static_cast<double>(v)); }
  std::string operator()(double v) const { return print(v); }
  std::string operator()(Half v) const { return print(static_cast<double>(static_cast<float>(v))); }
  std::string operator()(Bfloat16 v) const {
    return print(static_cast<double>(static_cast<float>(v)));
  }
  template <class R>
  std::string operator()(const std::complex<R>& v) const {
    return "(" + (*this)(v.real()) + "," + (*this)(v.imag()) + ")";
  }

 private:
  void refuse_float_options(bool notation, int64_t precision) const {
    const std::string_view name = dtype_name(dtype_);
    if (notation)
      throw invalid_argument(
          fmt::format("scientific and shortest format not supported for datatype {}", name));
    if (precision >= 0)
      throw invalid_argument(fmt::format("precision not supported for datatype {}", name));
  }
  const char* conversion(bool scientific, bool shortest) const {
    if (dtype_ == DType::kString) return "s";
    if (is_integer(dtype_)) return is_unsigned(dtype_) ? "llu" : "lld";
    return scientific ? "e" : shortest ? "g" : "f";
  }
  // What printf would write, but quicker; printf itself where there is more to say than a number.
  template <class T>
  std::string print(T v) const {
    char some[64];
    if constexpr (std::is_arithmetic_v<T>) {
      if (plain_) {
        std::to_chars_result made;
        if constexpr (std::is_floating_point_v<T>)
          made = std::to_chars(some, some + sizeof some, v, style_, precision_);
        else
          made = std::to_chars(some, some + sizeof some, v);
        if (made.ec == std::errc()) return {some, made.ptr};
      }
    }
    const int size = std::snprintf(some, sizeof some, format_.c_str(), v);
    if (size < static_cast<int>(sizeof some)) return {some, static_cast<size_t>(std::max(0, size))};
    std::string text(static_cast<size_t>(size) + 1, '\0');
    std::snprintf(text.data(), text.size(), format_.c_str(), v);
    text.pop_back();
    return text;
  }

  DType dtype_;
  std::string format_;
  bool plain_ = false;  // neither filled up nor of a width
  std::chars_format style_ = std::chars_format::fixed;
  int precision_ = 6;
};

struct AsString {
  Writer write;
  void operator()(KernelContext& c) const {
    const PlainNumbers plain;
    const Tensor& in = c.input(0);
    Tensor& out = c.output(0, in.shape());
    visit_dtype(in.dtype(), Join<Plain, Types<std::string>>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (const int64_t i : paced(in.num_elements()))
        out.data<std::string>()[i] = write(in.data<T>()[i]);
    });
  }
};
Prepared make_as_string(const KernelInit& i) { return prepared(AsString{Writer(i, i.type("T"))}); }

}  // namespace

std::vector<KernelRow> string_number_kernels() {
  return {text_row("StringToNumber", stateless<to_number>),
          {"AsString", "CPU", {{"T", Join<Plain, Types<std::string>>::dtypes()}}, {},
           make_as_string, {}, 0, ""}};
}

}  // namespace emplace::cpu
