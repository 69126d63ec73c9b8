package io.cachedhive.tests.architecture;

import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * A module as its {@code pom.xml} and its Java files show it.
 *
 * @param dependencies those that the module's own pom names
 */
public record ProjectModule(String name, List<Dependency> dependencies, List<JavaSource> mainSources, List<JavaSource> testSources)
{
    public ProjectModule
    {
        requireNonNull(name, "name is null");
        dependencies = List.copyOf(dependencies);
        mainSources = List.copyOf(mainSources);
        testSources = List.copyOf(testSources);
    }

    record Dependency(String groupId, String artifactId, String scope)
    {
        boolean isForTestsOnly()
        {
            return scope.equals("test");
        }
    }

    Stream<JavaSource> sources()
    {
        return Stream.concat(mainSources.stream(), testSources.stream());
    }

    /**
     * The root of the project that the tests run in.
     */
    public static Path findRoot()
            throws IOException
    {
        for (Path directory = Path.of("").toAbsolutePath(); directory != null; directory = directory.getParent()) {
            Path pom = directory.resolve("pom.xml");
            if (Files.exists(pom) && Files.readString(pom).contains("<modules>")) {
                return directory;
            }
        }
        throw new IllegalStateException("no directory above %s has a pom.xml with modules".formatted(Path.of("").toAbsolutePath()));
    }

    /**
     * The modules that the root's pom lists.
     */
    static List<ProjectModule> readAll(Path root)
            throws IOException
    {
        List<ProjectModule> modules = new ArrayList<>();
        for (Element module : elements(readXml(root.resolve("pom.xml")), "module")) {
            modules.add(read(root, module.getTextContent().strip()));
        }
        return modules;
    }

    private static ProjectModule read(Path root, String name)
            throws IOException
    {
        Path directory = root.resolve(name);
        List<Dependency> dependencies = elements(readXml(directory.resolve("pom.xml")), "dependency").stream()
                // a plugin's dependencies are the build's, and what is managed is not used
                .filter(dependency -> !isBelow(dependency, "plugin") && !isBelow(dependency, "dependencyManagement"))
                .map(dependency -> new Dependency(
                        child(dependency, "groupId").orElseThrow(),
                        child(dependency, "artifactId").orElseThrow(),
                        child(dependency, "scope").orElse("compile")))
                .toList();
        return new ProjectModule(
                name,
                dependencies,
                readSources(root, directory.resolve("src/main/java")),
                readSources(root, directory.resolve("src/test/java")));
    }

    private static List<JavaSource> readSources(Path root, Path directory)
            throws IOException
    {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        List<JavaSource> sources = new ArrayList<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java")).sorted().toList()) {
                sources.add(JavaSource.read(root, file));
            }
        }
        return sources;
    }

    private static Document readXml(Path file)
            throws IOException
    {
        try {
            return DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder().parse(file.toFile());
        }
        catch (ParserConfigurationException | SAXException e) {
            throw new IOException("cannot read %s: %s".formatted(file, e.getMessage()), e);
        }
    }

    private static List<Element> elements(Document document, String tag)
    {
        NodeList nodes = document.getElementsByTagName(tag);
        List<Element> elements = new ArrayList<>();
        for (int index = 0; index < nodes.getLength(); index++) {
            elements.add((Element) nodes.item(index));
        }
        return elements;
    }

    private static boolean isBelow(Node node, String tag)
    {
        for (Node parent = node.getParentNode(); parent != null; parent = parent.getParentNode()) {
            if (parent.getNodeName().equals(tag)) {
                return true;
            }
        }
        return false;
    }

    private static Optional<String> child(Element element, String tag)
    {
        for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node.getNodeName().equals(tag)) {
                return Optional.of(node.getTextContent().strip());
            }
        }
        return Optional.empty();
    }
}
