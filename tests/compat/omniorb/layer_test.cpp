// SPDX-License-Identifier: Apache-2.0
//
// The layer for omniORB as a program has it: what ORB_init heeds and refuses, how calls end, and
// who is asked whether they are made again.
#include "kairos/corba/Messaging.h"
#include "kairos/orb/orb.h"
#include "omniORB4/omniORB.h"

#include <arpa/inet.h>
#include <barrier>
#include <chrono>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

/// An address at which nobody listens, for as long as the object lives.
class DeadAddress {
  public:
    DeadAddress() : socket_(::socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(socket_, any, size), 0);
        EXPECT_EQ(::getsockname(socket_, any, &size), 0);
        url_ = "corbaloc::127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/x";
    }
    DeadAddress(const DeadAddress&) = delete;
    DeadAddress& operator=(const DeadAddress&) = delete;
    ~DeadAddress() { ::close(socket_); }
    [[nodiscard]] const char* url() const { return url_.c_str(); }
    /// From now on the system takes connections.
    void listen() { ASSERT_EQ(::listen(socket_, 8), 0); }

  private:
    int socket_;
    std::string url_;
};

/// An ORB of the layer, destroyed at the end.
class Layer {
  public:
    explicit Layer(const char* options[][2] = nullptr)
    {
        int argc = 0;
        orb = CORBA::ORB_init(argc, nullptr, "omniORB4", options);
    }
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;
    ~Layer()
    {
        omniORB::installTransientExceptionHandler(nullptr, nullptr);
        orb->destroy();
    }
    CORBA::ORB_var orb;
};

TEST(Layer, TakesItsOptionsOutAndLeavesTheRest)
{
    std::string words[] = {"program",
                           "-ORBgiopMaxMsgSize",
                           "9000",
                           "file",
                           "-ORBThreads",
                           "4",
                           "-ORBthreadPerConnectionPolicy",
                           "0"};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(),
                    words[3].data(), words[4].data(), words[5].data(),
                    words[6].data(), words[7].data(), nullptr};
    int argc = 8;
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4");
    EXPECT_EQ(argc, 2);
    EXPECT_STREQ(argv[1], "file");
    EXPECT_EQ(argv[2], nullptr);
    EXPECT_EQ(omniORB::giopMaxMsgSize(), 9000U);
    orb->destroy();
}

/// An ORB of this name, whose only option is the one that is given.
CORBA::ORB_ptr make_orb(const char* id, const char* name, const char* value)
{
    const char* options[][2] = {{name, value}, {nullptr, nullptr}};
    int argc = 0;
    return CORBA::ORB_init(argc, nullptr, id, options);
}

TEST(Layer, SetsAnOrbUpOnce)
{
    CORBA::ORB_var first = make_orb("first", "traceLevel", "11");
    CORBA::ORB_var second = make_orb("", "id", "second");
    omniORB::traceLevel = 3;
    for (const char* id : {"first", "second"}) {
        CORBA::ORB_var again = make_orb(id, "traceLevel", "12");
        EXPECT_EQ(omniORB::traceLevel, 3U) << id;
    }
    CORBA::ORB_var by_option = make_orb("", "id", "second");
    EXPECT_EQ(by_option.in(), second.in());
    first->destroy();
    first = make_orb("first", "traceLevel", "4"); // another one
    EXPECT_EQ(omniORB::traceLevel, 4U);
    first->destroy();
    second->destroy();
    CORBA::ORB_var silent = make_orb("", "id", "omniORB4");
    EXPECT_EQ(omniORB::traceLevel, 4U); // as nobody said another
    CORBA::ORB_var by_name = make_orb("omniORB4", "traceLevel", "5");
    EXPECT_EQ(by_name.in(), silent.in());
    EXPECT_EQ(omniORB::traceLevel, 4U);
    silent->destroy();
    omniORB::traceLevel = 1;
}

TEST(Layer, SaysTheLargestMessageOfKairossOwnOption)
{
    std::string words[] = {"program", "-ORBMaxMessageSize", "70000"};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    int argc = 3;
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4");
    EXPECT_EQ(omniORB::giopMaxMsgSize(), 70000U);
    orb->destroy();
}

TEST(Layer, RefusesWhatIsWrong)
{
    const char* wrong[][2] = {{"endPoint", "giop:http::"}, {nullptr, nullptr}};
    const char* unknown[][2] = {{"noSuchOption", "1"}, {nullptr, nullptr}};
    for (auto* options : {wrong, unknown}) {
        int argc = 0;
        try {
            CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "", options);
            FAIL() << options[0][0];
        } catch (const CORBA::INITIALIZE& refused) {
            EXPECT_EQ(refused.minor(), omni::INITIALIZE_InvalidORBInitArgs);
            EXPECT_NE(refused.reason().find(options[0][0]), std::string_view::npos);
        }
    }
    std::string words[] = {"program", "-ORBnoSuchOption"};
    char* argv[] = {words[0].data(), words[1].data(), nullptr};
    int argc = 2;
    EXPECT_THROW(static_cast<void>(CORBA::ORB_init(argc, argv)), CORBA::INITIALIZE);
}

TEST(Layer, FailuresHaveTheMinorCodesOfOmniOrb)
{
    const DeadAddress nobody;
    const Layer layer;
    CORBA::Object_var object = layer.orb->string_to_object(nobody.url());
    try {
        object->_non_existent();
        FAIL();
    } catch (const CORBA::TRANSIENT& failed) {
        EXPECT_EQ(failed.minor(), omni::TRANSIENT_ConnectFailed);
        EXPECT_EQ(failed.completed(), CORBA::COMPLETED_NO);
        EXPECT_STREQ(omniORB::minorString(failed), "TRANSIENT_ConnectFailed");
        EXPECT_STREQ(failed.NP_minorString(), "TRANSIENT_ConnectFailed");
        EXPECT_EQ(CORBA::TIMEOUT(failed.minor(), CORBA::COMPLETED_NO).NP_minorString(), nullptr);
    }
}

CORBA::Boolean three_times(void* cookie, CORBA::ULong retries, const CORBA::TRANSIENT&)
{
    *static_cast<CORBA::ULong*>(cookie) += 1;
    return retries < 3;
}

CORBA::Boolean never_again(void* cookie, CORBA::ULong, const CORBA::TRANSIENT&)
{
    *static_cast<CORBA::ULong*>(cookie) += 1;
    return false;
}

TEST(Layer, ThreadsThatAskForAnOrbTogetherSetItUpOnce)
{
    constexpr std::size_t count = 4;
    std::vector<CORBA::ORB_var> orbs(count);
    std::barrier together(static_cast<std::ptrdiff_t>(count));
    std::vector<std::thread> threads;
    for (CORBA::ORB_var& orb : orbs)
        threads.emplace_back([&orb, &together] {
            together.arrive_and_wait();
            orb = make_orb("shared", "throwTransientOnTimeOut", "0");
        });
    for (std::thread& each : threads)
        each.join();
    for (const CORBA::ORB_var& orb : orbs)
        EXPECT_EQ(orb.in(), orbs[0].in());
    const DeadAddress nobody;
    CORBA::ULong asked = 0;
    omniORB::installTransientExceptionHandler(&asked, never_again);
    CORBA::Object_var object = orbs[0]->string_to_object(nobody.url());
    EXPECT_THROW(object->_non_existent(), CORBA::TRANSIENT);
    EXPECT_EQ(asked, 1U); // each that set it up would ask
    omniORB::installTransientExceptionHandler(nullptr, nullptr);
    orbs[0]->destroy();
}

TEST(Layer, HandlersSayWhetherCallsAreMadeAgain)
{
    const DeadAddress nobody;
    const Layer layer;
    CORBA::ULong asked = 0;
    omniORB::installTransientExceptionHandler(&asked, three_times);
    CORBA::Object_var object = layer.orb->string_to_object(nobody.url());
    EXPECT_THROW(object->_non_existent(), CORBA::TRANSIENT);
    EXPECT_EQ(asked, 4U);
}

TEST(Layer, AnObjectsHandlerIsAskedInsteadOfThatForAll)
{
    const DeadAddress nobody;
    const DeadAddress nobody_else;
    const Layer layer;
    CORBA::ULong asked = 0;
    CORBA::ULong asked_for_one = 0;
    CORBA::Object_var object = layer.orb->string_to_object(nobody.url());
    CORBA::Object_var other = layer.orb->string_to_object(nobody_else.url());
    omniORB::installTransientExceptionHandler(&asked, never_again);
    omniORB::installTransientExceptionHandler(object.in(), &asked_for_one, three_times);
    EXPECT_THROW(object->_non_existent(), CORBA::TRANSIENT);
    EXPECT_EQ(asked_for_one, 4U);
    EXPECT_EQ(asked, 0U);
    EXPECT_THROW(other->_non_existent(), CORBA::TRANSIENT);
    EXPECT_EQ(asked, 1U);
    omniORB::installTransientExceptionHandler(object.in(), nullptr, nullptr);
    EXPECT_THROW(object->_non_existent(), CORBA::TRANSIENT);
    EXPECT_EQ(asked, 2U);
    EXPECT_EQ(asked_for_one, 4U);
}

/// What a handler was told of the last call.
struct Told {
    CORBA::ULong asked = 0;
    CORBA::Object_var object;
    std::string operation;
};

template <typename Exception>
CORBA::Boolean note(void* cookie, CORBA::ULong retries, const Exception&, CORBA::Object_ptr object,
                    const char* operation)
{
    Told& told = *static_cast<Told*>(cookie);
    ++told.asked;
    told.object = CORBA::Object::_duplicate(object);
    told.operation = operation;
    return retries < 1;
}

TEST(Layer, HandlersMayBeToldOfObjectAndOperation)
{
    const DeadAddress nobody;
    const Layer layer;
    Told told;
    Told told_of_one;
    CORBA::ULong asked = 0;
    CORBA::Object_var object = layer.orb->string_to_object(nobody.url());
    omniORB::installTransientExceptionHandler(&asked, never_again);
    omniORB::installTransientExceptionHandlerExt(&told, note<CORBA::TRANSIENT>); // in its place
    omniORB::installSystemExceptionHandlerExt(&told_of_one, note<CORBA::SystemException>);
    EXPECT_THROW(object->_non_existent(), CORBA::TRANSIENT);
    EXPECT_EQ(asked, 0U);
    EXPECT_EQ(told.asked, 2U);
    EXPECT_EQ(told_of_one.asked, 0U);
    EXPECT_EQ(told.operation, "_non_existent");
    EXPECT_TRUE(told.object->_is_equivalent(object));
    omniORB::installTransientExceptionHandlerExt(object, &told_of_one, note<CORBA::TRANSIENT>);
    EXPECT_THROW((void)object->_is_a("IDL:x:1.0"), CORBA::TRANSIENT);
    EXPECT_EQ(told.asked, 2U);
    EXPECT_EQ(told_of_one.asked, 2U);
    EXPECT_EQ(told_of_one.operation, "_is_a");
    omniORB::installTransientExceptionHandlerExt(object, nullptr, nullptr);
    omniORB::installTransientExceptionHandlerExt(nullptr, nullptr);
    omniORB::installSystemExceptionHandlerExt(nullptr, nullptr);
    EXPECT_THROW(object->_non_existent(), CORBA::TRANSIENT);
    EXPECT_EQ(told.asked + told_of_one.asked, 4U);
}

/// The overrides that a reference has.
CORBA::ULong overrides_of(CORBA::Object_ptr object)
{
    const CORBA::PolicyList_var list = object->_get_policy_overrides(CORBA::PolicyTypeSeq());
    return list->length();
}

TEST(Layer, ObjectsHaveTimeouts)
{
    DeadAddress silent; // whose connections the system takes, and nobody reads
    silent.listen();
    const char* options[][2] = {{"throwTransientOnTimeOut", "0"}, {nullptr, nullptr}};
    const Layer layer(options);
    CORBA::Object_var object = layer.orb->string_to_object(silent.url());
    CORBA::Object_var same = CORBA::Object::_duplicate(object.in());
    omniORB::setClientCallTimeout(object.in(), 50);
    EXPECT_EQ(overrides_of(same.in()), 1U);
    EXPECT_THROW(same->_non_existent(), CORBA::TIMEOUT);
    omniORB::setClientCallTimeout(object.in(), 60);
    EXPECT_EQ(overrides_of(object.in()), 1U);
    omniORB::setClientCallTimeout(object.in(), 0);
    EXPECT_EQ(overrides_of(object.in()), 0U);
}

/// How long calls of this thread may take by its own policies, in milliseconds; 0: nothing is said.
TimeBase::TimeT of_thread(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("PolicyCurrent");
    CORBA::PolicyCurrent_var current = CORBA::PolicyCurrent::_narrow(object.in());
    CORBA::PolicyList_var list = current->get_policy_overrides(CORBA::PolicyTypeSeq());
    if (list->length() == 0) return 0;
    Messaging::RelativeRoundtripTimeoutPolicy_var policy =
        Messaging::RelativeRoundtripTimeoutPolicy::_narrow(list[0U]);
    return policy->relative_expiry() / 10'000;
}

TEST(Layer, ThreadsHaveTimeouts)
{
    const Layer layer;
    omniORB::setClientThreadCallTimeout(250);
    EXPECT_EQ(of_thread(layer.orb.in()), 250U);
    omniORB::setClientThreadCallTimeout(100);
    EXPECT_EQ(of_thread(layer.orb.in()), 100U);
    omniORB::setClientThreadCallTimeout(0);
    EXPECT_EQ(of_thread(layer.orb.in()), 0U);
}

TEST(Layer, OptionsCountMoreThanTimeoutsThatWereSetBefore)
{
    omniORB::setClientCallTimeout(60'000);
    CORBA::ORB_var said = make_orb("omniORB4", "clientCallTimeOutPeriod", "1234");
    EXPECT_EQ(said->_kairos_core().call_policies().round_trip_max, std::chrono::milliseconds(1234));
    said->destroy();
    CORBA::ORB_var silent = make_orb("omniORB4", "traceLevel", "1");
    EXPECT_EQ(silent->_kairos_core().call_policies().round_trip_max, std::chrono::minutes(1));
    silent->destroy();
    omniORB::setClientCallTimeout(0);
}

TEST(Layer, WhatItCannotDoItSays)
{
    EXPECT_THROW(omniORB::setClientCallTimeout(CORBA::Object::_nil(), 1), CORBA::BAD_PARAM);
    EXPECT_THROW(omniORB::setClientThreadCallDeadline(1, 0), CORBA::NO_IMPLEMENT);
}

std::string logged;

TEST(Layer, MessagesGoWhereTheProgramWants)
{
    omniORB::setLogFunction([](const char* text) { logged += text; });
    omniORB::logger("x: ") << 1 << ' ' << "two" << ' ' << 2.5 << '\n';
    omniORB::logs(omniORB::traceLevel + 1, "not said");
    omniORB::setLogFunction(nullptr);
    EXPECT_EQ(logged, "x: 1 two 2.5\n");
}

} // namespace
