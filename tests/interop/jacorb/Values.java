// SPDX-License-Identifier: Apache-2.0
//
// Values of any IDL type: made at random (extremes included, from a seed) and described as text,
// which is how two of them are compared. Everything follows from the TypeCodes of the generated
// helper classes and from the shape of the generated Java classes.
package interop;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.portable.ValueBase;

/** Used by one thread. */
final class Values {
    private static final int LENGTH_MAX = 4; // of a sequence without a bound
    private static final int TEXT_MAX = 40; // of a string without one

    /** What is inside an Any inside something else. */
    private static final String[] IN_ANY = {"I32", "Color", "Point", "OnLong", "Expression",
            "Anything_s", "Name"};
    /** TypeCodes as values. */
    private static final String[] TYPES = {"I32", "Color", "Money", "ShortName", "ShortProse",
            "Point", "OnLong", "OnColor", "Person", "Person_s4", "Tree", "Expression", "I32_2x3",
            "Person_raised", "Everything"};

    private final ORB orb;
    private final Random random;
    private final org.omg.CORBA.Object[] references; // the first is nil
    private int depth;
    private final List<Object> made = new ArrayList<>(); // what a value may share
    private final List<Object> seen = new ArrayList<>(); // what was described already
    /**
     * What is made goes into an Any: who passes it on knows the types that the TypeCode names, not
     * that of a value behind an abstract interface, nor one that derives from another.
     */
    boolean inAny;

    Values(ORB orb, org.omg.CORBA.Object[] references, long seed) {
        this.orb = orb;
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

    /** A static function of the helper class of a generated type. */
    static Object help(String name, String function, Object... arguments) throws Exception {
        for (Method method : Class.forName(name + "Helper").getMethods())
            if (method.getName().equals(function)
                    && method.getParameterCount() == arguments.length)
                return method.invoke(null, arguments);
        throw new NoSuchMethodException(name + "Helper." + function);
    }
    /** The Java name of a type of the tests. */
    static String nameOf(TypeCode type) throws Exception {
        return type.id().replaceAll("IDL:kairos.test/(.*):1.0", "$1").replace('/', '.');
    }

    /** A value of `type`, which Java has as `form`. */
    Object make(TypeCode type, Class<?> form) throws Exception {
        if (depth == 0) made.clear();
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
            case TCKind._tk_wchar:
                return wide();
            case TCKind._tk_wstring:
                return wideText(type.length());
            case TCKind._tk_fixed:
                return decimal(type.fixed_digits(), type.fixed_scale());
            case TCKind._tk_any:
                return makeAny();
            case TCKind._tk_TypeCode:
                return typeOf("All." + TYPES[random.nextInt(TYPES.length)]);
            case TCKind._tk_union:
                return makeUnion(type, form);
            case TCKind._tk_array:
                return makeArray(type.content_type(), form, type.length());
            case TCKind._tk_sequence:
                ++depth; // recursive types must end somewhere
                Object sequence = makeArray(type.content_type(), form, sequenceLength(type));
                --depth;
                return sequence;
            case TCKind._tk_value:
                return makeValue(form);
            case TCKind._tk_value_box:
                return makeBox(type, form);
            case TCKind._tk_abstract_interface:
                return inAny || random.nextBoolean() ? references[random.nextInt(references.length)]
                                                     : makeValue(All.Card.class);
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

    /** Any character of the first plane but the surrogates, which stand for nothing alone. */
    private char wide() {
        char code = (char) (1 + random.nextInt(0xFFFD));
        return Character.isSurrogate(code) ? 'x' : code;
    }
    private String wideText(int bound) {
        int length = random.nextInt((bound == 0 ? TEXT_MAX : bound) + 1);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; ++i)
            text.append(wide());
        return text.toString();
    }
    /** As many digits as the type has, of either sign: what has fewer JacORB sends in fewer octets. */
    private BigDecimal decimal(int digits, int scale) {
        StringBuilder text = new StringBuilder(random.nextBoolean() ? "-" : "");
        for (int i = 0; i < digits; ++i)
            text.append((char) ('1' + random.nextInt(9)));
        return new BigDecimal(new BigInteger(text.toString()), scale);
    }
    private Any makeAny() throws Exception {
        Any any = orb.create_any();
        int choice = random.nextInt(depth > 3 ? 3 : IN_ANY.length + 1);
        if (choice == 0) return any; // of tk_null
        ++depth;
        String name = "All." + IN_ANY[choice - 1];
        Method extract = Class.forName(name + "Helper").getMethod("extract", Any.class);
        help(name, "insert", any, make(typeOf(name), extract.getReturnType()));
        --depth;
        return any;
    }

    private Object makeUnion(TypeCode type, Class<?> form) throws Exception {
        Object union = form.getConstructor().newInstance();
        int member = random.nextInt(type.member_count() + 1);
        if (member == type.member_count()) {
            if (makeWithoutMember(union)) return union;
            member = 0;
        }
        String name = type.member_name(member);
        Method getter = form.getMethod(name);
        Object value = make(type.member_type(member), getter.getReturnType());
        Class<?> discriminator = form.getMethod("discriminator").getReturnType();
        try { // several labels: the one of this member
            Method setter = form.getMethod(name, discriminator, getter.getReturnType());
            if (member != type.default_index()) {
                setter.invoke(union, labelOf(type, member, discriminator), value);
                return union;
            }
        } catch (NoSuchMethodException one) {
            // the other setter knows it
        }
        form.getMethod(name, getter.getReturnType()).invoke(union, value);
        return union;
    }
    /** With a label that has no member, if 0 is one: JacORB reads all as 0. */
    private boolean makeWithoutMember(Object union) throws Exception {
        try {
            union.getClass().getMethod("__default").invoke(union);
        } catch (NoSuchMethodException none) {
            return false;
        }
        Object label = union.getClass().getMethod("discriminator").invoke(union);
        return isZero(label);
    }
    private boolean isZero(Object label) throws Exception {
        StringBuilder text = new StringBuilder();
        describe(label, text);
        return text.toString().equals("0 ");
    }
    private static Object labelOf(TypeCode type, int member, Class<?> form) throws Exception {
        Any label = type.member_label(member);
        switch (resolved(label.type()).kind().value()) {
            case TCKind._tk_boolean:
                return label.extract_boolean();
            case TCKind._tk_char:
                return label.extract_char();
            case TCKind._tk_short:
                return label.extract_short();
            case TCKind._tk_ushort:
                return label.extract_ushort();
            case TCKind._tk_long:
                return label.extract_long();
            case TCKind._tk_ulong:
                return label.extract_ulong();
            case TCKind._tk_longlong:
                return label.extract_longlong();
            case TCKind._tk_ulonglong:
                return label.extract_ulonglong();
            default:
                return form.getMethod("from_int", int.class)
                        .invoke(null, label.create_input_stream().read_long());
        }
    }
    private static TypeCode resolved(TypeCode type) throws Exception {
        while (type.kind() == TCKind.tk_alias)
            type = type.content_type();
        return type;
    }

    /** Null, a value of before, or a new one. */
    private Object makeValue(Class<?> form) throws Exception {
        int choice = depth > 4 ? 0 : random.nextInt(5);
        if (choice == 0) return null;
        if (choice == 1)
            for (Object candidate : made)
                if (form.isInstance(candidate)) return candidate;
        ++depth;
        boolean derived = form == All.Base.class && !inAny && random.nextBoolean();
        Object value = Valuetypes.make(derived ? All.Derived.class : form);
        // Programs in C++ count references: they end the cycles of nodes and of nothing else.
        boolean mayBeCyclic = form == All.Node.class;
        if (mayBeCyclic) made.add(value);
        // JacORB's TypeCode of a type does not name its base.
        for (Class<?> type = value.getClass().getSuperclass(); type != Object.class;
                type = type.getSuperclass())
            makeState(value, type);
        if (!mayBeCyclic) made.add(value);
        --depth;
        return value;
    }
    private void makeState(Object value, Class<?> form) throws Exception {
        TypeCode type = typeOf(form.getName());
        for (int i = 0; i < type.member_count(); ++i) {
            Field field = form.getField(type.member_name(i));
            field.set(value, make(type.member_type(i), field.getType()));
        }
    }
    /** Of a number there is a class, anything else is its own box. */
    private Object makeBox(TypeCode type, Class<?> form) throws Exception {
        if (random.nextInt(4) == 0) return null;
        ++depth;
        Object box;
        if (ValueBase.class.isAssignableFrom(form)) {
            Class<?> inside = form.getField("value").getType();
            box = form.getConstructor(inside).newInstance(make(type.content_type(), inside));
        } else {
            box = make(type.content_type(), form);
        }
        --depth;
        return box;
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
        seen.clear();
        describe(value, text);
        return text.toString();
    }

    private void describe(Object value, StringBuilder text) throws Exception {
        if (value == null) {
            text.append("nil ");
        } else if (value instanceof Character) {
            text.append((int) (char) value).append(' ');
        } else if (value instanceof BigDecimal) {
            BigDecimal number = ((BigDecimal) value).stripTrailingZeros();
            text.append(number.signum() == 0 ? "0" : number.toPlainString()).append(' ');
        } else if (value instanceof Number || value instanceof Boolean) {
            text.append(value).append(' ');
        } else if (value instanceof String) {
            text.append('"').append(value).append("\" ");
        } else if (value instanceof ValueBase) {
            describeValue(value, text);
        } else if (value instanceof org.omg.CORBA.Object) {
            text.append(describeReference((org.omg.CORBA.Object) value));
        } else if (value instanceof TypeCode) {
            text.append(describeType((TypeCode) value));
        } else if (value instanceof Any) {
            describeAny((Any) value, text);
        } else if (value.getClass().isArray()) {
            text.append('[');
            for (int i = 0; i < Array.getLength(value); ++i)
                describe(Array.get(value, i), text);
            text.append("] ");
        } else if (isEnum(value.getClass())) {
            text.append(value.getClass().getMethod("value").invoke(value)).append(' ');
        } else if (isUnion(value.getClass())) {
            describeUnion(value, text);
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
    private static boolean isUnion(Class<?> form) {
        try {
            form.getMethod("discriminator");
            return true;
        } catch (NoSuchMethodException other) {
            return false;
        }
    }
    private void describeUnion(Object union, StringBuilder text) throws Exception {
        TypeCode type = typeOf(union.getClass().getName());
        Method discriminator = union.getClass().getMethod("discriminator");
        Object label = discriminator.invoke(union);
        int active = type.default_index();
        for (int i = 0; i < type.member_count(); ++i)
            if (i != type.default_index()
                    && labelOf(type, i, discriminator.getReturnType()).equals(label)) active = i;
        text.append("case ");
        describe(label, text);
        text.append(": ");
        if (active >= 0)
            describe(union.getClass().getMethod(type.member_name(active)).invoke(union), text);
    }
    private static String describeType(TypeCode type) throws Exception {
        for (int i = 0; i < TYPES.length; ++i)
            if (typeOf("All." + TYPES[i]).equal(type)) return "type " + i + " ";
        return "unknown type " + type.kind().value() + " ";
    }
    private void describeAny(Any any, StringBuilder text) throws Exception {
        TypeCode type = any.type();
        text.append("any ").append(resolved(type).kind().value()).append(" (");
        switch (type.kind().value()) {
            case TCKind._tk_null:
                break;
            case TCKind._tk_long:
                describe(any.extract_long(), text);
                break;
            case TCKind._tk_string:
                describe(any.extract_string(), text);
                break;
            default:
                describe(help(nameOf(type), "extract", any), text);
        }
        text.append(") ");
    }

    private void describeValue(Object value, StringBuilder text) throws Exception {
        int index = 0;
        while (index < seen.size() && seen.get(index) != value)
            ++index;
        text.append("value ").append(index).append(' ');
        if (index < seen.size()) return;
        seen.add(value);
        describeMembers(value, text);
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
