// A server in a process of its own, and what it allocates.
package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// allocated: so far, as the server tells it. known: false where nobody does.
type allocated struct {
	blocks, bytes uint64
	known         bool
}

func nothing() allocated { return allocated{} }

func (a allocated) since(before allocated) allocated {
	return allocated{a.blocks - before.blocks, a.bytes - before.bytes, a.known}
}

func (a allocated) report(b *testing.B, calls int) {
	if a.known {
		b.ReportMetric(float64(a.blocks)/float64(calls), "server-allocs/op")
		b.ReportMetric(float64(a.bytes)/float64(calls), "server-B/op")
	}
}

type server struct {
	b          *testing.B
	command    *exec.Cmd
	lines      *bufio.Scanner
	grpc, http string
}

func startServer(b *testing.B, program string, arm arm) *server {
	command := exec.Command(program, "--mode", arm.mode, fmt.Sprintf("--equal=%t", arm.equal), "--port", "0")
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	s := &server{b: b, command: command, lines: bufio.NewScanner(output)}
	s.http = s.line("HTTP on ")
	s.grpc = s.line("listening on ")
	return s
}

// line: what follows the words in the next line that begins with them.
func (s *server) line(words string) string {
	for s.lines.Scan() {
		if rest, found := strings.CutPrefix(s.lines.Text(), words); found {
			return rest
		}
	}
	s.b.Fatalf("the server has ended without '%s'", words)
	return ""
}

func (s *server) memory() allocated {
	if err := s.command.Process.Signal(syscall.SIGUSR1); err != nil {
		s.b.Fatal(err)
	}
	found := allocated{known: true}
	if _, err := fmt.Sscanf(s.line("allocated "), "%d blocks of %d bytes", &found.blocks, &found.bytes); err != nil {
		s.b.Fatal(err)
	}
	return found
}

func (s *server) stop() {
	s.command.Process.Kill()
	s.command.Wait()
}
