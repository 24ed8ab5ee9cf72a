// The rows that a query to a data base gives.
#include <fmt/format.h>

#include <algorithm>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/state.h"

#if defined(EMPLACE_WITH_SQLITE)
#include <sqlite3.h>
#endif

namespace emplace::data {
namespace {

struct Query {
  std::string file, text;
};

constexpr DType kTypes[] = {DType::kString, DType::kInt8,   DType::kInt16, DType::kInt32, DType::kInt64,
                            DType::kUint8,  DType::kUint16, DType::kBool,  DType::kDouble};

#if defined(EMPLACE_WITH_SQLITE)

// The rows of a query as they are asked for.
class Rows {
 public:
  Rows(const Query& query, const std::vector<DType>& types) : types_(types) {
    if (sqlite3_open_v2(query.file.c_str(), &base_, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) {
      sqlite3_close(base_);
      throw invalid_argument(
          fmt::format("Sqlite::Open({}) failed: unable to open database file", query.file));
    }
    try {
      prepare(query);
    } catch (...) {
      close();
      throw;
    }
  }
  ~Rows() { close(); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  bool next(Element& out) {
    const int rc = sqlite3_step(statement_);
    if (rc == SQLITE_DONE) return false;
    if (rc != SQLITE_ROW) throw failed("Step");
    out.clear();
    for (size_t i = 0; i < types_.size(); ++i) out.push_back(value(static_cast<int>(i)));
    return true;
  }

 private:
  void prepare(const Query& q) {
    text_ = q.text;
    if (sqlite3_prepare_v2(base_, text_.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
      throw failed("Prepare");
    const auto columns = static_cast<size_t>(sqlite3_column_count(statement_));
    if (columns != types_.size())
      throw invalid_argument(
          fmt::format("The number of columns in query ({}) must match the number of elements in "
                      "output_types ({}).",
                      columns, types_.size()));
  }

  void close() {
    sqlite3_finalize(statement_);
    sqlite3_close(base_);
  }

  Error failed(const char* what) const {
    return Error(Code::kUnknown, fmt::format("{}() failed: [{}] {}: {}", what,
                                             sqlite3_errcode(base_), sqlite3_errmsg(base_), text_));
  }

  template <class T>
  static Tensor whole(int64_t n) {
    return Tensor::scalar(static_cast<T>(n));
  }

  Tensor value(int i) const {
    const int64_t n = sqlite3_column_int64(statement_, i);
    switch (types_[static_cast<size_t>(i)]) {
      case DType::kString: {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, i));
        const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, i));
        return Tensor::string(bytes ? std::string(bytes, size) : std::string());
      }
      case DType::kInt8: return whole<int8_t>(n);
      case DType::kInt16: return whole<int16_t>(n);
      case DType::kInt32: return whole<int32_t>(n);
      case DType::kInt64: return whole<int64_t>(n);
      case DType::kUint8: return whole<uint8_t>(n);
      case DType::kUint16: return whole<uint16_t>(n);
      case DType::kBool: return Tensor::scalar(n != 0);
      default: return Tensor::scalar(sqlite3_column_double(statement_, i));
    }
  }

  const std::vector<DType>& types_;
  std::string text_;
  sqlite3* base_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

void check_built() {}

#else

class Rows {
 public:
  Rows(const Query&, const std::vector<DType>&) {}
  bool next(Element&) { return false; }
};

void check_built() { throw unimplemented("SqlDataset: this build has no SQLite"); }

#endif

class SqlDataset final : public Dataset {
 public:
  SqlDataset(Spec spec, Query query) : Dataset(std::move(spec)), query_(std::move(query)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(std::static_pointer_cast<const SqlDataset>(shared_from_this()));
  }

 private:
  // Opens the data base when the first row is asked for.
  class Over final : public Iterator {
   public:
    explicit Over(std::shared_ptr<const SqlDataset> self) : self_(std::move(self)) {}
    bool next(Caller&, Element& out) override {
      StopScope::attend();
      if (ended_) return false;
      if (!rows_) rows_ = std::make_unique<Rows>(self_->query_, self_->spec().types);
      ended_ = !rows_->next(out);
      if (!ended_) ++read_;
      return !ended_;
    }
    void save(StateWriter& w) override {
      w.put(read_);
      w.put(int64_t{ended_});
    }
    void restore(Caller& c, StateReader& r) override {
      Element row;
      const int64_t n = r.number();
      const bool ended = r.number() != 0;
      while (read_ < n && next(c, row)) {
      }
      ended_ = ended;
    }

   private:
    const std::shared_ptr<const SqlDataset> self_;
    std::unique_ptr<Rows> rows_;
    int64_t read_ = 0;
    bool ended_ = false;
  };

  const Query query_;
};

std::string text_in(KernelContext& c, int i, const char* name) {
  const Tensor& t = c.input(i);
  if (t.num_elements() != 1) throw invalid_argument(fmt::format("{} must be a scalar", name));
  return *t.data<std::string>();
}

struct MakeSql : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const std::string driver = text_in(c, 0, "driver_name");
    if (driver != "sqlite")
      throw invalid_argument(
          fmt::format("The database type, {}, is not supported by SqlDataset. The set of supported "
                      "databases is: {{'sqlite'}}.",
                      driver));
    for (const DType t : spec.types)
      if (std::ranges::find(kTypes, t) == std::end(kTypes))
        throw invalid_argument(
            "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, DT_INT32, "
            "DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE ");
    check_built();
    return std::make_shared<SqlDataset>(
        spec, Query{text_in(c, 1, "data_source_name"), text_in(c, 2, "query")});
  }
};

}  // namespace

void add_sql_kernels(KernelList& rows) {
  add_row(rows, "SqlDataset", dataset_kernel<MakeSql>);
  add_row(rows, "ExperimentalSqlDataset", dataset_kernel<MakeSql>);
}

}  // namespace emplace::data
