#include "graph/attr_proto.h"

#include "emplace/error.h"
#include "graph/tensor_proto.h"

namespace emplace {
namespace {

void write(const FunctionName& f, proto::NameAttrList* out) {
  out->set_name(f.name);
  attrs_to_proto(f.attrs, out->mutable_attr());
}

FunctionName read(const proto::NameAttrList& in) { return {in.name(), attrs_from_proto(in.attr())}; }

// Writes each alternative of an attribute's value.
struct Writer {
  proto::AttrValue* out;
  proto::AttrValue::ListValue* list() const { return out->mutable_list(); }

  void operator()(std::monostate) const {}
  void operator()(const std::string& v) const { out->set_s(v); }
  void operator()(int64_t v) const { out->set_i(v); }
  void operator()(float v) const { out->set_f(v); }
  void operator()(bool v) const { out->set_b(v); }
  void operator()(DType v) const { out->set_type(to_proto(v)); }
  void operator()(const Shape& v) const { to_proto(v, out->mutable_shape()); }
  void operator()(const Tensor& v) const { to_proto(v, out->mutable_tensor()); }
  void operator()(const FunctionName& v) const { write(v, out->mutable_func()); }
  template <class T>
  void operator()(const std::vector<T>& v) const {
    list();  // an empty list is a list still
    for (const auto& item : v) add(static_cast<const T&>(item));
  }
  void add(const std::string& v) const { list()->add_s(v); }
  void add(int64_t v) const { list()->add_i(v); }
  void add(float v) const { list()->add_f(v); }
  void add(bool v) const { list()->add_b(v); }
  void add(DType v) const { list()->add_type(to_proto(v)); }
  void add(const Shape& v) const { to_proto(v, list()->add_shape()); }
  void add(const Tensor& v) const { to_proto(v, list()->add_tensor()); }
  void add(const FunctionName& v) const { write(v, list()->add_func()); }
};

template <class To, class Field, class Convert>
AttrValue converted(const Field& field, Convert convert) {
  std::vector<To> out;
  out.reserve(static_cast<size_t>(field.size()));
  for (const auto& item : field) out.push_back(convert(item));
  return out;
}

template <class To, class Field>
AttrValue copied(const Field& field) {
  return std::vector<To>(field.begin(), field.end());
}

// The fields of a list say what it is a list of; an empty one becomes whatever is asked for.
AttrValue read_list(const proto::AttrValue::ListValue& in) {
  if (in.s_size() > 0) return copied<std::string>(in.s());
  if (in.f_size() > 0) return copied<float>(in.f());
  if (in.b_size() > 0) return copied<bool>(in.b());
  if (in.type_size() > 0)
    return converted<DType>(in.type(),
                            [](int t) { return from_proto(static_cast<proto::DataType>(t)); });
  if (in.shape_size() > 0)
    return converted<Shape>(in.shape(), [](const auto& s) { return from_proto(s); });
  if (in.tensor_size() > 0)
    return converted<Tensor>(in.tensor(), [](const auto& t) { return from_proto(t); });
  if (in.func_size() > 0)
    return converted<FunctionName>(in.func(), [](const auto& f) { return read(f); });
  return copied<int64_t>(in.i());
}

void write_arg(const ArgDef& arg, proto::OpDef::ArgDef* out) {
  out->set_name(arg.name);
  if (arg.type != DType::kInvalid) out->set_type(to_proto(arg.type));
  out->set_type_attr(arg.type_attr);
  out->set_number_attr(arg.number_attr);
  out->set_type_list_attr(arg.type_list_attr);
  out->set_is_ref(arg.is_ref);
}

void write_attr(const AttrDef& attr, proto::OpDef::AttrDef* out) {
  out->set_name(attr.name);
  out->set_type(attr_type_name(attr.type, attr.is_list));
  if (attr.default_value.is_set()) to_proto(attr.default_value, out->mutable_default_value());
  if (attr.minimum) {
    out->set_has_minimum(true);
    out->set_minimum(*attr.minimum);
  }
  for (DType t : attr.allowed_types)
    out->mutable_allowed_values()->mutable_list()->add_type(to_proto(t));
  for (const std::string& s : attr.allowed_strings)
    out->mutable_allowed_values()->mutable_list()->add_s(s);
}

}  // namespace

void to_proto(const AttrValue& value, proto::AttrValue* out) {
  out->Clear();
  std::visit(Writer{out}, value.value());
}

AttrValue from_proto(const proto::AttrValue& in) {
  switch (in.value_case()) {
    case proto::AttrValue::kS: return in.s();
    case proto::AttrValue::kI: return int64_t{in.i()};
    case proto::AttrValue::kF: return in.f();
    case proto::AttrValue::kB: return in.b();
    case proto::AttrValue::kType: return from_proto(in.type());
    case proto::AttrValue::kShape: return from_proto(in.shape());
    case proto::AttrValue::kTensor: return from_proto(in.tensor());
    case proto::AttrValue::kFunc: return read(in.func());
    case proto::AttrValue::kList: return read_list(in.list());
    default: return {};
  }
}

void to_proto(const OpDef& op, proto::OpDef* out) {
  out->Clear();
  out->set_name(op.name);
  for (const ArgDef& arg : op.inputs) write_arg(arg, out->add_input_arg());
  for (const ArgDef& arg : op.outputs) write_arg(arg, out->add_output_arg());
  for (const AttrDef& attr : op.attrs) write_attr(attr, out->add_attr());
  out->set_summary(op.doc);
  out->set_is_commutative(op.commutative);
  out->set_is_aggregate(op.aggregate);
  out->set_is_stateful(op.stateful);
  out->set_allows_uninitialized_input(op.allows_uninitialized_input);
}

}  // namespace emplace
