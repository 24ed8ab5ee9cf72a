#include "format/media_summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "emplace/proto/event.pb.h"
#include "graph/tensor_proto.h"

namespace emplace {
namespace {

MediaFiles files;  // set before anything runs

const std::string& only_tag(const Tensor& tag, const char* complaint) {
  if (tag.rank() != 0) throw invalid_argument(complaint);
  return *tag.data<std::string>();
}

// "x/image" when one may come, "x/image/0" when several may.
std::string numbered(const std::string& tag, const char* kind, int64_t most, int64_t i) {
  return most > 1 ? fmt::format("{}/{}/{}", tag, kind, i) : fmt::format("{}/{}", tag, kind);
}

void set_message(KernelContext& c, const proto::Summary& message) {
  c.set_output(0, Tensor::string(message.SerializeAsString()));
}

template <class T>
std::vector<double> doubles(const Tensor& t, int64_t first, int64_t count) {
  std::vector<double> out(static_cast<size_t>(count));
  std::transform(t.data<T>() + first, t.data<T>() + first + count, out.begin(), [](T v) {
    if constexpr (std::is_same_v<T, Half>) return static_cast<double>(static_cast<float>(v));
    else return static_cast<double>(v);
  });
  return out;
}

std::vector<double> doubles_of(const Tensor& t, int64_t first, int64_t count) {
  if (t.dtype() == DType::kHalf) return doubles<Half>(t, first, count);
  if (t.dtype() == DType::kDouble) return doubles<double>(t, first, count);
  return doubles<float>(t, first, count);
}

// What arithmetic of `dtype` makes of a result.
double rounded(double v, DType dtype) {
  if (dtype == DType::kDouble) return v;
  const auto single = static_cast<float>(v);
  return dtype == DType::kHalf ? static_cast<float>(static_cast<Half>(single)) : single;
}

struct ImageSummary {
  int64_t most;
  std::vector<uint8_t> bad;

  void operator()(KernelContext& c) const {
    const std::string& tag = only_tag(c.input(0), "Tags must be a scalar");
    const Tensor& t = c.input(1);
    if (t.rank() != 4 || (t.dim(3) != 1 && t.dim(3) != 3 && t.dim(3) != 4))
      throw invalid_argument(fmt::format("Tensor must be 4-D with last dim 1, 3, or 4, not {}",
                                         t.shape().str()));
    if (t.dim(1) > INT32_MAX || t.dim(2) > INT32_MAX || t.dim(1) * t.dim(2) > INT32_MAX)
      throw invalid_argument(fmt::format("Tensor too large for summary {}", t.shape().str()));
    if (static_cast<int64_t>(bad.size()) < t.dim(3))
      throw invalid_argument(fmt::format("expected depth <= bad_color.size, got depth = {}, "
                                         "bad_color.size = {}",
                                         t.dim(3), bad.size()));
    proto::Summary message;
    for (int64_t i = 0; i < std::min(most, t.dim(0)); ++i) {
      proto::Summary::Value& value = *message.add_value();
      value.set_tag(numbered(tag, "image", most, i));
      describe(t, i, *value.mutable_image());
    }
    set_message(c, message);
  }

  void describe(const Tensor& t, int64_t i, proto::Summary::Image& image) const {
    const int64_t pixels = t.dim(1) * t.dim(2), values = pixels * t.dim(3);
    image.set_height(static_cast<int32_t>(t.dim(1)));
    image.set_width(static_cast<int32_t>(t.dim(2)));
    image.set_colorspace(static_cast<int32_t>(t.dim(3)));
    if (values == 0) return;
    const auto file = [&](const uint8_t* bytes) {
      image.set_encoded_image_string(files.png(bytes, t.dim(1), t.dim(2), t.dim(3)));
    };
    if (t.dtype() == DType::kUint8) return file(t.data<uint8_t>() + i * values);
    const std::vector<double> numbers = doubles_of(t, i * values, values);
    const std::string bytes = as_pixels(numbers, t.dim(3), t.dtype(), bad.data());
    file(reinterpret_cast<const uint8_t*>(bytes.data()));
  }
};

Prepared make_image_summary(const KernelInit& init) {
  const Tensor& bad = init.attr<Tensor>("bad_color");
  if (bad.dtype() != DType::kUint8)
    throw invalid_argument(fmt::format("bad_color must be uint8, got {}", dtype_name(bad.dtype())));
  if (bad.rank() != 1)
    throw invalid_argument(fmt::format("bad_color must be vector, got shape {}", bad.shape().str()));
  return prepared(ImageSummary{init.attr<int64_t>("max_images"),
                               {bad.data<uint8_t>(), bad.data<uint8_t>() + bad.num_elements()}});
}

struct AudioSummary {
  int64_t most;

  void operator()(KernelContext& c) const {
    const std::string& tag = only_tag(c.input(0), "Tag must be a scalar");
    const Tensor &t = c.input(1), &rate = c.input(2);
    if (t.rank() != 2 && t.rank() != 3)
      throw invalid_argument(fmt::format("Tensor must be 3-D or 2-D, got: {}", t.shape().str()));
    if (rate.rank() != 0)
      throw invalid_argument(fmt::format("sample_rate must be rank-0, got: {}", rate.shape().str()));
    const float hertz = *rate.data<float>();
    if (!(hertz > 0) || hertz > 1e9f) throw invalid_argument("sample_rate must be > 0");
    const int64_t frames = t.dim(1), channels = t.rank() == 2 ? 1 : t.dim(2);
    proto::Summary message;
    for (int64_t i = 0; i < std::min(most, t.dim(0)); ++i) {
      proto::Summary::Value& value = *message.add_value();
      value.set_tag(numbered(tag, "audio", most, i));
      proto::Summary::Audio& audio = *value.mutable_audio();
      audio.set_sample_rate(hertz);
      audio.set_num_channels(channels);
      audio.set_length_frames(frames);
      audio.set_content_type("audio/wav");
      audio.set_encoded_audio_string(files.wav(t.data<float>() + i * frames * channels, frames,
                                               channels, static_cast<int64_t>(hertz)));
    }
    set_message(c, message);
  }
};

Prepared make_audio_summary(const KernelInit& init) {
  return prepared(AudioSummary{init.attr<int64_t>("max_outputs")});
}

// TensorFlow keeps the bytes of values, and texts one by one.
void put_tensor(const Tensor& t, proto::Summary::Value& value) {
  to_whole_proto(t, value.mutable_tensor());
}

void tensor_summary(KernelContext& c) {
  proto::Summary message;
  proto::Summary::Value& value = *message.add_value();
  value.set_node_name(std::string(c.node()));
  put_tensor(c.input(0), value);
  set_message(c, message);
}

void tagged_tensor_summary(KernelContext& c) {
  proto::Summary message;
  proto::Summary::Value& value = *message.add_value();
  value.set_tag(only_tag(c.input(0), "tag must be scalar"));
  if (!value.mutable_metadata()->ParseFromString(
          only_tag(c.input(2), "serialized_summary_metadata must be scalar")))
    throw invalid_argument("serialized_summary_metadata is no SummaryMetadata");
  put_tensor(c.input(1), value);
  set_message(c, message);
}

}  // namespace

std::string as_pixels(std::span<const double> values, int64_t channels, DType dtype,
                      const uint8_t* bad) {
  const auto pixel = [&](size_t p) {
    return values.subspan(p * static_cast<size_t>(channels), static_cast<size_t>(channels));
  };
  const auto finite = [&](size_t p) {
    return std::ranges::all_of(pixel(p), [](double v) { return std::isfinite(v); });
  };
  const size_t pixels = values.size() / static_cast<size_t>(channels);
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (size_t p = 0; p < pixels; ++p)
    if (finite(p))
      for (const double v : pixel(p))
        low = std::min(low, static_cast<float>(v)), high = std::max(high, static_cast<float>(v));
  constexpr float kNothing = 1e-6f;
  const bool has_negative = low < 0;
  const float most = has_negative ? std::max(std::abs(low), std::abs(high)) : high;
  const double scale = rounded(most < kNothing ? 0.f : (has_negative ? 127.f : 255.f) / most, dtype);
  const double offset = has_negative ? 128 : 0;
  std::string out;
  for (size_t p = 0; p < pixels; ++p) {
    const bool good = finite(p);
    for (size_t k = 0; k < static_cast<size_t>(channels); ++k) {
      const double v = good ? rounded(rounded(pixel(p)[k] * scale, dtype) + offset, dtype) : bad[k];
      out.push_back(static_cast<char>(static_cast<uint8_t>(std::clamp(v, 0., 255.))));
    }
  }
  return out;
}

void register_media_summary_kernels(KernelRegistry& r, MediaFiles how) {
  files = how;
  const auto add = [&](const char* op, KernelFactory make) {
    r.add({op, "CPU", {}, {}, make, {}, 0, {}});
  };
  if (files.png) add("ImageSummary", make_image_summary);
  add("AudioSummaryV2", make_audio_summary);
  add("TensorSummary", stateless<tensor_summary>);
  add("TensorSummaryV2", stateless<tagged_tensor_summary>);
}

}  // namespace emplace
