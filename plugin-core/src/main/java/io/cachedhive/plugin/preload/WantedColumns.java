package io.cachedhive.plugin.preload;

import java.io.IOException;
import java.util.List;

/**
 * Where the columns that are to be loaded lie in a file.
 */
public interface WantedColumns
{
    /**
     * Whether readers read all of the file, whichever columns are wanted: then nobody has to look at its footers.
     */
    boolean isReadWhole(PreloadFile file);

    /**
     * @param bytes of the file
     * @throws IOException if its footers cannot be read
     */
    List<ByteRange> find(PreloadFile file, OwnedBytes bytes)
            throws IOException;
}
