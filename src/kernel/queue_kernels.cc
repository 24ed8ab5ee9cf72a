#include "kernel/queue_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <tuple>

#include "kernel/keep.h"
#include "kernel/pending.h"
#include "kernel/random_stream.h"
#include "kernel/shared_resource.h"
#include "kernel/tensor_queue.h"

namespace emplace {
namespace {

using Tuple = TensorQueue::Tuple;

// ---- Making queues.

std::string names(std::span<const DType> types) {
  std::vector<std::string_view> all;
  for (DType t : types) all.push_back(dtype_proto_name(t));
  return fmt::format("{}", fmt::join(all, ", "));
}

void check_same(const TensorQueue::Options& a, const TensorQueue::Options& b) {
  const auto refuse = [&](std::string_view what, const std::string& has, const std::string& wanted) {
    if (has != wanted)
      throw invalid_argument(fmt::format("Shared queue '{0}' has {1} {2} but requested {1} {3} {4}", a.name, what,
                                         has, what.ends_with('s') ? "were" : "was", wanted));
  };
  refuse("type", a.type, b.type);
  refuse("capacity", std::to_string(a.capacity), std::to_string(b.capacity));
  refuse("component types", names(a.types), names(b.types));
}

// TensorFlow numbers the queues that nobody shares, over the whole process; its messages say so.
std::string numbered(const std::string& node) {
  static std::atomic<uint64_t> count = 0;
  return fmt::format("_{}_{}", count++, node);
}

Prepared make_queue(const KernelInit& init, std::string type, TensorQueue::Order order, bool pads) {
  TensorQueue::Options o;
  o.type = std::move(type);
  o.types = init.attr<std::vector<DType>>("component_types");
  o.shapes = init.attr<std::vector<Shape>>("shapes");
  if (order == TensorQueue::Order::kPriority) {
    o.types.insert(o.types.begin(), DType::kInt64);
    o.shapes.insert(o.shapes.begin(), Shape{});
  }
  if (!o.shapes.empty() && o.shapes.size() != o.types.size())
    throw invalid_argument(fmt::format("Expected {} queue component shapes, got {}", o.types.size(),
                                       o.shapes.size()));
  o.capacity = init.attr<int64_t>("capacity");
  o.order = order;
  o.pads = pads;
  if (order == TensorQueue::Order::kRandom) {
    o.min_after_dequeue = init.attr<int64_t>("min_after_dequeue");
    std::tie(o.seed, o.seed2) = seeds_of(init);
  }
  const auto& container = init.attr<std::string>("container");
  const std::string key = o.name = shared_name(init);
  const auto queue = init.resources->find_or_create_as<TensorQueue>(container, key, [&] {
    if (init.attr<std::string>("shared_name").empty()) o.name = numbered(key);
    return std::make_shared<TensorQueue>(o);
  });
  check_same(queue->options(), o);
  return prepared(
      GiveHandle{queue, container, queue->options().name, "tensorflow::QueueInterface"});
}

Prepared make_fifo(const KernelInit& init) {
  return make_queue(init, "FIFOQueue", TensorQueue::Order::kFirstIn, false);
}
Prepared make_padding(const KernelInit& init) {
  return make_queue(init, "PaddingFIFOQueue", TensorQueue::Order::kFirstIn, true);
}
Prepared make_random(const KernelInit& init) {
  return make_queue(init, "RandomShuffleQueue", TensorQueue::Order::kRandom, false);
}
Prepared make_priority(const KernelInit& init) {
  return make_queue(init, "PriorityQueue", TensorQueue::Order::kPriority, false);
}

// ---- Operations that may wait.

// `number`: of what waits in the queue; 0: nothing does.
void cancel_with_step(Pending& pending, const std::shared_ptr<TensorQueue>& queue, uint64_t number) {
  if (number != 0) pending.on_cancel([queue, number] { queue->cancel(number); });
}

void check_component(const TensorQueue::Options& o, size_t i, const Shape& shape) {
  if (o.shapes.empty()) return;
  if (!o.shapes[i].compatible_with(shape))
    throw invalid_argument(fmt::format("Shape mismatch in tuple component {}. Expected {}, got {}", i,
                                       o.shapes[i].str(), shape.str()));
}

// Calls with a queue's handle, which older operations take as a reference; errors say which.
template <void (*F)(KernelContext&, std::string_view handle)>
struct WithQueue {
  const char* handle;
  void operator()(KernelContext& c) const { F(c, handle); }
};
template <void (*F)(KernelContext&, std::string_view handle)>
Prepared with_queue(const KernelInit& init) {
  return prepared(WithQueue<F>{init.op->inputs[0].is_ref ? "string_ref" : "resource"});
}

// The queue, whose types are those that the call puts in.
std::shared_ptr<TensorQueue> queue_to_fill(KernelContext& c, std::string_view handle) {
  auto queue = c.resource<TensorQueue>(0);
  std::vector<DType> given;
  for (int i = 1; i < c.num_inputs(); ++i) given.push_back(c.input(i).dtype());
  if (given != queue->options().types)
    throw invalid_argument(fmt::format("Signature mismatch, have: {0}, {1}-> expected: {0}, {2}->",
                                       handle, names(given), names(queue->options().types)));
  return queue;
}

// … that the call takes out.
std::shared_ptr<TensorQueue> queue_to_empty(KernelContext& c, std::string_view handle) {
  auto queue = c.resource<TensorQueue>(0);
  std::vector<DType> asked;
  for (int i = 0; i < c.num_outputs(); ++i) asked.push_back(c.output_type(i));
  if (asked != queue->options().types)
    throw invalid_argument(fmt::format("Signature mismatch, have: {0}{1}->{2} expected: {0}{1}->{3}",
                                       handle, c.num_inputs() > 1 ? ", int32" : "", names(asked),
                                       names(queue->options().types)));
  return queue;
}

void put_in(KernelContext& c, std::shared_ptr<TensorQueue> queue, std::vector<Tuple> tuples) {
  auto pending = std::make_shared<Pending>(c);
  const uint64_t number = queue->enqueue(
      std::move(tuples), [pending, queue](std::optional<Error> e) { pending->end(std::move(e)); });
  cancel_with_step(*pending, queue, number);
}

void enqueue(KernelContext& c, std::string_view handle) {
  const auto queue = queue_to_fill(c, handle);
  Tuple tuple;
  for (int i = 1; i < c.num_inputs(); ++i) {
    check_component(queue->options(), static_cast<size_t>(i) - 1, c.input(i).shape());
    tuple.push_back(keep(c, c.input(i)));
  }
  put_in(c, queue, {std::move(tuple)});
}

void enqueue_many(KernelContext& c, std::string_view handle) {
  const auto queue = queue_to_fill(c, handle);
  std::vector<Tensor> own;
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Tensor& t = c.input(i);
    if (t.rank() < 1)
      throw invalid_argument(
          fmt::format("Component {} of a batch must have a first dimension", i - 1));
    if (t.dim(0) != c.input(1).dim(0))
      throw invalid_argument(fmt::format("All input tensors must have the same size in the 0th "
                                         "dimension. Component {} has {}, and should have {}",
                                         i - 1, t.dim(0), c.input(1).dim(0)));
    check_component(queue->options(), static_cast<size_t>(i) - 1, without_first(t.shape()));
    own.push_back(keep(c, t));
  }
  std::vector<Tuple> tuples(static_cast<size_t>(own[0].dim(0)));
  for (size_t k = 0; k < tuples.size(); ++k)
    for (const Tensor& t : own) {
      const auto row = static_cast<int64_t>(k);
      tuples[k].push_back(t.slice(row, row + 1).reshaped(without_first(t.shape())));
    }
  put_in(c, queue, std::move(tuples));
}

void put_element(KernelContext& c, int output, const Tensor& t) {
  if (is_plain(t.dtype())) put(c, c.output(output, t.shape()), 0, t);
  else c.set_output(output, t.copy());
}

void dequeue(KernelContext& c, std::string_view handle) {
  const auto queue = queue_to_empty(c, handle);
  auto pending = std::make_shared<Pending>(c);
  const uint64_t number =
      queue->dequeue(1, false, [pending, queue](std::optional<Error> e, std::vector<Tuple> tuples) {
        try {
          if (!e)
            for (size_t i = 0; i < tuples[0].size(); ++i)
              put_element(pending->context(), static_cast<int>(i), tuples[0][i]);
        } catch (const Error& error) {
          e = error;
        }
        pending->end(std::move(e));
      });
  cancel_with_step(*pending, queue, number);
}

// Copies a smaller tensor into the front corner of part `row` of a batch.
void put_padded(KernelContext& c, Tensor& batch, int64_t row, const Tensor& t) {
  const int64_t size = batch.num_elements() / batch.dim(0);
  if (size == t.num_elements()) return put(c, batch, row * size, t);
  const int rank = t.rank();
  const int64_t run = rank > 0 ? t.dim(rank - 1) : 1;
  const int64_t runs = run > 0 ? t.num_elements() / run : 0;
  const Tensor flat = t.reshaped(Shape{runs, run});
  for (int64_t k = 0; k < runs; ++k) {
    int64_t rest = k, at = 0, stride = rank > 0 ? batch.dim(rank) : 1;
    for (int d = rank - 2; d >= 0; --d) {
      at += rest % t.dim(d) * stride;
      rest /= t.dim(d);
      stride *= batch.dim(d + 1);
    }
    put(c, batch, row * size + at, flat.slice(k, k + 1));
  }
}

Shape batch_shape(const TensorQueue::Options& o, size_t component, const std::vector<Tuple>& tuples) {
  Shape shape = tuples.empty() ? o.shapes[component] : tuples[0][component].shape();
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  for (int64_t& d : dims) d = std::max<int64_t>(d, 0);
  for (const Tuple& t : tuples)
    for (size_t d = 0; d < dims.size(); ++d)
      dims[d] = std::max(dims[d], t[component].dim(static_cast<int>(d)));
  return with_first(static_cast<int64_t>(tuples.size()), Shape(std::span<const int64_t>(dims)));
}

void put_batch(KernelContext& c, const TensorQueue::Options& o, const std::vector<Tuple>& tuples) {
  for (size_t i = 0; i < o.types.size(); ++i) {
    Tensor& out = c.output(static_cast<int>(i), batch_shape(o, i, tuples));
    if (o.pads) put_zeros(c, out, 0, out.num_elements());
    for (size_t k = 0; k < tuples.size(); ++k)
      put_padded(c, out, static_cast<int64_t>(k), tuples[k][i]);
  }
}

template <bool kUpTo>
void dequeue_batch(KernelContext& c, std::string_view handle) {
  const auto queue = queue_to_empty(c, handle);
  const TensorQueue::Options& o = queue->options();
  if (c.input(1).num_elements() != 1)
    throw invalid_argument("n must be a scalar, not shape " + c.input(1).shape().str());
  const int32_t n = *c.input(1).data<int32_t>();
  if (n < 0)
    throw invalid_argument(fmt::format("DequeueMany requested {} < 0 elements", n));
  const bool shaped = !o.shapes.empty() && std::all_of(o.shapes.begin(), o.shapes.end(), [&](auto& s) {
    return o.pads ? s.has_rank() : s.is_fully_known();
  });
  if (!shaped)
    throw invalid_argument(fmt::format("{}'s DequeueMany and DequeueUpTo require the components to "
                                       "have specified shapes.",
                                       o.type));
  auto pending = std::make_shared<Pending>(c);
  const uint64_t number = queue->dequeue(
      n, kUpTo, [pending, queue](std::optional<Error> e, std::vector<Tuple> tuples) {
        try {
          if (!e) put_batch(pending->context(), queue->options(), tuples);
        } catch (const Error& error) {
          e = error;
        }
        pending->end(std::move(e));
      });
  cancel_with_step(*pending, queue, number);
}

struct Close {
  bool cancel_pending;
  void operator()(KernelContext& c) const {
    const auto queue = c.resource<TensorQueue>(0);
    if (!queue->close(cancel_pending) && !cancel_pending)
      throw cancelled(fmt::format("Queue '{}' is already closed.", queue->options().name));
  }
};

Prepared make_close(const KernelInit& init) {
  return prepared(Close{init.attr<bool>("cancel_pending_enqueues")});
}

void is_closed(KernelContext& c) {
  *c.output(0, Shape{}).data<bool>() = c.resource<TensorQueue>(0)->closed();
}

void queue_size(KernelContext& c) {
  *c.output(0, Shape{}).data<int32_t>() = static_cast<int32_t>(c.resource<TensorQueue>(0)->size());
}

}  // namespace

std::vector<KernelRow> queue_kernels(std::string_view device_type) {
  std::vector<KernelRow> rows;
  for (const char* version : {"", "V2"}) {
    const auto add = [&](const char* op, KernelFactory make, bool blocks = false) {
      rows.push_back({std::string(op) + version, std::string(device_type), {}, {}, make,
                      {.blocks = blocks}, 0, ""});
    };
    add("FIFOQueue", make_fifo);
    add("PaddingFIFOQueue", make_padding);
    add("RandomShuffleQueue", make_random);
    add("PriorityQueue", make_priority);
    add("QueueEnqueue", with_queue<enqueue>, true);
    add("QueueEnqueueMany", with_queue<enqueue_many>, true);
    add("QueueDequeue", with_queue<dequeue>, true);
    add("QueueDequeueMany", with_queue<dequeue_batch<false>>, true);
    add("QueueDequeueUpTo", with_queue<dequeue_batch<true>>, true);
    add("QueueClose", make_close);
    add("QueueIsClosed", stateless<is_closed>);
    add("QueueSize", stateless<queue_size>);
  }
  return rows;
}

}  // namespace emplace
