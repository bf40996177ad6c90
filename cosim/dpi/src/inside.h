/* inside.h: the model as a shared object in the host's own process. C, for package inside on the other side.
 *
 * A loaded object holds one model: its C++ side and Verilator's runtime have globals. Who wants two loads
 * two copies. Nothing here ends the process or writes to its standard output.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NL_INSIDE_VERSION 1
#define NL_INSIDE_SYMBOL "nicloop_inside"
#define NL_HELLO_BYTES 72

#ifdef __cplusplus
extern "C" {
#endif

/* What an exchange came to. */
enum {
  NL_INSIDE_GOES_ON = 0,
  NL_INSIDE_OVER = 1,    /* SHUTDOWN came, or a message that was not understood: the reply says so */
  NL_INSIDE_STOPPED = 2, /* stop was called */
  NL_INSIDE_DIED = 3,    /* an exception that nobody expected; the reply is its text */
};

/* A model. Fields are for reading. */
struct nl_inside {
  uint8_t hello[NL_HELLO_BYTES]; /* a Hello of protocol.h */
  const uint8_t* reply;          /* of the last open or exchange; good until the next */
  size_t reply_bytes;
};

struct nl_inside_api {
  uint32_t version; /* NL_INSIDE_VERSION */
  /* Makes the model, resets it, and says STOPPED at cycle 0. arguments are those of arguments.h, welcome is a Welcome of
   * protocol.h, memory what it describes. What the model prints goes to the descriptor log, unless that is negative. Null:
   * *error says why, until the next call. */
  struct nl_inside* (*open)(int argc, char** argv, const void* welcome, void* memory, int log, const char** error);
  /* Executes a message of commands; the reply has all their events. */
  int (*exchange)(struct nl_inside* model, const uint8_t* message, size_t bytes);
  /* Ends the exchange of another thread at its next pulse, and every later one. */
  void (*stop)(struct nl_inside* model);
  /* Finishes the model. The object can be unloaded then, and holds no other model until it has been. */
  void (*close)(struct nl_inside* model);
};

#ifdef __cplusplus
}
#endif
