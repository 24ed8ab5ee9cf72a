#include "data/saved_state.h"

#include <fmt/format.h>

#include <cstring>

#include "data/iterator.h"
#include "data/kernels.h"
#include "format/varint.h"
#include "kernel/encoded_variant.h"

namespace emplace::data {
namespace {

constexpr std::string_view kHead = "emplace iterator 1\n";

Error broken() { return Error(Code::kDataLoss, "An iterator's state is damaged."); }

uint64_t number(std::string_view& in) {
  const auto n = take_varint(in);
  if (!n) throw broken();
  return *n;
}

std::string_view part(std::string_view& in, uint64_t n) {
  if (n > in.size()) throw broken();
  const std::string_view some = in.substr(0, n);
  in.remove_prefix(n);
  return some;
}

void put_tensor(std::string& out, const Tensor& t) {
  out += static_cast<char>(t.dtype());
  put_varint(out, static_cast<uint64_t>(t.rank()));
  for (int64_t d : t.shape().dims()) put_varint(out, static_cast<uint64_t>(d));
  if (t.dtype() == DType::kString) {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      const std::string& s = t.data<std::string>()[i];
      put_varint(out, s.size());
      out += s;
    }
  } else if (is_plain(t.dtype()) && t.has_value()) {
    out.append(static_cast<const char*>(t.raw()), t.bytes());
  } else if (t.has_value()) {
    throw unimplemented(fmt::format("An iterator that holds elements of dtype {} can't be saved",
                                    dtype_name(t.dtype())));
  }
}

Tensor take_tensor(std::string_view& in) {
  const auto dtype = static_cast<DType>(static_cast<uint8_t>(part(in, 1)[0]));
  std::vector<int64_t> dims(std::min<uint64_t>(number(in), in.size()));
  for (int64_t& d : dims) d = static_cast<int64_t>(number(in));
  if (dtype == DType::kInvalid) return {};
  if (dtype != DType::kString && !is_plain(dtype)) throw broken();
  const Shape shape{std::span<const int64_t>(dims)};
  const int64_t n = checked_elements(shape.dims());
  if (static_cast<uint64_t>(n) > in.size()) throw broken();
  Tensor t(dtype, shape);
  if (dtype == DType::kString)
    for (int64_t i = 0; i < n; ++i) t.data<std::string>()[i] = part(in, number(in));
  else if (const std::string_view bytes = part(in, t.bytes()); !bytes.empty())
    std::memcpy(t.raw(), bytes.data(), bytes.size());
  return t;
}

// ---- Kernels.

void serialize(KernelContext& c) {
  const auto it = c.resource<IteratorResource>(0);
  Tensor out(DType::kVariant, Shape{1});
  out.data<Variant>()->value = std::make_shared<EncodedVariant>(state_bytes(it->save()));
  c.set_output(0, std::move(out));
}

void deserialize(KernelContext& c) {
  const Tensor& t = c.input(1);
  const auto* e = t.num_elements() == 1
                      ? dynamic_cast<const EncodedVariant*>(t.data<Variant>()->value.get())
                      : nullptr;
  if (!e) throw invalid_argument("serialized is not an iterator's state");
  KernelScope scope(c.cancellation());
  c.resource<IteratorResource>(0)->restore(scope.calls(), state_from(e->bytes));
}

}  // namespace

std::string state_bytes(const std::vector<Tensor>& state) {
  std::string out(kHead);
  put_varint(out, state.size());
  for (const Tensor& t : state) put_tensor(out, t);
  return out;
}

std::vector<Tensor> state_from(std::string_view in) {
  if (part(in, std::min(in.size(), kHead.size())) != kHead) throw broken();
  const uint64_t n = number(in);
  std::vector<Tensor> state;
  for (uint64_t i = 0; i < n; ++i) state.push_back(take_tensor(in));
  if (!in.empty()) throw broken();
  return state;
}

void add_state_kernels(KernelList& rows) {
  add_row(rows, "SerializeIterator", stateless<serialize>);
  add_row(rows, "DeserializeIterator", stateless<deserialize>);
}

}  // namespace emplace::data
