# cqbench_add_protos(TARGET FILE.proto... [FROM FOLDER | IN FOLDER] [MESSAGES_ONLY | STUBS_ONLY] [LINK TARGET...]): compiles the files
# with protoc and the gRPC plugin into a static library. Generated headers are SYSTEM headers and generated sources carry no
# warnings of this project's.
# FROM: the folder to which the names of the files and of their headers are relative. Without FROM, the names are relative
# to the current folder, or to that of IN, and the headers are in cqbench/proto.
# MESSAGES_ONLY: without the services' stubs, and so without gRPC. STUBS_ONLY: only the stubs, for files whose messages are
# in a library of LINK. LINK: libraries of other protos that these files import.
function(cqbench_add_protos target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MESSAGES_ONLY;STUBS_ONLY" "FROM;IN" "LINK")
  if(arg_FROM)
    set(include ${CMAKE_CURRENT_BINARY_DIR}/generated_${target})
    set(out ${include})
  else()
    set(arg_FROM ${CMAKE_CURRENT_SOURCE_DIR})
    if(arg_IN)
      set(arg_FROM ${arg_IN})
    endif()
    set(include ${CMAKE_CURRENT_BINARY_DIR}/generated)
    set(out ${include}/cqbench/proto)
  endif()
  set(messages --cpp_out=${out})
  set(stubs --grpc_out=${out} --plugin=protoc-gen-grpc=${CQBENCH_GRPC_CPP_PLUGIN})
  set(kinds pb grpc.pb)
  set(runtime gRPC::grpc++ protobuf::libprotobuf)
  if(arg_MESSAGES_ONLY)
    set(stubs)
    set(kinds pb)
    set(runtime protobuf::libprotobuf)
  elseif(arg_STUBS_ONLY)
    set(messages)
    set(kinds grpc.pb)
  endif()
  set(googleapis)
  if(CQBENCH_HTTP)
    set(googleapis --proto_path=${CQBENCH_GOOGLEAPIS_DIR})
  endif()
  file(MAKE_DIRECTORY ${out})
  set(sources)
  foreach(proto IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(REMOVE_EXTENSION proto OUTPUT_VARIABLE name)
    set(generated)
    foreach(kind IN LISTS kinds)
      list(APPEND generated ${out}/${name}.${kind}.cc ${out}/${name}.${kind}.h)
    endforeach()
    add_custom_command(
      OUTPUT ${generated}
      COMMAND protobuf::protoc --proto_path=${arg_FROM} ${googleapis} ${messages}
              ${stubs} ${proto}
      DEPENDS ${arg_FROM}/${proto}
      WORKING_DIRECTORY ${arg_FROM}
      COMMENT "Generating C++ from ${proto}"
      VERBATIM)
    list(APPEND sources ${generated})
  endforeach()
  add_library(${target} STATIC ${sources})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -w)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # the sources have names in common
  target_include_directories(${target} SYSTEM PUBLIC ${include} PRIVATE ${out})
  target_link_libraries(${target} PUBLIC ${runtime} ${arg_LINK})
endfunction()
