// SPDX-License-Identifier: Apache-2.0
//
// ORBs with interceptors that write down what they are told and do what the test says. There is one
// initializer in the process, which does what the latest Plan says.
#pragma once

#include "kairos/interceptors/PortableInterceptor.h"
#include "tests/robust/observers.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace kairos::orb_testing {

namespace PI = PortableInterceptor;

/// What an interceptor does at a point besides, by the point's name.
template <typename Info>
using Acts = std::map<std::string, std::function<void(Info*)>>;
using ClientActs = Acts<PI::ClientRequestInfo>;
using ServerActs = Acts<PI::ServerRequestInfo>;

[[nodiscard]] inline std::string text_of(PI::ReplyStatus status)
{
    constexpr const char* texts[] = {"SUCCESSFUL",       "SYSTEM_EXCEPTION", "USER_EXCEPTION",
                                     "LOCATION_FORWARD", "TRANSPORT_RETRY",  "UNKNOWN"};
    return texts[status];
}

class ClientProbe final : public PI::ClientRequestInterceptor {
  public:
    ClientProbe(std::string name, Record* record, ClientActs acts = {})
        : name_(std::move(name)), record_(record), acts_(std::move(acts))
    {
    }
    char* name() override { return CORBA::string_dup(name_.c_str()); }
    void destroy() override { note("destroy", nullptr); }
    void send_request(PI::ClientRequestInfo_ptr ri) override { note("send_request", ri); }
    void send_poll(PI::ClientRequestInfo_ptr ri) override { note("send_poll", ri); }
    void receive_reply(PI::ClientRequestInfo_ptr ri) override { note("receive_reply", ri); }
    void receive_exception(PI::ClientRequestInfo_ptr ri) override { note("receive_exception", ri); }
    void receive_other(PI::ClientRequestInfo_ptr ri) override { note("receive_other", ri); }

  private:
    void note(const std::string& point, PI::ClientRequestInfo_ptr ri)
    {
        std::string line = name_ + " " + point;
        if (point == "receive_exception") {
            const CORBA::String_var id = ri->received_exception_id();
            line += std::string(" ") + id.in();
        }
        if (point == "receive_other") line += " " + text_of(ri->reply_status());
        if (record_ != nullptr) record_->add(line);
        if (const auto act = acts_.find(point); act != acts_.end()) act->second(ri);
    }

    const std::string name_;
    Record* const record_;
    const ClientActs acts_;
};

class ServerProbe final : public PI::ServerRequestInterceptor {
  public:
    ServerProbe(std::string name, Record* record, ServerActs acts = {})
        : name_(std::move(name)), record_(record), acts_(std::move(acts))
    {
    }
    char* name() override { return CORBA::string_dup(name_.c_str()); }
    void destroy() override { note("destroy", nullptr); }
    void receive_request_service_contexts(PI::ServerRequestInfo_ptr ri) override
    {
        note("arrival", ri);
    }
    void receive_request(PI::ServerRequestInfo_ptr ri) override { note("receive_request", ri); }
    void send_reply(PI::ServerRequestInfo_ptr ri) override { note("send_reply", ri); }
    void send_exception(PI::ServerRequestInfo_ptr ri) override { note("send_exception", ri); }
    void send_other(PI::ServerRequestInfo_ptr ri) override { note("send_other", ri); }

  private:
    void note(const std::string& point, PI::ServerRequestInfo_ptr ri)
    {
        std::string line = name_ + " " + point;
        if (point == "send_exception" || point == "send_other")
            line += " " + text_of(ri->reply_status());
        if (record_ != nullptr) record_->add(line);
        if (const auto act = acts_.find(point); act != acts_.end()) act->second(ri);
    }

    const std::string name_;
    Record* const record_;
    const ServerActs acts_;
};

/// What the initializer does while this, the latest one, lives: one at a time.
class Plan {
  public:
    using Step = std::function<void(PI::ORBInitInfo_ptr)>;

    explicit Plan(Step pre_init, Step post_init = {})
        : pre_init_(std::move(pre_init)), post_init_(std::move(post_init))
    {
        static const bool registered = [] {
            const PI::ORBInitializer_var initializer = new Initializer;
            PI::register_orb_initializer(initializer.in());
            return true;
        }();
        EXPECT_TRUE(registered);
        current() = this;
    }
    ~Plan() { current() = nullptr; }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

  private:
    class Initializer final : public PI::ORBInitializer {
      public:
        void pre_init(PI::ORBInitInfo_ptr info) override
        {
            if (current() != nullptr && current()->pre_init_) current()->pre_init_(info);
        }
        void post_init(PI::ORBInitInfo_ptr info) override
        {
            if (current() != nullptr && current()->post_init_) current()->post_init_(info);
        }
    };
    static Plan*& current()
    {
        static Plan* plan = nullptr;
        return plan;
    }

    const Step pre_init_;
    const Step post_init_;
};

inline void add_client(PI::ORBInitInfo_ptr info, const std::string& name, Record* record,
                       ClientActs acts = {})
{
    const PI::ClientRequestInterceptor_var probe = new ClientProbe(name, record, std::move(acts));
    info->add_client_request_interceptor(probe.in());
}
inline void add_server(PI::ORBInitInfo_ptr info, const std::string& name, Record* record,
                       ServerActs acts = {})
{
    const PI::ServerRequestInterceptor_var probe = new ServerProbe(name, record, std::move(acts));
    info->add_server_request_interceptor(probe.in());
}

[[nodiscard]] inline CORBA::ULong omg(CORBA::ULong minor) { return mapping::omg_minor(minor); }

/// Makes a call and says which system exception of the OMG's it ends with, as "BAD_PARAM 26"; "ok"
/// for none.
template <typename Call>
[[nodiscard]] std::string standard_outcome(Call&& call)
{
    try {
        call();
    } catch (const CORBA::SystemException& exception) {
        return std::string(exception._name()) + " " + std::to_string(exception.minor() & 0xFFFU);
    } catch (const CORBA::UserException& exception) {
        return exception._name();
    }
    return "ok";
}

[[nodiscard]] inline IOP::ServiceContext context_of(CORBA::ULong id, const std::string& text)
{
    IOP::ServiceContext context;
    context.context_id = id;
    context.context_data.length(static_cast<CORBA::ULong>(text.size()));
    std::ranges::copy(text, context.context_data.get_buffer());
    return context;
}
[[nodiscard]] inline std::string text_of(const IOP::ServiceContext& context)
{
    return {reinterpret_cast<const char*>(context.context_data.get_buffer()),
            context.context_data.length()};
}

} // namespace kairos::orb_testing
