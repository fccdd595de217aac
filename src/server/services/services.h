// The services that a list of methods belongs to. Several methods may share one, so each is made from all of its own.
#pragma once

#include <grpcpp/server_builder.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "src/workload/methods/methods.h"

namespace cqbench {

template <typename... Ts>
struct TypeList {};

// The list with T at its end, unless it has T.
template <typename... Ts, typename T>
auto operator+(TypeList<Ts...>, std::type_identity<T>)
    -> std::conditional_t<(std::is_same_v<T, Ts> || ...), TypeList<Ts...>, TypeList<Ts..., T>>;

// The generated service classes of the methods, each once.
template <typename... Ms>
using ServicesOf = decltype((TypeList<>() + ... + std::type_identity<typename Ms::Service>()));

// "cqbench.v1.EchoService", …
inline std::vector<std::string> ServiceNames() {
  return []<typename... Services>(TypeList<Services...>) {
    return std::vector<std::string>{Services::service_full_name()...};
  }(AllMethods::Apply<ServicesOf>());
}

// ServiceNames(), and the services that every server has.
inline std::vector<std::string> ListedServices() {
  std::vector<std::string> names = ServiceNames();
  names.insert(names.end(), {"cqbench.control.v1.Control", "grpc.health.v1.Health"});
  return names;
}

// A class that handles those of the methods that are Base::Served's: On<M2, On<M1, Base>>. `Api` says how one method is
// added to a class: its On<M, Base> is a class that has Base's methods and M.
template <typename Api, typename Base, typename... Ms>
struct Handling {
  using Type = Base;
};
template <typename Api, typename Base, typename M, typename... Rest>
struct Handling<Api, Base, M, Rest...>
    : Handling<Api,
               std::conditional_t<std::is_same_v<typename M::Service, typename Base::Served>,
                                  typename Api::template On<M, Base>, Base>,
               Rest...> {};

// An object of each service, made from the same argument; `Api::Root<Service>` is one without methods.
template <typename Api, typename Services, typename... Ms>
class ServiceObjects;
template <typename Api, typename... Services, typename... Ms>
class ServiceObjects<Api, TypeList<Services...>, Ms...> {
 public:
  template <typename Argument>
  explicit ServiceObjects(const Argument& argument) : all_(Of<Services>(argument)...) {}
  void Register(grpc::ServerBuilder& builder) {
    std::apply([&](auto&... service) { (builder.RegisterService(&service), ...); }, all_);
  }
  // The one that handles M.
  template <typename M>
  auto& For() {
    return std::get<typename Handling<Api, typename Api::template Root<typename M::Service>, Ms...>::Type>(all_);
  }

 private:
  template <typename Service>
  static const auto& Of(const auto& argument) {
    return argument;
  }
  std::tuple<typename Handling<Api, typename Api::template Root<Services>, Ms...>::Type...> all_;
};

}  // namespace cqbench
