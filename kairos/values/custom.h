// SPDX-License-Identifier: Apache-2.0
//
// Custom valuetypes (CORBA 3.3 part 1, 9.3.1.3): the program writes and reads the state itself, on
// streams that look like values. Used by the thread that has the message.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/object_fwd.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/wstring.h"
#include "kairos/types/any.h"
#include "kairos/types/typecode.h"
#include "kairos/values/value_base.h"

// Type, its name in operations, and the sequence's.
#define KAIROS_STREAMED_NUMBERS(apply)                                                             \
    apply(Boolean, boolean) apply(Char, char) apply(WChar, wchar) apply(Octet, octet)              \
        apply(Short, short) apply(UShort, ushort) apply(Long, long) apply(ULong, ulong)            \
            apply(LongLong, longlong) apply(ULongLong, ulonglong) apply(Float, float)              \
                apply(Double, double) apply(LongDouble, longdouble)

namespace CORBA {

// Sequences of numbers, as orb_types.h of module corba defines them.
#define KAIROS_NUMBER_SEQUENCE(type, name) class type##Seq;
KAIROS_STREAMED_NUMBERS(KAIROS_NUMBER_SEQUENCE)
#undef KAIROS_NUMBER_SEQUENCE

class AnySeq;
class AbstractBase;
typedef AbstractBase* AbstractBase_ptr;

/// Where a custom value writes its state. Not counted: lives as long as `marshal`.
class KAIROS_API DataOutputStream : public virtual ValueBase {
  public:
    static DataOutputStream* _downcast(ValueBase* value)
    {
        return dynamic_cast<DataOutputStream*>(value);
    }

#define KAIROS_WRITE(type, name)                                                                   \
    virtual void write_##name(type value) = 0;                                                     \
    /** Elements offset…offset+length-1; BAD_PARAM if they are not there. */                     \
    virtual void write_##name##_array(const type##Seq& seq, ULong offset, ULong length) = 0;
    KAIROS_STREAMED_NUMBERS(KAIROS_WRITE)
#undef KAIROS_WRITE
    virtual void write_any(const Any& value) = 0;
    virtual void write_any_array(const AnySeq& seq, ULong offset, ULong length) = 0;
    virtual void write_string(const char* value) = 0;
    virtual void write_wstring(const WChar* value) = 0;
    virtual void write_Object(Object* value) = 0;
    virtual void write_Abstract(AbstractBase_ptr value) = 0;
    virtual void write_Value(ValueBase* value) = 0;
    virtual void write_TypeCode(TypeCode_ptr value) = 0;

  protected:
    DataOutputStream() = default;
};
typedef kairos::values::Var<DataOutputStream> DataOutputStream_var;

/// Where a custom value reads its state from. What is not there makes numbers zero and the message
/// malformed. Not counted: lives as long as `unmarshal`. The caller owns what it is given.
class KAIROS_API DataInputStream : public virtual ValueBase {
  public:
    static DataInputStream* _downcast(ValueBase* value)
    {
        return dynamic_cast<DataInputStream*>(value);
    }

#define KAIROS_READ(type, name)                                                                    \
    virtual type read_##name() = 0;                                                                \
    /** Into elements offset…offset+length-1, which are made where they are not there. */        \
    virtual void read_##name##_array(type##Seq& seq, ULong offset, ULong length) = 0;
    KAIROS_STREAMED_NUMBERS(KAIROS_READ)
#undef KAIROS_READ
    virtual Any* read_any() = 0;
    virtual void read_any_array(AnySeq& seq, ULong offset, ULong length) = 0;
    virtual char* read_string() = 0;
    virtual WChar* read_wstring() = 0;
    virtual Object* read_Object() = 0;
    virtual AbstractBase_ptr read_Abstract() = 0;
    virtual ValueBase* read_Value() = 0;
    virtual TypeCode_ptr read_TypeCode() = 0;

  protected:
    DataInputStream() = default;
};
typedef kairos::values::Var<DataInputStream> DataInputStream_var;

/// What the program implements for each custom valuetype.
class KAIROS_API CustomMarshal : public virtual ValueBase {
  public:
    static CustomMarshal* _downcast(ValueBase* value)
    {
        return dynamic_cast<CustomMarshal*>(value);
    }
    virtual void marshal(DataOutputStream* os) = 0;
    virtual void unmarshal(DataInputStream* is) = 0;

  protected:
    CustomMarshal() = default;
};

} // namespace CORBA
