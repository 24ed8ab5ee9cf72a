# src/proto/x.proto is known to protobuf as emplace/proto/x.proto: a consumer's own x.proto, in
# whatever package, cannot meet it in the descriptor pool, where file names are keys too.
set(EMPLACE_GEN ${PROJECT_BINARY_DIR}/gen)
set(EMPLACE_PROTO_SOURCES "")
file(MAKE_DIRECTORY ${EMPLACE_GEN}/emplace/proto)
file(GLOB protos CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/proto/*.proto)
foreach(proto ${protos})
  get_filename_component(name ${proto} NAME_WE)
  set(out ${EMPLACE_GEN}/emplace/proto/${name}.pb)
  add_custom_command(
    OUTPUT ${out}.cc ${out}.h
    COMMAND protobuf::protoc -Iemplace/proto=${PROJECT_SOURCE_DIR}/src/proto
            --cpp_out=${EMPLACE_GEN} ${proto}
    DEPENDS ${protos}
    COMMENT "protoc ${name}.proto"
    VERBATIM)
  list(APPEND EMPLACE_PROTO_SOURCES ${out}.cc)
endforeach()

# Headers first, so that whoever includes them need not wait for the messages to compile.
set(proto_headers ${EMPLACE_PROTO_SOURCES})
list(TRANSFORM proto_headers REPLACE "\\.cc$" ".h")
add_custom_target(emplace_gen DEPENDS ${proto_headers})
