// SPDX-License-Identifier: Apache-2.0
//
// Param_Test, server and client, compiled against each kind of stubs and each ORB that is measured.
// As in the paper, the servant copies its `in` parameter into the inout, out and return ones.
#ifdef KAIROS_BENCH_OMNIORB
#include "param.hh"
#else
#include "param.h"
#include "param_skel.h"
#endif

#include "bench/orb_program.h" // these two speak the ORB's names
#include "bench/param_values.h"

#include <iostream>
#include <stdexcept>

namespace {

using kairos::bench::Exercise;
using kairos::bench::LatencySummary;
using kairos::bench::MessageBytes;
using kairos::bench::Payload;
using kairos::bench::reporting;
using kairos::bench::same;

template <typename Value, typename Out>
Value* copy_everywhere(const Value& s1, Value& s2, Out s3)
{
    s2 = s1;
    s3 = new Value(s1);
    return new Value(s1);
}

class ParamServant : public POA_Param::Param_Test {
  public:
    CORBA::Short test_short(CORBA::Short s1, CORBA::Short& s2, CORBA::Short_out s3) override
    {
        s2 = s1;
        s3 = s1;
        return s1;
    }
    char* test_ubstring(const char* s1, char*& s2, CORBA::String_out s3) override
    {
        CORBA::string_free(s2);
        s2 = CORBA::string_dup(s1);
        s3 = CORBA::string_dup(s1);
        return CORBA::string_dup(s1);
    }
    Param::Fixed_Struct test_fixed_struct(const Param::Fixed_Struct& s1, Param::Fixed_Struct& s2,
                                          Param::Fixed_Struct_out s3) override
    {
        s2 = s1;
        s3 = s1;
        return s1;
    }
    Param::StrSeq* test_strseq(const Param::StrSeq& s1, Param::StrSeq& s2,
                               Param::StrSeq_out s3) override
    {
        return copy_everywhere<Param::StrSeq, Param::StrSeq_out>(s1, s2, s3);
    }
    Param::Var_Struct* test_var_struct(const Param::Var_Struct& s1, Param::Var_Struct& s2,
                                       Param::Var_Struct_out s3) override
    {
        return copy_everywhere<Param::Var_Struct, Param::Var_Struct_out>(s1, s2, s3);
    }
    Param::Nested_Struct* test_nested_struct(const Param::Nested_Struct& s1,
                                             Param::Nested_Struct& s2,
                                             Param::Nested_Struct_out s3) override
    {
        return copy_everywhere<Param::Nested_Struct, Param::Nested_Struct_out>(s1, s2, s3);
    }
    Param::StructSeq* test_struct_seq(const Param::StructSeq& s1, Param::StructSeq& s2,
                                      Param::StructSeq_out s3) override
    {
        return copy_everywhere<Param::StructSeq, Param::StructSeq_out>(s1, s2, s3);
    }
};

int serve(CORBA::ORB_ptr orb)
{
    ParamServant servant;
    Param::Param_Test_var reference = servant._this();
    return kairos::bench::serve(orb, {reference.in()});
}

void expect(bool equal)
{
    if (!equal) throw std::runtime_error("what came back is not what was sent");
}

/// Hands `use` a function that makes one call as an application does: `s1` and `s2` stay, what the
/// call returns is owned by a _var and given back.
template <typename Var, typename Value, typename Call, typename Use>
void with_variable(const Value& s1, Call&& call, Use&& use)
{
    Value s2 = s1;
    Var s3;
    Var result = call(s1, s2, s3.out());
    expect(same(s2, s1) && same(s3.in(), s1) && same(result.in(), s1));
    use([&] {
        Var out;
        Var returned = call(s1, s2, out.out());
    });
}

class ParamClient final : public kairos::bench::Client {
  public:
    ParamClient(CORBA::ORB_ptr orb, const std::string& reference)
    {
        CORBA::Object_var object = orb->string_to_object(reference.c_str());
        param_ = Param::Param_Test::_narrow(object);
        if (CORBA::is_nil(param_)) throw std::invalid_argument("no reference to a Param_Test");
    }

    LatencySummary latency(const Exercise& exercise) override
    {
        LatencySummary summary;
        reporting([&] {
            with_call(exercise.payload, [&](auto&& once) {
                kairos::bench::repeat(kairos::bench::warm_up_calls, once);
                summary = kairos::bench::time_each(exercise.calls, once);
            });
        });
        return summary;
    }
    double ttcp_seconds(const Exercise&) override
    {
        throw std::invalid_argument("Param_Test has no bulk transfer");
    }
    void call(const Exercise& exercise) override
    {
        reporting([&] {
            with_call(exercise.payload,
                      [&](auto&& once) { kairos::bench::repeat(exercise.calls, once); });
        });
    }
    MessageBytes message_bytes(const Exercise& exercise) override
    {
        MessageBytes bytes;
        reporting([&] {
            with_call(exercise.payload,
                      [&](auto&& once) { bytes = kairos::bench::bytes_of_a_call(once); });
        });
        return bytes;
    }

  private:
    template <typename Use>
    void with_call(Payload payload, Use&& use)
    {
        using namespace Param;
        const Param_Test_ptr to = param_.in();
        switch (payload) {
        case Payload::int16:
            return with_short(use);
        case Payload::ubstring:
            return with_string(use);
        case Payload::fixed_struct:
            return with_fixed(use);
        case Payload::strseq:
            return with_variable<StrSeq_var>(
                kairos::bench::param_strseq(),
                [to](const StrSeq& s1, StrSeq& s2, StrSeq_out s3) {
                    return to->test_strseq(s1, s2, s3);
                },
                use);
        case Payload::var_struct:
            return with_variable<Var_Struct_var>(
                kairos::bench::param_var_struct(),
                [to](const Var_Struct& s1, Var_Struct& s2, Var_Struct_out s3) {
                    return to->test_var_struct(s1, s2, s3);
                },
                use);
        case Payload::nested_struct:
            return with_variable<Nested_Struct_var>(
                kairos::bench::param_nested_struct(),
                [to](const Nested_Struct& s1, Nested_Struct& s2, Nested_Struct_out s3) {
                    return to->test_nested_struct(s1, s2, s3);
                },
                use);
        case Payload::struct_seq:
            return with_variable<StructSeq_var>(
                kairos::bench::param_struct_seq(),
                [to](const StructSeq& s1, StructSeq& s2, StructSeq_out s3) {
                    return to->test_struct_seq(s1, s2, s3);
                },
                use);
        default:
            throw std::invalid_argument("Param_Test has no such parameters");
        }
    }

    template <typename Use>
    void with_short(Use&& use)
    {
        CORBA::Short s2 = 0;
        CORBA::Short s3 = 0;
        const CORBA::Short result = param_->test_short(7, s2, s3);
        expect(s2 == 7 && s3 == 7 && result == 7);
        use([&] { (void)param_->test_short(7, s2, s3); });
    }
    template <typename Use>
    void with_string(Use&& use)
    {
        const std::string s1 = kairos::bench::param_text();
        CORBA::String_var s2 = CORBA::string_dup(s1.c_str());
        CORBA::String_var s3;
        CORBA::String_var result = param_->test_ubstring(s1.c_str(), s2.inout(), s3.out());
        expect(same(s2.in(), s1.c_str()) && same(s3.in(), s1.c_str()) &&
               same(result.in(), s1.c_str()));
        use([&] {
            CORBA::String_var out;
            CORBA::String_var returned = param_->test_ubstring(s1.c_str(), s2.inout(), out.out());
        });
    }
    template <typename Use>
    void with_fixed(Use&& use)
    {
        const Param::Fixed_Struct s1 = kairos::bench::param_fixed_struct();
        Param::Fixed_Struct s2 = s1;
        Param::Fixed_Struct s3 = s1;
        const Param::Fixed_Struct result = param_->test_fixed_struct(s1, s2, s3);
        expect(same(s2, s1) && same(s3, s1) && same(result, s1));
        use([&] { (void)param_->test_fixed_struct(s1, s2, s3); });
    }

    Param::Param_Test_var param_;
};

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") return serve(orb);
    if (arguments.size() == 2 && arguments[0] == "client") {
        int status = 0;
        {
            ParamClient client(orb, arguments[1]);
            status = kairos::bench::serve_orders(client);
        }
        orb->destroy();
        return status;
    }
    std::cerr << "usage: kairos-bench-param… server [-ORB…]\n"
              << "       kairos-bench-param… client REFERENCE [-ORB…]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
