// SPDX-License-Identifier: Apache-2.0
//
// Contexts: their operations, and context clauses in generated code.
#include "context_skel.h"

#include "kairos/corba/CORBA.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using CORBA::Any;
using CORBA::Context_var;

Any text(const char* value)
{
    Any any;
    any <<= value;
    return any;
}

/// What get_values gives, as "name=value;…".
std::string values(CORBA::Context_ptr context, const char* pattern, const char* scope = "",
                   CORBA::Flags flags = 0)
{
    CORBA::NVList_var list;
    context->get_values(scope, flags, pattern, list.out());
    std::string all;
    for (CORBA::ULong i = 0; i < list->count(); ++i) {
        const char* value = nullptr;
        EXPECT_TRUE(*list->item(i)->value() >>= value);
        all += std::string(list->item(i)->name()) + "=" + value + ";";
    }
    return all;
}

template <typename Function>
CORBA::ULong bad_context(Function&& function)
{
    try {
        function();
    } catch (const CORBA::BAD_CONTEXT& exception) {
        return exception.minor() & 0xFFF;
    }
    return 0;
}

class Greeter : public POA_ContextTest::Loud {
  public:
    char* seen(CORBA::Long number, CORBA::Context_ptr context) override
    {
        EXPECT_EQ(number, 7);
        try {
            return CORBA::string_dup(values(context, "*").c_str());
        } catch (const CORBA::BAD_CONTEXT&) {
            return CORBA::string_dup("nothing");
        }
    }
    void note(CORBA::Context_ptr context) override { noted = values(context, "*"); }
    char* nothing(CORBA::Context_ptr context) override { return seen(7, context); }

    std::string noted;
};

class Contexts : public ::testing::Test {
  protected:
    void SetUp() override
    {
        int argc = 0;
        orb_ = CORBA::ORB_init(argc, nullptr, "Contexts");
        orb_->get_default_context(root_.out());
    }
    void TearDown() override { orb_->destroy(); }

    CORBA::ORB_var orb_;
    Context_var root_;
};

TEST_F(Contexts, ChildrenSeeTheirParents)
{
    root_->set_one_value("user", text("ada"));
    root_->set_one_value("lang", text("en"));
    Context_var child;
    root_->create_child("child", child.out());
    child->set_one_value("lang", text("fr"));
    EXPECT_STREQ(child->context_name(), "child");
    EXPECT_EQ(child->parent(), root_.in());
    EXPECT_EQ(values(child.in(), "*"), "lang=fr;user=ada;");
    EXPECT_EQ(values(child.in(), "user"), "user=ada;");
    EXPECT_EQ(values(child.in(), "*", "", CORBA::CTX_RESTRICT_SCOPE), "lang=fr;");
    Context_var grandchild;
    child->create_child("grandchild", grandchild.out());
    EXPECT_EQ(values(grandchild.in(), "la*", "child"), "lang=fr;");
    EXPECT_EQ(bad_context([&] { (void)values(grandchild.in(), "*", "elsewhere"); }), 1u);
    EXPECT_EQ(bad_context([&] { (void)values(grandchild.in(), "absent"); }), 2u);
    EXPECT_EQ(bad_context([&] { child->delete_values("user"); }), 2u);
    child->delete_values("l*");
    EXPECT_EQ(values(grandchild.in(), "lang"), "lang=en;");
    Context_var same;
    orb_->get_default_context(same.out());
    EXPECT_EQ(same.in(), root_.in());
}

TEST_F(Contexts, OnlyStringsWithNames)
{
    Any number;
    number <<= CORBA::Long{1};
    EXPECT_THROW(root_->set_one_value("n", number), CORBA::BAD_TYPECODE);
    EXPECT_THROW(root_->set_one_value("", text("x")), CORBA::BAD_PARAM);
    EXPECT_THROW(root_->set_one_value("a*", text("x")), CORBA::BAD_PARAM);
    EXPECT_THROW(root_->set_one_value(nullptr, text("x")), CORBA::BAD_PARAM);
    CORBA::NVList_var list;
    orb_->create_list(2, list.out());
    list->add_value("a", text("1"), 0);
    list->add_value("b", number, 0);
    EXPECT_THROW(root_->set_values(list.in()), CORBA::BAD_TYPECODE);
    EXPECT_EQ(bad_context([&] { (void)values(root_.in(), "*"); }), 2u); // none was set
    list->remove(1);
    root_->set_values(list.in());
    EXPECT_EQ(values(root_.in(), "*"), "a=1;");
}

TEST_F(Contexts, ListsKeepTheirItems)
{
    CORBA::NVList_var list;
    orb_->create_list(0, list.out());
    CORBA::NamedValue_ptr first = list->add(CORBA::ARG_IN);
    EXPECT_STREQ(first->name(), "");
    EXPECT_EQ(first->flags(), CORBA::ARG_IN);
    list->add_item_consume(CORBA::string_dup("second"), CORBA::ARG_OUT);
    auto* own = new Any(text("mine"));
    CORBA::NamedValue_ptr third =
        list->add_value_consume(CORBA::string_dup("third"), own, CORBA::ARG_INOUT);
    EXPECT_EQ(third->value(), own);
    EXPECT_EQ(list->count(), 3u);
    EXPECT_EQ(list->item(2), third);
    EXPECT_THROW((void)list->item(3), CORBA::Bounds);
    EXPECT_THROW(list->remove(3), CORBA::Bounds);
    EXPECT_THROW(list->add_item(nullptr, 0), CORBA::BAD_PARAM);
    const CORBA::NamedValue_var kept = CORBA::NamedValue::_duplicate(third);
    list->remove(2);
    EXPECT_STREQ(kept->name(), "third");
    CORBA::NamedValue_var single;
    orb_->create_named_value(single.out());
    EXPECT_STREQ(single->name(), "");
}

TEST_F(Contexts, OperationsTakeWhatTheirClauseAsksFor)
{
    const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    const PortableServer::Servant_var<Greeter> greeter = new Greeter;
    const ContextTest::Loud_var loud = greeter->_this();
    root_->set_one_value("user", text("ada"));
    root_->set_one_value("secret", text("not sent"));
    Context_var child;
    root_->create_child("", child.out());
    child->set_one_value("lang", text("en"));
    child->set_one_value("language", text(std::string(5000, 'e').c_str()));
    CORBA::String_var seen = loud->seen(7, child.in());
    EXPECT_EQ(std::string(seen.in()), "lang=en;language=" + std::string(5000, 'e') + ";user=ada;");
    seen = loud->nothing(child.in());
    EXPECT_STREQ(seen.in(), "nothing");
    seen = loud->seen(7, CORBA::Context::_nil());
    EXPECT_STREQ(seen.in(), "nothing");
    loud->note(child.in());
    EXPECT_EQ(greeter->noted, "user=ada;");
    POA_ContextTest::Loud_tie<Greeter> tie(*greeter.operator->());
    EXPECT_EQ(tie._tied_object(), greeter.operator->());
}

} // namespace
