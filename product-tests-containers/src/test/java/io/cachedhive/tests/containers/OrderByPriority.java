package io.cachedhive.tests.containers;

import org.testng.IAlterSuiteListener;
import org.testng.xml.XmlSuite;

import java.util.List;

/**
 * Lets the priorities of tests hold over the order of their classes, which TestNG prefers otherwise, and which is the file system's here.
 */
public class OrderByPriority
        implements IAlterSuiteListener
{
    @Override
    public void alter(List<XmlSuite> suites)
    {
        suites.forEach(suite -> suite.getTests().forEach(test -> test.setPreserveOrder(false)));
    }
}
