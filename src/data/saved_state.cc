#include "data/saved_state.h"

#include <fmt/format.h>

#include <cstring>

#include "data/external_state.h"
#include "data/iterator.h"
#include "data/kernels.h"
#include "data/listed.h"
#include "format/varint.h"
#include "kernel/composite_values.h"
#include "kernel/encoded_variant.h"
#include "kernel/optional_value.h"
#include "session/local_devices.h"

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

void put_tensor(std::string& out, const Tensor& t);
Tensor take_tensor(std::string_view& in);

void put_element(std::string& out, const std::vector<Tensor>& e) {
  put_varint(out, e.size());
  for (const Tensor& t : e) put_tensor(out, t);
}

std::vector<Tensor> take_element(std::string_view& in) {
  std::vector<Tensor> e(std::min<uint64_t>(number(in), in.size()));
  for (Tensor& t : e) t = take_tensor(in);
  return e;
}

// ---- Values of DT_VARIANT that elements are made of.

enum Kind : char { kNothing, kEncoded, kWindow, kOptional, kSparsePart, kRagged };

void put_window(std::string& out, const ListedDataset& d) {
  put_varint(out, d.spec().types.size());
  for (const DType t : d.spec().types) out += static_cast<char>(t);
  put_varint(out, d.elements().size());
  for (const Element& e : d.elements()) put_element(out, e);
}

// Its shapes are those of its elements.
std::shared_ptr<Dataset> take_window(std::string_view& in) {
  Dataset::Spec spec{"WindowDataset", "", {}, {}};
  spec.types.resize(std::min<uint64_t>(number(in), in.size()));
  for (DType& t : spec.types) t = static_cast<DType>(static_cast<uint8_t>(part(in, 1)[0]));
  spec.shapes.assign(spec.types.size(), Shape::unknown());
  std::vector<Element> elements(std::min<uint64_t>(number(in), in.size()));
  for (Element& e : elements) e = take_element(in);
  return std::make_shared<ListedDataset>(std::move(spec), std::move(elements));
}

void put_variant(std::string& out, const VariantValue* v) {
  if (!v) {
    out += kNothing;
  } else if (const auto* e = dynamic_cast<const EncodedVariant*>(v)) {
    out += kEncoded;
    put_varint(out, e->bytes.size());
    out += e->bytes;
  } else if (const auto* d = dynamic_cast<const ListedDataset*>(v)) {
    out += kWindow;
    put_window(out, *d);
  } else if (const auto* o = dynamic_cast<const OptionalValue*>(v)) {
    out += kOptional;
    out += static_cast<char>(o->present);
    put_element(out, o->values);
  } else if (const auto* p = dynamic_cast<const SparsePart*>(v)) {
    out += kSparsePart;
    put_tensor(out, p->tensor);
  } else if (const auto* r = dynamic_cast<const RaggedValue*>(v)) {
    out += kRagged;
    put_varint(out, r->nested.size());
    for (const auto& splits : r->nested) put_tensor(out, Tensor::vector<int64_t>(splits));
    put_tensor(out, r->values);
  } else {
    throw unimplemented(
        fmt::format("An iterator that holds values of type {} can't be saved", v->type_name()));
  }
}

std::shared_ptr<VariantValue> take_ragged(std::string_view& in) {
  std::vector<RaggedValue::Splits> nested(std::min<uint64_t>(number(in), in.size()));
  for (auto& splits : nested) {
    const Tensor t = take_tensor(in);
    if (t.dtype() != DType::kInt64) throw broken();
    const auto values = t.values<int64_t>();
    splits.assign(values.begin(), values.end());
  }
  return std::make_shared<RaggedValue>(std::move(nested), take_tensor(in));
}

// Values within values, no deeper than programs make them: what is read may be
// anything.
struct Depth {
  Depth() {
    if (now == 32) throw broken();
    ++now;
  }
  ~Depth() { --now; }
  static thread_local int now;
};
thread_local int Depth::now = 0;

std::shared_ptr<VariantValue> take_variant(std::string_view& in) {
  const Depth depth;
  switch (part(in, 1)[0]) {
    case kNothing: return nullptr;
    case kEncoded: return std::make_shared<EncodedVariant>(std::string(part(in, number(in))));
    case kWindow: return take_window(in);
    case kOptional: {
      auto o = std::make_shared<OptionalValue>();
      o->present = part(in, 1)[0] != 0;
      o->values = take_element(in);
      return o;
    }
    case kSparsePart: return std::make_shared<SparsePart>(take_tensor(in));
    case kRagged: return take_ragged(in);
    default: throw broken();
  }
}

// ---- Tensors.

void put_tensor(std::string& out, const Tensor& given) {
  const Tensor t = in_memory_of(given, nullptr);
  out += static_cast<char>(t.dtype());
  put_varint(out, static_cast<uint64_t>(t.rank()));
  for (int64_t d : t.shape().dims()) put_varint(out, static_cast<uint64_t>(d));
  if (t.dtype() == DType::kString) {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      const std::string& s = t.data<std::string>()[i];
      put_varint(out, s.size());
      out += s;
    }
  } else if (t.dtype() == DType::kVariant && t.has_value()) {
    for (const Variant& v : t.values<Variant>()) put_variant(out, v.value.get());
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
  if (dtype != DType::kString && dtype != DType::kVariant && !is_plain(dtype)) throw broken();
  const Shape shape{std::span<const int64_t>(dims)};
  const int64_t n = checked_elements(shape.dims());
  if (static_cast<uint64_t>(n) > in.size()) throw broken();
  Tensor t(dtype, shape);
  if (dtype == DType::kString)
    for (int64_t i = 0; i < n; ++i) t.data<std::string>()[i] = part(in, number(in));
  else if (dtype == DType::kVariant)
    for (int64_t i = 0; i < n; ++i) t.data<Variant>()[i].value = take_variant(in);
  else if (const std::string_view bytes = part(in, t.bytes()); !bytes.empty())
    std::memcpy(t.raw(), bytes.data(), bytes.size());
  return t;
}

// ---- Kernels.

struct Serialize {
  ExternalState policy;
  void operator()(KernelContext& c) const;
};

Prepared make_serialize(const KernelInit& init) {
  return prepared(Serialize{ExternalState{init.attr<int64_t>("external_state_policy")}});
}

void Serialize::operator()(KernelContext& c) const {
  const auto it = c.resource<IteratorResource>(0);
  heed_external_state(*it->dataset(), policy, "");
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
  put_element(out, state);
  return out;
}

std::vector<Tensor> state_from(std::string_view in) {
  if (part(in, std::min(in.size(), kHead.size())) != kHead) throw broken();
  std::vector<Tensor> state = take_element(in);
  if (!in.empty()) throw broken();
  return state;
}

void add_state_kernels(KernelList& rows) {
  add_row(rows, "SerializeIterator", make_serialize);
  add_row(rows, "DeserializeIterator", stateless<deserialize>);
}

}  // namespace emplace::data
