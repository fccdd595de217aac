// The list of methods: the one line that a new one adds.
#pragma once

#include <cstddef>
#include <utility>

#include "src/workload/methods/blob.h"
#include "src/workload/methods/echo.h"
#include "src/workload/methods/flex.h"
#include "src/workload/methods/library.h"
#include "src/workload/methods/method.h"
#include "src/workload/methods/ping.h"
#include "src/workload/methods/user.h"

namespace cqbench {

// Ends the process: an id of a method that is not in the list is a mistake of this program.
[[noreturn]] void DieOfUnknownMethod(int id);

template <typename... Ms>
struct Methods {
  static_assert((IsMethod<Ms>() && ...));
  static constexpr size_t kCount = sizeof...(Ms);

  // F<PingUnary, PingStreaming, …>.
  template <template <typename...> typename F>
  using Apply = F<Ms...>;
  // Calls visit.operator()<M>() for each, in order.
  template <typename Visit>
  static void ForEach(Visit&& visit) {
    (visit.template operator()<Ms>(), ...);
  }
  // The same for the one with that id, which must be one's; returns what it returns. MethodInfo::kNotOurs is none's.
  template <typename Visit>
  static auto With(int id, Visit&& visit) {
    return Find<0, Ms...>(id, std::forward<Visit>(visit));
  }

 private:
  template <int kId, typename M, typename... Rest, typename Visit>
  static auto Find(int id, Visit&& visit) {
    if (id == kId) return visit.template operator()<M>();
    if constexpr (sizeof...(Rest) > 0) return Find<kId + 1, Rest...>(id, std::forward<Visit>(visit));
    DieOfUnknownMethod(id);
  }
};

// The methods that HTTP and JSON reach, too.
using LibraryMethods = Methods<LibraryGet, LibraryList, LibraryStream, LibraryCreate, LibraryUpdate, LibraryDelete>;

using AllMethods = Methods<PingUnary, PingStreaming,                            //
                           EchoUnary, EchoStreaming, EchoUpload, EchoDownload,  //
                           UserCreate, BlobPut, BlobGet, FlexNormal,            //
                           LibraryGet, LibraryList, LibraryStream, LibraryCreate, LibraryUpdate, LibraryDelete>;

}  // namespace cqbench
