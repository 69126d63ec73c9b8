package io.cachedhive.packages;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

import static java.util.Objects.requireNonNull;

/**
 * What stands at one path of a package.
 */
sealed interface PackageEntry
{
    /**
     * Permissions, without the bits of the kind.
     */
    int mode();

    Access access();

    /**
     * Who owns it after the installation.
     */
    enum Access
    {
        /**
         * root alone.
         */
        ROOT("root", "root"),
        /**
         * root, and the group of the cache worker may read it: configuration, which may have secrets.
         */
        READ_BY_WORKER("root", "cachedhive"),
        /**
         * The cache worker.
         */
        WORKER("cachedhive", "cachedhive");

        private final String user;
        private final String group;

        Access(String user, String group)
        {
            this.user = user;
            this.group = group;
        }

        String user()
        {
            return user;
        }

        String group()
        {
            return group;
        }
    }

    record Directory(int mode, Access access)
            implements PackageEntry {}

    record Link(String target)
            implements PackageEntry
    {
        public Link
        {
            requireNonNull(target, "target is null");
        }

        @Override
        public int mode()
        {
            return 0777;
        }

        @Override
        public Access access()
        {
            return Access.ROOT;
        }
    }

    /**
     * @param configuration whether operators change it, so that a newer package must not overwrite it
     */
    record File(Content content, int mode, Access access, boolean configuration)
            implements PackageEntry
    {
        public File
        {
            requireNonNull(content, "content is null");
            requireNonNull(access, "access is null");
        }
    }

    /**
     * The bytes of a file.
     */
    interface Content
    {
        long size()
                throws IOException;

        InputStream open()
                throws IOException;

        static Content of(byte[] bytes)
        {
            return new Content()
            {
                @Override
                public long size()
                {
                    return bytes.length;
                }

                @Override
                public InputStream open()
                {
                    return new ByteArrayInputStream(bytes);
                }
            };
        }

        static Content of(Path file)
        {
            return new Content()
            {
                @Override
                public long size()
                        throws IOException
                {
                    return Files.size(file);
                }

                @Override
                public InputStream open()
                        throws IOException
                {
                    return Files.newInputStream(file);
                }
            };
        }
    }
}
