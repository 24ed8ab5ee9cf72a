#include "kernel/variable_kernels.h"

#include <fmt/format.h>

#include <atomic>

#include "kernel/resource_variable.h"

namespace emplace {
namespace {

std::atomic<uint64_t> outgrown{0};

constexpr std::string_view kAnonymous = "cd2c9b7b-88a0-44c8-bc6f-dba8e2e5a5d6";  // TensorFlow's

// What a node says about the variable it stands for.
struct VariableSpec {
  std::string container, name;
  DType dtype;
  Shape shape;
  Device* device;
  bool behind_handle;

  explicit VariableSpec(const KernelInit& init)
      : container(init.attr<std::string>("container")),
        name(init.attr<std::string>("shared_name")),
        dtype(init.type("dtype")),
        shape(init.attr<Shape>("shape")),
        device(init.device),
        behind_handle(init.op && init.op->name == "VarHandleOp") {
    if (container.empty()) container = "localhost";
    if (name.empty()) name = init.node;
  }

  std::shared_ptr<Variable> make() const {
    if (behind_handle)
      return std::make_shared<ResourceVariable>(container, name, dtype, shape, device);
    return std::make_shared<Variable>(name, dtype, shape, device);
  }
  Tensor handle(std::shared_ptr<Variable> variable) const {
    ResourceHandle h;
    if (device) h.device = device->name();
    h.container = container;
    h.name = name;
    h.type_name = "tensorflow::Var";
    h.resource = std::move(variable);
    return Tensor::scalar(std::move(h));
  }
};

std::shared_ptr<Variable> find_or_make(ResourceManager& resources, const VariableSpec& spec) {
  auto v = resources.find_or_create_as<Variable>(spec.container, spec.name,
                                                 [&] { return spec.make(); });
  if (v->dtype() != spec.dtype)
    throw invalid_argument(fmt::format("Trying to access variable {} as {}, but it is {}",
                                       spec.name, dtype_proto_name(spec.dtype),
                                       dtype_proto_name(v->dtype())));
  return v;
}

// Outputs the handle of a variable found when the kernel was prepared.
struct Handle {
  Tensor handle;
  void operator()(KernelContext& c) const { c.set_output(0, handle); }
};

struct AnonymousHandle {
  VariableSpec spec;
  void operator()(KernelContext& c) const { c.set_output(0, spec.handle(spec.make())); }
};

Prepared make_handle(const KernelInit& init) {
  VariableSpec spec(init);
  if (spec.name == kAnonymous) return prepared(AnonymousHandle{std::move(spec)});
  return prepared(Handle{spec.handle(find_or_make(*init.resources, spec))});
}

void check_dtype(KernelContext& c, const Variable& v) {
  if (c.output_type(0) != v.dtype())
    throw invalid_argument(fmt::format(
        "Trying to read variable with wrong dtype. Expected {} got {}",
        dtype_proto_name(c.output_type(0)), dtype_proto_name(v.dtype())));
}

void output_value(KernelContext& c, const Variable& v, bool snapshot) {
  check_dtype(c, v);
  const bool planned = c.site_->planned & 1;  // then the bytes are copied there anyway
  c.set_output(0, snapshot && !planned ? v.snapshot() : v.read());
}

const Variable& existing(KernelContext& c) {
  const Variable& v = c.variable(0);
  if (v.initialized()) return v;
  const ResourceHandle& h = c.handle(0);
  throw failed_precondition(fmt::format(
      "Could not find variable {0}. This could mean that the variable has been deleted. In TF1, it "
      "can also mean the variable is uninitialized. Debug info: container={1}, status error "
      "message=Resource {1}/{0}/N10tensorflow3VarE does not exist.",
      h.name, h.container));
}

void read_shared(KernelContext& c) { output_value(c, existing(c), false); }
void read_copy(KernelContext& c) { output_value(c, existing(c), true); }
void deref_shared(KernelContext& c) { output_value(c, c.variable(0), false); }
void deref_copy(KernelContext& c) { output_value(c, c.variable(0), true); }

void is_initialized(KernelContext& c) {
  const ResourceHandle& h = c.handle(0);
  const bool yes = h.resource && c.variable(0).initialized();
  *c.output(0, Shape{}).data<bool>() = yes;
}

struct AssignResource {
  bool validate_shape;
  void operator()(KernelContext& c) const {
    Variable& v = c.variable(0);
    const Tensor& value = c.input(1);
    if (validate_shape && !v.shape().compatible_with(value.shape()))
      throw invalid_argument(fmt::format(
          "Trying to assign to variable with tensor with wrong shape. Expected {} got {}",
          v.shape().str(), value.shape().str()));
    v.assign(value, c.own_aliases());
  }
};

Prepared make_assign_resource(const KernelInit& init) {
  return prepared(AssignResource{init.attr<bool>("validate_shape")});
}

struct AssignRef {
  bool validate_shape;
  void operator()(KernelContext& c) const {
    Variable& v = c.variable(0);
    const Tensor& value = c.input(1);
    if (validate_shape) check_shape(v, value);
    else if (outgrows(v, value)) outgrown.fetch_add(1, std::memory_order_release);
    v.assign(value, c.own_aliases());
    c.set_output(0, c.input(0));
  }
  static bool outgrows(const Variable& v, const Tensor& value) {
    const bool as_declared = !v.initialized() || v.shape().compatible_with(v.read().shape());
    return as_declared && !v.shape().compatible_with(value.shape());
  }
  static void check_shape(const Variable& v, const Tensor& value) {
    const Shape current = v.initialized() ? v.read().shape() : v.shape();
    if (!current.compatible_with(value.shape()))
      throw invalid_argument(fmt::format(
          "Assign requires shapes of both tensors to match. lhs shape= {} rhs shape= {}",
          current.str(), value.shape().str()));
  }
};

Prepared make_assign_ref(const KernelInit& init) {
  return prepared(AssignRef{init.attr<bool>("validate_shape")});
}

void variable_shape(KernelContext& c) {
  const Shape shape = c.variable(0).read().shape();
  Tensor& out = c.output(0, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) {
    if (out.dtype() == DType::kInt32)
      out.data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
    else
      out.data<int64_t>()[i] = shape[i];
  }
}

// The variable itself stays known to the plans that hold it; it loses its value.
struct Destroy {
  bool ignore_missing;
  void operator()(KernelContext& c) const {
    const ResourceHandle& h = c.handle(0);
    auto* v = dynamic_cast<Variable*>(h.resource.get());
    if (!ignore_missing && !(v && v->initialized()))
      throw not_found(fmt::format("Resource {}/{} does not exist.", h.container, h.name));
    if (v) v->clear();
  }
};

Prepared make_destroy(const KernelInit& init) {
  return prepared(Destroy{init.attr<bool>("ignore_lookup_error")});
}

}  // namespace

Prepared read_variable(bool snapshot) {
  return snapshot ? prepared<read_copy>() : prepared<read_shared>();
}

Prepared deref(bool snapshot) {
  return snapshot ? prepared<deref_copy>() : prepared<deref_shared>();
}

std::vector<KernelRow> variable_kernels(std::string_view device_type) {
  const std::string device(device_type);
  auto row = [&](const char* op, KernelFactory make) {
    return KernelRow{op, device, {}, {}, make, {}, 0, ""};
  };
  return {row("Variable", make_handle),
          row("VariableV2", make_handle),
          row("VarHandleOp", make_handle),
          row("ReadVariableOp", stateless<read_shared>),
          row("VarIsInitializedOp", stateless<is_initialized>),
          row("IsVariableInitialized", stateless<is_initialized>),
          row("AssignVariableOp", make_assign_resource),
          row("Assign", make_assign_ref),
          row("VariableShape", stateless<variable_shape>),
          row("DestroyResourceOp", make_destroy)};
}

uint64_t shapes_outgrown() { return outgrown.load(std::memory_order_acquire); }

}  // namespace emplace
