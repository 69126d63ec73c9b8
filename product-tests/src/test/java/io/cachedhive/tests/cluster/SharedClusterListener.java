package io.cachedhive.tests.cluster;

import org.testng.IAlterSuiteListener;
import org.testng.IExecutionListener;
import org.testng.xml.XmlClass;
import org.testng.xml.XmlSuite;
import org.testng.xml.XmlTest;

import java.util.Comparator;
import java.util.List;

/**
 * Orders test classes by the cluster that they share, so that one at a time is running, and closes the last one when all tests have finished.
 */
public final class SharedClusterListener
        implements IAlterSuiteListener, IExecutionListener
{
    @Override
    public void alter(List<XmlSuite> suites)
    {
        for (XmlSuite suite : suites) {
            for (XmlTest test : suite.getTests()) {
                List<XmlClass> classes = test.getXmlClasses().stream()
                        .sorted(Comparator.comparingInt(SharedClusterListener::position).thenComparing(XmlClass::getName))
                        .toList();
                for (int i = 0; i < classes.size(); i++) {
                    classes.get(i).setIndex(i);
                }
                test.setXmlClasses(classes);
            }
        }
    }

    /**
     * Classes with clusters of their own come first: no shared cluster is running beside them.
     */
    private static int position(XmlClass testClass)
    {
        UsesCluster cluster = (UsesCluster) testClass.getSupportClass().getAnnotation(UsesCluster.class);
        return cluster == null ? -1 : cluster.value().ordinal();
    }

    @Override
    public void onExecutionFinish()
    {
        SharedCluster.closeAll();
    }
}
