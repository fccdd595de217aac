/* A gRPC server that handles the calls of a connection one after the other, each for MICROSECONDS, and responds with an
   empty message. Connections do not wait for each other. It has no limit of streams and reads no header.
   serial_server MICROSECONDS ahead|blocked --port 0: prints where it listens; SIGTERM ends it.
   ahead: a thread reads requests as they come, another one handles them. blocked: one thread does both, so requests stay
   in the socket while it handles a call. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kData, kHeaders, kSettings = 4, kPing = 6, kWindowUpdate = 8 };
enum { kEndStream = 1, kAck = 1, kEndHeaders = 4 };
enum { kHead = 9, kPreface = 24, kLongest = 16384 };
#define FIELD(length, name, size, value) "\0" length name size value
static const char kBegin[] = FIELD("\7", ":status", "\3", "200") FIELD("\14", "content-type", "\20", "application/grpc");
static const char kOk[] = FIELD("\13", "grpc-status", "\1", "0");
static const char kEmptyMessage[5];

static struct timespec service_time;
static int reads_ahead;

struct Connection {
  int peer;
  int calls[2]; /* a pipe: numbers of the streams that wait */
};

static size_t AddFrame(char* to, int kind, int flags, uint32_t stream, const void* payload, size_t size) {
  const uint32_t number = htonl(stream);
  memcpy(to, (char[]){(char)(size >> 16), (char)(size >> 8), (char)size, (char)kind, (char)flags}, 5);
  memcpy(to + 5, &number, 4);
  if (size > 0) memcpy(to + kHead, payload, size);
  return kHead + size;
}

/* In one call of write, so that frames of two threads do not mix. A peer that is gone is seen by Read. */
static void Send(int peer, const char* bytes, size_t size) {
  if (write(peer, bytes, size) != (ssize_t)size) shutdown(peer, SHUT_RDWR);
}

static void SendFrame(int peer, int kind, int flags, const void* payload, size_t size) {
  char frame[kHead + kLongest];
  Send(peer, frame, AddFrame(frame, kind, flags, 0, payload, size));
}

static void Handle(int peer, uint32_t stream) {
  char all[256];
  nanosleep(&service_time, NULL);
  size_t size = AddFrame(all, kHeaders, kEndHeaders, stream, kBegin, sizeof kBegin - 1);
  size += AddFrame(all + size, kData, 0, stream, kEmptyMessage, sizeof kEmptyMessage);
  size += AddFrame(all + size, kHeaders, kEndHeaders | kEndStream, stream, kOk, sizeof kOk - 1);
  Send(peer, all, size);
}

static void* HandleAll(void* argument) {
  const struct Connection* connection = argument;
  uint32_t stream;
  while (read(connection->calls[0], &stream, sizeof stream) == sizeof stream) Handle(connection->peer, stream);
  return NULL;
}

/* 0: the connection has ended, or the frame is longer than allowed. */
static int Read(FILE* from, void* to, size_t size) { return size <= kLongest && fread(to, 1, size, from) == size; }

static void ReadAll(const struct Connection* connection, FILE* from) {
  const int peer = connection->peer;
  char payload[kLongest];
  unsigned char head[kHead];
  uint32_t stream;
  int open = Read(from, payload, kPreface);
  while (open && Read(from, head, sizeof head)) {
    const size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    const int kind = head[3], flags = head[4];
    memcpy(&stream, head + 5, 4);
    stream = ntohl(stream);
    open = Read(from, payload, size);
    if (kind == kSettings && !(flags & kAck)) SendFrame(peer, kSettings, kAck, NULL, 0);
    if (kind == kPing && !(flags & kAck)) SendFrame(peer, kPing, kAck, payload, size);
    if (kind > kHeaders || !(flags & kEndStream)) continue;
    if (!reads_ahead) Handle(peer, stream);
    if (reads_ahead && write(connection->calls[1], &stream, sizeof stream) != sizeof stream) abort();
  }
}

static void* Serve(void* argument) {
  struct Connection connection = {.peer = (int)(intptr_t)argument};
  FILE* from = fdopen(connection.peer, "r");
  const uint32_t window = htonl(1 << 30);
  pthread_t handler;
  if (!from || pipe(connection.calls) || pthread_create(&handler, NULL, HandleAll, &connection)) abort();
  SendFrame(connection.peer, kSettings, 0, NULL, 0);
  SendFrame(connection.peer, kWindowUpdate, 0, &window, sizeof window);
  ReadAll(&connection, from);
  close(connection.calls[1]);
  pthread_join(handler, NULL);
  close(connection.calls[0]);
  fclose(from);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const long nanoseconds = atol(argv[1]) * 1000;
  service_time = (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
  reads_ahead = strcmp(argv[2], "ahead") == 0;
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (bind(listener, (struct sockaddr*)&address, size) || listen(listener, 128) ||
      getsockname(listener, (struct sockaddr*)&address, &size)) {
    perror("serial_server");
    return 1;
  }
  printf("listening on localhost:%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    pthread_t thread;
    const int peer = accept(listener, NULL, NULL);
    if (peer < 0) continue;
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (pthread_create(&thread, NULL, Serve, (void*)(intptr_t)peer)) abort();
    pthread_detach(thread);
  }
}
