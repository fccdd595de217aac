// What `go test -bench` says of a call through grpc-gateway: the rows of larking's benchmark, one call after the other on
// one connection, every answer parsed. Together: client and server in this process, so that B/op and allocs/op are both
// ends'. Apart: the server is a process of its own, $GATEWAY; B/op and allocs/op are then the client's, and the server
// has server-B/op and server-allocs/op.
package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"cqbench/gateway/library"
)

const (
	name     = "shelves/1/books/1"
	newTitle = "The Adventures of a Book"
)

type arm struct {
	name, mode string
	equal      bool
}

// The first is what larking measured.
var arms = []arm{
	{"inprocess", inProcess, false},
	{"inprocess-equal", inProcess, true},
	{"proxy", proxy, false},
	{"proxy-equal", proxy, true},
}

type row struct {
	name, method, query string
	in                  *library.Book // nil: no body
	want                proto.Message // of what type the answer is, too
}

func rows() []row {
	updated := makeBook(1, 1)
	updated.Title = newTitle
	return []row{
		{"HTTP_GetBook", http.MethodGet, "", nil, makeBook(1, 1)},
		{"HTTP_UpdateBook", http.MethodPatch, "?update_mask=title", &library.Book{Name: name, Title: newTitle}, updated},
		{"HTTP_DeleteBook", http.MethodDelete, "", nil, &emptypb.Empty{}},
	}
}

// call makes the request anew, body included, and parses the answer.
func (r row) call(client *http.Client, address string) (proto.Message, error) {
	var body io.Reader
	if r.in != nil {
		text, err := protojson.Marshal(r.in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequest(r.method, "http://"+address+"/v1/"+name+r.query, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	out := r.want.ProtoReflect().New().Interface()
	return out, protojson.Unmarshal(text, out)
}

// run is one row: step until the time is over; its last answer has to be the right one.
func run(b *testing.B, memory func() allocated, want proto.Message, step func() (proto.Message, error)) {
	if _, err := step(); err != nil { // connects
		b.Fatal(err)
	}
	var got proto.Message
	before, calls := memory(), 0
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if got, err = step(); err != nil {
			b.Fatal(err)
		}
		calls++
	}
	memory().since(before).report(b, calls)
	if !proto.Equal(got, want) {
		b.Fatalf("%v instead of %v", got, want)
	}
}

func runRows(b *testing.B, grpcAddress, httpAddress string, memory func() allocated) {
	connection, err := grpc.NewClient(grpcAddress, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	defer connection.Close()
	stub, client := library.NewLibraryServiceClient(connection), &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	b.Run("GRPC_GetBook", func(b *testing.B) {
		run(b, memory, makeBook(1, 1), func() (proto.Message, error) {
			return stub.GetBook(context.Background(), &library.GetBookRequest{Name: name})
		})
	})
	for _, row := range rows() {
		b.Run(row.name, func(b *testing.B) {
			run(b, memory, row.want, func() (proto.Message, error) { return row.call(client, httpAddress) })
		})
	}
}

func loopback(b *testing.B) net.Listener {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		b.Fatal(err)
	}
	return listener
}

func BenchmarkTogether(b *testing.B) {
	for _, arm := range arms {
		b.Run(arm.name, func(b *testing.B) {
			forGrpc, forHTTP, server := loopback(b), loopback(b), newGrpcServer()
			handler, err := front(arm.mode, forGrpc.Addr().String(), arm.equal)
			if err != nil {
				b.Fatal(err)
			}
			go server.Serve(forGrpc)
			defer server.Stop()
			go serveHTTP(forHTTP, handler)
			defer forHTTP.Close()
			runRows(b, forGrpc.Addr().String(), forHTTP.Addr().String(), nothing)
		})
	}
}

func BenchmarkApart(b *testing.B) {
	program := os.Getenv("GATEWAY")
	if program == "" {
		b.Skip("GATEWAY, the program that build.sh makes, is not set")
	}
	for _, arm := range arms {
		b.Run(arm.name, func(b *testing.B) {
			server := startServer(b, program, arm)
			defer server.stop()
			runRows(b, server.grpc, server.http, server.memory)
		})
	}
}
