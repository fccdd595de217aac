#include "src/server/services/health_service.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace cqbench {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthCheckResponse::ServingStatus HealthService::StatusOf(const std::string& service) const {
  if (!service.empty() && std::find(services_.begin(), services_.end(), service) == services_.end()) {
    return HealthCheckResponse::SERVICE_UNKNOWN;
  }
  return serving_.load() ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

grpc::Status HealthService::Check(grpc::ServerContext* /*context*/, const HealthCheckRequest* request,
                                  HealthCheckResponse* response) {
  response->set_status(StatusOf(request->service()));
  if (response->status() == HealthCheckResponse::SERVICE_UNKNOWN) {
    return {grpc::StatusCode::NOT_FOUND, "service name unknown"};
  }
  return grpc::Status::OK;
}

grpc::Status HealthService::Watch(grpc::ServerContext* context, const HealthCheckRequest* request,
                                  grpc::ServerWriter<HealthCheckResponse>* writer) {
  const CallLimit::Call call(watches_);
  if (!call.allowed()) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many watches"};

  HealthCheckResponse response;
  response.set_status(StatusOf(request->service()));
  writer->Write(response);
  while (serving_.load() && !context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (context->IsCancelled()) return grpc::Status::CANCELLED;
  response.set_status(StatusOf(request->service()));
  writer->Write(response);
  return grpc::Status::OK;
}

}  // namespace cqbench
