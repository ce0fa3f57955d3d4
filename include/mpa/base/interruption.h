// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpa {

/// While one lives, the first SIGINT asks the work to stop (WasInterrupted()); the second one ends
/// the program, as the first does otherwise.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Goes on as if nobody had asked.
  static void Forget();
  /// Whether this SIGINT is the one that asks.
  static bool Take();
};

bool WasInterrupted();

}  // namespace mpa
