// SPDX-License-Identifier: Apache-2.0
#include "bench/idle_connections.h"

#include "bench/raw_hello.h"
#include "kairos/ior/profile.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sys/resource.h>

namespace kairos::bench {
namespace {

constexpr std::uint8_t number = 2;
constexpr std::size_t giop_header = 12;

/// CDR in the byte order of this machine, from the beginning of a GIOP body.
class Body {
  public:
    void octet(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
    void number(std::uint32_t value)
    {
        bytes_.resize((bytes_.size() + 3) / 4 * 4);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void octets(std::string_view value)
    {
        number(static_cast<std::uint32_t>(value.size()));
        bytes_.append(value);
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

constexpr char byte_order_flag = std::endian::native == std::endian::little ? 1 : 0;

/// A GIOP 1.0 request, which every ORB understands (CORBA 3.3 part 2, 9.4.2.1).
std::string cube_request(std::string_view object_key)
{
    Body body;
    body.number(0); // service contexts
    body.number(1); // request id
    body.octet(1);  // response expected
    body.octets(object_key);
    body.octets(std::string_view("cube", 5)); // with its NUL
    body.number(0);                           // principal
    body.octet(number);
    Body message;
    for (const char c : {'G', 'I', 'O', 'P', char{1}, char{0}, byte_order_flag, char{0}})
        message.octet(static_cast<std::uint8_t>(c));
    message.octets(body.bytes());
    return message.bytes();
}

std::size_t body_size(const char* header)
{
    std::uint32_t size = 0;
    std::memcpy(&size, header + 8, sizeof size);
    return (header[6] & 1) == byte_order_flag ? size : __builtin_bswap32(size);
}

} // namespace

IdleConnections::Call IdleConnections::raw_call(const Load& bytes)
{
    const RawHello hello{.who = RawHello::low,
                         .request_bytes = bytes.request_bytes,
                         .reply_bytes = bytes.reply_bytes};
    Call call{.greeting = std::string(reinterpret_cast<const char*>(&hello), sizeof hello),
              .request = std::string(bytes.request_bytes, '\0'),
              .reply_bytes = bytes.reply_bytes};
    call.request.back() = number;
    return call;
}

Result<IdleConnections::Call> IdleConnections::giop_call(const std::string& reference)
{
    const auto parsed = ior::from_string(reference);
    if (!parsed) return parsed.error();
    const auto targets = ior::targets(*parsed);
    if (targets.empty())
        return Error{ErrorCode::malformed, "the server's reference has no address"};
    const Bytes key = targets.front().object_key();
    return Call{.greeting = {},
                .request = cube_request({reinterpret_cast<const char*>(key.data()), key.size()}),
                .reply_bytes = 0};
}

void IdleConnections::make(CStream& stream, const Call& call)
{
    stream.send_all(call.request.data(), call.request.size());
    std::string reply(call.reply_bytes > 0 ? call.reply_bytes : giop_header, '\0');
    bool received = stream.receive_all(reply.data(), reply.size());
    if (received && call.reply_bytes == 0) {
        reply.resize(giop_header + std::min(body_size(reply.data()), std::size_t{4096}));
        received = stream.receive_all(reply.data() + giop_header, reply.size() - giop_header);
    }
    if (!received) throw std::runtime_error("the server closed an idle connection");
    if (static_cast<std::uint8_t>(reply.back()) != cubed(number))
        throw std::runtime_error("the server did not cube an octet");
}

Result<IdleConnections> IdleConnections::open(const System& system, const RunningSystem& running,
                                              std::uint32_t count, const Load& bytes)
{
    const std::vector<std::string>& references = running.references();
    IdleConnections idle;
    std::string address = references.front();
    if (system.orb) {
        auto call = giop_call(references.at(1));
        if (!call) return call.error();
        idle.call_ = std::move(*call);
        const auto target = ior::targets(*ior::from_string(references[1])).front();
        address = fmt::format("tcp:{}", target.address.port);
    } else {
        idle.call_ = raw_call(bytes);
    }
    try {
        for (std::uint32_t i = 0; i < count; ++i) {
            idle.streams_.push_back(connect_tcp(address));
            CStream& stream = idle.streams_.back();
            stream.send_all(idle.call_.greeting.data(), idle.call_.greeting.size());
            make(stream, idle.call_);
        }
    } catch (const std::exception& failure) {
        return Error{ErrorCode::system, fmt::format("after {} idle connections: {}",
                                                    idle.streams_.size(), failure.what())};
    }
    return idle;
}

Result<void> IdleConnections::call_each()
{
    try {
        for (CStream& stream : streams_)
            make(stream, call_);
    } catch (const std::exception& failure) {
        return Error{ErrorCode::system, failure.what()};
    }
    return {};
}

std::size_t raise_descriptor_limit(std::size_t wanted)
{
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    if (limit.rlim_cur >= wanted) return limit.rlim_cur;
    rlimit raised{.rlim_cur = wanted, .rlim_max = std::max<rlim_t>(limit.rlim_max, wanted)};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return wanted;
    raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max}; // no more without rights
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? limit.rlim_max : limit.rlim_cur;
}

Result<std::uint64_t> resident_bytes(pid_t process)
{
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string word; status >> word;)
        if (std::uint64_t kibibytes = 0; word == "VmRSS:" && status >> kibibytes)
            return kibibytes * 1024;
    return Error{ErrorCode::system, "the system does not say how much memory a process has"};
}

} // namespace kairos::bench
