// SPDX-License-Identifier: Apache-2.0
//
// The yardstick for shared memory: two rings and nothing else, for two processes that trust each
// other. Whoever waits spins, or sleeps on the other's position. One thread each.
#pragma once

#include "bench/c_stream.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace kairos::bench {

struct BareRing {
    static constexpr std::uint32_t size = 64 << 10;
    alignas(64) std::atomic<std::uint32_t> head; ///< written so far; the reader sleeps on it
    alignas(64) std::atomic<std::uint32_t> tail; ///< read so far; the writer sleeps on it
    alignas(64) std::atomic<std::uint32_t> sleepers;
    alignas(64) char octets[size];
};

struct BareRings {
    BareRing to_server;
    BareRing to_client;
    std::atomic<std::uint32_t> closed;
};

/// One end. The memory is a file of the server's, which lives as long as either end.
class RingStream {
  public:
    RingStream(int file, bool is_client, bool spins) : spins_(spins)
    {
        void* const mapped = mmap(nullptr, sizeof(BareRings), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_POPULATE, file, 0);
        if (mapped == MAP_FAILED) fail("mmap");
        rings_ = static_cast<BareRings*>(mapped);
        out_ = is_client ? &rings_->to_server : &rings_->to_client;
        in_ = is_client ? &rings_->to_client : &rings_->to_server;
    }
    RingStream(RingStream&& other) noexcept
        : rings_(std::exchange(other.rings_, nullptr)), out_(other.out_), in_(other.in_),
          spins_(other.spins_)
    {
    }
    RingStream& operator=(RingStream&&) = delete;
    ~RingStream()
    {
        if (rings_ == nullptr) return;
        rings_->closed = 1;
        for (BareRing* ring : {out_, in_})
            for (std::atomic<std::uint32_t>* word : {&ring->head, &ring->tail})
                wake(*word);
        munmap(rings_, sizeof(BareRings));
    }

    void send_all(const char* data, std::size_t size)
    {
        while (size > 0) {
            const std::uint32_t head = out_->head.load(std::memory_order_relaxed);
            const std::uint32_t tail = out_->tail.load();
            const std::size_t room = BareRing::size - (head - tail);
            if (room == 0) {
                if (!wait(*out_, out_->tail, tail)) return;
                continue;
            }
            const std::size_t part = std::min(size, room);
            const std::uint32_t place = head % BareRing::size;
            const std::size_t first = std::min<std::size_t>(part, BareRing::size - place);
            std::memcpy(out_->octets + place, data, first);
            std::memcpy(out_->octets, data + first, part - first);
            move(*out_, out_->head, head + static_cast<std::uint32_t>(part));
            data += part;
            size -= part;
        }
    }

    /// 0 at the end.
    std::size_t receive_some(char* data, std::size_t size)
    {
        for (;;) {
            const std::uint32_t tail = in_->tail.load(std::memory_order_relaxed);
            const std::uint32_t head = in_->head.load();
            if (head == tail) {
                if (!wait(*in_, in_->head, head)) return 0;
                continue;
            }
            const std::size_t part = std::min<std::size_t>(size, head - tail);
            const std::uint32_t place = tail % BareRing::size;
            const std::size_t first = std::min<std::size_t>(part, BareRing::size - place);
            std::memcpy(data, in_->octets + place, first);
            std::memcpy(data + first, in_->octets, part - first);
            move(*in_, in_->tail, tail + static_cast<std::uint32_t>(part));
            return part;
        }
    }

    bool receive_all(char* data, std::size_t size)
    {
        while (size > 0) {
            const std::size_t received = receive_some(data, size);
            if (received == 0) return false;
            data += received;
            size -= received;
        }
        return true;
    }

  private:
    static void wake(std::atomic<std::uint32_t>& word)
    {
        syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    }
    void move(BareRing& ring, std::atomic<std::uint32_t>& position, std::uint32_t to)
    {
        position.store(to);
        if (!spins_ && ring.sleepers.load() != 0) wake(position);
    }
    /// Until the position has moved; false at the end.
    bool wait(BareRing& ring, std::atomic<std::uint32_t>& position, std::uint32_t seen)
    {
        while (position.load() == seen) {
            if (rings_->closed.load(std::memory_order_relaxed) != 0) return position.load() != seen;
            if (spins_) {
                __builtin_ia32_pause();
                continue;
            }
            const timespec second{.tv_sec = 1, .tv_nsec = 0};
            ++ring.sleepers;
            if (position.load() == seen)
                syscall(SYS_futex, &position, FUTEX_WAIT, seen, &second, nullptr, 0);
            --ring.sleepers;
        }
        return true;
    }

    BareRings* rings_;
    BareRing* out_;
    BareRing* in_;
    bool spins_;
};

/// The server's memory, by a name that the client can open: "ring:PATH" or "spin:PATH".
inline int make_rings(std::string& reference, bool spins)
{
    const int file = memfd_create("kairos-bench", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, sizeof(BareRings)) != 0) fail("memfd_create");
    reference = (spins ? "spin:/proc/" : "ring:/proc/") + std::to_string(getpid()) + "/fd/" +
                std::to_string(file);
    return file;
}

inline RingStream open_rings(const std::string& path, bool spins)
{
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) fail("open");
    RingStream stream(file, true, spins);
    close(file);
    return stream;
}

} // namespace kairos::bench
