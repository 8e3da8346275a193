// launch DESCRIPTOR PROGRAM ARGUMENTS…: runs a program with its standard output passed on, and at its end writes to the
// file descriptor: exit status, seconds to the first byte of output and to the end, and the most memory held, in KiB.
//
// It is a program of its own because the system counts the memory of the process that starts another as the other's.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "points.h"

extern char **environ;

int main(int count, char **arguments) {
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (count < 3 || pipe(ends) || posix_spawn_file_actions_init(&actions)) return 2;
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    for (int i = 0; i < 2; i++) posix_spawn_file_actions_addclose(&actions, ends[i]);
    int report = atoi(arguments[1]);
    posix_spawn_file_actions_addclose(&actions, report);

    double start = seconds_now(), first = -1;
    pid_t child;
    if (posix_spawnp(&child, arguments[2], &actions, NULL, arguments + 2, environ)) return 2;
    close(ends[1]);
    static char bytes[1 << 16];
    ssize_t length;
    while ((length = read(ends[0], bytes, sizeof bytes)) > 0) {
        if (first < 0) first = seconds_now() - start;
        for (ssize_t done = 0; done < length;) {
            ssize_t written = write(1, bytes + done, (size_t)(length - done));
            if (written < 0) return 2;
            done += written;
        }
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) return 2;
    double end = seconds_now() - start;
    dprintf(report, "%d %.9f %.9f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), first, end,
            usage.ru_maxrss);
    return 0;
}
