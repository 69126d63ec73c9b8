package io.cachedhive.testing.metastore;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;

/**
 * Stands in for the object store in the metastore: every directory exists and is empty, and every change of one succeeds at once.
 *
 * <p>The metastore looks for the directories of schemas, tables and partitions and creates missing ones; object stores have no directories. Trino
 * writes, moves and deletes the objects itself. Statistics that the metastore would gather from files are zero. This class is loaded by the metastore
 * in its own process, and not by the tests.
 */
public final class DirectoriesFileSystem
        extends FileSystem
{
    private URI uri;

    @Override
    public void initialize(URI name, Configuration configuration)
            throws IOException
    {
        super.initialize(name, configuration);
        setConf(configuration);
        uri = URI.create(name.getScheme() + "://" + name.getAuthority());
    }

    @Override
    public URI getUri()
    {
        return uri;
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize)
            throws IOException
    {
        throw new FileNotFoundException("the metastore reads no objects: " + path);
    }

    @Override
    public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite, int bufferSize, short replication, long blockSize, Progressable progress)
            throws IOException
    {
        throw new IOException("the metastore writes no objects: " + path);
    }

    @Override
    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
            throws IOException
    {
        throw new IOException("the metastore writes no objects: " + path);
    }

    @Override
    public boolean rename(Path from, Path to)
    {
        return true;
    }

    @Override
    public boolean delete(Path path, boolean recursive)
    {
        return true;
    }

    @Override
    public FileStatus[] listStatus(Path path)
    {
        return new FileStatus[0];
    }

    @Override
    public void setWorkingDirectory(Path path) {}

    @Override
    public Path getWorkingDirectory()
    {
        return new Path(uri + "/");
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission)
    {
        return true;
    }

    @Override
    public FileStatus getFileStatus(Path path)
    {
        return new FileStatus(0, true, 1, 0, 0, path);
    }
}
