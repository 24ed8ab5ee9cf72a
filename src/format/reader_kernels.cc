#include "format/reader_kernels.h"

#include <fmt/format.h>

#include <deque>

#include "base/file.h"
#include "emplace/proto/reader.pb.h"
#include "format/inflate.h"
#include "format/record_files.h"
#include "kernel/pending.h"
#include "kernel/shared_resource.h"
#include "kernel/tensor_queue.h"

namespace emplace {
namespace {

// ---- A reader: open files in the order in which they came. Any thread may call.

class Reader : public Resource {
 public:
  using Open = std::function<std::unique_ptr<OpenFile>(const std::string& name)>;
  // A unit of work: how it is opened; `single`: it is one record, after which it is done.
  struct Work {
    std::string type;
    Open open;
    bool single = false;
  };
  Reader(std::string name, Work work) : name_(std::move(name)), work_(std::move(work)) {}
  std::string debug_string() const override { return "Reader " + name_; }

  void add(const std::string& file) {
    auto opened = work_.open(file);
    const std::lock_guard lock(mutex_);
    files_.push_back(std::move(opened));
    ++started_;
    current_ = file;
  }
  // Up to n records of what is open.
  std::vector<Record> take(int64_t n) {
    const std::lock_guard lock(mutex_);
    std::vector<Record> found;
    while (static_cast<int64_t>(found.size()) < n && !files_.empty()) {
      if (auto r = files_.front()->next()) {
        found.push_back(std::move(*r));
        ++produced_;
        if (!work_.single) continue;
      }
      files_.pop_front();
      ++completed_;
      if (!found.empty()) break;
    }
    return found;
  }
  int64_t produced() const { return const_cast<Reader*>(this)->counted(produced_); }
  int64_t completed() const { return const_cast<Reader*>(this)->counted(completed_); }
  void reset() {
    const std::lock_guard lock(mutex_);
    files_.clear();
    started_ = produced_ = completed_ = 0;
    current_.clear();
  }
  // Where it is, between two files: of readers whose files are one record each.
  std::string saved() {
    if (!work_.single) throw unimplemented("Reader SerializeState: " + name_);
    const std::lock_guard lock(mutex_);
    proto::ReaderBaseState state;
    state.set_work_started(started_);
    state.set_work_finished(completed_);
    state.set_num_records_produced(produced_);
    state.set_current_work(current_);
    return state.SerializeAsString();
  }
  void restore(const std::string& text) {
    if (!work_.single) throw unimplemented("Reader RestoreState: " + name_);
    proto::ReaderBaseState state;
    if (!state.ParseFromString(text))
      throw invalid_argument(
          fmt::format("Could not parse state for {} '{}': {}", work_.type, name_, text));
    if (state.work_started() < 0 || state.work_finished() < 0 || state.num_records_produced() < 0)
      throw invalid_argument("Unexpected negative value when restoring in " + name_);
    if (state.work_started() != state.work_finished())
      throw invalid_argument("Inconsistent work started vs. finished when restoring in " + name_);
    const std::lock_guard lock(mutex_);
    files_.clear();
    started_ = state.work_started();
    completed_ = state.work_finished();
    produced_ = state.num_records_produced();
    current_ = state.current_work();
  }

 private:
  int64_t counted(const int64_t& what) {
    const std::lock_guard lock(mutex_);
    return what;
  }

  const std::string name_;
  const Work work_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<OpenFile>> files_;
  int64_t started_ = 0, produced_ = 0, completed_ = 0;
  std::string current_;
};

Prepared make_reader(const KernelInit& init, Reader::Work work) {
  // Where peers may not name every file (cluster/file_rules).
  if (const AttrValue* folders = init.find("_folders"))
    work.open = [open = work.open, folders = folders->as<std::vector<std::string>>()](const std::string& n) {
      check_below(n, folders);
      return open(n);
    };
  const auto& container = init.attr<std::string>("container");
  const std::string name = shared_name(init);
  return prepared(GiveHandle{
      init.resources->find_or_create_as<Reader>(
          container, name, [&] { return std::make_shared<Reader>(name, std::move(work)); }),
      container, name, "tensorflow::ReaderInterface"});
}

std::string text_attr(const KernelInit& init, const char* name) {
  const AttrValue* v = init.find(name);
  return v ? v->as<std::string>() : "";
}

Prepared make_lines(const KernelInit& init) {
  const int64_t skip = init.attr<int64_t>("skip_header_lines");
  if (skip < 0) throw invalid_argument(fmt::format("skip_header_lines must be >= 0 not {}", skip));
  return make_reader(init,
                     {"TextLineReader", [skip](const std::string& n) { return open_lines(n, skip); }});
}
Prepared make_framed(const KernelInit& init) {
  const std::string type = text_attr(init, "compression_type");
  return make_reader(init,
                     {"TFRecordReader", [type](const std::string& n) { return open_framed(n, type); }});
}
Prepared make_fixed(const KernelInit& init) {
  RecordSizes s{init.attr<int64_t>("record_bytes"), init.attr<int64_t>("header_bytes"),
          init.attr<int64_t>("footer_bytes"), init.attr<int64_t>("hop_bytes")};
  constexpr int64_t kMost = int64_t{1} << 40;
  if (s.record <= 0 || s.record > kMost)
    throw invalid_argument(fmt::format("record_bytes must be > 0 not {}", s.record));
  for (int64_t v : {s.header, s.footer, s.hop})
    if (v < 0 || v > kMost)
      throw invalid_argument(fmt::format("header, footer and hop must be >= 0 not {}", v));
  if (s.hop == 0) s.hop = s.record;
  const std::string encoding = text_attr(init, "encoding");
  return make_reader(init, {"FixedLengthRecordReader", [=](const std::string& n) {
                              return open_fixed(n, s, encoding);
                            }});
}
Prepared make_whole(const KernelInit& init) {
  return make_reader(init, {"WholeFileReader", open_whole, true});
}
Prepared make_identity(const KernelInit& init) {
  return make_reader(init, {"IdentityReader", open_name, true});
}

// ---- Reading. As long as no record is at hand, the next name is taken from the queue.

class ReadCall : public std::enable_shared_from_this<ReadCall> {
 public:
  ReadCall(KernelContext& c, std::shared_ptr<Reader> reader, std::shared_ptr<TensorQueue> queue,
           int64_t most, bool many)
      : reader_(std::move(reader)), queue_(std::move(queue)), most_(most), many_(many),
        cancellation_(c.cancellation()), continuation_(c.suspend()) {}

  // Goes on until there is a record, an error, or a name to wait for.
  void advance() {
    try {
      while (true) {
        const std::vector<Record> found = reader_->take(most_);
        if (!found.empty()) {
          put(found);
          break;
        }
        const auto waiting = wait();
        if (!waiting) return;
        open(*waiting);
      }
    } catch (const Error& e) {
      return end(e);
    }
    end(std::nullopt);
  }

 private:
  // One name that is asked for. It may come before the queue returns, from any thread.
  struct Wait {
    std::mutex mutex;
    bool asked = false, came = false;
    std::optional<Error> error;
    std::vector<TensorQueue::Tuple> names;
    uint64_t callback = 0;
  };

  // What has come already; nothing when a later call goes on with it.
  std::shared_ptr<Wait> wait() {
    auto waiting = std::make_shared<Wait>();
    const uint64_t number = queue_->dequeue(
        1, false,
        [self = shared_from_this(), waiting](std::optional<Error> e,
                                             std::vector<TensorQueue::Tuple> names) {
          uint64_t callback;
          {
            const std::lock_guard lock(waiting->mutex);
            waiting->came = true;
            waiting->error = std::move(e);
            waiting->names = std::move(names);
            if (!waiting->asked) return;
            callback = waiting->callback;
          }
          if (callback) self->cancellation_.remove(callback);
          self->go_on(*waiting);
        });
    const uint64_t id =
        number ? cancellation_.add([queue = queue_, number] { queue->cancel(number); }) : 0;
    {
      const std::lock_guard lock(waiting->mutex);
      waiting->asked = true;
      waiting->callback = id;
      if (!waiting->came) return nullptr;
    }
    if (id) cancellation_.remove(id);
    return waiting;
  }
  void go_on(const Wait& waiting) {
    try {
      open(waiting);
    } catch (const Error& e) {
      return end(e);
    }
    advance();
  }
  void open(const Wait& waiting) {
    if (waiting.error) throw Error(*waiting.error);
    const Tensor& name = waiting.names.at(0).at(0);
    if (name.dtype() != DType::kString || name.num_elements() != 1)
      throw invalid_argument("Expected a scalar string element from the queue.");
    reader_->add(name.item<std::string>());
  }
  void put(const std::vector<Record>& found) {
    KernelContext& c = continuation_->context();
    const auto n = static_cast<int64_t>(found.size());
    Tensor& keys = c.output(0, many_ ? Shape{n} : Shape{});
    Tensor& values = c.output(1, many_ ? Shape{n} : Shape{});
    for (size_t i = 0; i < found.size(); ++i) {
      keys.data<std::string>()[i] = found[i].key;
      values.data<std::string>()[i] = found[i].value;
    }
  }
  void end(std::optional<Error> error) { conclude(std::move(continuation_), std::move(error)); }

  const std::shared_ptr<Reader> reader_;
  const std::shared_ptr<TensorQueue> queue_;
  const int64_t most_;
  const bool many_;
  Cancellation& cancellation_;
  std::unique_ptr<Continuation> continuation_;
};

void read(KernelContext& c) {
  const auto reader = c.resource<Reader>(0);
  const auto queue = c.resource<TensorQueue>(1);
  std::make_shared<ReadCall>(c, reader, queue, 1, false)->advance();
}
void read_up_to(KernelContext& c) {
  const auto reader = c.resource<Reader>(0);
  const auto queue = c.resource<TensorQueue>(1);
  if (c.input(2).num_elements() != 1) throw invalid_argument("num_records must be a scalar");
  const int64_t most = *c.input(2).data<int64_t>();
  if (most <= 0) throw invalid_argument(fmt::format("num_records must be positive, not {}", most));
  std::make_shared<ReadCall>(c, reader, queue, most, true)->advance();
}
void produced(KernelContext& c) {
  *c.output(0, Shape{}).data<int64_t>() = c.resource<Reader>(0)->produced();
}
void completed(KernelContext& c) {
  *c.output(0, Shape{}).data<int64_t>() = c.resource<Reader>(0)->completed();
}
void reset(KernelContext& c) { c.resource<Reader>(0)->reset(); }
void save(KernelContext& c) {
  c.set_output(0, Tensor::string(c.resource<Reader>(0)->saved()));
}
void restore(KernelContext& c) {
  if (c.input(1).num_elements() != 1) throw invalid_argument("Reader state must be scalar");
  c.resource<Reader>(0)->restore(c.input(1).item<std::string>());
}

// ---- Bytes unpacked.

struct Decompress {
  std::string type;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Tensor& out = c.output(0, in.shape());
    for (int64_t i = 0; i < in.num_elements(); ++i)
      out.data<std::string>()[i] = unpack(in.data<std::string>()[i], type);
  }
};
Prepared make_decompress(const KernelInit& init) {
  return prepared(Decompress{init.attr<std::string>("compression_type")});
}

}  // namespace

void register_reader_kernels(KernelRegistry& r) {
  for (const std::string version : {"", "V2"}) {
    const auto add = [&](const char* op, KernelFactory make, bool blocks = false) {
      r.add({op + version, "CPU", {}, {}, make, {.blocks = blocks}, 0, ""});
    };
    add("TextLineReader", make_lines);
    add("TFRecordReader", make_framed);
    add("FixedLengthRecordReader", make_fixed);
    add("WholeFileReader", make_whole);
    add("IdentityReader", make_identity);
    add("ReaderRead", stateless<read>, true);
    add("ReaderReadUpTo", stateless<read_up_to>, true);
    add("ReaderNumRecordsProduced", stateless<produced>);
    add("ReaderNumWorkUnitsCompleted", stateless<completed>);
    add("ReaderReset", stateless<reset>);
    add("ReaderSerializeState", stateless<save>);
    add("ReaderRestoreState", stateless<restore>);
  }
  r.add({"DecodeCompressed", "CPU", {}, {}, make_decompress, {}, 0, ""});
}

}  // namespace emplace
