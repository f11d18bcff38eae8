// Loaded with LD_PRELOAD: reads and writes of plain files below $FAULTS_FOLDER end early (FAULTS_CALLS=short), or every
// second call on such a file is interrupted by a signal before it does anything (FAULTS_CALLS=interrupted).
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static _Thread_local unsigned state = 1;
static _Thread_local int was_interrupted;

static int is_mode(const char* wanted) {
  const char* mode = getenv("FAULTS_CALLS");
  return mode != NULL && strcmp(mode, wanted) == 0;
}

static int is_inside(const char* path) {
  const char* folder = getenv("FAULTS_FOLDER");
  return folder != NULL && path != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_ours(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_inside(path);
}

static size_t shorter(int fd, size_t count) {
  struct stat info;
  if (count < 2 || !is_mode("short") || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || !is_ours(fd)) return count;
  state = state * 1103515245u + 12345u;
  const unsigned draw = state >> 16;
  if (draw % 5 == 0) return 1;
  return 1 + (count - 1) * (draw % 8) / 8;
}

static int is_interrupted(int ours) {
  if (!is_mode("interrupted") || !ours) return 0;
  was_interrupted = !was_interrupted;
  if (was_interrupted) errno = EINTR;
  return was_interrupted;
}

#define EXPORT __attribute__((visibility("default")))
#define RETURN_IF_INTERRUPTED(fd) \
  if (is_interrupted(is_mode("interrupted") && is_ours(fd))) return -1

EXPORT ssize_t read(int fd, void* to, size_t count) {
  RETURN_IF_INTERRUPTED(fd);
  return syscall(SYS_read, fd, to, shorter(fd, count));
}
EXPORT ssize_t write(int fd, const void* from, size_t count) {
  RETURN_IF_INTERRUPTED(fd);
  return syscall(SYS_write, fd, from, shorter(fd, count));
}
EXPORT ssize_t pread(int fd, void* to, size_t count, off_t at) {
  RETURN_IF_INTERRUPTED(fd);
  return syscall(SYS_pread64, fd, to, shorter(fd, count), at);
}
EXPORT ssize_t pwrite(int fd, const void* from, size_t count, off_t at) {
  RETURN_IF_INTERRUPTED(fd);
  return syscall(SYS_pwrite64, fd, from, shorter(fd, count), at);
}
EXPORT ssize_t sendfile(int to, int from, off_t* at, size_t count) {
  RETURN_IF_INTERRUPTED(to);
  return syscall(SYS_sendfile, to, from, at, shorter(to, count));
}
EXPORT ssize_t copy_file_range(int from, off_t* at, int to, off_t* into, size_t count, unsigned flags) {
  RETURN_IF_INTERRUPTED(to);
  return syscall(SYS_copy_file_range, from, at, to, into, shorter(to, count), flags);
}
EXPORT int fsync(int fd) {
  RETURN_IF_INTERRUPTED(fd);
  return syscall(SYS_fsync, fd);
}
EXPORT int ftruncate(int fd, off_t size) {
  RETURN_IF_INTERRUPTED(fd);
  return syscall(SYS_ftruncate, fd, size);
}
EXPORT int flock(int fd, int operation) {
  RETURN_IF_INTERRUPTED(fd);
  return syscall(SYS_flock, fd, operation);
}
// Linux closes the descriptor before it reports the interruption.
EXPORT int close(int fd) {
  const int interrupted = is_interrupted(is_mode("interrupted") && is_ours(fd));
  const int result = syscall(SYS_close, fd);
  if (interrupted) errno = EINTR;
  return interrupted ? -1 : result;
}
EXPORT int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
  va_end(rest);
  if (is_interrupted(is_inside(path))) return -1;
  return syscall(SYS_openat, folder, path, flags, mode);
}
EXPORT int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
  va_end(rest);
  return openat(AT_FDCWD, path, flags, mode);
}
#define ALIAS(name) __attribute__((alias(#name), visibility("default")))
ALIAS(pread) ssize_t pread64(int fd, void* to, size_t count, off_t at);
ALIAS(pwrite) ssize_t pwrite64(int fd, const void* from, size_t count, off_t at);
ALIAS(ftruncate) int ftruncate64(int fd, off_t size);
ALIAS(open) int open64(const char* path, int flags, ...);
ALIAS(openat) int openat64(int folder, const char* path, int flags, ...);
