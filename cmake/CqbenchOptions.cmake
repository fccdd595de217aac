# Sets language level, warnings, sanitizers and the default build type through one INTERFACE target.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(cqbench_options INTERFACE)
target_compile_features(cqbench_options INTERFACE cxx_std_20)

# Frame pointers stay in every build: profilers need stacks.
target_compile_options(cqbench_options INTERFACE -fno-omit-frame-pointer)

# Only the project's own targets use these warnings, not generated code.
add_library(cqbench_warnings INTERFACE)
# clang's -Wconversion includes more than g++'s.
target_compile_options(cqbench_warnings INTERFACE -Wall -Wextra -Wconversion $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
                                                  -Wshadow $<$<BOOL:${CQBENCH_WERROR}>:-Werror>)

# A unity build includes several sources in one file; g++ then warns of types with members from unnamed namespaces.
set(CQBENCH_UNITY_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
if(CMAKE_UNITY_BUILD)
  target_compile_options(cqbench_warnings INTERFACE ${CQBENCH_UNITY_WARNINGS})
endif()

if(CQBENCH_SANITIZER)
  # In instrumented code g++ reports the standard library's own std::function and std::regex as uninitialized.
  target_compile_options(cqbench_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # -O1 -g1: g++ takes three times as long for -O2 -g, and reports are as readable.
  add_compile_options(-fsanitize=${CQBENCH_SANITIZER} -fno-sanitize-recover=all -O1 -g1)
  add_link_options(-fsanitize=${CQBENCH_SANITIZER})
endif()

if(CQBENCH_BUILD_FUZZ)
  # libFuzzer sees by this which branches an input takes. Its main() comes with each target.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CQBENCH_CCACHE ccache)
if(CQBENCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CQBENCH_CCACHE})
endif()
