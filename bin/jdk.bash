# Sourced by the programs beside it: finds a JDK for them.

# Prints the home of the first JDK of version 25 or newer among the places where Maven's toolchains look, too.
find_jdk() {
    local candidate
    local candidates=("${JAVA_HOME:-}" "${JDK_HOME:-}" "${JAVA25_HOME:-}")
    if candidate=$(command -v java); then
        candidates+=("$(dirname "$(dirname "$(readlink -f "$candidate")")")")
    fi
    candidates+=(
        /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk*
        "$HOME"/.m2/jdks/* "$HOME"/.jdks/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.gradle/jdks/* "$HOME"/.jenv/versions/*
        "$HOME"/.jbang/cache/jdks/* "$HOME"/.asdf/installs/java/* "$HOME"/.local/share/mise/installs/java/*
    )
    for candidate in "${candidates[@]}"; do
        if [ -n "$candidate" ] && [ -x "$candidate/bin/javac" ] && [ "$(jdk_version "$candidate")" -ge 25 ]; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

# Prints the feature version of a JDK by the file in which every one of them says it, 0 if it does not.
jdk_version() {
    local version
    version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*"/\1/p' "$1/release" 2>/dev/null)
    echo "${version:-0}"
}

# Prints the options that tell a Java program which of its output streams are terminals.
terminal_options() {
    local size
    if [ -t 1 ] && size=$(stty size 2>/dev/null </dev/tty); then
        echo "-Dcachedhive.terminal.columns=${size#* }"
    fi
    if [ -t 2 ]; then
        echo "-Dcachedhive.terminal.error=true"
    fi
}
