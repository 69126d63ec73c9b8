package io.cachedhive.admin.output;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;

import java.io.PrintWriter;
import java.util.List;

/**
 * One object per host: {@code host}, and either {@code answer}, which is all that the worker sent, or {@code problem}.
 */
final class JsonPrinter
        implements AnswersPrinter
{
    @Override
    public void print(List<HostAnswer> answers, PrintWriter out)
    {
        for (HostAnswer answer : answers) {
            ObjectNode line = JsonNodeFactory.instance.objectNode();
            line.put("host", answer.host().toString());
            switch (answer) {
                case Answered answered -> line.set("answer", answered.content());
                case Failed failed -> line.put("problem", failed.problem());
            }
            // toString of a node is JSON
            out.println(line);
        }
    }
}
