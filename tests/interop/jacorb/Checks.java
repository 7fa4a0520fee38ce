// SPDX-License-Identifier: Apache-2.0
//
// What all checks share: they run by name and print a line each, "ok NAME" or "FAILED NAME: why".
package interop;

import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.omg.CORBA.TypeCode;

/** Used by one thread. */
abstract class Checks {
    static final int ROUNDS = 4; // with other values

    interface Check {
        void run() throws Exception;
    }
    interface Body {
        void run() throws Throwable;
    }

    private final PrintStream out;
    private final String[] without; // checks whose name contains one of these are left out
    Values values; // set by the constructors of the subclasses

    Checks(PrintStream out, String... without) {
        this.out = out;
        this.without = without;
    }

    /** All of them. */
    abstract void run() throws Exception;

    void check(String name, Check check) {
        for (String part : without)
            if (name.contains(part)) return;
        try {
            check.run();
            out.println("ok " + name);
        } catch (InvocationTargetException failure) {
            out.println("FAILED " + name + ": " + failure.getCause());
        } catch (Throwable failure) {
            out.println("FAILED " + name + ": " + failure);
        }
    }

    static void expect(boolean condition, String what) {
        if (!condition) throw new AssertionError("does not hold: " + what);
    }
    /** Strings are compared as they are, other values by their description. */
    void expectSame(Object expected, Object actual, String what) throws Exception {
        String left = expected instanceof String ? (String) expected : values.describe(expected);
        String right = actual instanceof String ? (String) actual : values.describe(actual);
        if (!left.equals(right))
            throw new AssertionError(what + " is " + right + ", expected " + left);
    }
    /** Calls and returns the exception that must come. */
    static <E extends Throwable> E expectException(Class<E> type, Body call) {
        try {
            call.run();
        } catch (Throwable failure) {
            Throwable exception = failure instanceof InvocationTargetException
                    ? failure.getCause() : failure;
            if (type.isInstance(exception)) return type.cast(exception);
            throw new AssertionError("another exception: " + exception);
        }
        throw new AssertionError("no exception");
    }

    /** `operation` of `server`, echo_T: in, inout and out argument and result. */
    void echo(Object server, Method operation, TypeCode type) throws Exception {
        Class<?> form = operation.getReturnType();
        Class<?> holder = operation.getParameterTypes()[1];
        for (int round = 0; round < ROUNDS; ++round) {
            Object a = values.make(type, form);
            Object b = holder.getConstructor().newInstance();
            Object c = holder.getConstructor().newInstance();
            Values.setHeld(b, values.make(type, form));
            String sentA = values.describe(a);
            String sentB = values.describe(Values.held(b));
            Object result = operation.invoke(server, a, b, c);
            expectSame(sentA, values.describe(result), "the result");
            expectSame(sentA, values.describe(Values.held(b)), "the inout argument");
            expectSame(sentB, values.describe(Values.held(c)), "the out argument");
        }
    }
}
