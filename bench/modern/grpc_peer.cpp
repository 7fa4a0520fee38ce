// SPDX-License-Identifier: Apache-2.0
//
// gRPC in `kairos bench modern`: unary calls, which a server of the callback API answers where they
// arrive; or a stream for each client, which its authors recommend for many calls in a row. Each
// client has a channel, with a connection of its own.
#include "bench/modern/table_peer.h"
#include "bench/peer.h"

#include "subject.grpc.pb.h"

#include <grpcpp/grpcpp.h>
#include <stdexcept>

namespace kairos::bench::modern {
namespace {

constexpr int message_max = 256 << 20;

void answer(const subject::Call& call, subject::Reply& reply)
{
    if (call.back()) {
        reply.set_octets(call.octets());
        *reply.mutable_structs() = call.structs();
        return;
    }
    const std::string& octets = call.octets();
    StructsMark structs;
    for (const subject::BinStruct& one : call.structs())
        structs.add(one.l());
    reply.set_mark(
        call.structs_size() > 0
            ? structs.value()
            : mark_of({reinterpret_cast<const std::uint8_t*>(octets.data()), octets.size()}));
}

class SubjectService final
    : public subject::Subject::WithCallbackMethod_Take<subject::Subject::Service> {
    grpc::ServerUnaryReactor* Take(grpc::CallbackServerContext* context, const subject::Call* call,
                                   subject::Reply* reply) override
    {
        answer(*call, *reply);
        grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
        reactor->Finish(grpc::Status::OK);
        return reactor;
    }

    grpc::Status Flow(grpc::ServerContext*,
                      grpc::ServerReaderWriter<subject::Reply, subject::Call>* stream) override
    {
        subject::Call call;
        subject::Reply reply;
        while (stream->Read(&call)) {
            reply.Clear();
            answer(call, reply);
            if (!stream->Write(reply)) break;
        }
        return grpc::Status::OK;
    }
};

void serve(const std::string&)
{
    SubjectService service;
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(message_max);
    builder.AddChannelArgument(GRPC_ARG_OPTIMIZATION_TARGET, "latency");
    builder.RegisterService(&service);
    const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (!server) throw std::runtime_error("gRPC cannot listen");
    announce_ready("127.0.0.1:" + std::to_string(port));
    wait_for_quit();
    server->Shutdown(std::chrono::system_clock::now());
    server->Wait();
}

class GrpcConnection final : public Connection {
  public:
    GrpcConnection(const std::string& reference, bool stream)
    {
        grpc::ChannelArguments arguments;
        arguments.SetMaxReceiveMessageSize(message_max);
        arguments.SetString(GRPC_ARG_OPTIMIZATION_TARGET, "latency");
        arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
        stub_ = subject::Subject::NewStub(
            grpc::CreateCustomChannel(reference, grpc::InsecureChannelCredentials(), arguments));
        if (stream) flow_ = stub_->Flow(&flow_context_);
    }
    ~GrpcConnection() override
    {
        if (!flow_) return;
        flow_->WritesDone();
        flow_->Finish();
    }

    void ping() override { call(ping_); }

    void prepare(const Octets& octets) override
    {
        call_.Clear();
        call_.set_octets(octets.data(), octets.size());
    }
    void prepare(const Structs& structs) override
    {
        call_.Clear();
        for (const BinStruct& one : structs) {
            subject::BinStruct& added = *call_.add_structs();
            added.set_s(one.s);
            added.set_c(static_cast<std::uint8_t>(one.c));
            added.set_l(one.l);
            added.set_o(one.o);
            added.set_d(one.d);
        }
    }
    std::uint64_t send_octets() override { return call(call_).mark(); }
    std::uint64_t send_structs() override { return call(call_).mark(); }
    Octets octets_back() override
    {
        const std::string& octets = back().octets();
        return {octets.begin(), octets.end()};
    }
    Structs structs_back() override
    {
        Structs structs;
        for (const subject::BinStruct& one : back().structs())
            structs.push_back({static_cast<std::int16_t>(one.s()), static_cast<char>(one.c()),
                               one.l(), static_cast<std::uint8_t>(one.o()), one.d()});
        return structs;
    }

  private:
    const subject::Reply& call(const subject::Call& call)
    {
        reply_.Clear();
        if (flow_) {
            if (!flow_->Write(call) || !flow_->Read(&reply_)) {
                const grpc::Status status = flow_->Finish();
                flow_.reset(); // a stream is finished once
                throw std::runtime_error("the stream has ended: " + status.error_message());
            }
            return reply_;
        }
        grpc::ClientContext context;
        const grpc::Status status = stub_->Take(&context, call, &reply_);
        if (!status.ok()) throw std::runtime_error(status.error_message());
        return reply_;
    }

    const subject::Reply& back()
    {
        call_.set_back(true);
        call(call_);
        call_.set_back(false);
        return reply_;
    }

    std::unique_ptr<subject::Subject::Stub> stub_;
    grpc::ClientContext flow_context_;
    std::unique_ptr<grpc::ClientReaderWriter<subject::Call, subject::Reply>> flow_;
    const subject::Call ping_;
    subject::Call call_;
    subject::Reply reply_;
};

} // namespace
} // namespace kairos::bench::modern

int main(int argc, char** argv)
{
    using namespace kairos::bench::modern;
    return run(argc, argv, serve, [](const std::string& reference, const std::string& kind) {
        return std::make_unique<GrpcConnection>(reference, kind == "stream");
    });
}
