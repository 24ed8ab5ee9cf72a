#include "data/fingerprint.h"

#include "data/kernels.h"
#include "tensor/attr_key.h"
#include "tensor/fingerprint.h"

namespace emplace::data {

uint64_t Origin::fingerprint() const {
  Fingerprint f;
  if (!operation) return f.value();
  f.add(std::string_view(operation->op));
  for (const auto& [name, value] : operation->attrs) {
    if (name == "metadata" || value.is<FunctionName>()) continue;
    f.add(std::string_view(name));
    f.add(std::string_view(attr_key(value)));
  }
  for (const auto& function : operation->functions) f.add(function->fingerprint());
  for (const Tensor& t : inputs) {
    f.add(t);
    if (t.dtype() != DType::kVariant) continue;
    for (const Variant& v : t.values<Variant>())
      if (const auto* d = dynamic_cast<const Dataset*>(v.value.get()))
        f.add(d->origin().fingerprint());
  }
  return f.value();
}

namespace {

void fingerprint(KernelContext& c) {
  *c.output(0, Shape{}).data<uint64_t>() = dataset_in(c.input(0))->origin().fingerprint();
}

}  // namespace

std::shared_ptr<const Origin::Operation> operation_of(const KernelInit& init) {
  auto made = std::make_shared<Origin::Operation>();
  made->op = init.op->name;
  made->attrs = *init.attrs;
  for (const auto& [name, value] : *init.attrs)
    if (value.is<FunctionName>()) made->functions.push_back(function_named(init, name));
  return made;
}

void add_fingerprint_kernels(KernelList& rows) {
  add_row(rows, "DatasetFingerprint", stateless<fingerprint>);
}

}  // namespace emplace::data
