// What a program settles with the operating system before it does anything else. For main to call, on its only thread.
#ifndef RUNTIME_BASE_PROCESS_H
#define RUNTIME_BASE_PROCESS_H

namespace recipe::rt {

/// A standard stream that whoever started us has closed is opened such that using it fails. Otherwise the next file
/// that is opened takes its number, and what is printed lands in that file.
void reserveStandardStreams();

/// A write past the file size limit (ulimit -f) fails with EFBIG instead of ending the process.
void failWritesPastSizeLimit();

/// A write to a pipe that nobody reads fails with EPIPE instead of ending the process.
void failWritesToClosedPipes();

} // namespace recipe::rt
#endif
