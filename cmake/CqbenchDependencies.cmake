# Finds the packages that the project needs. Each package is named with the Debian package that provides it, so that a
# failed configure names what to install instead of printing a CMake stack.

# cqbench_require(PACKAGE "DEBIAN PACKAGES" [find_package arguments...])
macro(cqbench_require package debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. On Debian or Ubuntu: apt-get install ${debian}; "
                        "elsewhere add its prefix to CMAKE_PREFIX_PATH.")
  endif()
endmacro()

set(THREADS_PREFER_PTHREAD_FLAG ON)
cqbench_require(Threads "g++")

# A gRPC built from source brings protobuf's own CMake package, which its targets need. Debian's protobuf has none, and
# CMake's FindProtobuf module finds it. The package is tried first so that both are never mixed.
find_package(protobuf CONFIG QUIET)
if(NOT protobuf_FOUND)
  cqbench_require(Protobuf "libprotobuf-dev protobuf-compiler" MODULE)
endif()
cqbench_require(absl "libabsl-dev" CONFIG)
cqbench_require(ZLIB "zlib1g-dev" MODULE)
# gRPC uses the same library. With another TLS library, cqbench could neither limit nor read versions and ciphers.
cqbench_require(OpenSSL "libssl-dev" MODULE)
cqbench_require(gRPC "libgrpc++-dev protobuf-compiler-grpc" CONFIG)
# Sanitizer builds link the shared libraries: their reports name functions of a library either way, and they link faster.
set(CQBENCH_LINKED shared)
file(REMOVE ${PROJECT_BINARY_DIR}/bin/archives.txt)
if(NOT CQBENCH_LINK STREQUAL shared AND NOT CQBENCH_SANITIZER)
  cqbench_link_statically(missing gRPC::grpc++ protobuf::libprotobuf)
  if(NOT missing)
    set(CQBENCH_LINKED static)
  elseif(CQBENCH_LINK STREQUAL static)
    list(JOIN missing ", " missing)
    message(FATAL_ERROR "CQBENCH_LINK is static, but these libraries have no archive next to them: ${missing}")
  endif()
endif()
cqbench_require(CLI11 "libcli11-dev" CONFIG)
cqbench_require(nlohmann_json "nlohmann-json3-dev" CONFIG)
# Only grpc_ping_client_mpi needs MPI. It uses the C interface, because MPI has removed its C++ one. Sanitizer builds go
# without: Open MPI and the libraries that it loads leak memory.
if(NOT CQBENCH_SANITIZER)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(NOT MPI_C_FOUND AND NOT CQBENCH_SANITIZER)
  message(STATUS "cqbench: no MPI was found, grpc_ping_client_mpi is not built (Debian: libopenmpi-dev openmpi-bin)")
endif()
if(CQBENCH_BUILD_MICROBENCH)
  cqbench_require(benchmark "libbenchmark-dev" CONFIG)
endif()
if(CQBENCH_BUILD_TESTS)
  cqbench_require(GTest "libgtest-dev libgmock-dev" CONFIG)
endif()

# Only some versions of Debian's gRPC package export the plugin; the program is enough.
find_program(CQBENCH_GRPC_CPP_PLUGIN grpc_cpp_plugin)
if(TARGET gRPC::grpc_cpp_plugin)
  set(CQBENCH_GRPC_CPP_PLUGIN $<TARGET_FILE:gRPC::grpc_cpp_plugin>)
elseif(NOT CQBENCH_GRPC_CPP_PLUGIN)
  message(FATAL_ERROR "grpc_cpp_plugin was not found. On Debian or Ubuntu: apt-get install protobuf-compiler-grpc")
endif()

# The HTTP part is built where all that it needs is found. Of Boost only headers are needed; CONFIG mode is used because
# CMake has removed its own FindBoost. A Python package (scripts/requirements-build.txt) contains google/api/*.proto:
# scripts/lib.sh passes its folder, a plain cmake searches the environment that scripts/install.sh makes.
set(CQBENCH_HTTP_LACKS)
find_package(Boost QUIET CONFIG)
if(NOT Boost_FOUND)
  list(APPEND CQBENCH_HTTP_LACKS "Boost (libboost-dev)")
endif()
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(nghttp2 QUIET IMPORTED_TARGET libnghttp2)
endif()
if(NOT nghttp2_FOUND)
  list(APPEND CQBENCH_HTTP_LACKS "nghttp2 (libnghttp2-dev and pkg-config)")
endif()
file(GLOB environment ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages)
find_path(CQBENCH_GOOGLEAPIS_DIR google/api/annotations.proto HINTS ${environment}
          DOC "Folder with google/api/annotations.proto, http.proto and google/rpc/status.proto")
foreach(file google/api/annotations.proto google/api/http.proto google/rpc/status.proto)
  if(NOT EXISTS ${CQBENCH_GOOGLEAPIS_DIR}/${file})
    list(APPEND CQBENCH_HTTP_LACKS "${file} (scripts/install.sh, or CQBENCH_GOOGLEAPIS_DIR)")
    break()
  endif()
endforeach()
if(CQBENCH_HTTP_LACKS)
  set(CQBENCH_HTTP OFF)
  list(JOIN CQBENCH_HTTP_LACKS ", " CQBENCH_HTTP_LACKS)
  message(STATUS "cqbench: HTTP and JSON are not built, which need ${CQBENCH_HTTP_LACKS}")
else()
  set(CQBENCH_HTTP ON)
endif()

message(STATUS "cqbench: gRPC ${gRPC_VERSION} (${CQBENCH_LINKED}), absl ${absl_VERSION}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
