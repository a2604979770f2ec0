#include "runtime/base/Process.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace recipe;

void rt::reserveStandardStreams() {
  // Ascending, since open() takes the lowest free number.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void rt::failWritesPastSizeLimit() { std::signal(SIGXFSZ, SIG_IGN); }

void rt::failWritesToClosedPipes() { std::signal(SIGPIPE, SIG_IGN); }
