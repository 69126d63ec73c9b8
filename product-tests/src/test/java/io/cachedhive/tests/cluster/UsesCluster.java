package io.cachedhive.tests.cluster;

import java.lang.annotation.Retention;
import java.lang.annotation.Target;

import static java.lang.annotation.ElementType.TYPE;
import static java.lang.annotation.RetentionPolicy.RUNTIME;

/**
 * Names the shared cluster of a test class. Classes with the same one run one after the other.
 */
@Retention(RUNTIME)
@Target(TYPE)
@interface UsesCluster
{
    SharedCluster value();
}
