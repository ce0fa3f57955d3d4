// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/capture/capture.h"

namespace mpa {
namespace {

TEST(Archive, IsRecognisedByTheEndOfItsName) {
  for (const char* name : {"a.tar", "a.tgz", "a.tar.gz", "A.ZIP", "trace.gz", "dir/a.tar.xz"}) {
    EXPECT_TRUE(IsArchive(name)) << name;
  }
  for (const char* name : {"trace.json", "trace.json.gz", "a.db", "tar", "a.tar/trace"}) {
    EXPECT_FALSE(IsArchive(name)) << name;
  }
}

}  // namespace
}  // namespace mpa
