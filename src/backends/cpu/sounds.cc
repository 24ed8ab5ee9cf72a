// Sounds: WAV files, spectrograms and what speech models make of them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "backends/cpu/codecs.h"
#include "backends/cpu/fourier.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/stop.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// ---- WAV files with 16-bit samples.

class WavReader {
 public:
  explicit WavReader(std::string_view bytes) : s_(bytes) {}

  void read() {
    expect("RIFF");
    take<uint32_t>();
    expect("WAVE");
    expect("fmt ");
    const auto size = take<uint32_t>();
    if (size != 16 && size != 18 && size != 40)
      bad(fmt::format("Bad format chunk size for WAV: Expected 16, 18 or 40, but got {}", size));
    format(size);
    while (at_ < s_.size()) {
      const std::string_view name = bytes(4);
      const auto length = take<uint32_t>();
      if (name == "data") {
        data = bytes(length);
        found_ = true;
      } else {
        bytes(length);
      }
    }
    if (!found_) bad("Bad WAV data: no data chunk");
  }

  uint16_t channels = 0;
  uint32_t rate = 0;
  std::string_view data;

 private:
  [[noreturn]] static void bad(const std::string& why) { throw invalid_argument(why); }
  std::string_view bytes(size_t n) {
    if (s_.size() - at_ < n) bad(fmt::format("Data too short when trying to read string"));
    at_ += n;
    return s_.substr(at_ - n, n);
  }
  template <class T>
  T take() {
    T v;
    std::memcpy(&v, bytes(sizeof v).data(), sizeof v);
    return v;
  }
  void expect(std::string_view name) {
    const std::string_view got = bytes(4);
    if (got != name) bad(fmt::format("Header mismatch: Expected {} but found {}", name, got));
  }
  void format(uint32_t size) {
    const auto kind = take<uint16_t>();
    channels = take<uint16_t>();
    rate = take<uint32_t>();
    const auto bytes_a_second = take<uint32_t>();
    const auto frame = take<uint16_t>(), bits = take<uint16_t>();
    bytes(size - 16);
    if (kind != 1 && kind != 0xfffe)
      bad(fmt::format("Bad audio format for WAV: Expected 1 (PCM), but got {}", kind));
    if (channels == 0) bad("Bad channel count for WAV");
    if (bits != 16) bad(fmt::format("Can only read 16-bit WAV files, but received {}", bits));
    if (frame != channels * 2 || bytes_a_second != rate * frame)
      bad("Bad bytes per sample in WAV header");
  }

  std::string_view s_;
  size_t at_ = 0;
  bool found_ = false;
};

struct DecodeWav {
  int64_t channels, samples;  // -1: what the file has
  void operator()(KernelContext& c) const {
    const Tensor& contents = c.input(0);
    if (contents.num_elements() != 1) throw invalid_argument("contents must be scalar");
    WavReader wav(contents.data<std::string>()[0]);
    wav.read();
    const int64_t in_file = static_cast<int64_t>(wav.data.size()) / (2 * wav.channels);
    const int64_t depth = channels == -1 ? wav.channels : channels;
    const int64_t length = samples == -1 ? in_file : samples;
    float* to = c.output(0, Shape{length, depth}).data<float>();
    for (const int64_t i : paced(length))
      for (int64_t k = 0; k < depth; ++k, ++to) {
        int16_t v = 0;
        const int64_t from = std::min<int64_t>(k, wav.channels - 1);
        if (i < in_file) std::memcpy(&v, wav.data.data() + (i * wav.channels + from) * 2, 2);
        *to = static_cast<float>(v) / 32768.0f;
      }
    *c.output(1, Shape{}).data<int32_t>() = static_cast<int32_t>(wav.rate);
  }
};
Prepared make_decode_wav(const KernelInit& i) {
  const DecodeWav d{i.attr<int64_t>("desired_channels"), i.attr<int64_t>("desired_samples")};
  if (d.channels < -1 || d.channels == 0 || d.channels > 65535 || d.samples < -1)
    throw invalid_argument("desired_channels and desired_samples must be positive, or -1");
  return prepared(d);
}

template <class T>
void put(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

void wav_file(KernelContext& c) {
  const Tensor& audio = c.input(0);
  if (audio.rank() != 2)
    throw invalid_argument(
        fmt::format("audio must be 2-dimensional, but got shape {}", audio.shape().str()));
  const int64_t rate = int_scalar(c.input(1), "sample_rate");
  std::string out = encode_wav(audio.data<float>(), audio.dim(0), audio.dim(1), rate);
  c.output(0, Shape{}).data<std::string>()[0] = std::move(out);
}

// ---- Spectrograms.

struct Spectrogram {
  int64_t window, stride;
  bool squared;

  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 2)
      throw invalid_argument(fmt::format("input must be 2-dimensional, got {}", in.shape().str()));
    const int64_t length = in.dim(0), channels = in.dim(1);
    const int64_t frames = length < window ? 0 : 1 + (length - window) / stride;
    const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(window)));
    Tensor& out = c.output(0, Shape{channels, frames, 1 + size / 2});
    if (out.num_elements() == 0) return;
    const auto fourier = Fourier<double>::of(size);
    std::vector<std::complex<double>> values(static_cast<size_t>(size));
    std::vector<double> work, weights(static_cast<size_t>(window));
    for (int64_t i = 0; i < window; ++i) weights[static_cast<size_t>(i)] = hann(i);
    float* to = out.data<float>();
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t frame = 0; frame < frames; ++frame) {
        stop_if_cancelled(c);
        std::fill(values.begin(), values.end(), 0.0);
        for (int64_t i = 0; i < window; ++i)
          values[static_cast<size_t>(i)] =
              weights[static_cast<size_t>(i)] *
              static_cast<double>(in.data<float>()[(frame * stride + i) * channels + channel]);
        fourier->some({values.data(), 0, 1}, {values.data(), 0, 1}, 1, false, work);
        for (int64_t i = 0; i <= size / 2; ++i) {
          const auto power = static_cast<float>(std::norm(values[static_cast<size_t>(i)]));
          *to++ = squared ? power : std::sqrt(power);
        }
      }
  }
  double hann(int64_t i) const {
    return 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                static_cast<double>(window));
  }
};
Prepared make_spectrogram(const KernelInit& i) {
  const Spectrogram s{i.attr<int64_t>("window_size"), i.attr<int64_t>("stride"),
                      i.attr<bool>("magnitude_squared")};
  if (s.window < 2 || s.window > (1 << 24))
    throw invalid_argument(fmt::format("window_size must be at least 2, got {}", s.window));
  if (s.stride < 1)
    throw invalid_argument(fmt::format("stride must be strictly positive, got {}", s.stride));
  return prepared(s);
}

// ---- Coefficients of the mel scale.

double mel(double frequency) { return 1127.0 * std::log1p(frequency / 700.0); }

// Triangular filters, evenly apart on the mel scale.
class MelFilters {
 public:
  MelFilters(int64_t bins, double rate, int64_t channels, double low, double high)
      : channels_(channels), weights_(static_cast<size_t>(bins)), band_(static_cast<size_t>(bins)) {
    const double mel_low = mel(low),
                 spacing = (mel(high) - mel_low) / static_cast<double>(channels + 1);
    std::vector<double> centers(static_cast<size_t>(channels) + 1);
    for (size_t i = 0; i < centers.size(); ++i)
      centers[i] = mel_low + spacing * static_cast<double>(i + 1);
    const double hz = 0.5 * rate / static_cast<double>(bins - 1);
    first_ = static_cast<int64_t>(std::min(1.5 + low / hz, 1e15));
    last_ = std::min(static_cast<int64_t>(std::min(high / hz, 1e15)), bins - 1);
    int64_t channel = 0;
    for (int64_t i = first_; i <= last_; ++i) {
      const double m = mel(static_cast<double>(i) * hz);
      while (channel < channels && centers[static_cast<size_t>(channel)] < m) ++channel;
      const auto at = static_cast<size_t>(i);
      band_[at] = channel - 1;
      const double above = centers[static_cast<size_t>(channel)];
      const double below = channel > 0 ? centers[static_cast<size_t>(channel - 1)] : mel_low;
      weights_[at] = (above - m) / (above - below);
    }
  }
  void apply(const float* power, std::vector<double>& out) const {
    std::fill(out.begin(), out.end(), 0.0);
    for (int64_t i = first_; i <= last_; ++i) {
      const double value = std::sqrt(static_cast<double>(power[i]));
      const double part = value * weights_[static_cast<size_t>(i)];
      const int64_t channel = band_[static_cast<size_t>(i)];
      if (channel >= 0) out[static_cast<size_t>(channel)] += part;
      if (channel + 1 < channels_) out[static_cast<size_t>(channel + 1)] += value - part;
    }
  }

 private:
  int64_t channels_, first_ = 0, last_ = -1;
  std::vector<double> weights_;
  std::vector<int64_t> band_;
};

struct Mfcc {
  float high, low;
  int64_t channels, coefficients;

  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 3)
      throw invalid_argument(
          fmt::format("spectrogram must be 3-dimensional, got {}", in.shape().str()));
    const int64_t rate = int_scalar(c.input(1), "sample_rate"), bins = in.dim(2);
    if (bins < 2 || rate <= 0)
      throw invalid_argument(fmt::format(
          "Mfcc initialization failed for channel count {}, sample rate {}", bins, rate));
    const MelFilters filters(bins, static_cast<double>(rate), channels, static_cast<double>(low),
                             static_cast<double>(high));
    const std::vector<double> cosines = transform();
    Tensor& out = c.output(0, Shape{in.dim(0), in.dim(1), coefficients});
    std::vector<double> bands(static_cast<size_t>(channels));
    float* to = out.data<float>();
    for (const int64_t frame : paced(in.dim(0) * in.dim(1))) {
      filters.apply(in.data<float>() + frame * bins, bands);
      for (double& b : bands) b = std::log(b < kFloor ? kFloor : b);
      for (int64_t i = 0; i < coefficients; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < channels; ++j)
          sum += cosines[static_cast<size_t>(i * channels + j)] * bands[static_cast<size_t>(j)];
        *to++ = static_cast<float>(sum);
      }
    }
  }

 private:
  static constexpr double kFloor = 1e-12;
  std::vector<double> transform() const {
    std::vector<double> cosines;
    const auto n = static_cast<double>(channels);
    for (int64_t i = 0; i < coefficients; ++i)
      for (int64_t j = 0; j < channels; ++j)
        cosines.push_back(std::sqrt(2.0 / n) * std::cos(static_cast<double>(i) * std::numbers::pi /
                                                        n * (static_cast<double>(j) + 0.5)));
    return cosines;
  }
};
Prepared make_mfcc(const KernelInit& i) {
  const Mfcc m{i.attr<float>("upper_frequency_limit"), i.attr<float>("lower_frequency_limit"),
               i.attr<int64_t>("filterbank_channel_count"),
               i.attr<int64_t>("dct_coefficient_count")};
  if (m.channels < 1 || m.channels > (1 << 16) || m.coefficients < 1 ||
      m.coefficients > m.channels || !(m.low >= 0) || !(m.high > m.low) || !std::isfinite(m.high))
    throw invalid_argument(
        "Mfcc: frequency limits and counts must be positive, with no more "
        "coefficients than channels");
  return prepared(m);
}

}  // namespace

std::vector<KernelRow> sound_kernels() {
  return {row("DecodeWav", make_decode_wav), row("EncodeWav", stateless<wav_file>),
          row("AudioSpectrogram", make_spectrogram), row("Mfcc", make_mfcc)};
}

std::string encode_wav(const float* samples, int64_t frames, int64_t channels, int64_t rate) {
  if (channels <= 0 || channels > 65535)
    throw invalid_argument(fmt::format("Channels must be between 1 and 65535, got {}", channels));
  if (rate <= 0 || rate > INT32_MAX / 2 / channels)
    throw invalid_argument("sample_rate must be positive");
  if (frames == 0) throw invalid_argument("num_frames must be positive.");
  const int64_t bytes = frames * channels * 2;
  if (bytes > (int64_t{1} << 31))
    throw invalid_argument("Provided channels and frames cannot be encoded as a WAV.");
  std::string out = "RIFF";
  put(out, static_cast<uint32_t>(36 + bytes));
  out += "WAVEfmt ";
  put(out, uint32_t{16});
  put(out, uint16_t{1});
  put(out, static_cast<uint16_t>(channels));
  put(out, static_cast<uint32_t>(rate));
  put(out, static_cast<uint32_t>(rate * channels * 2));
  put(out, static_cast<uint16_t>(channels * 2));
  put(out, uint16_t{16});
  out += "data";
  put(out, static_cast<uint32_t>(bytes));
  for (const int64_t i : paced(frames * channels)) {
    const float v = std::round(samples[i] * 32768.0f);
    put(out, static_cast<int16_t>(v >= -32768.0f ? std::min(v, 32767.0f) : -32768.0f));
  }
  return out;
}

}  // namespace emplace::cpu
