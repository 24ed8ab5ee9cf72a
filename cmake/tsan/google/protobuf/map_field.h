// protobuf gives maps two more members under the thread sanitizer; the system's library was built
// without them, so neither may we see them.
#pragma once
#include <memory>  // the standard library has looked at the macro by now

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
