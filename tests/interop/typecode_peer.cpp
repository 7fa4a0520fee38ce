// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes as arguments, members, elements, results: without an argument a server, which prints
// its reference and ends with its input; with one a client, which prints a line a check. Plain
// mapping code, for any ORB.
#include "typecode_peer.h"

#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

using Types = std::map<std::string, CORBA::TypeCode_var>;

/// A value type that contains itself, one that inherits it, and a box: made, since not every
/// compiler has code for their declarations.
void add_values(CORBA::ORB_ptr orb, Types& types)
{
    const CORBA::TypeCode_var place_holder = orb->create_recursive_tc("IDL:kairos.test/Link:1.0");
    CORBA::ValueMemberSeq members;
    members.length(2);
    members[0].name = CORBA::string_dup("next");
    members[0].type = place_holder;
    members[0].access = CORBA::PUBLIC_MEMBER;
    members[1].name = CORBA::string_dup("place");
    members[1].type = CORBA::TypeCode::_duplicate(TypeCodes::_tc_Point);
    members[1].access = CORBA::PRIVATE_MEMBER;
    const CORBA::TypeCode_var link = orb->create_value_tc("IDL:kairos.test/Link:1.0", "Link",
                                                          CORBA::VM_NONE, CORBA::_tc_null, members);
    types["Link"] = link;
    members.length(1);
    members[0].name = CORBA::string_dup("links");
    members[0].type = orb->create_sequence_tc(0, link.in());
    types["Special"] = orb->create_value_tc("IDL:kairos.test/Special:1.0", "Special",
                                            CORBA::VM_TRUNCATABLE, link.in(), members);
    types["Box"] = orb->create_value_box_tc("IDL:kairos.test/Box:1.0", "Box", TypeCodes::_tc_Longs);
}

Types all_types(CORBA::ORB_ptr orb)
{
    Types types;
    const auto add = [&types](const char* name, CORBA::TypeCode_ptr type) {
        types[name] = CORBA::TypeCode::_duplicate(type);
    };
    add("null", CORBA::_tc_null);
    add("void", CORBA::_tc_void);
    add("short", CORBA::_tc_short);
    add("long", CORBA::_tc_long);
    add("ushort", CORBA::_tc_ushort);
    add("ulong", CORBA::_tc_ulong);
    add("longlong", CORBA::_tc_longlong);
    add("ulonglong", CORBA::_tc_ulonglong);
    add("float", CORBA::_tc_float);
    add("double", CORBA::_tc_double);
    add("boolean", CORBA::_tc_boolean);
    add("char", CORBA::_tc_char);
    add("wchar", CORBA::_tc_wchar);
    add("octet", CORBA::_tc_octet);
    add("any", CORBA::_tc_any);
    add("TypeCode", CORBA::_tc_TypeCode);
    add("Object", CORBA::_tc_Object);
    add("string", CORBA::_tc_string);
    add("wstring", CORBA::_tc_wstring);
    add("Color", TypeCodes::_tc_Color);
    add("Colour", TypeCodes::_tc_Colour);
    add("Name", TypeCodes::_tc_Name);
    add("WideName", TypeCodes::_tc_WideName);
    add("Price", TypeCodes::_tc_Price);
    add("Longs", TypeCodes::_tc_Longs);
    add("LongLists", TypeCodes::_tc_LongLists);
    add("Matrix", TypeCodes::_tc_Matrix);
    add("Point", TypeCodes::_tc_Point);
    add("Segment", TypeCodes::_tc_Segment);
    add("Nodes", TypeCodes::_tc_Nodes);
    add("Node", TypeCodes::_tc_Node);
    add("Tree", TypeCodes::_tc_Tree);
    add("Number", TypeCodes::_tc_Number);
    add("Letter", TypeCodes::_tc_Letter);
    add("Flag", TypeCodes::_tc_Flag);
    add("Count", TypeCodes::_tc_Count);
    add("Wrong", TypeCodes::_tc_Wrong);
    add("Empty", TypeCodes::_tc_Empty);
    add("Held", TypeCodes::_tc_Held);
    add("Mirror", TypeCodes::_tc_Mirror);
    add("Inner", TypeCodes::Mirror::_tc_Inner);
    add_values(orb, types);
    return types;
}

class Mirror : public POA_TypeCodes::Mirror {
  public:
    explicit Mirror(Types types) : types_(std::move(types)), kept_(types_["long"]) {}

    CORBA::Boolean is(const char* name, CORBA::TypeCode_ptr type) override
    {
        return types_.at(name)->equal(type);
    }
    CORBA::TypeCode_ptr own(const char* name) override
    {
        return CORBA::TypeCode::_duplicate(types_.at(name).in());
    }
    CORBA::TypeCode_ptr turn(CORBA::TypeCode_ptr a, CORBA::TypeCode_ptr& b,
                             CORBA::TypeCode_out c) override
    {
        c = CORBA::TypeCode::_duplicate(a);
        CORBA::TypeCode_var before = b;
        b = CORBA::TypeCode::_duplicate(a);
        return before._retn();
    }
    TypeCodes::Held* hold(const TypeCodes::Held& given) override
    {
        return new TypeCodes::Held(given);
    }
    CORBA::TypeCode_ptr kept() override { return CORBA::TypeCode::_duplicate(kept_.in()); }
    void kept(CORBA::TypeCode_ptr type) override { kept_ = CORBA::TypeCode::_duplicate(type); }

  private:
    Types types_;
    CORBA::TypeCode_var kept_;
};

int serve(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    PortableServer::Servant_var<Mirror> servant = new Mirror(all_types(orb));
    TypeCodes::Mirror_var mirror = servant->_this();
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::String_var reference = orb->object_to_string(mirror.in());
    std::cout << reference.in() << std::endl;
    std::thread input([orb] {
        char octet;
        while (read(STDIN_FILENO, &octet, 1) > 0) {
        }
        orb->shutdown(false);
    });
    orb->run();
    input.join();
    return 0;
}

class Client {
  public:
    Client(CORBA::ORB_ptr orb, const char* reference) : types_(all_types(orb))
    {
        CORBA::Object_var object = orb->string_to_object(reference);
        mirror_ = TypeCodes::Mirror::_narrow(object.in());
    }

    int run()
    {
        for (const auto& [name, type] : types_) {
            CORBA::TypeCode_ptr mine = type.in();
            check("is " + name, [&, &n = name] { return mirror_->is(n.c_str(), mine); });
            check("own " + name, [&, &n = name] {
                CORBA::TypeCode_var theirs = mirror_->own(n.c_str());
                return mine->equal(theirs.in()) && theirs->equal(mine) && theirs->equivalent(mine);
            });
        }
        check("parameters", [this] { return parameters(); });
        check("members", [this] { return members(); });
        check("attribute", [this] {
            mirror_->kept(TypeCodes::_tc_Tree);
            CORBA::TypeCode_var kept = mirror_->kept();
            return kept->equal(TypeCodes::_tc_Tree);
        });
        return failures_;
    }

  private:
    void check(const std::string& name, const std::function<bool()>& holds)
    {
        bool good = false;
        std::string why;
        try {
            good = holds();
        } catch (const CORBA::SystemException& exception) {
            why = std::string(": ") + exception._name() + " " + std::to_string(exception.minor());
        }
        std::cout << (good ? "ok " : "FAILED ") << name << why << '\n';
        failures_ += good ? 0 : 1;
    }

    bool parameters()
    {
        CORBA::TypeCode_var b = CORBA::TypeCode::_duplicate(TypeCodes::_tc_Segment);
        CORBA::TypeCode_var c;
        CORBA::TypeCode_var result = mirror_->turn(TypeCodes::_tc_Node, b.inout(), c.out());
        return result->equal(TypeCodes::_tc_Segment) && b->equal(TypeCodes::_tc_Node) &&
               c->equal(TypeCodes::_tc_Node);
    }

    bool members()
    {
        TypeCodes::Held held;
        held.name = CORBA::string_dup("held");
        held.type = CORBA::TypeCode::_duplicate(TypeCodes::_tc_Nodes);
        held.more.length(3);
        held.more[0] = CORBA::TypeCode::_duplicate(TypeCodes::_tc_Segment);
        held.more[1] = CORBA::TypeCode::_duplicate(TypeCodes::_tc_Segment);
        held.more[2] = CORBA::TypeCode::_duplicate(TypeCodes::_tc_Tree);
        TypeCodes::Held_var back = mirror_->hold(held);
        CORBA::TypeCode_ptr type = back->type.in();
        CORBA::TypeCode_ptr second = back->more[1];
        CORBA::TypeCode_ptr third = back->more[2];
        return type->equal(TypeCodes::_tc_Nodes) && second->equal(TypeCodes::_tc_Segment) &&
               third->equal(TypeCodes::_tc_Tree);
    }

    Types types_;
    TypeCodes::Mirror_var mirror_;
    int failures_ = 0;
};

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const int failures = argc > 1 ? Client(orb.in(), argv[1]).run() : serve(orb.in());
    orb->destroy();
    return failures == 0 ? 0 : 1;
} catch (const CORBA::Exception& exception) {
    std::cerr << "typecode_peer: " << exception._name() << '\n';
    return 1;
}
