// Waiting for a descriptor, for a limited time.
#pragma once

#include "src/base/clock.h"

namespace cqbench {

// Blocks until the descriptor is ready for `events` (POLLIN, POLLOUT), broken, or closed by the other side. Returns
// false when that does not happen before `give_up_at`. A signal does not end the wait: poll() is never restarted after
// a handler, and the timer of StepLimit runs a handler ten times a second.
bool AwaitEvents(int fd, short events, Nanos give_up_at);

// Blocks until a non-blocking connect() that has returned EINPROGRESS ends. Returns 0 when the socket is connected, the
// errno of the connection otherwise, and EINPROGRESS when it does not end before `give_up_at`.
int AwaitConnected(int fd, Nanos give_up_at);

}  // namespace cqbench
