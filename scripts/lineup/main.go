// The Go servers of scripts/experiment.sh lineup: the same echo of flex.FlexService behind three libraries, each with
// protobuf's own codec or vtprotobuf's. build.sh generates the package flex beside this file's copy and builds it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"connectrpc.com/connect"
	vtgrpc "github.com/planetscale/vtprotobuf/codec/grpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"

	"cqbench/lineup/flex"
	"cqbench/lineup/flex/flexconnect"
)

func echo(request *flex.FlexRequest) *flex.FlexReply { return &flex.FlexReply{Msg: request.GetMsg()} }

type grpcService struct {
	flex.UnimplementedFlexServiceServer
}

func (grpcService) NormalRPC(_ context.Context, request *flex.FlexRequest) (*flex.FlexReply, error) {
	return echo(request), nil
}

type connectService struct{}

func (connectService) NormalRPC(_ context.Context, request *connect.Request[flex.FlexRequest]) (*connect.Response[flex.FlexReply], error) {
	return connect.NewResponse(echo(request.Msg)), nil
}

// connectCodec makes vtprotobuf's codec for grpc-go one for connect, which passes the same kind of messages.
type connectCodec struct{ vtgrpc.Codec }

func (c connectCodec) Marshal(message any) ([]byte, error) { return c.Codec.Marshal(message) }
func (c connectCodec) Unmarshal(data []byte, message any) error {
	return c.Codec.Unmarshal(data, message)
}

func newGrpcServer(vt bool) *grpc.Server {
	if vt {
		encoding.RegisterCodec(vtgrpc.Codec{}) // in place of the one with the same name
	}
	server := grpc.NewServer()
	flex.RegisterFlexServiceServer(server, grpcService{})
	return server
}

func connectHandler(vt bool) http.Handler {
	var options []connect.HandlerOption
	if vt {
		options = append(options, connect.WithCodec(connectCodec{}))
	}
	mux := http.NewServeMux()
	mux.Handle(flexconnect.NewFlexServiceHandler(connectService{}, options...))
	return mux
}

// serveHTTP serves HTTP/2 without TLS by the standard library's server.
func serveHTTP(listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	return server.Serve(listener)
}

var libraries = map[string]func(listener net.Listener, vt bool) error{
	"grpc-go":   func(listener net.Listener, vt bool) error { return newGrpcServer(vt).Serve(listener) },
	"servehttp": func(listener net.Listener, vt bool) error { return serveHTTP(listener, newGrpcServer(vt)) },
	"connect":   func(listener net.Listener, vt bool) error { return serveHTTP(listener, connectHandler(vt)) },
}

func usage(complaint error) {
	fmt.Fprintf(os.Stderr, "lineup: %v\n", complaint)
	os.Exit(2)
}

func main() {
	library := flag.String("server", "grpc-go", "grpc-go, servehttp (grpc-go behind net/http) or connect")
	vt := flag.Bool("vt", false, "vtprotobuf's codec instead of protobuf's")
	listen := flag.String("listen", "localhost", "address to listen on, HOST or HOST:PORT")
	port := flag.Int("port", 2137, "where --listen has none; 0: any that is free")
	flag.Parse()
	serve, known := libraries[*library]
	if !known || flag.NArg() > 0 {
		usage(fmt.Errorf("--server '%s' %v: accepted are grpc-go, servehttp, connect", *library, flag.Args()))
	}
	address := *listen
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(address, fmt.Sprint(*port))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		usage(err)
	}
	codec := map[bool]string{false: "protobuf", true: "vtprotobuf"}[*vt]
	fmt.Printf("gRPC Go %s, connect %s, %s, --server %s, codec %s, GOMAXPROCS %d\n", grpc.Version, connect.Version,
		runtime.Version(), *library, codec, runtime.GOMAXPROCS(0))
	fmt.Printf("listening on %s\n", listener.Addr())

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-ended
		os.Exit(0)
	}()
	if err := serve(listener, *vt); err != nil && !errors.Is(err, net.ErrClosed) {
		log.Fatal(err)
	}
}
