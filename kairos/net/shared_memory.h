// SPDX-License-Identifier: Apache-2.0
//
// Memory that two processes map, handed over a Unix socket. It is sealed: nobody can shrink the
// file under those who have mapped it, or take pages out of it, which could end them by a signal.
//
//   client                                   server
//   make(): a file of this size, mapped
//   send() ── greeting, one descriptor ────► receive(): looks at it, maps it, secures it
//   secure() ◄──────── an answer ──────────
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/result.h"
#include "kairos/net/socket.h"

#include <cstddef>
#include <utility>

namespace kairos::net {

/// Owns a mapping, which lives on when the other process unmaps its own.
class SharedMemory {
  public:
    /// Makes new memory, filled with zeros, all of it present; and beside it `more` octets, a
    /// multiple of more_grain, whose pages are made when they are asked for (make_present); none
    /// where the system cannot do that, or the process may not have as much (RLIMIT_FSIZE).
    [[nodiscard]] static Result<SharedMemory> make(std::size_t size, std::size_t more = 0);
    static constexpr std::size_t more_grain = std::size_t{128} << 10;
    /// Receives the memory that a peer sends, and secures it. An error unless there came one
    /// greeting with one descriptor, of memory of exactly this size, sealed against changing that,
    /// in ordinary pages. Of what a peer has made beside that, all is mapped, if it is no more than
    /// `more_max`, or nothing. Blocks until the peer has sent something or the socket has ended.
    [[nodiscard]] static Result<SharedMemory> receive(int descriptor, std::size_t size,
                                                      std::size_t more_max = 0);
    /// Hands the memory to the peer, whose `receive` is to get it.
    [[nodiscard]] Result<void> send(Socket& socket) const;
    /// Makes sure that all pages are there and stay, whatever the peer does. To be called after the
    /// peer has mapped the memory, before it is used. An error where the system cannot promise that
    /// (Linux before 5.1).
    [[nodiscard]] Result<void> secure();

    SharedMemory(SharedMemory&& other) noexcept
        : file_(std::move(other.file_)), data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)), more_(std::exchange(other.more_, {}))
    {
    }
    SharedMemory& operator=(SharedMemory&&) = delete;
    ~SharedMemory();

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The memory beside; nothing before its pages were made present is to be touched.
    [[nodiscard]] MutableBytes more() const noexcept { return more_; }
    /// Makes pages present, whole ones, in memory that cannot be taken away again: touching them
    /// never fails. False: there is none, or the system cannot do so (Linux before 5.14).
    [[nodiscard]] static bool make_present(MutableBytes pages) noexcept;

  private:
    explicit SharedMemory(Socket file) noexcept : file_(std::move(file)) {}
    [[nodiscard]] static Result<SharedMemory> map(Socket file, std::size_t size, std::size_t more);

    Socket file_; // not a socket, but owned and closed alike; until it is secure
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    MutableBytes more_;
};

} // namespace kairos::net
