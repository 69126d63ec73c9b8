package io.cachedhive.tests.containers;

import com.google.common.collect.ImmutableSortedMap;
import org.testng.annotations.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

@Test(groups = "fast")
public class TestFileListing
{
    public void testChanges()
    {
        FileListing before = new FileListing(ImmutableSortedMap.of("/etc", "d 755 root:root", "/etc/passwd", "f 644 root:root 1f", "/etc/old", "f 600 root:root 2a"));
        FileListing after = new FileListing(ImmutableSortedMap.of("/etc", "d 755 root:root", "/etc/passwd", "f 644 root:root 30", "/etc/new", "l 777 root:root old"));

        assertThat(after.changesSince(before)).containsExactly(
                entry("/etc/new", "new: l 777 root:root old"),
                entry("/etc/old", "gone: f 600 root:root 2a"),
                entry("/etc/passwd", "was f 644 root:root 1f, is f 644 root:root 30"));
        assertThat(before.changesSince(before)).isEmpty();
    }
}
