// SPDX-License-Identifier: Apache-2.0
//
// What the tests of servants without a skeleton share: one that serves Dynamic::Target and whatever
// a test adds to it, and an ORB that serves it to a client within the process or over TCP.
#pragma once

#include "fixture.h"

namespace kairos::dynamic_testing {

inline constexpr const char* target_id = "IDL:kairos.test/Dynamic/Target:1.0";

/// A parameter: its direction and type.
struct Parameter {
    CORBA::Flags direction;
    CORBA::TypeCode_ptr type;
};

/// A list of these parameters, owned by the caller.
[[nodiscard]] inline CORBA::NVList_ptr list_of(std::initializer_list<Parameter> parameters)
{
    CORBA::NVList_var list = new CORBA::NVList;
    for (const Parameter& parameter : parameters)
        list->add(parameter.direction)->value()->replace(parameter.type, nullptr);
    return list._retn();
}

/// Asks a request for its arguments and returns them; the list stays the request's.
inline CORBA::NVList_ptr arguments_of(CORBA::ServerRequest_ptr request,
                                      std::initializer_list<Parameter> parameters)
{
    CORBA::NVList_ptr list = list_of(parameters);
    request->arguments(list);
    return list;
}

inline CORBA::Any& value_of(CORBA::NVList_ptr list, CORBA::ULong index)
{
    return *list->item(index)->value();
}

template <typename T>
T get(CORBA::NVList_ptr list, CORBA::ULong index)
{
    T value{};
    EXPECT_TRUE(value_of(list, index) >>= value);
    return value;
}

inline CORBA::Any as_any(auto value)
{
    CORBA::Any any;
    any <<= value;
    return any;
}

/// Serves Dynamic::Target as Servant does, and is thread-safe in the same way. `actions`, which are
/// set before there is a request, come first.
class Unskilled : public PortableServer::DynamicImplementation {
  public:
    using Action = std::function<void(CORBA::ServerRequest_ptr)>;

    std::map<std::string, Action, std::less<>> actions;
    std::string interface = target_id;
    std::atomic<int> asked_for_interface{0};
    std::atomic<CORBA::Long> last_note{0};
    orb_testing::Event noted;

    char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr poa) override
    {
        ++asked_for_interface;
        EXPECT_FALSE(CORBA::is_nil(poa));
        return CORBA::string_dup(interface.c_str());
    }

    void invoke(CORBA::ServerRequest_ptr request) override
    {
        const std::string_view operation = request->operation();
        if (const auto found = actions.find(operation); found != actions.end())
            return found->second(request);
        if (operation == "add") return add(request);
        if (operation == "change") return change(request);
        if (operation == "link") return link(request);
        if (operation == "refuse") return refuse(request);
        if (operation == "asked") return asked(request);
        if (operation == "note") return note(request);
        if (operation == "large") return large(request);
        if (operation == "_get_number") return read_number(request);
        if (operation == "_set_number") return write_number(request);
        throw CORBA::BAD_OPERATION(0x4f4d0002, CORBA::COMPLETED_NO);
    }

    static void add(CORBA::ServerRequest_ptr request)
    {
        CORBA::NVList_ptr list = arguments_of(
            request, {{CORBA::ARG_IN, CORBA::_tc_long}, {CORBA::ARG_IN, CORBA::_tc_long}});
        request->set_result(as_any(get<CORBA::Long>(list, 0) + get<CORBA::Long>(list, 1)));
    }

    static void large(CORBA::ServerRequest_ptr request)
    {
        CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, Dynamic::_tc_Octets}});
        const Dynamic::Octets* octets = nullptr;
        ASSERT_TRUE(value_of(list, 0) >>= octets);
        CORBA::ULong sum = 0;
        for (CORBA::ULong i = 0; i < octets->length(); ++i)
            sum += (*octets)[i];
        request->set_result(as_any(sum));
    }

  private:
    static void change(CORBA::ServerRequest_ptr request)
    {
        CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, CORBA::_tc_octet},
                                                        {CORBA::ARG_INOUT, Dynamic::_tc_Person},
                                                        {CORBA::ARG_IN, Dynamic::_tc_Choice},
                                                        {CORBA::ARG_OUT, Dynamic::_tc_Choice},
                                                        {CORBA::ARG_IN, CORBA::_tc_any},
                                                        {CORBA::ARG_OUT, CORBA::_tc_any},
                                                        {CORBA::ARG_IN, Dynamic::_tc_Grid},
                                                        {CORBA::ARG_OUT, Dynamic::_tc_Grid},
                                                        {CORBA::ARG_IN, Dynamic::_tc_Target},
                                                        {CORBA::ARG_OUT, Dynamic::_tc_Target},
                                                        {CORBA::ARG_IN, Dynamic::_tc_Code}});
        request->set_result(value_of(list, 1));
        CORBA::Octet octet = 0;
        EXPECT_TRUE(value_of(list, 0) >>= CORBA::Any::to_octet(octet));
        const char* code = nullptr;
        EXPECT_TRUE(value_of(list, 10) >>= CORBA::Any::to_string(code, 4));
        const Dynamic::Person* who = nullptr;
        ASSERT_TRUE(value_of(list, 1) >>= who);
        Dynamic::Person changed(*who);
        changed.name = code;
        changed.marks.length(1);
        changed.marks[0] = octet;
        value_of(list, 1) <<= changed;
        value_of(list, 3) = value_of(list, 2);
        value_of(list, 5) = value_of(list, 4);
        value_of(list, 7) = value_of(list, 6);
        CORBA::Object_var peer; // an object is one whatever its TypeCode says
        EXPECT_TRUE(value_of(list, 8) >>= CORBA::Any::to_object(peer.out()));
        value_of(list, 9) <<= peer.in();
    }

    static void link(CORBA::ServerRequest_ptr request)
    {
        CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, Dynamic::_tc_Item},
                                                        {CORBA::ARG_IN, Dynamic::_tc_Pair},
                                                        {CORBA::ARG_OUT, Dynamic::_tc_Item}});
        Dynamic::Item* first = nullptr;
        ASSERT_TRUE(value_of(list, 0) >>= first);
        request->set_result(value_of(list, 0));
        value_of(list, 2) <<= first->next();
    }

    static void refuse(CORBA::ServerRequest_ptr request)
    {
        CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, CORBA::_tc_string}});
        const auto* why = get<const char*>(list, 0);
        if (*why == '\0') throw Dynamic::Other();
        request->set_exception(as_any(Dynamic::Refused(why, Dynamic::Point{3, 4.5})));
    }

    static void asked(CORBA::ServerRequest_ptr request)
    {
        arguments_of(request, {});
        CORBA::NVList_var values;
        request->ctx()->get_values("", 0, "*", values.out());
        std::string all;
        for (CORBA::ULong i = 0; i < values->count(); ++i)
            all +=
                std::string(values->item(i)->name()) + "=" + get<const char*>(values.in(), i) + ";";
        request->set_result(as_any(all.c_str()));
    }

    void note(CORBA::ServerRequest_ptr request)
    {
        last_note = get<CORBA::Long>(arguments_of(request, {{CORBA::ARG_IN, CORBA::_tc_long}}), 0);
        noted.set();
    }

    void read_number(CORBA::ServerRequest_ptr request)
    {
        arguments_of(request, {});
        request->set_result(as_any(number_.load()));
    }
    void write_number(CORBA::ServerRequest_ptr request)
    {
        number_ = get<CORBA::Long>(arguments_of(request, {{CORBA::ARG_IN, CORBA::_tc_long}}), 0);
    }

    std::atomic<CORBA::Long> number_{0};
};

/// An ORB that serves, and a client: "collocated NAME" is in the same ORB, which has NAME as
/// -ORBCollocation; else it has an ORB of its own, and the server is of that architecture, or finds
/// operations "delayered".
class World {
  public:
    explicit World(const std::string& way)
        : is_collocated_(way.starts_with("collocated ")), orb_(make_orb(options_of(way)))
    {
        add_factories(orb_.in());
        add_factories(client_.orb());
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
        thread_ = std::thread([this] {
            try {
                orb_->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // shut down before this thread came that far
            }
        });
    }
    ~World()
    {
        orb_->shutdown(true);
        thread_.join();
        orb_->destroy();
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_.in(); }
    [[nodiscard]] PortableServer::POA_ptr poa() { return poa_.in(); }
    /// The object as the client has it.
    [[nodiscard]] Dynamic::Target_ptr seen(CORBA::Object_ptr object)
    {
        if (is_collocated_) return Dynamic::Target::_unchecked_narrow(object);
        const CORBA::String_var text = orb_->object_to_string(object);
        const CORBA::Object_var other = client_.orb()->string_to_object(text.in());
        return Dynamic::Target::_unchecked_narrow(other.in());
    }
    /// A new object of this servant, as the client has it.
    [[nodiscard]] Dynamic::Target_ptr activate(PortableServer::Servant servant)
    {
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        const CORBA::Object_var object = poa_->id_to_reference(id.in());
        return seen(object.in());
    }

  private:
    [[nodiscard]] static std::vector<std::string> options_of(const std::string& way)
    {
        std::vector<std::string> options{"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBDebug",
                                         "0"};
        const auto space = way.find(' ');
        if (way == "delayered") {
            options.insert(options.end(), {"-ORBDemux", way});
        } else if (space != std::string::npos) {
            options.insert(options.end(), {"-ORBCollocation", way.substr(space + 1)});
        } else {
            std::ranges::move(orb_testing::options_of_architecture(way),
                              std::back_inserter(options));
        }
        return options;
    }

    const bool is_collocated_;
    CORBA::ORB_var orb_;
    Client client_{{"-ORBDebug", "0"}};
    PortableServer::POA_var poa_;
    std::thread thread_;
};

} // namespace kairos::dynamic_testing
