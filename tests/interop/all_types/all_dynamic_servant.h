// SPDX-License-Identifier: Apache-2.0
//
// A servant of Everything without a skeleton, which knows no more than the types' names and
// TypeCodes: echoes, Anys and exceptions of all_kinds.h, and title_of. Plain mapping code, for any
// ORB. Any thread.
#pragma once

#include "all_servant.h"

#include <map>
#include <string>

namespace all {

class DynamicEverything : public PortableServer::DynamicImplementation {
  public:
    explicit DynamicEverything(CORBA::ORB_ptr orb) : orb_(CORBA::ORB::_duplicate(orb)) {}

    char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr) override
    {
        return CORBA::string_dup("IDL:kairos.test/All/Everything:1.0");
    }
    CORBA::Boolean _is_a(const char* id) override
    {
        return std::string(id) == "IDL:kairos.test/All/Titled:1.0" ||
               DynamicImplementation::_is_a(id);
    }

    void invoke(CORBA::ServerRequest_ptr request) override
    {
        const std::string operation = request->operation();
        if (operation == "title_of") {
            arguments_of(request, {});
            CORBA::Any title;
            title <<= "an object";
            return request->set_result(title);
        }
        if (operation == "pass_on") {
            CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, All::_tc_Anything}});
            return request->set_result(*list->item(0)->value());
        }
        const std::size_t end = operation.find('_');
        const auto found = kinds().find(operation.substr(end + 1));
        if (end == std::string::npos || found == kinds().end())
            throw CORBA::BAD_OPERATION(0, CORBA::COMPLETED_NO);
        serve(request, operation.substr(0, end), found->second);
    }

  private:
    /// What is known of one of ALL_KINDS.
    struct Kind {
        CORBA::TypeCode_ptr type;
        /// Makes the exception with a value of the kind.
        CORBA::Any (*raised)(const CORBA::Any& value);
    };
    struct Parameter {
        CORBA::Flags direction;
        CORBA::TypeCode_ptr type;
    };

    CORBA::NVList_ptr arguments_of(CORBA::ServerRequest_ptr request,
                                   std::initializer_list<Parameter> parameters)
    {
        CORBA::NVList_ptr list = CORBA::NVList::_nil();
        orb_->create_list(0, list);
        for (const Parameter& parameter : parameters)
            list->add(parameter.direction)->value()->replace(parameter.type, nullptr);
        request->arguments(list);
        return list;
    }

    void serve(CORBA::ServerRequest_ptr request, const std::string& what, const Kind& kind)
    {
        if (what == "echo") {
            CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, kind.type},
                                                            {CORBA::ARG_INOUT, kind.type},
                                                            {CORBA::ARG_OUT, kind.type}});
            *list->item(2)->value() = *list->item(1)->value();
            *list->item(1)->value() = *list->item(0)->value();
            request->set_result(*list->item(0)->value());
        } else if (what == "insert") {
            CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, kind.type}});
            CORBA::Any inserted;
            inserted <<= *list->item(0)->value();
            request->set_result(inserted);
        } else if (what == "extract") {
            CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, All::_tc_Anything}});
            const CORBA::Any* inside = nullptr;
            if (!(*list->item(0)->value() >>= inside)) wrong_type();
            request->set_result(*inside);
        } else {
            CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_IN, kind.type}});
            request->set_exception(kind.raised(*list->item(0)->value()));
        }
    }

#define RAISED(T, Holder, argument)                                                                \
    static CORBA::Any raised_##T(const CORBA::Any& any)                                            \
    {                                                                                              \
        EverythingServant typed;                                                                   \
        CORBA::Any exception;                                                                      \
        try {                                                                                      \
            const Holder value = typed.extract_##T(any);                                           \
            typed.raise_##T(argument);                                                             \
        } catch (const All::T##_raised& raised) {                                                  \
            exception <<= raised;                                                                  \
        }                                                                                          \
        return exception;                                                                          \
    }
#define PLAIN(T) RAISED(T, All::T, value)
#define WRAPPED(T, kind) RAISED(T, All::T, value)
#define DECIMAL(T, digits, scale) RAISED(T, All::T, value)
#define OWNED(T) RAISED(T, All::T##_var, value.in())
#define TEXT(T, bound) RAISED(T, CORBA::String_var, value.in())
#define WIDE_TEXT(T, bound) RAISED(T, CORBA::WString_var, value.in())
#define FIXED_ARRAY(T) RAISED(T, All::T##_var, value.in())
#define VARIABLE_ARRAY(T) RAISED(T, All::T##_var, value.in())
#define REFERENCE(T, Class) RAISED(T, Class##_var, value.in())
#define VALUETYPE(T) RAISED(T, All::T##_var, value.in())
    ALL_KINDS
#undef RAISED
#undef PLAIN
#undef WRAPPED
#undef DECIMAL
#undef OWNED
#undef TEXT
#undef WIDE_TEXT
#undef FIXED_ARRAY
#undef VARIABLE_ARRAY
#undef REFERENCE
#undef VALUETYPE

    static const std::map<std::string, Kind>& kinds()
    {
#define KIND(T) {#T, {All::_tc_##T, raised_##T}},
#define PLAIN(T) KIND(T)
#define WRAPPED(T, kind) KIND(T)
#define DECIMAL(T, digits, scale) KIND(T)
#define OWNED(T) KIND(T)
#define TEXT(T, bound) KIND(T)
#define WIDE_TEXT(T, bound) KIND(T)
#define FIXED_ARRAY(T) KIND(T)
#define VARIABLE_ARRAY(T) KIND(T)
#define REFERENCE(T, Class) KIND(T)
#define VALUETYPE(T) KIND(T)
        static const std::map<std::string, Kind> all{ALL_KINDS};
#undef KIND
#undef PLAIN
#undef WRAPPED
#undef DECIMAL
#undef OWNED
#undef TEXT
#undef WIDE_TEXT
#undef FIXED_ARRAY
#undef VARIABLE_ARRAY
#undef REFERENCE
#undef VALUETYPE
        return all;
    }

    const CORBA::ORB_var orb_;
};

} // namespace all
