#include "src/cli/flags/call_flags.h"

#include "cqbench/run_config.h"
#include "src/workload/dynamic/descriptors.h"

namespace cqbench {

CallFlags::CallFlags(CLI::App& app, CallSpec& spec, const std::string& call_help) {
  const auto parse = [](const std::string& text) -> absl::StatusOr<std::string> {
    const auto name = ParseMethodName(text);
    return name.ok() ? absl::StatusOr<std::string>(absl::StrCat(name->service, "/", name->method)) : name.status();
  };
  call_ = AddParsed(app, "--call", spec.method, parse, call_help)->type_name("PACKAGE.SERVICE/METHOD");
  proto_ = Needs(app.add_option("--proto", spec.source.proto, "Proto file that defines the --call method."))
               ->type_name("FILE");
  import_paths_ = app.add_option("--import-path", spec.source.import_paths,
                                 "Folder to search for --proto and its imports; repeatable.")
                      ->type_name("DIR")
                      ->expected(1)
                      ->take_all();
  protoset_ = Needs(app.add_option("--protoset", spec.source.protoset,
                                   "Descriptors from protoc --descriptor_set_out --include_imports."))
                  ->type_name("FILE");
  protoset_->excludes(proto_);
}

CLI::Option* CallFlags::Needs(CLI::Option* option) {
  needs_call_.push_back(option);
  return option;
}

void CallFlags::Resolve() {
  for (const CLI::Option* option : needs_call_) {
    if (option->count() > 0 && !given()) BadCombination(option->get_name(), "needs --call");
  }
  if (import_paths_->count() > 0 && proto_->count() == 0) BadCombination("--import-path", "needs --proto");
}

ClientCallFlags::ClientCallFlags(CLI::App& app, CallSpec& spec, RunConfig& run)
    : spec_(spec),
      common_(app, spec, "Method of your own instead of a workload, from reflection, --proto or --protoset.") {
  common_.Needs(app.add_option("--data", spec.data, "Requests of --call as JSON, or @FILE: one message or several."))
      ->type_name("JSON|@FILE")
      ->capture_default_str();
  common_.Needs(AddEnum(app, "--data-order", spec.order, "Order of several requests."));
  seed_ = AddNumber(app, "--data-seed", spec.seed, uint64_t{0}, UINT64_MAX, "Random seed of --data-order random.")
              ->type_name("SEED");
  common_.Needs(app.add_flag("--check-responses", spec.check_responses,
                             "Parse each response; bytes that do not parse are an error. Costs CPU."));
  expect_option_ = common_
                       .Needs(app.add_option("--expect", expect_,
                                             "Expected response, compared field by field; a difference is an error."))
                       ->type_name("JSON|@FILE");
  app.add_option_function<std::vector<std::string>>(
         "-H,--header",
         [&run](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             auto metadata = ParseMetadata(text);
             if (!metadata.ok()) throw CLI::ValidationError("--header", std::string(metadata.status().message()));
             run.metadata.push_back(*std::move(metadata));
           }
         },
         "Metadata of every call; values of keys that end in -bin are base64; repeatable.")
      ->type_name("'KEY: VALUE'")
      ->expected(1)
      ->take_all();
}

void ClientCallFlags::Resolve() {
  common_.Resolve();
  if (seed_->count() > 0 && spec_.order != DataOrder::kRandom) {
    BadCombination("--data-seed", "needs --data-order random");
  }
  if (expect_option_->count() > 0) spec_.expect = expect_;
}

}  // namespace cqbench
