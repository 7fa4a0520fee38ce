// SPDX-License-Identifier: Apache-2.0
//
// omniORB's interceptors, initialisers and its POA of plain names, as programs use them.
#include "kairos/orb/reference.h"
#include "omniORB4/CORBA.h"
#include "omniORB4/internal/initialiser.h"
#include "omniORB4/omniInterceptors.h"
#include "streams.h"
#include "streams_skel.h"

#include <atomic>
#include <cfenv>
#include <csignal>
#include <cstdint>
#include <gtest/gtest.h>
#include <mutex>
#include <pthread.h>
#include <string>
#include <vector>

namespace {

constexpr CORBA::ULong our_context = 0x4B52FFFE;

class EchoServant final : public POA_Streams::Echo {
  public:
    char* say(const char* text) override
    {
        if (*text == '\0') throw Streams::Refused("nothing");
        sigset_t blocked;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        is_as_set = sigismember(&blocked, SIGUSR2) == 1 && std::fegetround() == FE_UPWARD;
#ifdef KAIROS_OMNITHREAD
        has_thread = omni_thread::self() != nullptr;
#endif
        return CORBA::string_dup(text);
    }
    std::atomic<bool> has_thread = false;
    std::atomic<bool> is_as_set = false; // what a function has set for the thread holds in servants
};

CORBA::ORB_ptr make(const char* id)
{
    const char* options[][2] = {{"endPoint", "giop:tcp:127.0.0.1:"}, {nullptr, nullptr}};
    int argc = 0;
    return CORBA::ORB_init(argc, nullptr, id, options);
}

/// What the interceptors were told, in the order of time.
class Told {
  public:
    void add(std::string what)
    {
        const std::lock_guard lock(mutex_);
        all_.push_back(std::move(what));
    }
    std::vector<std::string> take()
    {
        const std::lock_guard lock(mutex_);
        return std::exchange(all_, {});
    }

  private:
    std::mutex mutex_; // guards what follows
    std::vector<std::string> all_;
};

Told told;
std::atomic<bool> refuses = false;
std::atomic<int> threads_begun = 0;
std::atomic<int> threads_ended = 0;
std::atomic<int> threads_forgotten = 0;
std::atomic<int> on_other_stacks = 0;
thread_local int depth = 0;

IOP::ServiceContext context(const char* text)
{
    IOP::ServiceContext made;
    made.context_id = our_context;
    const std::string_view octets = text;
    made.context_data.length(static_cast<CORBA::ULong>(octets.size()));
    std::copy(octets.begin(), octets.end(), made.context_data.get_buffer());
    return made;
}

std::string ours_in(const IOP::ServiceContextList& list)
{
    std::string found = "-";
    for (CORBA::ULong i = 0; i < list.length(); ++i)
        if (list[i].context_id == our_context)
            found.assign(reinterpret_cast<const char*>(list[i].context_data.get_buffer()),
                         list[i].context_data.length());
    return found;
}

CORBA::Boolean sending(omni::omniInterceptors::clientSendRequest_T::info_T& info)
{
    told.add(std::string("send ") + info.operation());
    info.service_contexts.length(1);
    info.service_contexts[0] = context("to");
    return std::string(info.peeraddress()).starts_with("giop:tcp:127.0.0.1:");
}

CORBA::Boolean never_told(omni::omniInterceptors::serverReceiveRequest_T::info_T&)
{
    told.add("never");
    return true;
}

CORBA::Boolean receiving(omni::omniInterceptors::serverReceiveRequest_T::info_T& info)
{
    auto& strand = static_cast<omni::giopStrand&>(info.giop_s.strand());
    const std::string peer = strand.connection->peeraddress();
    told.add(std::string("receive ") + info.giop_s.calldescriptor()->op() + ' ' +
             peer.substr(0, peer.rfind(':')) + ' ' + ours_in(info.giop_s.service_contexts()));
    if (refuses) throw CORBA::NO_PERMISSION();
    return false;
}

CORBA::Boolean replying(omni::omniInterceptors::serverSendReply_T::info_T& info)
{
    told.add(std::string("reply ") + info.giop_s.operation());
    info.giop_s.service_contexts().length(1);
    info.giop_s.service_contexts()[0] = context("back");
    return true;
}

CORBA::Boolean failing(omni::omniInterceptors::serverSendException_T::info_T& info)
{
    told.add(std::string("exception ") + info.exception->_name());
    return true;
}

CORBA::Boolean received(omni::omniInterceptors::clientReceiveReply_T::info_T& info)
{
    told.add("received " + ours_in(info.service_contexts));
    return true;
}

/// Whether this is on the calling thread's own stack, as it knows it.
/// The frames of calls, that is: a sanitizer may have local variables elsewhere.
bool is_on_stack()
{
    pthread_attr_t attributes;
    void* lowest = nullptr;
    std::size_t size = 0;
    ::pthread_getattr_np(::pthread_self(), &attributes);
    ::pthread_attr_getstack(&attributes, &lowest, &size);
    ::pthread_attr_destroy(&attributes);
    const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto from = reinterpret_cast<std::uintptr_t>(lowest);
    return at >= from && at < from + size;
}

void outer(omni::omniInterceptors::createThread_T::info_T& info)
{
    ++threads_begun;
    ++depth;
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &usr2, nullptr);
    std::fesetround(FE_UPWARD);
    info.run();
    if (!is_on_stack()) ++on_other_stacks;
    if (--depth == 0) ++threads_ended;
}

void inner(omni::omniInterceptors::assignUpcallThread_T::info_T& info)
{
    ++depth;
    info.run();
    --depth;
}

void forgetful(omni::omniInterceptors::createThread_T::info_T&) { ++threads_forgotten; }

void throwing(omni::omniInterceptors::createThread_T::info_T&) { throw CORBA::NO_RESOURCES(); }

using Lines = std::vector<std::string>;

TEST(Interceptors, AreToldOfCallsRequestsAndThreads)
{
    CORBA::ORB_var orb = make("omniORB4");
    omni::omniInterceptors* const all = omniORB::getInterceptors();
    all->clientSendRequest.add(sending);
    all->clientSendRequest.add(sending); // once is enough
    all->clientReceiveReply.add(received);
    all->serverReceiveRequest.add(receiving);
    all->serverReceiveRequest.add(never_told); // behind one that returns false
    all->serverSendReply.add(replying);
    all->serverSendException.add(failing);
    all->createThread.add(outer);
    all->assignUpcallThread.add(inner);
    EXPECT_THROW(all->encodeIOR.add(nullptr), CORBA::NO_IMPLEMENT);
    EXPECT_THROW(all->createRope.add(nullptr), CORBA::NO_IMPLEMENT);
    EXPECT_THROW(all->invokeLocalCall.add(nullptr), CORBA::NO_IMPLEMENT);

    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
    PortableServer::Servant_var<EchoServant> servant = new EchoServant;
    Streams::Echo_var local = servant->_this();
    EXPECT_STREQ(local->_PR_getobj()->_mostDerivedRepoId(), "IDL:Streams/Echo:1.0");
    CORBA::String_var text = orb->object_to_string(local.in());
    CORBA::ORB_var client = make("client");
    CORBA::Object_var far = client->string_to_object(text.in());
    Streams::Echo_var echo = Streams::Echo::_unchecked_narrow(far.in());

    static_cast<void>(told.take());
    CORBA::String_var said = echo->say("hello");
    EXPECT_STREQ(said.in(), "hello");
    EXPECT_EQ(told.take(), (Lines{"send say", "receive say giop:tcp:127.0.0.1 to", "reply say",
                                  "received back"}));
    EXPECT_TRUE(servant->is_as_set);
#ifdef KAIROS_OMNITHREAD
    EXPECT_TRUE(servant->has_thread);
#endif
    EXPECT_THROW(echo->say(""), Streams::Refused);
    EXPECT_EQ(told.take(), (Lines{"send say", "receive say giop:tcp:127.0.0.1 to",
                                  "exception Refused", "received -"}));
    refuses = true;
    EXPECT_THROW(echo->say("hello"), CORBA::NO_PERMISSION);
    refuses = false;
    static_cast<void>(told.take());
    said = local->say("within the process");
    EXPECT_EQ(told.take(), Lines{});

    all->clientSendRequest.remove(sending);
    all->clientReceiveReply.remove(received);
    all->serverReceiveRequest.remove(receiving);
    all->serverReceiveRequest.remove(never_told);
    all->serverSendReply.remove(replying);
    all->serverSendException.remove(failing);
    said = echo->say("hello");
    EXPECT_EQ(told.take(), Lines{});
    all->clientSendRequest.add(sending); // forgotten with the last ORB
    client->destroy();
    orb->destroy();
    EXPECT_GT(threads_begun, 0);
    EXPECT_EQ(on_other_stacks, 0);
    EXPECT_EQ(threads_ended, threads_begun); // each was back at depth 0
}

void call_once(void (*function)(omni::omniInterceptors::createThread_T::info_T&))
{
    CORBA::ORB_var orb = make("omniORB4");
    omniORB::getInterceptors()->createThread.add(function);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
    PortableServer::Servant_var<EchoServant> servant = new EchoServant;
    Streams::Echo_var local = servant->_this();
    CORBA::String_var text = orb->object_to_string(local.in());
    CORBA::ORB_var client = make("client");
    object = client->string_to_object(text.in());
    Streams::Echo_var echo = Streams::Echo::_unchecked_narrow(object.in());
    static_cast<void>(told.take());
    const CORBA::String_var said = echo->say("hello");
    EXPECT_STREQ(said.in(), "hello");
    EXPECT_EQ(told.take(), Lines{}); // nor are there functions of ORBs before
    EXPECT_FALSE(servant->is_as_set);
    client->destroy();
    orb->destroy();
}

TEST(Interceptors, AThreadWorksWhateverFunctionsDo)
{
    call_once(forgetful);
    EXPECT_GT(threads_forgotten, 0);
    call_once(throwing);
}

TEST(Interceptors, ThoseOfServersAreToBeThereBeforeItServes)
{
    CORBA::ORB_var orb = make("omniORB4");
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    EXPECT_THROW(omniORB::getInterceptors()->serverSendReply.add(replying), CORBA::BAD_INV_ORDER);
    orb->destroy();
}

TEST(InsPoa, ObjectsHaveTheNamesThatTheProgramGivesThem)
{
    CORBA::ORB_var orb = make("omniORB4");
    CORBA::Object_var object = orb->resolve_initial_references("omniINSPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    object = orb->resolve_initial_references("omniINSPOA");
    EXPECT_TRUE(poa->_is_equivalent(object.in()));
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    PortableServer::Servant_var<EchoServant> servant = new EchoServant;
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("dserver/one");
    poa->activate_object_with_id(id.in(), servant.in());

    object = poa->id_to_reference(id.in());
    const auto port = object->_kairos_reference()->targets().front().endpoint->port();
    const std::string url = "corbaloc::127.0.0.1:" + std::to_string(port) + "/dserver/";
    CORBA::ORB_var client = make("client");
    object = client->string_to_object((url + "one").c_str());
    Streams::Echo_var echo = Streams::Echo::_narrow(object.in());
    CORBA::String_var said = echo->say("hello");
    EXPECT_STREQ(said.in(), "hello");
    object = client->string_to_object((url + "two").c_str());
    EXPECT_TRUE(object->_non_existent());
    client->destroy();
    orb->destroy();
}

class Counting final : public omni::omniInitialiser {
  public:
    void attach() override { ++attached; }
    void detach() override { ++detached; }
    std::atomic<int> attached = 0;
    std::atomic<int> detached = 0;
};

TEST(Initialisers, HearOfTheBeginningAndTheEndOfOrbs)
{
    static Counting& counting = *new Counting;
    static const bool installed = (omni::omniInitialiser::install(&counting), true);
    ASSERT_TRUE(installed);
    counting.attached = counting.detached = 0;
    CORBA::ORB_var orb = make("omniORB4");
    CORBA::ORB_var again = make("omniORB4");
    EXPECT_EQ(counting.attached, 1);
    EXPECT_EQ(counting.detached, 0);
    orb->destroy();
    EXPECT_EQ(counting.detached, 1); // though it is still referred to
    orb = CORBA::ORB::_nil();
    again = CORBA::ORB::_nil();
    EXPECT_EQ(counting.detached, 1);
}

} // namespace
