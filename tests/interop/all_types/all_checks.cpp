// SPDX-License-Identifier: Apache-2.0
#include "all_checks.h"

#include "all_kinds.h"
#include "all_servant.h"

namespace all {
namespace {

constexpr int rounds = 4; // with other values

void expect_same(const std::string& expected, const std::string& actual, const char* what)
{
    if (expected != actual)
        throw std::runtime_error(std::string(what) + " is " + actual.substr(0, 300) +
                                 ", expected " + expected.substr(0, 300));
}
void expect(bool condition, const char* what)
{
    if (!condition) throw std::runtime_error(std::string("does not hold: ") + what);
}

// --- how a type is passed ------------------------------------------------------------------------
// One class a type: how to call the operations for it with values that own what they hold, and how
// to move these in and out of an Any.

/// What is the same for all; `Of` is the class of the type, `Held` what owns a value.
template <typename Of, typename Held>
struct Case {
    using Holder = Held;
    static std::string text(const Pool& pool, const Holder& holder)
    {
        return describe(pool, in_of(holder));
    }
    static Holder make(Context& context, bool in_any = false)
    {
        Filler filler(context.pool, ++context.seed, in_any);
        Holder holder{};
        Of::fill(filler, holder);
        return holder;
    }
};

#define CALLS(T)                                                                                   \
    using Raised = All::T##_raised;                                                                \
    static constexpr const char* echo_name = "echo_" #T;                                           \
    static constexpr const char* raise_name = "raise_" #T;                                         \
    static CORBA::TypeCode_ptr type() { return All::_tc_##T; }                                     \
    static CORBA::TypeCode_ptr raised_type() { return All::_tc_##T##_raised; }                     \
    static CORBA::Any* insert(All::Everything_ptr server, const Holder& value)                     \
    {                                                                                              \
        return server->insert_##T(in_of(value));                                                   \
    }                                                                                              \
    static Holder extract(All::Everything_ptr server, const CORBA::Any& any)                       \
    {                                                                                              \
        return server->extract_##T(any);                                                           \
    }                                                                                              \
    static void raise(All::Everything_ptr server, const Holder& value)                             \
    {                                                                                              \
        server->raise_##T(in_of(value));                                                           \
    }
#define VALUE(T, put_value, get_value)                                                             \
    struct T##_case : Case<T##_case, All::T> {                                                     \
        CALLS(T)                                                                                   \
        static void fill(Filler& filler, Holder& holder) { visit(filler, holder); }                \
        static Holder echo(All::Everything_ptr server, const Holder& a, Holder& b, Holder& c)      \
        {                                                                                          \
            return server->echo_##T(a, b, c);                                                      \
        }                                                                                          \
        static void put(CORBA::Any& any, const Holder& value) { put_value; }                       \
        static bool get(const CORBA::Any& any, Holder& value) { return get_value; }                \
    };
#define PLAIN(T) VALUE(T, any <<= value, all::get(any, value))
#define WRAPPED(T, kind)                                                                           \
    VALUE(T, any <<= CORBA::Any::from_##kind(value), any >>= CORBA::Any::to_##kind(value))
#define DECIMAL(T, digits, scale)                                                                  \
    VALUE(T, any <<= CORBA::Any::from_fixed(value, digits, scale),                                 \
          any >>= CORBA::Any::to_fixed(value, digits, scale))

#define ECHO(T)                                                                                    \
    static Holder echo(All::Everything_ptr server, const Holder& a, Holder& b, Holder& c)          \
    {                                                                                              \
        return server->echo_##T(a.in(), b.inout(), c.out());                                       \
    }
#define OWNED(T)                                                                                   \
    struct T##_case : Case<T##_case, All::T##_var> {                                               \
        CALLS(T)                                                                                   \
        ECHO(T)                                                                                    \
        static void fill(Filler& filler, Holder& holder)                                           \
        {                                                                                          \
            holder = new All::T;                                                                   \
            visit(filler, holder.inout());                                                         \
        }                                                                                          \
        static void put(CORBA::Any& any, const Holder& value) { any <<= value.in(); }              \
        static bool get(const CORBA::Any& any, Holder& value)                                      \
        {                                                                                          \
            const All::T* inside = nullptr;                                                        \
            if (!(any >>= inside)) return false;                                                   \
            value = new All::T(*inside);                                                           \
            return true;                                                                           \
        }                                                                                          \
    };
#define STRING(T, C, String, prefix, fill_text, bound)                                             \
    struct T##_case : Case<T##_case, CORBA::String##_var> {                                        \
        CALLS(T)                                                                                   \
        ECHO(T)                                                                                    \
        static void fill(Filler& filler, Holder& holder)                                           \
        {                                                                                          \
            filler.fill_text(holder, (bound) == 0 ? 50 : bound);                                   \
        }                                                                                          \
        static void put(CORBA::Any& any, const Holder& value)                                      \
        {                                                                                          \
            any <<= CORBA::Any::from_##prefix(const_cast<C*>(value.in()), bound);                  \
        }                                                                                          \
        static bool get(const CORBA::Any& any, Holder& value)                                      \
        {                                                                                          \
            const C* inside = nullptr;                                                             \
            if (!(any >>= CORBA::Any::to_##prefix(inside, bound))) return false;                   \
            value = CORBA::prefix##_dup(inside);                                                   \
            return true;                                                                           \
        }                                                                                          \
    };
#define TEXT(T, bound) STRING(T, char, String, string, text, bound)
#define WIDE_TEXT(T, bound) STRING(T, CORBA::WChar, WString, wstring, wide_text, bound)

/// Arrays are of one type for the language and of their own for CORBA: a class for each tells.
template <typename T, typename Var>
struct ArrayHolder {
    Var var;
    ArrayHolder() = default;
    template <typename Slice>
    ArrayHolder(Slice* slice) : var(slice)
    {
    }
    [[nodiscard]] const T& in() const { return *reinterpret_cast<const T*>(&var[0]); }
    [[nodiscard]] T& inout() { return *reinterpret_cast<T*>(&var[0]); }
};
#define ARRAY(T, c_argument)                                                                       \
    struct T##_case : Case<T##_case, ArrayHolder<All::T, All::T##_var>> {                          \
        CALLS(T)                                                                                   \
        static Holder echo(All::Everything_ptr server, const Holder& a, Holder& b, Holder& c)      \
        {                                                                                          \
            c.var = All::T##_alloc();                                                              \
            return server->echo_##T(a.in(), b.inout(), c_argument);                                \
        }                                                                                          \
        static void fill(Filler& filler, Holder& holder)                                           \
        {                                                                                          \
            holder.var = All::T##_alloc();                                                         \
            visit(filler, holder.inout());                                                         \
        }                                                                                          \
        static void put(CORBA::Any& any, const Holder& value)                                      \
        {                                                                                          \
            any <<= All::T##_forany(const_cast<All::T##_slice*>(value.in()));                      \
        }                                                                                          \
        static bool get(const CORBA::Any& any, Holder& value)                                      \
        {                                                                                          \
            All::T##_forany inside;                                                                \
            if (!(any >>= inside)) return false;                                                   \
            value.var = All::T##_dup(inside.in());                                                 \
            return true;                                                                           \
        }                                                                                          \
    };
#define FIXED_ARRAY(T) ARRAY(T, c.inout())
#define VARIABLE_ARRAY(T) ARRAY(T, c.var.out())
#define REFERENCE(T, Class)                                                                        \
    struct T##_case : Case<T##_case, Class##_var> {                                                \
        CALLS(T)                                                                                   \
        ECHO(T)                                                                                    \
        static void fill(Filler& filler, Holder& holder) { visit(filler, holder); }                \
        static void put(CORBA::Any& any, const Holder& value) { any <<= value.in(); }              \
        static bool get(const CORBA::Any& any, Holder& value)                                      \
        {                                                                                          \
            return get_reference(any, value);                                                      \
        }                                                                                          \
    };
#define VALUETYPE(T)                                                                               \
    struct T##_case : Case<T##_case, All::T##_var> {                                               \
        CALLS(T)                                                                                   \
        ECHO(T)                                                                                    \
        static void fill(Filler& filler, Holder& holder) { visit(filler, holder); }                \
        static void put(CORBA::Any& any, const Holder& value) { any <<= value.in(); }              \
        static bool get(const CORBA::Any& any, Holder& value)                                      \
        {                                                                                          \
            All::T* inside = nullptr;                                                              \
            if (!(any >>= inside)) return false;                                                   \
            value = share(inside);                                                                 \
            return true;                                                                           \
        }                                                                                          \
    };
ALL_KINDS
#undef VALUETYPE
#undef PLAIN
#undef WRAPPED
#undef DECIMAL
#undef OWNED
#undef TEXT
#undef WIDE_TEXT
#undef FIXED_ARRAY
#undef VARIABLE_ARRAY
#undef REFERENCE

// --- the checks ----------------------------------------------------------------------------------

template <typename Of>
void check_echo(Context& context)
{
    const Pool& pool = context.pool;
    for (int round = 0; round < rounds; ++round) {
        const typename Of::Holder a = Of::make(context);
        typename Of::Holder b = Of::make(context);
        typename Of::Holder c{};
        const std::string sent_a = Of::text(pool, a);
        const std::string sent_b = Of::text(pool, b);
        const typename Of::Holder result = Of::echo(context.server, a, b, c);
        expect_same(sent_a, Of::text(pool, result), "the result");
        expect_same(sent_a, Of::text(pool, b), "the inout argument");
        expect_same(sent_b, Of::text(pool, c), "the out argument");
    }
}

/// An Any that has been to the server and back.
CORBA::Any_var echo_any(Context& context, const CORBA::Any& any)
{
    CORBA::Any_var back = context.server->pass_on(any);
    const CORBA::TypeCode_var sent = any.type();
    const CORBA::TypeCode_var received = back->type();
    expect(sent->equivalent(received.in()), "an Any's type");
    return back;
}

template <typename Of>
void expect_inside(Context& context, const std::string& expected, const CORBA::Any& any,
                   const char* what)
{
    typename Of::Holder value{};
    if (!Of::get(any, value)) throw std::runtime_error(std::string(what) + " is of another type");
    expect_same(expected, Of::text(context.pool, value), what);
}

/// No nil reference and no null: omniORB extracts none, JacORB inserts nil as one of Object.
template <typename Of>
typename Of::Holder make_for_any(Context& context)
{
    typename Of::Holder value = Of::make(context, true);
    if constexpr (requires { CORBA::is_nil(value.in()); })
        while (CORBA::is_nil(value.in()))
            value = Of::make(context, true);
    if constexpr (Valuetype<typename Of::Holder>)
        while (value.in() == nullptr)
            value = Of::make(context, true);
    return value;
}

template <typename Of>
void check_any(Context& context)
{
    for (int round = 0; round < rounds; ++round) {
        const typename Of::Holder value = make_for_any<Of>(context);
        const std::string sent = Of::text(context.pool, value);
        CORBA::Any any;
        Of::put(any, value);
        expect_inside<Of>(context, sent, any, "what was inserted here");
        const CORBA::Any_var back = echo_any(context, any);
        expect_inside<Of>(context, sent, back.in(), "an echoed Any");
        const CORBA::Any_var inserted = Of::insert(context.server, value);
        expect_inside<Of>(context, sent, inserted.in(), "what the server inserted");
        const typename Of::Holder extracted = Of::extract(context.server, any);
        expect_same(sent, Of::text(context.pool, extracted), "what the server extracted");
        // As received: no longer in the form in which it was inserted.
        const typename Of::Holder again = Of::extract(context.server, inserted.in());
        expect_same(sent, Of::text(context.pool, again), "what went three times");
    }
}

template <typename Of>
typename Of::Raised raised_by(Context& context, const typename Of::Holder& value)
{
    try {
        Of::raise(context.server, value);
    } catch (const typename Of::Raised& raised) {
        return raised;
    }
    throw std::runtime_error("no exception");
}

template <typename Of>
void check_raise(Context& context)
{
    for (int round = 0; round < rounds; ++round) {
        const typename Of::Holder value = Of::make(context);
        const typename Of::Raised raised = raised_by<Of>(context, value);
        expect_same(Of::text(context.pool, value), describe(context.pool, raised.value), "value");
        expect(raised.after == 42, "what follows the value");
    }
}

template <typename Of>
void check_raised(Context& context)
{
    const typename Of::Holder value = make_for_any<Of>(context);
    CORBA::Any any;
    any <<= raised_by<Of>(context, value);
    const CORBA::Any_var back = echo_any(context, any);
    const typename Of::Raised* raised = nullptr;
    expect(back.in() >>= raised, "the exception's type");
    expect_same(Of::text(context.pool, value), describe(context.pool, raised->value), "value");
    expect(raised->after == 42, "what follows the value");
}

void exception_in_any(Context& context)
{
    for (int round = 0; round < rounds; ++round) {
        const All::Person_var person = Person_case::make(context);
        const std::string sent = describe(context.pool, person.in());
        const CORBA::Any_var any = context.server->insert_raised(person.in());
        const All::Person_raised* raised = nullptr;
        expect(any.in() >>= raised, "the exception's type");
        expect_same(sent, describe(context.pool, raised->value), "what the server inserted");
        expect(raised->after == 43, "what follows the value");
        All::Person_var back;
        expect(context.server->extract_raised(any.in(), back.out()), "what the server extracted");
        expect_same(sent, describe(context.pool, back.in()), "what the server extracted");
    }
}

/// A receiver without a factory has the nearest base that it knows, and all of its state.
void truncation(Context& context)
{
    for (int round = 0; round < rounds; ++round) {
        All::Derived_var like = Derived_case::make(context);
        while (like.in() == nullptr)
            like = Derived_case::make(context);
        const std::string sent = describe(context.pool, like.in());
        const All::Base_var back = context.server->send_deeper(like.in());
        expect_same(sent, describe(context.pool, back.in()), "what was truncated here");

        EverythingServant own;
        const All::Base_var deeper = own.send_deeper(like.in());
        All::Base_var inout = share(deeper.in());
        All::Base_var out;
        const All::Base_var result =
            context.server->echo_Base(deeper.in(), inout.inout(), out.out());
        expect_same(sent, describe(context.pool, result.in()), "what the server truncated");
        expect(result.in() == inout.in() && result.in() == out.in(), "one value is one value");
    }
}

/// Sharing between what is passed, cycles through it.
void graph(Context& context)
{
    const All::Node_var top = new_value<All::Node>();
    const All::Node_var leaf = new_value<All::Node>();
    top->called("top");
    top->left(leaf.in());
    top->right(leaf.in());
    leaf->called("leaf");
    leaf->left(top.in());
    All::Node_var inout = share(leaf.in());
    All::Node_var out;
    const All::Node_var back = context.server->echo_Node(top.in(), inout.inout(), out.out());
    expect(back.in() == inout.in() && back->left() == back->right(), "sharing");
    expect(back->left() == out.in(), "sharing with another argument");
    expect(back->left()->left() == back.in(), "a cycle");
}

/// Operations of values run where the value is, those of objects where the object is.
void operations(Context& context)
{
    CORBA::ValueFactory found =
        context.orb->lookup_value_factory("IDL:kairos.test/All/Counter:1.0");
    All::Counter_init* factory = All::Counter_init::_downcast(found);
    expect(factory != nullptr, "the factory");
    const All::Counter_var counter = factory->begin(41);
    All::Counter_var inout;
    All::Counter_var out;
    const All::Counter_var back =
        context.server->echo_Counter(counter.in(), inout.inout(), out.out());
    expect(back->next() == 42 && counter->next() == 42, "a value's operation");
    found->_remove_ref();

    All::Card_var card = new_value<All::Card>();
    card->title("a card");
    All::Titled_var left = All::Titled::_duplicate(context.server);
    All::Titled_var right;
    const All::Titled_var value = context.server->echo_Titled(card.in(), left.inout(), right.out());
    const CORBA::String_var title = value->title_of();
    expect(std::string(title.in()) == "a card", "a value's title");
    const CORBA::String_var other = right->title_of();
    expect(std::string(other.in()) == "an object", "an object's title");
}

/// A value in an Any that says no more than that it is a Titled.
void abstract_in_any(Context& context)
{
    All::Card_var card = new_value<All::Card>();
    card->title("a card");
    const All::Titled_var titled = All::Titled::_duplicate(card.in());
    CORBA::Any any;
    any <<= titled.in();
    const CORBA::Any_var back = echo_any(context, any);
    expect_inside<Titled_case>(context, describe(context.pool, titled.in()), back.in(), "a value");
}

#ifndef PEER_OMNIORB // whose client is not what is tested

/// check_echo without a stub. Then the request is sent again: with what has been received.
template <typename Of>
void check_dynamic_echo(Context& context)
{
    const Pool& pool = context.pool;
    for (int round = 0; round < rounds; ++round) {
        const typename Of::Holder a = Of::make(context);
        const typename Of::Holder b = Of::make(context);
        const std::string sent_a = Of::text(pool, a);
        const CORBA::Request_var request = context.server->_request(Of::echo_name);
        request->set_return_type(Of::type());
        Of::put(request->add_in_arg("a"), a);
        CORBA::Any& inout = request->add_inout_arg("b");
        Of::put(inout, b);
        CORBA::Any& out = request->add_out_arg("c");
        out.replace(Of::type(), nullptr);
        request->invoke();
        expect_inside<Of>(context, sent_a, request->return_value(), "the result");
        expect_inside<Of>(context, sent_a, inout, "the inout argument");
        expect_inside<Of>(context, Of::text(pool, b), out, "the out argument");
        request->send_deferred();
        request->get_response();
        expect_inside<Of>(context, sent_a, request->return_value(), "the result again");
        expect_inside<Of>(context, sent_a, out, "the out argument again");
    }
}

template <typename Of>
void check_dynamic_raise(Context& context)
{
    const typename Of::Holder value = Of::make(context);
    const CORBA::Request_var request = context.server->_request(Of::raise_name);
    Of::put(request->add_in_arg("value"), value);
    request->exceptions()->add(Of::raised_type());
    request->invoke();
    const auto* unknown = CORBA::UnknownUserException::_downcast(request->env()->exception());
    expect(unknown != nullptr, "an exception in the environment");
    const typename Of::Raised* raised = nullptr;
    expect(unknown->exception() >>= raised, "the exception's type");
    expect_same(Of::text(context.pool, value), describe(context.pool, raised->value), "value");
    expect(raised->after == 42, "what follows the value");
}

#endif

} // namespace

Context make_context(CORBA::ORB_ptr orb, All::Everything_ptr server, All::Everything_ptr own)
{
    Context context{orb, server, {}, 1};
    context.pool.objects.emplace_back(CORBA::Object::_nil());
    context.pool.objects.emplace_back(All::Everything::_duplicate(server));
    context.pool.objects.emplace_back(All::Everything::_duplicate(own));
    for (CORBA::TypeCode_ptr type :
         {CORBA::_tc_null,     CORBA::_tc_long,     CORBA::_tc_string,      CORBA::_tc_any,
          CORBA::_tc_TypeCode, CORBA::_tc_Object,   All::_tc_Color,         All::_tc_Money,
          All::_tc_ShortName,  All::_tc_ShortProse, All::_tc_Point,         All::_tc_OnLong,
          All::_tc_OnColor,    All::_tc_Person,     All::_tc_Person_s4,     All::_tc_Tree,
          All::_tc_Expression, All::_tc_I32_2x3,    All::_tc_Person_raised, All::_tc_Everything})
        context.pool.types.emplace_back(CORBA::TypeCode::_duplicate(type));
    return context;
}

std::vector<Check> all_checks()
{
    std::vector<Check> checks;
#define CHECK(T)                                                                                   \
    checks.push_back({"echo_" #T, check_echo<T##_case>});                                          \
    checks.push_back({"any_" #T, check_any<T##_case>});                                            \
    checks.push_back({"raise_" #T, check_raise<T##_case>});                                        \
    checks.push_back({"raised_" #T, check_raised<T##_case>});
#define PLAIN(T) CHECK(T)
#define WRAPPED(T, kind) CHECK(T)
#define DECIMAL(T, digits, scale) CHECK(T)
#define OWNED(T) CHECK(T)
#define TEXT(T, bound) CHECK(T)
#define WIDE_TEXT(T, bound) CHECK(T)
#define FIXED_ARRAY(T) CHECK(T)
#define VARIABLE_ARRAY(T) CHECK(T)
#define REFERENCE(T, Class) CHECK(T)
#define VALUETYPE(T) CHECK(T)
    ALL_KINDS
    checks.push_back({"exception_in_any", exception_in_any});
    checks.push_back({"truncation", truncation});
    checks.push_back({"graph", graph});
    checks.push_back({"operations", operations});
    checks.push_back({"abstract_in_any", abstract_in_any});
    return checks;
#undef CHECK
}

std::vector<Check> dynamic_checks()
{
    std::vector<Check> checks;
#ifndef PEER_OMNIORB
#define CHECK(T)                                                                                   \
    checks.push_back({"echo_" #T, check_dynamic_echo<T##_case>});                                  \
    checks.push_back({"raise_" #T, check_dynamic_raise<T##_case>});
    ALL_KINDS
#endif
    return checks;
}

} // namespace all
