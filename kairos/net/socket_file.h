// SPDX-License-Identifier: Apache-2.0
//
// The files of unix-domain sockets: where a server may have one, what becomes of one that a dead
// server has left, and who removes it. Processes that follow these rules never take a file away
// from one that lives: looking whether somebody listens, and beginning to listen, happen under a
// lock on the directory.
#pragma once

#include "kairos/base/result.h"
#include "kairos/net/address.h"
#include "kairos/net/forks.h"
#include "kairos/net/socket.h"

#include <atomic>
#include <string>
#include <sys/types.h>

namespace kairos::net {

/// Removes the file of a socket when it ends, unless it is somebody else's by then.
class SocketFile {
  public:
    SocketFile() = default; ///< none
    /// A file that was just made. An abstract name has none.
    explicit SocketFile(const Address& address);
    SocketFile(SocketFile&& other) noexcept;
    SocketFile& operator=(SocketFile&& other) noexcept;
    ~SocketFile() { remove(); }

    /// Any thread, any number of times. Not in a child of the process that made it: it is that
    /// one's.
    void remove() noexcept;

  private:
    std::string path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::atomic<bool> exists_{false};
    MadeHere made_;
};

/// A socket that listens, and its file.
struct ListeningSocket {
    Socket socket;
    SocketFile file;
};

/// As net::listen, at a unix-domain address. A file there whose server is dead (nobody listens: the
/// system refuses to connect) is replaced; any other is an error, and so is a directory that
/// somebody keeps locked for more than a second. Who may connect is the umask's to say.
[[nodiscard]] Result<ListeningSocket> listen_at_path(const Address& address,
                                                     const SocketOptions& options, int backlog);

/// An address for a new socket, in a directory into which only this user can look:
/// $XDG_RUNTIME_DIR/kairos, or else /tmp/kairos-<uid>. Makes the directory, and removes what dead
/// processes have left in it.
[[nodiscard]] Result<Address> private_path();

} // namespace kairos::net
