// SPDX-License-Identifier: Apache-2.0
//
// Calls whose server is arbitrary bytes: replies, LocateReplies, forwards to itself and elsewhere,
// fragments, several messages for one call, the end at any place. The first octet of the input says
// which calls are made, the second in which pieces they read; then what is read, over as many
// connections as are made, one after the other: the line "~~end~~" ends one.
// Nothing leads out of the process: connections go by a transport of our own, others are refused.
//
// Where the input says "kairos-fuzz-host" it means this host, as local addresses of references do.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/corba/CORBA.h"
#include "kairos/ior/profile.h"
#include "kairos/net/channel.h"
#include "kairos/net/host_identity.h"
#include "kairos/orb/transport.h"
#include "tests/faults/faults.h"
#include "tests/fuzz/link_factory.h"
#include "tests/fuzz/socketless.h"

#include <fcntl.h>

namespace {

using namespace kairos;

constexpr std::string_view end_line = "~~end~~\n";

Bytes input;             ///< what is left of it
std::size_t cut = 0;     ///< octets a read; 0: as there is room for
std::size_t connections; ///< made for this input

void skip_end_line()
{
    if (as_text(input).starts_with(end_line)) input = input.subspan(end_line.size());
}

/// What is read comes from the input, what is written goes nowhere.
class InputChannel final : public net::Channel {
  public:
    net::IoResult read(MutableBytes buffer, net::ReadFlags) noexcept override
    {
        const std::size_t until = std::min(as_text(input).find(end_line), input.size());
        if (ended_ || until == 0) {
            if (!ended_) skip_end_line();
            ended_ = true;
            return {.status = net::IoResult::Status::closed};
        }
        const std::size_t wish = cut == 0 ? buffer.size() : cut;
        const std::size_t step = std::min({wish, buffer.size(), until});
        std::memcpy(buffer.data(), input.data(), step);
        input = input.subspan(step);
        return {.bytes = step};
    }
    net::IoResult write(std::span<const iovec> segments, net::WriteFlags) noexcept override
    {
        std::size_t size = 0;
        for (const iovec& segment : segments)
            size += segment.iov_len;
        return {.bytes = size};
    }
    net::IoResult wait_readable(Deadline) noexcept override { return {}; }
    net::IoResult wait_writable(Deadline) noexcept override { return {}; }
    bool shut_reading() noexcept override { return true; }
    void shut_writing() noexcept override {}
    [[nodiscard]] std::optional<std::uint64_t> stuck_at() const noexcept override { return {}; }
    [[nodiscard]] net::Interest prepare_poll(net::Interest) noexcept override
    {
        return net::Interest::none;
    }

  private:
    bool ended_ = false;
};

class InputTransport final : public orb::LocalTransport {
  public:
    static constexpr Number own_number{200};

    InputTransport() noexcept : LocalTransport("fuzziop", own_number, 9) {}

    [[nodiscard]] Result<net::Socket> connect(const ior::Address&, const net::SocketOptions&,
                                              Deadline) const override
    {
        if (input.empty() || ++connections > 100)
            return Error{ErrorCode::unreachable, "the input is at its end"};
        skip_end_line(); // of a connection that nobody went on to read
        net::Socket socket(::open("/dev/null", O_RDWR | O_CLOEXEC));
        socket.set_channel(std::make_unique<InputChannel>());
        return socket;
    }
};

/// A reference to an object that is reached so, and not otherwise.
std::string reference_text()
{
    const ior::LocalAddresses addresses{
        .host = net::this_host().value(),
        .addresses = {{.transport = InputTransport::own_number, .path = "@input"}}};
    const ior::CodeSets code_sets{
        .characters = {.native = ior::code_set::utf_8, .conversions = {}},
        .wide_characters = {.native = ior::code_set::utf_16, .conversions = {}}};
    const Bytes key = as_bytes(std::string_view("key"));
    const ior::TaggedProfile profile = ior::encode_iiop(
        {.version = {1, 2},
         .host = "127.0.0.1",
         .port = 0,
         .object_key = {key.begin(), key.end()},
         .components = {ior::make_local_addresses(addresses), ior::make_code_sets(code_sets)}});
    return ior::to_string({.type_id = Fuzz::Target::_kairos_id, .profiles = {profile}});
}

void call(Fuzz::Target_ptr target, unsigned which)
{
    CORBA::Double number = 1;
    CORBA::Any any;
    switch (which % 16) {
    case 0:
        return target->ping();
    case 1:
        return target->note("something");
    case 2:
        return void(target->numbers(1, 2, number, true, 'x'));
    case 3: {
        CORBA::String_var text;
        CORBA::WString_var wide;
        return target->texts("a", L"b", text.out(), wide.out());
    }
    case 4:
        return void(Fuzz::Octets_var(target->give_octets({})));
    case 5:
        return void(Fuzz::Nodes_var(target->give_nodes({})));
    case 6:
        return void(Fuzz::Choices_var(target->give_choices({})));
    case 7:
        return void(Fuzz::Anys_var(target->give_anys({})));
    case 8:
        return void(Fuzz::Objects_var(target->give_objects({})));
    case 9:
        return void(Fuzz::Links_var(target->give_links({})));
    case 10:
        return void(Fuzz::TypeCodes_var(target->give_types({})));
    case 11:
        return void(CORBA::Any_var(target->refuse(any)));
    case 12:
        return void(target->_validate_connection());
    case 13:
        return void(target->_non_existent());
    case 14:
        return void(target->_is_a("IDL:Fuzz/Other:1.0"));
    default:
        return void(target->level());
    }
}

/// The input with this host's identity where it stands for that.
std::vector<std::byte> with_host(Bytes bytes)
{
    constexpr std::string_view name = "kairos-fuzz-host";
    const auto& host = net::this_host().value();
    static_assert(sizeof host == name.size());
    std::vector<std::byte> changed(bytes.begin(), bytes.end());
    for (auto at = changed.begin();; at += name.size()) {
        const Bytes found = as_bytes(name);
        at = std::search(at, changed.end(), found.begin(), found.end());
        if (at == changed.end()) return changed;
        std::memcpy(&*at, &host, sizeof host);
    }
}

} // namespace

// An ORB for each input; and what it returns as the server's (server_fuzz.cpp).
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {
        .octets_each = 64, .octets_beside = std::size_t{512} << 10, .comparisons_beside = 500'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const InputTransport transport;
    static const bool added = orb::add_transport(transport).ok();
    static const net::testing::Faults faults(net::testing::no_connections());
    static const std::string reference = reference_text();
    KAIROS_CHECK(added);
    if (size < 2) return 0;
    const std::vector<std::byte> stream = with_host(std::as_bytes(std::span(data, size)));
    input = Bytes(stream).subspan(2);
    cut = data[1];
    connections = 0;
    const CORBA::ORB_var orb = fuzz::make_orb({});
    fuzz::add_link_factory(orb.in());
    {
        const CORBA::Object_var object = orb->string_to_object(reference.c_str());
        const Fuzz::Target_var target = Fuzz::Target::_unchecked_narrow(object.in());
        // The second is another, on what the first has left: its connection, its forward.
        for (const unsigned which : {data[0] & 15u, unsigned{data[0]} >> 4u, 0u}) {
            try {
                call(target.in(), which);
            } catch (const CORBA::Exception&) {
            }
        }
    }
    orb->destroy();
    return 0;
}
