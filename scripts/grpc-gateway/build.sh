#!/usr/bin/env bash
# Builds the Go peer of transcoding, grpc-gateway with the library of proto/library.proto, as build/grpc-gateway/grpc-gateway: the
# protobuf code is generated there, with the generators that go.mod pins; nothing generated is kept in the tree. Needs
# Go 1.21 or newer (which fetches the one that go.mod asks for) and protoc. A minute or two the first time.
#
# Usage: scripts/grpc-gateway/build.sh [--bench [FLAG OF go test...] | --help]
#   --bench  then measure as Go does it, ns/op, B/op and allocs/op of the same rows as larking's benchmark:
#            `go test -bench .` with these flags, such as -count 6 -benchtime 2s
# Exit status: 0; 1 there is no Go, it could not be built, or a benchmark failed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

if (($# > 0)) && [[ $1 != --bench ]]; then
  [[ $1 == --help || $1 == -h ]] || die "'$1' is not known: accepted are --bench and --help"
  show_help "$0"
  exit
fi

need_go "the Go server of transcoding"
python_venv build # has google/api/annotations.proto

folder=$ROOT/build/grpc-gateway
mkdir -p "$folder/src"/{library,asis,equal}
cp "$ROOT"/scripts/grpc-gateway/{go.mod,go.sum,*.go} "$folder/src/"

# generate: the package library, its messages and service; and grpc-gateway's handlers twice: asis as it makes them, and
# equal, which makes no field mask from the body of a PATCH.
generate() {
  local name=library.proto package=cqbench/gateway/library option
  local arguments=(--proto_path="$ROOT/proto" --proto_path="$(googleapis_dir)")
  for option in go go-grpc grpc-gateway; do
    arguments+=(--plugin="protoc-gen-$option=$folder/bin/protoc-gen-$option"
      "--${option}_opt=paths=source_relative,M$name=$package")
  done
  protoc "${arguments[@]}" --go_out="$folder/src/library" --go-grpc_out="$folder/src/library" "$name" &&
    protoc "${arguments[@]}" --grpc-gateway_out="$folder/src/asis" --grpc-gateway_opt=standalone=true "$name" &&
    protoc "${arguments[@]}" --grpc-gateway_out="$folder/src/equal" --grpc-gateway_opt=standalone=true,allow_patch_feature=false "$name"
}

# build: everything, in that folder.
build() {
  cd "$folder/src" || return
  GOBIN=$folder/bin go install tool && generate &&
    go build -o "$folder/grpc-gateway" .
}

build_logged "the Go server of transcoding" "$folder/build.log" build
if (($# > 0)); then
  shift
  cd "$folder/src"
  GATEWAY=$folder/grpc-gateway exec go test -run '^$' -bench . -benchmem "$@"
fi
