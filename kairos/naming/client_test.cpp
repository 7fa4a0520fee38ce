// SPDX-License-Identifier: Apache-2.0
//
// What clients have of a Naming Service: corbaname URLs in string_to_object, -ORBDefaultInitRef,
// and listings in portions, against a context that answers as the test wants.
#include "kairos/ior/object_url.h"
#include "kairos/naming/CosNaming_skel.h"
#include "kairos/naming/listing.h"
#include "kairos/naming/name.h"
#include "kairos/orb/reference.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kairos::mapping::omg_minor;

/// An ORB of the test's own, destroyed at its end.
class TestOrb {
  public:
    explicit TestOrb(std::vector<std::string> options = {})
    {
        static int count = 0;
        options.insert(options.begin(), {"test", "-ORBListenEndpoints", "iiop://127.0.0.1"});
        std::vector<char*> argv;
        for (std::string& option : options)
            argv.push_back(option.data());
        int argc = static_cast<int>(argv.size());
        orb_ = CORBA::ORB_init(argc, argv.data(), ("client " + std::to_string(++count)).c_str());
    }
    TestOrb(const TestOrb&) = delete;
    TestOrb& operator=(const TestOrb&) = delete;
    ~TestOrb() { orb_->destroy(); }
    CORBA::ORB_ptr operator->() const { return orb_.in(); }
    [[nodiscard]] PortableServer::POA_var active_poa() const
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        return poa;
    }

  private:
    CORBA::ORB_var orb_;
};

/// Owned by the caller.
CosNaming::BindingList* new_list(CORBA::ULong count)
{
    CosNaming::BindingList_var list = new CosNaming::BindingList(count);
    list->length(count);
    for (CORBA::ULong i = 0; i < count; ++i)
        list[i].binding_type = CosNaming::nobject;
    return list._retn();
}

/// Gives out its bindings in portions, and counts its own ends.
class Iterator : public POA_CosNaming::BindingIterator {
  public:
    Iterator(CORBA::ULong left, bool eager, bool endless, int& destroyed)
        : left_(left), eager_(eager), endless_(endless), destroyed_(destroyed)
    {
    }
    CORBA::Boolean next_one(CosNaming::Binding_out) override { throw CORBA::NO_IMPLEMENT(); }
    CORBA::Boolean next_n(CORBA::ULong how_many, CosNaming::BindingList_out list) override
    {
        const CORBA::ULong count = std::min(how_many, left_);
        list = new_list(count);
        left_ -= count;
        // With the last bindings, or when asked once more.
        return endless_ || (eager_ ? left_ != 0 : count != 0);
    }
    void destroy() override { ++destroyed_; }

  private:
    CORBA::ULong left_;
    const bool eager_;
    const bool endless_;
    int& destroyed_;
};

/// Resolves "there/<anything>" to itself, and has an exception for each of some other names.
class Context : public POA_CosNaming::NamingContext {
  public:
    CORBA::Object_ptr resolve(const CosNaming::Name& name) override
    {
        asked = kairos::naming::to_string(name);
        const std::string_view id = name[0].id.in();
        CosNaming::Name rest;
        rest.length(1);
        rest[0].id = "rest";
        if (id == "there") return _this();
        if (id == "missing")
            throw CosNaming::NamingContext::NotFound(CosNaming::NamingContext::missing_node, rest);
        if (id == "not_context")
            throw CosNaming::NamingContext::NotFound(CosNaming::NamingContext::not_context, rest);
        if (id == "stuck")
            throw CosNaming::NamingContext::CannotProceed(CosNaming::NamingContext::_nil(), rest);
        if (id == "invalid") throw CosNaming::NamingContext::InvalidName();
        throw CORBA::NO_RESOURCES(3, CORBA::COMPLETED_MAYBE);
    }
    void list(CORBA::ULong how_many, CosNaming::BindingList_out list,
              CosNaming::BindingIterator_out iterator) override
    {
        const CORBA::ULong count = std::min(how_many, bindings);
        list = new_list(count);
        if (count == bindings) {
            iterator = CosNaming::BindingIterator::_nil();
            return;
        }
        PortableServer::Servant_var<Iterator> servant =
            new Iterator(bindings - count, eager, endless, destroyed);
        iterator = servant->_this();
    }
    // The other operations are nobody's subject here.
    using Name = CosNaming::Name;
    void bind(const Name&, CORBA::Object_ptr) override { throw CORBA::NO_IMPLEMENT(); }
    void rebind(const Name&, CORBA::Object_ptr) override { throw CORBA::NO_IMPLEMENT(); }
    void bind_context(const Name&, CosNaming::NamingContext_ptr) override
    {
        throw CORBA::NO_IMPLEMENT();
    }
    void rebind_context(const Name&, CosNaming::NamingContext_ptr) override
    {
        throw CORBA::NO_IMPLEMENT();
    }
    void unbind(const Name&) override { throw CORBA::NO_IMPLEMENT(); }
    CosNaming::NamingContext_ptr new_context() override { throw CORBA::NO_IMPLEMENT(); }
    CosNaming::NamingContext_ptr bind_new_context(const Name&) override
    {
        throw CORBA::NO_IMPLEMENT();
    }
    void destroy() override { throw CORBA::NO_IMPLEMENT(); }

    std::string asked;
    CORBA::ULong bindings = 0;
    bool eager = false;
    bool endless = false; // whether its iterators always say that there is more
    int destroyed = 0;
};

/// A context of one ORB, which another one knows as its NameService.
class NamingClient : public testing::Test {
  protected:
    NamingClient()
    {
        poa_ = server_.active_poa();
        context_ = new Context;
        reference_ = context_->_this();
        text_ = server_->object_to_string(reference_.in());
    }

    [[nodiscard]] std::vector<std::string> init_ref() const
    {
        return {"-ORBInitRef", std::string("NameService=") + text_.in()};
    }
    /// "corbaloc::127.0.0.1:port/key", by which the context can be found without its IOR.
    [[nodiscard]] std::string corbaloc() const
    {
        return kairos::ior::to_corbaloc(reference_->_kairos_reference()->ior()).value();
    }

    TestOrb server_;
    PortableServer::POA_var poa_;
    PortableServer::Servant_var<Context> context_;
    CosNaming::NamingContext_var reference_;
    CORBA::String_var text_;
};

/// The exception's minor code and text.
std::pair<CORBA::ULong, std::string> refusal(const TestOrb& orb, const std::string& url)
{
    try {
        (void)CORBA::Object_var(orb->string_to_object(url.c_str()));
    } catch (const CORBA::BAD_PARAM& exception) {
        EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
        return {exception.minor(), exception.what()};
    }
    return {0, "accepted"};
}

} // namespace

TEST_F(NamingClient, CorbanameResolvesTheNameAtTheContext)
{
    const TestOrb client(init_ref());
    const CORBA::Object_var object = client->string_to_object("corbaname:rir:#there/a%20b.c/%5c.d");
    EXPECT_EQ(context_->asked, "there/a b.c/\\.d");
    EXPECT_TRUE(object->_is_equivalent(reference_.in()));
}

TEST_F(NamingClient, CorbanameWithoutNameIsTheContextAndAsksNobody)
{
    const TestOrb client(init_ref());
    const CORBA::Object_var object = client->string_to_object("corbaname:rir:");
    EXPECT_EQ(context_->asked, "");
    EXPECT_TRUE(object->_is_equivalent(reference_.in()));
}

TEST_F(NamingClient, CorbanameGoesToTheAddressThatItNames)
{
    const TestOrb client;
    const std::string url = "corbaname:" + corbaloc().substr(std::string("corbaloc:").size());
    const CORBA::Object_var object = client->string_to_object((url + "#there").c_str());
    EXPECT_EQ(context_->asked, "there");
    EXPECT_TRUE(object->_is_equivalent(reference_.in()));
}

TEST_F(NamingClient, ANameThatIsNotBoundIsBadParamAndSaysWhy)
{
    const TestOrb client(init_ref());
    using Refusal = std::pair<const char*, const char*>;
    for (const auto& [name, reason] :
         {Refusal{"missing/rest", "not found: 'rest' is not bound"},
          Refusal{"not_context", "not found: 'rest' is not a naming context"},
          Refusal{"stuck", "cannot proceed"}, Refusal{"invalid", "the name is invalid"}}) {
        const auto [minor, text] = refusal(client, std::string("corbaname:rir:#") + name);
        EXPECT_EQ(minor, omg_minor(10)) << name;
        EXPECT_NE(text.find(reason), std::string::npos) << text;
    }
}

TEST_F(NamingClient, SystemExceptionsOfTheServiceAreThoseOfTheCall)
{
    const TestOrb client(init_ref());
    try {
        (void)CORBA::Object_var(client->string_to_object("corbaname:rir:#other"));
        FAIL() << "resolved";
    } catch (const CORBA::NO_RESOURCES& exception) {
        EXPECT_EQ(exception.minor(), 3u);
        EXPECT_EQ(exception.completed(), CORBA::COMPLETED_MAYBE);
    }
}

TEST_F(NamingClient, MalformedNamesAreRefusedAndNobodyIsAsked)
{
    const TestOrb client(init_ref());
    for (const char* name : {"/", "a//b", "a.", "a.b.c", "%5cx", "a/", "%"})
        EXPECT_EQ(refusal(client, std::string("corbaname:rir:#") + name).first, omg_minor(9))
            << name;
    EXPECT_EQ(context_->asked, "");
}

TEST(Corbaname, WithoutANamingServiceItIsInvalidName)
{
    const TestOrb client;
    EXPECT_THROW((void)client->string_to_object("corbaname:rir:#a"), CORBA::ORB::InvalidName);
}

TEST(InitialReferences, ThatLeadToEachOtherAreRefused)
{
    const TestOrb client(
        {"-ORBInitRef", "A=corbaloc:rir:/B", "-ORBInitRef", "B=corbaname:rir:/A#x"});
    EXPECT_THROW((void)client->resolve_initial_references("A"), CORBA::BAD_PARAM);
}

TEST_F(NamingClient, TheDefaultInitialReferenceIsTheBeginningOfAUrl)
{
    const std::string address = corbaloc().substr(0, corbaloc().find('/'));
    const TestOrb client({"-ORBDefaultInitRef", address});
    const CORBA::Object_var object = client->resolve_initial_references("Trading Service/X");
    EXPECT_EQ(kairos::ior::to_corbaloc(object->_kairos_reference()->ior()).value(),
              address + "/Trading%20Service/X");
    EXPECT_THROW((void)object->_is_a("IDL:X:1.0"), CORBA::OBJECT_NOT_EXIST); // it was found there
}

TEST_F(NamingClient, TheDefaultInitialReferenceMayBeAName)
{
    const std::string url = "corbaname:" + corbaloc().substr(std::string("corbaloc:").size());
    const TestOrb client({"-ORBDefaultInitRef", url + "#there"});
    const CORBA::Object_var object = client->resolve_initial_references("Trading Service");
    EXPECT_EQ(context_->asked, "there/Trading Service");
    EXPECT_TRUE(object->_is_equivalent(reference_.in()));
}

TEST_F(NamingClient, TheDefaultInitialReferenceComesLast)
{
    const TestOrb client({"-ORBDefaultInitRef", "corbaloc::127.0.0.1:1", "-ORBInitRef",
                          std::string("NameService=") + text_.in()});
    const CORBA::Object_var named = client->resolve_initial_references("NameService");
    EXPECT_TRUE(named->_is_equivalent(reference_.in()));
    client->register_initial_reference("Other", reference_.in());
    const CORBA::Object_var registered = client->resolve_initial_references("Other");
    EXPECT_TRUE(registered->_is_equivalent(reference_.in()));
    EXPECT_THROW((void)client->resolve_initial_references(""), CORBA::ORB::InvalidName);
}

TEST(InitialReferences, BadDefaultsAreRefused)
{
    for (const char* value : {"", "host", "corbaloc:host", "corbaloc:rir:", "corbaname:rir:#a",
                              "IOR:00", "file:x", "corbaloc::h:0", "corbaloc::h/%g0"})
        EXPECT_THROW(TestOrb({"-ORBDefaultInitRef", value}), CORBA::BAD_PARAM) << value;
}

TEST_F(NamingClient, AllBindingsAreListedWhateverTheirNumber)
{
    const TestOrb client;
    const CORBA::Object_var object = client->string_to_object(text_.in());
    const auto context = CosNaming::NamingContext::_narrow(object.in());
    const CosNaming::NamingContext_var owner = context;
    int iterators = 0;
    for (const bool eager : {false, true}) {
        context_->eager = eager;
        for (const CORBA::ULong bindings : {0u, 1u, 9u, 10u, 11u, 20u, 101u}) {
            context_->bindings = bindings;
            CORBA::ULong listed = 0;
            kairos::naming::for_each_binding(
                context, [&](const CosNaming::Binding&) { ++listed; }, 10);
            EXPECT_EQ(listed, bindings);
            if (bindings > 10) ++iterators;
            EXPECT_EQ(context_->destroyed, iterators);
        }
    }
}

TEST_F(NamingClient, AnEmptyPortionEndsTheListingWhateverTheServerSays)
{
    context_->bindings = 25;
    context_->endless = true;
    CORBA::ULong listed = 0;
    kairos::naming::for_each_binding(
        reference_.in(), [&](const CosNaming::Binding&) { ++listed; }, 10);
    EXPECT_EQ(listed, 25U);
    EXPECT_EQ(context_->destroyed, 1);
}

TEST_F(NamingClient, TheIteratorIsDestroyedWhateverHappens)
{
    context_->bindings = 30;
    const auto fail = [](const CosNaming::Binding&) { throw std::runtime_error("enough"); };
    EXPECT_THROW(kairos::naming::for_each_binding(reference_.in(), fail, 10), std::runtime_error);
    EXPECT_EQ(context_->destroyed, 1);
}
