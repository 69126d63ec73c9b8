package io.cachedhive.admin.output;

import io.cachedhive.admin.host.HostAnswer;

import java.io.PrintWriter;
import java.util.List;

/**
 * Writes what the hosts answered in one format.
 */
public interface AnswersPrinter
{
    void print(List<HostAnswer> answers, PrintWriter out);
}
