// Tensors within a text; printing.
#include <cstdio>

#include <fmt/format.h>

#include "backends/cpu/text_kernels.h"
#include "base/log.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// A tensor within a formatted text: up to `ends` elements from both ends of each dimension.
class Summary {
 public:
  Summary(const Tensor& t, int64_t ends) : t_(t), ends_(std::min(ends, t.num_elements())) {}

  std::string text() {
    dimension(0, 0, t_.num_elements());
    return std::move(text_);
  }

 private:
  void element(int64_t i) {
    pace_.step();
    if (is_complex(t_.dtype())) return void(text_ += '?');
    const std::string word = t_.reshaped(Shape{t_.num_elements()}).slice(i, i + 1).summary(1);
    text_ += t_.dtype() == DType::kString ? "\"" + word + "\"" : word;
  }
  void spacing(int d) {
    if (d == t_.rank() - 1) return text_.push_back(' ');
    text_.append(static_cast<size_t>(t_.rank() - d - 1), '\n');
    text_.append(static_cast<size_t>(d + 1), ' ');
  }
  void dimension(int d, int64_t at, int64_t span) {
    if (d == t_.rank()) return element(at);
    const int64_t n = t_.dim(d), each = n ? span / n : 0;
    text_ += '[';
    for (int64_t i = 0; i < std::min(ends_, n); ++i) part(d, i, at + i * each, each);
    if (n > 2 * ends_) {
      spacing(d);
      text_ += "...";
    }
    for (int64_t i = std::max(ends_, n - ends_); i < n; ++i) part(d, i, at + i * each, each);
    text_ += ']';
  }
  void part(int d, int64_t i, int64_t at, int64_t each) {
    if (i > 0) spacing(d);
    dimension(d + 1, at, each);
  }

  const Tensor& t_;
  int64_t ends_;
  std::string text_;
  Pace pace_;
};

struct Format {
  std::vector<std::string> pieces;  // of the template, between the places
  int64_t summarize;
  void operator()(KernelContext& c) const {
    std::string text = pieces[0];
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Tensor& t = c.input(i);
      text += Summary(t, summarize < 0 ? t.num_elements() : summarize).text();
      text += pieces[static_cast<size_t>(i) + 1];
    }
    *c.output(0, Shape{}).data<std::string>() = std::move(text);
  }
};

std::vector<std::string> pieces_of(const std::string& text, const std::string& place) {
  std::vector<std::string> pieces;
  size_t begin = 0;
  for (size_t end; !place.empty() && (end = text.find(place, begin)) != std::string::npos;
       begin = end + place.size())
    pieces.push_back(text.substr(begin, end - begin));
  pieces.push_back(text.substr(begin));
  return pieces;
}

Prepared make_format(const KernelInit& init) {
  Format f{pieces_of(init.attr<std::string>("template"), init.attr<std::string>("placeholder")),
           init.attr<int64_t>("summarize")};
  if (f.pieces.size() != init.input_types.size() + 1)
    throw invalid_argument(fmt::format("num placeholders in template and num inputs must match: {} "
                                       "vs. {}", f.pieces.size() - 1, init.input_types.size()));
  return prepared(std::move(f));
}

// ---- Printing.

void write_to(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

void append_to(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "ab");
  if (!file) throw invalid_argument("Could not open " + path);
  write_to(file, text);
  std::fclose(file);
}

struct PrintV2 {
  std::string stream, end;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 0)
      throw invalid_argument("Input is expected to be scalar, but got " + in.shape().str());
    const std::string text = *in.data<std::string>() + end;
    if (stream == "stdout") write_to(stdout, text);
    else if (stream == "stderr") write_to(stderr, text);
    else if (stream == "log(info)") log_info("{}", text);
    else if (stream == "log(warning)") log_warning("{}", text);
    else if (stream == "log(error)") log_error("{}", text);
    else append_to(stream.substr(7), text);
  }
};

Prepared make_print(const KernelInit& init) {
  const std::string& stream = init.attr<std::string>("output_stream");
  bool known = stream.starts_with("file://");
  for (const char* name : {"stdout", "stderr", "log(info)", "log(warning)", "log(error)"})
    known = known || stream == name;
  if (!known)
    throw invalid_argument("Unknown output stream: " + stream + ", valid streams are: log(info), "
                           "log(warning), log(error), stdout, stderr, file://<filename>");
  return prepared(PrintV2{stream, init.attr<std::string>("end")});
}

}  // namespace

std::vector<KernelRow> string_format_kernels() {
  return {text_row("StringFormat", make_format), text_row("PrintV2", make_print)};
}

}  // namespace emplace::cpu
