// SPDX-License-Identifier: Apache-2.0
//
// A real device server that nobody here wrote: TANGO's TangoTest, on omniORB, as Debian ships it.
// Our client, made from an IDL of our own, does what TANGO's clients do: it asks what commands
// there are, calls them with every type in an Any, reads and writes attributes (unions), and is
// told what went wrong.
#include "tango.h"

#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>

using namespace interop;

namespace {

#ifdef TANGO_TEST

/// A device server of one device, on a port that the kernel chose. Killed at the end.
class TangoTest {
  public:
    TangoTest()
        : process_(kairos::bench::ChildProcess::start(
                       process_options({TANGO_TEST, "test", "-nodb", "-dlist", "sys/tg_test/1",
                                        "-ORBendPoint", "giop:tcp:127.0.0.1:", "-ORBtraceLevel",
                                        "20", "-ORBtraceFile", trace(),
                                        "-ORBunixTransportDirectory", folder_.path()}))
                       .value())
    {
        while (process_.read_line(patience).value() != "Ready to accept request") {
        }
        std::stringstream text;
        text << std::ifstream(trace()).rdbuf();
        const std::string said = text.str();
        constexpr std::string_view before = "Publish endpoint 'giop:tcp:";
        const std::size_t begin = said.find(before);
        if (begin == std::string::npos) throw std::runtime_error("TangoTest says no address");
        const std::size_t end = said.find('\'', begin + before.size());
        address_ = said.substr(begin + before.size(), end - begin - before.size());
    }

    [[nodiscard]] std::string device() const { return "corbaloc::" + address_ + "/sys/tg_test/1"; }

  private:
    [[nodiscard]] std::string trace() const { return folder_.path() / "trace"; }

    TemporaryFolder folder_;
    kairos::bench::ChildProcess process_;
    std::string address_;
};

class Device : public testing::TestWithParam<std::string> {
  protected:
    static void SetUpTestSuite() { server_ = std::make_unique<TangoTest>(); }
    static void TearDownTestSuite() { server_.reset(); }

    void SetUp() override
    {
        const CORBA::Object_var object = orb_->string_to_object(server_->device().c_str());
        device_ = Tango::Device_5::_narrow(object);
        ASSERT_FALSE(CORBA::is_nil(device_));
        client_.cpp_clnt(4711);
    }

    [[nodiscard]] static std::string address() { return server_->device(); }

    /// What the command answers to `value`.
    template <typename T>
    CORBA::Any_var command(const char* name, const T& value)
    {
        CORBA::Any argument;
        argument <<= value;
        return device_->command_inout_4(name, argument, Tango::DEV, client_);
    }
    template <typename T>
    void expect_echo(const char* name, std::initializer_list<T> values)
    {
        for (const T value : values) {
            const CORBA::Any_var answer = command(name, value);
            T got{};
            ASSERT_TRUE(answer.in() >>= got) << name;
            EXPECT_EQ(got, value) << name;
        }
    }
    template <typename Sequence, typename Element>
    void expect_echo_of(const char* name, std::initializer_list<Element> elements)
    {
        for (const auto& list : {std::initializer_list<Element>(elements), {*elements.begin()}}) {
            const CORBA::Any_var answer = command(name, sequence_of<Sequence>(list));
            const Sequence* got = nullptr;
            ASSERT_TRUE(answer.in() >>= got) << name;
            EXPECT_EQ(list_of<Element>(*got), std::vector<Element>(list)) << name;
        }
    }

    static Tango::AttributeValueList_4 to_write(const char* name, const Tango::AttrValUnion& value,
                                                CORBA::Long x, CORBA::Long y,
                                                Tango::AttrDataFormat format)
    {
        Tango::AttributeValueList_4 values;
        values.length(1);
        values[0].name = name;
        values[0].value = value;
        values[0].quality = Tango::ATTR_VALID;
        values[0].data_format = format;
        values[0].time = Tango::TimeVal{0, 0, 0};
        values[0].w_dim = Tango::AttributeDim{x, y};
        values[0].r_dim = Tango::AttributeDim{0, 0};
        return values;
    }
    /// Writes one attribute; the value that is read afterwards.
    Tango::AttributeValue_5 written(const char* name, const Tango::AttrValUnion& value,
                                    CORBA::Long x, CORBA::Long y, Tango::AttrDataFormat format)
    {
        const auto values = to_write(name, value, x, y, format);
        const Tango::AttributeValueList_5_var read =
            device_->write_read_attributes_5(values, names_of({name}), client_);
        EXPECT_EQ(read->length(), 1U);
        EXPECT_STREQ(read[0].name, name);
        EXPECT_EQ(read[0].err_list.length(), 0U) << name;
        EXPECT_EQ(read[0].data_format, format) << name;
        EXPECT_EQ(read[0].w_dim.dim_x, x) << name;
        EXPECT_EQ(read[0].w_dim.dim_y, y) << name;
        return read[0];
    }
    /// What was read and, behind it, what was written: the latter is what we wrote.
    template <typename Element, typename Sequence>
    static void expect_end(const Sequence& sequence, const std::vector<Element>& written)
    {
        const std::vector<Element> all = list_of<Element>(sequence);
        ASSERT_GE(all.size(), written.size());
        EXPECT_EQ(std::vector<Element>(all.end() - static_cast<std::ptrdiff_t>(written.size()),
                                       all.end()),
                  written);
    }

    TangoOrb orb_{{"-ORBGIOPVersion", GetParam()}};
    Tango::Device_5_var device_;
    Tango::ClntIdent client_;

  private:
    inline static std::unique_ptr<TangoTest> server_;
};

/// The values of a type that go wrong first.
template <typename T>
std::initializer_list<T> edges()
{
    using Limits = std::numeric_limits<T>;
    static constexpr std::initializer_list<T> values{T{0}, T{1}, Limits::lowest(), Limits::max(),
                                                     T{42}};
    return values;
}

#define EXPECT_WRITTEN(name, member, Sequence, Element, format, x, y, ...)                         \
    do {                                                                                           \
        const std::vector<Element> elements __VA_ARGS__;                                           \
        Sequence sequence;                                                                         \
        sequence.length(static_cast<CORBA::ULong>(elements.size()));                               \
        for (CORBA::ULong i = 0; i < sequence.length(); ++i)                                       \
            sequence[i] = elements[i];                                                             \
        Tango::AttrValUnion value;                                                                 \
        value.member(sequence);                                                                    \
        const auto read = written(name, value, x, y, format);                                      \
        ASSERT_EQ(read.value._d(), value._d()) << (name);                                          \
        expect_end(read.value.member(), elements);                                                 \
    } while (false)

#endif

} // namespace

#ifdef TANGO_TEST

TEST_P(Device, IsWhatItsIdsSay)
{
    for (const char* const id :
         {"IDL:Tango/Device:1.0", "IDL:Tango/Device_2:1.0", "IDL:Tango/Device_3:1.0",
          "IDL:Tango/Device_4:1.0", "IDL:Tango/Device_5:1.0", "IDL:omg.org/CORBA/Object:1.0"})
        EXPECT_TRUE(device_->_is_a(id)) << id;
    EXPECT_FALSE(device_->_is_a("IDL:Tango/Device_6:1.0"));
    EXPECT_NO_THROW(device_->ping());
    EXPECT_STREQ(CORBA::String_var(device_->name()), "sys/tg_test/1");
    EXPECT_STREQ(CORBA::String_var(device_->adm_name()), "dserver/TangoTest/test");
    EXPECT_EQ(device_->state(), Tango::RUNNING);
    EXPECT_STREQ(CORBA::String_var(device_->status()), "The device is in RUNNING state.");
    const Tango::DevInfo_var info = device_->info();
    EXPECT_STREQ(info->dev_class, "TangoTest");
    EXPECT_STREQ(info->server_id, "TangoTest/test");
    const Tango::DevInfo_3_var more = device_->info_3();
    EXPECT_STREQ(more->dev_class, "TangoTest");
    EXPECT_EQ(more->server_version, 5);
}

TEST_P(Device, ListsItsThirtyCommands)
{
    const Tango::DevCmdInfoList_var list = device_->command_list_query();
    const Tango::DevCmdInfoList_2_var list_2 = device_->command_list_query_2();
    ASSERT_EQ(list->length(), 30U);
    ASSERT_EQ(list_2->length(), 30U);
    std::set<std::string> names;
    for (CORBA::ULong i = 0; i < 30; ++i) {
        names.emplace(list[i].cmd_name);
        EXPECT_STREQ(list[i].cmd_name, list_2[i].cmd_name);
        EXPECT_EQ(list[i].in_type, list_2[i].in_type);
        EXPECT_EQ(list[i].out_type, list_2[i].out_type);
        const bool crashes = std::string_view(list_2[i].cmd_name).starts_with("Crash");
        if (crashes) {
            EXPECT_EQ(list_2[i].level, Tango::EXPERT);
        }
    }
    EXPECT_EQ(names.size(), 30U);
    for (const char* const name : {"DevLong", "DevVarDoubleStringArray", "State", "SwitchStates"})
        EXPECT_TRUE(names.contains(name)) << name;
    const Tango::DevCmdInfo_var one = device_->command_query("DevLong");
    EXPECT_STREQ(one->cmd_name, "DevLong");
    EXPECT_EQ(one->in_type, 3);
    EXPECT_EQ(one->out_type, 3);
    EXPECT_STREQ(one->in_type_desc, "Any DevLong value");
    EXPECT_STREQ(one->out_type_desc, "Echo of the argin value");
    const Tango::DevCmdInfo_2_var other = device_->command_query_2("State");
    EXPECT_EQ(other->out_type, 19);
}

TEST_P(Device, EchoesScalarsInAny)
{
    expect_echo<CORBA::Short>("DevShort", edges<CORBA::Short>());
    expect_echo<CORBA::UShort>("DevUShort", edges<CORBA::UShort>());
    expect_echo<CORBA::Long>("DevLong", edges<CORBA::Long>());
    expect_echo<CORBA::ULong>("DevULong", edges<CORBA::ULong>());
    expect_echo<CORBA::LongLong>("DevLong64", edges<CORBA::LongLong>());
    expect_echo<CORBA::ULongLong>("DevULong64", edges<CORBA::ULongLong>());
    expect_echo<CORBA::Float>("DevFloat", edges<CORBA::Float>());
    expect_echo<CORBA::Double>("DevDouble", edges<CORBA::Double>());
    for (const bool value : {true, false}) {
        const CORBA::Any_var answer = command("DevBoolean", CORBA::Any::from_boolean(value));
        CORBA::Boolean got = !value;
        ASSERT_TRUE(answer.in() >>= CORBA::Any::to_boolean(got));
        EXPECT_EQ(got, value);
    }
    const std::string longer(20'000, 'k'); // omniORB cuts messages at 8 KiB
    for (const char* const text : {"", "text", "h\xC3\xA4h", longer.c_str()}) {
        const CORBA::Any_var answer = command("DevString", text);
        const char* got = nullptr;
        ASSERT_TRUE(answer.in() >>= got);
        EXPECT_STREQ(got, text);
    }
}

TEST_P(Device, EchoesArraysInAny)
{
    expect_echo_of<Tango::DevVarShortArray, CORBA::Short>("DevVarShortArray",
                                                          edges<CORBA::Short>());
    expect_echo_of<Tango::DevVarUShortArray, CORBA::UShort>("DevVarUShortArray",
                                                            edges<CORBA::UShort>());
    expect_echo_of<Tango::DevVarLongArray, CORBA::Long>("DevVarLongArray", edges<CORBA::Long>());
    expect_echo_of<Tango::DevVarULongArray, CORBA::ULong>("DevVarULongArray",
                                                          edges<CORBA::ULong>());
    expect_echo_of<Tango::DevVarLong64Array, CORBA::LongLong>("DevVarLong64Array",
                                                              edges<CORBA::LongLong>());
    expect_echo_of<Tango::DevVarULong64Array, CORBA::ULongLong>("DevVarULong64Array",
                                                                edges<CORBA::ULongLong>());
    expect_echo_of<Tango::DevVarFloatArray, CORBA::Float>("DevVarFloatArray",
                                                          edges<CORBA::Float>());
    expect_echo_of<Tango::DevVarDoubleArray, CORBA::Double>("DevVarDoubleArray",
                                                            edges<CORBA::Double>());
    expect_echo_of<Tango::DevVarCharArray, CORBA::Octet>("DevVarCharArray", edges<CORBA::Octet>());

    const CORBA::Any_var texts = command("DevVarStringArray", names_of({"one", "", "h\xC3\xA4h"}));
    const Tango::DevVarStringArray* got = nullptr;
    ASSERT_TRUE(texts.in() >>= got);
    EXPECT_EQ(list_of<std::string>(*got), (std::vector<std::string>{"one", "", "h\xC3\xA4h"}));
}

TEST_P(Device, EchoesStructsInAny)
{
    Tango::DevVarLongStringArray longs;
    longs.lvalue = sequence_of<Tango::DevVarLongArray>({1, -2, 3});
    longs.svalue = names_of({"a", "bc"});
    const CORBA::Any_var first = command("DevVarLongStringArray", longs);
    const Tango::DevVarLongStringArray* got = nullptr;
    ASSERT_TRUE(first.in() >>= got);
    EXPECT_EQ(list_of<CORBA::Long>(got->lvalue), (std::vector<CORBA::Long>{1, -2, 3}));
    EXPECT_EQ(list_of<std::string>(got->svalue), (std::vector<std::string>{"a", "bc"}));

    Tango::DevVarDoubleStringArray doubles;
    doubles.dvalue = sequence_of<Tango::DevVarDoubleArray>({0.5, -1e300});
    doubles.svalue = names_of({"", "x"});
    const CORBA::Any_var second = command("DevVarDoubleStringArray", doubles);
    const Tango::DevVarDoubleStringArray* other = nullptr;
    ASSERT_TRUE(second.in() >>= other);
    EXPECT_EQ(list_of<CORBA::Double>(other->dvalue), (std::vector<CORBA::Double>{0.5, -1e300}));
    EXPECT_EQ(list_of<std::string>(other->svalue), (std::vector<std::string>{"", "x"}));
}

TEST_P(Device, TakesWhatOlderClientsSend)
{
    CORBA::Any argument;
    argument <<= CORBA::Long{-7};
    CORBA::Any_var answer = device_->command_inout("DevLong", argument);
    CORBA::Long got = 0;
    ASSERT_TRUE(answer.in() >>= got);
    EXPECT_EQ(got, -7);
    answer = device_->command_inout_2("DevLong", argument, Tango::CACHE_DEV);
    got = 0;
    ASSERT_TRUE(answer.in() >>= got);
    EXPECT_EQ(got, -7);

    // Nothing goes in and nothing comes out: an Any without a value both times.
    answer = device_->command_inout("DevVoid", CORBA::Any());
    EXPECT_EQ(CORBA::TypeCode_var(answer->type())->kind(), CORBA::tk_null);
    answer = device_->command_inout("State", CORBA::Any());
    Tango::DevState state = Tango::UNKNOWN;
    ASSERT_TRUE(answer.in() >>= state);
    EXPECT_EQ(state, Tango::RUNNING);
}

TEST_P(Device, WritesAndReadsAttributes)
{
    using namespace Tango;
    EXPECT_WRITTEN("boolean_scalar", bool_att_value, DevVarBooleanArray, bool, SCALAR, 1, 0,
                   {true});
    EXPECT_WRITTEN("short_scalar", short_att_value, DevVarShortArray, CORBA::Short, SCALAR, 1, 0,
                   {-123});
    EXPECT_WRITTEN("ushort_scalar", ushort_att_value, DevVarUShortArray, CORBA::UShort, SCALAR, 1,
                   0, {65535});
    EXPECT_WRITTEN("long_scalar", long_att_value, DevVarLongArray, CORBA::Long, SCALAR, 1, 0,
                   {-70000});
    EXPECT_WRITTEN("ulong_scalar", ulong_att_value, DevVarULongArray, CORBA::ULong, SCALAR, 1, 0,
                   {4'000'000'000U});
    EXPECT_WRITTEN("long64_scalar", long64_att_value, DevVarLong64Array, CORBA::LongLong, SCALAR, 1,
                   0, {-5'000'000'000});
    EXPECT_WRITTEN("ulong64_scalar", ulong64_att_value, DevVarULong64Array, CORBA::ULongLong,
                   SCALAR, 1, 0, {10'000'000'000'000'000'000U});
    EXPECT_WRITTEN("float_scalar", float_att_value, DevVarFloatArray, CORBA::Float, SCALAR, 1, 0,
                   {0.5F});
    EXPECT_WRITTEN("double_scalar", double_att_value, DevVarDoubleArray, CORBA::Double, SCALAR, 1,
                   0, {-2.5});
    EXPECT_WRITTEN("uchar_scalar", uchar_att_value, DevVarCharArray, CORBA::Octet, SCALAR, 1, 0,
                   {255});
    EXPECT_WRITTEN("double_spectrum", double_att_value, DevVarDoubleArray, CORBA::Double, SPECTRUM,
                   4, 0, {1, 2, 3.25, -4});
    EXPECT_WRITTEN("long_spectrum", long_att_value, DevVarLongArray, CORBA::Long, SPECTRUM, 3, 0,
                   {1, -2, 3});
    EXPECT_WRITTEN("boolean_spectrum", bool_att_value, DevVarBooleanArray, bool, SPECTRUM, 3, 0,
                   {true, false, true});
    EXPECT_WRITTEN("uchar_spectrum", uchar_att_value, DevVarCharArray, CORBA::Octet, SPECTRUM, 5, 0,
                   {1, 0, 255, 4, 5});
    EXPECT_WRITTEN("short_image", short_att_value, DevVarShortArray, CORBA::Short, IMAGE, 3, 2,
                   {1, 2, 3, -4, -5, -6});
    EXPECT_WRITTEN("float_image", float_att_value, DevVarFloatArray, CORBA::Float, IMAGE, 2, 2,
                   {0.5F, 1, 1.5F, 2});
}

TEST_P(Device, WritesAndReadsStrings)
{
    Tango::AttrValUnion value;
    value.string_att_value(names_of({"one", "", "three"}));
    const auto read = written("string_spectrum", value, 3, 0, Tango::SPECTRUM);
    ASSERT_EQ(read.value._d(), Tango::ATT_STRING);
    expect_end(read.value.string_att_value(), std::vector<std::string>{"one", "", "three"});
}

TEST_P(Device, ReadsManyAttributesAtOnce)
{
    const auto names = names_of({"State", "Status", "long_scalar", "double_image_ro",
                                 "ushort_spectrum_ro", "throw_exception", "nothing"});
    const Tango::AttributeValueList_5_var five =
        device_->read_attributes_5(names, Tango::DEV, client_);
    ASSERT_EQ(five->length(), 7U);
    ASSERT_EQ(five[0].value._d(), Tango::DEVICE_STATE);
    EXPECT_EQ(five[0].value.dev_state_att(), Tango::RUNNING);
    EXPECT_EQ(five[0].data_type, 19);
    ASSERT_EQ(five[1].value._d(), Tango::ATT_STRING);
    EXPECT_EQ(list_of<std::string>(five[1].value.string_att_value()),
              std::vector<std::string>{"The device is in RUNNING state."});
    ASSERT_EQ(five[2].value._d(), Tango::ATT_LONG);
    EXPECT_EQ(five[2].value.long_att_value().length(), 2U); // what is, and what was set
    EXPECT_EQ(five[2].quality, Tango::ATTR_VALID);
    EXPECT_GT(five[2].time.tv_sec, 1'000'000'000);
    ASSERT_EQ(five[3].value._d(), Tango::ATT_DOUBLE);
    EXPECT_EQ(five[3].data_format, Tango::IMAGE);
    EXPECT_EQ(five[3].value.double_att_value().length(),
              static_cast<CORBA::ULong>(five[3].r_dim.dim_x * five[3].r_dim.dim_y));
    EXPECT_EQ(five[3].r_dim.dim_x, 251);
    EXPECT_EQ(five[3].r_dim.dim_y, 251);
    ASSERT_EQ(five[4].value._d(), Tango::ATT_USHORT);
    EXPECT_EQ(five[4].value.ushort_att_value().length(), 256U);
    // What cannot be read says so beside what can.
    ASSERT_EQ(five[5].err_list.length(), 1U);
    EXPECT_STREQ(five[5].err_list[0].reason, "exception test");
    EXPECT_STREQ(five[5].err_list[0].origin, "TangoTest::read_throw_exception");
    ASSERT_EQ(five[6].err_list.length(), 1U);
    EXPECT_STREQ(five[6].err_list[0].reason, "API_AttrNotFound");

    const Tango::AttributeValueList_4_var four =
        device_->read_attributes_4(names, Tango::DEV, client_);
    ASSERT_EQ(four->length(), 7U);
    EXPECT_EQ(four[0].value.dev_state_att(), Tango::RUNNING);
    EXPECT_EQ(four[3].value.double_att_value().length(), 251U * 251U);
    EXPECT_STREQ(four[5].err_list[0].reason, "exception test");

    // Before there were unions, values were Anys.
    const Tango::AttributeValueList_3_var three =
        device_->read_attributes_3(names_of({"State", "short_spectrum_ro"}), Tango::DEV);
    ASSERT_EQ(three->length(), 2U);
    Tango::DevState state = Tango::UNKNOWN;
    const Tango::DevVarStateArray* states = nullptr;
    if (three[0].value >>= states)
        state = (*states)[0];
    else
        EXPECT_TRUE(three[0].value >>= state);
    EXPECT_EQ(state, Tango::RUNNING);
    const Tango::DevVarShortArray* shorts = nullptr;
    ASSERT_TRUE(three[1].value >>= shorts);
    EXPECT_EQ(shorts->length(), 256U);
}

TEST_P(Device, ReadsConfigurationsAndPipes)
{
    const Tango::AttributeConfigList_5_var list =
        device_->get_attribute_config_5(names_of({"double_image", "ampli"}));
    ASSERT_EQ(list->length(), 2U);
    EXPECT_STREQ(list[0].name, "double_image");
    EXPECT_EQ(list[0].data_format, Tango::IMAGE);
    EXPECT_EQ(list[0].data_type, 5);
    EXPECT_EQ(list[0].writable, Tango::READ_WRITE);
    EXPECT_EQ(list[0].max_dim_x, 251);
    EXPECT_STREQ(list[0].format, "%6.2f");
    EXPECT_STREQ(list[0].event_prop.per_event.period, "1000");
    EXPECT_EQ(list[1].writable, Tango::WRITE);

    // A struct that holds a sequence of itself.
    const Tango::DevPipeData_var pipe = device_->read_pipe_5("string_long_short_ro", client_);
    const auto& elements = pipe->data_blob.blob_data;
    ASSERT_EQ(elements.length(), 3U);
    EXPECT_STREQ(elements[0].name, "FirstDE");
    EXPECT_EQ(list_of<std::string>(elements[0].value.string_att_value()),
              std::vector<std::string>{"The string"});
    EXPECT_EQ(list_of<CORBA::Long>(elements[1].value.long_att_value()),
              std::vector<CORBA::Long>{666});
    EXPECT_EQ(list_of<CORBA::Short>(elements[2].value.short_att_value()),
              std::vector<CORBA::Short>{12});
    EXPECT_EQ(elements[2].inner_blob.length(), 0U);
}

TEST_P(Device, SaysWhatFailed)
{
    const auto reason_of = [](const auto& call) -> std::string {
        try {
            (void)call();
        } catch (const Tango::DevFailed& failed) {
            if (failed.errors.length() == 0) return "no reason";
            EXPECT_EQ(failed.errors[0].severity, Tango::ERR);
            EXPECT_STRNE(failed.errors[0].origin, "");
            return failed.errors[0].reason.in();
        } catch (const Tango::MultiDevFailed& failed) {
            if (failed.errors.length() != 1 || failed.errors[0].err_list.length() == 0)
                return "no reason";
            EXPECT_STREQ(failed.errors[0].name, "nothing");
            return failed.errors[0].err_list[0].reason.in();
        }
        return "";
    };
    EXPECT_EQ(reason_of([&] { return device_->command_query("Nonsense"); }), "API_CommandNotFound");
    EXPECT_EQ(reason_of([&] { return command("Nonsense", CORBA::Long{1}); }),
              "API_CommandNotFound");
    EXPECT_EQ(reason_of([&] { return command("DevLong", "text"); }),
              "API_IncompatibleCmdArgumentType");
    EXPECT_EQ(reason_of([&] { return device_->read_attributes(names_of({"throw_exception"})); }),
              "exception test");
    EXPECT_EQ(reason_of([&] {
                  Tango::AttrValUnion value;
                  value.long_att_value(sequence_of<Tango::DevVarLongArray>({1}));
                  const auto values = to_write("nothing", value, 1, 0, Tango::SCALAR);
                  device_->write_attributes_4(values, client_);
                  return 0;
              }),
              "API_AttrNotFound");
    // It goes on as if nothing had happened.
    expect_echo<CORBA::Long>("DevLong", {5});
}

#ifdef KAIROS_TOOL
/// `kairos call` and `kairos describe`, with nothing but the IDL.
TEST_P(Device, IsCalledByHand)
{
    const auto call = [&](std::vector<std::string> arguments) {
        std::vector<std::string> line{KAIROS_TOOL, "call", address(), "--idl", TANGO_IDL, "--json"};
        line.insert(line.end(), arguments.begin(), arguments.end());
        return kairos::bench::run_to_end(process_options(line), patience).value();
    };
    EXPECT_EQ(call({"name"}).output, "{\"result\":\"sys/tg_test/1\"}\n");
    EXPECT_EQ(call({"ping"}).output, "{}\n");
    EXPECT_EQ(call({"command_inout", "DevDouble", "1.5"}).output,
              "{\"result\":{\"type\":\"double\",\"value\":1.5}}\n");
    EXPECT_EQ(call({"command_inout", "DevVarLongArray",
                    R"({"type":"Tango::DevVarLongArray","value":[1,-2]})"})
                  .output,
              "{\"result\":{\"type\":\"IDL:Tango/DevVarLongArray:1.0\",\"value\":[1,-2]}}\n");
    const auto read =
        call({"read_attributes_5", R"(["string_scalar"])", "DEV", R"({"cpp_clnt":4711})"});
    EXPECT_NE(
        read.output.find(R"("value":{"_d":"ATT_STRING","string_att_value":["Default string")"),
        std::string::npos)
        << read.output << read.errors;
    const auto failed = call({"command_inout", "Nonsense", "1"});
    EXPECT_EQ(failed.exit_status, 3);
    EXPECT_NE(failed.output.find(R"("exception":"IDL:Tango/DevFailed:1.0")"), std::string::npos)
        << failed.output;
    EXPECT_NE(failed.output.find(R"("reason":"API_CommandNotFound")"), std::string::npos);
}
#endif

INSTANTIATE_TEST_SUITE_P(Versions, Device, testing::Values("1.0", "1.1", "1.2"),
                         [](const auto& version) { return "giop_1_" + version.param.substr(2); });

#else

TEST(Device, IsThere)
{
    ASSERT_TRUE(tango_may_be_missing()) << "Debian's tango-test is not installed";
    GTEST_SKIP() << "Debian's tango-test is not installed";
}

#endif
