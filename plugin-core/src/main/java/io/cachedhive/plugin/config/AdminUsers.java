package io.cachedhive.plugin.config;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableSet;

import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * The value of {@code cachedhive.admin-users}: the users and groups that may call the procedures that change the cache for other users. Names are case-sensitive.
 */
public record AdminUsers(Set<String> users, Set<String> groups)
{
    private static final String GROUP = "group:";

    public AdminUsers
    {
        users = ImmutableSet.copyOf(requireNonNull(users, "users is null"));
        groups = ImmutableSet.copyOf(requireNonNull(groups, "groups is null"));
    }

    /**
     * Parses names separated by commas. A name that starts with {@code group:} is the name of a group.
     */
    public static AdminUsers parse(String value)
    {
        ImmutableSet.Builder<String> users = ImmutableSet.builder();
        ImmutableSet.Builder<String> groups = ImmutableSet.builder();
        for (String name : Splitter.on(',').trimResults().split(value)) {
            if (name.startsWith(GROUP)) {
                groups.add(name.substring(GROUP.length()).strip());
            }
            else {
                users.add(name);
            }
        }
        return new AdminUsers(users.build(), groups.build());
    }

    boolean hasEmptyName()
    {
        return users.contains("") || groups.contains("");
    }

    public boolean contains(String user, Set<String> groupsOfUser)
    {
        return users.contains(user) || groupsOfUser.stream().anyMatch(groups::contains);
    }
}
