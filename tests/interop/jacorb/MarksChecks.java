// SPDX-License-Identifier: Apache-2.0
//
// What an interceptor of JacORB's hears from those of a server that answers as Marks does. The
// server's object is that of tests/ami, whose owner is Ada there and Grace here.
package interop;

import Ami.Refused;
import Ami.Target;
import Ami.TargetHelper;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.NO_PERMISSION;
import org.omg.CORBA.ORB;

/** Used by one thread. */
final class MarksChecks extends Checks {
    private final Marks.Caller caller;
    private final Target target;
    private final String elsewhere; // an object that JacORB serves

    MarksChecks(ORB orb, String reference, PrintStream out, String elsewhere) throws Exception {
        super(out);
        caller = Marks.OfClients.latest;
        target = TargetHelper.unchecked_narrow(orb.string_to_object(reference));
        this.elsewhere = elsewhere;
    }

    @Override void run() {
        check("no mark", () -> {
            expect(target.add(20, 22) == 42, "the sum");
            expectTold("add unmarked");
        });
        check("a mark and its answer", () -> {
            caller.marks.add("one");
            expect(target.add(20, 22) == 42, "the sum");
            expectTold("add heard one");
        });
        check("with a user exception", () -> {
            caller.marks.add("two");
            expectException(Refused.class, () -> target.refuse("no"));
            expectTold("refuse IDL:kairos.test/Ami/Refused:1.0 heard two");
        });
        check("with a system exception", () -> {
            caller.marks.add("three");
            expectException(NO_PERMISSION.class, () -> target.fail(1));
            expectTold("fail IDL:omg.org/CORBA/NO_PERMISSION:1.0 heard three");
        });
        check("a large mark", () -> {
            String large = String.join("", Collections.nCopies(30_000, "four"));
            caller.marks.add(large);
            expect(target.add(20, 22) == 42, "the sum");
            expectTold("add heard " + large);
        });
        check("refused by the interceptor", () -> {
            caller.marks.add("refuse");
            NO_PERMISSION refused = expectException(NO_PERMISSION.class, () -> target.add(1, 2));
            expect(refused.minor == 23, "the minor code");
            expect(refused.completed == CompletionStatus.COMPLETED_NO, "COMPLETED_NO");
            expectTold("add IDL:omg.org/CORBA/NO_PERMISSION:1.0 unmarked");
        });
        check("forwarded by the interceptor", () -> {
            expect(target.owner().name.equals("Ada"), "the owner");
            expectTold("_get_owner unmarked");
            caller.marks.addAll(Arrays.asList("to " + elsewhere, "five"));
            expect(target.owner().name.equals("Grace"), "the owner elsewhere");
            expectTold("_get_owner forwarded", "_get_owner heard five");
        });
    }

    private void expectTold(String... lines) {
        List<String> expected = Arrays.asList(lines);
        expect(expected.equals(caller.told), "told " + expected + ", not " + caller.told);
        caller.told.clear();
    }
}
