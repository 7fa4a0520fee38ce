// SPDX-License-Identifier: Apache-2.0
//
// References as a program uses them: texts, narrowing, the operations that every object has, nil;
// servants and their ids; what the mapping refuses before anything is sent. The traps named are
// those that ORBs have fallen into.
#include "fixture.h"

#include "kairos/ior/ior.h"
#include "kairos/ior/object_url.h"
#include "kairos/ior/profile.h"
#include "kairos/net/loopback_testing.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace calls;

namespace {

constexpr const char* echo_id = "IDL:kairos.test/Types/Echo:1.0";

kairos::ior::IiopProfile profile_of(const std::string& reference)
{
    const auto ior = kairos::ior::from_string(reference).value();
    return kairos::ior::decode_iiop(ior.profiles.at(0).data).value();
}

/// A reference to where nobody listens, with this type id. Port 1 of loopback refuses at once.
std::string dead_reference(const std::string& type_id)
{
    kairos::ior::IiopProfile profile;
    profile.host = "127.0.0.1";
    profile.port = 1;
    profile.object_key = {std::byte{'k'}};
    return kairos::ior::to_string({type_id, {kairos::ior::encode_iiop(profile)}});
}

template <typename Exception, typename Call>
Exception thrown_by(Call call)
{
    try {
        call();
    } catch (const Exception& exception) {
        return exception;
    } catch (const CORBA::Exception& exception) {
        ADD_FAILURE() << exception.what();
        return Exception();
    }
    ADD_FAILURE() << "no exception";
    return Exception();
}

template <typename Call>
void expect_bad_param(Call call)
{
    EXPECT_EQ(thrown_by<CORBA::BAD_PARAM>(call).completed(), CORBA::COMPLETED_NO);
}

CORBA::Object_var object_of(const TestOrb& orb, const std::string& text)
{
    return orb->string_to_object(text.c_str());
}

} // namespace

// --- texts
// ----------------------------------------------------------------------------------------

class ReferenceTexts : public testing::Test {
  protected:
    [[nodiscard]] std::string key() const
    {
        return kairos::ior::escape_key(profile_of(server_.reference).object_key);
    }
    [[nodiscard]] std::string address() const
    {
        return "127.0.0.1:" + std::to_string(profile_of(server_.reference).port);
    }
    void expect_echo(const std::string& text) const
    {
        SCOPED_TRACE(text);
        const CORBA::Object_var object = object_of(orb_, text);
        const Types::Echo_var echo = Types::Echo::_narrow(object.in());
        ASSERT_FALSE(CORBA::is_nil(echo.in()));
        EXPECT_EQ(echo->sum(1, 2), 3u);
    }

    Server server_;
    TestOrb orb_;
};

TEST_F(ReferenceTexts, Corbaloc)
{
    expect_echo("corbaloc::" + address() + "/" + key());
    expect_echo("corbaloc:iiop:1.0@" + address() + "/" + key());
    expect_echo("corbaloc:iiop:1.2@" + address() + "/" + key());
}

// Trap 18: the first addresses are dead, one of them names a scheme of IIOP's, the order is kept.
TEST_F(ReferenceTexts, Trap18_CorbalocWithSeveralAddresses)
{
    expect_echo("corbaloc::127.0.0.1:1,iiop:1.2@127.0.0.1:1,:" + address() + "/" + key());
    expect_echo("corbaloc::" + address() + ",:127.0.0.1:1/" + key());
}

TEST(ReferenceText, Trap18_IPv6)
{
    if (!kairos::net::testing::has_ipv6()) GTEST_SKIP() << "this machine has no IPv6 loopback";
    Server server({"-ORBListenEndpoints", "iiop://[::1]"});
    const TestOrb orb;
    EXPECT_EQ(orb.echo(server.reference)->sum(1, 2), 3u);
    const auto profile = profile_of(server.reference);
    EXPECT_EQ(profile.host, "::1") << "without brackets";
    const std::string text = "corbaloc::[::1]:" + std::to_string(profile.port) + "/" +
                             kairos::ior::escape_key(profile.object_key);
    EXPECT_EQ(orb.echo(text)->sum(1, 2), 3u);
}

TEST_F(ReferenceTexts, File)
{
    const auto path = std::filesystem::temp_directory_path() /
                      ("kairos-reference." + std::to_string(getpid()) + ".ior");
    std::ofstream(path) << "  " << server_.reference << "\r\n";
    expect_echo("file://" + path.string());
    std::ofstream(path, std::ios::trunc) << "\n";
    expect_bad_param([&] { (void)object_of(orb_, "file://" + path.string()); });
    std::filesystem::remove(path);
    expect_bad_param([&] { (void)object_of(orb_, "file://" + path.string()); });
}

TEST_F(ReferenceTexts, InitRef)
{
    const TestOrb orb({"-ORBInitRef", "Echo=" + server_.reference, "-ORBInitRef",
                       "Loc=corbaloc::" + address() + "/" + key()});
    for (const char* name : {"Echo", "Loc"}) {
        const CORBA::Object_var object = orb->resolve_initial_references(name);
        const Types::Echo_var echo = Types::Echo::_narrow(object.in());
        EXPECT_EQ(echo->sum(1, 2), 3u);
    }
    const CORBA::Object_var by_url = orb->string_to_object("corbaloc:rir:/Echo");
    EXPECT_FALSE(by_url->_non_existent());
    const CORBA::ORB::ObjectIdList_var services = orb->list_initial_services();
    EXPECT_EQ(services->length(), 8u); // and three of POAs, TypeCodeFactory, two of policies
    EXPECT_THROW((void)orb->resolve_initial_references("Other"), CORBA::ORB::InvalidName);
}

TEST(ReferenceText, BadOnesAreBadParam)
{
    const TestOrb orb;
    const auto minor_of = [&](const char* text) {
        return thrown_by<CORBA::BAD_PARAM>([&] { (void)orb->string_to_object(text); }).minor();
    };
    EXPECT_EQ(minor_of("http://host/"), CORBA::OMGVMCID | 7);
    EXPECT_EQ(minor_of("IOR:zz"), CORBA::OMGVMCID | 9);
    EXPECT_EQ(minor_of(""), CORBA::OMGVMCID | 9);
    expect_bad_param([&] { (void)orb->string_to_object(nullptr); });
    EXPECT_EQ(minor_of("corbaloc::host:99999/key"), CORBA::OMGVMCID | 8);
    EXPECT_EQ(minor_of("corbaname:gopher:host#a"), CORBA::OMGVMCID | 8);
    EXPECT_EQ(minor_of("corbaloc::host/%zz"), CORBA::OMGVMCID | 9);
}

// --- narrowing
// ------------------------------------------------------------------------------------

// Trap 23: the object is asked only when nothing here knows the answer. The object is dead, so that
// any question would end in TRANSIENT.
TEST(Trap23_Narrow, AsksNobodyWhenTheTypeIdSaysSo)
{
    const TestOrb orb;
    const CORBA::Object_var object = object_of(orb, dead_reference(echo_id));
    const Types::Echo_var echo = Types::Echo::_narrow(object.in());
    ASSERT_FALSE(CORBA::is_nil(echo.in()));
    const Types::Root_var root = Types::Root::_narrow(echo.in());
    EXPECT_FALSE(CORBA::is_nil(root.in())) << "the stub knows its bases";
    const Types::Echo_var again = Types::Echo::_narrow(root.in());
    EXPECT_FALSE(CORBA::is_nil(again.in()));
    const CORBA::Object_var same = CORBA::Object::_narrow(echo.in());
    EXPECT_FALSE(CORBA::is_nil(same.in()));
    EXPECT_TRUE(echo->_is_a("IDL:kairos.test/Types/Arrays:1.0"));
    EXPECT_TRUE(echo->_is_equivalent(object.in()));
    EXPECT_EQ(echo->_hash(1000), object->_hash(1000));
}

TEST(Trap23_Narrow, AsksWhenOnlyTheObjectKnows)
{
    const TestOrb orb;
    const CORBA::Object_var untyped = object_of(orb, dead_reference(""));
    EXPECT_THROW((void)Types::Echo::_narrow(untyped.in()), CORBA::TRANSIENT);
    const Types::Echo_var unchecked = Types::Echo::_unchecked_narrow(untyped.in());
    EXPECT_FALSE(CORBA::is_nil(unchecked.in()));
    const CORBA::Object_var derived = object_of(orb, dead_reference(echo_id));
    EXPECT_THROW((void)Types::Root::_narrow(derived.in()), CORBA::TRANSIENT);
}

TEST(Trap23_Narrow, ToWhatTheObjectIsNot)
{
    Server server;
    const TestOrb orb;
    auto ior = kairos::ior::from_string(server.reference).value();
    ior.type_id.clear();
    const CORBA::Object_var object = object_of(orb, kairos::ior::to_string(ior));
    EXPECT_FALSE(object->_is_a("IDL:kairos.test/Types/Nothing:1.0"));
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    EXPECT_TRUE(CORBA::is_nil(poa.in()));
    const Types::Simple_var simple = Types::Simple::_narrow(object.in());
    EXPECT_EQ(simple->sum(1, 2), 3u);
}

// --- what every object has
// --------------------------------------------------------------------------

TEST(StandardOperations, RemoteAndCollocated)
{
    Server server;
    const TestOrb orb;
    const Types::Echo_var remote = orb.echo(server.reference);
    const Types::Echo_var own = orb.make_echo();
    for (const Types::Echo_var& echo : {remote, own}) {
        const CORBA::String_var id = echo->_repository_id();
        EXPECT_STREQ(id.in(), echo_id);
        const CORBA::Object_var component = echo->_get_component();
        EXPECT_TRUE(CORBA::is_nil(component.in()));
        const CORBA::ORB_var its_orb = echo->_get_orb();
        EXPECT_EQ(its_orb.in(), orb.in());
        EXPECT_FALSE(echo->_non_existent());
        EXPECT_TRUE(echo->_validate_connection());
        expect_bad_param([&] { (void)echo->_is_a(nullptr); });
    }
    EXPECT_FALSE(remote->_is_equivalent(own.in()));
    EXPECT_FALSE(remote->_is_equivalent(nullptr));
}

// Trap 19: _non_existent answers true, where other calls raise OBJECT_NOT_EXIST.
TEST(Trap19_NonExistent, IsTrueRatherThanAnException)
{
    Server server;
    const TestOrb orb;
    const Types::Echo_var remote = orb.echo(server.reference);
    const Types::Echo_var own = orb.make_echo();
    for (const Types::Echo_var& maker : {remote, own}) {
        const Types::Echo_var object = maker->make_object();
        maker->remove_object(object.in());
        EXPECT_TRUE(object->_non_existent());
        EXPECT_EQ(thrown_by<CORBA::OBJECT_NOT_EXIST>([&] { object->nothing(); }).completed(),
                  CORBA::COMPLETED_NO);
    }
    const CORBA::Object_var dead = object_of(orb, dead_reference(echo_id));
    EXPECT_THROW((void)dead->_non_existent(), CORBA::TRANSIENT) << "nobody knows";
}

// --- nil
// --------------------------------------------------------------------------------------------

TEST(Trap19_NilReferences, AreValues)
{
    const TestOrb orb;
    const CORBA::String_var text = orb->object_to_string(nullptr);
    const CORBA::Object_var nil = orb->string_to_object(text.in());
    EXPECT_TRUE(CORBA::is_nil(nil.in()));
    const Types::Echo_var narrowed = Types::Echo::_narrow(nil.in());
    EXPECT_TRUE(CORBA::is_nil(narrowed.in()));
    const Types::Echo_var duplicate = Types::Echo::_duplicate(Types::Echo::_nil());
    EXPECT_TRUE(CORBA::is_nil(duplicate.in()));
    CORBA::release(Types::Echo::_nil());
    const Types::Echo_var fresh;
    EXPECT_TRUE(CORBA::is_nil(fresh.in()));
}

TEST(Trap19_NilReferences, InSequencesStructsAndExceptions)
{
    Server server;
    const TestOrb orb;
    const Types::Echo_var echo = orb.echo(server.reference);
    Types::Echo_s some(3);
    some.length(3);
    some[1] = Types::Echo::_duplicate(echo.in());
    Types::Echo_s inout;
    Types::Echo_s_var out;
    const Types::Echo_s_var back = echo->echo_Echo_s(some, inout, out.out());
    ASSERT_EQ(back->length(), 3u);
    EXPECT_TRUE(CORBA::is_nil(back[0]));
    EXPECT_TRUE(echo->_is_equivalent(back[1]));
    EXPECT_TRUE(CORBA::is_nil(back[2]));
    Types::Person person{};
    try {
        echo->throw_full(1, person, Types::Echo::_nil());
        ADD_FAILURE() << "no exception";
    } catch (const Types::Full& full) {
        EXPECT_TRUE(CORBA::is_nil(full.where.in()));
        EXPECT_TRUE(CORBA::is_nil(full.owner.house.in()));
    }
}

// --- what is refused before it is sent
// --------------------------------------------------------------

// Trap 22: a value that its type does not allow is BAD_PARAM, COMPLETED_NO; not MARSHAL, and not a
// call. The object is dead: whatever is sent ends in TRANSIENT.
TEST(Trap22_BadArguments, AreBadParamBeforeTheCall)
{
    const TestOrb orb;
    const CORBA::Object_var object = object_of(orb, dead_reference(echo_id));
    const Types::Echo_var echo = Types::Echo::_narrow(object.in());
    CORBA::String_var inout = CORBA::string_dup("in");
    CORBA::String_var out;
    expect_bad_param([&] { (void)echo->echo_Name(nullptr, inout.inout(), out.out()); });
    expect_bad_param([&] { echo->title(nullptr); });
    expect_bad_param([&] { echo->note(1, nullptr); });
    char* null = nullptr;
    expect_bad_param([&] { (void)echo->echo_Name("a", null, out.out()); });
    expect_bad_param([&] { (void)echo->echo_ShortName("nine char", inout.inout(), out.out()); });
    EXPECT_THROW((void)echo->echo_ShortName("eight ch", inout.inout(), out.out()),
                 CORBA::TRANSIENT);
    Types::Person person{};
    person.nickname = "too long for it";
    expect_bad_param([&] { echo->owner(person); });
    Types::I32_s4 bounded;
    expect_bad_param([&] { bounded.length(5); });
    EXPECT_THROW(echo->nothing(), CORBA::TRANSIENT);
}

// The same of servants' results: the client is told, and the connection goes on.
TEST(Trap22_BadResults, AreReportedToTheClient)
{
    class Nothing : public POA_Types::Root {
      public:
        char* label() override { return nullptr; }
        void refuse(const char* why) override { throw Types::Root::Refused(why); }
        CORBA::ULong sum(CORBA::ULong, CORBA::ULong) override { throw Types::Plain(); }
    };
    const TestOrb orb;
    const PortableServer::POA_var poa = orb.active_poa();
    const PortableServer::Servant_var<Nothing> servant = new Nothing;
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id.in());
    const Types::Root_var own = Types::Root::_narrow(object.in());
    const TestOrb client; // not collocated
    const CORBA::String_var text = orb->object_to_string(own.in());
    const CORBA::Object_var there = client->string_to_object(text.in());
    const Types::Root_var remote = Types::Root::_narrow(there.in());
    for (const Types::Root_var& root : {own, remote}) {
        EXPECT_THROW((void)root->label(), CORBA::SystemException);
        EXPECT_EQ(thrown_by<CORBA::UNKNOWN>([&] { (void)root->sum(1, 2); }).minor(),
                  CORBA::OMGVMCID | 1);
        EXPECT_THROW(root->refuse("fine"), Types::Root::Refused);
    }
}

// Trap 17: the empty string has a length of one on the wire and is no null pointer; booleans and
// long doubles come back as they went.
TEST(Trap17_Values, AtTheirEdges)
{
    Server server;
    const TestOrb orb;
    const Types::Echo_var echo = orb.echo(server.reference);
    CORBA::String_var inout = CORBA::string_dup("");
    CORBA::String_var out;
    const CORBA::String_var result = echo->echo_Name("", inout.inout(), out.out());
    EXPECT_STREQ(result.in(), "");
    EXPECT_STREQ(inout.in(), "");
    EXPECT_STREQ(out.in(), "");
    for (const CORBA::Boolean value : {true, false}) {
        CORBA::Boolean b = !value;
        CORBA::Boolean c = value;
        EXPECT_EQ(echo->echo_Flag(value, b, c), value);
        EXPECT_EQ(b, value);
        EXPECT_EQ(c, !value);
    }
    for (const CORBA::LongDouble value :
         {0.0L, -0.0L, 1.0L / 3, std::numeric_limits<long double>::max(),
          std::numeric_limits<long double>::min(), std::numeric_limits<long double>::denorm_min(),
          -std::numeric_limits<long double>::infinity()}) {
        CORBA::LongDouble b = 0;
        CORBA::LongDouble c = 1;
        EXPECT_EQ(echo->echo_F128(value, b, c), value);
        EXPECT_EQ(b, value);
    }
}

// Trap 20: keys are octets. Those that no object has, of any length and content, are answered.
TEST(Trap20_ObjectKeys, AreOpaque)
{
    Server server;
    const TestOrb orb;
    auto profile = profile_of(server.reference);
    for (const std::size_t size : {0u, 1u, 3u, 24u, 1000u}) {
        profile.object_key.assign(size, std::byte{0});
        const CORBA::Object_var object =
            object_of(orb, kairos::ior::to_string({echo_id, {kairos::ior::encode_iiop(profile)}}));
        EXPECT_FALSE(object->_validate_connection()) << size;
        EXPECT_TRUE(object->_non_existent()) << size;
    }
}

// Trap 21: oneways need no answer, also when there is nobody to give one.
TEST(Trap21_Oneways, ToMissingObjectsAreLost)
{
    Server server;
    const TestOrb orb;
    const Types::Echo_var echo = orb.echo(server.reference);
    const Types::Echo_var gone = echo->make_object();
    echo->remove_object(gone.in());
    gone->note(1, "nobody hears this");
    echo->nothing(); // the connection is as it was
}

// --- servants
// ---------------------------------------------------------------------------------------

TEST(Servants, Tie)
{
    struct Tied { // derives from nothing
        char* label() { return CORBA::string_dup("tied"); }
        void refuse(const char* why) { throw Types::Root::Refused(why); }
        CORBA::ULong sum(CORBA::ULong a, CORBA::ULong b) { return a + b + base; }
        CORBA::ULong base = 100;
    };
    const TestOrb orb;
    const PortableServer::POA_var poa = orb.active_poa();
    Tied tied;
    {
        PortableServer::Servant_var<POA_Types::Root_tie<Tied>> servant =
            new POA_Types::Root_tie<Tied>(tied, poa.in());
        const Types::Root_var root = servant->_this();
        EXPECT_EQ(root->sum(1, 2), 103u);
        const CORBA::String_var label = root->label();
        EXPECT_STREQ(label.in(), "tied");
        EXPECT_THROW(root->refuse("why"), Types::Root::Refused);
    }
    bool deleted = false;
    struct Counted : Tied {
        explicit Counted(bool& flag) : deleted_(flag) {}
        ~Counted() { deleted_ = true; }
        bool& deleted_;
    };
    {
        PortableServer::Servant_var<POA_Types::Root_tie<Counted>> owner =
            new POA_Types::Root_tie<Counted>(new Counted(deleted), poa.in(), true);
    }
    EXPECT_TRUE(deleted);
}

TEST(Servants, IdsAndReferences)
{
    const TestOrb orb;
    const PortableServer::POA_var poa = orb.active_poa();
    PortableServer::Servant_var<EchoServant> servant = new EchoServant(orb.in(), poa.in(), {});
    const Types::Echo_var first = servant->_this();
    const Types::Echo_var second = servant->_this();
    EXPECT_TRUE(first->_is_equivalent(second.in())) << "one servant, one object";
    const PortableServer::ObjectId_var id = poa->servant_to_id(servant);
    const CORBA::Object_var by_id = poa->id_to_reference(id.in());
    EXPECT_TRUE(by_id->_is_equivalent(first.in()));
    const PortableServer::Servant_var<PortableServer::ServantBase> found =
        poa->reference_to_servant(first.in());
    EXPECT_EQ(found.in(), servant.in());
    EXPECT_THROW((void)poa->activate_object(servant), PortableServer::POA::ServantAlreadyActive);

    poa->deactivate_object(id.in());
    EXPECT_THROW(first->nothing(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)poa->reference_to_servant(first.in()), PortableServer::POA::ObjectNotActive);
    EXPECT_THROW(poa->deactivate_object(id.in()), PortableServer::POA::ObjectNotActive);
    const Types::Echo_var again = servant->_this(); // activates once more, as another object
    EXPECT_EQ(again->sum(1, 2), 3u);
    EXPECT_FALSE(again->_is_equivalent(first.in()));
    EXPECT_THROW(first->nothing(), CORBA::OBJECT_NOT_EXIST);

    Server server;
    const Types::Echo_var remote = orb.echo(server.reference);
    EXPECT_THROW((void)poa->reference_to_servant(remote.in()), PortableServer::POA::WrongAdapter);
}
