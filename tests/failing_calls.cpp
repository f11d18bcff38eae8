// Functions of the C library as this program and its shared libraries find them first.

#include "tests/failing_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace modewise {
namespace {

std::atomic<FailingCalls*> active = nullptr;

/// The function of the C library, or `failed`, or 0.
template <class Result, class... Arguments>
Result call(const char* name, Result failed, Arguments... arguments) {
  FailingCalls* const calls = active;
  if (calls == nullptr || calls->name() != name || !calls->take_call())
    return reinterpret_cast<Result (*)(Arguments...)>(::dlsym(RTLD_NEXT, name))(arguments...);
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
  return call("close", -1, descriptor);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  return call("fallocate", -1, descriptor, mode, offset, size);
}

DIR* fdopendir(int descriptor) {
  return call<DIR*>("fdopendir", nullptr, descriptor);
}

int flock(int descriptor, int operation) noexcept {
  return call("flock", -1, descriptor, operation);
}

int fstat(int descriptor, struct stat* info) noexcept {
  return call("fstat", -1, descriptor, info);
}

int fsync(int descriptor) {
  return call("fsync", -1, descriptor);
}

int mkdir(const char* path, mode_t mode) noexcept {
  return call("mkdir", -1, path, mode);
}

ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
  return call("pread", ssize_t{-1}, descriptor, bytes, size, offset);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return call("pwrite", ssize_t{-1}, descriptor, bytes, size, offset);
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  return call("read", ssize_t{-1}, descriptor, bytes, size);
}

dirent* readdir(DIR* folder) {
  return call<dirent*>("readdir", nullptr, folder);
}

int rename(const char* from, const char* to) noexcept {
  return call("rename", -1, from, to);
}

int stat(const char* path, struct stat* info) noexcept {
  return call("stat", -1, path, info);
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  return call("unlinkat", -1, folder, name, flags);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  return call("write", ssize_t{-1}, descriptor, bytes, size);
}

}  // extern "C"
