// SPDX-License-Identifier: Apache-2.0
//
// Protocol policies and the properties of TCP (Real-Time CORBA 1.2, 5.15). A list of protocols must
// have IIOP, which is the only one that Kairos has properties for; what it says of others is kept.
#include "kairos/corba/poa_policies.h"
#include "kairos/corba/policies.h"
#include "kairos/ior/component.h"
#include "kairos/orb/orb.h"
#include "kairos/rtcorba/KairosRealTime.h"
#include "kairos/rtcorba/services.h"
#include "kairos/server/serving.h"

#include <atomic>

namespace kairos::rtcorba {

namespace {

class TcpProperties final : public KairosRealTime::TCPProtocolProperties {
  public:
    explicit TcpProperties(const orb::TcpProperties& values)
        : send_(values.send_queue_bytes), receive_(values.receive_queue_bytes),
          keep_alive_(values.keep_alive), dont_route_(values.dont_route),
          no_delay_(values.no_delay), network_priority_(values.network_priority)
    {
    }

    CORBA::Long send_buffer_size() override { return send_; }
    void send_buffer_size(CORBA::Long size) override { send_ = checked(size); }
    CORBA::Long recv_buffer_size() override { return receive_; }
    void recv_buffer_size(CORBA::Long size) override { receive_ = checked(size); }
    CORBA::Boolean keep_alive() override { return keep_alive_; }
    void keep_alive(CORBA::Boolean value) override { keep_alive_ = value; }
    CORBA::Boolean dont_route() override { return dont_route_; }
    void dont_route(CORBA::Boolean value) override { dont_route_ = value; }
    CORBA::Boolean no_delay() override { return no_delay_; }
    void no_delay(CORBA::Boolean value) override { no_delay_ = value; }
    CORBA::Boolean enable_network_priority() override { return network_priority_; }
    void enable_network_priority(CORBA::Boolean value) override { network_priority_ = value; }

    static CORBA::Long checked(CORBA::Long size)
    {
        if (size < 0) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a negative size");
        return size;
    }

  private:
    std::atomic<CORBA::Long> send_;
    std::atomic<CORBA::Long> receive_;
    std::atomic<bool> keep_alive_;
    std::atomic<bool> dont_route_;
    std::atomic<bool> no_delay_;
    std::atomic<bool> network_priority_;
};

/// What a list says of IIOP, as it is when the policy is made. Throws BAD_PARAM.
orb::TcpProperties tcp_of(const RTCORBA::ProtocolList& protocols)
{
    for (const RTCORBA::Protocol& protocol : protocols) {
        if (protocol.protocol_type != ior::tag_internet_iop) continue;
        RTCORBA::ProtocolProperties_ptr properties = protocol.transport_protocol_properties.in();
        if (CORBA::is_nil(properties)) return {};
        auto* tcp = dynamic_cast<RTCORBA::TCPProtocolProperties*>(properties);
        if (tcp == nullptr)
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "these are no properties of TCP");
        auto* marked = dynamic_cast<KairosRealTime::TCPProtocolProperties*>(tcp);
        return {.send_queue_bytes = tcp->send_buffer_size(),
                .receive_queue_bytes = tcp->recv_buffer_size(),
                .keep_alive = tcp->keep_alive(),
                .dont_route = tcp->dont_route(),
                .no_delay = tcp->no_delay(),
                .network_priority = marked != nullptr && marked->enable_network_priority()};
    }
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no protocol that the ORB has");
}

/// A client's, or by a POA's references that of clients which have none.
class ClientProtocolPolicy final : public RTCORBA::ClientProtocolPolicy,
                                   public corba::AdapterPolicy,
                                   public corba::BindingPolicy {
  public:
    explicit ClientProtocolPolicy(const RTCORBA::ProtocolList& protocols)
        : protocols_(protocols), tcp_(tcp_of(protocols))
    {
    }
    RTCORBA::ProtocolList* protocols() override { return new RTCORBA::ProtocolList(protocols_); }
    CORBA::PolicyType policy_type() override { return RTCORBA::CLIENT_PROTOCOL_POLICY_TYPE; }
    CORBA::Policy_ptr copy() override { return new ClientProtocolPolicy(protocols_); }
    void destroy() override {}
    bool add_to(poa::Policies& policies, orb::Orb& /*orb*/) const override
    {
        policies.real_time.client_tcp = tcp_;
        return true;
    }
    void add_to(orb::BindingPolicies& policies) const override { policies.tcp = tcp_; }

  private:
    const RTCORBA::ProtocolList protocols_;
    const orb::TcpProperties tcp_;
};

class ServerProtocolPolicy final : public RTCORBA::ServerProtocolPolicy,
                                   public corba::AdapterPolicy,
                                   public corba::OrbPolicy {
  public:
    explicit ServerProtocolPolicy(const RTCORBA::ProtocolList& protocols)
        : protocols_(protocols), tcp_(tcp_of(protocols))
    {
    }
    RTCORBA::ProtocolList* protocols() override { return new RTCORBA::ProtocolList(protocols_); }
    CORBA::PolicyType policy_type() override { return RTCORBA::SERVER_PROTOCOL_POLICY_TYPE; }
    CORBA::Policy_ptr copy() override { return new ServerProtocolPolicy(protocols_); }
    void destroy() override {}

    /// Connections are the ORB's, whatever POAs they reach: so it must not serve yet.
    bool add_to(poa::Policies& /*policies*/, orb::Orb& orb) const override
    {
        return orb::Serving::of(orb).set_accepted_connections(tcp_);
    }
    [[nodiscard]] Use use() const noexcept override { return Use::by_orb; }

  private:
    const RTCORBA::ProtocolList protocols_;
    const orb::TcpProperties tcp_;
};

} // namespace

RTCORBA::TCPProtocolProperties_ptr make_tcp_properties(const orb::TcpProperties& properties)
{
    (void)TcpProperties::checked(properties.send_queue_bytes);
    (void)TcpProperties::checked(properties.receive_queue_bytes);
    return new TcpProperties(properties);
}

RTCORBA::ClientProtocolPolicy_ptr make_client_protocols(const RTCORBA::ProtocolList& protocols)
{
    return new ClientProtocolPolicy(protocols);
}

RTCORBA::ClientProtocolPolicy_ptr make_client_protocols(const orb::TcpProperties& properties)
{
    RTCORBA::ProtocolList protocols;
    protocols.length(1);
    protocols[0].protocol_type = ior::tag_internet_iop;
    protocols[0].transport_protocol_properties = make_tcp_properties(properties);
    return new ClientProtocolPolicy(protocols);
}

RTCORBA::ServerProtocolPolicy_ptr make_server_protocols(const RTCORBA::ProtocolList& protocols)
{
    return new ServerProtocolPolicy(protocols);
}

} // namespace kairos::rtcorba
