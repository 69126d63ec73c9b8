package io.cachedhive.tests.architecture;

import org.testng.annotations.AfterMethod;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

import javax.tools.ToolProvider;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

@Test(groups = "fast", singleThreaded = true)
public class TestPackageCycles
{
    private Path planted;

    @BeforeMethod
    public void createProject()
            throws IOException
    {
        planted = Files.createTempDirectory("package-cycles");
        Files.writeString(planted.resolve("pom.xml"), "<project><modules><module>m</module></modules></project>");
        Files.createDirectory(planted.resolve("m"));
        Files.writeString(planted.resolve("m/pom.xml"), "<project/>");
    }

    @AfterMethod(alwaysRun = true)
    public void deleteProject()
            throws IOException
    {
        try (Stream<Path> files = Files.walk(planted)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    public void testProject()
            throws IOException
    {
        Path root = ProjectModule.findRoot();
        List<ProjectModule> modules = ProjectModule.readAll(root);
        assertThat(modules).filteredOn(module -> !module.mainSources().isEmpty()).hasSizeGreaterThan(10);

        assertThat(modules).flatExtracting(module -> PackageCycles.violations(root, module)).isEmpty();
    }

    public void testNoCycle()
            throws IOException
    {
        source("p.a.A", "p.b.B b; p.c.C[] c;");
        source("p.b.B", "p.c.C c;");
        source("p.b.Other", "B b;");
        source("p.c.C", "String text;");
        compile();

        assertThat(violations()).isEmpty();
    }

    public void testCycleOfTwo()
            throws IOException
    {
        source("p.a.A", "p.b.B b;");
        source("p.b.B", "void call() { Runnable runnable = new Runnable() { public void run() { new p.a.A(); } }; }");
        source("p.b.Other", "java.util.List<p.a.A> list;");
        compile();

        assertThat(violations()).containsExactly("m: packages p.a, p.b are in a cycle, because p.a uses p.b (A uses B), p.b uses p.a (B uses A, Other uses A): "
                + "move classes until one of them does not use the next");
    }

    public void testShortestCycleIsShown()
            throws IOException
    {
        source("p.a.A", "p.b.B b;");
        source("p.b.B", "p.c.C c;");
        source("p.c.C", "p.a.A a; p.d.D d;");
        source("p.d.D", "p.c.C[][] c; p.e.E e;");
        source("p.e.E", "");
        compile();

        assertThat(violations()).containsExactly("m: packages p.a, p.b, p.c, p.d are in a cycle, because p.c uses p.d (C uses D), p.d uses p.c (D uses C): "
                + "move classes until one of them does not use the next");
    }

    public void testTwoCycles()
            throws IOException
    {
        source("p.a.A", "p.b.B b; p.c.C c;");
        source("p.b.B", "p.a.A a;");
        source("p.c.C", "p.d.D d;");
        source("p.d.D", "p.c.C c;");
        compile();

        assertThat(violations()).hasSize(2);
        assertThat(violations().getFirst()).startsWith("m: packages p.a, p.b are in a cycle");
        assertThat(violations().getLast()).startsWith("m: packages p.c, p.d are in a cycle");
    }

    public void testClassesWithoutSourceDoNotCount()
            throws IOException
    {
        source("p.a.A", "p.b.B b;");
        source("p.b.B", "");
        source("p.b.Deleted", "p.a.A a;");
        compile();
        Files.delete(planted.resolve("m/src/main/java/p/b/Deleted.java"));

        assertThat(violations()).isEmpty();
    }

    public void testNotCompiled()
            throws IOException
    {
        source("p.a.A", "");

        assertThat(violations()).containsExactly("m: class p.a.A is not compiled: build all modules first, by mvn verify -DskipTests");
    }

    private List<String> violations()
            throws IOException
    {
        return PackageCycles.violations(planted, ProjectModule.readAll(planted).getFirst());
    }

    private void source(String className, String members)
            throws IOException
    {
        int dot = className.lastIndexOf('.');
        Path file = planted.resolve("m/src/main/java").resolve(className.replace('.', '/') + ".java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "package %s;\n\npublic class %s { %s }\n".formatted(className.substring(0, dot), className.substring(dot + 1), members));
    }

    private void compile()
            throws IOException
    {
        List<String> arguments = new ArrayList<>(List.of("-d", planted.resolve("m/target/classes").toString()));
        try (Stream<Path> files = Files.walk(planted.resolve("m/src/main/java"))) {
            files.filter(Files::isRegularFile).map(Path::toString).forEach(arguments::add);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new))).isZero();
    }
}
