// SPDX-License-Identifier: Apache-2.0
//
// JacORB's Interface Repository, as org.jacorb.ir.IRServer makes it: it has what the classes in a
// folder say that JacORB's compiler has made of IDL.
package interop;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jacorb.ir.RepositoryImpl;
import org.omg.CORBA.ORB;

final class RepositoryServer {
    private RepositoryServer() {}

    /** Returns its reference. The ORB must have a `jacorb.implname`. */
    static String activate(ORB orb, String folder) throws Exception {
        Path reference = Files.createTempFile("kairos_repository", ".ior");
        URLClassLoader loader =
                new URLClassLoader(new URL[] {new File(folder).toURI().toURL()});
        RepositoryImpl repository =
                new RepositoryImpl(folder, reference.toString(), loader, orb);
        repository.loadContents();
        String text = Files.readString(reference).trim();
        Files.delete(reference);
        return text;
    }
}
