// SPDX-License-Identifier: Apache-2.0
//
// A server, a client, or both in one process, in the OMG's mapping alone. `plain server` prints its
// reference; `plain client REFERENCE` and `plain both` end with "ok" and what services the ORB has.
#include "clerk.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <typeinfo>

namespace {

void expect(bool condition, const char* what)
{
    if (condition) return;
    std::cout << "FAILED: " << what << std::endl;
    std::exit(1);
}

void catch_exceptions(Shop::Counter_ptr counter, CORBA::ORB_ptr orb)
{
    try {
        counter->buy("rope", 11);
        expect(false, "buy() throws");
    } catch (const Shop::OutOfStock& exception) {
        expect(std::string(exception.article.in()) == "rope" && exception.left == 10, "OutOfStock");
    }
    try {
        counter->buy("rope", 11);
    } catch (const CORBA::UserException& exception) {
        expect(Shop::OutOfStock::_downcast(&exception) != nullptr, "_downcast");
        expect(typeid(exception) == typeid(Shop::OutOfStock), "typeid of a user exception");
    }
    try {
        counter->buy("nothing", 1);
        expect(false, "buy() throws");
    } catch (const CORBA::BAD_PARAM& exception) {
        expect(exception.minor() == 7, "the minor code of the server's BAD_PARAM");
    }
    try {
        CORBA::Object_var object = orb->string_to_object("nonsense");
        expect(false, "string_to_object() throws");
    } catch (const CORBA::SystemException& exception) {
        expect(typeid(exception) == typeid(CORBA::BAD_PARAM), "typeid of the library's exception");
    }
    try {
        orb->resolve_initial_references("Nobody");
        expect(false, "resolve_initial_references() throws");
    } catch (const std::exception& exception) {
        expect(dynamic_cast<const CORBA::ORB::InvalidName*>(&exception) != nullptr, "InvalidName");
    }
}

void call(Shop::Counter_ptr counter, CORBA::ORB_ptr orb)
{
    expect(counter->_is_a("IDL:Shop/Counter:1.0"), "_is_a");
    expect(counter->buy("lamp", 2) == 25, "buy");
    Shop::Articles_var articles = counter->offered();
    expect(articles->length() == 2, "offered");
    expect(std::string(articles[1].name.in()) == "rope" && articles[1].price == 3, "an article");
    CORBA::Any_var description = counter->describe("kite");
    const Shop::Article* article = nullptr;
    expect(description.in() >>= article, "extraction from an any");
    expect(std::string(article->name.in()) == "kite", "what was in it");
    CORBA::TypeCode_var type = description->type();
    expect(type->equal(Shop::_tc_Article), "its TypeCode");
    catch_exceptions(counter, orb);
}

/// Whether a library that nothing here names is there nevertheless.
void list_services(CORBA::ORB_ptr orb)
{
    CORBA::ORB::ObjectIdList_var names = orb->list_initial_services();
    std::string real_time = "no";
    for (CORBA::ULong i = 0; i < names->length(); ++i)
        if (std::string(names[i].in()) == "RTORB") real_time = "yes";
    std::cout << "ok, real time: " << real_time << std::endl;
}

int serve(CORBA::ORB_ptr orb, bool client_too)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::Servant_var<Clerk> clerk = new Clerk(orb);
    Shop::Counter_var counter = clerk->_this();
    PortableServer::Servant known = poa->reference_to_servant(counter);
    expect(dynamic_cast<Clerk*>(known) == clerk.in(), "dynamic_cast of a servant");
    known->_remove_ref();
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    if (client_too) {
        call(counter, orb); // collocated
        list_services(orb);
    } else {
        CORBA::String_var reference = orb->object_to_string(counter);
        std::cout << reference << std::endl;
        try {
            orb->run();
        } catch (const CORBA::BAD_INV_ORDER&) { // a client has closed it before it ran
        }
    }
    orb->destroy(); // the clerk has a count of it, and it has the clerk
    return 0;
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const std::string role = argc > 1 ? argv[1] : "both";
    if (role != "client") return serve(orb, role == "both");
    CORBA::Object_var object = orb->string_to_object(argv[2]);
    Shop::Counter_var counter = Shop::Counter::_narrow(object);
    expect(!CORBA::is_nil(counter), "_narrow");
    call(counter, orb);
    std::thread([&] { call(counter, orb); }).join();
    list_services(orb);
    if (argc > 3) counter->close();
} catch (const CORBA::Exception& exception) {
    std::cout << "FAILED: " << exception._name() << std::endl;
    return 1;
}
