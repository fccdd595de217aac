/* A gRPC server that handles the calls of a connection one after the other: a thread for each connection, which takes
   MICROSECONDS for a call and responds with an empty message. It has no limit of streams and reads no header.
   serial_server MICROSECONDS --port 0: prints where it listens. SIGTERM ends it. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kData, kHeaders, kSettings = 4, kPing = 6, kWindowUpdate = 8, kEndStream = 1, kAck = 1, kEndHeaders = 4 };
enum { kHead = 9, kPreface = 24, kLongest = 16384 };
#define FIELD(length, name, size, value) "\0" length name size value
static const char kBegin[] = FIELD("\7", ":status", "\3", "200") FIELD("\14", "content-type", "\20", "application/grpc");
static const char kOk[] = FIELD("\13", "grpc-status", "\1", "0");
static const char kEmptyMessage[5];

static struct timespec service_time;

static size_t AddFrame(char* to, int kind, int flags, uint32_t stream, const void* payload, size_t size) {
  const uint32_t number = htonl(stream);
  memcpy(to, (char[]){(char)(size >> 16), (char)(size >> 8), (char)size, (char)kind, (char)flags}, 5);
  memcpy(to + 5, &number, 4);
  memcpy(to + kHead, payload, size);
  return kHead + size;
}

static void Send(int peer, const char* bytes, size_t size) {
  if (write(peer, bytes, size) != (ssize_t)size) pthread_exit(NULL);
}

static void SendFrame(int peer, int kind, int flags, const void* payload, size_t size) {
  char frame[kHead + kLongest];
  Send(peer, frame, AddFrame(frame, kind, flags, 0, payload, size));
}

static void Respond(int peer, uint32_t stream) {
  char all[256];
  nanosleep(&service_time, NULL);
  size_t size = AddFrame(all, kHeaders, kEndHeaders, stream, kBegin, sizeof kBegin - 1);
  size += AddFrame(all + size, kData, 0, stream, kEmptyMessage, sizeof kEmptyMessage);
  size += AddFrame(all + size, kHeaders, kEndHeaders | kEndStream, stream, kOk, sizeof kOk - 1);
  Send(peer, all, size);
}

/* 0: no more, or longer than a frame may be. */
static int Read(FILE* from, void* to, size_t size) { return size <= kLongest && fread(to, 1, size, from) == size; }

static void* Serve(void* connection) {
  const int peer = (int)(intptr_t)connection;
  FILE* from = fdopen(peer, "r");
  const uint32_t window = htonl(1 << 30);
  char payload[kLongest];
  unsigned char head[kHead];
  uint32_t stream;
  int open = Read(from, payload, kPreface);
  SendFrame(peer, kSettings, 0, NULL, 0);
  SendFrame(peer, kWindowUpdate, 0, &window, sizeof window);
  while (open && Read(from, head, sizeof head)) {
    const size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    const int kind = head[3], flags = head[4];
    memcpy(&stream, head + 5, 4);
    open = Read(from, payload, size);
    if (kind == kSettings && !(flags & kAck)) SendFrame(peer, kSettings, kAck, NULL, 0);
    if (kind == kPing && !(flags & kAck)) SendFrame(peer, kPing, kAck, payload, size);
    if (kind <= kHeaders && flags & kEndStream) Respond(peer, ntohl(stream));
  }
  fclose(from);
  return NULL;
}

int main(int argc, char** argv) {
  const long nanoseconds = argc > 1 ? atol(argv[1]) * 1000 : 0;
  service_time = (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
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
