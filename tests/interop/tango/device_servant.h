// SPDX-License-Identifier: Apache-2.0
//
// A device as TANGO's clients expect it, on Kairos: commands that give back what they get, one that
// fails, and attributes that can be written. Called by one thread at a time.
#pragma once

#include "tango.h"

#include <atomic>
#include <map>
#include <utility>

namespace interop {

/// TANGO's numbers of the types of commands and attributes.
enum TangoType : CORBA::Long {
    dev_void = 0,
    dev_boolean = 1,
    dev_short = 2,
    dev_long = 3,
    dev_float = 4,
    dev_double = 5,
    dev_ushort = 6,
    dev_ulong = 7,
    dev_string = 8,
    dev_uchar = 22,
    dev_long64 = 23,
    dev_ulong64 = 24,
    dev_encoded = 28,
};

class DeviceServant final : public virtual POA_Tango::Device_5 {
  public:
    explicit DeviceServant(std::string name);

    char* name() override { return CORBA::string_dup(name_.c_str()); }
    char* description() override { return CORBA::string_dup("a device of Kairos"); }
    Tango::DevState state() override { return Tango::MOVING; }
    char* status() override { return CORBA::string_dup("it moves"); }
    char* adm_name() override { return CORBA::string_dup("dserver/kairos/test"); }
    void ping() override { ++pings; }
    Tango::DevInfo* info() override;
    Tango::DevInfo_3* info_3() override;

    Tango::DevCmdInfoList* command_list_query() override;
    Tango::DevCmdInfoList_2* command_list_query_2() override;
    Tango::DevCmdInfo* command_query(const char* command) override;
    Tango::DevCmdInfo_2* command_query_2(const char* command) override;
    CORBA::Any* command_inout(const char* command, const CORBA::Any& argument) override;
    CORBA::Any* command_inout_2(const char* command, const CORBA::Any& argument,
                                Tango::DevSource) override
    {
        return command_inout(command, argument);
    }
    CORBA::Any* command_inout_4(const char* command, const CORBA::Any& argument, Tango::DevSource,
                                const Tango::ClntIdent& client) override;

    Tango::AttributeConfigList_5*
    get_attribute_config_5(const Tango::DevVarStringArray& names) override;
    Tango::AttributeValueList* read_attributes(const Tango::DevVarStringArray&) override;
    Tango::AttributeValueList_3* read_attributes_3(const Tango::DevVarStringArray&,
                                                   Tango::DevSource) override;
    Tango::AttributeValueList_4* read_attributes_4(const Tango::DevVarStringArray&,
                                                   Tango::DevSource,
                                                   const Tango::ClntIdent&) override;
    Tango::AttributeValueList_5* read_attributes_5(const Tango::DevVarStringArray& names,
                                                   Tango::DevSource,
                                                   const Tango::ClntIdent&) override;
    void write_attributes_4(const Tango::AttributeValueList_4& values,
                            const Tango::ClntIdent&) override;
    Tango::AttributeValueList_5* write_read_attributes_5(const Tango::AttributeValueList_4& values,
                                                         const Tango::DevVarStringArray& names,
                                                         const Tango::ClntIdent& client) override;
    Tango::DevPipeData* read_pipe_5(const char* name, const Tango::ClntIdent&) override;

    std::atomic<int> pings = 0;
    std::atomic<CORBA::ULong> last_client = 0; ///< the process id that TANGO's client says

  private:
    struct Attribute {
        Tango::AttrDataFormat format;
        CORBA::Long type;
        bool writable;
        Tango::AttrValUnion value; ///< what is read, and the last that was written
        Tango::AttributeDim size;
    };
    [[nodiscard]] Tango::AttributeValue_5 read(const char* name) const;

    const std::string name_;
    std::map<std::string, Attribute, std::less<>> attributes_;
};

} // namespace interop
