// SPDX-License-Identifier: Apache-2.0
//
// The service as its clients meet it, over loopback: what each operation answers, that references
// outlive the server, that another server's contexts are followed, and what a broken store is.
#include "kairos/nameserver/service.h"

#include "kairos/corba/CORBA.h"
#include "kairos/nameserver/store_testing.h"
#include "kairos/naming/listing.h"
#include "kairos/naming/name.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <sqlite3.h>

namespace {

using namespace kairos;
using namespace kairos::nameserver;
using CosNaming::NamingContext;
using CosNaming::NamingContext_var;
using CosNaming::NamingContextExt_var;

CORBA::ORB_ptr make_orb(std::vector<std::string> options)
{
    static int count = 0;
    options.insert(options.begin(), "test");
    std::vector<char*> argv;
    for (std::string& option : options)
        argv.push_back(option.data());
    int argc = static_cast<int>(argv.size());
    return CORBA::ORB_init(argc, argv.data(), ("service " + std::to_string(++count)).c_str());
}

/// A service with an ORB and a store of its own.
class Server {
  public:
    explicit Server(const ServiceLimits& limits = {}, std::uint32_t pages_max = 0)
    {
        start(limits, pages_max);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() { stop(); }

    /// At any port, or again at the one of before.
    void start(const ServiceLimits& limits = {}, std::uint32_t pages_max = 0)
    {
        start(folder.open(pages_max), limits);
    }
    void start(std::unique_ptr<Store> store, const ServiceLimits& limits)
    {
        orb = make_orb(
            {"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1:" + std::to_string(port_)});
        service.emplace(orb.in(), std::move(store), limits);
        const NamingContextExt_var root = service->root();
        reference = CORBA::String_var(orb->object_to_string(root.in())).in();
        port_ = ior::targets(ior::from_string(reference).value()).front().address.port;
    }
    void stop()
    {
        if (!service) return;
        service.reset();
        orb->destroy();
    }

    StoreFolder folder;
    CORBA::ORB_var orb;
    std::optional<NamingService> service;
    std::string reference;

  private:
    int port_ = 0;
};

/// Counts how often the store is asked for a name.
class CountedStore final : public Store {
  public:
    CountedStore(std::unique_ptr<Store> store, std::atomic<int>& resolutions)
        : store_(std::move(store)), resolutions_(resolutions)
    {
    }
    std::uint64_t identity() const noexcept override { return store_->identity(); }
    std::uint64_t changes() const noexcept override { return store_->changes(); }
    StoreStatus resolve(ContextId start, std::span<const ior::NameComponent> name,
                        Resolution& resolution) override
    {
        ++resolutions_;
        return store_->resolve(start, name, resolution);
    }
    StoreStatus bind(ContextId context, const ior::NameComponent& component,
                     const Entry& entry) override
    {
        return store_->bind(context, component, entry);
    }
    StoreStatus rebind(ContextId context, const ior::NameComponent& component,
                       const Entry& entry) override
    {
        return store_->rebind(context, component, entry);
    }
    StoreStatus unbind(ContextId context, const ior::NameComponent& component) override
    {
        return store_->unbind(context, component);
    }
    StoreStatus new_context(ContextId& created) override { return store_->new_context(created); }
    StoreStatus bind_new_context(ContextId context, const ior::NameComponent& component,
                                 ContextId& created) override
    {
        return store_->bind_new_context(context, component, created);
    }
    StoreStatus destroy_context(ContextId context) override
    {
        return store_->destroy_context(context);
    }
    StoreStatus find_context(ContextId context) override { return store_->find_context(context); }
    StoreStatus list(ContextId context, const ior::NameComponent* after,
                     const PortionBounds& bounds, Portion& portion) override
    {
        return store_->list(context, after, bounds, portion);
    }

  private:
    const std::unique_ptr<Store> store_;
    std::atomic<int>& resolutions_;
};

class ServiceTest : public testing::Test {
  protected:
    ServiceTest() : client_(make_orb({})) { root_ = root_of(server_); }
    ~ServiceTest() override { client_->destroy(); }

    [[nodiscard]] NamingContextExt_var root_of(const Server& server) const
    {
        const CORBA::Object_var object = client_->string_to_object(server.reference.c_str());
        return CosNaming::NamingContextExt::_narrow(object.in());
    }
    [[nodiscard]] CORBA::Object_var object(int number) const
    {
        return client_->string_to_object(
            ("corbaloc::127.0.0.1:9/" + std::to_string(number)).c_str());
    }
    [[nodiscard]] std::string text(CORBA::Object_ptr object) const
    {
        return CORBA::String_var(client_->object_to_string(object)).in();
    }

    CORBA::ORB_var client_;
    Server server_;
    NamingContextExt_var root_;
};

CosNaming::Name name(const char* text) { return naming::to_name(text); }

/// "missing_node a/b": what NotFound says.
template <typename Action>
std::string not_found(Action&& action)
{
    constexpr const char* reasons[] = {"missing_node ", "not_context ", "not_object "};
    try {
        action();
    } catch (const NamingContext::NotFound& failure) {
        return reasons[failure.why] + naming::to_string(failure.rest_of_name);
    }
    return "found";
}

} // namespace

TEST_F(ServiceTest, BindsResolvesAndUnbinds)
{
    root_->bind(name("a.k"), object(1).in());
    const CORBA::Object_var found = root_->resolve(name("a.k"));
    EXPECT_EQ(text(found.in()), text(object(1).in()));
    EXPECT_THROW(root_->bind(name("a.k"), object(2).in()), NamingContext::AlreadyBound);
    root_->rebind(name("a.k"), object(2).in());
    const CORBA::Object_var again = root_->resolve_str("a.k");
    EXPECT_EQ(text(again.in()), text(object(2).in()));
    root_->unbind(name("a.k"));
    EXPECT_EQ(not_found([&] { (void)root_->resolve(name("a.k")); }), "missing_node a.k");
}

TEST_F(ServiceTest, SaysWhyANameIsNotFoundAndWhatIsLeftOfIt)
{
    (void)NamingContext_var(root_->bind_new_context(name("c")));
    (void)NamingContext_var(root_->bind_new_context(name("c/d")));
    root_->bind(name("c/o"), object(1).in());
    const auto resolving = [&](const char* text) {
        return not_found([&] { (void)CORBA::Object_var(root_->resolve(name(text))); });
    };
    EXPECT_EQ(resolving("x/y/z"), "missing_node x/y/z");
    EXPECT_EQ(resolving("c/x/z"), "missing_node x/z");
    EXPECT_EQ(resolving("c/d/z"), "missing_node z");
    EXPECT_EQ(resolving("c/o/z"), "not_context o/z");
    EXPECT_EQ(not_found([&] { root_->bind(name("c/x/z"), object(1).in()); }), "missing_node x/z");
    EXPECT_EQ(not_found([&] { root_->bind(name("c/o/z"), object(1).in()); }), "not_context o/z");
    EXPECT_EQ(not_found([&] { root_->unbind(name("c/d/z")); }), "missing_node z");
    EXPECT_EQ(not_found([&] { root_->rebind(name("c/d"), object(1).in()); }), "not_object d");
    EXPECT_EQ(not_found([&] { root_->rebind_context(name("c/o"), root_.in()); }), "not_context o");
    EXPECT_THROW((void)root_->bind_new_context(name("c/o")), NamingContext::AlreadyBound);
    EXPECT_THROW(root_->bind_context(name("n"), NamingContext::_nil()), CORBA::BAD_PARAM);
}

TEST_F(ServiceTest, NamesBeyondTheLimitsAreInvalid)
{
    EXPECT_THROW((void)root_->resolve(CosNaming::Name()), NamingContext::InvalidName);
    EXPECT_THROW(root_->bind(CosNaming::Name(), object(1).in()), NamingContext::InvalidName);
    CosNaming::Name deep;
    deep.length(ServiceLimits().components_max + 1);
    EXPECT_THROW((void)root_->resolve(deep), NamingContext::InvalidName);
    CosNaming::Name large;
    large.length(1);
    large[0].id = std::string(ServiceLimits().name_octets_max + 1, 'x').c_str();
    EXPECT_THROW(root_->bind(large, object(1).in()), NamingContext::InvalidName);
    EXPECT_THROW((void)root_->resolve_str("a//b"), NamingContext::InvalidName);
    EXPECT_THROW((void)root_->to_url("host", "a"), CosNaming::NamingContextExt::InvalidAddress);
}

TEST_F(ServiceTest, ContextsAreDestroyedWhenTheyAreEmpty)
{
    const NamingContext_var context = root_->bind_new_context(name("c"));
    context->bind(name("x"), object(1).in());
    EXPECT_THROW(context->destroy(), NamingContext::NotEmpty);
    context->unbind(name("x"));
    context->destroy();
    EXPECT_THROW(context->destroy(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(context->bind(name("x"), object(1).in()), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)context->new_context(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_TRUE(context->_non_existent());
    EXPECT_THROW(root_->bind_context(name("d"), context.in()), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(root_->destroy(), CORBA::NO_PERMISSION);
    try { // still bound, to nothing
        (void)root_->resolve(name("c/x"));
        FAIL() << "resolved";
    } catch (const NamingContext::CannotProceed& failure) {
        EXPECT_EQ(naming::to_string(failure.rest_of_name), "x");
    }
}

TEST_F(ServiceTest, ListsInPortionsWithinTheLimits)
{
    server_.stop();
    server_.start({.iterators_max = 2,
                   .iterator_idle_max = std::chrono::seconds(600),
                   .portion_max = 4,
                   .components_max = 10,
                   .name_octets_max = 100});
    root_ = root_of(server_);
    for (int i = 0; i < 10; ++i)
        root_->bind(name(std::to_string(i).c_str()), object(i).in());
    CORBA::ULong listed = 0;
    naming::for_each_binding(
        root_.in(), [&](const CosNaming::Binding&) { ++listed; }, 1000);
    EXPECT_EQ(listed, 10u);

    CosNaming::BindingList_var list;
    CosNaming::BindingIterator_var first;
    root_->list(0, list.out(), first.out());
    EXPECT_EQ(list->length(), 0u);
    CosNaming::Binding_var one;
    EXPECT_TRUE(first->next_one(one.out()));
    EXPECT_EQ(naming::to_string(one->binding_name), "0");
    EXPECT_THROW((void)first->next_n(0, list.out()), CORBA::BAD_PARAM);
    EXPECT_TRUE(first->next_n(100, list.out()));
    EXPECT_EQ(list->length(), 4u);

    CosNaming::BindingIterator_var others[2];
    for (auto& other : others)
        root_->list(1, list.out(), other.out());
    EXPECT_THROW((void)first->next_one(one.out()), CORBA::OBJECT_NOT_EXIST); // it made room
    EXPECT_TRUE(others[0]->next_one(one.out()));
    others[0]->destroy();
    EXPECT_THROW(others[0]->destroy(), CORBA::OBJECT_NOT_EXIST);
    for (int i = 0; i < 8; ++i)
        EXPECT_TRUE(others[1]->next_one(one.out()));
    EXPECT_TRUE(others[1]->next_one(one.out()));
    EXPECT_FALSE(others[1]->next_one(one.out()));
    EXPECT_FALSE(others[1]->next_n(3, list.out()));
}

TEST_F(ServiceTest, AReplyIsBoundedWhateverTheClientAsksFor)
{
    const ServiceLimits limits;
    const CORBA::ULong count = limits.portion_max + 10;
    for (CORBA::ULong i = 0; i < count; ++i)
        root_->bind(name(std::to_string(i).c_str()), object(1).in());
    constexpr CORBA::ULong all = 0xffffffff;
    CosNaming::BindingList_var list;
    CosNaming::BindingIterator_var iterator;
    root_->list(all, list.out(), iterator.out());
    EXPECT_EQ(list->length(), limits.portion_max);
    ASSERT_FALSE(CORBA::is_nil(iterator.in()));
    EXPECT_TRUE(iterator->next_n(all, list.out()));
    EXPECT_EQ(list->length(), 10u);
    EXPECT_FALSE(iterator->next_n(all, list.out()));

    // And in octets: names are as long as clients like.
    const NamingContext_var context = root_->bind_new_context(name("c"));
    CosNaming::Name large;
    large.length(1);
    large[0].kind = std::string(limits.name_octets_max - 10, 'k').c_str();
    const std::size_t names = 2 * limits.portion_octets_max / limits.name_octets_max;
    for (std::size_t i = 0; i < names; ++i) {
        large[0].id = std::to_string(i).c_str();
        context->bind(large, object(1).in());
    }
    std::size_t listed = 0;
    context->list(all, list.out(), iterator.out());
    for (bool more = true; more; more = iterator->next_n(all, list.out())) {
        std::size_t octets = 0;
        for (CORBA::ULong i = 0; i < list->length(); ++i)
            octets += std::string_view(list[i].binding_name[0].kind.in()).size();
        EXPECT_LE(octets, limits.portion_octets_max);
        EXPECT_NE(list->length(), 0u);
        listed += list->length();
    }
    EXPECT_EQ(listed, names);
}

TEST_F(ServiceTest, ReferencesOutliveTheServer)
{
    const NamingContext_var context = root_->bind_new_context(name("c"));
    context->bind(name("o"), object(1).in());
    server_.stop();
    server_.start();
    const CORBA::Object_var found = context->resolve(name("o"));
    EXPECT_EQ(text(found.in()), text(object(1).in()));
    // A store that is another's is never mistaken for it.
    server_.stop();
    std::filesystem::remove(server_.folder.file());
    server_.start();
    EXPECT_THROW((void)context->resolve(name("o")), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(ServiceTest, ContextsOfOtherServersAreFollowed)
{
    std::optional<Server> other(std::in_place);
    const NamingContextExt_var theirs = root_of(*other);
    (void)NamingContext_var(theirs->bind_new_context(name("in")));
    root_->bind_context(name("other"), theirs.in());
    root_->bind(name("other/in/o"), object(1).in());
    const CORBA::Object_var found = theirs->resolve(name("in/o"));
    EXPECT_EQ(text(found.in()), text(object(1).in()));
    EXPECT_EQ(not_found([&] { (void)root_->resolve(name("other/in/x/y")); }), "missing_node x/y");
    EXPECT_THROW(root_->bind(name("other/in/o"), object(2).in()), NamingContext::AlreadyBound);
    (void)NamingContext_var(root_->bind_new_context(name("other/in/made")));
    root_->unbind(name("other/in/o"));
    // And back: a context of ours by way of theirs is ours again.
    theirs->bind_context(name("back"), root_.in());
    root_->bind(name("mine"), object(3).in());
    const CORBA::Object_var back = root_->resolve(name("other/back/mine"));
    EXPECT_EQ(text(back.in()), text(object(3).in()));
    other.reset();
    try {
        (void)root_->resolve(name("other/in/made"));
        FAIL() << "resolved";
    } catch (const NamingContext::CannotProceed& failure) {
        EXPECT_EQ(naming::to_string(failure.rest_of_name), "in/made");
        EXPECT_FALSE(CORBA::is_nil(failure.cxt.in()));
    }
}

TEST_F(ServiceTest, AnswersAreKnownUntilABindingIsAnother)
{
    std::atomic<int> resolutions = 0;
    server_.stop();
    server_.start(std::make_unique<CountedStore>(server_.folder.open(), resolutions), {});
    root_ = root_of(server_);
    (void)NamingContext_var(root_->bind_new_context(name("a")));
    root_->bind(name("a/b"), object(1).in());
    root_->bind(name("c"), CORBA::Object::_nil());
    const auto found = [&](const char* what) {
        const int before = resolutions;
        const CORBA::Object_var object = root_->resolve(name(what));
        return std::pair(text(object.in()), resolutions - before);
    };
    const std::string one = text(object(1).in());
    const std::string two = text(object(2).in());
    EXPECT_EQ(found("a/b"), std::pair(one, 1));
    EXPECT_EQ(found("a/b"), std::pair(one, 0));
    EXPECT_EQ(found("c"), std::pair(text(CORBA::Object::_nil()), 1));
    EXPECT_EQ(found("c"), std::pair(text(CORBA::Object::_nil()), 0));
    const std::string context = found("a").first;
    EXPECT_EQ(found("a"), std::pair(context, 0));
    // Another name makes no difference to these.
    root_->bind(name("a/c"), object(3).in());
    root_->rebind(name("a/d"), object(3).in());
    EXPECT_THROW(root_->bind(name("a/b"), object(3).in()), NamingContext::AlreadyBound);
    EXPECT_EQ(found("a/b"), std::pair(one, 0));
    root_->rebind(name("a/b"), object(2).in());
    EXPECT_EQ(found("a/b"), std::pair(two, 1));
    EXPECT_EQ(found("a/b"), std::pair(two, 0));
    root_->unbind(name("a/b"));
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(not_found([&] { (void)root_->resolve(name("a/b")); }), "missing_node b");
    root_->bind(name("a/b"), object(1).in());
    EXPECT_EQ(found("a/b"), std::pair(one, 1));
}

TEST_F(ServiceTest, WhatAnotherServerAnsweredIsAskedAgain)
{
    Server other;
    const NamingContextExt_var theirs = root_of(other);
    theirs->bind(name("o"), object(1).in());
    root_->bind_context(name("other"), theirs.in());
    CORBA::Object_var found = root_->resolve(name("other/o"));
    EXPECT_EQ(text(found.in()), text(object(1).in()));
    theirs->rebind(name("o"), object(2).in());
    found = root_->resolve(name("other/o"));
    EXPECT_EQ(text(found.in()), text(object(2).in()));
}

TEST_F(ServiceTest, NoAnswerIsOlderThanOneBefore)
{
    constexpr int last = 200;
    std::vector<std::string> texts;
    for (int i = 0; i <= last; ++i)
        texts.push_back(text(object(i).in()));
    root_->bind(name("o"), object(0).in());
    std::atomic<int> acknowledged = 0;
    const auto look = [&] {
        for (int seen = 0; seen != last;) {
            const int least = std::max(seen, acknowledged.load());
            const CORBA::Object_var found = root_->resolve(name("o"));
            seen = static_cast<int>(std::ranges::find(texts, text(found.in())) - texts.begin());
            if (seen < least) return least - seen;
        }
        return 0;
    };
    std::vector<std::future<int>> readers;
    for (int i = 0; i < 3; ++i)
        readers.push_back(std::async(std::launch::async, look));
    for (int i = 1; i <= last; ++i) {
        root_->rebind(name("o"), object(i).in());
        acknowledged = i;
    }
    for (std::future<int>& reader : readers)
        EXPECT_EQ(reader.get(), 0);
}

TEST_F(ServiceTest, AStoreThatDoesNotWorkIsASystemExceptionAndTheRestIsServed)
{
    root_->bind(name("good"), object(1).in());
    root_->bind(name("bad"), object(2).in());
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(server_.folder.file().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, "UPDATE binding SET checksum = 0 WHERE id = x'626164'", nullptr,
                           nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(handle);
    EXPECT_THROW((void)root_->resolve(name("bad")), CORBA::PERSIST_STORE);
    EXPECT_THROW(root_->unbind(name("bad")), CORBA::PERSIST_STORE);
    std::vector<std::string> listed;
    naming::for_each_binding(root_.in(), [&](const CosNaming::Binding& binding) {
        listed.push_back(naming::to_string(binding.binding_name));
    });
    EXPECT_EQ(listed, std::vector<std::string>{"good"});
    const CORBA::Object_var found = root_->resolve(name("good"));
    EXPECT_EQ(text(found.in()), text(object(1).in()));

    server_.stop();
    server_.start({}, 6);
    root_ = root_of(server_);
    const auto fill = [&] {
        for (int i = 0; i < 1000; ++i)
            root_->bind(name(("n" + std::to_string(i)).c_str()), object(i).in());
    };
    EXPECT_THROW(fill(), CORBA::NO_RESOURCES);
    const CORBA::Object_var still = root_->resolve(name("good"));
    EXPECT_EQ(text(still.in()), text(object(1).in()));
}
