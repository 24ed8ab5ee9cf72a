// Elements kept in folders of files, a file a shard.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/file.h"
#include "base/stop_scope.h"
#include "data/iterator.h"
#include "data/kernels.h"
#include "data/listed.h"
#include "data/saved_state.h"
#include "data/stage_error.h"
#include "data/state.h"
#include "emplace/session.h"
#include "format/inflate.h"
#include "format/record_files.h"

namespace emplace::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDone = "emplace.snapshot";  // there when the folder holds all elements

// Writes elements to `folder`, each to the file of its shard.
class Writer {
 public:
  Writer(std::string folder, std::string compression)
      : folder_(std::move(folder)), compression_(std::move(compression)) {
    make_folders(folder_);
  }
  void write(int64_t shard, const Element& e) {
    std::ofstream& file = files_[shard];
    if (!file.is_open()) {
      const std::string name = fmt::format("{}/{:08}.snapshot", folder_, shard);
      file.open(name, std::ios::binary | std::ios::trunc);
      if (!file) throw_errno(name);
    }
    file << framed_record(pack(state_bytes(e), compression_));
    if (!file) throw resource_exhausted("no room for a snapshot in " + folder_);
  }
  void finish() {
    for (auto& [shard, file] : files_) {
      file.close();
      if (!file) throw resource_exhausted("no room for a snapshot in " + folder_);
    }
    write_file(folder_ + "/" + kDone, "1\n");
  }

 private:
  const std::string folder_, compression_;
  std::map<int64_t, std::ofstream> files_;
};

bool is_done(const std::string& folder) { return file_exists(folder + "/" + kDone); }

// The elements of one file.
class ShardFile final : public Dataset {
 public:
  ShardFile(Spec spec, std::string file, std::string compression)
      : Dataset(std::move(spec)), file_(std::move(file)), compression_(std::move(compression)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(file_, compression_);
  }

 private:
  class Over final : public Iterator {
   public:
    Over(const std::string& file, const std::string& compression)
        : file_(open_framed(file, "")), compression_(compression) {}
    bool next(Caller&, Element& out) override {
      const auto record = file_->next();
      if (!record) return false;
      ++read_;
      out = state_from(unpack(record->value, compression_));
      return true;
    }
    void save(StateWriter& w) override { w.put(read_); }
    void restore(Caller&, StateReader& r) override {
      for (read_ = 0, left_ = r.number(); read_ < left_; ++read_) file_->next();
    }

   private:
    const std::unique_ptr<OpenFile> file_;
    const std::string compression_;
    int64_t read_ = 0, left_ = 0;
  };
  const std::string file_, compression_;
};

// A dataset of the datasets of a folder's files.
std::shared_ptr<Dataset> shards(const std::string& folder, const std::string& compression,
                                const Dataset::Spec& spec) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".snapshot" && entry.path().filename() != kDone)
      files.push_back(entry.path().string());
  std::ranges::sort(files);
  std::vector<Element> elements;
  for (const std::string& f : files)
    elements.push_back({dataset_tensor(std::make_shared<ShardFile>(spec, f, compression))});
  return std::make_shared<ListedDataset>(
      Dataset::Spec{"SnapshotShards", "", {DType::kVariant}, {Shape{}}}, std::move(elements));
}

// What the reader's function makes of them.
DatasetPtr read_by(Caller& c, const Captured& reader, const std::string& folder,
                   const std::string& compression, const Dataset::Spec& spec) {
  const Tensor in = dataset_tensor(shards(folder, compression, spec));
  Captured::Call call(reader, c);
  Element made;
  call(c, std::span(&in, 1), made);
  if (made.size() != 1) throw invalid_argument("reader_func must return a single dataset.");
  return dataset_in(made[0]);
}

// An iterator with the dataset that it goes through.
class Reading final : public Iterator {
 public:
  Reading(DatasetPtr of, Caller& c) : of_(std::move(of)), it_(of_->iterator(c)) {}
  bool next(Caller& c, Element& out) override { return it_->next(c, out); }
  bool ready() const override { return it_->ready(); }
  void save(StateWriter& w) override { it_->save(w); }
  void restore(Caller& c, StateReader& r) override { it_->restore(c, r); }

 private:
  const DatasetPtr of_;
  const std::unique_ptr<Iterator> it_;
};

// As the attribute says it: AUTO leaves it to us.
std::string compression_in(const KernelInit& init) {
  std::string type = init.attr<std::string>("compression");
  if (type == "NONE" || type == "AUTO") type.clear();
  if (type == "SNAPPY") throw unimplemented("Snapshots are compressed by GZIP or ZLIB, not SNAPPY");
  check_compression(type);
  return type;
}

// ---- Written while it is gone through the first time, read from then on.

struct SnapshotKind {
  std::string folder, compression;
  Captured reader, shard;
};

class SnapshotDataset final : public OverInput {
 public:
  SnapshotDataset(Spec spec, DatasetPtr input, SnapshotKind kind)
      : OverInput(std::move(spec), std::move(input)), kind_(std::move(kind)) {}
  std::string stateful_op() const override { return first_stateful({&kind_.reader, &kind_.shard}); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    if (!is_done(kind_.folder)) return std::make_unique<Writing>(shared_from_this(), *this, c);
    return std::make_unique<Reading>(
        read_by(c, kind_.reader, kind_.folder, kind_.compression, spec()), c);
  }

 private:
  class Writing final : public OverIterator {
   public:
    Writing(DatasetPtr self, const SnapshotDataset& of, Caller& c)
        : OverIterator(std::move(self), of.input_->iterator(c)),
          shard_(of.kind_.shard, c),
          writer_(of.kind_.folder, of.kind_.compression) {}
    bool next(Caller& c, Element& out) override {
      if (!input_) return false;
      if (!input_->next(c, out)) {
        input_.reset();
        writer_.finish();
        return false;
      }
      writer_.write(shard_.number(c, out), out);
      return true;
    }
    void save(StateWriter&) override {
      throw unimplemented("The place of an iterator that writes a snapshot can't be saved");
    }
    void restore(Caller&, StateReader&) override {
      throw unimplemented("The place of an iterator that writes a snapshot can't be restored");
    }

   private:
    Captured::Call shard_;
    Writer writer_;
  };

  const SnapshotKind kind_;
};

std::string path_in(KernelContext& c, int i) {
  if (c.input(i).num_elements() != 1) throw invalid_argument("path must be a scalar");
  return *c.input(i).data<std::string>();
}

struct MakeSnapshot {
  explicit MakeSnapshot(const KernelInit& init)
      : reader(init, "reader_func", "reader_func_other_args"),
        shard(init, "shard_func", "shard_func_other_args"),
        compression(compression_in(init)) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<SnapshotDataset>(
        spec, dataset_in(c.input(0)),
        SnapshotKind{path_in(c, 1), compression, reader.captured(c), shard.captured(c)});
  }
  FunctionArg reader, shard;
  std::string compression;
};

// ---- Saved at once, and loaded.

struct Save {
  explicit Save(const KernelInit& init)
      : shard(init, "shard_func", "shard_func_other_args"),
        sharded(init.attr<bool>("use_shard_func")),
        compression(compression_in(init)) {}
  void operator()(KernelContext& c) const {
    Walk walk(dataset_in(c.input(0)));
    KernelScope scope(c.cancellation());
    Pass pass;
    Caller caller{pass, scope.calls()};
    const Captured captured = shard.captured(c);
    Captured::Call call(captured, caller);
    Writer writer(path_in(c, 1), compression);
    for (Element e; walk.next(scope.calls(), e); StopScope::attend())
      writer.write(sharded ? call.number(caller, e) : 0, e);
    writer.finish();
  }
  FunctionArg shard;
  bool sharded;
  std::string compression;
};

Prepared make_save(const KernelInit& init) { return prepared(Save(init)); }

class LoadDataset final : public Dataset {
 public:
  LoadDataset(Spec spec, std::string folder, std::string compression, Captured reader)
      : Dataset(std::move(spec)),
        folder_(std::move(folder)),
        compression_(std::move(compression)),
        reader_(std::move(reader)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::string stateful_op() const override { return reader_.stateful_op(); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Reading>(read_by(c, reader_, folder_, compression_, spec()), c);
  }

 private:
  const std::string folder_, compression_;
  const Captured reader_;
};

struct MakeLoad {
  explicit MakeLoad(const KernelInit& init)
      : reader(init, "reader_func", "reader_func_other_args"), compression(compression_in(init)) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const std::string folder = path_in(c, 0);
    if (!is_done(folder)) throw not_found(fmt::format("{} holds no saved dataset", folder));
    return std::make_shared<LoadDataset>(spec, folder, compression, reader.captured(c));
  }
  FunctionArg reader;
  std::string compression;
};

}  // namespace

void add_snapshot_kernels(KernelList& rows) {
  add_row(rows, "SnapshotDatasetV2", dataset_kernel<MakeSnapshot>);
  add_row(rows, "SaveDataset", make_save);
  add_row(rows, "LoadDataset", dataset_kernel<MakeLoad>);
}

}  // namespace emplace::data
