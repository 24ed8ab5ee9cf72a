// Characters in and out of strings.
#include <algorithm>

#include "backends/cpu/move.h"
#include "backends/cpu/text_kernels.h"
#include "backends/cpu/utf.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// What is done with text that is not well formed.
class Mending {
 public:
  explicit Mending(const KernelInit& init)
      : errors_(init.attr<std::string>("errors")),
        replacement_(init.attr<int64_t>("replacement_char")) {
    if (!is_code_point(replacement_))
      throw invalid_argument("replacement_char out of unicode codepoint range");
    const AttrValue* controls = init.find("replace_control_characters");
    replace_controls_ = controls && controls->as<bool>();
  }
  // False: leave the character out.
  bool operator()(CodePoint& p) const {
    const bool control = replace_controls_ && p.value >= 0 && p.value <= 0x1f;
    if (p.value >= 0 && !control) return true;
    if (!control && errors_ == "strict")
      throw invalid_argument("Invalid formatting on input string");
    if (!control && errors_ == "ignore") return false;
    p.value = static_cast<int32_t>(replacement_);
    return true;
  }
  bool strict() const { return errors_ == "strict"; }

 private:
  std::string errors_;
  int64_t replacement_;
  bool replace_controls_ = false;
};

std::vector<CodePoint> mended(std::string_view text, Encoding encoding, const Mending& mend) {
  std::vector<CodePoint> points = decode(text, encoding);
  std::erase_if(points, [&](CodePoint& p) { return !mend(p); });
  return points;
}

struct Decode {
  Encoding encoding;
  Mending mend;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    std::vector<CodePoint> all;
    Tensor& splits = c.output(0, Shape{in.num_elements() + 1});
    put_int(splits, 0, 0);
    for (const int64_t i : paced(in.num_elements())) {
      const auto points = mended(in.data<std::string>()[i], encoding, mend);
      all.insert(all.end(), points.begin(), points.end());
      put_int(splits, i + 1, static_cast<int64_t>(all.size()));
    }
    const auto n = static_cast<int64_t>(all.size());
    Tensor& values = c.output(1, Shape{n});
    for (size_t i = 0; i < all.size(); ++i) values.data<int32_t>()[i] = all[i].value;
    if (c.num_outputs() < 3) return;
    Tensor& starts = c.output(2, Shape{n});
    for (size_t i = 0; i < all.size(); ++i) starts.data<int64_t>()[i] = all[i].begin;
  }
};
Prepared make_decode(const KernelInit& i) {
  return prepared(Decode{encoding_named(i.attr<std::string>("input_encoding")), Mending(i)});
}

struct Transcode {
  Encoding from, to;
  Mending mend;
  void operator()(KernelContext& c) const {
    map_strings<std::string>(c, [&](const std::string& s) {
      std::string text;
      for (const CodePoint& p : mended(s, from, mend)) append(text, p.value, to);
      return text;
    });
  }
};
Prepared make_transcode(const KernelInit& i) {
  return prepared(Transcode{encoding_named(i.attr<std::string>("input_encoding")),
                            encoding_named(i.attr<std::string>("output_encoding")), Mending(i)});
}

struct Encode {
  Encoding encoding;
  Mending mend;
  void operator()(KernelContext& c) const {
    const Tensor &values = c.input(0), &ends = c.input(1);
    const auto splits = int_values(ends);
    check(values, splits);
    Tensor& out = c.output(0, Shape{static_cast<int64_t>(splits.size()) - 1});
    for (const size_t i : paced(splits.size() - 1)) {
      std::string text;
      for (int64_t k = splits[i]; k < splits[i + 1]; ++k) {
        CodePoint p{values.data<int32_t>()[k], k};
        if (!is_code_point(p.value)) {
          if (mend.strict())
            throw invalid_argument("Code point is out of range for Unicode, or is a surrogate.");
          p.value = -1;
        }
        if (mend(p)) append(text, p.value, encoding);
      }
      out.data<std::string>()[i] = std::move(text);
    }
  }
  static void check(const Tensor& values, const std::vector<int64_t>& splits) {
    if (splits.empty())
      throw invalid_argument("Input_splits should contain elements, but given input_values has 0 "
                             "elements");
    if (splits.front() != 0) throw invalid_argument("First value in input_splits must be zero.");
    if (splits.back() != values.num_elements())
      throw invalid_argument("Last value in input_splits must be equal to length of input_tensor.");
    for (size_t i = 1; i < splits.size(); ++i)
      if (splits[i] < splits[i - 1])
        throw invalid_argument("Values in input_splits must be equal or in ascending order.");
  }
};
Prepared make_encode(const KernelInit& i) {
  return prepared(Encode{encoding_named(i.attr<std::string>("output_encoding")), Mending(i)});
}

// ---- Scripts.

// Sorted: the first code point of each run << 8 | its script.
constexpr uint32_t kScripts[] = {
#include "backends/cpu/scripts.inc"
};

int32_t script_of(int32_t point) {
  if (point < 0 || point > 0x10ffff) return -1;
  const uint32_t last = static_cast<uint32_t>(point) << 8 | 0xff;
  return static_cast<int32_t>(*(std::ranges::upper_bound(kScripts, last) - 1) & 0xff);
}

void scripts(KernelContext& c) {
  const Tensor& in = c.input(0);
  std::ranges::transform(in.values<int32_t>(), c.output(0, in.shape()).data<int32_t>(), script_of);
}

}  // namespace

std::vector<KernelRow> unicode_kernels() {
  return {text_row("UnicodeScript", stateless<scripts>),
          text_row("UnicodeDecode", make_decode), text_row("UnicodeDecodeWithOffsets", make_decode),
          text_row("UnicodeTranscode", make_transcode), text_row("UnicodeEncode", make_encode)};
}

}  // namespace emplace::cpu
