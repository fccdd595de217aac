# Language level, warnings, sanitizers and the usual build type, carried by one INTERFACE target.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(cqbench_options INTERFACE)
target_compile_features(cqbench_options INTERFACE cxx_std_20)

# Frame pointers stay in every build: a profile of a benchmark without stacks explains nothing.
target_compile_options(cqbench_options INTERFACE -fno-omit-frame-pointer)

# Private to the project's own targets: generated code is not ours to mend.
add_library(cqbench_warnings INTERFACE)
# clang's -Wconversion is more than g++'s.
target_compile_options(cqbench_warnings INTERFACE -Wall -Wextra -Wconversion $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
                                                  -Wshadow $<$<BOOL:${CQBENCH_WERROR}>:-Werror>)

# Several files as one: of types with members of unnamed namespaces, which are then in a file that is included.
set(CQBENCH_UNITY_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
if(CMAKE_UNITY_BUILD)
  target_compile_options(cqbench_warnings INTERFACE ${CQBENCH_UNITY_WARNINGS})
endif()

if(CQBENCH_SANITIZER)
  # Instrumented code makes g++ take the standard library's own std::function and std::regex for uninitialized.
  target_compile_options(cqbench_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # -O1 -g1: g++ takes three times as long for -O2 -g, and reports are as readable.
  add_compile_options(-fsanitize=${CQBENCH_SANITIZER} -fno-sanitize-recover=all -O1 -g1)
  add_link_options(-fsanitize=${CQBENCH_SANITIZER})
endif()

if(CQBENCH_BUILD_FUZZ)
  # So that libFuzzer sees which branches an input takes. Its main() comes with each target.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CQBENCH_CCACHE ccache)
if(CQBENCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CQBENCH_CCACHE})
endif()
