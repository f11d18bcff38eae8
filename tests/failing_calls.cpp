// Functions of the C library as this program and its shared libraries find them first.

#include "tests/failing_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace modewise {
namespace {

std::atomic<FailingCalls*> active = nullptr;

template <size_t size>
struct Name {
  char text[size];
  constexpr Name(const char (&name)[size]) { std::copy_n(name, size, text); }
};

template <Name name>
void* find_next() {
  return ::dlsym(RTLD_NEXT, name.text);
}

/// Found when the program starts: ThreadSanitizer's reports call close and read where dlsym cannot run. Null
/// in calls by the libraries that start before.
template <Name name>
void* const next = find_next<name>();

/// The function of the C library, or `failed`, or 0.
template <Name name, class Result, class... Arguments>
Result call(Result failed, Arguments... arguments) {
  FailingCalls* const calls = active;
  if (calls == nullptr || calls->name() != name.text || !calls->take_call())
    return reinterpret_cast<Result (*)(Arguments...)>(next<name> ? next<name>
                                                                 : find_next<name>())(arguments...);
  if (calls->error() == 0) return {};
  errno = calls->error();
  return failed;
}

}  // namespace

FailingCalls::FailingCalls(std::string_view name, int error, int first, int count)
    : name_(name), error_(error), first_(first), count_(count) {
  if (active.exchange(this) != nullptr) std::abort();
}

FailingCalls::~FailingCalls() {
  active = nullptr;
}

bool FailingCalls::take_call() {
  ++calls_;
  return calls_ >= first_ && calls_ < first_ + count_;
}

}  // namespace modewise

using modewise::call;

extern "C" {

int close(int descriptor) {
  return call<"close">(-1, descriptor);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  return call<"fallocate">(-1, descriptor, mode, offset, size);
}

DIR* fdopendir(int descriptor) {
  return call<"fdopendir", DIR*>(nullptr, descriptor);
}

int flock(int descriptor, int operation) noexcept {
  return call<"flock">(-1, descriptor, operation);
}

int fstat(int descriptor, struct stat* info) noexcept {
  return call<"fstat">(-1, descriptor, info);
}

int fsync(int descriptor) {
  return call<"fsync">(-1, descriptor);
}

int mkdir(const char* path, mode_t mode) noexcept {
  return call<"mkdir">(-1, path, mode);
}

ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
  return call<"pread">(ssize_t{-1}, descriptor, bytes, size, offset);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return call<"pwrite">(ssize_t{-1}, descriptor, bytes, size, offset);
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  return call<"read">(ssize_t{-1}, descriptor, bytes, size);
}

dirent* readdir(DIR* folder) {
  return call<"readdir", dirent*>(nullptr, folder);
}

int rename(const char* from, const char* to) noexcept {
  return call<"rename">(-1, from, to);
}

int stat(const char* path, struct stat* info) noexcept {
  return call<"stat">(-1, path, info);
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  return call<"unlinkat">(-1, folder, name, flags);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  return call<"write">(ssize_t{-1}, descriptor, bytes, size);
}

}  // extern "C"
