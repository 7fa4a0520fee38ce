// SPDX-License-Identifier: Apache-2.0
//
// Object reference factories and templates (CORBA 3.3 part 1, 16.5): who makes references in place
// of the POA, and templates that travel.
#include "tests/interceptors/ior_fixture.h"

#include "kairos/interceptors/KairosReferences.h"

namespace kairos::orb_testing {
namespace {

/// Makes what the template makes, but says another interface; counts.
class Renaming final : public PI::ObjectReferenceFactory, public CORBA::DefaultValueRefCountBase {
  public:
    explicit Renaming(PI::ObjectReferenceTemplate* made) : template_(made) { made->_add_ref(); }
    CORBA::Object_ptr make_object(const char* repository_id, const PI::ObjectId& id) override
    {
        const std::string asked = repository_id;
        if (asked == "IDL:Refused:1.0") throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_NO);
        return template_->make_object((asked + "+").c_str(), id);
    }
    CORBA::ValueBase* _copy_value() override { return new Renaming(template_.in()); }
    const values::Type& _kairos_type() const override
    {
        return PI::ObjectReferenceFactory::_kairos_value_type;
    }
    void _kairos_encode(cdr::Writer&) const override {}
    void _kairos_decode(cdr::Reader&) override {}

  private:
    ~Renaming() override = default;
    PI::ObjectReferenceTemplate_var template_;
};

[[nodiscard]] std::string type_of(CORBA::Object_ptr object)
{
    return object->_kairos_reference()->ior().type_id;
}

TEST(ReferenceFactories, MakeAllReferencesOfThePoa)
{
    Record record;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<NewProbe>(
            info, "A", &record,
            {{"establish",
              [](PI::IORInfo_ptr ior) { ior->add_ior_component(component_of(mine, "A")); }},
             {"established", [](PI::IORInfo_ptr ior) {
                  const PI::ObjectReferenceTemplate_var made = ior->adapter_template();
                  const PI::ObjectReferenceFactory_var factory = new Renaming(made.in());
                  ior->current_factory(factory.in());
                  const PI::ObjectReferenceFactory_var now = ior->current_factory();
                  EXPECT_EQ(now.in(), factory.in());
              }}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    const PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
    const PortableServer::Servant_var<Servant> servant = new Servant;
    const PortableServer::ObjectId_var id = root->activate_object(servant);
    const CORBA::Object_var by_id = root->id_to_reference(id.in());
    EXPECT_EQ(type_of(by_id.in()), std::string(target_id) + "+");
    EXPECT_EQ(said(by_id.in()), "A");
    EXPECT_EQ(type_of(CORBA::Object_var(root->servant_to_reference(servant)).in()),
              std::string(target_id) + "+");
    EXPECT_EQ(type_of(CORBA::Object_var(root->create_reference("IDL:New:1.0")).in()),
              "IDL:New:1.0+");
    EXPECT_THROW(CORBA::Object_var(root->create_reference("IDL:Refused:1.0")),
                 CORBA::NO_PERMISSION);
    // They are references of this POA as others are.
    const PortableServer::ObjectId_var again = root->reference_to_id(by_id.in());
    EXPECT_EQ(text_of(again.in()), text_of(id.in()));
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(by_id.in());
    EXPECT_EQ(target->add(1, 2), 3);
}

/// Makes an ORB whose POAs leave their templates in `templates`, by their names.
using Templates = std::map<std::string, PI::ObjectReferenceTemplate_var>;
[[nodiscard]] std::function<void(PI::ORBInitInfo_ptr)> keeps(Templates& templates, Record& record)
{
    return [&](PI::ORBInitInfo_ptr info) {
        const auto keep = [&](PI::IORInfo_ptr ior) {
            const PI::ObjectReferenceTemplate_var made = ior->adapter_template();
            const CORBA::StringSeq_var name = made->adapter_name();
            templates[name_of(name.in())] = made;
        };
        const auto add = [](PI::IORInfo_ptr ior) {
            ior->add_ior_component(component_of(mine, "A"));
        };
        add_ior<NewProbe>(info, "A", &record, {{"establish", add}, {"established", keep}});
    };
}

TEST(ReferenceTemplates, SayWhoseTheyAre)
{
    Record record;
    Templates templates;
    const Plan plan(keeps(templates, record));
    const Server server({"-ORBServerId", "dome"});
    const PortableServer::POA_var root = server.root();
    const PortableServer::POA_var child = child_of(root.in(), "child");
    const PortableServer::POA_var deep = child_of(child.in(), "deep/er");
    ASSERT_EQ(templates.size(), 3U);
    PI::ObjectReferenceTemplate* const made = templates.at("RootPOA/child/deep/er").in();
    const CORBA::StringSeq_var name = made->adapter_name();
    EXPECT_EQ(name->length(), 3U);
    const CORBA::String_var server_id = made->server_id();
    const CORBA::String_var orb_id = made->orb_id();
    EXPECT_STREQ(server_id.in(), "dome");
    EXPECT_STREQ(orb_id.in(), "ior server");
}

/// Sends a template to another ORB and back into a value.
[[nodiscard]] PI::ObjectReferenceTemplate* sent_to(CORBA::ORB_ptr orb,
                                                   PI::ObjectReferenceTemplate* made)
{
    CORBA::Any any;
    any <<= made;
    const CORBA::Object_var object = orb->resolve_initial_references("CodecFactory");
    const IOP::CodecFactory_var factory = IOP::CodecFactory::_narrow(object.in());
    const IOP::Codec_var codec =
        factory->create_codec({IOP::ENCODING_CDR_ENCAPS, CORBA::Octet{1}, CORBA::Octet{2}});
    const CORBA::OctetSeq_var octets = codec->encode_value(any);
    const CORBA::Any_var read = codec->decode_value(octets.in(), PI::_tc_ObjectReferenceTemplate);
    PI::ObjectReferenceTemplate* value = nullptr;
    EXPECT_TRUE(read.in() >>= value);
    value->_add_ref();
    return value;
}

TEST(ReferenceTemplates, MakeReferencesThatThePoaServes)
{
    struct Kind {
        const char* name;
        bool own_ids;
        bool persistent;
        std::vector<std::string> options;
    };
    const std::vector<Kind> kinds{
        {"system", false, false, {}},
        {"system hash", false, false, {"-ORBDemux", "hash"}},
        {"user", true, false, {}},
        {"persistent", true, true, {}},
        {"plain", true, true, {"-ORBPlainKeys", "1"}},
    };
    for (const Kind& kind : kinds) {
        SCOPED_TRACE(kind.name);
        Record record;
        Templates templates;
        const Plan plan(keeps(templates, record));
        const Server server(kind.options);
        const PortableServer::POA_var root = server.root();
        const PortableServer::POAManager_var manager = root->the_POAManager();
        manager->activate();
        const PortableServer::POA_var poa =
            child_of(root.in(), "poa",
                     kind.own_ids ? user_ids(root.in(), kind.persistent) : CORBA::PolicyList());
        const PortableServer::Servant_var<Servant> servant = new Servant;
        PortableServer::ObjectId_var id;
        if (kind.own_ids) {
            id = PortableServer::string_to_ObjectId("a/b%c");
            poa->activate_object_with_id(id.in(), servant);
        } else {
            id = poa->activate_object(servant);
        }
        const PI::ObjectId octets(id->length(), id->length(), id->get_buffer(), false);
        PI::ObjectReferenceTemplate* const here = templates.at("RootPOA/poa").in();
        const CORBA::Object_var of_poa = poa->id_to_reference(id.in());
        const CORBA::Object_var made = here->make_object(target_id, octets);
        EXPECT_TRUE(made->_is_equivalent(of_poa.in()));
        EXPECT_EQ(said(made.in()), "A");
        EXPECT_EQ(type_of(made.in()), target_id);

        // In another process there is no POA.
        const PI::ObjectReferenceTemplate_var there = sent_to(server.orb(), here);
        EXPECT_NE(there.in(), here);
        const CORBA::Object_var elsewhere = there->make_object(target_id, octets);
        EXPECT_EQ(said(elsewhere.in()), "A");
        const PortableServer::ObjectId_var again = poa->reference_to_id(elsewhere.in());
        EXPECT_EQ(text_of(again.in()), text_of(id.in()));
        for (const CORBA::Object_var& object : {made, elsewhere}) {
            const Probe::Target_var target = Probe::Target::_unchecked_narrow(object.in());
            EXPECT_EQ(target->add(1, 2), 3);
        }
        const CORBA::StringSeq_var name = there->adapter_name();
        EXPECT_EQ(name_of(name.in()), "RootPOA/poa");
        poa->destroy(false, true);
        const CORBA::Object_var late = here->make_object(target_id, octets);
        const Probe::Target_var target = Probe::Target::_unchecked_narrow(late.in());
        EXPECT_THROW((void)target->add(1, 2), CORBA::OBJECT_NOT_EXIST);
    }
}

TEST(ReferenceTemplates, MakeNoReferencesToIdsThatThePoaHasNotMade)
{
    Record record;
    Templates templates;
    const Plan plan(keeps(templates, record));
    const Server server;
    const PortableServer::POA_var root = server.root();
    PI::ObjectReferenceTemplate* const made = templates.at("RootPOA").in();
    EXPECT_EQ(standard_outcome([&] {
                  const CORBA::Object_var object = made->make_object(target_id, id_of("mine"));
              }),
              "BAD_PARAM 14");
    EXPECT_EQ(standard_outcome([&] {
                  const CORBA::Object_var object = made->make_object(nullptr, id_of("mine"));
              }),
              "BAD_PARAM 0");
}

/// What a peer may send that has never seen a POA of Kairos.
class Forged final : public OBV_KairosReferences::Template, public CORBA::DefaultValueRefCountBase {
  public:
    explicit Forged(CORBA::Object_ptr object)
    {
        sample(object);
        places_are_ids(true);
    }
    char* server_id() override { return CORBA::string_dup(""); }
    char* orb_id() override { return CORBA::string_dup(""); }
    PI::AdapterName* adapter_name() override { return new PI::AdapterName; }
    CORBA::Object_ptr make_object(const char*, const PI::ObjectId&) override { return nullptr; }

  private:
    ~Forged() override = default;
};

TEST(ReferenceTemplates, OfForeignersMakeReferencesOrThrow)
{
    Record record;
    Templates templates;
    const Plan plan(keeps(templates, record));
    const Server server;
    const auto made_by = [&](CORBA::Object_ptr sample, const std::string& id) {
        const PI::ObjectReferenceTemplate_var forged = new Forged(sample);
        const PI::ObjectReferenceTemplate_var read = sent_to(server.orb(), forged.in());
        const CORBA::StringSeq_var name = read->adapter_name();
        EXPECT_EQ(name->length(), 0U);
        const CORBA::Object_var object = read->make_object(target_id, id_of(id));
        std::string key;
        for (const ior::TaggedProfile& profile : object->_kairos_reference()->ior().profiles)
            key += as_text(ior::decode_iiop(profile.data)->object_key);
        return key;
    };
    const auto sample_of = [&](const std::string& url) {
        return server.orb()->string_to_object(url.c_str());
    };
    EXPECT_EQ(standard_outcome([&] { (void)made_by(nullptr, "x"); }), "MARSHAL 0");
    const CORBA::Object_var foreign = sample_of("corbaloc::somewhere:1/key");
    EXPECT_EQ(made_by(foreign.in(), "x"), "keyx");
    EXPECT_EQ(made_by(foreign.in(), ""), "key");
    const CORBA::Object_var empty = sample_of("corbaloc::somewhere:1/");
    EXPECT_EQ(made_by(empty.in(), std::string(12, 'x')), std::string(12, 'x'));
    const CORBA::Object_var malformed = // an IIOP profile of one octet
        sample_of("IOR:010000000100000000000000010000000000000001000000ff000000");
    EXPECT_EQ(standard_outcome([&] { (void)made_by(malformed.in(), "x"); }), "MARSHAL 0");
}

} // namespace
} // namespace kairos::orb_testing
