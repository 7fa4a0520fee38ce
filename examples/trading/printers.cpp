// SPDX-License-Identifier: Apache-2.0
//
// Printers offer what they can; who wants to print asks for one that fits, and calls it. Everybody
// is in one program here: elsewhere the trader is `kairos trade serve`, found by its reference.
#include "printer_skel.h"

#include <kairos/corba/CORBA.h>
#include <kairos/trading/CosTradingDynamic_skel.h>
#include <kairos/trading/service.h>

#include <iostream>
#include <string>

namespace {

using TypeRepository = CosTradingRepos::ServiceTypeRepository;

class Machine : public POA_Printer {
  public:
    Machine(std::string name, CORBA::Long waiting) : name_(std::move(name)), waiting_(waiting) {}

    void print(const char* text) override
    {
        std::cout << name_ << " prints: " << text << '\n';
        ++waiting_;
    }
    CORBA::Long waiting() const { return waiting_; }

  private:
    const std::string name_;
    CORBA::Long waiting_;
};

/// Says how many pages wait for a printer, when the trader asks.
class Waiting : public POA_CosTradingDynamic::DynamicPropEval {
  public:
    explicit Waiting(const Machine& machine) : machine_(machine) {}

    CORBA::Any* evalDP(const char*, CORBA::TypeCode_ptr, const CORBA::Any&) override
    {
        CORBA::Any_var waiting = new CORBA::Any;
        *waiting <<= machine_.waiting();
        return waiting._retn();
    }

  private:
    const Machine& machine_;
};

void define_type(CosTrading::Lookup_ptr trader)
{
    CORBA::Object_var object = trader->type_repos();
    TypeRepository::_var_type types = TypeRepository::_narrow(object);
    TypeRepository::PropStructSeq properties;
    properties.length(3);
    properties[0].name = "name";
    properties[0].value_type = CORBA::TypeCode::_duplicate(CORBA::_tc_string);
    properties[0].mode = TypeRepository::PROP_MANDATORY_READONLY;
    properties[1].name = "floor";
    properties[1].value_type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    properties[1].mode = TypeRepository::PROP_MANDATORY;
    properties[2].name = "waiting";
    properties[2].value_type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    properties[2].mode = TypeRepository::PROP_NORMAL;
    types->add_type("Printer", "IDL:Printer:1.0", properties, TypeRepository::ServiceTypeNameSeq());
}

void offer(CosTrading::Lookup_ptr trader, PortableServer::POA_ptr poa, Machine* machine,
           const char* name, CORBA::Long floor)
{
    PortableServer::ObjectId_var id = poa->activate_object(machine);
    CORBA::Object_var object = poa->id_to_reference(id);
    PortableServer::Servant_var<Waiting> evaluator = new Waiting(*machine);
    CosTradingDynamic::DynamicProp waiting;
    waiting.eval_if = evaluator->_this();
    waiting.returned_type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    CosTrading::PropertySeq properties;
    properties.length(3);
    properties[0].name = "name";
    properties[0].value <<= name;
    properties[1].name = "floor";
    properties[1].value <<= floor;
    properties[2].name = "waiting";
    properties[2].value <<= waiting; // changes all the time: the trader is to ask
    CosTrading::Register_var offers = trader->register_if();
    CORBA::String_var ignored = offers->_cxx_export(object, "Printer", properties);
}

/// Prints at the best printer that fulfils the constraint.
void print(CosTrading::Lookup_ptr trader, const char* constraint, const char* text)
{
    CosTrading::Lookup::SpecifiedProps wanted;
    wanted._d(CosTrading::Lookup::none);
    CosTrading::OfferSeq_var offers;
    CosTrading::OfferIterator_var rest;
    CosTrading::PolicyNameSeq_var limits;
    trader->query("Printer", constraint, "min waiting", CosTrading::PolicySeq(), wanted, 1,
                  offers.out(), rest.out(), limits.out());
    if (!CORBA::is_nil(rest)) rest->destroy();
    if (offers->length() == 0) {
        std::cout << "nobody prints: " << text << '\n';
        return;
    }
    Printer_var printer = Printer::_narrow(offers[0].reference);
    printer->print(text);
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    {
        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        kairos::trading::TradingService service(orb);
        CosTrading::Lookup_var trader = service.lookup();
        define_type(trader);
        PortableServer::Servant_var<Machine> busy = new Machine("the busy one", 2);
        PortableServer::Servant_var<Machine> idle = new Machine("the idle one", 1);
        PortableServer::Servant_var<Machine> upstairs = new Machine("the one upstairs", 0);
        offer(trader, poa, busy.in(), "busy", 1);
        offer(trader, poa, idle.in(), "idle", 1);
        offer(trader, poa, upstairs.in(), "upstairs", 2);
        print(trader, "floor == 1", "a letter");
        print(trader, "floor == 1 and waiting < 2", "a memo");
        print(trader, "floor >= 2 and name != 'idle'", "a poster");
    }
    orb->destroy();
} catch (const CORBA::Exception& exception) {
    std::cerr << "trading_printers: " << exception.what() << '\n';
    return 1;
}
