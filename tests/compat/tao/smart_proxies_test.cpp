// SPDX-License-Identifier: Apache-2.0
//
// Smart proxies (tao_idl -Gsp, kairos/compat/tao/smart_proxies.h), written as programs for TAO are.
#include "SmartS.h"
#include "tao/SmartProxies/Smart_Proxies.h"

#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace {

class RelicServant : public virtual POA_Shop::Relic {
  public:
    char* name() override { return CORBA::string_dup(name_.in()); }
    void name(const char* text) override { name_ = text; }
    CORBA::Long price() override { return 100 + ++asked; }
    char* sell(const char* buyer, CORBA::Long& count, CORBA::String_out note) override
    {
        if (count == 0) throw Shop::Sold(buyer);
        note = CORBA::string_dup("wrapped");
        count *= 2;
        return CORBA::string_dup(buyer);
    }
    CORBA::Boolean is_this(Shop::Item_ptr other) override
    {
        const Shop::Relic_var self = _this();
        return self->_is_equivalent(other);
    }
    char* origin() override { return CORBA::string_dup("Rome"); }
    CORBA::Long tag() override { return 7; }

    std::atomic<int> asked{0};

  private:
    CORBA::String_var name_{CORBA::string_dup("vase")};
};

class BellServant : public virtual POA_Bell {
  public:
    void ring() override { ++rung; }
    int rung = 0;
};

std::atomic<int> proxies;   // that there are
std::atomic<int> factories; // the same

/// Asks for the price once.
class SmartItem : public virtual Shop::TAO_Shop_Item_Smart_Proxy_Base {
  public:
    SmartItem(Shop::Item_ptr proxy) : TAO_Smart_Proxy_Base(proxy), price_(0) { ++proxies; }
    ~SmartItem() override { --proxies; }
    CORBA::Long price() override
    {
        if (price_ == 0) price_ = TAO_Shop_Item_Smart_Proxy_Base::price();
        return price_;
    }

  private:
    std::atomic<CORBA::Long> price_;
};

class SmartItemFactory : public virtual Shop::TAO_Shop_Item_Default_Proxy_Factory {
  public:
    SmartItemFactory(int permanent = 1) : TAO_Shop_Item_Default_Proxy_Factory(permanent)
    {
        ++factories;
    }
    ~SmartItemFactory() override { --factories; }
    Shop::Item_ptr create_proxy(Shop::Item_ptr proxy) override
    {
        if (!CORBA::is_nil(proxy)) proxy = new SmartItem(proxy);
        return proxy;
    }
};

/// Of a derived interface: what it does not say of itself comes from the base's class.
class SmartRelic : public virtual Shop::TAO_Shop_Relic_Smart_Proxy_Base {
  public:
    SmartRelic(Shop::Relic_ptr proxy) : TAO_Smart_Proxy_Base(proxy) {}
    CORBA::Long price() override { return -1; }
    char* origin() override
    {
        const CORBA::String_var origin = TAO_Shop_Rare_Smart_Proxy_Base::origin();
        return CORBA::string_dup((std::string("near ") + origin.in()).c_str());
    }
};

class SmartRelicFactory : public Shop::TAO_Shop_Relic_Default_Proxy_Factory {
  public:
    Shop::Relic_ptr create_proxy(Shop::Relic_ptr proxy) override { return new SmartRelic(proxy); }
};

class SmartBell : public virtual TAO_Bell_Smart_Proxy_Base {
  public:
    SmartBell(Bell_ptr proxy) : TAO_Smart_Proxy_Base(proxy) {}
    void ring() override
    {
        get_proxy()->ring();
        TAO_Bell_Smart_Proxy_Base::ring();
    }
};

class SmartBellFactory : public TAO_Bell_Default_Proxy_Factory {
  public:
    Bell_ptr create_proxy(Bell_ptr proxy) override { return new SmartBell(proxy); }
};

class TaoSmartProxies : public testing::Test {
  protected:
    void SetUp() override
    {
        std::string words[] = {"test", "-ORBEndpoint", "iiop://127.0.0.1"};
        char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
        int argc = 3;
        orb = CORBA::ORB_init(argc, argv, "smart proxies");
        object = orb->resolve_initial_references("RootPOA");
        poa = PortableServer::POA::_narrow(object.in());
        relic = new RelicServant;
        object = activate(relic.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
    }
    void TearDown() override
    {
        Shop::TAO_Shop_Item_PROXY_FACTORY_ADAPTER::instance()->unregister_proxy_factory();
        Shop::TAO_Shop_Relic_PROXY_FACTORY_ADAPTER::instance()->unregister_proxy_factory();
        object = CORBA::Object::_nil();
        poa = PortableServer::POA::_nil();
        orb->destroy();
        EXPECT_EQ(proxies, 0);
        EXPECT_EQ(factories, 0);
    }
    /// A reference that has no type yet, as clients get it.
    CORBA::Object_ptr activate(PortableServer::Servant servant)
    {
        const PortableServer::ObjectId_var id = poa->activate_object(servant);
        const CORBA::Object_var activated = poa->id_to_reference(id.in());
        const CORBA::String_var text = orb->object_to_string(activated.in());
        return orb->string_to_object(text.in());
    }
    static bool is_smart(CORBA::Object_ptr one)
    {
        return dynamic_cast<TAO_Smart_Proxy_Base*>(one) != nullptr;
    }

    CORBA::ORB_var orb;
    PortableServer::POA_var poa;
    PortableServer::Servant_var<RelicServant> relic;
    CORBA::Object_var object;
};

TEST_F(TaoSmartProxies, WithoutFactoryThereAreStubs)
{
    const Shop::Item_var item = Shop::Item::_narrow(object.in());
    EXPECT_FALSE(is_smart(item.in()));
    EXPECT_EQ(item->price(), 101);
    EXPECT_EQ(item->price(), 102);
}

TEST_F(TaoSmartProxies, AnswerThemselvesAndPassTheRestOn)
{
    new SmartItemFactory;
    const Shop::Item_var item = Shop::Item::_narrow(object.in());
    ASSERT_TRUE(is_smart(item.in()));
    EXPECT_EQ(item->price(), 101);
    EXPECT_EQ(item->price(), 101);
    EXPECT_EQ(relic->asked, 1);

    CORBA::Long count = 3;
    CORBA::String_var note;
    const CORBA::String_var buyer = item->sell("Ada", count, note.out());
    EXPECT_STREQ(buyer.in(), "Ada");
    EXPECT_STREQ(note.in(), "wrapped");
    EXPECT_EQ(count, 6);
    count = 0;
    EXPECT_THROW(CORBA::String_var(item->sell("Bob", count, note.out())), Shop::Sold);
    item->name("urn");
    const CORBA::String_var name = item->name();
    EXPECT_STREQ(name.in(), "urn");
}

class GongHere : public virtual Gong, public virtual CORBA::LocalObject {
  public:
    void ring() override { ++rung; }
    int rung = 0;
};

TEST_F(TaoSmartProxies, LocalObjectsStayThemselves)
{
    new SmartBellFactory;
    GongHere* const gong = new GongHere;
    const Gong_var owner = gong;
    const Bell_var bell = Bell::_narrow(gong);
    EXPECT_EQ(bell.in(), static_cast<Bell_ptr>(gong));
    bell->ring();
    EXPECT_EQ(gong->rung, 1);
    TAO_Bell_PROXY_FACTORY_ADAPTER::instance()->unregister_proxy_factory();
}

TEST_F(TaoSmartProxies, AreTheirObjectForAllOthers)
{
    new SmartItemFactory;
    const Shop::Item_var item = Shop::Item::_unchecked_narrow(object.in());
    ASSERT_TRUE(is_smart(item.in()));
    EXPECT_TRUE(item->is_this(item.in()));
    EXPECT_TRUE(item->_is_equivalent(object.in()));
    EXPECT_TRUE(item->_is_a("IDL:Shop/Relic:1.0"));
    EXPECT_FALSE(item->_non_existent());
    const CORBA::String_var of_proxy = orb->object_to_string(item.in());
    const CORBA::String_var of_object = orb->object_to_string(object.in());
    EXPECT_STREQ(of_proxy.in(), of_object.in());

    const Shop::Item_var again = Shop::Item::_narrow(item.in());
    EXPECT_EQ(again.in(), item.in()) << "a smart proxy in front of a smart proxy";
    const Shop::Relic_var derived = Shop::Relic::_narrow(item.in());
    EXPECT_FALSE(is_smart(derived.in()));
    EXPECT_EQ(derived->tag(), 7);
    EXPECT_EQ(proxies, 1);
}

TEST_F(TaoSmartProxies, AFactoryThatIsNotPermanentGoesWithTheFirstCall)
{
    new SmartItemFactory(0);
    const Shop::Item_var first = Shop::Item::_narrow(object.in());
    const Shop::Item_var second = Shop::Item::_narrow(object.in());
    EXPECT_TRUE(is_smart(second.in()));
    EXPECT_EQ(factories, 1);
    EXPECT_EQ(first->price(), 101);
    EXPECT_EQ(factories, 0);
    const Shop::Item_var third = Shop::Item::_narrow(object.in());
    EXPECT_FALSE(is_smart(third.in()));
    EXPECT_EQ(second->price(), 102);
}

TEST_F(TaoSmartProxies, ThereIsOneFactoryOfAnInterface)
{
    new SmartItemFactory;
    auto* const second = new SmartItemFactory;
    EXPECT_EQ(factories, 1);
    delete second; // the program's right, too
    EXPECT_EQ(factories, 0);
    const Shop::Item_var item = Shop::Item::_narrow(object.in());
    EXPECT_FALSE(is_smart(item.in()));
    Shop::TAO_Shop_Item_PROXY_FACTORY_ADAPTER::instance()->register_proxy_factory(
        new SmartItemFactory);
    EXPECT_EQ(factories, 1) << "registered by its constructor and again";
}

TEST_F(TaoSmartProxies, OfDerivedInterfacesHaveTheOperationsOfAll)
{
    new SmartRelicFactory;
    const Shop::Relic_var one = Shop::Relic::_narrow(object.in());
    ASSERT_TRUE(is_smart(one.in()));
    EXPECT_EQ(one->price(), -1);
    EXPECT_EQ(one->tag(), 7);
    const CORBA::String_var origin = one->origin();
    EXPECT_STREQ(origin.in(), "near Rome");
    const Shop::Item_var base = Shop::Item::_narrow(one.in());
    EXPECT_EQ(base->price(), -1);
}

TEST_F(TaoSmartProxies, AtFileScope)
{
    const PortableServer::Servant_var<BellServant> servant = new BellServant;
    const CORBA::Object_var plain = activate(servant.in());
    auto* const factory = new SmartBellFactory;
    const Bell_var bell = Bell::_narrow(plain.in());
    bell->ring();
    EXPECT_EQ(servant->rung, 2);
    delete factory;
}

TEST_F(TaoSmartProxies, NothingIsMadeOfNothing)
{
    new SmartItemFactory;
    EXPECT_TRUE(CORBA::is_nil(Shop::Item::_narrow(CORBA::Object::_nil())));
    EXPECT_THROW(new SmartItem(Shop::Item::_nil()), CORBA::BAD_PARAM);
}

TEST_F(TaoSmartProxies, AFactoryGoesWhileThreadsNarrow)
{
    std::atomic<int> wrong{0};
    for (int round = 0; round < 30; ++round) {
        new SmartItemFactory(round % 2);
        const auto narrow = [&] {
            for (int call = 0; call < 4; ++call) {
                const Shop::Item_var item = Shop::Item::_unchecked_narrow(object.in());
                if (item->price() <= 100) ++wrong;
            }
        };
        std::thread first(narrow);
        std::thread second(narrow);
        Shop::TAO_Shop_Item_PROXY_FACTORY_ADAPTER::instance()->unregister_proxy_factory();
        first.join();
        second.join();
        EXPECT_EQ(factories, 0);
    }
    EXPECT_EQ(wrong, 0);
}

} // namespace
