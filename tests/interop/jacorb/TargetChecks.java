// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous calls of JacORB's on the object of tests/ami: what its handler hears of them.
package interop;

import Ami.AMI_TargetHandler;
import Ami.AMI_TargetHandlerHelper;
import Ami.AMI_TargetHandlerPOA;
import Ami.Person;
import Ami.Point;
import Ami.Refused;
import Ami.Target;
import Ami.TargetHelper;
import Ami._TargetStub;
import java.io.PrintStream;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.omg.CORBA.Any;
import org.omg.CORBA.NO_PERMISSION;
import org.omg.CORBA.ORB;
import org.omg.Messaging.ExceptionHolder;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** Used by one thread. */
final class TargetChecks extends Checks {
    private static final long PATIENCE_S = 60;
    private static final int MANY = 500;
    private final Handler heard = new Handler();
    private final AMI_TargetHandler handler;
    private final _TargetStub target;

    TargetChecks(ORB orb, String reference, PrintStream out) throws Exception {
        super(out);
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        handler = AMI_TargetHandlerHelper.narrow(poa.servant_to_reference(heard));
        poa.the_POAManager().activate();
        target = (_TargetStub) TargetHelper.narrow(orb.string_to_object(reference));
    }

    @Override void run() {
        check("results", () -> {
            target.sendc_change(handler, "text", new Person("Bob", new Point((short) 1, 2)),
                    new Point((short) 5, 6));
            expectHeard("change text text! Bob 7 5 2.5 one two 5 42 true 9");
            target.sendc_echo(handler, new byte[1 << 20]);
            expectHeard("echo 1048576");
        });
        check("attributes", () -> {
            target.sendc_set_name(handler, "after");
            expectHeard("set_name");
            target.sendc_get_name(handler);
            expectHeard("get_name after");
            target.sendc_get_owner(handler);
            expectHeard("get_owner Ada 3 4.5");
        });
        check("user exception", () -> {
            target.sendc_refuse(handler, "no");
            expectHeard("refuse Refused no 3 4.5");
        });
        check("system exception", () -> {
            target.sendc_fail(handler, 1);
            expectHeard("fail NO_PERMISSION 17 0");
        });
        check("out of order", () -> {
            for (int number = 1; number <= 3; ++number)
                target.sendc_hold(handler, number);
            for (int number : new int[] {3, 1, 2}) {
                target.note(number);
                expectHeard("hold " + number);
            }
        });
        check("many outstanding", () -> {
            Set<String> expected = new HashSet<>();
            for (int number = 0; number < MANY; ++number) {
                target.sendc_add(handler, number, 1);
                expected.add("add " + (number + 1));
            }
            for (int number = 0; number < MANY; ++number)
                expect(expected.remove(heard.next()), "each sum once");
        });
        check("a call meanwhile", () -> {
            target.sendc_hold(handler, 4);
            expect(target.add(20, 22) == 42, "the sum");
            target.note(4);
            expectHeard("hold 4");
        });
    }

    private void expectHeard(String line) throws Exception {
        String next = heard.next();
        expect(line.equals(next), "heard " + line + ", not " + next);
    }

    /** Writes down what it hears, a line each. Any thread. */
    private static final class Handler extends AMI_TargetHandlerPOA {
        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

        String next() throws InterruptedException {
            return lines.poll(PATIENCE_S, TimeUnit.SECONDS);
        }

        // JacORB calls those of attributes as they are called in messages.
        @Override public void _get_name(String value) { lines.add("get_name " + value); }
        @Override public void _set_name() { lines.add("set_name"); }
        @Override public void _get_owner(Person who) {
            lines.add("get_owner " + who.name + " " + who.at.x + " " + who.at.y);
        }
        @Override public void add(int sum) { lines.add("add " + sum); }
        @Override public void change(String result, String text, Person who, Point where,
                String[] all, int[][] same, Any anything, Target other, int number) {
            lines.add("change " + result + " " + text + " " + who.name + " " + who.at.x + " "
                    + where.x + " " + where.y + " " + String.join(" ", all) + " " + same[1][2] + " "
                    + anything.extract_long() + " " + (other != null) + " " + number);
        }
        @Override public void refuse() { lines.add("refuse"); }
        @Override public void fail() { lines.add("fail"); }
        @Override public void note() { lines.add("note"); } // JacORB's alone: it is oneway
        @Override public void hold(int number) { lines.add("hold " + number); }
        @Override public void echo(byte[] data) { lines.add("echo " + data.length); }

        @Override public void _get_name_excep(ExceptionHolder why) { fail("get_name", why); }
        @Override public void _set_name_excep(ExceptionHolder why) { fail("set_name", why); }
        @Override public void _get_owner_excep(ExceptionHolder why) { fail("get_owner", why); }
        @Override public void add_excep(ExceptionHolder why) { fail("add", why); }
        @Override public void change_excep(ExceptionHolder why) { fail("change", why); }
        @Override public void refuse_excep(ExceptionHolder why) { fail("refuse", why); }
        @Override public void fail_excep(ExceptionHolder why) { fail("fail", why); }
        @Override public void note_excep(ExceptionHolder why) { fail("note", why); }
        @Override public void hold_excep(ExceptionHolder why) { fail("hold", why); }
        @Override public void echo_excep(ExceptionHolder why) { fail("echo", why); }

        private void fail(String operation, ExceptionHolder why) {
            try {
                why.raise_exception();
                lines.add(operation + " no exception");
            } catch (Refused refused) {
                lines.add(operation + " Refused " + refused.why + " " + refused.where.x + " "
                        + refused.where.y);
            } catch (NO_PERMISSION refused) {
                lines.add(operation + " NO_PERMISSION " + refused.minor + " "
                        + refused.completed.value());
            } catch (Exception other) {
                lines.add(operation + " " + other);
            }
        }
    }
}
