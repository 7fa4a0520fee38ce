// SPDX-License-Identifier: Apache-2.0
//
// Values of any IDL type: made at random (extremes included, from a seed) and described as text,
// which is how two of them are compared. Everything follows from the TypeCodes of the generated
// helper classes and from the shape of the generated Java classes.
package interop;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Random;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;

/** Used by one thread. */
final class Values {
    private static final int LENGTH_MAX = 4; // of a sequence without a bound
    private static final int TEXT_MAX = 40; // of a string without one

    private final Random random;
    private final org.omg.CORBA.Object[] references; // the first is nil
    private int depth;

    Values(org.omg.CORBA.Object[] references, long seed) {
        this.references = references;
        random = new Random(seed);
    }

    // What a holder of any type holds.
    static Object held(Object holder) throws ReflectiveOperationException {
        return holder.getClass().getField("value").get(holder);
    }
    static void setHeld(Object holder, Object value) throws ReflectiveOperationException {
        holder.getClass().getField("value").set(holder, value);
    }

    /** The TypeCode of a generated type. */
    static TypeCode typeOf(String name) throws ReflectiveOperationException {
        return (TypeCode) Class.forName(name + "Helper").getMethod("type").invoke(null);
    }

    /** A value of `type`, which Java has as `form`. */
    Object make(TypeCode type, Class<?> form) throws Exception {
        switch (type.kind().value()) {
            case TCKind._tk_alias:
                return make(type.content_type(), form);
            case TCKind._tk_boolean:
                return random.nextBoolean();
            case TCKind._tk_char:
                return (char) random.nextInt(256);
            case TCKind._tk_octet:
                return (byte) integer();
            case TCKind._tk_short:
            case TCKind._tk_ushort:
                return (short) (integer() >> 48);
            case TCKind._tk_long:
            case TCKind._tk_ulong:
                return (int) (integer() >> 32);
            case TCKind._tk_longlong:
            case TCKind._tk_ulonglong:
                return integer();
            case TCKind._tk_float:
                return (float) floating(Float.MAX_VALUE, Float.MIN_VALUE);
            case TCKind._tk_double:
                return floating(Double.MAX_VALUE, Double.MIN_VALUE);
            case TCKind._tk_enum:
                return form.getMethod("from_int", int.class)
                        .invoke(null, random.nextInt(type.member_count()));
            case TCKind._tk_string:
                return text(type.length());
            case TCKind._tk_objref:
                return references[random.nextInt(references.length)];
            case TCKind._tk_struct:
                return makeStruct(type, form);
            case TCKind._tk_array:
                return makeArray(type.content_type(), form, type.length());
            case TCKind._tk_sequence:
                ++depth; // recursive types must end somewhere
                Object sequence = makeArray(type.content_type(), form, sequenceLength(type));
                --depth;
                return sequence;
            default:
                throw new IllegalArgumentException("no values of kind " + type.kind().value());
        }
    }

    /** The integer types are its upper bits. */
    private long integer() {
        switch (random.nextInt(4)) {
            case 0:
                return Long.MIN_VALUE;
            case 1:
                return Long.MAX_VALUE;
            default:
                return random.nextLong();
        }
    }
    private double floating(double max, double min) {
        switch (random.nextInt(6)) {
            case 0:
                return Double.POSITIVE_INFINITY;
            case 1:
                return -max;
            case 2:
                return min;
            case 3:
                return -0.0;
            default:
                return 1.0 / (1 + random.nextInt(1000000)) - random.nextInt(1000000);
        }
    }
    private String text(int bound) {
        int length = random.nextInt((bound == 0 ? TEXT_MAX : bound) + 1);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; ++i)
            text.append((char) (1 + random.nextInt(255)));
        return text.toString();
    }

    private Object makeStruct(TypeCode type, Class<?> form) throws Exception {
        Object struct = form.getConstructor().newInstance();
        for (int i = 0; i < type.member_count(); ++i) {
            Field field = form.getField(type.member_name(i));
            field.set(struct, make(type.member_type(i), field.getType()));
        }
        return struct;
    }
    private int sequenceLength(TypeCode type) throws Exception {
        if (depth > 3) return 0;
        return random.nextInt((type.length() == 0 ? LENGTH_MAX : type.length()) + 1);
    }
    private Object makeArray(TypeCode element, Class<?> form, int length) throws Exception {
        Object array = Array.newInstance(form.getComponentType(), length);
        for (int i = 0; i < length; ++i)
            Array.set(array, i, make(element, form.getComponentType()));
        return array;
    }

    String describe(Object value) throws Exception {
        StringBuilder text = new StringBuilder();
        describe(value, text);
        return text.toString();
    }

    private void describe(Object value, StringBuilder text) throws Exception {
        if (value == null) {
            text.append("nil ");
        } else if (value instanceof Character) {
            text.append((int) (char) value).append(' ');
        } else if (value instanceof Number || value instanceof Boolean) {
            text.append(value).append(' ');
        } else if (value instanceof String) {
            text.append('"').append(value).append("\" ");
        } else if (value instanceof org.omg.CORBA.Object) {
            text.append(describeReference((org.omg.CORBA.Object) value));
        } else if (value.getClass().isArray()) {
            text.append('[');
            for (int i = 0; i < Array.getLength(value); ++i)
                describe(Array.get(value, i), text);
            text.append("] ");
        } else if (isEnum(value.getClass())) {
            text.append(value.getClass().getMethod("value").invoke(value)).append(' ');
        } else {
            describeMembers(value, text);
        }
    }

    private static boolean isEnum(Class<?> form) {
        try {
            return Modifier.isStatic(form.getMethod("from_int", int.class).getModifiers());
        } catch (NoSuchMethodException other) {
            return false;
        }
    }
    private void describeMembers(Object value, StringBuilder text) throws Exception {
        text.append('{');
        for (Field field : value.getClass().getFields())
            if (!Modifier.isStatic(field.getModifiers())) describe(field.get(value), text);
        text.append("} ");
    }
    private String describeReference(org.omg.CORBA.Object reference) {
        for (int i = 1; i < references.length; ++i)
            if (references[i]._is_equivalent(reference)) return "object " + i + " ";
        return "unknown object ";
    }
}
