// SPDX-License-Identifier: Apache-2.0
//
// Cyclone DDS in `kairos bench modern`: what a call is made of where there are no calls. Each
// client has two topics, one for what it asks and one for replies, reliable and with the last
// sample kept; whoever waits does so by a wait set. A thread of the server serves each client.
#include "bench/modern/table_peer.h"
#include "bench/peer.h"

#include "CycloneSubject.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <dds/dds.h>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kairos::bench::modern {
namespace {

enum Operation : std::uint8_t { ping, octets, structs, back, open };

constexpr std::uint32_t channels_max = 100'000;
/// A channel is there when a ping is answered; until then it is asked again.
constexpr int attempts_max = 600;

dds_entity_t checked(dds_entity_t result, const char* what)
{
    if (result < 0) throw std::runtime_error(std::string(what) + ": " + dds_strretcode(-result));
    return result;
}

/// On loopback, without multicast, in a domain of this run: nobody else's program is found.
dds_entity_t make_participant(std::uint32_t domain)
{
    static const char* const configuration =
        "<General><Interfaces><NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces>"
        "<AllowMulticast>false</AllowMulticast><MaxMessageSize>65500B</MaxMessageSize>"
        "<FragmentSize>65000B</FragmentSize></General>"
        "<Discovery><ParticipantIndex>auto</ParticipantIndex>"
        "<Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery>"
        "<Internal><SocketReceiveBufferSize max=\"default\" min=\"default\"/></Internal>";
    checked(dds_create_domain(domain, configuration), "domain");
    return checked(dds_create_participant(domain, nullptr, nullptr), "participant");
}

/// One client's two topics, from its side or from the server's; for one thread.
class Channel {
  public:
    Channel(dds_entity_t participant, std::uint32_t number, bool server)
    {
        const std::string suffix = std::to_string(number);
        const dds_entity_t requests = topic(participant, "request" + suffix);
        const dds_entity_t replies = topic(participant, "reply" + suffix);
        dds_qos_t* qos = dds_create_qos();
        dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
        dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
        reader_ = dds_create_reader(participant, server ? requests : replies, qos, nullptr);
        writer_ = dds_create_writer(participant, server ? replies : requests, qos, nullptr);
        dds_delete_qos(qos);
        entities_ = {requests, replies, checked(reader_, "reader"), checked(writer_, "writer")};
        waitset_ = checked(dds_create_waitset(participant), "wait set");
        const dds_entity_t condition =
            checked(dds_create_readcondition(reader_, DDS_ANY_STATE), "condition");
        checked(dds_waitset_attach(waitset_, condition, 0), "attach");
    }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel()
    {
        give_back();
        dds_delete(waitset_);
        for (auto entity = entities_.rbegin(); entity != entities_.rend(); ++entity)
            dds_delete(*entity);
    }

    void write(const subject_Sample& sample) { checked(dds_write(writer_, &sample), "write"); }

    /// The next sample, which is the reader's until the next is asked for; null if none comes.
    const subject_Sample* next(dds_duration_t patience)
    {
        give_back();
        for (;;) {
            dds_sample_info_t information;
            void* sample = nullptr;
            if (checked(dds_take(reader_, &sample, &information, 1, 1), "take") > 0) {
                loan_ = sample;
                if (information.valid_data) return static_cast<const subject_Sample*>(sample);
                give_back();
                continue;
            }
            if (checked(dds_waitset_wait(waitset_, nullptr, 0, patience), "wait") == 0)
                return nullptr;
        }
    }

  private:
    static dds_entity_t topic(dds_entity_t participant, const std::string& name)
    {
        return checked(
            dds_create_topic(participant, &subject_Sample_desc, name.c_str(), nullptr, nullptr),
            "topic");
    }

    void give_back()
    {
        if (loan_ != nullptr) dds_return_loan(reader_, &loan_, 1);
        loan_ = nullptr;
    }

    dds_entity_t reader_ = 0;
    dds_entity_t writer_ = 0;
    dds_entity_t waitset_ = 0;
    std::vector<dds_entity_t> entities_;
    void* loan_ = nullptr;
};

std::span<const subject_BinStruct> structs_of(const subject_Sample& sample)
{
    return {sample.structs._buffer, sample.structs._length};
}

void serve_channel(dds_entity_t participant, std::uint32_t number)
{
    Channel channel(participant, number, true);
    for (;;) {
        const subject_Sample* request = channel.next(DDS_INFINITY);
        if (request == nullptr) continue;
        subject_Sample reply{};
        reply.number = request->number;
        if (request->operation == octets)
            reply.mark = mark_of({request->octets._buffer, request->octets._length});
        if (request->operation == structs) reply.mark = mark_of_structs(structs_of(*request));
        if (request->operation == back) {
            reply.octets = request->octets;
            reply.structs = request->structs;
        }
        if (request->operation == open && request->mark < channels_max)
            std::thread(serve_channel, participant, static_cast<std::uint32_t>(request->mark))
                .detach();
        channel.write(reply);
    }
}

/// What keeps runs on one host apart.
std::uint32_t free_domain() { return 1 + static_cast<std::uint32_t>(getpid()) % 200; }

void serve(const std::string&)
{
    const std::uint32_t domain = free_domain();
    const dds_entity_t participant = make_participant(domain);
    std::thread(serve_channel, participant, 0).detach();
    announce_ready(std::to_string(domain));
    wait_for_quit();
    std::_Exit(0); // its threads wait for samples, and for nothing else
}

class CycloneConnection final : public Connection {
  public:
    CycloneConnection(dds_entity_t participant, std::uint32_t number)
        : channel_(participant, number, false)
    {
        for (int attempt = 0; attempt < attempts_max; ++attempt)
            if (answered(Operation::ping, DDS_MSECS(50)) != nullptr) return;
        throw std::runtime_error("the server has not been discovered");
    }

    /// Has the server open another channel.
    void open_channel(std::uint32_t number)
    {
        sample_.mark = number;
        call(open);
    }

    void ping() override
    {
        const subject_Sample kept = std::exchange(sample_, {});
        sample_.number = kept.number;
        call(Operation::ping);
        const std::uint32_t number = sample_.number;
        sample_ = kept;
        sample_.number = number;
    }
    void prepare(const Octets& values) override
    {
        octets_ = values;
        sample_.structs = {};
        sample_.octets = {._maximum = static_cast<std::uint32_t>(octets_.size()),
                          ._length = static_cast<std::uint32_t>(octets_.size()),
                          ._buffer = octets_.data(),
                          ._release = false};
    }
    void prepare(const Structs& values) override
    {
        structs_.clear();
        for (const BinStruct& one : values)
            structs_.push_back({one.s, static_cast<std::uint8_t>(one.c), one.l, one.o, one.d});
        sample_.octets = {};
        sample_.structs = {._maximum = static_cast<std::uint32_t>(structs_.size()),
                           ._length = static_cast<std::uint32_t>(structs_.size()),
                           ._buffer = structs_.data(),
                           ._release = false};
    }
    std::uint64_t send_octets() override { return call(octets)->mark; }
    std::uint64_t send_structs() override { return call(structs)->mark; }
    Octets octets_back() override
    {
        const subject_Sample* reply = call(back);
        return {reply->octets._buffer, reply->octets._buffer + reply->octets._length};
    }
    Structs structs_back() override
    {
        Structs values;
        for (const subject_BinStruct& one : structs_of(*call(back)))
            values.push_back({one.s, static_cast<char>(one.c), one.l, one.o, one.d});
        return values;
    }

  private:
    /// The reply to what is sent now; older ones are passed over.
    const subject_Sample* answered(Operation operation, dds_duration_t patience)
    {
        sample_.operation = operation;
        ++sample_.number;
        channel_.write(sample_);
        for (;;) {
            const subject_Sample* reply = channel_.next(patience);
            if (reply == nullptr || reply->number == sample_.number) return reply;
        }
    }

    const subject_Sample* call(Operation operation)
    {
        const subject_Sample* reply = answered(operation, DDS_SECS(10));
        if (reply == nullptr) throw std::runtime_error("no reply");
        return reply;
    }

    Channel channel_;
    subject_Sample sample_{};
    Octets octets_;
    std::vector<subject_BinStruct> structs_;
};

/// The client's participant, and a connection that has others opened.
class CycloneClient {
  public:
    std::unique_ptr<Connection> connect(const std::string& reference)
    {
        const std::lock_guard lock(mutex_);
        if (!first_) {
            participant_ = make_participant(static_cast<std::uint32_t>(std::stoul(reference)));
            first_ = std::make_unique<CycloneConnection>(participant_, 0);
        }
        first_->open_channel(++channels_);
        return std::make_unique<CycloneConnection>(participant_, channels_);
    }

  private:
    // Guards all below, and one open_channel at a time, which waits for the server and nobody else.
    std::mutex mutex_; // inside nothing
    dds_entity_t participant_ = 0;
    std::uint32_t channels_ = 0;
    std::unique_ptr<CycloneConnection> first_;
};

} // namespace
} // namespace kairos::bench::modern

int main(int argc, char** argv)
{
    using namespace kairos::bench::modern;
    CycloneClient client;
    return run(argc, argv, serve, [&](const std::string& reference, const std::string&) {
        return client.connect(reference);
    });
}
