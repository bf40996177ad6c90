// inside.cpp: what main.cpp and transport are to the simulator, for a model in the host's process:
// the same messages, executed by a call. Linked into a shared object (cosim/build) that exports
// nicloop_inside alone.
#include "inside.h"

#include <verilated.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "bridge.h"
#include "dpi.h"
#include "hello.h"
#include "log.h"
#include "simulation.h"

// Of this object alone, since it is not exported: what the model prints to goes to the session's
// log, and neither to the host's standard output nor to another session's. cosim/build has
// Verilator print to it by name.
FILE* stdout = nullptr;

namespace nicloop {
namespace {

// Variables of a thread that are to be destroyed at its end keep this object loaded until then: no
// harm with a crew's threads, which end with their model, but the host's live on. Theirs are
// destroyed at the model's end, if the thread that closes it has some; another's, which are strings
// of what a model printed, are lost.
struct Ending {
  void (*destroy)(void*);
  void* variable;
  Ending* next;
};
thread_local bool of_host = false;
thread_local Ending* endings = nullptr;

void destroy_variables() {
  while (endings != nullptr) {
    std::unique_ptr<Ending> first(endings);
    endings = first->next;
    first->destroy(first->variable);
  }
}

// Gathers the events of an exchange.
class Gathered final : public Outbox {
 public:
  explicit Gathered(Control* control) : control_(control) { bytes_.reserve(kMaxMessage); }

  void put(const Event& event, const Text* text) override {
    append(&event, sizeof event);
    if (text != nullptr) append(text, sizeof *text);
  }
  bool pulse(uint64_t cycle) override {
    __atomic_store_n(&control_->cycle, cycle, __ATOMIC_RELEASE);
    return !stopped();
  }
  void clear() { bytes_.clear(); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  void append(const void* from, size_t size) {
    auto* at = static_cast<const uint8_t*>(from);
    bytes_.insert(bytes_.end(), at, at + size);
  }

  Control* const control_;
  std::vector<uint8_t> bytes_;
  std::atomic<bool> stop_{false};
};

class Model : public nl_inside {
 public:
  Model(int argc, char** argv, const Arguments& arguments, const Welcome& welcome, void* memory);
  int exchange(const uint8_t* message, size_t bytes);
  int died(const char* why);
  void stop() { outbox_.stop(); }

 private:
  int execute(const uint8_t* message, size_t bytes);
  int misunderstood(uint64_t at, const std::string& what);
  void answer() {
    reply = outbox_.bytes().data();
    reply_bytes = outbox_.bytes().size();
  }

  // In this order: final blocks of the model, at its end, may still report to the bridge.
  const Limits limits_;
  Gathered outbox_;
  std::unique_ptr<Bridge> bridge_;
  VerilatedContext context_;
  std::unique_ptr<Simulation> simulation_;
  std::string last_words_;
};

Model::Model(int argc, char** argv, const Arguments& arguments, const Welcome& welcome, void* memory)
    : limits_{arguments.shape.nodes(), NL_VPIDS, welcome.memory_bytes}, outbox_(static_cast<Control*>(memory)) {
  Hello said = make_hello(arguments.shape);
  static_assert(sizeof said == sizeof hello);
  std::memcpy(hello, &said, sizeof said);
  simulation_ = std::make_unique<Simulation>(&context_, argc, argv, arguments);
  bridge_ = std::make_unique<Bridge>(limits_, shared_at(welcome, memory), simulation_.get(), &outbox_);
  bridge_->set_border(simulation_->border());
  bridge_->set_one_stream(Simulation::kOneStream);
  set_bus(bridge_.get());
  simulation_->reset();
  bridge_->put_stopped(0);
  answer();
}

int Model::misunderstood(uint64_t at, const std::string& what) {
  Text text;
  set_text(&text, what);
  outbox_.put({kError, 0, 0, at, 0, 0}, &text);
  return NL_INSIDE_OVER;
}

int Model::execute(const uint8_t* message, size_t bytes) {
  for (size_t pos = 0; pos < bytes;) {
    Command command;
    PioLine line{};
    std::string error;
    if (!decode_command(message, bytes, &pos, limits_, &command, &line, &error)) return misunderstood(pos, error);
    switch (bridge_->execute(command, line, &error)) {
      case Bridge::Result::kOk: break;
      case Bridge::Result::kShutdown: return NL_INSIDE_OVER;
      case Bridge::Result::kBad: return misunderstood(pos, error);
      case Bridge::Result::kPeerGone: return NL_INSIDE_STOPPED;
    }
  }
  return outbox_.stopped() ? NL_INSIDE_STOPPED : NL_INSIDE_GOES_ON;
}

int Model::exchange(const uint8_t* message, size_t bytes) {
  outbox_.clear();
  int result = outbox_.stopped() ? int(NL_INSIDE_STOPPED) : execute(message, bytes);
  answer();
  return result;
}

int Model::died(const char* why) {
  last_words_ = why;
  reply = reinterpret_cast<const uint8_t*>(last_words_.data());
  reply_bytes = last_words_.size();
  return NL_INSIDE_DIED;
}

// Calls f, which may throw, and gives failed(why) if it did: nothing may be thrown into the host.
template <typename F, typename Failed>
auto guarded(F f, Failed failed) -> decltype(f()) {
  try {
    return f();
  } catch (const std::exception& e) {
    return failed(e.what());
  } catch (...) {
    return failed("an exception of no known type");
  }
}

std::string last_error;
bool taken = false;

Model* make(int argc, char** argv, const void* welcome, void* memory, int log) {
  of_host = true;
  auto refuse = [](const std::string& why) -> Model* {
    last_error = why;
    return nullptr;
  };
  // The loader gives the same object to whoever asks for the same file.
  if (taken) return refuse("this copy of the model is in use");
  taken = true;
  Arguments arguments;
  arguments.shape.torus = NL_TORUS != 0;
  std::string error;
  if (!parse_arguments(argc, argv, &arguments, &error) || !enough_ports(arguments.shape, &error)) return refuse(error);
  if (arguments.checkpoint != 0) return refuse("no checkpoints in the host's process");
  tee_stdout(log);
  if (stdout == nullptr) return refuse("no memory for the log");
  Welcome w;
  std::memcpy(&w, welcome, sizeof w);
  return new Model(argc, argv, arguments, w, memory);
}

nl_inside* inside_open(int argc, char** argv, const void* welcome, void* memory, int log, const char** error) {
  Model* model = guarded([&] { return make(argc, argv, welcome, memory, log); },
                         [](const char* why) -> Model* { return last_error = why, nullptr; });
  if (model == nullptr) end_tee();
  *error = last_error.c_str();
  return model;
}

int inside_exchange(nl_inside* model, const uint8_t* message, size_t bytes) {
  of_host = true;
  Model* m = static_cast<Model*>(model);
  return guarded([&] { return m->exchange(message, bytes); }, [&](const char* why) { return m->died(why); });
}

void inside_stop(nl_inside* model) { static_cast<Model*>(model)->stop(); }

void inside_close(nl_inside* model) {
  of_host = true;
  delete static_cast<Model*>(model);
  end_tee();
  destroy_variables();
}

}  // namespace
}  // namespace nicloop

extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);

// What the compiler calls for each such variable; of this object alone, as everything that is not
// exported.
extern "C" int __cxa_thread_atexit(void (*destroy)(void*), void* variable, void* object) noexcept {
  if (!nicloop::of_host) return __cxa_thread_atexit_impl(destroy, variable, object);
  nicloop::endings = new nicloop::Ending{destroy, variable, nicloop::endings};
  return 0;
}

extern "C" __attribute__((visibility("default"))) const nl_inside_api nicloop_inside = {
    NL_INSIDE_VERSION, nicloop::inside_open, nicloop::inside_exchange, nicloop::inside_stop, nicloop::inside_close};
