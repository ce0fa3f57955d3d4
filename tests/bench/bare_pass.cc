// SPDX-License-Identifier: Apache-2.0
// The yardstick for reading traces: simdjson's On-Demand parser goes over every event once, on one
// core, and looks at its name, ts, dur, pid and tid. Prints for each file its bytes and events, the
// seconds of a first pass with reading the file and of the fastest of five over bytes in memory.
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string_view>

namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A value that depends on all that was looked at, lest the work be optimised away.
std::size_t Touch(simdjson::ondemand::object event) {
  std::size_t sum = 0;
  for (auto field : event) {
    const std::string_view key = field.unescaped_key();
    if (key == "name") {
      sum += std::string_view(field.value().get_string()).size();
    } else if (key == "ts" || key == "dur" || key == "pid" || key == "tid") {
      sum += field.value().raw_json_token().value().size();
    }
  }
  return sum;
}

struct Passed {
  std::size_t events = 0, sum = 0;
};

Passed Pass(simdjson::ondemand::parser& parser, const simdjson::padded_string& text) {
  Passed passed;
  auto document = parser.iterate(text);
  for (auto event : document.get_array()) {
    passed.sum += Touch(event.get_object());
    ++passed.events;
  }
  return passed;
}

void Measure(const char* path) {
  const Clock::time_point start = Clock::now();
  const simdjson::padded_string text = simdjson::padded_string::load(path);
  simdjson::ondemand::parser parser(text.size());
  const Passed first = Pass(parser, text);
  const double cold = SecondsSince(start);
  double warm = cold;
  for (int run = 0; run < 5; ++run) {
    const Clock::time_point begin = Clock::now();
    if (Pass(parser, text).sum != first.sum) throw std::runtime_error("two passes differ");
    warm = std::min(warm, SecondsSince(begin));
  }
  std::printf("{\"bytes\":%zu,\"events\":%zu,\"cold\":%.6f,\"warm\":%.6f}\n", text.size(),
              first.events, cold, warm);
}

}  // namespace

int main(int count, char** paths) try {
  for (int i = 1; i < count; ++i) Measure(paths[i]);
  return 0;
} catch (const std::exception& error) {
  (void)std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
