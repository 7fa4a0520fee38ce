// SPDX-License-Identifier: Apache-2.0
//
// The checks of attributes, exceptions, oneways, references and large messages.
#include "checks.h"

#include "servant.h"

#include <thread>

namespace calls {

void expect_same(const std::string& expected, const std::string& actual, const char* what)
{
    if (expected != actual)
        throw std::runtime_error(std::string(what) + " is " + actual.substr(0, 200) +
                                 ", expected " + expected.substr(0, 200));
}

void expect(bool condition, const char* what)
{
    if (!condition) throw std::runtime_error(std::string("does not hold: ") + what);
}

Context make_context(CORBA::ORB_ptr orb, Types::Echo_ptr server, Types::Echo_ptr own)
{
    Context context{orb, server, {}, 1};
    context.pool.echoes.push_back(Types::Echo::_nil());
    context.pool.echoes.push_back(Types::Echo::_duplicate(server));
    if (!CORBA::is_nil(own)) context.pool.echoes.push_back(Types::Echo::_duplicate(own));
    context.pool.echoes.push_back(server->make_object());
    return context;
}

namespace {

Types::Person make_person(Context& context)
{
    Types::Person person{};
    Filler filler(context.pool, ++context.seed);
    visit(filler, person);
    return person;
}

/// Calls and returns the exception that must come.
template <typename Exception, typename Call>
Exception expect_exception(Call call)
{
    try {
        call();
    } catch (const Exception& exception) {
        return exception;
    } catch (const CORBA::Exception& exception) {
        throw std::runtime_error(std::string("another exception: ") + exception._name());
    }
    throw std::runtime_error("no exception");
}

// --- attributes ----------------------------------------------------------------------------------

void attribute_basic(Context& context)
{
    context.server->number(-2147483647);
    expect(context.server->number() == -2147483647, "number");
    expect(context.server->mood() == Types::blue, "mood");
    const CORBA::String_var label = context.server->label();
    expect_same("echo", label.in(), "label");
}

void attribute_fixed(Context& context)
{
    const Types::Shape shape = make_person(context).outline;
    context.server->figure(shape);
    const Types::Shape back = context.server->figure();
    expect_same(describe(context.pool, shape), describe(context.pool, back), "figure");
}

void attribute_string(Context& context)
{
    for (const char* text : {"", "a title", "caf\xe9"}) {
        context.server->title(text);
        const CORBA::String_var back = context.server->title();
        expect_same(text, back.in(), "title");
    }
}

void attribute_variable(Context& context)
{
    const Types::Person person = make_person(context);
    context.server->owner(person);
    const Types::Person_var back = context.server->owner();
    expect_same(describe(context.pool, person), describe(context.pool, back.in()), "owner");
}

void attribute_arrays(Context& context)
{
    const Types::I32_3 vector = {1, -2, 3};
    context.server->vector(vector);
    const Types::I32_3_var vector_back = context.server->vector();
    for (CORBA::ULong i = 0; i < 3; ++i)
        expect(vector_back[i] == vector[i], "vector");
    Types::Name_3 names;
    for (int i = 0; i < 3; ++i)
        names[i] = CORBA::string_dup(std::to_string(i).c_str());
    context.server->names(names);
    const Types::Name_3_var names_back = context.server->names();
    for (CORBA::ULong i = 0; i < 3; ++i)
        expect_same(std::to_string(i), static_cast<const char*>(names_back[i]), "names");
}

void attribute_reference(Context& context)
{
    for (const Types::Echo_var& echo : context.pool.echoes) {
        context.server->neighbour(echo.in());
        const Types::Echo_var back = context.server->neighbour();
        expect_same(context.pool.describe(echo.in()), context.pool.describe(back.in()),
                    "neighbour");
    }
    context.server->neighbour(Types::Echo::_nil());
}

void attribute_sequence(Context& context)
{
    Types::Point_s points;
    for (const CORBA::ULong length : {0u, 1u, 200u}) {
        points.length(length);
        for (CORBA::ULong i = 0; i < length; ++i)
            points[i] = make_person(context).outline.origin;
        context.server->points(points);
        const Types::Point_s_var back = context.server->points();
        expect_same(describe(context.pool, points), describe(context.pool, back.in()), "points");
    }
}

// --- operations of every shape -------------------------------------------------------------------

void nothing(Context& context)
{
    for (int i = 0; i < 3; ++i)
        context.server->nothing();
}

void mixed_alignments(Context& context)
{
    for (const char* text : {"", "1", "12", "123", "1234", "12345", "123456", "1234567"}) {
        const Types::Shape shape = make_person(context).outline;
        CORBA::Octet octet = 0;
        CORBA::Double number = 0;
        CORBA::String_var text_back;
        Types::Point_s_var points;
        CORBA::Boolean flag = false;
        const CORBA::Double sum = context.server->mixed(7, 0.25, text, -3, shape, octet, number,
                                                        text_back.out(), points.out(), flag);
        expect(sum == 0.25 - 3 && octet == 7 && number == 0.25 && flag, "mixed");
        expect_same(text, text_back.in(), "the string");
        expect(points->length() == 3, "three points");
        expect_same(describe(context.pool, shape.corners[1]), describe(context.pool, points[2u]),
                    "the last point");
    }
}

/// Some servers let a later request overtake a oneway: what was sent is waited for. A note that is
/// lost ends in the timeout of the test.
void await_notes(Context& context, CORBA::ULong sum)
{
    while (context.server->notes() < sum) {
    }
}

void oneways(Context& context)
{
    const CORBA::ULong before = context.server->notes();
    std::string text;
    for (CORBA::ULong i = 1; i <= 20; ++i) {
        text += "note ";
        context.server->note(i, text.c_str());
    }
    await_notes(context, before + 210);
    expect(context.server->notes() == before + 210, "every oneway arrived once");
    context.server->note(1, "the last");
    await_notes(context, before + 211);
    const CORBA::String_var last = context.server->last_note();
    expect_same("the last", last.in(), "the last note");
}

void diamond(Context& context)
{
    Types::Arrays_var arrays = Types::Arrays::_narrow(context.server);
    Types::Root_var root = Types::Root::_duplicate(arrays.in());
    expect(root->sum(4000000000u, 5) == 4000000005u, "an operation of the common base");
    expect(arrays->sum(1, 2) == 3, "the same through another base");
    Types::Sequences_var sequences = Types::Sequences::_narrow(root.in());
    expect(!CORBA::is_nil(sequences.in()), "from the common base to a sibling");
    expect(sequences->sum(2, 3) == 5, "the sibling");
}

// --- exceptions ----------------------------------------------------------------------------------

void exception_without_members(Context& context)
{
    const auto plain = expect_exception<Types::Plain>([&] { context.server->throw_plain(); });
    expect_same("IDL:kairos.test/Types/Plain:1.0", plain._rep_id(), "the repository id");
    expect_same("Plain", plain._name(), "the name");
    context.server->nothing(); // the connection is fine
}

void exception_with_members(Context& context)
{
    for (int round = 0; round < 5; ++round) {
        const Types::Person person = make_person(context);
        const auto full = expect_exception<Types::Full>(
            [&] { context.server->throw_full(-77, person, context.server); });
        expect(full.number == -77 && full.vector[2] == -75, "numbers");
        expect_same(describe(context.pool, person), describe(context.pool, full.owner), "owner");
        expect_same(static_cast<const char*>(person.lines[1]),
                    static_cast<const char*>(full.names[1][2]), "names");
        expect(full.where->_is_equivalent(context.server), "the reference");
        expect(full.rows.length() == 2 && full.rows[0].length() == 0 && full.rows[1][1] == -77,
               "rows");
        expect(full.mood == person.mood, "mood");
        const Types::Full copy = full;
        expect_same(describe(context.pool, copy), describe(context.pool, full), "a copy");
    }
}

void exception_of_base_interface(Context& context)
{
    for (const char* why : {"", "because"}) {
        const auto refused =
            expect_exception<Types::Root::Refused>([&] { context.server->refuse(why); });
        expect_same(why, static_cast<const char*>(refused.why), "the reason");
    }
    try {
        context.server->refuse("caught as its base class");
    } catch (const CORBA::UserException& exception) {
        expect_same("IDL:kairos.test/Types/Root/Refused:1.0", exception._rep_id(), "its id");
    }
}

void exception_not_in_raises(Context& context)
{
    expect_exception<CORBA::UNKNOWN>([&] { context.server->throw_unlisted(); });
}

void exception_foreign(Context& context)
{
    const auto unknown = expect_exception<CORBA::UNKNOWN>([&] { context.server->throw_foreign(); });
    expect(unknown.completed() == CORBA::COMPLETED_MAYBE, "COMPLETED_MAYBE");
}

template <typename Exception>
void expect_system_exception(Context& context, const char* name)
{
    for (const CORBA::ULong completed : {0u, 1u, 2u}) {
        const CORBA::ULong minor = 0xdead0000u + completed;
        const auto exception = expect_exception<Exception>(
            [&] { context.server->throw_system(name, minor, completed); });
        expect(exception.minor() == minor, "the minor code");
        expect(exception.completed() == static_cast<CORBA::CompletionStatus>(completed),
               "the completion status");
    }
}

void exception_system(Context& context)
{
    expect_system_exception<CORBA::NO_PERMISSION>(context, "NO_PERMISSION");
    expect_system_exception<CORBA::INTERNAL>(context, "INTERNAL");
    expect_system_exception<CORBA::NO_RESOURCES>(context, "NO_RESOURCES");
    expect_system_exception<CORBA::BAD_PARAM>(context, "BAD_PARAM");
    expect_system_exception<CORBA::TIMEOUT>(context, "TIMEOUT");
    expect_system_exception<CORBA::TRANSACTION_ROLLEDBACK>(context, "TRANSACTION_ROLLEDBACK");
    expect_system_exception<CORBA::NO_IMPLEMENT>(context, "NO_IMPLEMENT");
}

// --- references ----------------------------------------------------------------------------------

void objects_that_come_and_go(Context& context)
{
    Types::Echo_var object = context.server->make_object();
    expect(object->sum(20, 22) == 42, "an object that the server made");
    expect(!object->_non_existent(), "it exists");
    expect(!object->_is_equivalent(context.server), "it is another object");
    context.server->remove_object(object.in());
    // The call before may still be active in a server that has sent its reply, and until no call is
    // active "a deactivated ObjectId continues to process requests" (CORBA 3.3 part 1, 15.3.9:
    // deactivate_object).
    expect_exception<CORBA::OBJECT_NOT_EXIST>([&] {
        for (int i = 0; i < 10'000; ++i)
            object->nothing();
    });
    expect(object->_non_existent(), "it exists no more");
}

void call_back(Context& context)
{
    for (const Types::Echo_var& echo : context.pool.echoes)
        if (!CORBA::is_nil(echo.in()))
            expect(context.server->call_back(echo.in(), 3, 4) == 7, "3 + 4");
}

void identity(Context& context)
{
    for (const Types::Echo_var& a : context.pool.echoes)
        for (const Types::Echo_var& b : context.pool.echoes)
            expect(context.server->same_object(a.in(), b.in()) == (&a == &b), "identity");
}

void standard_operations(Context& context)
{
    Types::Echo_ptr server = context.server;
    expect(server->_is_a("IDL:kairos.test/Types/Echo:1.0"), "Echo");
    expect(server->_is_a("IDL:kairos.test/Types/Root:1.0"), "its base");
    expect(server->_is_a("IDL:omg.org/CORBA/Object:1.0"), "Object");
    expect(!server->_is_a("IDL:kairos.test/Types/Other:1.0"), "no other interface");
    expect(!server->_non_existent(), "it exists");
    expect(server->_is_equivalent(server), "equal to itself");
    expect(server->_hash(100) <= 100, "a hash in its range");
    expect(server->_hash(100) == server->_hash(100), "the same hash again");
}

void references_as_text(Context& context)
{
    const CORBA::String_var text = context.orb->object_to_string(context.server);
    const CORBA::Object_var object = context.orb->string_to_object(text.in());
    expect(object->_is_equivalent(context.server), "the same object");
    const Types::Echo_var echo = Types::Echo::_narrow(object.in());
    expect(echo->sum(1, 1) == 2, "a call through it");
    const CORBA::String_var nil_text = context.orb->object_to_string(CORBA::Object::_nil());
    const CORBA::Object_var nil = context.orb->string_to_object(nil_text.in());
    expect(CORBA::is_nil(nil.in()), "nil as text is nil");
}

// --- size ----------------------------------------------------------------------------------------

void large_messages(Context& context)
{
    for (const CORBA::ULong size : {0u, 1u, 255u, 4095u, 4096u, 65536u, 1u << 20, 5000001u}) {
        Types::Byte_s_var bytes = context.server->large(size);
        expect(bytes->length() == size, "the length");
        bool same = true;
        for (CORBA::ULong i = 0; i < size; ++i)
            same = same && bytes[i] == large_octet(i);
        expect(same, "every octet of a large result");
        expect(context.server->checksum(bytes.in()) == checksum_of(bytes->get_buffer(), size),
               "every octet of a large argument");
    }
}

void large_strings(Context& context)
{
    for (const CORBA::ULong size : {300u, 5000u, 100000u}) {
        const CORBA::String_var text = context.server->long_text(size);
        expect_same(std::string(size, 'x'), text.in(), "the text");
        const CORBA::ULong before = context.server->notes();
        context.server->note(1, text.in());
        await_notes(context, before + 1);
        const CORBA::String_var back = context.server->last_note();
        expect_same(text.in(), back.in(), "the text in a oneway");
    }
}

void many_values(Context& context)
{
    Types::Person_s persons;
    persons.length(40);
    for (CORBA::ULong i = 0; i < persons.length(); ++i)
        persons[i] = make_person(context);
    Types::Person_s inout;
    Types::Person_s_var out;
    const std::string sent = describe(context.pool, persons);
    const Types::Person_s_var back = context.server->echo_Person_s(persons, inout, out.out());
    expect_same(sent, describe(context.pool, back.in()), "the result");
    expect_same(sent, describe(context.pool, inout), "the inout argument");
    expect(out->length() == 0, "the out argument");
}

} // namespace

std::vector<Check> call_checks()
{
    return {{"attribute_basic", attribute_basic},
            {"attribute_fixed", attribute_fixed},
            {"attribute_string", attribute_string},
            {"attribute_variable", attribute_variable},
            {"attribute_arrays", attribute_arrays},
            {"attribute_reference", attribute_reference},
            {"attribute_sequence", attribute_sequence},
            {"nothing", nothing},
            {"mixed_alignments", mixed_alignments},
            {"oneways", oneways},
            {"diamond", diamond},
            {"exception_without_members", exception_without_members},
            {"exception_with_members", exception_with_members},
            {"exception_of_base_interface", exception_of_base_interface},
            {"exception_not_in_raises", exception_not_in_raises},
            {"exception_foreign", exception_foreign},
            {"exception_system", exception_system},
            {"objects_that_come_and_go", objects_that_come_and_go},
            {"call_back", call_back},
            {"identity", identity},
            {"standard_operations", standard_operations},
            {"references_as_text", references_as_text},
            {"large_messages", large_messages},
            {"large_strings", large_strings},
            {"many_values", many_values}};
}

std::vector<Check> all_checks()
{
    std::vector<Check> checks = value_checks();
    for (Check& check : call_checks())
        checks.push_back(std::move(check));
    return checks;
}

} // namespace calls
