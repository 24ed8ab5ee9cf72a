// Iterators, and the operations that take elements from them.
#include <fmt/format.h>

#include "base/stop_scope.h"
#include "data/iterator.h"
#include "data/kernels.h"
#include "kernel/host_threads.h"
#include "kernel/optional_value.h"
#include "kernel/pending.h"
#include "kernel/shared_resource.h"
#include "session/local_devices.h"

namespace emplace::data {
namespace {

std::vector<DType> types_of(const KernelInit& init) {
  return init.attr<std::vector<DType>>("output_types");
}
std::vector<Shape> shapes_of(const KernelInit& init) {
  return init.attr<std::vector<Shape>>("output_shapes");
}

constexpr const char* kTypeName = "tensorflow::data::IteratorResource";

Tensor handle_to(const std::shared_ptr<IteratorResource>& it, KernelContext& c) {
  return data::handle_to(it, it->name(), kTypeName, c);
}

// ---- Making iterators.

struct Anonymous {
  std::vector<DType> types;
  std::vector<Shape> shapes;
  void operator()(KernelContext& c) const {
    const auto it = std::make_shared<IteratorResource>("AnonymousIterator", types, shapes);
    c.set_output(0, handle_to(it, c));
    if (c.num_outputs() > 1) c.set_output(1, Tensor(DType::kVariant, Shape{}));
  }
};

Prepared make_anonymous(const KernelInit& init) {
  return prepared(Anonymous{types_of(init), shapes_of(init)});
}

std::shared_ptr<IteratorResource> named_iterator(const KernelInit& init) {
  const std::string name = shared_name(init);
  auto it = init.resources->find_or_create_as<IteratorResource>(
      init.attr<std::string>("container"), name,
      [&] { return std::make_shared<IteratorResource>(name, types_of(init), shapes_of(init)); });
  if (it->types() != types_of(init))
    throw invalid_argument(fmt::format("The iterator '{}' has elements of other types", name));
  return it;
}

Prepared make_named(const KernelInit& init) {
  return prepared(GiveHandle{named_iterator(init), init.attr<std::string>("container"),
                             shared_name(init), kTypeName});
}

struct OneShot {
  std::shared_ptr<IteratorResource> it;
  std::shared_ptr<CalledFunction> factory;
  void operator()(KernelContext& c) const {
    it->once([&] {
      KernelScope scope(c.cancellation());
      Element made;
      factory->caller(true)->call(scope.calls(), {}, made);
      if (made.size() != 1)
        throw invalid_argument("The `dataset_factory` function must return a single tensor.");
      it->begin(dataset_in(made[0]));
    });
    c.set_output(0, handle_to(it, c));
  }
};

Prepared make_one_shot(const KernelInit& init) {
  return prepared(OneShot{named_iterator(init), function_named(init, "dataset_factory")});
}

void make_iterator(KernelContext& c) {
  c.resource<IteratorResource>(1)->begin(dataset_in(c.input(0)));
}

void delete_iterator(KernelContext&) {}  // its handles own it

// ---- Taking elements.

using Next = std::function<bool(CallScope&, Element&)>;
using Give = void (*)(KernelContext&, bool, Element&);

void give_next(KernelContext& c, bool got, Element& e) {
  if (!got) throw out_of_range("End of sequence");
  for (int i = 0; i < c.num_outputs(); ++i) {
    Tensor& t = e[static_cast<size_t>(i)];
    if (c.step_id() != 0 && t.device()) t = in_memory_of(t, nullptr);  // steps plan with the host's
    c.set_output(i, std::move(t));
  }
}

void give_optional(KernelContext& c, bool got, Element& e) {
  if (c.step_id() != 0)
    for (Tensor& t : e) t = in_memory_of(t, nullptr);
  c.set_output(0, optional_tensor(got, std::move(e)));
}

// On this thread where that takes no waiting, or where nobody else needs the thread.
void ask_and_give(KernelContext& c, Next next, bool at_once, Give give) {
  if (at_once || c.step_id() == 0 || StopScope::looks()) {
    KernelScope scope(c.cancellation());
    Element e;
    const bool got = next(scope.calls(), e);
    return give(c, got, e);
  }
  const auto pending = std::make_shared<Pending>(c);
  const auto scope = std::make_shared<CallScope>();
  pending->on_cancel([scope] { scope->cancel(cancelled("Operation was cancelled")); });
  HostThreads::get().run([next = std::move(next), give, pending, scope] {
    std::optional<Error> error;
    try {
      Element e;
      const bool got = next(*scope, e);
      give(pending->context(), got, e);
    } catch (const Error& e) {
      error = e;
    } catch (const std::exception& e) {
      error = internal_error(e.what());
    }
    pending->end(std::move(error));
  });
}

template <Give kGive>
void get_next(KernelContext& c) {
  const auto it = c.resource<IteratorResource>(0);
  ask_and_give(
      c, [it](CallScope& scope, Element& e) { return it->next(scope, e); }, it->ready(), kGive);
}

// ---- Texts that stand for iterators.

std::string text_of(const std::shared_ptr<IteratorResource>& it) {
  return resource_text(it, it->name());
}

void to_string_handle(KernelContext& c) {
  *c.output(0, Shape{}).data<std::string>() = text_of(c.resource<IteratorResource>(0));
}

struct FromStringHandle {
  std::vector<DType> types;
  std::vector<Shape> shapes;
  void operator()(KernelContext& c) const {
    const Tensor& text = c.input(0);
    if (text.num_elements() != 1) throw invalid_argument("string_handle must be a scalar");
    const auto it =
        std::dynamic_pointer_cast<IteratorResource>(resource_of_text(*text.data<std::string>()));
    if (!it) throw invalid_argument("The string handle is not one of an Iterator");
    check_element_kind(types, shapes, {"", "", it->types(), it->shapes()});
    c.set_output(0, handle_to(it, c));
  }
};

Prepared make_from_string_handle(const KernelInit& init) {
  return prepared(FromStringHandle{types_of(init), shapes_of(init)});
}

void get_device(KernelContext& c) {
  *c.output(0, Shape{}).data<std::string>() = c.handle(0).device;
}

// ---- Where the time goes.

void model_of_iterator(KernelContext& c) {
  *c.output(0, Shape{}).data<std::string>() = c.resource<IteratorResource>(0)->model();
}

void model_of_dataset(KernelContext& c) {
  const auto counts = dataset_in(c.input(0))->last_counts();
  *c.output(0, Shape{}).data<std::string>() = counts ? counts->proto() : "";
}

}  // namespace

Tensor handle_to(const std::shared_ptr<Resource>& it, const std::string& name,
                 const char* type_name, KernelContext& c) {
  Tensor t(DType::kResource, Shape{});
  auto& h = *t.data<ResourceHandle>();
  h.container = "localhost";
  h.name = name;
  h.type_name = type_name;
  h.device = c.device().name();
  h.resource = it;
  return t;
}

void ask(KernelContext& c, Next next, bool at_once) {
  ask_and_give(c, std::move(next), at_once, give_next);
}

void add_iterator_kernels(KernelList& rows) {
  for (const char* op : {"AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"})
    add_row(rows, op, make_anonymous);
  add_row(rows, "Iterator", make_named);
  add_row(rows, "IteratorV2", make_named);
  add_row(rows, "OneShotIterator", make_one_shot);
  add_row(rows, "MakeIterator", stateless<make_iterator>);
  add_row(rows, "DeleteIterator", stateless<delete_iterator>);
  for (const char* op : {"IteratorGetNext", "IteratorGetNextSync"})
    add_row(rows, op, stateless<get_next<give_next>>, true);
  add_row(rows, "IteratorGetNextAsOptional", stateless<get_next<give_optional>>, true);
  add_row(rows, "IteratorToStringHandle", stateless<to_string_handle>);
  add_row(rows, "IteratorFromStringHandle", make_from_string_handle);
  add_row(rows, "IteratorFromStringHandleV2", make_from_string_handle);
  add_row(rows, "IteratorGetModelProto", stateless<model_of_iterator>);
  add_row(rows, "_DatasetGetModelProto", stateless<model_of_dataset>);
  add_row(rows, "IteratorGetDevice", stateless<get_device>);
}

}  // namespace emplace::data
