// SPDX-License-Identifier: Apache-2.0
#include "device_servant.h"

#include <array>

namespace interop {

namespace {

struct Command {
    const char* name;
    CORBA::Long in;
    CORBA::Long out;
};
// Those with a type's name give back what they get.
constexpr std::array commands = {
    Command{"DevBoolean", 1, 1},
    Command{"DevShort", 2, 2},
    Command{"DevLong", 3, 3},
    Command{"DevFloat", 4, 4},
    Command{"DevDouble", 5, 5},
    Command{"DevUShort", 6, 6},
    Command{"DevULong", 7, 7},
    Command{"DevString", 8, 8},
    Command{"DevVarCharArray", 9, 9},
    Command{"DevVarShortArray", 10, 10},
    Command{"DevVarLongArray", 11, 11},
    Command{"DevVarFloatArray", 12, 12},
    Command{"DevVarDoubleArray", 13, 13},
    Command{"DevVarUShortArray", 14, 14},
    Command{"DevVarULongArray", 15, 15},
    Command{"DevVarStringArray", 16, 16},
    Command{"DevVarLongStringArray", 17, 17},
    Command{"DevVarDoubleStringArray", 18, 18},
    Command{"DevLong64", 23, 23},
    Command{"DevULong64", 24, 24},
    Command{"DevVarLong64Array", 25, 25},
    Command{"DevVarULong64Array", 26, 26},
    Command{"Fail", dev_void, dev_void},
    Command{"State", dev_void, 19},
    Command{"Status", dev_void, dev_string},
};

Tango::DevErrorList failure(const char* reason, const std::string& what)
{
    Tango::DevErrorList errors;
    errors.length(1);
    errors[0].reason = reason;
    errors[0].severity = Tango::ERR;
    errors[0].desc = what.c_str();
    errors[0].origin = "DeviceServant";
    return errors;
}

const Command& command_of(std::string_view name)
{
    for (const Command& command : commands)
        if (command.name == name) return command;
    throw Tango::DevFailed(failure("API_CommandNotFound", std::string(name)));
}

Tango::DevCmdInfo_2 info_of(const Command& command)
{
    Tango::DevCmdInfo_2 info;
    info.cmd_name = command.name;
    info.level = Tango::OPERATOR;
    info.cmd_tag = 0;
    info.in_type = command.in;
    info.out_type = command.out;
    info.in_type_desc = "what goes in";
    info.out_type_desc = "what comes out";
    return info;
}

Tango::DevCmdInfo older(const Tango::DevCmdInfo_2& newer)
{
    return {newer.cmd_name, newer.cmd_tag,      newer.in_type,
            newer.out_type, newer.in_type_desc, newer.out_type_desc};
}

template <typename Sequence>
Sequence doubled(const Sequence& once)
{
    Sequence twice = once;
    twice.length(2 * once.length());
    for (CORBA::ULong i = 0; i < once.length(); ++i)
        twice[once.length() + i] = once[i];
    return twice;
}

/// What is read with, behind it, what was written: the same here.
Tango::AttrValUnion doubled(const Tango::AttrValUnion& once)
{
    Tango::AttrValUnion twice;
    switch (once._d()) {
#define DOUBLED(kind, member)                                                                      \
    case Tango::kind:                                                                              \
        twice.member(doubled(once.member()));                                                      \
        break;
        DOUBLED(ATT_BOOL, bool_att_value)
        DOUBLED(ATT_SHORT, short_att_value)
        DOUBLED(ATT_LONG, long_att_value)
        DOUBLED(ATT_LONG64, long64_att_value)
        DOUBLED(ATT_FLOAT, float_att_value)
        DOUBLED(ATT_DOUBLE, double_att_value)
        DOUBLED(ATT_UCHAR, uchar_att_value)
        DOUBLED(ATT_USHORT, ushort_att_value)
        DOUBLED(ATT_ULONG, ulong_att_value)
        DOUBLED(ATT_ULONG64, ulong64_att_value)
        DOUBLED(ATT_STRING, string_att_value)
        DOUBLED(ATT_ENCODED, encoded_att_value)
#undef DOUBLED
    default:
        twice = once;
    }
    return twice;
}

template <typename Sequence, typename Element>
Tango::AttrValUnion value_of(void (Tango::AttrValUnion::*set)(const Sequence&),
                             std::initializer_list<Element> elements)
{
    Tango::AttrValUnion value;
    (value.*set)(sequence_of<Sequence>(elements));
    return value;
}

} // namespace

DeviceServant::DeviceServant(std::string name) : name_(std::move(name))
{
    using namespace Tango;
    using Value = AttrValUnion;
    const auto scalar = [&](const char* attribute, CORBA::Long type, Value value) {
        attributes_[attribute] = {SCALAR, type, true, std::move(value), {1, 0}};
    };
    scalar("boolean", dev_boolean, value_of(&Value::bool_att_value, {true}));
    scalar("short", dev_short,
           value_of<DevVarShortArray, CORBA::Short>(&Value::short_att_value, {-2}));
    scalar("long", dev_long, value_of(&Value::long_att_value, {CORBA::Long{-70000}}));
    scalar("long64", dev_long64, value_of(&Value::long64_att_value, {CORBA::LongLong{-5}}));
    scalar("float", dev_float, value_of(&Value::float_att_value, {0.5F}));
    scalar("double", dev_double, value_of(&Value::double_att_value, {-2.5}));
    scalar("uchar", dev_uchar,
           value_of<DevVarCharArray, CORBA::Octet>(&Value::uchar_att_value, {255}));
    scalar("ushort", dev_ushort,
           value_of<DevVarUShortArray, CORBA::UShort>(&Value::ushort_att_value, {65535}));
    scalar("ulong", dev_ulong, value_of(&Value::ulong_att_value, {CORBA::ULong{4'000'000'000}}));
    scalar("ulong64", dev_ulong64, value_of(&Value::ulong64_att_value, {~CORBA::ULongLong{0}}));
    scalar("string", dev_string, value_of(&Value::string_att_value, {"text"}));
    DevEncoded encoded;
    encoded.encoded_format = "RAW";
    encoded.encoded_data = sequence_of<DevVarCharArray, CORBA::Octet>({1, 0, 255});
    scalar("encoded", dev_encoded, value_of(&Value::encoded_att_value, {encoded}));
    attributes_["doubles"] = {SPECTRUM,
                              dev_double,
                              true,
                              value_of(&Value::double_att_value, {1.0, -2.25, 1e300}),
                              {3, 0}};
    attributes_["strings"] = {SPECTRUM,
                              dev_string,
                              false,
                              value_of(&Value::string_att_value, {"one", "", "three"}),
                              {3, 0}};
    attributes_["shorts"] = {
        IMAGE,
        dev_short,
        true,
        value_of<DevVarShortArray, CORBA::Short>(&Value::short_att_value, {1, 2, 3, -4, -5, -6}),
        {3, 2}};
}

Tango::DevInfo* DeviceServant::info()
{
    return new Tango::DevInfo{"Kairos", "kairos/test", "localhost", 5, "none"};
}

Tango::DevInfo_3* DeviceServant::info_3()
{
    return new Tango::DevInfo_3{"Kairos", "kairos/test", "localhost", 5, "none", "Kairos"};
}

Tango::DevCmdInfoList* DeviceServant::command_list_query()
{
    Tango::DevCmdInfoList_var list = new Tango::DevCmdInfoList;
    list->length(commands.size());
    for (CORBA::ULong i = 0; i < list->length(); ++i)
        list[i] = older(info_of(commands.at(i)));
    return list._retn();
}

Tango::DevCmdInfoList_2* DeviceServant::command_list_query_2()
{
    Tango::DevCmdInfoList_2_var list = new Tango::DevCmdInfoList_2;
    list->length(commands.size());
    for (CORBA::ULong i = 0; i < list->length(); ++i)
        list[i] = info_of(commands.at(i));
    return list._retn();
}

Tango::DevCmdInfo* DeviceServant::command_query(const char* command)
{
    return new Tango::DevCmdInfo(older(info_of(command_of(command))));
}

Tango::DevCmdInfo_2* DeviceServant::command_query_2(const char* command)
{
    return new Tango::DevCmdInfo_2(info_of(command_of(command)));
}

CORBA::Any* DeviceServant::command_inout(const char* command, const CORBA::Any& argument)
{
    const std::string_view name = command_of(command).name;
    if (name == "Fail") throw Tango::DevFailed(failure("API_Asked", "as asked"));
    CORBA::Any_var answer = new CORBA::Any(argument);
    if (name == "State") answer.inout() <<= state();
    if (name == "Status") answer.inout() <<= "it moves";
    return answer._retn();
}

CORBA::Any* DeviceServant::command_inout_4(const char* command, const CORBA::Any& argument,
                                           Tango::DevSource, const Tango::ClntIdent& client)
{
    if (client._d() == Tango::CPP) last_client = client.cpp_clnt();
    return command_inout(command, argument);
}

Tango::AttributeConfigList_5*
DeviceServant::get_attribute_config_5(const Tango::DevVarStringArray& names)
{
    std::vector<std::string> wanted = list_of<std::string>(names);
    if (wanted == std::vector<std::string>{"All attributes_3"} ||
        wanted == std::vector<std::string>{"All attributes"}) {
        wanted.clear();
        for (const auto& [name, attribute] : attributes_)
            wanted.push_back(name);
    }
    Tango::AttributeConfigList_5_var list = new Tango::AttributeConfigList_5;
    for (const std::string& name : wanted) {
        const auto found = attributes_.find(name);
        if (found == attributes_.end())
            throw Tango::DevFailed(failure("API_AttrNotFound", name + " attribute not found"));
        const Attribute& attribute = found->second;
        list->length(list->length() + 1);
        Tango::AttributeConfig_5& config = list[list->length() - 1];
        config.name = name.c_str();
        config.writable = attribute.writable ? Tango::READ_WRITE : Tango::READ;
        config.data_format = attribute.format;
        config.data_type = attribute.type;
        config.memorized = false;
        config.mem_init = false;
        config.max_dim_x = 16;
        config.max_dim_y = attribute.format == Tango::IMAGE ? 16 : 0;
        config.label = name.c_str();
        config.unit = "mm";
        config.level = Tango::OPERATOR;
    }
    return list._retn();
}

Tango::AttributeValue_5 DeviceServant::read(const char* name) const
{
    Tango::AttributeValue_5 value;
    value.name = name;
    value.quality = Tango::ATTR_VALID;
    value.data_format = Tango::SCALAR;
    value.data_type = 0;
    value.time = Tango::TimeVal{1'700'000'000, 250'000, 0};
    value.r_dim = value.w_dim = Tango::AttributeDim{0, 0};
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) {
        value.quality = Tango::ATTR_INVALID;
        value.value.union_no_data(true);
        value.err_list = failure("API_AttrNotFound", std::string(name) + " attribute not found");
        return value;
    }
    const Attribute& attribute = found->second;
    value.data_format = attribute.format;
    value.data_type = attribute.type;
    value.value = attribute.writable ? doubled(attribute.value) : attribute.value;
    value.r_dim = attribute.size;
    if (attribute.writable) value.w_dim = attribute.size;
    return value;
}

Tango::AttributeValueList* DeviceServant::read_attributes(const Tango::DevVarStringArray&)
{
    throw CORBA::NO_IMPLEMENT(); // clients of this release ask otherwise
}

Tango::AttributeValueList_3* DeviceServant::read_attributes_3(const Tango::DevVarStringArray&,
                                                              Tango::DevSource)
{
    throw CORBA::NO_IMPLEMENT();
}

Tango::AttributeValueList_4* DeviceServant::read_attributes_4(const Tango::DevVarStringArray&,
                                                              Tango::DevSource,
                                                              const Tango::ClntIdent&)
{
    throw CORBA::NO_IMPLEMENT();
}

Tango::AttributeValueList_5* DeviceServant::read_attributes_5(const Tango::DevVarStringArray& names,
                                                              Tango::DevSource,
                                                              const Tango::ClntIdent&)
{
    Tango::AttributeValueList_5_var list = new Tango::AttributeValueList_5;
    list->length(names.length());
    for (CORBA::ULong i = 0; i < names.length(); ++i)
        list[i] = read(names[i]);
    return list._retn();
}

void DeviceServant::write_attributes_4(const Tango::AttributeValueList_4& values,
                                       const Tango::ClntIdent&)
{
    Tango::NamedDevErrorList failures;
    for (CORBA::ULong i = 0; i < values.length(); ++i) {
        const auto found = attributes_.find(values[i].name.in());
        if (found != attributes_.end() && found->second.writable &&
            found->second.value._d() == values[i].value._d()) {
            found->second.value = values[i].value;
            found->second.size = values[i].w_dim;
            continue;
        }
        failures.length(failures.length() + 1);
        failures[failures.length() - 1] = {values[i].name, static_cast<CORBA::Long>(i),
                                           failure("API_AttrNotWritable", "not to be written")};
    }
    if (failures.length() != 0) throw Tango::MultiDevFailed(failures);
}

Tango::AttributeValueList_5*
DeviceServant::write_read_attributes_5(const Tango::AttributeValueList_4& values,
                                       const Tango::DevVarStringArray& names,
                                       const Tango::ClntIdent& client)
{
    write_attributes_4(values, client);
    return read_attributes_5(names, Tango::DEV, client);
}

Tango::DevPipeData* DeviceServant::read_pipe_5(const char* name, const Tango::ClntIdent&)
{
    Tango::DevPipeData_var pipe = new Tango::DevPipeData;
    pipe->name = name;
    pipe->time = Tango::TimeVal{1'700'000'000, 0, 0};
    pipe->data_blob.name = "blob";
    auto& elements = pipe->data_blob.blob_data;
    elements.length(2);
    elements[0].name = "number";
    elements[0].value = attributes_.at("long").value;
    elements[1].name = "text";
    elements[1].value = attributes_.at("string").value;
    return pipe._retn();
}

} // namespace interop
