// Preloaded into a program: what happens when it is killed, or the disk is full, at the n-th call that changes the file
// system. FAULT_KILL_AT=n ends the process inside call n (a write is half done, anything else not yet);
// FAULT_FULL_AT=n lets that call and every later write fail for want of space; FAULT_DELAY_MS=n makes each write take
// so long; FAULT_COUNT_TO=PATH takes the number of calls when the program ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long calls;

static long setting(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : -1;
}

// 1: the call fails for want of space. Kills if it is the one, unless the caller does so itself.
static int enter(int isWrite, int *killHere) {
  long number = atomic_fetch_add(&calls, 1) + 1, full = setting("FAULT_FULL_AT");
  *killHere = number == setting("FAULT_KILL_AT");
  if (*killHere && !isWrite)
    kill(getpid(), SIGKILL);
  return full >= 0 && number >= full && isWrite;
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static ssize_t faultyWrite(const char *name, int fd, const void *data, size_t bytes, off_t offset) {
  ssize_t (*real)(int, const void *, size_t, off_t) = (ssize_t (*)(int, const void *, size_t, off_t))next(name);
  int killHere;
  if (enter(1, &killHere)) {
    errno = ENOSPC;
    return -1;
  }
  long delay = setting("FAULT_DELAY_MS");
  if (delay > 0)
    usleep((useconds_t)delay * 1000);
  if (killHere) {
    real(fd, data, bytes / 2, offset);
    kill(getpid(), SIGKILL);
  }
  return real(fd, data, bytes, offset);
}
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) {
  return faultyWrite("pwrite", fd, data, bytes, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t offset) {
  return faultyWrite("pwrite64", fd, data, bytes, offset);
}

int fsync(int fd) {
  int killHere;
  enter(0, &killHere);
  return ((int (*)(int))next("fsync"))(fd);
}
int rename(const char *from, const char *to) {
  int killHere;
  enter(0, &killHere);
  return ((int (*)(const char *, const char *))next("rename"))(from, to);
}
int mkdir(const char *path, mode_t mode) {
  int killHere;
  enter(0, &killHere);
  return ((int (*)(const char *, mode_t))next("mkdir"))(path, mode);
}
int unlinkat(int folder, const char *path, int flags) {
  int killHere;
  enter(0, &killHere);
  return ((int (*)(int, const char *, int))next("unlinkat"))(folder, path, flags);
}
int remove(const char *path) {
  int killHere;
  enter(0, &killHere);
  return ((int (*)(const char *))next("remove"))(path);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("FAULT_COUNT_TO");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%ld\n", atomic_load(&calls));
    fclose(file);
  }
}
