// SPDX-License-Identifier: Apache-2.0
//
// Several traders: links between them, in rings and stars, the rules by which they are followed,
// proxy offers, and other traders that say nothing, too much or nonsense.
#include "kairos/trading/CosTrading_skel.h"
#include "kairos/trading/federation_testing.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace kairos::trading {
namespace {

using namespace CosTrading;
using Modes = Repository;

// --- Links ---------------------------------------------------------------------------------------

TEST_F(Federations, HaveLinksThatMakeSense)
{
    Node& one = add();
    Node& other = add();
    const auto link = [&](const char* name, Lookup_ptr target, FollowOption pass,
                          FollowOption most) { one.links->add_link(name, target, pass, most); };
    EXPECT_THROW(link("", other.lookup.in(), always, always), Link::IllegalLinkName);
    EXPECT_THROW(link("a/b", other.lookup.in(), always, always), Link::IllegalLinkName);
    EXPECT_THROW(link("a", Lookup::_nil(), always, always), InvalidLookupRef);
    const CORBA::Object_var types = other.lookup->type_repos();
    const auto no_lookup = Lookup_var(Lookup::_unchecked_narrow(types.in()));
    EXPECT_THROW(link("a", no_lookup.in(), always, always), InvalidLookupRef);
    EXPECT_THROW(link("a", other.lookup.in(), always, if_no_local),
                 Link::DefaultFollowTooPermissive);
    EXPECT_EQ(always, one.admin->set_max_link_follow_policy(if_no_local));
    EXPECT_THROW(link("a", other.lookup.in(), if_no_local, always),
                 Link::LimitingFollowTooPermissive);
    link("a", other.lookup.in(), local_only, if_no_local);
    EXPECT_THROW(link("a", other.lookup.in(), local_only, if_no_local), Link::DuplicateLinkName);
    link("b", one.lookup.in(), if_no_local, if_no_local);
    // Nobody is there yet: it is believed.
    const CORBA::Object_var gone = client_->string_to_object("corbaloc::127.0.0.1:1/gone");
    const auto later = Lookup_var(Lookup::_unchecked_narrow(gone.in()));
    link("later", later.in(), local_only, local_only);

    Link::LinkInfo_var info = one.links->describe_link("a");
    EXPECT_TRUE(info->target->_is_equivalent(other.lookup.in()));
    EXPECT_TRUE(info->target_reg->_is_equivalent(other.offers.in()));
    EXPECT_EQ(local_only, info->def_pass_on_follow_rule);
    EXPECT_EQ(if_no_local, info->limiting_follow_rule);
    info = one.links->describe_link("later");
    EXPECT_TRUE(CORBA::is_nil(info->target_reg.in()));
    EXPECT_THROW(one.links->modify_link("c", local_only, local_only), Link::UnknownLinkName);
    EXPECT_THROW(one.links->modify_link("", local_only, local_only), Link::IllegalLinkName);
    EXPECT_THROW(one.links->modify_link("a", if_no_local, local_only),
                 Link::DefaultFollowTooPermissive);
    EXPECT_THROW(one.links->modify_link("a", if_no_local, always),
                 Link::LimitingFollowTooPermissive);
    one.links->modify_link("a", if_no_local, if_no_local);
    info = one.links->describe_link("a");
    EXPECT_EQ(if_no_local, info->def_pass_on_follow_rule);
    one.links->remove_link("b");
    EXPECT_THROW(one.links->remove_link("b"), Link::UnknownLinkName);
    EXPECT_THROW((void)Link::LinkInfo_var(one.links->describe_link("b")), Link::UnknownLinkName);
    const LinkNameSeq_var names = one.links->list_links();
    ASSERT_EQ(2U, names->length());
    EXPECT_STREQ("a", names[0U]);
    EXPECT_STREQ("later", names[1U]);
    for (const Link_var& alike : {Link_var(one.offers->link_if()), Link_var(one.admin->link_if()),
                                  Link_var(one.proxies->link_if())})
        EXPECT_TRUE(alike->_is_equivalent(one.links.in()));
}

TEST_F(Federations, HaveSoManyLinks)
{
    ServiceLimits limits = patient();
    limits.links_max = 2;
    Node& one = add(limits);
    one.link("a", one.lookup.in());
    one.link("b", one.lookup.in());
    EXPECT_THROW(one.link("c", one.lookup.in()), CORBA::IMP_LIMIT);
    one.links->remove_link("a");
    one.link("c", one.lookup.in());
}

/// All of what 2.2.5 says: the least of what the importer asks for, or the trader's default; of the
/// link's limit; and of the trader's.
TEST(FollowRules, AreTheLeastOfAll)
{
    constexpr FollowOption all[] = {local_only, if_no_local, always};
    const auto least = [](FollowOption a, FollowOption b, FollowOption c) {
        const FollowOption of_two = a < b ? a : b;
        return of_two < c ? of_two : c;
    };
    for (const FollowOption most : all)
        for (const FollowOption limiting : all)
            for (const FollowOption own : all)
                for (const FollowOption passed : all) {
                    LinkInfo link;
                    link.limiting_follow_rule = limiting;
                    link.def_pass_on_follow_rule = passed;
                    const Following unasked = following(link, std::nullopt, own, most);
                    EXPECT_EQ(least(most, limiting, own), unasked.when);
                    EXPECT_EQ(least(most, limiting, passed), unasked.passed_on);
                    for (const FollowOption asked : all) {
                        const Following told = following(link, asked, own, most);
                        EXPECT_EQ(least(most, limiting, asked), told.when);
                        EXPECT_EQ(least(most, limiting, asked), told.passed_on);
                    }
                }
}

TEST(RequestIdsTest, AreForgotten)
{
    ServiceLimits limits;
    limits.request_ids_max = 3;
    limits.request_id_time = std::chrono::seconds(10);
    RequestIds ids(limits);
    const RequestIds::Clock::time_point begin{};
    const auto at = [&](int second) { return begin + std::chrono::seconds(second); };
    EXPECT_TRUE(ids.note("a", at(0)));
    EXPECT_FALSE(ids.note("a", at(10)));
    EXPECT_TRUE(ids.note("a", at(11))); // it was too long ago
    EXPECT_TRUE(ids.note("b", at(11)));
    EXPECT_TRUE(ids.note("c", at(11)));
    EXPECT_FALSE(ids.note("c", at(11)));
    EXPECT_TRUE(ids.note("d", at(11)));
    EXPECT_TRUE(ids.note("a", at(11))); // it made room
    const std::string made = ids.make("stem");
    EXPECT_TRUE(made.starts_with("stem"));
    EXPECT_NE(made, ids.make("stem"));
    EXPECT_FALSE(ids.note(made));
}

// --- Queries along links -------------------------------------------------------------------------

TEST_F(Federations, FindWhatIsInARing)
{
    add_ring(4);
    EXPECT_EQ("0 1 2 3", ask(node(0), {.policies = {follow(always)}}));
    EXPECT_EQ("0 1 2 3", ask(node(2), {.policies = {follow(always)}}));
    EXPECT_EQ("0 hop_count", ask(node(0), {.policies = {follow(always), hops(0)}}));
    EXPECT_EQ("0 1 hop_count", ask(node(0), {.policies = {follow(always), hops(1)}}));
    EXPECT_EQ("0 1 2 hop_count", ask(node(0), {.policies = {follow(always), hops(2)}}));
    EXPECT_EQ("0 1 2 3 hop_count", ask(node(0), {.policies = {follow(always), hops(3)}}));
    EXPECT_EQ("0 1 2 3", ask(node(0), {.policies = {follow(always), hops(4)}}));
    (void)node(1).admin->set_max_hop_count(0);
    EXPECT_EQ("0 1 hop_count", ask(node(0), {.policies = {follow(always), hops(9)}}));
    (void)node(1).admin->set_max_hop_count(9);
    (void)node(0).admin->set_def_hop_count(1);
    EXPECT_EQ("0 1 hop_count", ask(node(0), {.policies = {follow(always)}}));
    // Whoever has asked before hears nothing again.
    const Query again{.policies = {follow(always), {"request_id", id_of("the same")}}};
    EXPECT_EQ("0 1 hop_count", ask(node(0), again));
    EXPECT_EQ("", ask(node(0), again));
    EXPECT_EQ("", ask(node(1), again));
    EXPECT_EQ("2 3", ask(node(2), again));
}

TEST_F(Federations, FollowLinksAsTheRulesSay)
{
    add_ring(3);
    const auto found = [&](const Policies& policies, const char* constraint = "") {
        return ask(node(0), {.policies = policies, .constraint = constraint});
    };
    EXPECT_EQ("0", found({follow(local_only)}));
    EXPECT_EQ("0", found({follow(if_no_local)}));
    EXPECT_EQ("1", found({follow(if_no_local)}, "id != 0"));
    EXPECT_EQ("2", found({follow(if_no_local)}, "id == 2"));
    EXPECT_EQ("", found({follow(local_only)}, "id == 2"));
    EXPECT_EQ("0", found({})); // the trader's default: if_no_local
    EXPECT_EQ("2", found({}, "id == 2"));
    // The link's default is what the next trader is told.
    node(0).links->modify_link("next", local_only, always);
    EXPECT_EQ("1", found({}, "id != 0"));
    EXPECT_EQ("", found({}, "id == 2"));
    EXPECT_EQ("2", found({follow(always)}, "id == 2"));
    // The link's limit holds for whoever asks.
    node(0).links->modify_link("next", local_only, if_no_local);
    EXPECT_EQ("0", found({follow(always)}));
    EXPECT_EQ("1", found({follow(always)}, "id != 0"));
    EXPECT_EQ("2", found({follow(always)}, "id == 2"));
    node(0).links->modify_link("next", local_only, local_only);
    EXPECT_EQ("", found({follow(always)}, "id != 0"));
    // So does the trader's.
    node(0).links->modify_link("next", always, always);
    (void)node(0).admin->set_max_follow_policy(local_only);
    EXPECT_EQ("0", found({follow(always)}));
    (void)node(0).admin->set_max_follow_policy(always);
    (void)node(1).admin->set_max_follow_policy(local_only);
    EXPECT_EQ("0 1", found({follow(always)}));
    (void)node(0).admin->set_def_follow_policy(always);
    EXPECT_EQ("0 1", found({}));
}

TEST_F(Federations, PutWhatAllHaveInOneOrder)
{
    for (int i = 0; i < 4; ++i) {
        Node& made = add();
        for (CORBA::Long id : {10, 20, 30})
            made.offer(id + static_cast<CORBA::Long>(i));
        if (i != 0) node(0).link(("to" + std::to_string(i)).c_str(), made.lookup.in());
    }
    const auto found = [&](const char* preference, Policies more = {}) {
        more.push_back(follow(always));
        return ask(node(0), {.policies = more, .constraint = "id >= 10", .preference = preference});
    };
    EXPECT_EQ("33 32 31 30 23 22 21 20 13 12 11 10", found("max id"));
    // By what the importer does not want to be told.
    EXPECT_EQ("12 22 32 11 21 31 13 23 33 10 20 30", found("max speed"));
    EXPECT_EQ("21 31 10 20 30 11 12 22 32 13 23 33", found("with id == 21 or id == 31"));
    EXPECT_EQ("10 20 30 11 21 31 12 22 32 13 23 33", found("first"));
    EXPECT_EQ("33 32 return_card",
              found("max id", {{"return_card", any_of(CORBA::ULong(2))}}).substr(0, 17));
    // What match_card leaves out is left out with what others have, too.
    const std::string five = found("min id", {{"match_card", any_of(CORBA::ULong(5))}});
    EXPECT_EQ(5, std::ranges::count(five, ' '));
    EXPECT_TRUE(five.ends_with(" match_card"));
    const auto none = [&] {
        Lookup::SpecifiedProps desired;
        desired._d(Lookup::none);
        OfferSeq_var offers;
        OfferIterator_var rest;
        PolicyNameSeq_var limits;
        node(0).lookup->query("Printer", "id > 30", "max id", policies_of({follow(always)}),
                              desired, 9, offers.out(), rest.out(), limits.out());
        return std::pair(offers->length(), offers[0U].properties.length());
    };
    EXPECT_EQ(std::pair(CORBA::ULong{3}, CORBA::ULong{0}), none());
}

TEST_F(Federations, GoOnWithIterators)
{
    add_ring(2);
    for (CORBA::Long id = 10; id < 30; ++id)
        node(1).offer(id);
    (void)node(1).admin->set_max_list(3); // so that its iterator has most of them
    EXPECT_EQ("0 1 10 11; 12 13 14 15 16; 17 18 19 20 21; 22 23 24 25 26; 27 28 29",
              ask(node(0), {.policies = {follow(always)}, .how_many = 4}));
    EXPECT_EQ("; 1; 10; 11; 12; 13; 14; 15; 16; 17; 18; 19; 20; 21; 22; 23; 24; 25; 26; 27; 28; 29",
              ask(node(0), {.policies = {start({"next"})}, .how_many = 0}));
}

TEST_F(Federations, StartAtTheTraderOfAPath)
{
    add_ring(4);
    const auto found = [&](const Names& path, const char* constraint = "", Policies more = {}) {
        more.push_back(start(path));
        return ask(node(0), {.policies = more, .constraint = constraint});
    };
    EXPECT_EQ("0", found({}));
    EXPECT_EQ("1", found({"next"}));
    EXPECT_EQ("3", found({"next", "next", "next"}));
    EXPECT_EQ("0", found({"next", "next", "next", "next"}));
    EXPECT_EQ("2", found({"next", "next"}, "", {hops(0)}));
    EXPECT_EQ("0 2 3 hop_count", found({"next", "next"}, "", {follow(always), hops(2)}));
    EXPECT_THROW((void)found({"none"}), Lookup::InvalidPolicyValue);
    EXPECT_THROW((void)found({"next", "none"}), Lookup::InvalidPolicyValue);
    EXPECT_THROW((void)found({"next", ""}), Lookup::InvalidPolicyValue);
    EXPECT_THROW((void)found(Names(100, "next")), Lookup::InvalidPolicyValue);
    EXPECT_THROW((void)found({"next"}, "id =="), IllegalConstraint);
    EXPECT_THROW((void)ask(node(0), {.policies = {start({"next"})}, .type = "None"}),
                 UnknownServiceType);
    EXPECT_THROW((void)ask(node(0), {.policies = {{"starting_trader", truth(true)}}}),
                 Lookup::PolicyTypeMismatch);
    EXPECT_THROW((void)ask(node(0), {.policies = {{"request_id", any_of("text")}}}),
                 Lookup::PolicyTypeMismatch);
    EXPECT_THROW((void)ask(node(0), {.policies = {{"request_id", id_of(std::string(1000, 'x'))}}}),
                 Lookup::InvalidPolicyValue);
    // A type that only the trader at the end knows.
    node(2).add_type("Scanner", {{"id", CORBA::_tc_long}});
    node(2).offer(7, "Scanner");
    EXPECT_EQ("7", ask(node(0), {.policies = {start({"next", "next"})}, .type = "Scanner"}));
    EXPECT_THROW((void)ask(node(0), {.type = "Scanner"}), UnknownServiceType);
}

TEST_F(Federations, ResolveRegisters)
{
    add_ring(3);
    const auto resolved = [&](const Names& path) {
        return Register_var(node(0).offers->resolve(path_of(path)));
    };
    EXPECT_TRUE(resolved({"next"})->_is_equivalent(node(1).offers.in()));
    EXPECT_TRUE(resolved({"next", "next"})->_is_equivalent(node(2).offers.in()));
    EXPECT_TRUE(resolved({"next", "next", "next"})->_is_equivalent(node(0).offers.in()));
    EXPECT_THROW((void)resolved({}), Register::IllegalTraderName);
    EXPECT_THROW((void)resolved({""}), Register::IllegalTraderName);
    EXPECT_THROW((void)resolved({"next", "/"}), Register::IllegalTraderName);
    EXPECT_THROW((void)resolved({"none"}), Register::UnknownTraderName);
    EXPECT_THROW((void)resolved({"next", "none"}), Register::UnknownTraderName);
    EXPECT_THROW((void)resolved(Names(100, "next")), Register::IllegalTraderName);
    node(2).end();
    EXPECT_THROW((void)resolved({"next", "next", "next"}), CORBA::TRANSIENT);
}

/// One thread serves each of these traders: it serves those that ask it while it asks others.
TEST_F(Federations, WaitForEachOtherWithOneThreadEach)
{
    add_ring(3, {"-ORBConcurrency", "reactor"});
    std::vector<std::future<void>> asking;
    for (std::size_t i = 0; i < 3; ++i)
        asking.push_back(std::async(std::launch::async, [this, i] {
            for (int count = 0; count < 10; ++count)
                EXPECT_EQ("0 1 2", ask(node(i), {.policies = {follow(always)}}));
        }));
    for (std::future<void>& one : asking)
        one.get();
}

TEST_F(Federations, AskWhileLinksComeAndGo)
{
    add_ring(3);
    std::atomic<bool> is_done{false};
    std::thread changing([&] {
        while (!is_done) {
            node(0).link("more", node(2).lookup.in());
            node(0).links->modify_link("next", local_only, always);
            node(0).links->remove_link("more");
        }
    });
    std::vector<std::thread> asking;
    for (std::size_t i = 0; i < 2; ++i)
        asking.emplace_back([this] {
            for (int count = 0; count < 20; ++count)
                EXPECT_EQ("0 1 2", ask(node(0), {.policies = {follow(always)}}));
        });
    for (std::thread& thread : asking)
        thread.join();
    is_done = true;
    changing.join();
}

TEST_F(Federations, WaitForOthersSoOftenAtATime)
{
    ServiceLimits limits = patient();
    limits.nested_queries_max = 0;
    Node& one = add(limits);
    one.link("next", add().lookup.in());
    EXPECT_EQ("0 link_follow_rule", ask(one, {.policies = {follow(always)}}));
    EXPECT_THROW((void)ask(one, {.policies = {start({"next"})}}), CORBA::NO_RESOURCES);
    EXPECT_THROW((void)Register_var(one.offers->resolve(path_of({"next"}))), CORBA::NO_RESOURCES);
}

// --- Traders that are no good --------------------------------------------------------------------

/// A trader that answers what a test likes; it has no attributes.
class FakeTrader final : public POA_CosTrading::Lookup {
  public:
    struct Answer {
        OfferSeq offers{};
        OfferIterator_var iterator{};
        PolicyNameSeq limits{};
    };
    explicit FakeTrader(std::function<Answer(const PolicySeq&, const char*)> answer)
        : answer_(std::move(answer))
    {
    }
    void query(const char* /*type*/, const char* constraint, const char* /*preference*/,
               const PolicySeq& policies, const CosTrading::Lookup::SpecifiedProps& /*desired*/,
               CORBA::ULong /*how_many*/, OfferSeq_out offers, OfferIterator_out iterator,
               PolicyNameSeq_out limits) override
    {
        Answer answer = answer_(policies, constraint);
        offers = new OfferSeq(answer.offers);
        iterator = answer.iterator._retn();
        limits = new PolicyNameSeq(answer.limits);
    }
    Lookup_ptr lookup_if() override { raise(); }
    Register_ptr register_if() override { return Register::_nil(); }
    Link_ptr link_if() override { raise(); }
    CosTrading::Proxy_ptr proxy_if() override { raise(); }
    Admin_ptr admin_if() override { raise(); }
    CORBA::Boolean supports_modifiable_properties() override { raise(); }
    CORBA::Boolean supports_dynamic_properties() override { raise(); }
    CORBA::Boolean supports_proxy_offers() override { raise(); }
    TypeRepository_ptr type_repos() override { raise(); }
    CORBA::ULong def_search_card() override { raise(); }
    CORBA::ULong max_search_card() override { raise(); }
    CORBA::ULong def_match_card() override { raise(); }
    CORBA::ULong max_match_card() override { raise(); }
    CORBA::ULong def_return_card() override { raise(); }
    CORBA::ULong max_return_card() override { raise(); }
    CORBA::ULong max_list() override { raise(); }
    CORBA::ULong def_hop_count() override { raise(); }
    CORBA::ULong max_hop_count() override { raise(); }
    FollowOption def_follow_policy() override { raise(); }
    FollowOption max_follow_policy() override { raise(); }

  private:
    [[noreturn]] static void raise() { throw CORBA::NO_IMPLEMENT(); }

    const std::function<Answer(const PolicySeq&, const char*)> answer_;
};

/// An iterator that has more for ever, so many at a time.
class EndlessOffers final : public POA_CosTrading::OfferIterator {
  public:
    EndlessOffers(OfferSeq portion, std::atomic<int>& destroyed)
        : portion_(std::move(portion)), destroyed_(destroyed)
    {
    }
    CORBA::ULong max_left() override { throw UnknownMaxLeft(); }
    CORBA::Boolean next_n(CORBA::ULong /*n*/, OfferSeq_out offers) override
    {
        offers = new OfferSeq(portion_);
        return true;
    }
    void destroy() override
    {
        ++destroyed_;
        destroyed_.notify_all();
    }

  private:
    const OfferSeq portion_;
    std::atomic<int>& destroyed_;
};

class FakeFederations : public Federations {
  protected:
    FakeFederations() : fakes_(make_orb())
    {
        const CORBA::Object_var root = fakes_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(root.in());
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
    }
    ~FakeFederations() override
    {
        nodes_.clear();
        fakes_->destroy();
    }
    /// A reference that a client has.
    template <typename Interface>
    typename Interface::_var_type reference(const CORBA::Object_var& object)
    {
        const CORBA::String_var text = fakes_->object_to_string(object.in());
        const CORBA::Object_var there = client_->string_to_object(text.in());
        return Interface::_unchecked_narrow(there.in());
    }
    Lookup_var fake(std::function<FakeTrader::Answer(const PolicySeq&, const char*)> answer)
    {
        const PortableServer::Servant_var<FakeTrader> servant = new FakeTrader(std::move(answer));
        const PortableServer::ObjectId_var id = poa_->activate_object(servant.in());
        return reference<Lookup>(poa_->id_to_reference(id.in()));
    }
    OfferIterator_var endless(const OfferSeq& portion)
    {
        const PortableServer::Servant_var<EndlessOffers> servant =
            new EndlessOffers(portion, destroyed_);
        const PortableServer::ObjectId_var id = poa_->activate_object(servant.in());
        return reference<OfferIterator>(poa_->id_to_reference(id.in()));
    }
    OfferSeq offers_of(CORBA::Long first, CORBA::ULong count, std::size_t octets = 0)
    {
        OfferSeq offers;
        offers.length(count);
        const std::string text(octets, 'x');
        for (CORBA::ULong i = 0; i < count; ++i) {
            offers[i].reference = CORBA::Object::_duplicate(nodes_[0]->lookup.in());
            offers[i].properties = properties_of(
                octets == 0 ? Values{{"id", any_of(first + static_cast<CORBA::Long>(i))}}
                            : Values{{"text", any_of(text.c_str())},
                                     {"id", any_of(first + static_cast<CORBA::Long>(i))}});
        }
        return offers;
    }
    /// How many there are, and the limits.
    static std::string counted(const std::string& found)
    {
        std::size_t count = 0;
        std::string limits;
        for (std::size_t at = 0; at < found.size();) {
            const std::size_t end = std::min(found.find(' ', at), found.size());
            const std::string word = found.substr(at, end - at);
            if (word.find_first_not_of("-0123456789;") == std::string::npos)
                ++count;
            else
                limits += " " + word;
            at = end + 1;
        }
        return std::to_string(count) + limits;
    }

    /// Waits until so many iterators were.
    void await_destroyed(int count)
    {
        for (int now = destroyed_; now < count; now = destroyed_)
            destroyed_.wait(now);
        EXPECT_EQ(count, destroyed_);
    }

    CORBA::ORB_var fakes_;
    PortableServer::POA_var poa_;
    std::atomic<int> destroyed_{0};
};

TEST_F(FakeFederations, TakeNoMoreThanTheyMay)
{
    ServiceLimits limits = patient();
    limits.answer_octets_max = 100'000;
    limits.limits_named_max = 5;
    Node& one = add(limits);
    FakeTrader::Answer answer;
    one.link("bad", fake([&](const PolicySeq&, const char*) { return answer; }).in());
    const auto found = [&] { return counted(ask(one, {.policies = {follow(always)}})); };
    answer.offers = offers_of(1, 3);
    EXPECT_EQ("4", found());
    answer.offers = offers_of(1, 500); // the message itself is not too large
    (void)one.admin->set_def_return_card(100);
    EXPECT_EQ("100 return_card", found());
    (void)one.admin->set_def_return_card(10'000);
    answer.offers = offers_of(1, 30, 10'000); // but this is
    EXPECT_EQ("1 link_follow_rule", found());
    // Iterators without an end.
    answer.offers = offers_of(1, 1);
    answer.iterator = endless(offers_of(2, 7));
    (void)one.admin->set_def_return_card(100);
    EXPECT_EQ("100 return_card", found());
    await_destroyed(1);
    answer.iterator = endless(OfferSeq());
    EXPECT_EQ("2", found());
    await_destroyed(2);
    answer.iterator = endless(offers_of(2, 4, 10'000)); // all of them together
    EXPECT_EQ("11 return_card", found());
    await_destroyed(3);
    answer.iterator = endless(offers_of(2, 30, 10'000)); // each of them
    EXPECT_EQ("2 link_follow_rule", found());
    // One that is none.
    answer.iterator = OfferIterator::_unchecked_narrow(one.types.in());
    EXPECT_EQ("2 link_follow_rule", found());
    answer.iterator = OfferIterator::_nil();
    answer.offers = offers_of(1, 4);
    answer.offers[1].reference = CORBA::Object::_nil();
    answer.offers[2].properties =
        properties_of({{"id", any_of(CORBA::Long(5))}, {"id", any_of(CORBA::Long(6))}});
    EXPECT_EQ("0 1 4 5", ask(one, {.policies = {follow(always)}}));
    answer.offers.length(0);
    answer.limits = list_of<PolicyNameSeq>(Names(1000, "search_card"));
    EXPECT_EQ("1 search_card", found());
}

TEST_F(FakeFederations, TellOthersWhatTheyMayDo)
{
    Node& one = add();
    const Admin::OctetSeq_var old_stem = one.admin->set_request_id_stem([] {
        Admin::OctetSeq stem;
        stem.length(2);
        stem[0] = 'm';
        stem[1] = 'e';
        return stem;
    }());
    std::string told;
    one.link("other", fake([&](const PolicySeq& policies, const char* constraint) {
                          told = constraint;
                          for (CORBA::ULong i = 0; i < policies.length(); ++i) {
                              const std::string name = policies[i].name.in();
                              CORBA::ULong number = 0;
                              FollowOption rule{};
                              const Admin::OctetSeq* id = nullptr;
                              told += " " + name;
                              if (policies[i].value >>= number)
                                  told += "=" + std::to_string(number);
                              else if (policies[i].value >>= rule)
                                  told += "=" + std::to_string(static_cast<int>(rule));
                              else if (policies[i].value >>= id)
                                  told += std::string("=") + static_cast<char>((*id)[0]) +
                                          static_cast<char>((*id)[1]);
                          }
                          return FakeTrader::Answer{};
                      }).in(),
             if_no_local);
    EXPECT_EQ("0", ask(one, {.policies = {{"of_another", truth(true)},
                                          {"search_card", any_of(CORBA::ULong(7))},
                                          follow(always),
                                          hops(3)},
                             .constraint = "id == 0"}));
    EXPECT_EQ("id == 0 of_another search_card=7 request_id=me hop_count=2 link_follow_rule=2",
              told);
    EXPECT_EQ("", ask(one, {.policies = {{"request_id", id_of("ab")}}, .constraint = "id == 9"}));
    EXPECT_EQ("id == 9 request_id=ab hop_count=4 link_follow_rule=1", told);
    EXPECT_EQ("", ask(one, {.policies = {start({"other"}), hops(3)}}));
    EXPECT_EQ(" hop_count=3", told);
}

/// Listens, and does with who connects as it was told, which says whether the connection stays.
class BadListener {
  public:
    explicit BadListener(std::function<bool(int)> with)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(socket_, any, size) != 0 || ::listen(socket_, 20) != 0 ||
            ::getsockname(socket_, any, &size) != 0)
            throw std::runtime_error("cannot listen");
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, with = std::move(with)] {
            for (;;) {
                const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
                if (peer < 0) return;
                note(peer);
                const bool stays = with(peer);
                note(-1);
                if (stays)
                    kept_.push_back(peer);
                else
                    ::close(peer);
            }
        });
    }
    BadListener(const BadListener&) = delete;
    BadListener& operator=(const BadListener&) = delete;
    ~BadListener()
    {
        ::shutdown(socket_, SHUT_RDWR);
        {
            const std::lock_guard lock(mutex_);
            if (current_ >= 0) ::shutdown(current_, SHUT_RDWR); // it may be read from
        }
        thread_.join();
        ::close(socket_);
        for (const int peer : kept_)
            ::close(peer);
    }
    [[nodiscard]] Lookup_var lookup(CORBA::ORB_ptr orb) const
    {
        const std::string url = "corbaloc::127.0.0.1:" + std::to_string(port_) + "/TradingService";
        const CORBA::Object_var object = orb->string_to_object(url.c_str());
        return Lookup::_unchecked_narrow(object.in());
    }

  private:
    void note(int peer)
    {
        const std::lock_guard lock(mutex_);
        current_ = peer;
    }

    const int socket_;
    unsigned port_ = 0;
    std::mutex mutex_; // guards current_
    int current_ = -1;
    std::vector<int> kept_; // of the thread, and then of who ends it
    std::thread thread_;
};

/// Reads what a client sends first.
bool read_some(int peer)
{
    char request[4096];
    return ::read(peer, request, sizeof request) > 0;
}

TEST_F(FakeFederations, GoOnWithoutThoseThatDoNotAnswer)
{
    Node& one = add();
    (void)add();
    // One that is asked first, and says nothing until another one's iterator was emptied.
    bool is_first = true;
    const BadListener silent([&](int peer) {
        (void)read_some(peer);
        for (int now = destroyed_; !is_first && now == 0; now = destroyed_)
            destroyed_.wait(now);
        is_first = false;
        return false;
    });
    const BadListener garbage([](int peer) {
        if (read_some(peer)) (void)!::write(peer, "HTTP/1.0 400 Bad Request\r\n\r\n", 28);
        return false;
    });
    const BadListener dying([](int peer) {
        // A reply of 256 octets, and no more.
        if (read_some(peer)) (void)!::write(peer, "GIOP\1\2\1\1\0\1\0\0", 12);
        return false;
    });
    one.link("a_silent", silent.lookup(client_.in()).in());
    one.link("b_garbage", garbage.lookup(client_.in()).in());
    one.link("c_dying", dying.lookup(client_.in()).in());
    one.link("d_good", fake([&](const PolicySeq&, const char*) {
                           return FakeTrader::Answer{.offers = offers_of(1, 1),
                                                     .iterator = endless(offers_of(2, 3))};
                       }).in());
    one.link("e_ended", node(1).lookup.in());
    node(1).end();
    (void)one.admin->set_def_return_card(6);
    EXPECT_EQ("0 1 2 2 3 3 return_card link_follow_rule", ask(one, {.policies = {follow(always)}}));
    EXPECT_THROW((void)ask(one, {.policies = {start({"b_garbage"})}}), Lookup::InvalidPolicyValue);
    destroyed_ = 1;
    destroyed_.notify_all();
}

TEST_F(Federations, DoNotWaitForEver)
{
    ServiceLimits limits = patient();
    limits.hop_time = std::chrono::milliseconds(50);
    Node& one = add(limits);
    bool is_first = true; // asks for the Register
    const BadListener silent([&](int) { return !std::exchange(is_first, false); });
    one.link("silent", silent.lookup(client_.in()).in());
    EXPECT_EQ("0 link_follow_rule", ask(one, {.policies = {follow(always), hops(1)}}));
    EXPECT_EQ("0 link_follow_rule", ask(one, {.policies = {follow(always), hops(1)}}));
}

TEST_F(Federations, PassOnNoLargePolicies)
{
    Node& one = add();
    one.link("next", add().lookup.in());
    EXPECT_EQ("0 link_follow_rule",
              ask(one, {.policies = {follow(always),
                                     {"large", any_of(std::string(70'000, 'x').c_str())}}}));
    EXPECT_THROW(
        (void)ask(one, {.policies = {start({"next"}),
                                     {"large", any_of(std::string(70'000, 'x').c_str())}}}),
        CORBA::IMP_LIMIT);
}

// --- Proxy offers --------------------------------------------------------------------------------

TEST(Recipes, MakeConstraints)
{
    const ServiceLimits limits;
    const auto octets = std::make_shared<corba::Octets>(limits.octets_of_all_max);
    Catalog catalog(limits, octets);
    (void)catalog.add_type("T", "", {}, {});
    const auto offer =
        make_offer(catalog.type("T"), CORBA::Object::_nil(),
                   properties_of({{"n", any_of(CORBA::Long(-5))},
                                  {"d", any_of(CORBA::Double(1.5e300))},
                                  {"b", truth(true)},
                                  {"s", any_of(R"(it's a \)")},
                                  {"t", any_of(CORBA::Any::from_string("abc", 16))},
                                  {"u", any_of(CORBA::ULongLong(18'446'744'073'709'551'615U))}}),
                   limits, octets);
    DynamicCalls calls(CORBA::ORB::_nil(), limits);
    const OfferSubject subject(offer, calls);
    const auto make = [&](std::string_view recipe, std::size_t most = 100) {
        return cooked(recipe, "x == 1", subject, most).value_or("none");
    };
    EXPECT_EQ("", make(""));
    EXPECT_EQ("x == 1", make("$*"));
    EXPECT_EQ("(x == 1) and y == -5", make("($*) and y == $(n)"));
    EXPECT_EQ(R"('it\'s a \\' ~ z)", make("$(s) ~ z"));
    EXPECT_EQ("1.5e+300 TRUE 18446744073709551615", make("$(d) $(b) $(u)"));
    EXPECT_EQ("'abc'", make("$(t)"));
    EXPECT_EQ("$a", make("$$$a"));
    EXPECT_EQ("none", make("$(none)"));
    EXPECT_EQ("none", make("a$"));
    EXPECT_EQ("none", make("$(n"));
    EXPECT_EQ("none", make("$* $* $* $*", 20));
    const auto parsed = constraints::Constraint::parse(
        make("a == $(n) and b == $(d) and c == $(b) and e == $(s)"), constraints::Language::trader);
    EXPECT_TRUE(parsed.ok());
}

class ProxyOffers : public FakeFederations {
  protected:
    std::string export_one(const Node& node, Lookup_ptr target, const Values& properties,
                           const char* recipe, bool if_match_all = true,
                           const Policies& policies = {}, const char* type = "Printer")
    {
        return CORBA::String_var(node.proxies->export_proxy(target, type, properties_of(properties),
                                                            if_match_all, recipe,
                                                            policies_of(policies)))
            .in();
    }
};

TEST_F(ProxyOffers, LeadToOtherTraders)
{
    Node& one = add();
    Node& other = add();
    for (CORBA::Long id = 10; id < 15; ++id)
        other.offer(id);
    (void)export_one(one, other.lookup.in(), {{"id", any_of(CORBA::Long(12))}},
                     "$* and id >= $(id)", false);
    const auto found = [&](const char* constraint, const Policies& policies = {}) {
        return ask(one, {.policies = policies, .constraint = constraint});
    };
    EXPECT_EQ("12 13 14", found("id >= 11"));
    EXPECT_EQ("0", found("id < 10"));        // which the proxy offer does not match
    EXPECT_EQ("0 12 13", found("id != 14")); // which it does
    EXPECT_EQ("", found("id >= 11", {{"use_proxy_offers", truth(false)}}));
    (void)one.admin->set_supports_proxy_offers(false);
    EXPECT_FALSE(one.lookup->supports_proxy_offers());
    EXPECT_EQ("", found("id >= 11"));
    (void)one.admin->set_supports_proxy_offers(true);
    // Whatever is asked for.
    const std::string all = export_one(one, other.lookup.in(), {}, "$*", true,
                                       {{"return_card", any_of(CORBA::ULong(1))}});
    EXPECT_EQ("1", found("id == 1"));
    EXPECT_EQ("10 return_card", found("id == 10 or id == 11"));
    one.proxies->withdraw_proxy(all.c_str());
    EXPECT_EQ("", found("id == 1"));
    // What a proxy offer finds is local: links are not followed then.
    Node& third = add();
    third.offer(12);
    third.offer(20);
    one.link("third", third.lookup.in());
    EXPECT_EQ("12", found("id == 12"));
    EXPECT_EQ("20", found("id == 20"));
    EXPECT_EQ("12 12", found("id == 12", {follow(always)}));
}

TEST_F(ProxyOffers, MakeSense)
{
    Node& one = add();
    const CORBA::Any three = any_of(CORBA::Long(3));
    const auto make = [&](Lookup_ptr target, const Values& values, const char* recipe,
                          const Policies& policies = {}, const char* type = "Printer") {
        return export_one(one, target, values, recipe, true, policies, type);
    };
    Lookup_ptr target = one.lookup.in();
    one.add_type("Must", {{"id", CORBA::_tc_long, Modes::PROP_MANDATORY}});
    EXPECT_THROW((void)make(Lookup::_nil(), {}, "$*"), InvalidLookupRef);
    EXPECT_THROW((void)make(target, {}, "$*", {}, "None"), UnknownServiceType);
    EXPECT_THROW((void)make(target, {}, "$*", {}, "no type"), IllegalServiceType);
    EXPECT_THROW((void)make(target, {}, "$*", {}, "Must"), MissingMandatoryProperty);
    EXPECT_THROW((void)make(target, {{"id", truth(true)}}, "$*"), PropertyTypeMismatch);
    EXPECT_THROW((void)make(target, {{"<", three}}, "$*"), IllegalPropertyName);
    EXPECT_THROW((void)make(target, {{"id", three}, {"id", three}}, "$*"), DuplicatePropertyName);
    EXPECT_THROW((void)make(target, {}, "$* and $(id)"), CosTrading::Proxy::IllegalRecipe);
    EXPECT_THROW((void)make(target, {}, "$"), CosTrading::Proxy::IllegalRecipe);
    EXPECT_THROW((void)make(target, {{"x", any_of(path_of({"a"}))}}, "$(x)"),
                 CosTrading::Proxy::IllegalRecipe);
    EXPECT_THROW((void)make(target, {}, "$*", {hops(1), hops(1)}), DuplicatePolicyName);
    EXPECT_THROW((void)make(target, {}, "$*", {{"x", any_of(std::string(70'000, 'x').c_str())}}),
                 CORBA::IMP_LIMIT);

    const std::string id = make(target, {{"id", three}}, "id == $(id)", {hops(1)});
    const CosTrading::Proxy::ProxyInfo_var info = one.proxies->describe_proxy(id.c_str());
    EXPECT_STREQ("Printer", info->type.in());
    EXPECT_STREQ("id == $(id)", info->recipe.in());
    EXPECT_TRUE(info->if_match_all);
    EXPECT_EQ(1U, info->properties.length());
    EXPECT_EQ(1U, info->policies_to_pass_on.length());
    EXPECT_TRUE(info->target->_is_equivalent(target));
    const char* const text = id.c_str();
    EXPECT_THROW((void)Register::OfferInfo_var(one.offers->describe(text)), Register::ProxyOfferId);
    EXPECT_THROW(one.offers->withdraw(text), Register::ProxyOfferId);
    EXPECT_THROW(one.offers->modify(text, PropertyNameSeq(), PropertySeq()),
                 Register::ProxyOfferId);
    OfferIdSeq_var ids;
    OfferIdIterator_var more;
    one.admin->list_offers(9, ids.out(), more.out());
    ASSERT_EQ(1U, ids->length());
    EXPECT_THROW(one.proxies->withdraw_proxy(ids[0U]), CosTrading::Proxy::NotProxyOfferId);
    EXPECT_THROW((void)CosTrading::Proxy::ProxyInfo_var(one.proxies->describe_proxy("proxy-7")),
                 IllegalOfferId);
    EXPECT_THROW(one.proxies->withdraw_proxy("proxy-0123456789abcdef-1"), UnknownOfferId);
    (void)make(target, {}, "$*");
    one.admin->list_proxies(1, ids.out(), more.out());
    ASSERT_EQ(1U, ids->length());
    EXPECT_EQ(id, ids[0U].in());
    EXPECT_FALSE(more->next_n(5, ids.out()));
    EXPECT_EQ(1U, ids->length());
    more->destroy();
    one.proxies->withdraw_proxy(text);
    EXPECT_THROW(one.proxies->withdraw_proxy(text), UnknownOfferId);
    EXPECT_THROW(one.offers->withdraw(text), UnknownOfferId);
    one.types->remove_type("Printer"); // and its proxy offers
    one.admin->list_proxies(9, ids.out(), more.out());
    EXPECT_EQ(0U, ids->length());
}

TEST_F(ProxyOffers, DoNotGoRoundInCircles)
{
    Node& one = add();
    Node& other = add();
    (void)export_one(one, other.lookup.in(), {}, "$*");
    (void)export_one(other, one.lookup.in(), {}, "$*");
    (void)export_one(other, other.lookup.in(), {}, "$*");
    EXPECT_EQ("0 1", ask(one, {}));
    EXPECT_EQ("0 1", ask(other, {}));
}

TEST_F(ProxyOffers, GoWithoutTargetsThatDoNotAnswer)
{
    ServiceLimits limits = patient();
    limits.proxies_max = 2;
    limits.proxies_asked_max = 1;
    Node& one = add(limits);
    const CORBA::Object_var gone = client_->string_to_object("corbaloc::127.0.0.1:1/gone");
    const auto nobody = Lookup_var(Lookup::_unchecked_narrow(gone.in()));
    (void)export_one(one, nobody.in(), {}, "$*");
    EXPECT_EQ("0 use_proxy_offers", ask(one, {}));
    (void)export_one(one, nobody.in(), {}, "$*");
    EXPECT_EQ("0 use_proxy_offers", ask(one, {}));
    EXPECT_THROW((void)export_one(one, nobody.in(), {}, "$*"), CORBA::IMP_LIMIT);
}

} // namespace
} // namespace kairos::trading
