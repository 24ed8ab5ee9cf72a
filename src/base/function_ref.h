#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace emplace {

template <typename Signature>
class FunctionRef;

// A borrowed callable: two words, no allocation, one indirect call. It owns nothing, so the
// callable must outlive it; meant for parameters, not for members that outlive the call.
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<R, F&, Args...>)
      FunctionRef(F&& f)  // NOLINT: implicit, so that a lambda can be passed as it is
      // A C-style cast, since F may be const or a function.
      : object_((void*)std::addressof(f)),
        call_([](void* object, Args... args) -> R {
          return std::invoke(*reinterpret_cast<std::add_pointer_t<F>>(object),
                             std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace emplace
