# cqbench_add_protos(TARGET FILE.proto...): compiles the files with protoc and the gRPC plugin into a static library.
# Generated headers are SYSTEM headers and generated sources carry no warnings of ours: they are not ours to fix.
function(cqbench_add_protos target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated/cqbench/proto)
  file(MAKE_DIRECTORY ${out})
  set(sources)
  foreach(proto IN LISTS ARGN)
    cmake_path(GET proto STEM name)
    set(generated ${out}/${name}.pb.cc ${out}/${name}.pb.h ${out}/${name}.grpc.pb.cc ${out}/${name}.grpc.pb.h)
    add_custom_command(
      OUTPUT ${generated}
      COMMAND protobuf::protoc --proto_path=${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${out} --grpc_out=${out}
              --plugin=protoc-gen-grpc=${CQBENCH_GRPC_CPP_PLUGIN} ${proto}
      DEPENDS ${proto}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      COMMENT "Generating C++ from ${proto}"
      VERBATIM)
    list(APPEND sources ${generated})
  endforeach()
  add_library(${target} STATIC ${sources})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM
    PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/generated
    PRIVATE ${out})
  target_link_libraries(${target} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
endfunction()
