// SPDX-License-Identifier: Apache-2.0
// In the static program nothing can be loaded: libc would look for its own shared libraries to do
// so. SQLite, which can load extensions but is never asked to, is linked (--wrap) with these
// functions in place of libc's.
extern "C" {

void* __wrap_dlopen(const char* /*file*/, int /*mode*/) { return nullptr; }     // NOLINT
void* __wrap_dlsym(void* /*handle*/, const char* /*name*/) { return nullptr; }  // NOLINT
int __wrap_dlclose(void* /*handle*/) { return 0; }                              // NOLINT
const char* __wrap_dlerror() { return "this program loads no libraries"; }      // NOLINT
}
