#include "kernel/lookup_kernels.h"

#include <fmt/format.h>

#include "kernel/lookup_table.h"
#include "kernel/shared_resource.h"

namespace emplace {
namespace {

constexpr const char* kContainer = "localhost";

// What a node says about the table it stands for.
struct TableSpec {
  std::string container = kContainer;
  LookupTable::Options options;
  bool anonymous = false;

  explicit TableSpec(const KernelInit& init) {
    options.key_dtype = init.type("key_dtype");
    options.value_dtype = init.type("value_dtype");
    options.fixed = init.op->name == "HashTable" || init.op->name == "HashTableV2" ||
                    init.op->name == "AnonymousHashTable";
    if (const AttrValue* v = init.find("value_shape"))
      options.value_shape = v->as<Shape>();
    if (!options.value_shape.is_fully_known())
      throw invalid_argument("value_shape must be known, not " + options.value_shape.str());
    anonymous = init.op->name.starts_with("Anonymous");
    if (anonymous) return;
    if (const auto& c = init.attr<std::string>("container"); !c.empty()) container = c;
    options.name = shared_name(init);
  }

  std::shared_ptr<LookupTable> table(ResourceManager& resources) const {
    if (anonymous) return std::make_shared<LookupTable>(options);
    auto found = resources.find_or_create_as<LookupTable>(
        container, options.name, [&] { return std::make_shared<LookupTable>(options); });
    const LookupTable::Options& o = found->options();
    if (o.key_dtype != options.key_dtype || o.value_dtype != options.value_dtype)
      throw invalid_argument(
          fmt::format("Conflicting key/value dtypes {}->{} with {}-{} for table {}",
                      dtype_name(options.key_dtype), dtype_name(options.value_dtype),
                      dtype_name(o.key_dtype), dtype_name(o.value_dtype), options.name));
    return found;
  }

  Tensor handle(KernelContext& c, std::shared_ptr<LookupTable> table) const {
    ResourceHandle h;
    h.device = c.device().name();
    h.container = container;
    h.name = options.name;
    h.type_name = "tensorflow::lookup::LookupInterface";
    h.resource = std::move(table);
    return Tensor::scalar(std::move(h));
  }
};

struct Table {
  TableSpec spec;
  ResourceManager* resources;
  void operator()(KernelContext& c) const {
    c.set_output(0, spec.handle(c, spec.table(*resources)));
  }
};

Prepared make_table(const KernelInit& init) {
  return prepared(Table{TableSpec(init), init.resources});
}

// The keys that stand for nothing say what a key looks like.
struct DenseTable {
  TableSpec spec;
  ResourceManager* resources;
  void operator()(KernelContext& c) const {
    TableSpec full = spec;
    full.options.key_shape = c.input(0).shape();
    const char* names[] = {"empty_key", "deleted_key"};
    for (int i = 0; i < c.num_inputs(); ++i) {
      if (!(c.input(i).shape() == c.input(0).shape()))
        throw invalid_argument("Empty and deleted keys must have same shape, got shapes: " +
                               c.input(0).shape().str() + " and " + c.input(i).shape().str());
      full.options.reserved.emplace_back(names[i], c.input(i).copy());
    }
    c.set_output(0, full.handle(c, full.table(*resources)));
  }
};

Prepared make_dense(const KernelInit& init) {
  if (const auto n = init.attr<int64_t>("initial_num_buckets"); n < 4 || (n & (n - 1)) != 0)
    throw invalid_argument(
        fmt::format("Number of buckets must be at least 4 and a power of 2, got: {}", n));
  if (const auto load = init.attr<float>("max_load_factor"); !(load > 0 && load < 1))
    throw invalid_argument(fmt::format("max_load_factor must be between 0 and 1, got: {}", load));
  return prepared(DenseTable{TableSpec(init), init.resources});
}

void find(KernelContext& c) {
  const auto table = c.resource<LookupTable>(0);
  table->check_values(c.input(1).dtype(), c.input(2).dtype());
  table->find(c.input(1), c.input(2), c.output(0, table->found_shape(c.input(1))));
}

std::shared_ptr<LookupTable> written(KernelContext& c) {
  auto table = c.resource<LookupTable>(0);
  table->check_values(c.input(1).dtype(), c.input(2).dtype());
  return table;
}

[[noreturn]] void unchangeable(const char* what) {
  throw unimplemented(
      fmt::format("{} not supported by InitializableLookupTable implementations", what));
}

void table_insert(KernelContext& c) {
  const auto table = written(c);
  if (table->options().fixed) unchangeable("Insert");
  table->insert(c.input(1), c.input(2));
}

void replace(KernelContext& c) { written(c)->replace(c.input(1), c.input(2)); }

void remove(KernelContext& c) {
  const auto table = c.resource<LookupTable>(0);
  table->check_keys(c.input(1).dtype());
  if (table->options().fixed) unchangeable("Remove");
  table->remove(c.input(1));
}

void initialize(KernelContext& c) {
  const auto table = written(c);
  const Tensor &keys = c.input(1), &values = c.input(2);
  if (!table->options().fixed)
    throw invalid_argument(
        fmt::format("Table {} {} is not initializable", c.handle(0).container, c.handle(0).name));
  if (keys.rank() != 1)
    throw invalid_argument("Keys must be a vector, but received shape" + keys.shape().str());
  if (values.rank() != 1)
    throw invalid_argument("Values must be a vector, but received shape" + values.shape().str());
  if (keys.num_elements() != values.num_elements())
    throw invalid_argument(fmt::format("Keys and values must have the same size {} vs {}",
                                       keys.num_elements(), values.num_elements()));
  table->initialize(keys, values);
}

void entries(KernelContext& c) {
  const auto table = c.resource<LookupTable>(0);
  table->check_values(c.output_type(0), c.output_type(1));
  auto [keys, values] = table->entries();
  c.set_output(0, std::move(keys));
  c.set_output(1, std::move(values));
}

void table_size(KernelContext& c) {
  *c.output(0, Shape{}).data<int64_t>() = c.resource<LookupTable>(0)->size();
}

}  // namespace

std::vector<KernelRow> lookup_kernels(std::string_view device_type) {
  std::vector<KernelRow> rows;
  const auto add = [&](std::string op, KernelFactory make) {
    rows.push_back({std::move(op), std::string(device_type), {}, {}, make, {}, 0, ""});
  };
  for (std::string version : {"", "V2"}) {
    for (const char* op : {"HashTable", "MutableHashTable", "MutableHashTableOfTensors"})
      add(op + version, make_table);
    add("MutableDenseHashTable" + version, make_dense);
    add("LookupTableFind" + version, stateless<find>);
    add("LookupTableInsert" + version, stateless<table_insert>);
    add("LookupTableImport" + version, stateless<replace>);
    add("LookupTableExport" + version, stateless<entries>);
    add("LookupTableSize" + version, stateless<table_size>);
    add("InitializeTable" + version, stateless<initialize>);
  }
  for (const char* op :
       {"AnonymousHashTable", "AnonymousMutableHashTable", "AnonymousMutableHashTableOfTensors"})
    add(op, make_table);
  add("AnonymousMutableDenseHashTable", make_dense);
  add("LookupTableRemoveV2", stateless<remove>);
  return rows;
}

}  // namespace emplace
