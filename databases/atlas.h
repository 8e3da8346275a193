/* The atlas of a process into which a database loads us: opened once, when an extension is loaded, and kept. */
#include <hereabouts.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* HEREABOUTS_ATLAS, else the first of these that can be read. Null with a message where there is none. */
static const hereabouts_atlas *open_atlas(char *message, size_t capacity) {
    static const char *const places[] = {"/usr/local/share/hereabouts/world.atlas", "/usr/share/hereabouts/world.atlas"};
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static hereabouts_atlas *atlas;
    const char *path = getenv("HEREABOUTS_ATLAS");
    pthread_mutex_lock(&mutex);
    if (atlas == NULL && path != NULL && *path != '\0') {
        int32_t status = hereabouts_open(path, 0, &atlas);
        if (status != HEREABOUTS_OK) snprintf(message, capacity, "HEREABOUTS_ATLAS %s: %s", path, hereabouts_error_text(status));
    } else if (atlas == NULL) {
        int32_t status = HEREABOUTS_UNREADABLE;
        for (size_t k = 0; status == HEREABOUTS_UNREADABLE && k < sizeof places / sizeof *places; k++) {
            status = hereabouts_open(places[k], 0, &atlas);
            if (status != HEREABOUTS_OK) snprintf(message, capacity, "%s: %s", places[k], hereabouts_error_text(status));
        }
        if (status == HEREABOUTS_UNREADABLE)
            snprintf(message, capacity, "no atlas found: name one by the environment's HEREABOUTS_ATLAS");
    }
    pthread_mutex_unlock(&mutex);
    return atlas;
}

/* The atlas's fingerprint, or the words to show beside what is published; null where there is no memory. To be freed. */
static char *text_of_atlas(const hereabouts_atlas *atlas, int is_fingerprint) {
    size_t length = is_fingerprint ? 16 : hereabouts_attribution(atlas, NULL, 0);
    char *text = malloc(length + 1);
    if (text == NULL) return NULL;
    if (is_fingerprint)
        snprintf(text, length + 1, "%016llx", (unsigned long long)hereabouts_fingerprint(atlas));
    else
        hereabouts_attribution(atlas, text, length + 1);
    return text;
}
