// SPDX-License-Identifier: Apache-2.0
//
// What the programs of `kairos bench modern` have in common, whatever system they are written with:
// the few calls that each can make, what is sent with them, and the loop that is ordered to make
// them. So that all are measured by one source, a program has nothing but its system in it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kairos::bench::modern {

/// The papers' struct. It is 24 bytes in memory, and as many on the wire of most systems.
struct BinStruct {
    std::int16_t s = 0;
    char c = 0;
    std::int32_t l = 0;
    std::uint8_t o = 0;
    double d = 0;
    bool operator==(const BinStruct&) const = default;
};

using Octets = std::vector<std::uint8_t>;
using Structs = std::vector<BinStruct>;

/// A client's way to the server, of one thread: nobody else calls on it at the same time.
class Connection {
  public:
    virtual ~Connection() = default;

    /// A call with nothing in it, there and back.
    virtual void ping() = 0;

    /// Puts what the calls that follow send into the form that the system's users hold it in.
    virtual void prepare(const Octets& octets) = 0;
    virtual void prepare(const Structs& structs) = 0;

    /// Sends what was prepared; returns what the server made of it: mark_of() the same.
    virtual std::uint64_t send_octets() = 0;
    virtual std::uint64_t send_structs() = 0;

    /// Has the server send back what was prepared.
    virtual Octets octets_back() = 0;
    virtual Structs structs_back() = 0;
};

/// What a server says of octets: how many, and some of them, so that it costs next to nothing.
[[nodiscard]] inline std::uint64_t mark_of(std::span<const std::uint8_t> octets)
{
    constexpr std::size_t step = 4096;
    std::uint64_t mark = octets.size();
    for (std::size_t i = 0; i < octets.size(); i += step)
        mark = mark * 31 + octets[i];
    return octets.empty() ? mark : mark * 31 + octets.back();
}

/// What a server says of structs: it looks at each, so that those pay who decode only then.
class StructsMark {
  public:
    void add(std::int32_t l) { sum_ += static_cast<std::uint32_t>(l); }
    [[nodiscard]] std::uint64_t value() const { return sum_; }

  private:
    std::uint64_t sum_ = 0;
};

/// Of structs with a member `l`.
template <typename Range>
[[nodiscard]] std::uint64_t mark_of_structs(const Range& structs)
{
    StructsMark mark;
    for (const auto& one : structs)
        mark.add(one.l);
    return mark.value();
}

/// Makes a connection; called by the thread that will use it, in several threads at once.
using Connect = std::function<std::unique_ptr<Connection>()>;

/// Answers orders until "quit" or the end of standard input, and returns the program's exit status:
///   ping CALLS           → {"p50_us": …}
///   octets COUNT CALLS   → {"mbyte_s": …}, of COUNT octets a call, after these came back right
///   structs COUNT CALLS  → the same, by 24 bytes a struct
///   threads COUNT MS     → {"calls_per_s": …}, pings of COUNT threads with a connection each
int serve_orders(const Connect& connect);

/// The main function: `server [kind]` runs `serve`, which returns when standard input has ended,
/// and `client REFERENCE [kind]` answers orders by connections of `connect`. The kind may be empty.
/// Returns the exit status.
int run(int argc, char** argv, const std::function<void(const std::string& kind)>& serve,
        const std::function<std::unique_ptr<Connection>(const std::string& reference,
                                                        const std::string& kind)>& connect);

} // namespace kairos::bench::modern
