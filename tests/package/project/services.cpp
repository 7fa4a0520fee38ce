// SPDX-License-Identifier: Apache-2.0
//
// What is in the other libraries: a call without stubs, the Naming Service and its server,
// events, rules who may call, Real-Time CORBA. `services REFERENCE` ends with "ok".
#include "shop.h"

#include <kairos/constraints/index.h>
#include <kairos/corba/CORBA.h>
#include <kairos/events/service.h>
#include <kairos/eventstore/sqlite_store.h>
#include <kairos/gateway/gateway.h>
#include <kairos/journal/open_store.h>
#include <kairos/logs/service.h>
#include <kairos/nameserver/service.h>
#include <kairos/nameserver/sqlite_store.h>
#include <kairos/naming/CosNaming.h>
#include <kairos/nats/federation.h>
#include <kairos/notification/service.h>
#include <kairos/properties/service.h>
#include <kairos/repository/repository.h>
#include <kairos/rtcorba/RTPortableServer.h>
#include <kairos/rtevents/channel.h>
#include <kairos/trading/service.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

void expect(bool condition, const char* what)
{
    if (condition) return;
    std::cout << "FAILED: " << what << std::endl;
    std::exit(1);
}

void call_without_stub(CORBA::Object_ptr object)
{
    CORBA::Request_var request = object->_request("buy");
    request->add_in_arg("name") <<= "lamp";
    request->add_in_arg("count") <<= CORBA::Long{2};
    request->set_return_type(CORBA::_tc_double);
    request->exceptions()->add(Shop::_tc_OutOfStock);
    request->invoke();
    CORBA::Double price = 0;
    expect((request->return_value() >>= price) && price == 25, "a call without a stub");

    request = object->_request("buy");
    request->add_in_arg("name") <<= "lamp";
    request->add_in_arg("count") <<= CORBA::Long{12};
    request->set_return_type(CORBA::_tc_double);
    request->exceptions()->add(Shop::_tc_OutOfStock);
    request->invoke();
    auto* unknown = CORBA::UnknownUserException::_downcast(request->env()->exception());
    const Shop::OutOfStock* exception = nullptr;
    expect(unknown != nullptr && (unknown->exception() >>= exception) && exception->left == 10,
           "its exception");
}

void find_by_name(CORBA::ORB_ptr orb, CORBA::Object_ptr object, const std::string& store)
{
    auto names = kairos::nameserver::open_sqlite_store({.path = store});
    expect(names.ok(), "a store of names");
    kairos::nameserver::NamingService service(orb, std::move(names).value());
    CosNaming::NamingContextExt_var root = service.root();
    CosNaming::Name_var name = root->to_name("shop.object");
    root->rebind(name, object);
    CORBA::Object_var found = root->resolve(name);
    Shop::Counter_var counter = Shop::Counter::_narrow(found);
    expect(counter->buy("lamp", 1) == 12.5, "what a name leads to");
    root->unbind(name);
    try {
        found = root->resolve(name);
        expect(false, "resolve() throws");
    } catch (const CosNaming::NamingContext::NotFound& exception) {
        expect(exception.why == CosNaming::NamingContext::missing_node, "NotFound");
    }
}

void pass_notification(CORBA::ORB_ptr orb)
{
    kairos::notification::NotificationService service(orb);
    const KairosNotification::Channel_var channel = service.create_channel("Stock");
    const CosNotifyChannelAdmin::ConsumerAdmin_var consumers = channel->default_consumer_admin();
    CosNotifyChannelAdmin::ProxyID id = 0;
    const CosNotifyChannelAdmin::ProxySupplier_var from =
        consumers->obtain_notification_pull_supplier(CosNotifyChannelAdmin::ANY_EVENT, id);
    try {
        CosNotification::QoSProperties qos;
        qos.length(1);
        qos[0].name = CosNotification::ConnectionReliability;
        qos[0].value <<= CosNotification::Persistent;
        from->set_qos(qos);
        expect(false, "set_qos() throws");
    } catch (const CosNotification::UnsupportedQoS& exception) {
        expect(exception.qos_err.length() == 1, "what a notification channel does not promise");
    }
}

void keep_no_notification()
{
    const auto store = kairos::eventstore::open_sqlite_store({.path = "/nowhere/at/all"});
    expect(!store, "a store where there is no folder");
}

void keep_no_properties()
{
    const auto store =
        kairos::journal::open_store("/nowhere/at/all", kairos::properties::store_kind);
    expect(!store, "a store of properties where there is no folder");
}

void pass_event(CORBA::ORB_ptr orb)
{
    kairos::events::EventService service(orb);
    const KairosEvents::Channel_var channel = service.create_channel("Sales");
    const CosEventChannelAdmin::ConsumerAdmin_var consumers = channel->for_consumers();
    const CosEventChannelAdmin::ProxyPullSupplier_var from = consumers->obtain_pull_supplier();
    from->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    const CosEventChannelAdmin::SupplierAdmin_var suppliers = channel->for_suppliers();
    const CosEventChannelAdmin::ProxyPushConsumer_var to = suppliers->obtain_push_consumer();
    to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    CORBA::Any sale;
    sale <<= "lamp";
    to->push(sale);
    const CORBA::Any_var event = from->pull();
    const char* name = nullptr;
    expect((event.in() >>= name) && std::string(name) == "lamp", "what a channel passes on");
}

void join_channels(CORBA::ORB_ptr orb)
{
    expect(kairos::nats::Federation::subject_of("Sales") == "kairos.events.Sales", "a subject");
    bool is_refused = false;
    try {
        const kairos::nats::Federation bus(orb, {.servers = "nowhere"});
    } catch (const CORBA::BAD_PARAM&) {
        is_refused = true;
    }
    expect(is_refused, "what is no NATS server");
}

void watch_stock(CORBA::ORB_ptr orb)
{
    const kairos::rtevents::RealTimeEventChannel made(orb);
    const RtecEventChannelAdmin::EventChannel_var channel = made.reference();
    const RtecEventChannelAdmin::ConsumerAdmin_var consumers = channel->for_consumers();
    const RtecEventChannelAdmin::ProxyPushSupplier_var from = consumers->obtain_push_supplier();
    try {
        from->connect_push_consumer(RtecEventComm::PushConsumer::_nil(), {});
        expect(false, "connect_push_consumer() throws");
    } catch (const CORBA::BAD_PARAM&) {
        from->disconnect_push_supplier();
    }
}

void describe_shop(CORBA::ORB_ptr orb)
{
    const kairos::properties::PropertyService service(orb);
    const CosPropertyService::PropertySetDefFactory_var factory = service.def_factory();
    const CosPropertyService::PropertySetDef_var shop = factory->create_propertysetdef();
    CORBA::Any street;
    street <<= "Market Street";
    shop->define_property("street", street);
    expect(shop->get_number_of_properties() == 1, "a set of properties");
}

void find_offers(CORBA::ORB_ptr orb)
{
    const kairos::trading::TradingService service(orb);
    const CosTrading::Lookup_var lookup = service.lookup();
    const CORBA::Object_var object = lookup->type_repos();
    using Types = CosTradingRepos::ServiceTypeRepository;
    const Types::_var_type types = Types::_narrow(object);
    types->add_type("Shop", "", Types::PropStructSeq(), Types::ServiceTypeNameSeq());
    const CosTrading::Register_var offers = lookup->register_if();
    const CORBA::String_var id = offers->_cxx_export(lookup, "Shop", CosTrading::PropertySeq());
    CosTrading::OfferSeq_var found;
    CosTrading::OfferIterator_var rest;
    CosTrading::PolicyNameSeq_var limits;
    lookup->query("Shop", "not exist rent", "first", CosTrading::PolicySeq(),
                  CosTrading::Lookup::SpecifiedProps(), 10, found.out(), rest.out(), limits.out());
    expect(found->length() == 1, "what a trader finds");
}

void keep_sales(CORBA::ORB_ptr orb)
{
    const kairos::logs::LogService service(orb);
    const DsLogAdmin::BasicLogFactory_var factory = service.basic_logs();
    DsLogAdmin::LogId id = 0;
    const DsLogAdmin::BasicLog_var log = factory->create(DsLogAdmin::halt, 0, id);
    DsLogAdmin::Anys sales;
    sales.length(1);
    sales[0] <<= "lamp";
    log->write_records(sales);
    expect(log->match("EXTENDED_TCL", "$.info == 'lamp'") == 1, "what a log has");
}

void filter_events()
{
    namespace constraints = kairos::constraints;
    auto constraint =
        constraints::Constraint::parse("'am' ~ $ and $ == 'lamp'", constraints::Language::extended);
    expect(constraint.ok(), "a constraint");
    constraints::ConstraintIndex index;
    expect(index.add(7, *constraint), "an index of constraints");
    CORBA::Any sale;
    sale <<= "lamp";
    const constraints::AnyEvent event(sale);
    constraints::Evaluator evaluator;
    evaluator.look_at(event);
    std::vector<constraints::ConstraintIndex::Id> found;
    expect(index.match(evaluator, found) == 1 && found.size() == 1, "an event that matches");
}

void define_types(CORBA::ORB_ptr orb)
{
    const kairos::repository::InterfaceRepository types(orb);
    CORBA::Repository_var repository = types.reference();
    CORBA::ModuleDef_var shop = repository->create_module("IDL:Shop:1.0", "Shop", "1.0");
    CORBA::Contained_var found = repository->lookup_id("IDL:Shop:1.0");
    expect(found->def_kind() == CORBA::dk_Module, "what a repository has");
}

class KnownCounter final : public kairos::gateway::Interfaces {
  public:
    std::shared_ptr<const kairos::gateway::Interface> interface_of(CORBA::Object_ptr) override
    {
        auto counter = std::make_shared<kairos::gateway::Interface>();
        kairos::gateway::Operation buy(CORBA::_tc_double);
        buy.add(kairos::gateway::Operation::Direction::in, CORBA::_tc_string);
        buy.add(kairos::gateway::Operation::Direction::in, CORBA::_tc_long);
        counter->operations.emplace("buy", std::move(buy));
        return counter;
    }
    CORBA::TypeCode_ptr type(std::string_view) override { return CORBA::TypeCode::_nil(); }
};

void lead_to(CORBA::ORB_ptr orb, CORBA::Object_ptr object)
{
    KnownCounter known;
    kairos::gateway::Gateway gateway(orb, known);
    const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    const CORBA::Object_var through = gateway.publish(object);
    const Shop::Counter_var counter = Shop::Counter::_unchecked_narrow(through.in());
    expect(counter->buy("lamp", 1) == 12.5, "a call through a gateway");
}

void use_real_time(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("RTORB");
    RTCORBA::RTORB_var rtorb = RTCORBA::RTORB::_narrow(object);
    RTCORBA::Mutex_var mutex = rtorb->create_mutex();
    mutex->lock();
    mutex->unlock();
    rtorb->destroy_mutex(mutex);
    const RTCORBA::ThreadpoolId pool = rtorb->create_threadpool(0, 1, 0, 0, false, 0, 0);
    rtorb->destroy_threadpool(pool);
    try {
        rtorb->destroy_threadpool(pool);
        expect(false, "destroy_threadpool() throws");
    } catch (const RTCORBA::RTORB::InvalidThreadpool&) {
    }
}

/// An ORB knows rules where their library is, which no header of this program tells of.
void heed_rules()
{
    std::string arguments[] = {"services", "-ORBAccess", "/nowhere/rules.toml"};
    char* pointers[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
    int count = 3;
    try {
        CORBA::ORB_var orb = CORBA::ORB_init(count, pointers, "rules");
        expect(false, "rules that are not there");
    } catch (const CORBA::BAD_PARAM& exception) {
        const std::string said = exception.what();
        expect(said.find("it cannot be read") != std::string::npos, said.c_str());
    }
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    call_without_stub(object);
    use_real_time(orb); // thread pools are for an ORB that does not serve yet
    find_by_name(orb, object, argv[2]);
    lead_to(orb, object);
    filter_events();
    pass_event(orb);
    join_channels(orb);
    pass_notification(orb);
    keep_no_notification();
    keep_no_properties();
    watch_stock(orb);
    describe_shop(orb);
    find_offers(orb);
    keep_sales(orb);
    define_types(orb);
    heed_rules();
    orb->destroy();
    std::cout << "ok" << std::endl;
} catch (const CORBA::Exception& exception) {
    std::cout << "FAILED: " << exception._name() << std::endl;
    return 1;
}
