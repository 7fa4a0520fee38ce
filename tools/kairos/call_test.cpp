// SPDX-License-Identifier: Apache-2.0
//
// `kairos call` and `kairos describe` as their users meet them: arguments as people type them and
// as JSON, what is printed of results and exceptions, exit codes, and IDL that is the same when it
// is read again.
#include "bench/process.h"
#include "call_test_skel.h"
#include "tools/kairos/idl_text.h"
#include "tools/kairos/interfaces.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace kairos::tools {
namespace {

class NoteFactory final : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new OBV_Shop::Note; }
};

class StoreServant : public POA_Shop::Store, public PortableServer::RefCountServantBase {
  public:
    CORBA::Long count() override { return count_; }
    void count(CORBA::Long value) override { count_ = value; }
    char* in() override { return CORBA::string_dup("in"); }
    Shop::Store::Hours open_on(Shop::Store::Day day) override { return {day, 9}; }
    Shop::Item* sell(const char* name, Shop::Price& money, Shop::Picture_out picture) override
    {
        if (std::string(name) == "nothing") throw Shop::Sold(name, 3);
        if (std::string(name) == "late") throw Shop::Closed();
        if (std::string(name) == "broken") throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_NO);
        Shop::Item_var item = new Shop::Item;
        item->name = CORBA::string_dup(name);
        item->paint = Shop::blue;
        item->costs = money;
        item->parts.length(1);
        item->parts[0].name = CORBA::string_dup("part");
        item->parts[0].paint = Shop::red;
        picture = new Shop::Picture(2);
        picture->length(2);
        (*picture)[0] = 0xfe;
        (*picture)[1] = 0x01;
        money = Shop::Price("0.25");
        return item._retn();
    }
    CORBA::Boolean wants(const Shop::Wanted& what) override
    {
        return what._d() == Shop::blue && what.sizes()[1][2] == 6;
    }
    CORBA::Any* echo(const CORBA::Any& value) override { return new CORBA::Any(value); }
    Shop::Store_ptr itself() override { return _this(); }
    Shop::Note* remember(Shop::Note* what) override
    {
        CORBA::add_ref(what);
        return what;
    }
    void ring(CORBA::ULongLong times) override
    {
        rung_ = times;
        rung_.notify_all();
    }
    CORBA::Double sum(CORBA::Double first, CORBA::Float second, CORBA::Octet third) override
    {
        return first + second + third;
    }

    [[nodiscard]] CORBA::ULongLong rung() const { return rung_; }
    void wait_for_ring() const { rung_.wait(0); }

  private:
    std::atomic<CORBA::Long> count_{5};
    std::atomic<CORBA::ULongLong> rung_{0};
};

bench::ChildProcess::Remains run(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), KAIROS_TOOL);
    return bench::run_to_end(
               {.command = arguments, .environment = {}, .cpu = {}, .inherited_descriptor = -1},
               std::chrono::seconds(60))
        .value();
}

const std::string idl_file = CALL_TEST_IDL;

class Call : public testing::Test {
  protected:
    Call()
    {
        const char* options[] = {"test", "-ORBListenEndpoints", "iiop://127.0.0.1:0"};
        int argc = 3;
        orb_ = CORBA::ORB_init(argc, const_cast<char**>(options), "call-test");
        const CORBA::ValueFactoryBase_var factory = new NoteFactory;
        orb_->register_value_factory("IDL:kairos.example/Shop/Note:1.0", factory.in());
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
        servant_ = new StoreServant;
        servant_owner_ = servant_;
        const Shop::Store_var store = servant_->_this();
        reference_ = CORBA::String_var(orb_->object_to_string(store.in())).in();
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        thread_ = std::thread([this] { orb_->run(); });
    }
    ~Call() override
    {
        orb_->shutdown(false);
        thread_.join();
        orb_->destroy();
    }

    /// Calls an operation of the store.
    bench::ChildProcess::Remains call(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), {"call", "--idl", idl_file, reference_});
        return run(std::move(arguments));
    }
    /// What a call prints that goes well.
    std::string result(std::vector<std::string> arguments) const
    {
        const auto said = call(std::move(arguments));
        EXPECT_EQ(said.exit_status, 0) << said.errors;
        return said.output;
    }

    CORBA::ORB_var orb_;
    StoreServant* servant_ = nullptr;
    PortableServer::Servant_var<StoreServant> servant_owner_;
    std::string reference_;
    std::thread thread_;
};

TEST_F(Call, TakesArgumentsAsPeopleTypeThem)
{
    EXPECT_EQ(result({"sum", "-1.5", "2", "0x10"}), "16.5\n");
    EXPECT_EQ(result({"open_on", "tuesday", "--json"}),
              "{\"result\":{\"on\":\"tuesday\",\"from\":9}}\n");
    EXPECT_EQ(result({"wants", R"({"_d":"blue","sizes":[[1,2,3],[4,5,6]]})"}), "true\n");
    EXPECT_EQ(result({"wants", R"({"why":"it is red"})"}), "false\n");
    EXPECT_EQ(result({"echo", "7", "--json"}), "{\"result\":{\"type\":\"long\",\"value\":7}}\n");
    EXPECT_EQ(result({"echo", "plain text", "--json"}),
              "{\"result\":{\"type\":\"string\",\"value\":\"plain text\"}}\n");
    EXPECT_EQ(
        result({"echo", R"({"type":"Shop::Color","value":"green"})", "--json"}),
        "{\"result\":{\"type\":\"IDL:kairos.example/Shop/Color:1.0\",\"value\":\"green\"}}\n");
    EXPECT_EQ(result({"remember", R"({"text":"twice","times":2})", "--json"}),
              "{\"result\":{\"text\":\"twice\",\"times\":2}}\n");
    EXPECT_EQ(result({"remember", "null"}), "null\n");
    // A value of a type that neither end makes.
    const std::string unknown =
        R"({"type":{"kind":"valuetype","id":"IDL:New:1.0","name":"New","modifier":"none",)"
        R"("members":[{"name":"x","type":"long","public":true}]},"value":{"x":3}})";
    EXPECT_EQ(result({"echo", unknown, "--json"}), "{\"result\":" + unknown + "}\n");
    EXPECT_EQ(result({"itself"}).substr(0, 5), "\"IOR:");
}

TEST_F(Call, PrintsWhatComesBackInEveryDirection)
{
    EXPECT_EQ(result({"sell", "chair", "10.50", "--json"}),
              "{\"result\":{\"name\":\"chair\",\"paint\":\"blue\",\"costs\":\"10.5\",\"parts\":["
              "{\"name\":\"part\",\"paint\":\"red\",\"costs\":\"0\",\"parts\":[]}]},"
              "\"out\":{\"money\":\"0.25\",\"picture\":\"fe01\"}}\n");
    EXPECT_EQ(result({"sell", "--arguments", R"({"money":"1","name":"x"})", "--json"}),
              result({"sell", "x", "1", "--json"}));
    EXPECT_EQ(result({"sell", "--arguments", R"(["x", 1])", "--json"}),
              result({"sell", "x", "1", "--json"}));
}

TEST_F(Call, ReadsAndSetsAttributes)
{
    EXPECT_EQ(result({"count"}), "5\n");
    EXPECT_EQ(result({"count", "-12"}), "");
    EXPECT_EQ(result({"_get_count"}), "-12\n");
    EXPECT_EQ(result({"in"}), "\"in\"\n");
    EXPECT_EQ(call({"in", "x"}).exit_status, 2); // there is nothing to set
}

TEST_F(Call, SaysWhichExceptionItWas)
{
    const auto sold = call({"sell", "nothing", "1", "--json"});
    EXPECT_EQ(sold.exit_status, 3);
    EXPECT_EQ(sold.output, "{\"exception\":\"IDL:kairos.example/Shop/Sold:1.0\",\"members\":{"
                           "\"name\":\"nothing\",\"left\":3}}\n");
    const auto closed = call({"sell", "late", "1"});
    EXPECT_EQ(closed.exit_status, 3);
    EXPECT_EQ(closed.errors, "kairos call: exception Shop::Closed {}\n");
    const auto broken = call({"sell", "broken", "1"});
    EXPECT_EQ(broken.exit_status, 1);
    EXPECT_NE(broken.errors.find("NO_PERMISSION"), std::string::npos) << broken.errors;
}

TEST_F(Call, SendsOneways)
{
    EXPECT_EQ(result({"ring", "18446744073709551615"}), "");
    EXPECT_EQ(result({"count"}), "5\n"); // of the same connection's server: but another process
    while (servant_->rung() == 0)        // it has been sent
        std::this_thread::yield();
    EXPECT_EQ(servant_->rung(), 18446744073709551615U);
}

TEST_F(Call, SaysWhatIsWrong)
{
    const auto few = call({"sum", "1"});
    EXPECT_EQ(few.exit_status, 1);
    EXPECT_EQ(few.errors, "kairos call: double sum(in double first, in float second, in octet "
                          "third) takes 3 arguments, not 1\n");
    const auto wrong = call({"sum", "1", "2", "256"});
    EXPECT_EQ(wrong.errors, "kairos call: argument 'third': 256 is no octet\n");
    const auto unknown = call({"steal"});
    EXPECT_EQ(unknown.exit_status, 2);
    EXPECT_EQ(unknown.errors, "kairos call: Shop::Store has no operation steal\n");
    const auto listed = call({});
    EXPECT_EQ(listed.exit_status, 0);
    EXPECT_NE(listed.output.find("  oneway void ring(in unsigned long long times)\n"),
              std::string::npos)
        << listed.output;
    const auto no_idl = run({"call", reference_, "count"});
    EXPECT_EQ(no_idl.exit_status, 1);
    EXPECT_NE(no_idl.errors.find("--idl FILE"), std::string::npos) << no_idl.errors;
    const auto no_file = run({"call", reference_, "count", "--idl", "/no/such.idl"});
    EXPECT_EQ(no_file.exit_status, 1);
    EXPECT_NE(no_file.errors.find("/no/such.idl"), std::string::npos) << no_file.errors;
    EXPECT_EQ(run({"call"}).exit_status, 2);
}

TEST_F(Call, TakesAnObjectForWhatTheUserSays)
{
    EXPECT_EQ(result({"count", "--interface", "Shop::Counter"}), "5\n");
    const auto other = call({"count", "--interface", "Shop::Nothing"});
    EXPECT_EQ(other.exit_status, 1);
    EXPECT_NE(other.errors.find("no --idl file declares the interface Shop::Nothing"),
              std::string::npos)
        << other.errors;
}

TEST_F(Call, DescribesTheInterfaceOfAnObject)
{
    const auto of_object = run({"describe", reference_, "--idl", idl_file});
    EXPECT_EQ(of_object.exit_status, 0) << of_object.errors;
    for (const char* by_name : {"Shop::Store", "IDL:kairos.example/Shop/Store:1.0"})
        EXPECT_EQ(run({"describe", by_name, "--idl", idl_file}).output, of_object.output);
    EXPECT_NE(of_object.output.find("Shop::Item sell(in string name, inout Shop::Price money, out "
                                    "Shop::Picture picture) raises(Shop::Sold, Shop::Closed);"),
              std::string::npos)
        << of_object.output;
}

/// What is described of an interface says, read again, the same.
TEST(Describe, IsIdlOfTheSameInterface)
{
    std::size_t described = 0;
    const std::string path =
        testing::TempDir() + "kairos_described_" + std::to_string(getpid()) + ".idl";
    for (const auto& entry : std::filesystem::directory_iterator(DESCRIBED_IDL)) {
        if (entry.path().extension() != ".idl") continue;
        Interfaces interfaces;
        std::string said;
        ASSERT_TRUE(interfaces.add_idl(entry.path(), {KAIROS_IDL_DIRECTORY}, said)) << said;
        for (const auto& [id, interface] : interfaces.all()) {
            const std::string text = idl_of(interface, interfaces);
            std::ofstream(path) << text;
            Interfaces again;
            ASSERT_TRUE(again.add_idl(path, {KAIROS_IDL_DIRECTORY}, said))
                << entry.path() << ": " << id << said << text;
            const KnownInterface* same = again.find(id);
            ASSERT_NE(same, nullptr) << entry.path() << text;
            ASSERT_EQ(same->operations.size(), interface.operations.size()) << text;
            for (std::size_t i = 0; i < same->operations.size(); ++i) {
                const KnownOperation& one = interface.operations[i];
                const KnownOperation& other = same->operations[i];
                EXPECT_EQ(other.wire_name, one.wire_name);
                EXPECT_TRUE(other.result->equivalent(one.result.in()))
                    << id << " " << one.name << text;
                ASSERT_EQ(other.parameters.size(), one.parameters.size());
                for (std::size_t j = 0; j < one.parameters.size(); ++j)
                    EXPECT_TRUE(other.parameters[j].type->equivalent(one.parameters[j].type.in()))
                        << id << " " << one.name << " " << one.parameters[j].name << text;
                ASSERT_EQ(other.raises.size(), one.raises.size());
                for (std::size_t j = 0; j < one.raises.size(); ++j)
                    EXPECT_TRUE(other.raises[j]->equivalent(one.raises[j].in())) << id << text;
            }
            ++described;
        }
    }
    std::filesystem::remove(path);
    EXPECT_GE(described, 5U);
}

} // namespace
} // namespace kairos::tools
