// SPDX-License-Identifier: Apache-2.0
//
// The modules RTCORBA and RTPortableServer are the OMG's, name by name: formal/05-01-04 as in its
// IDL file (omg.org/spec/CORBAe/20080201/RTCORBA.idl), by the mapping to C++. A program that was
// written to it compiles.
#include "tests/rtcorba/fixture.h"

#include "kairos/corba/IOP.h"

namespace kairos::rtcorba_testing {

namespace {

/// Whether a class has an operation or attribute of just this type.
template <typename Class, typename Result, typename... Parameters>
consteval bool is_member(Result (Class::*)(Parameters...))
{
    return true;
}

// --- 5.4 to 5.6: priorities ---

static_assert(std::is_same_v<RTCORBA::NativePriority, CORBA::Short>);
static_assert(std::is_same_v<RTCORBA::Priority, CORBA::Short>);
static_assert(RTCORBA::minPriority == 0 && RTCORBA::maxPriority == 32767);
static_assert(is_member<RTCORBA::PriorityMapping, CORBA::Boolean, RTCORBA::Priority,
                        RTCORBA::NativePriority&>(&RTCORBA::PriorityMapping::to_native));
static_assert(is_member<RTCORBA::PriorityMapping, CORBA::Boolean, RTCORBA::NativePriority,
                        RTCORBA::Priority&>(&RTCORBA::PriorityMapping::to_CORBA));
static_assert(is_member<RTCORBA::PriorityTransform, CORBA::Boolean, RTCORBA::Priority&,
                        const PortableServer::ObjectId&>(&RTCORBA::PriorityTransform::inbound));
static_assert(is_member<RTCORBA::PriorityTransform, CORBA::Boolean, RTCORBA::Priority&,
                        const PortableServer::ObjectId&>(&RTCORBA::PriorityTransform::outbound));
static_assert(std::is_base_of_v<CORBA::Current, RTCORBA::Current>);
static_assert(is_member<RTCORBA::Current, RTCORBA::Priority>(&RTCORBA::Current::the_priority));
static_assert(
    is_member<RTCORBA::Current, void, RTCORBA::Priority>(&RTCORBA::Current::the_priority));
static_assert(IOP::RTCorbaPriority == 10 && IOP::RTCorbaPriorityRange == 11);

// --- 5.7 and 5.12 to 5.15: policies ---

template <typename Policy>
inline constexpr bool is_policy = std::is_base_of_v<CORBA::Policy, Policy>;

static_assert(RTCORBA::PRIORITY_MODEL_POLICY_TYPE == 40);
static_assert(RTCORBA::CLIENT_PROPAGATED == 0 && RTCORBA::SERVER_DECLARED == 1);
static_assert(is_policy<RTCORBA::PriorityModelPolicy>);
static_assert(is_member<RTCORBA::PriorityModelPolicy, RTCORBA::PriorityModel>(
    &RTCORBA::PriorityModelPolicy::priority_model));
static_assert(is_member<RTCORBA::PriorityModelPolicy, RTCORBA::Priority>(
    &RTCORBA::PriorityModelPolicy::server_priority));

static_assert(RTCORBA::THREADPOOL_POLICY_TYPE == 41);
static_assert(is_policy<RTCORBA::ThreadpoolPolicy>);
static_assert(is_member<RTCORBA::ThreadpoolPolicy, RTCORBA::ThreadpoolId>(
    &RTCORBA::ThreadpoolPolicy::threadpool));

static_assert(RTCORBA::SERVER_PROTOCOL_POLICY_TYPE == 42);
static_assert(is_policy<RTCORBA::ServerProtocolPolicy>);
static_assert(is_member<RTCORBA::ServerProtocolPolicy, RTCORBA::ProtocolList*>(
    &RTCORBA::ServerProtocolPolicy::protocols));

static_assert(RTCORBA::CLIENT_PROTOCOL_POLICY_TYPE == 43);
static_assert(is_policy<RTCORBA::ClientProtocolPolicy>);
static_assert(is_member<RTCORBA::ClientProtocolPolicy, RTCORBA::ProtocolList*>(
    &RTCORBA::ClientProtocolPolicy::protocols));

static_assert(RTCORBA::PRIVATE_CONNECTION_POLICY_TYPE == 44);
static_assert(is_policy<RTCORBA::PrivateConnectionPolicy>);

static_assert(RTCORBA::PRIORITY_BANDED_CONNECTION_POLICY_TYPE == 45);
static_assert(is_policy<RTCORBA::PriorityBandedConnectionPolicy>);
static_assert(is_member<RTCORBA::PriorityBandedConnectionPolicy, RTCORBA::PriorityBands*>(
    &RTCORBA::PriorityBandedConnectionPolicy::priority_bands));

static_assert(std::is_base_of_v<RTCORBA::ProtocolProperties, RTCORBA::TCPProtocolProperties>);
static_assert(is_member<RTCORBA::TCPProtocolProperties, CORBA::Long>(
    &RTCORBA::TCPProtocolProperties::send_buffer_size));
static_assert(is_member<RTCORBA::TCPProtocolProperties, void, CORBA::Long>(
    &RTCORBA::TCPProtocolProperties::send_buffer_size));
static_assert(is_member<RTCORBA::TCPProtocolProperties, CORBA::Long>(
    &RTCORBA::TCPProtocolProperties::recv_buffer_size));
static_assert(is_member<RTCORBA::TCPProtocolProperties, void, CORBA::Long>(
    &RTCORBA::TCPProtocolProperties::recv_buffer_size));
static_assert(is_member<RTCORBA::TCPProtocolProperties, CORBA::Boolean>(
    &RTCORBA::TCPProtocolProperties::keep_alive));
static_assert(is_member<RTCORBA::TCPProtocolProperties, void, CORBA::Boolean>(
    &RTCORBA::TCPProtocolProperties::keep_alive));
static_assert(is_member<RTCORBA::TCPProtocolProperties, CORBA::Boolean>(
    &RTCORBA::TCPProtocolProperties::dont_route));
static_assert(is_member<RTCORBA::TCPProtocolProperties, void, CORBA::Boolean>(
    &RTCORBA::TCPProtocolProperties::dont_route));
static_assert(is_member<RTCORBA::TCPProtocolProperties, CORBA::Boolean>(
    &RTCORBA::TCPProtocolProperties::no_delay));
static_assert(is_member<RTCORBA::TCPProtocolProperties, void, CORBA::Boolean>(
    &RTCORBA::TCPProtocolProperties::no_delay));

// --- 5.11: mutexes ---

static_assert(is_member<RTCORBA::Mutex, void>(&RTCORBA::Mutex::lock));
static_assert(is_member<RTCORBA::Mutex, void>(&RTCORBA::Mutex::unlock));
static_assert(
    is_member<RTCORBA::Mutex, CORBA::Boolean, TimeBase::TimeT>(&RTCORBA::Mutex::try_lock));

// --- 5.3: the ORB ---

static_assert(std::is_base_of_v<CORBA::UserException, RTCORBA::RTORB::InvalidThreadpool>);
static_assert(is_member<RTCORBA::RTORB, RTCORBA::Mutex_ptr>(&RTCORBA::RTORB::create_mutex));
static_assert(is_member<RTCORBA::RTORB, void, RTCORBA::Mutex_ptr>(&RTCORBA::RTORB::destroy_mutex));
static_assert(is_member<RTCORBA::RTORB, RTCORBA::ThreadpoolId, CORBA::ULong, CORBA::ULong,
                        CORBA::ULong, RTCORBA::Priority, CORBA::Boolean, CORBA::ULong,
                        CORBA::ULong>(&RTCORBA::RTORB::create_threadpool));
static_assert(is_member<RTCORBA::RTORB, RTCORBA::ThreadpoolId, CORBA::ULong,
                        const RTCORBA::ThreadpoolLanes&, CORBA::Boolean, CORBA::Boolean,
                        CORBA::ULong, CORBA::ULong>(&RTCORBA::RTORB::create_threadpool_with_lanes));
static_assert(
    is_member<RTCORBA::RTORB, void, RTCORBA::ThreadpoolId>(&RTCORBA::RTORB::destroy_threadpool));
static_assert(is_member<RTCORBA::RTORB, RTCORBA::PriorityModelPolicy_ptr, RTCORBA::PriorityModel,
                        RTCORBA::Priority>(&RTCORBA::RTORB::create_priority_model_policy));
static_assert(is_member<RTCORBA::RTORB, RTCORBA::ThreadpoolPolicy_ptr, RTCORBA::ThreadpoolId>(
    &RTCORBA::RTORB::create_threadpool_policy));
static_assert(is_member<RTCORBA::RTORB, RTCORBA::PriorityBandedConnectionPolicy_ptr,
                        const RTCORBA::PriorityBands&>(
    &RTCORBA::RTORB::create_priority_banded_connection_policy));
static_assert(
    is_member<RTCORBA::RTORB, RTCORBA::ServerProtocolPolicy_ptr, const RTCORBA::ProtocolList&>(
        &RTCORBA::RTORB::create_server_protocol_policy));
static_assert(
    is_member<RTCORBA::RTORB, RTCORBA::ClientProtocolPolicy_ptr, const RTCORBA::ProtocolList&>(
        &RTCORBA::RTORB::create_client_protocol_policy));
static_assert(is_member<RTCORBA::RTORB, RTCORBA::PrivateConnectionPolicy_ptr>(
    &RTCORBA::RTORB::create_private_connection_policy));
static_assert(is_member<RTCORBA::RTORB, RTCORBA::TCPProtocolProperties_ptr, CORBA::Long,
                        CORBA::Long, CORBA::Boolean, CORBA::Boolean, CORBA::Boolean>(
    &RTCORBA::RTORB::create_tcp_protocol_properties));

// --- 5.7.5: object adapters ---

static_assert(std::is_base_of_v<PortableServer::POA, RTPortableServer::POA>);
static_assert(is_member<RTPortableServer::POA, CORBA::Object_ptr, const char*, RTCORBA::Priority>(
    &RTPortableServer::POA::create_reference_with_priority));
static_assert(is_member<RTPortableServer::POA, CORBA::Object_ptr, const PortableServer::ObjectId&,
                        const char*, RTCORBA::Priority>(
    &RTPortableServer::POA::create_reference_with_id_and_priority));
static_assert(is_member<RTPortableServer::POA, PortableServer::ObjectId*, PortableServer::Servant,
                        RTCORBA::Priority>(&RTPortableServer::POA::activate_object_with_priority));
static_assert(
    is_member<RTPortableServer::POA, void, const PortableServer::ObjectId&, PortableServer::Servant,
              RTCORBA::Priority>(&RTPortableServer::POA::activate_object_with_id_and_priority));

/// The members of a struct or enum, in their order, with the names of their types.
std::string members_of(CORBA::TypeCode_ptr type)
{
    std::string text;
    for (CORBA::ULong i = 0; i < type->member_count(); ++i) {
        text += std::string(i == 0 ? "" : ", ") + type->member_name(i);
        if (type->kind() == CORBA::tk_enum) continue;
        const CORBA::TypeCode_var member = type->member_type(i);
        const bool named = member->kind() == CORBA::tk_alias ||
                           member->kind() == CORBA::tk_objref ||
                           member->kind() == CORBA::tk_local_interface;
        if (named) text += std::string(": ") + member->id();
    }
    return text;
}

TEST(Interface, HasTheOmgsStructs)
{
    EXPECT_STREQ(RTCORBA::_tc_Priority->id(), "IDL:omg.org/RTCORBA/Priority:1.0");
    EXPECT_STREQ(RTCORBA::_tc_ThreadpoolLane->id(), "IDL:omg.org/RTCORBA/ThreadpoolLane:1.0");
    EXPECT_EQ(members_of(RTCORBA::_tc_ThreadpoolLane),
              "lane_priority: IDL:omg.org/RTCORBA/Priority:1.0, static_threads, dynamic_threads");
    EXPECT_EQ(members_of(RTCORBA::_tc_PriorityBand),
              "low: IDL:omg.org/RTCORBA/Priority:1.0, high: IDL:omg.org/RTCORBA/Priority:1.0");
    EXPECT_EQ(members_of(RTCORBA::_tc_PriorityModel), "CLIENT_PROPAGATED, SERVER_DECLARED");
    EXPECT_EQ(members_of(RTCORBA::_tc_Protocol),
              "protocol_type: IDL:omg.org/IOP/ProfileId:1.0, "
              "orb_protocol_properties: IDL:omg.org/RTCORBA/ProtocolProperties:1.0, "
              "transport_protocol_properties: IDL:omg.org/RTCORBA/ProtocolProperties:1.0");
}

TEST(Interface, HasTheOmgsIds)
{
    EXPECT_STREQ(RTCORBA::RTORB::InvalidThreadpool()._rep_id(),
                 "IDL:omg.org/RTCORBA/RTORB/InvalidThreadpool:1.0");
    World world;
    EXPECT_TRUE(world.rtorb()->_is_a("IDL:omg.org/RTCORBA/RTORB:1.0"));
    EXPECT_TRUE(world.current()->_is_a("IDL:omg.org/RTCORBA/Current:1.0"));
    EXPECT_TRUE(world.root()->_is_a("IDL:omg.org/RTPortableServer/POA:1.0"));
    EXPECT_TRUE(world.root()->_is_a("IDL:omg.org/PortableServer/POA:1.0"));
}

/// What is not the OMG's is in a module of Kairos's, behind the same objects.
TEST(Interface, IsExtendedApart)
{
    World world;
    EXPECT_FALSE(CORBA::is_nil(narrowed<KairosRealTime::RTORB>(world.rtorb()).in()));
    const RTCORBA::TCPProtocolProperties_var properties =
        world.rtorb()->create_tcp_protocol_properties(0, 0, false, false, false);
    const auto extended = narrowed<KairosRealTime::TCPProtocolProperties>(properties);
    EXPECT_FALSE(extended->enable_network_priority());
    extended->enable_network_priority(true);
    EXPECT_TRUE(extended->enable_network_priority());
}

} // namespace
} // namespace kairos::rtcorba_testing
