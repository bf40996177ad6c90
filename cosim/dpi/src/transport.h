// transport.h: the simulator's end of the socket: finding it, trusting it, messages
// in and out. Knows nothing of what the frames mean beyond the handshake.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bridge.h"
#include "protocol.h"

namespace nicloop {

class Transport final : public Outbox {
 public:
  Transport() = default;
  ~Transport() override;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Connects, checks that the other end runs under this user, and removes the
  // socket and its directory: from here on nothing is left if both are killed.
  bool connect_to(const std::string& path, std::string* error);
  // Says hello, checks the answer and maps the shared memory that comes with it.
  bool handshake(const Hello& hello, Welcome* welcome, Shared* shared, std::string* error);

  // From here on nothing is sent: this is a fork of the process, the host talks to the other.
  void leave();

  // Next message; it stays valid until the next call. Empty: the other end is gone.
  // False: the message is longer than any may be.
  bool receive(const uint8_t** data, size_t* size);

  void put(const Event& event, const Text* text = nullptr) override;
  bool pulse(uint64_t cycle) override;
  // Sends what was put. False: the other end is gone.
  bool flush();
  // The answer is complete: the next exchange may use the message buffers again.
  bool finish_answer();

 private:
  bool map(int memory, const Welcome& welcome, Shared* shared, std::string* error);
  ssize_t receive_welcome(Welcome* welcome, int* memory);

  bool wait_at_buffer();  // for a message in the command buffer
  bool look();
  bool nap();
  bool hand_over(size_t bytes);

  int fd_ = -1;
  uint64_t last_sent_ns_ = 0;
  Control* control_ = nullptr;
  MsgBuffer* commands_ = nullptr;
  MsgBuffer* events_ = nullptr;
  bool by_socket_ = true;  // a message of this exchange took the socket
  size_t used_ = 0;
  alignas(8) uint8_t out_[kMaxMessage];
  alignas(8) uint8_t in_[kMaxMessage];
};

}  // namespace nicloop
