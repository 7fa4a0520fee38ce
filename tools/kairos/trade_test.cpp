// SPDX-License-Identifier: Apache-2.0
//
// `kairos trade` as processes: a trader that is served, and shown and asked by others.
// kairos/trading has what traders do.
#include "kairos/corba/CORBA.h"
#include "kairos/trading/CosTradingRepos.h"
#include "tools/kairos/outcome_testing.h"

#include <gtest/gtest.h>

namespace kairos::tools {
namespace {

using TypeRepository = CosTradingRepos::ServiceTypeRepository;

class TradeCommand : public ::testing::Test {
  protected:
    explicit TradeCommand(std::vector<std::string> arguments = {"trade", "serve"})
        : server_(std::move(arguments))
    {
        int argc = 1;
        char name[] = "test";
        char* argv[] = {name, nullptr};
        orb_ = CORBA::ORB_init(argc, argv);
        CORBA::Object_var object = orb_->string_to_object(trader_.c_str());
        const CosTrading::Lookup_var lookup = CosTrading::Lookup::_narrow(object.in());
        object = lookup->type_repos();
        const TypeRepository::_var_type types = TypeRepository::_narrow(object.in());
        TypeRepository::PropStructSeq properties;
        properties.length(1);
        properties[0].name = "floor";
        properties[0].value_type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
        properties[0].mode = TypeRepository::PROP_MANDATORY;
        (void)types->add_type("Device", "", properties, {});
        TypeRepository::ServiceTypeNameSeq supers;
        supers.length(1);
        supers[0] = "Device";
        (void)types->add_type("Printer", "", {}, supers);
        const CosTrading::Register_var offers = lookup->register_if();
        for (const char* type : {"Device", "Printer", "Printer"}) {
            CosTrading::PropertySeq values;
            values.length(1);
            values[0].name = "floor";
            values[0].value <<= ++floor_;
            ids_.emplace_back(
                CORBA::String_var(offers->_cxx_export(lookup.in(), type, values)).in());
        }
    }
    ~TradeCommand() override
    {
        orb_->destroy();
        EXPECT_EQ(0, server_.end());
    }

    ServingTool server_;
    const std::string trader_ = server_.reference;
    CORBA::ORB_var orb_;
    CORBA::Long floor_ = 0;
    std::vector<std::string> ids_;
};

TEST_F(TradeCommand, ShowsTypesAndOffers)
{
    EXPECT_EQ("0 Device\n    mandatory floor: long\nPrinter : Device\n    mandatory floor: long\n",
              outcome_of({"trade", "types", trader_}));
    EXPECT_EQ("0 [{\"name\":\"Device\",\"interface\":\"\",\"super_types\":[],\"masked\":false,"
              "\"properties\":[{\"name\":\"floor\",\"type\":\"long\",\"mode\":\"mandatory\"}]}]\n",
              outcome_of({"trade", "types", trader_, "Device", "--json"}));
    EXPECT_EQ("0 " + ids_[0] + "\tDevice\t{\"floor\":1}\n" + ids_[1] +
                  "\tPrinter\t{\"floor\":2}\n" + ids_[2] + "\tPrinter\t{\"floor\":3}\n",
              outcome_of({"trade", "ls", trader_}));
    EXPECT_EQ("0 " + ids_[0] + "\tDevice\t{\"floor\":1}\n",
              outcome_of({"trade", "ls", trader_, "Device"}));
}

/// In front of the trader, which it outlasts.
struct FolderOfTrader {
    const ToolFolder folder;
    const std::vector<std::string> serve{"trade", "serve", "--store", folder.file("offers")};
};

class KeptTradeCommand : private FolderOfTrader, public TradeCommand {
  protected:
    KeptTradeCommand() : TradeCommand(serve) {}
    [[nodiscard]] const std::vector<std::string>& again() const { return serve; }
};

TEST_F(KeptTradeCommand, HasTypesAndOffersAgain)
{
    EXPECT_EQ(0, server_.end());
    ServingTool server(again());
    EXPECT_EQ("0 " + ids_[0] + "\tDevice\t{\"floor\":1}\n" + ids_[1] +
                  "\tPrinter\t{\"floor\":2}\n" + ids_[2] + "\tPrinter\t{\"floor\":3}\n",
              outcome_of({"trade", "ls", server.reference}));
    EXPECT_EQ(0, server.end());
    const std::string outcome = outcome_of({"trade", "serve", "--store", "/nowhere/at/all"});
    EXPECT_TRUE(outcome.starts_with("1 kairos trade: /nowhere/at/all")) << outcome;
}

TEST_F(TradeCommand, AsksForOffers)
{
    EXPECT_EQ(
        "0 " + trader_ + "\t{\"floor\":3}\n" + trader_ + "\t{\"floor\":2}\n",
        outcome_of({"trade", "query", trader_, "Device", "floor > 1", "--prefer", "max floor"}));
    EXPECT_EQ("0 [{\"reference\":\"" + trader_ + "\",\"properties\":{\"floor\":1}}]\n",
              outcome_of({"trade", "query", trader_, "Device", "--exact", "--property", "floor",
                          "--property", "none", "--json"}));
    EXPECT_EQ("0 ", outcome_of({"trade", "query", trader_, "Device", "floor > 7"}));
}

TEST_F(TradeCommand, AsksOtherTraders)
{
    // Three in a ring, one of which has no offers but a type.
    ServingTool north({"trade", "serve"});
    ServingTool south({"trade", "serve"});
    for (const std::string& other : {north.reference, south.reference}) {
        const CORBA::Object_var object = orb_->string_to_object(other.c_str());
        const CosTrading::Lookup_var lookup = CosTrading::Lookup::_narrow(object.in());
        const CORBA::Object_var types = lookup->type_repos();
        (void)TypeRepository::_var_type(TypeRepository::_narrow(types.in()))
            ->add_type("Device", "", {}, {});
    }
    const auto link = [](const std::string& trader, const char* name, const std::string& target) {
        return outcome_of({"trade", "link", "add", trader, name, target});
    };
    EXPECT_EQ("0 ", link(trader_, "north", north.reference));
    EXPECT_EQ("0 ", link(north.reference, "south", south.reference));
    EXPECT_EQ("0 ", link(south.reference, "home", trader_));
    EXPECT_EQ("0 ", outcome_of({"trade", "link", "add", trader_, "far", south.reference,
                                "--default", "local-only", "--limit", "if-no-local"}));
    EXPECT_EQ("1 kairos trade: there is a link north already\n",
              link(trader_, "north", north.reference));
    EXPECT_EQ("1 kairos trade: this is no name of a link: a/b\n",
              link(trader_, "a/b", north.reference));
    EXPECT_EQ("1 kairos trade: --default is more than --limit\n",
              outcome_of({"trade", "link", "add", trader_, "c", south.reference, "--limit",
                          "if-no-local"}));
    EXPECT_EQ("0 far\tlocal-only\tif-no-local\t" + south.reference + "\nnorth\talways\talways\t" +
                  north.reference + "\n",
              outcome_of({"trade", "link", "ls", trader_}));
    EXPECT_EQ("0 [{\"name\":\"home\",\"target\":\"" + trader_ +
                  "\",\"default_rule\":\"always\",\"limiting_rule\":\"always\"}]\n",
              outcome_of({"trade", "link", "ls", south.reference, "--json"}));
    const std::string found = "0 " + trader_ + "\t{\"floor\":1}\n";
    const auto ask = [&](const std::vector<std::string>& more) {
        std::vector<std::string> command{"trade", "query", north.reference, "Device", "--exact"};
        command.insert(command.end(), more.begin(), more.end());
        return outcome_of(command);
    };
    EXPECT_EQ(found, ask({}));
    EXPECT_EQ(found, ask({"--follow", "always"}));
    EXPECT_EQ("0 ", ask({"--follow", "local-only"}));
    EXPECT_EQ("0 kairos trade: there may be more offers: hop_count ended the query\n",
              ask({"--hops", "1"}));
    EXPECT_EQ(found, ask({"--hops", "3"}));
    EXPECT_EQ(found, ask({"--starting-trader", "south/home"}));
    EXPECT_EQ("0 ", ask({"--starting-trader", "south", "--follow", "local-only"}));
    EXPECT_EQ("1 kairos trade: no links lead to a trader south/none, or it does not answer\n",
              ask({"--starting-trader", "south/none"}));
    EXPECT_EQ("0 ", outcome_of({"trade", "link", "rm", south.reference, "home"}));
    EXPECT_EQ("1 kairos trade: there is no link home\n",
              outcome_of({"trade", "link", "rm", south.reference, "home"}));
    EXPECT_EQ("0 ", ask({"--follow", "always"}));
    // Whoever has ended is left out.
    EXPECT_EQ(0, south.end());
    EXPECT_EQ("0 kairos trade: there may be more offers: link_follow_rule ended the query\n",
              ask({}));
    EXPECT_EQ(0, north.end());
}

TEST_F(TradeCommand, SaysWhatIsWrong)
{
    EXPECT_EQ("1 kairos trade: there is no type Lamp\n",
              outcome_of({"trade", "query", trader_, "Lamp"}));
    EXPECT_EQ("1 kairos trade: this is no constraint: floor >\n",
              outcome_of({"trade", "query", trader_, "Device", "floor >"}));
    EXPECT_EQ("1 kairos trade: this is no preference: much\n",
              outcome_of({"trade", "query", trader_, "Device", "--prefer", "much"}));
    EXPECT_EQ("1 kairos trade: there is no type Lamp\n",
              outcome_of({"trade", "types", trader_, "Lamp"}));
}

} // namespace
} // namespace kairos::tools
