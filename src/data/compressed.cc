// Elements as one value, compressed.
#include "data/kernels.h"
#include "data/saved_state.h"
#include "format/inflate.h"
#include "kernel/encoded_variant.h"

namespace emplace::data {
namespace {

void compress(KernelContext& c) {
  Element e;
  for (int i = 0; i < c.num_inputs(); ++i) e.push_back(c.input(i));
  Tensor out(DType::kVariant, Shape{});
  out.data<Variant>()->value = std::make_shared<EncodedVariant>(packed_element(e));
  c.set_output(0, std::move(out));
}

void uncompress(KernelContext& c) {
  Element e = unpacked_element(c.input(0));
  if (static_cast<int>(e.size()) != c.num_outputs())
    throw invalid_argument("An element was compressed of another number of components.");
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (e[static_cast<size_t>(i)].dtype() != c.output_type(i))
      throw invalid_argument("A component was compressed of another type.");
    c.set_output(i, std::move(e[static_cast<size_t>(i)]));
  }
}

// Of a value that graphs can't hold.
void unpack_value(KernelContext& c) {
  if (c.input(0).num_elements() != 1) throw invalid_argument("packed must be a scalar");
  Element e = unpacked_element(c.input(0).values<std::string>()[0]);
  if (e.size() != 1 || e[0].dtype() != DType::kVariant)
    throw invalid_argument("packed is no value");
  c.set_output(0, std::move(e[0]));
}

}  // namespace

std::string packed_element(const Element& e) { return pack(state_bytes(e), "ZLIB"); }

Element unpacked_element(std::string_view bytes) { return state_from(unpack(bytes, "ZLIB")); }

Element unpacked_element(const Tensor& t) {
  const auto* e = t.dtype() == DType::kVariant && t.num_elements() == 1
                      ? dynamic_cast<const EncodedVariant*>(t.data<Variant>()->value.get())
                      : nullptr;
  if (!e) throw invalid_argument("Tensor does not contain a compressed element.");
  return unpacked_element(e->bytes);
}

void add_compression_kernels(KernelList& rows) {
  add_row(rows, "CompressElement", stateless<compress>);
  add_row(rows, "UncompressElement", stateless<uncompress>);
  add_row(rows, "_UnpackedValue", stateless<unpack_value>);
}

}  // namespace emplace::data
