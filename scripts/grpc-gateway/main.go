// The Go peer of scripts/experiment.sh transcoding: the library of proto/library.proto by gRPC on one port and, through
// grpc-gateway, by HTTP and JSON on another. build.sh generates the packages library (messages, gRPC), asis and equal
// (grpc-gateway's handlers) beside this file's copy and builds it.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"google.golang.org/grpc"
)

type config struct {
	mode, listen, http, backend string
	port                        int
	equal                       bool
}

func usage(complaint error) {
	fmt.Fprintf(os.Stderr, "grpc-gateway: %v\n", complaint)
	os.Exit(2)
}

func parse() config {
	var c config
	flag.StringVar(&c.mode, "mode", inProcess, "how HTTP requests reach the service: inprocess (called) or proxy (by gRPC)")
	flag.StringVar(&c.backend, "backend", "", "with --mode proxy: HOST:PORT of another gRPC server (default: this one)")
	flag.BoolVar(&c.equal, "equal", false, "as cqbench has it: no default values in JSON, unknown fields refused, no "+
		"field mask made from a PATCH's body (default: grpc-gateway's own options)")
	flag.StringVar(&c.http, "http", "localhost:0", "where HTTP/1.1 and h2c listen, HOST:PORT; port 0: any that is free")
	flag.StringVar(&c.listen, "listen", "localhost", "where gRPC listens, HOST or HOST:PORT")
	flag.IntVar(&c.port, "port", 2137, "of gRPC, where --listen has none; 0: any that is free")
	flag.Parse()
	if flag.NArg() > 0 {
		usage(fmt.Errorf("'%s' is not known: there are flags only, --help shows them", flag.Arg(0)))
	}
	if c.mode != inProcess && c.mode != proxy {
		usage(fmt.Errorf("--mode '%s': accepted are %s, %s", c.mode, inProcess, proxy))
	}
	if c.backend != "" && c.mode != proxy {
		usage(fmt.Errorf("--backend '%s' is not accepted with --mode %s, which calls no server", c.backend, c.mode))
	}
	if _, _, err := net.SplitHostPort(c.listen); err != nil {
		c.listen = net.JoinHostPort(c.listen, fmt.Sprint(c.port))
	}
	return c
}

func listen(address string) net.Listener {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		usage(err)
	}
	return listener
}

func gatewayVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/grpc-ecosystem/grpc-gateway/v2" {
				return module.Version
			}
		}
	}
	return "of an unknown version"
}

// tellMemory prints what was allocated so far: a difference of two, divided by the calls between, is a call's.
func tellMemory() {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Printf("allocated %d blocks of %d bytes\n", memory.Mallocs, memory.TotalAlloc)
}

func main() {
	c := parse()
	forGrpc, forHTTP := listen(c.listen), listen(c.http)
	if c.backend == "" {
		c.backend = forGrpc.Addr().String()
	}
	handler, err := front(c.mode, c.backend, c.equal)
	if err != nil {
		usage(err)
	}
	options := map[bool]string{false: "its own options", true: "options as cqbench's"}[c.equal]
	fmt.Printf("gRPC Go %s, grpc-gateway %s, %s, --mode %s, %s, GOMAXPROCS %d\n", grpc.Version, gatewayVersion(),
		runtime.Version(), c.mode, options, runtime.GOMAXPROCS(0))
	fmt.Printf("HTTP on %s\n", forHTTP.Addr())
	fmt.Printf("listening on %s\n", forGrpc.Addr())

	go func() { log.Fatal(newGrpcServer().Serve(forGrpc)) }()
	go func() { log.Fatal(serveHTTP(forHTTP, handler)) }()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1)
	for <-signals == syscall.SIGUSR1 {
		tellMemory()
	}
}
