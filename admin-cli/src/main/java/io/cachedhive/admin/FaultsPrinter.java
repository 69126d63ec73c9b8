package io.cachedhive.admin;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.admin.fault.Fault;

import java.util.List;

/**
 * Tells what was found.
 */
final class FaultsPrinter
{
    private FaultsPrinter() {}

    /// A line or an object for each.
    ///
    /// @return the exit code
    static int print(List<Fault> faults, boolean json, String allIsWell, Console console)
    {
        console.clearProgress();
        for (Fault fault : faults) {
            if (json) {
                ObjectNode line = JsonNodeFactory.instance.objectNode();
                line.put("host", fault.host());
                line.put("fault", fault.kind().name());
                line.put("problem", fault.sentence());
                console.out().println(line);
            }
            else {
                console.out().println("%s: %s".formatted(fault.kind(), fault.sentence()));
            }
        }
        console.out().flush();
        console.line(faults.isEmpty() ? allIsWell : faults.size() == 1 ? "1 fault was found." : faults.size() + " faults were found.");
        return faults.isEmpty() ? ExitCode.OK : ExitCode.FOUND;
    }
}
