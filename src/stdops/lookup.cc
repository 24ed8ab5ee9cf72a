// Tables from keys to values.
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void old_table(ShapeContext& c) { c.set_output(0, Shape{2}); }

// The handle's shape is that of one value.
void of_scalars(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(0, {c.attr<DType>("value_dtype"), Shape{}});
}

void of_tensors(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(0, {c.attr<DType>("value_dtype"), c.attr<Shape>("value_shape")});
}

// A key may be a vector here, which the handle does not tell.
void dense(ShapeContext& c) { c.set_output(0, Shape{}); }

void find(ShapeContext& c) {
  const HandleInfo& table = c.input_handle(0);
  const Shape& keys = c.input(1);
  if (table.dtype == DType::kInvalid || !keys.has_rank() || !table.shape.has_rank())
    return c.set_output(0, Shape::unknown());
  Shape out = keys;
  for (int64_t d : table.shape.dims()) out.push_back(d);
  c.set_output(0, out);
}

void export_all(ShapeContext& c) {
  c.set_output(0, Shape::unknown());
  c.set_output(1, Shape::unknown());
}

void text_file(ShapeContext& c) { c.with_rank(1, 0); }

void pairs(ShapeContext& c) {
  if (c.input(1).has_rank()) c.with_rank_at_least(2, c.input(1).rank());
}

constexpr OpRow kLookupRows[] = {
    {"HashTableV2() -> (table_handle: resource) | container: string = ''; shared_name: string = "
     "''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type | stateful",
     of_scalars, cheap,
     "A table that is filled once."},
    {"HashTable() -> (table_handle: ref string) | container: string = ''; shared_name: string = "
     "''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type | stateful",
     old_table, cheap,
     "A table that is filled once."},
    {"AnonymousHashTable() -> (table_handle: resource) | key_dtype: type; value_dtype: type | "
     "stateful",
     of_scalars, cheap,
     "A table without a name that is filled once."},
    {"MutableHashTableV2() -> (table_handle: resource) | container: string = ''; shared_name: "
     "string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type | "
     "stateful",
     of_scalars, cheap,
     "A table that can be changed."},
    {"MutableHashTable() -> (table_handle: ref string) | container: string = ''; shared_name: "
     "string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: type | "
     "stateful",
     old_table, cheap,
     "A table that can be changed."},
    {"AnonymousMutableHashTable() -> (table_handle: resource) | key_dtype: type; value_dtype: "
     "type | stateful",
     of_scalars, cheap,
     "A table without a name that can be changed."},
    {"MutableHashTableOfTensorsV2() -> (table_handle: resource) | container: string = ''; "
     "shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: "
     "type; value_shape: shape = [] | stateful",
     of_tensors, cheap,
     "A table whose values are tensors of one shape."},
    {"MutableHashTableOfTensors() -> (table_handle: ref string) | container: string = ''; "
     "shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; value_dtype: "
     "type; value_shape: shape = [] | stateful",
     old_table, cheap,
     "A table whose values are tensors of one shape."},
    {"AnonymousMutableHashTableOfTensors() -> (table_handle: resource) | key_dtype: type; "
     "value_dtype: type; value_shape: shape = [] | stateful",
     of_tensors, cheap,
     "A table without a name whose values are tensors of one shape."},
    {"MutableDenseHashTableV2(empty_key: key_dtype, deleted_key: key_dtype) -> (table_handle: "
     "resource) | container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = "
     "false; key_dtype: type; value_dtype: type; value_shape: shape = []; initial_num_buckets: int "
     "= 131072; max_load_factor: float = 0.800000011920929 | stateful",
     dense, cheap,
     "A table in which two keys stand for nothing."},
    {"MutableDenseHashTable(empty_key: key_dtype) -> (table_handle: ref string) | container: "
     "string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; key_dtype: type; "
     "value_dtype: type; value_shape: shape = []; initial_num_buckets: int = 131072; "
     "max_load_factor: float = 0.800000011920929 | stateful",
     old_table, cheap,
     "A table in which one key stands for nothing."},
    {"AnonymousMutableDenseHashTable(empty_key: key_dtype, deleted_key: key_dtype) -> "
     "(table_handle: resource) | key_dtype: type; value_dtype: type; value_shape: shape = []; "
     "initial_num_buckets: int = 131072; max_load_factor: float = 0.800000011920929 | stateful",
     dense, cheap,
     "A table without a name in which two keys stand for nothing."},
    {"InitializeTableV2(table_handle: resource, keys: Tkey, values: Tval) -> () | Tkey: type; "
     "Tval: type | stateful",
     none, elementwise,
     "Fills a table."},
    {"InitializeTable(table_handle: ref string, keys: Tkey, values: Tval) -> () | Tkey: type; "
     "Tval: type",
     none, elementwise,
     "Fills a table."},
    {"InitializeTableFromTextFileV2(table_handle: resource, filename: string) -> () | key_index: "
     "int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\\t'; "
     "offset: int = 0 | stateful",
     text_file, elementwise,
     "Fills a table from the lines of a file."},
    {"InitializeTableFromTextFile(table_handle: ref string, filename: string) -> () | key_index: "
     "int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\\t'; "
     "offset: int = 0",
     text_file, elementwise,
     "Fills a table from the lines of a file."},
    {"LookupTableFindV2(table_handle: resource, keys: Tin, default_value: Tout) -> (values: Tout) "
     "| Tin: type; Tout: type | stateful",
     find, elementwise,
     "The values of keys, a default where there is none."},
    {"LookupTableFind(table_handle: ref string, keys: Tin, default_value: Tout) -> (values: Tout) "
     "| Tin: type; Tout: type",
     find, elementwise,
     "The values of keys, a default where there is none."},
    {"LookupTableInsertV2(table_handle: resource, keys: Tin, values: Tout) -> () | Tin: type; "
     "Tout: type | stateful",
     pairs, elementwise,
     "Puts values under keys."},
    {"LookupTableInsert(table_handle: ref string, keys: Tin, values: Tout) -> () | Tin: type; "
     "Tout: type",
     pairs, elementwise,
     "Puts values under keys."},
    {"LookupTableImportV2(table_handle: resource, keys: Tin, values: Tout) -> () | Tin: type; "
     "Tout: type | stateful",
     pairs, elementwise,
     "Replaces all that a table holds."},
    {"LookupTableImport(table_handle: ref string, keys: Tin, values: Tout) -> () | Tin: type; "
     "Tout: type",
     pairs, elementwise,
     "Replaces all that a table holds."},
    {"LookupTableExportV2(table_handle: resource) -> (keys: Tkeys, values: Tvalues) | Tkeys: type; "
     "Tvalues: type | stateful",
     export_all, elementwise,
     "All that a table holds."},
    {"LookupTableExport(table_handle: ref string) -> (keys: Tkeys, values: Tvalues) | Tkeys: type; "
     "Tvalues: type",
     export_all, elementwise,
     "All that a table holds."},
    {"LookupTableRemoveV2(table_handle: resource, keys: Tin) -> () | Tin: type | stateful",
     none, elementwise,
     "Takes keys out of a table."},
    {"LookupTableSizeV2(table_handle: resource) -> (size: int64) | stateful",
     scalar, cheap,
     "How many keys a table has."},
    {"LookupTableSize(table_handle: ref string) -> (size: int64)",
     scalar, cheap,
     "How many keys a table has."},
};

}  // namespace

std::span<const OpRow> lookup_ops() { return kLookupRows; }

}  // namespace emplace::stdops
