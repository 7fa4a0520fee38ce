// SPDX-License-Identifier: Apache-2.0
//
// The servant of Everything, as that of ../all_servant.h. There is one function for all types: what
// an operation does follows from its name, and the helper class of its type knows the rest.
package interop;

import All.Everything;
import All.EverythingHelper;
import All.EverythingOperations;
import All.EverythingPOATie;
import All.Person;
import All.PersonHolder;
import All.Person_raised;
import All.Person_raisedHelper;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.omg.CORBA.Any;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** Any thread. */
public final class AllServant implements InvocationHandler {
    private final ORB orb;

    private AllServant(ORB orb) {
        this.orb = orb;
    }

    /** A new object of the root POA, which it activates. */
    static Everything activate(ORB orb) throws Exception {
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        EverythingOperations operations = (EverythingOperations) Proxy.newProxyInstance(
                AllServant.class.getClassLoader(), new Class<?>[] {EverythingOperations.class},
                new AllServant(orb));
        return EverythingHelper.narrow(
                poa.servant_to_reference(new EverythingPOATie(operations, poa)));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        String[] words = method.getName().split("_", 2);
        String type = "All." + words[1];
        try {
            if (words[1].equals("raised")) return raised(words[0], arguments);
            switch (words[0]) {
                case "echo":
                    return EchoServant.echo(arguments);
                case "insert":
                    Any any = orb.create_any();
                    Values.help(type, "insert", any, arguments[0]);
                    return any;
                case "extract":
                    return extract(type, (Any) arguments[0]);
                case "pass":
                    return arguments[0];
                case "send":
                    return Valuetypes.deeper((All.Derived) arguments[0]);
                case "title":
                    return "an object";
                case "raise":
                    throw (Throwable) raisedOf(type, arguments[0]);
                default:
                    throw new IllegalArgumentException(method.getName());
            }
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    private static Object extract(String type, Any any) throws Exception {
        if (!any.type().equivalent(Values.typeOf(type)))
            throw new org.omg.CORBA.BAD_PARAM(4711, CompletionStatus.COMPLETED_NO);
        return Values.help(type, "extract", any);
    }
    private static Object raisedOf(String type, Object value) throws Exception {
        Object raised = Class.forName(type + "_raised").getConstructor().newInstance();
        raised.getClass().getField("value").set(raised, value);
        raised.getClass().getField("after").set(raised, 42);
        return raised;
    }

    /** insert_raised and extract_raised: an exception in an Any. */
    private Object raised(String verb, Object[] arguments) throws Exception {
        if (verb.equals("insert")) {
            Any any = orb.create_any();
            Person_raisedHelper.insert(any, new Person_raised((Person) arguments[0], 43));
            return any;
        }
        Person_raised raised = (Person_raised) extract("All.Person_raised", (Any) arguments[0]);
        ((PersonHolder) arguments[1]).value = raised.value;
        return raised.after == 43;
    }
}
