#!/usr/bin/env bash
# Builds the Go servers of the line-up as build/lineup/lineup: the protobuf code is generated from proto/flex.proto there,
# with the generators that go.mod pins; nothing generated is kept in the tree. Needs Go 1.21 or newer (which fetches
# the one that go.mod asks for) and protoc. A minute the first time.
#
# Usage: scripts/lineup/build.sh [--help]
# Exit status: 0; 1 there is no Go, or it could not be built.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

if (($# > 0)); then
  [[ $1 == --help || $1 == -h ]] || die "'$1' is not known: there are no options but --help"
  show_help "$0"
  exit
fi

need_go "the Go servers of the line-up"

folder=$ROOT/build/lineup
mkdir -p "$folder/src/flex"
cp "$ROOT"/scripts/lineup/{go.mod,go.sum,main.go} "$folder/src/"

# generate: the package flex and its messages' vtprotobuf methods, its service for grpc-go and for connect.
generate() {
  local name=flex.proto package=cqbench/lineup/flex option
  local arguments=(--proto_path="$ROOT/proto")
  for option in go go-grpc go-vtproto connect-go; do
    arguments+=(--plugin="protoc-gen-$option=$folder/bin/protoc-gen-$option" "--${option}_out=$folder/src"
      "--${option}_opt=module=cqbench/lineup,M$name=$package")
  done
  protoc "${arguments[@]}" --go-vtproto_opt=features=marshal+unmarshal+size "$name"
}

# build: everything, in that folder.
build() {
  cd "$folder/src" || return
  GOBIN=$folder/bin go install tool && generate &&
    go build -o "$folder/lineup" .
}

build_logged "the Go servers of the line-up" "$folder/build.log" build
