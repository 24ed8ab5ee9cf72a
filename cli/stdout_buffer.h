#pragma once
#include <unistd.h>

#include <array>
#include <cerrno>
#include <streambuf>

namespace emplace::cli {

// Puts what is printed on stdout, and remembers why it could not: a stream alone forgets.
class StdoutBuffer final : public std::streambuf {
 public:
  StdoutBuffer() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  int error() const { return error_; }  // an errno; 0: all was written

 private:
  int sync() override {
    for (const char* at = pbase(); at < pptr() && !error_;) {
      const ssize_t n = ::write(STDOUT_FILENO, at, static_cast<size_t>(pptr() - at));
      if (n >= 0) at += n;
      else if (errno != EINTR) error_ = errno;
    }
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return error_ ? -1 : 0;
  }
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

  std::array<char, 1 << 14> bytes_;
  int error_ = 0;
};

}  // namespace emplace::cli
