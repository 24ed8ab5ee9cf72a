#include "kernel/list_kernels.h"

#include <fmt/format.h>

#include "base/stop_scope.h"
#include "kernel/keep.h"
#include "kernel/tensor_list.h"

namespace emplace {

namespace {

using ListPtr = std::shared_ptr<TensorList>;

void put_list(KernelContext& c, int output, ListPtr list) {
  Tensor t(DType::kVariant, Shape{});
  t.data<Variant>()->value = std::move(list);
  c.set_output(output, std::move(t));
}

void check_type(const TensorList& list, DType dtype) {
  if (list.dtype != dtype)
    throw invalid_argument(
        fmt::format("Invalid data types; op elements {} but list elements {}", dtype_name(dtype),
                    dtype_name(list.dtype)));
}

Shape merged(const Shape& a, const Shape& b, std::string_view what) {
  if (!a.compatible_with(b))
    throw invalid_argument(
        fmt::format("Tried to {} a tensor with incompatible shape to a list. Op element shape: {} "
                    "list shape: {}",
                    what, b.str(), a.str()));
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  std::vector<int64_t> dims(a.dims().begin(), a.dims().end());
  for (int i = 0; i < a.rank(); ++i)
    if (dims[static_cast<size_t>(i)] < 0) dims[static_cast<size_t>(i)] = b.dim(i);
  return Shape(std::span<const int64_t>(dims));
}

int64_t integer(const Tensor& t) {
  if (t.num_elements() != 1)
    throw invalid_argument("a scalar was expected, not shape " + t.shape().str());
  return t.dtype() == DType::kInt64 ? *t.data<int64_t>() : *t.data<int32_t>();
}

void check_index(const TensorList& list, int64_t i) {
  if (i < 0 || i >= list.length())
    throw invalid_argument(fmt::format("Trying to access element {} in a list with {} elements.", i,
                                       list.length()));
}

// ---- Making lists.

void empty_list(KernelContext& c, DType dtype) {
  put_list(c, 0, std::make_shared<TensorList>(dtype, shape_from(c.input(0)), integer(c.input(1))));
}

void reserve(KernelContext& c, DType dtype) {
  const int64_t n = integer(c.input(1));
  if (n < 0)
    throw invalid_argument(
        fmt::format("The num_elements to reserve must be a non negative number, but got {}", n));
  const TensorList none(dtype, shape_from(c.input(0)));
  put_list(c, 0, none.copied(n));
}

void from_tensor(KernelContext& c, DType dtype) {
  const Tensor& t = c.input(0);
  if (t.rank() < 1) throw invalid_argument("Tensor must be at least a vector, but saw shape: []");
  const Shape row = without_first(t.shape());
  auto list = std::make_shared<TensorList>(
      dtype, merged(shape_from(c.input(1)), row, "store"));
  const Tensor own = keep(c, t);
  for (const int64_t i : paced(t.dim(0))) {
    list->append(own.slice(i, i + 1).reshaped(row));
  }
  put_list(c, 0, std::move(list));
}

void split(KernelContext& c, DType dtype) {
  const Tensor &t = c.input(0), &lengths = c.input(2);
  if (t.rank() < 1)
    throw invalid_argument("Tensor must be at least a vector, but saw shape: " + t.shape().str());
  auto list = std::make_shared<TensorList>(dtype, shape_from(c.input(1)));
  const Tensor own = keep(c, t);
  int64_t at = 0;
  for (const int64_t i : paced(lengths.num_elements())) {
    const int64_t n = lengths.data<int64_t>()[i];
    if (n < 0) throw invalid_argument(fmt::format("Invalid value in lengths: {}", n));
    if (at + n > t.dim(0))
      throw invalid_argument(fmt::format(
          "Attempting to slice [{}, {}] from tensor with length {}", at, at + n, t.dim(0)));
    list->append(own.slice(at, at + n));
    at += n;
  }
  if (at != t.dim(0))
    throw invalid_argument(fmt::format(
        "Unused values in tensor. Length of tensor: {} Values used: {}", t.dim(0), at));
  put_list(c, 0, std::move(list));
}

void scatter_into(KernelContext& c, TensorList& list, const Tensor& t, const Tensor& indices) {
  const Shape row = without_first(t.shape());
  if (t.rank() < 1 || indices.num_elements() != t.dim(0))
    throw invalid_argument(fmt::format(
        "Specified {} indices for a tensor of shape {}", indices.num_elements(), t.shape().str()));
  merged(list.element_shape, row, "store");
  const Tensor own = keep(c, t);
  for (const int64_t i : paced(indices.num_elements()))
    list.set(indices.data<int32_t>()[i], own.slice(i, i + 1).reshaped(row));
}

int64_t longest(const Tensor& indices) {
  int64_t most = -1;
  for (const int64_t i : paced(indices.num_elements())) {
    const int32_t k = indices.data<int32_t>()[i];
    if (k < 0)
      throw invalid_argument(
          fmt::format("Indices in TensorListScatter must all be non-negative. Got {}", k));
    most = std::max<int64_t>(most, k);
  }
  return most + 1;
}

void scatter(KernelContext& c, DType dtype) {
  const Tensor& indices = c.input(1);
  int64_t n = longest(indices);
  if (c.num_inputs() > 3) {
    const int64_t wanted = integer(c.input(3));
    if (wanted < -1)
      throw invalid_argument("TensorListScatter expects num_elements >= -1, found: " +
                             std::to_string(wanted));
    if (wanted >= 0 && n > wanted)
      throw invalid_argument(fmt::format(
          "TensorListScatter: Trying to scatter at index {} in list with size {}", n - 1, wanted));
    n = std::max(n, wanted);
  }
  auto list = TensorList(dtype, shape_from(c.input(2))).copied(n);
  scatter_into(c, *list, c.input(0), indices);
  put_list(c, 0, std::move(list));
}

void scatter_existing(KernelContext& c, DType dtype) {
  const TensorList& in = list_in(c.input(0));
  check_type(in, dtype);
  auto list = in.copied(std::max(in.length(), longest(c.input(2))));
  scatter_into(c, *list, c.input(1), c.input(2));
  put_list(c, 0, std::move(list));
}

// ---- Changing lists.

ListPtr with_back(KernelContext& c, const TensorList& in, Tensor t) {
  merged(in.element_shape, t.shape(), "append");
  if (in.max_length >= 0 && in.length() >= in.max_length)
    throw invalid_argument(
        fmt::format("Tried to push item into a full list list size: {} max_num_elements: {}",
                    in.length(), in.max_length));
  return in.pushed(keep(c, t));
}

void push_back(KernelContext& c, DType dtype) {
  const TensorList& in = list_in(c.input(0));
  check_type(in, dtype);
  put_list(c, 0, with_back(c, in, c.input(1)));
}

void push_back_batch(KernelContext& c, DType dtype) {
  const Tensor &lists = c.input(0), &t = c.input(1);
  if (t.rank() < 1 || t.dim(0) != lists.num_elements())
    throw invalid_argument(fmt::format("The first dimension of {} must be the number of lists, {}",
                                       t.shape().str(), lists.num_elements()));
  Tensor out(DType::kVariant, lists.shape());
  for (int64_t i = 0; i < lists.num_elements(); ++i) {
    const TensorList& in = list_in(lists, i);
    check_type(in, dtype);
    out.data<Variant>()[i].value =
        with_back(c, in, t.slice(i, i + 1).reshaped(without_first(t.shape())));
  }
  c.set_output(0, std::move(out));
}

// An element that was never set is zeros of its shape.
void put_item(KernelContext& c, int output, const TensorList& list, int64_t i, const Shape& asked) {
  const Tensor& item = list.at(i);
  if (item.has_value()) {
    Tensor& out = c.output(output, item.shape());
    return put(c, out, 0, item);
  }
  const Shape shape = merged(list.element_shape, asked, "read");
  if (!shape.is_fully_known())
    throw invalid_argument(
        fmt::format("Trying to read an uninitialized tensor but element_shape is not fully defined: "
                    "{} and no list element is set.",
                    shape.str()));
  Tensor& out = c.output(output, shape);
  put_zeros(c, out, 0, shape.num_elements());
}

void pop_back(KernelContext& c, DType dtype) {
  const TensorList& in = list_in(c.input(0));
  check_type(in, dtype);
  if (in.length() == 0) throw invalid_argument("Trying to pop from an empty list.");
  put_item(c, 1, in, in.length() - 1, shape_from(c.input(1)));
  put_list(c, 0, in.shortened(in.length() - 1));
}

struct SetItem {
  DType dtype;
  bool grow;
  void operator()(KernelContext& c) const {
    const TensorList& in = list_in(c.input(0));
    check_type(in, dtype);
    const int64_t i = integer(c.input(1));
    if (!grow || i < 0) check_index(in, i);
    merged(in.element_shape, c.input(2).shape(), "set");
    auto list = in.copied(std::max(in.length(), i + 1));
    list->set(i, keep(c, c.input(2)));
    put_list(c, 0, std::move(list));
  }
};

Prepared make_set_item(const KernelInit& init) {
  return prepared(
      SetItem{init.type("element_dtype"), init.attr<bool>("resize_if_index_out_of_bounds")});
}

void resize(KernelContext& c) {
  const TensorList& in = list_in(c.input(0));
  const int64_t n = integer(c.input(1));
  if (n < 0) throw invalid_argument("TensorListSlice expects size to be non-negative.");
  put_list(c, 0, n <= in.length() ? in.shortened(n) : in.copied(n));
}

void concat_lists(KernelContext& c, DType dtype) {
  const Tensor &a = c.input(0), &b = c.input(1);
  if (!(a.shape() == b.shape()))
    throw invalid_argument(
        fmt::format("input_a and input_b must have the same shape: {} and {}", a.shape().str(),
                    b.shape().str()));
  Tensor out(DType::kVariant, a.shape());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const TensorList &first = list_in(a, i), &second = list_in(b, i);
    check_type(first, dtype);
    check_type(second, dtype);
    auto list = first.copied(first.length());
    for (int64_t k = 0; k < second.length(); ++k) list->append(second.at(k));
    out.data<Variant>()[i].value = std::move(list);
  }
  c.set_output(0, std::move(out));
}

// ---- Looking into lists.

void length(KernelContext& c) {
  *c.output(0, Shape{}).data<int32_t>() = static_cast<int32_t>(list_in(c.input(0)).length());
}

void element_shape(KernelContext& c) {
  const Shape& s = list_in(c.input(0)).element_shape;
  Tensor& out = c.output(0, s.has_rank() ? Shape{s.rank()} : Shape{});
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const int64_t d = s.has_rank() ? s.dim(static_cast<int>(i)) : -1;
    if (out.dtype() == DType::kInt64) out.data<int64_t>()[i] = d;
    else out.data<int32_t>()[i] = static_cast<int32_t>(d);
  }
}

void get_item(KernelContext& c, DType dtype) {
  const TensorList& in = list_in(c.input(0));
  check_type(in, dtype);
  const int64_t i = integer(c.input(1));
  check_index(in, i);
  put_item(c, 0, in, i, shape_from(c.input(2)));
}

// The shape of all the elements at `places`, which must be the same.
template <class Places>
Shape shape_of_all(const TensorList& list, const Shape& asked, const Places& places) {
  Shape shape = merged(list.element_shape, asked, "stack");
  for (int64_t i : places)
    if (list.at(i).has_value()) shape = merged(shape, list.at(i).shape(), "stack");
  if (!shape.is_fully_known() && !places.empty())
    throw invalid_argument(fmt::format(
        "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined "
        "element_shape: {}",
        shape.str()));
  if (!shape.is_fully_known())
    throw invalid_argument(fmt::format(
        "Tried to stack elements of an empty list with non-fully-defined element_shape: {}",
        shape.str()));
  return shape;
}

void stack_places(KernelContext& c, const TensorList& list, const Shape& asked,
                  const std::vector<int64_t>& places) {
  const Shape shape = shape_of_all(list, asked, places);
  Tensor& out = c.output(0, with_first(static_cast<int64_t>(places.size()), shape));
  const int64_t n = shape.num_elements();
  for (const size_t k : paced(places.size())) {
    const Tensor& item = list.at(places[k]);
    const int64_t first = static_cast<int64_t>(k) * n;
    if (item.has_value()) put(c, out, first, item);
    else put_zeros(c, out, first, n);
  }
}

struct Stack {
  DType dtype;
  int64_t num_elements;
  void operator()(KernelContext& c) const {
    const TensorList& in = list_in(c.input(0));
    check_type(in, dtype);
    if (num_elements >= 0 && in.length() != num_elements)
      throw invalid_argument(fmt::format("Operation expected a list with {} elements but got a list "
                                         "with {} elements.",
                                         num_elements, in.length()));
    std::vector<int64_t> all(static_cast<size_t>(in.length()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    stack_places(c, in, shape_from(c.input(1)), all);
  }
};

Prepared make_list_stack(const KernelInit& init) {
  return prepared(Stack{init.type("element_dtype"), init.attr<int64_t>("num_elements")});
}

void gather(KernelContext& c, DType dtype) {
  const TensorList& in = list_in(c.input(0));
  check_type(in, dtype);
  const Tensor& indices = c.input(1);
  std::vector<int64_t> places;
  for (const int64_t i : paced(indices.num_elements())) {
    places.push_back(indices.data<int32_t>()[i]);
    check_index(in, places.back());
  }
  stack_places(c, in, shape_from(c.input(2)), places);
}

void concatenate(KernelContext& c, const TensorList& in, const Shape& asked, const Tensor* leading) {
  const Shape list_rest = without_first(in.element_shape), asked_rest = without_first(asked);
  Shape rest = merged(list_rest, asked_rest, "concat");
  std::vector<int64_t> lengths;
  int64_t total = 0;
  for (const int64_t i : paced(in.length())) {
    const Tensor& item = in.at(i);
    int64_t n;
    if (item.has_value()) {
      if (item.rank() < 1)
        throw invalid_argument("Concat saw a scalar shape at index " + std::to_string(i) +
                               " but requires at least vectors.");
      rest = merged(rest, without_first(item.shape()), "concat");
      n = item.dim(0);
    } else if (leading && i < leading->num_elements()) {
      n = leading->data<int64_t>()[i];
    } else if (asked.has_rank() && asked.rank() > 0 && asked.dim(0) >= 0) {
      n = asked.dim(0);
    } else {
      throw invalid_argument(
          "Concatenation of uninitialized elements requires leading_dims to be set.");
    }
    lengths.push_back(n);
    total += n;
  }
  if (!rest.is_fully_known())
    throw invalid_argument(
        "All except the first dimension must be fully defined when concating an empty tensor list. "
        "element_shape: " +
        asked.str());
  Tensor& out = c.output(0, with_first(total, rest));
  const int64_t row = rest.num_elements();
  int64_t at = 0;
  for (const int64_t i : paced(in.length())) {
    const int64_t n = lengths[static_cast<size_t>(i)] * row;
    if (in.at(i).has_value()) put(c, out, at, in.at(i));
    else put_zeros(c, out, at, n);
    at += n;
  }
  Tensor& counts = c.output(1, Shape{in.length()});
  std::copy(lengths.begin(), lengths.end(), counts.data<int64_t>());
}

struct ConcatV1 {
  DType dtype;
  Shape shape;
  void operator()(KernelContext& c) const {
    check_type(list_in(c.input(0)), dtype);
    concatenate(c, list_in(c.input(0)), shape, nullptr);
  }
};

Prepared make_concat_v1(const KernelInit& init) {
  return prepared(ConcatV1{init.type("element_dtype"), init.attr<Shape>("element_shape")});
}

void concat_v2(KernelContext& c, DType dtype) {
  check_type(list_in(c.input(0)), dtype);
  concatenate(c, list_in(c.input(0)), shape_from(c.input(1)), &c.input(2));
}

// Kernels that need to know nothing but the elements' type.
template <void (*F)(KernelContext&, DType)>
Prepared typed(const KernelInit& init) {
  struct Typed {
    DType dtype;
    void operator()(KernelContext& c) const { F(c, dtype); }
  };
  return prepared(Typed{init.type("element_dtype")});
}

}  // namespace

std::vector<KernelRow> list_kernels(std::string_view device_type) {
  const auto row = [&](const char* op, KernelFactory make) {
    return KernelRow{op, std::string(device_type), {}, {}, make, {}, 0, ""};
  };
  return {
      row("EmptyTensorList", typed<empty_list>),
      row("TensorListReserve", typed<reserve>),
      row("TensorListPushBack", typed<push_back>),
      row("TensorListPushBackBatch", typed<push_back_batch>),
      row("TensorListPopBack", typed<pop_back>),
      row("TensorListSetItem", make_set_item),
      row("TensorListGetItem", typed<get_item>),
      row("TensorListStack", make_list_stack),
      row("TensorListFromTensor", typed<from_tensor>),
      row("TensorListLength", stateless<length>),
      row("TensorListResize", stateless<resize>),
      row("TensorListElementShape", stateless<element_shape>),
      row("TensorListConcat", make_concat_v1),
      row("TensorListConcatV2", typed<concat_v2>),
      row("TensorListSplit", typed<split>),
      row("TensorListGather", typed<gather>),
      row("TensorListScatter", typed<scatter>),
      row("TensorListScatterV2", typed<scatter>),
      row("TensorListScatterIntoExistingList", typed<scatter_existing>),
      row("TensorListConcatLists", typed<concat_lists>)};
}

}  // namespace emplace
