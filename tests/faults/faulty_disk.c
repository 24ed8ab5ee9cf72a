// Preloaded into a program (LD_PRELOAD): one of its operations on files below a folder fails, or does half of what was
// asked. faulty_disk_arm says which; faulty_disk_count says how many there were since.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kNone, kIoError, kNoSpace, kShort };

static char folder[4096];
static int kind = kNone;
static atomic_long left = -1, seen = 0;
static atomic_char ours[1 << 16];  // descriptors of files below the folder

void faulty_disk_arm(const char* below, int what, long after) {
  strncpy(folder, below, sizeof folder - 1);
  kind = what;
  seen = 0;
  left = after;
}
long faulty_disk_count(void) { return seen; }

static int below(const char* path) { return folder[0] && path && strncmp(path, folder, strlen(folder)) == 0; }
static int is_ours(int fd) { return fd >= 0 && fd < (int)sizeof ours && ours[fd]; }
static int turn(void) {  // is this the one?
  seen++;
  return kind != kNone && left >= 0 && left-- == 0;
}
static int failed(void) {
  errno = kind == kNoSpace ? ENOSPC : EIO;
  return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opened(int fd, const char* path) {
  if (fd >= 0 && fd < (int)sizeof ours) ours[fd] = (char)below(path);
  return fd;
}
static mode_t mode_of(int flags, va_list more) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; }

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  if (below(path) && turn() && kind != kShort) return failed();
  return opened(REAL(open)(path, flags, mode), path);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  if (below(path) && turn() && kind != kShort) return failed();
  return opened(REAL(open64)(path, flags, mode), path);
}
int openat(int at, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  if (below(path) && turn() && kind != kShort) return failed();
  return opened(REAL(openat)(at, path, flags, mode), path);
}
FILE* fopen(const char* path, const char* how) {
  if (below(path) && turn() && kind != kShort) return failed(), NULL;
  FILE* const file = REAL(fopen)(path, how);
  if (file) opened(fileno(file), path);
  return file;
}
FILE* fopen64(const char* path, const char* how) {
  if (below(path) && turn() && kind != kShort) return failed(), NULL;
  FILE* const file = REAL(fopen64)(path, how);
  if (file) opened(fileno(file), path);
  return file;
}
int close(int fd) {
  if (is_ours(fd)) ours[fd] = 0;
  return REAL(close)(fd);
}

// Of a write or a read that is to be short half is done; of one byte all.
#define SHORTENED(n) ((n) > 1 ? (n) / 2 : (n))

ssize_t write(int fd, const void* data, size_t n) {
  if (is_ours(fd) && turn()) return kind == kShort ? REAL(write)(fd, data, SHORTENED(n)) : failed();
  return REAL(write)(fd, data, n);
}
ssize_t pwrite(int fd, const void* data, size_t n, off_t at) {
  if (is_ours(fd) && turn()) return kind == kShort ? REAL(pwrite)(fd, data, SHORTENED(n), at) : failed();
  return REAL(pwrite)(fd, data, n, at);
}
ssize_t writev(int fd, const struct iovec* parts, int n) {
  if (is_ours(fd) && turn())
    return kind == kShort ? REAL(write)(fd, parts[0].iov_base, SHORTENED(parts[0].iov_len)) : failed();
  return REAL(writev)(fd, parts, n);
}
ssize_t read(int fd, void* data, size_t n) {
  if (is_ours(fd) && turn()) return kind == kShort ? REAL(read)(fd, data, SHORTENED(n)) : failed();
  return REAL(read)(fd, data, n);
}
ssize_t pread(int fd, void* data, size_t n, off_t at) {
  if (is_ours(fd) && turn()) return kind == kShort ? REAL(pread)(fd, data, SHORTENED(n), at) : failed();
  return REAL(pread)(fd, data, n, at);
}
int fsync(int fd) {
  if (is_ours(fd) && turn() && kind != kShort) return failed();
  return REAL(fsync)(fd);
}
int fdatasync(int fd) {
  if (is_ours(fd) && turn() && kind != kShort) return failed();
  return REAL(fdatasync)(fd);
}
int ftruncate(int fd, off_t size) {
  if (is_ours(fd) && turn() && kind != kShort) return failed();
  return REAL(ftruncate)(fd, size);
}
int rename(const char* from, const char* to) {
  if ((below(from) || below(to)) && turn() && kind != kShort) return failed();
  return REAL(rename)(from, to);
}
int unlink(const char* path) {
  if (below(path) && turn() && kind != kShort) return failed();
  return REAL(unlink)(path);
}
int mkdir(const char* path, mode_t mode) {
  if (below(path) && turn() && kind != kShort) return failed();
  return REAL(mkdir)(path, mode);
}
