package main

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"

	asis "cqbench/gateway/asis"
	equal "cqbench/gateway/equal"
	"cqbench/gateway/library"
)

const (
	inProcess = "inprocess" // the handler calls the service's methods
	proxy     = "proxy"     // ... or calls them by gRPC
)

// front is grpc-gateway's handler. target: of a proxy, where the gRPC server is; its one connection is made with the
// first call and never closed, as the process ends with it.
func front(mode, target string, asOurs bool) (http.Handler, error) {
	mux := runtime.NewServeMux(options(asOurs)...)
	switch mode {
	case inProcess:
		return mux, registerServer(mux, asOurs)
	case proxy:
		connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, err
		}
		return mux, registerClient(mux, library.NewLibraryServiceClient(connection), asOurs)
	}
	return nil, fmt.Errorf("--mode '%s': accepted are %s, %s", mode, inProcess, proxy)
}

// options: none leaves grpc-gateway's own, which writes fields that have their default as well and passes over unknown
// ones. Ours does neither.
func options(asOurs bool) []runtime.ServeMuxOption {
	if !asOurs {
		return nil
	}
	json := &runtime.JSONPb{
		MarshalOptions:   protojson.MarshalOptions{EmitUnpopulated: false},
		UnmarshalOptions: protojson.UnmarshalOptions{DiscardUnknown: false},
	}
	return []runtime.ServeMuxOption{runtime.WithMarshalerOption(runtime.MIMEWildcard, json)}
}

func registerServer(mux *runtime.ServeMux, asOurs bool) error {
	if asOurs {
		return equal.RegisterLibraryServiceHandlerServer(context.Background(), mux, service{})
	}
	return asis.RegisterLibraryServiceHandlerServer(context.Background(), mux, service{})
}

func registerClient(mux *runtime.ServeMux, client library.LibraryServiceClient, asOurs bool) error {
	if asOurs {
		return equal.RegisterLibraryServiceHandlerClient(context.Background(), mux, client)
	}
	return asis.RegisterLibraryServiceHandlerClient(context.Background(), mux, client)
}

// serveHTTP serves HTTP/1.1 and, where a connection begins with its preface, HTTP/2, both without TLS.
func serveHTTP(listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	return server.Serve(listener)
}

func newGrpcServer() *grpc.Server {
	server := grpc.NewServer()
	library.RegisterLibraryServiceServer(server, service{})
	return server
}
