#include "kernel/step_array_kernels.h"

#include <fmt/format.h>

#include <map>

#include "kernel/keep.h"
#include "kernel/step_resource.h"
#include "kernel/sum.h"

namespace emplace {
namespace {

// Each element is written once and, unless asked otherwise, read once. The array of the gradients
// adds up what is written to one place, and reads as zeros where nothing was.
class TensorArray final : public Resource {
 public:
  struct Item {
    Tensor value;
    Shape shape = Shape::unknown();  // of a gradient that is zeros so far
    bool written = false, read = false, cleared = false;
  };

  std::string debug_string() const override { return fmt::format("TensorArray[{}]", name); }

  void check_open() const {
    if (closed) throw invalid_argument(fmt::format("TensorArray {} has already been closed.", name));
  }
  void check_element(const Shape& s) const {
    if (!element_shape.compatible_with(s))
      throw invalid_argument(fmt::format("TensorArray {}: Could not write to TensorArray index 0 "
                                         "because the value shape is {} which is incompatible with "
                                         "the TensorArray's inferred element shape: {} (consider "
                                         "setting infer_shape=False).",
                                         name, s.str(), element_shape.str()));
  }
  void grow(int64_t i) {
    if (i < static_cast<int64_t>(items.size())) return;
    if (!dynamic)
      throw invalid_argument(fmt::format("TensorArray {}: Tried to write to index {} but array is not "
                                         "resizeable and size is: {}",
                                         name, i, items.size()));
    items.resize(static_cast<size_t>(i) + 1);
  }

  void write(KernelContext& c, int64_t i, Tensor value) {
    check_open();
    if (value.dtype() != dtype)
      throw invalid_argument(fmt::format("TensorArray {}: Could not write to TensorArray index {} "
                                         "because the value dtype is {} but TensorArray dtype is {}.",
                                         name, i, dtype_name(value.dtype()), dtype_name(dtype)));
    check_element(value.shape());
    if (i < 0)
      throw invalid_argument(fmt::format("TensorArray {}: Tried to write to index {}", name, i));
    grow(i);
    Item& item = items[static_cast<size_t>(i)];
    if (item.read)
      throw invalid_argument(fmt::format("TensorArray {}: Could not write to TensorArray index {} "
                                         "because it has already been read.",
                                         name, i));
    if (item.value.has_value()) return add(c, item, i, std::move(value));
    if (item.written && !is_gradient) written_twice(i);
    if (identical && !element_shape.is_fully_known()) element_shape = value.shape();
    item.value = std::move(value);
    item.written = true;
  }

  Tensor read(KernelContext& c, int64_t i) {
    check_open();
    if (i < 0 || i >= static_cast<int64_t>(items.size()))
      throw invalid_argument(fmt::format("TensorArray {}: Tried to read from index {} but array size "
                                         "is: {}",
                                         name, i, items.size()));
    Item& item = items[static_cast<size_t>(i)];
    if (item.cleared)
      throw invalid_argument(fmt::format("TensorArray {}: Could not read index {} twice because it "
                                         "was cleared after a previous read (perhaps try setting "
                                         "clear_after_read = false?).",
                                         name, i));
    if (!item.value.has_value()) item.value = zeros(c, item, i);
    item.read = true;
    Tensor value = item.value;
    if (clear_after_read) {
      item.value = Tensor();
      item.cleared = true;
    }
    return value;
  }

  std::string name;
  DType dtype = DType::kInvalid;
  Shape element_shape = Shape::unknown();
  bool dynamic = false, clear_after_read = true, identical = false, is_gradient = false;
  bool closed = false;
  std::mutex mutex;  // guards what changes; kernels hold it while they work
  std::vector<Item> items;
  std::map<std::string, std::shared_ptr<TensorArray>> gradients;

 private:
  [[noreturn]] void written_twice(int64_t i) const {
    throw invalid_argument(fmt::format("TensorArray {}: Could not write to TensorArray index {} "
                                       "because it has already been written to.",
                                       name, i));
  }

  void add(KernelContext& c, Item& item, int64_t i, Tensor value) {
    if (!is_gradient) written_twice(i);
    if (!(item.value.shape() == value.shape()))
      throw invalid_argument(fmt::format("TensorArray {}: Could not aggregate to TensorArray index {} "
                                         "because the existing shape is {} but the new input shape "
                                         "is {}.",
                                         name, i, item.value.shape().str(), value.shape().str()));
    add_elements(c.device(), item.value, value);
  }

  Tensor zeros(KernelContext& c, const Item& item, int64_t i) const {
    const Shape shape = item.shape.is_fully_known() ? item.shape : element_shape;
    if (!shape.is_fully_known())
      throw invalid_argument(fmt::format(
          "TensorArray {}: Could not read from TensorArray index {}.  Furthermore, the element shape "
          "is not fully defined: {}.  It is possible you are working with a resizeable TensorArray "
          "and stop_gradients is not allowing the gradients to be written.  If you set the full "
          "element_shape property on the forward TensorArray, the proper all-zeros tensor will be "
          "returned instead of incurring this error.",
          name, i, shape.str()));
    Tensor t = c.device().is_async() ? c.temp(dtype, shape) : Tensor(dtype, shape);
    put_zeros(c, t, 0, shape.num_elements());
    return t;
  }
};

struct MakeArray {
  std::string name;
  DType dtype;
  Shape shape;
  bool dynamic, clear, identical;
  void operator()(KernelContext& c) const {
    const int32_t size = int_in(c, 0);
    if (size < 0) throw invalid_argument("Size should be >= 0.");
    auto a = std::make_shared<TensorArray>();
    a->name = name;
    a->dtype = dtype;
    a->element_shape = shape;
    a->dynamic = dynamic;
    a->clear_after_read = clear;
    a->identical = identical;
    a->items.resize(static_cast<size_t>(size));
    c.set_output(0, handle_to(std::move(a), name, "TensorArray"));
    if (c.num_outputs() > 1) put_zeros(c, c.output(1, Shape{}), 0, 1);
  }
};

Prepared make_array(const KernelInit& init) {
  const AttrValue* identical = init.find("identical_element_shapes");
  std::string name = init.attr<std::string>("tensor_array_name");
  if (name.empty()) name = init.node;
  return prepared(MakeArray{std::move(name), init.type("dtype"), init.attr<Shape>("element_shape"),
                            init.attr<bool>("dynamic_size"), init.attr<bool>("clear_after_read"),
                            identical && identical->as<bool>()});
}

// With a shape the elements of the gradient have more dimensions in front.
struct MakeGradient {
  std::string source;
  void operator()(KernelContext& c) const {
    const auto of = c.resource<TensorArray>(0);
    const Shape front = c.num_inputs() > 2 ? shape_from(c.input(2)) : Shape{};
    std::shared_ptr<TensorArray> a;
    {
      const std::lock_guard lock(of->mutex);
      of->check_open();
      const auto known = of->gradients.find(source);
      a = known != of->gradients.end() ? known->second
                                       : of->gradients.emplace(source, make(*of, front)).first->second;
    }
    const std::string name = a->name;
    c.set_output(0, handle_to(std::move(a), name, "TensorArray"));
    if (c.num_outputs() > 1) put(c, c.output(1, Shape{}), 0, c.input(1));
  }

  std::shared_ptr<TensorArray> make(const TensorArray& of, const Shape& front) const {
    auto a = std::make_shared<TensorArray>();
    a->name = of.name + "@" + source;
    a->dtype = of.dtype;
    a->element_shape = behind(front, of.element_shape);
    a->is_gradient = true;
    a->clear_after_read = true;
    a->identical = of.identical;
    for (const TensorArray::Item& item : of.items) {
      a->items.emplace_back();
      a->items.back().shape =
          behind(front, item.value.has_value() ? item.value.shape() : item.shape);
    }
    return a;
  }

  static Shape behind(const Shape& front, const Shape& s) {
    if (front.rank() == 0 || !s.has_rank()) return s;
    std::vector<int64_t> dims(front.dims().begin(), front.dims().end());
    dims.insert(dims.end(), s.dims().begin(), s.dims().end());
    return Shape(std::span<const int64_t>(dims));
  }
};

Prepared make_gradient(const KernelInit& init) {
  return prepared(MakeGradient{init.attr<std::string>("source")});
}

// An element's shape outlives its value, for the gradient's zeros.
void remember_shape(TensorArray& a, int64_t i) {
  TensorArray::Item& item = a.items[static_cast<size_t>(i)];
  if (item.value.has_value()) item.shape = item.value.shape();
}

void put_flow(KernelContext& c, int flow) { put(c, c.output(0, Shape{}), 0, c.input(flow)); }

void write(KernelContext& c) {
  const auto a = c.resource<TensorArray>(0);
  const int32_t i = int_in(c, 1);
  Tensor value = keep(c, c.input(2));
  {
    const std::lock_guard lock(a->mutex);
    a->write(c, i, std::move(value));
    remember_shape(*a, i);
  }
  put_flow(c, 3);
}

// The array that output 0 is read from.
std::shared_ptr<TensorArray> source_of(KernelContext& c) {
  auto a = c.resource<TensorArray>(0);
  if (a->dtype != c.output_type(0))
    throw invalid_argument(fmt::format("TensorArray dtype is {} but Op requested dtype {}.",
                                       dtype_proto_name(a->dtype),
                                       dtype_proto_name(c.output_type(0))));
  return a;
}

void read(KernelContext& c) {
  const auto a = source_of(c);
  Tensor t;
  {
    const std::lock_guard lock(a->mutex);
    t = a->read(c, int_in(c, 1));
  }
  if (is_plain(t.dtype())) put(c, c.output(0, t.shape()), 0, t);
  else c.set_output(0, std::move(t));
}

void stack_items(KernelContext& c, TensorArray& a, std::span<const int32_t> places,
                 const Shape& asked) {
  std::vector<Tensor> items;
  for (int32_t i : places) items.push_back(a.read(c, i));
  Shape shape = items.empty() ? a.element_shape : items[0].shape();
  if (items.empty() && !shape.is_fully_known()) shape = asked;
  if (!shape.is_fully_known())
    throw unimplemented(fmt::format("TensorArray has size zero, but element shape {} is not fully "
                                    "defined. Currently only static shapes are supported when packing "
                                    "zero-size TensorArrays.",
                                    shape.str()));
  for (const Tensor& t : items)
    if (!(t.shape() == shape))
      throw invalid_argument(fmt::format("TensorArray has inconsistent shapes.  Index 0 has shape: {} "
                                         "but another has shape: {}",
                                         shape.str(), t.shape().str()));
  Tensor& out = c.output(0, with_first(static_cast<int64_t>(items.size()), shape));
  for (size_t k = 0; k < items.size(); ++k)
    put(c, out, static_cast<int64_t>(k) * shape.num_elements(), items[k]);
}

struct Gather {
  Shape shape;
  void operator()(KernelContext& c) const {
    const auto a = source_of(c);
    const std::lock_guard lock(a->mutex);
    stack_items(c, *a, c.input(1).values<int32_t>(), shape);
  }
};

Prepared make_gather(const KernelInit& init) {
  return prepared(Gather{init.attr<Shape>("element_shape")});
}

struct Pack {
  Shape shape;
  void operator()(KernelContext& c) const {
    const auto a = source_of(c);
    const std::lock_guard lock(a->mutex);
    std::vector<int32_t> all(a->items.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
    stack_items(c, *a, all, shape);
  }
};

Prepared make_pack(const KernelInit& init) {
  return prepared(Pack{init.attr<Shape>("element_shape")});
}

struct Concat {
  Shape rest;
  void operator()(KernelContext& c) const {
    const auto a = source_of(c);
    const std::lock_guard lock(a->mutex);
    std::vector<Tensor> items;
    int64_t total = 0;
    Shape row = rest;
    for (size_t i = 0; i < a->items.size(); ++i) {
      items.push_back(a->read(c, static_cast<int64_t>(i)));
      if (items.back().rank() < 1)
        throw invalid_argument(fmt::format("Concat saw a scalar shape at index {} but requires at "
                                           "least vectors.  Did you mean to call pack?",
                                           i));
      const Shape here = without_first(items.back().shape());
      if (!row.compatible_with(here))
        throw invalid_argument(fmt::format("TensorArray has inconsistent shapes.  Index 0 has (except "
                                           "dimension 0) shape: {} but index {} has (except dimension "
                                           "0) shape: {}",
                                           row.str(), i, here.str()));
      row = here;
      total += items.back().dim(0);
    }
    if (!row.is_fully_known())
      throw unimplemented("TensorArray has size zero, but element_shape_except0 is not fully defined.");
    Tensor& out = c.output(0, with_first(total, row));
    Tensor& lengths = c.output(1, Shape{static_cast<int64_t>(items.size())});
    int64_t at = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      put(c, out, at, items[i]);
      at += items[i].num_elements();
      lengths.data<int64_t>()[i] = items[i].dim(0);
    }
  }
};

Prepared make_concat(const KernelInit& init) {
  return prepared(Concat{init.attr<Shape>("element_shape_except0")});
}

void scatter_rows(KernelContext& c, TensorArray& a, std::span<const int32_t> places,
                  const Tensor& value) {
  if (value.rank() < 1)
    throw invalid_argument("Input value for unpack must be at least a vector but received shape: " +
                           value.shape().str());
  if (value.dim(0) != static_cast<int64_t>(places.size()))
    throw invalid_argument(fmt::format("Expected len(indices) == values.shape[0], but saw: {} vs. {}",
                                       places.size(), value.dim(0)));
  const Shape row = without_first(value.shape());
  const Tensor own = keep(c, value);
  // Gradients add to what is there, so each needs memory of its own.
  for (size_t k = 0; k < places.size(); ++k) {
    const auto i = static_cast<int64_t>(k);
    Tensor t = own.slice(i, i + 1).reshaped(row);
    a.write(c, places[k], a.is_gradient ? keep(c, t) : std::move(t));
    remember_shape(a, places[k]);
  }
}

void scatter(KernelContext& c) {
  const auto a = c.resource<TensorArray>(0);
  {
    const std::lock_guard lock(a->mutex);
    scatter_rows(c, *a, c.input(1).values<int32_t>(), c.input(2));
  }
  put_flow(c, 3);
}

void unpack(KernelContext& c) {
  const auto a = c.resource<TensorArray>(0);
  {
    const std::lock_guard lock(a->mutex);
    const Tensor& value = c.input(1);
    std::vector<int32_t> all(value.rank() > 0 ? static_cast<size_t>(value.dim(0)) : 0);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
    scatter_rows(c, *a, all, value);
  }
  put_flow(c, 2);
}

void split(KernelContext& c) {
  const auto a = c.resource<TensorArray>(0);
  const Tensor &value = c.input(1), &lengths = c.input(2);
  if (value.rank() < 1)
    throw invalid_argument("Expected value to be at least a vector, but received shape: " +
                           value.shape().str());
  int64_t total = 0;
  for (int64_t n : lengths.values<int64_t>()) total += n;
  if (total != value.dim(0))
    throw invalid_argument(fmt::format("Expected sum of lengths to be equal to values.shape[0], but "
                                       "sum of lengths is {} and value's shape is: {} ",
                                       total, value.shape().str()));
  {
    const std::lock_guard lock(a->mutex);
    if (!a->dynamic && static_cast<int64_t>(a->items.size()) != lengths.num_elements())
      throw invalid_argument(fmt::format("TensorArray's size is not equal to the size of lengths ({} "
                                         "vs. {}), and the TensorArray is not marked as dynamically "
                                         "resizeable",
                                         a->items.size(), lengths.num_elements()));
    int64_t at = 0, i = 0;
    for (int64_t n : lengths.values<int64_t>()) {
      a->write(c, i, keep(c, value.slice(at, at + n)));
      remember_shape(*a, i++);
      at += n;
    }
  }
  put_flow(c, 3);
}

void array_size(KernelContext& c) {
  const auto a = c.resource<TensorArray>(0);
  const std::lock_guard lock(a->mutex);
  *c.output(0, Shape{}).data<int32_t>() = static_cast<int32_t>(a->items.size());
}

void close(KernelContext& c) {
  const auto a = c.resource<TensorArray>(0);
  const std::lock_guard lock(a->mutex);
  a->items.clear();
  a->closed = true;
}

}  // namespace

std::vector<KernelRow> step_array_kernels(std::string_view device_type) {
  std::vector<KernelRow> rows = stack_kernels(device_type);
  const auto add = [&](std::string op, KernelFactory make) {
    rows.push_back({std::move(op), std::string(device_type), {}, {}, make, {}, 0, ""});
  };
  for (const char* version : {"", "V2", "V3"}) {
    const auto name = [&](const char* op) { return std::string("TensorArray") + op + version; };
    add(name(""), make_array);
    add(name("Grad"), make_gradient);
    add(name("Write"), stateless<write>);
    add(name("Read"), stateless<read>);
    add(name("Gather"), make_gather);
    add(name("Concat"), make_concat);
    add(name("Scatter"), stateless<scatter>);
    add(name("Split"), stateless<split>);
    add(name("Size"), stateless<array_size>);
    add(name("Close"), stateless<close>);
  }
  add("TensorArrayGradWithShape", make_gradient);
  add("TensorArrayPack", make_pack);
  add("TensorArrayUnpack", stateless<unpack>);
  return rows;
}

}  // namespace emplace
