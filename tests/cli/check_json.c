/* check_json.c -- read a JSON file strictly and look things up in it, for the shell tests.
 *
 *     check_json FILE                    0 when it is one well-formed document
 *     check_json FILE PATH               prints what is at scenarios.0.ttsp_ns.p50
 *     check_json FILE PATH=TEXT ...      1, and a line, where something else is there
 *
 * SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *step_into(json_t *value, const char *name)
{
    if (json_is_array(value))
        return json_array_get(value, (size_t)strtoul(name, NULL, 10));
    return json_object_get(value, name);
}

static json_t *look_up(json_t *value, char *path)
{
    char *rest = NULL;
    for (char *name = strtok_r(path, ".", &rest); name && value; name = strtok_r(NULL, ".", &rest))
        value = step_into(value, name);
    return value;
}

static void to_text(json_t *value, char *text_out, size_t bytes)
{
    if (!value)
        snprintf(text_out, bytes, "(missing)");
    else if (json_is_string(value))
        snprintf(text_out, bytes, "%s", json_string_value(value));
    else if (json_is_array(value) || json_is_object(value))
        snprintf(text_out, bytes, "(%zu)",
                 json_is_array(value) ? json_array_size(value) : json_object_size(value));
    else {
        char *dump = json_dumps(value, JSON_ENCODE_ANY);
        snprintf(text_out, bytes, "%s", dump ? dump : "?");
        free(dump);
    }
}

static int check_one(json_t *root, char *argument)
{
    char text[512], *wanted = strchr(argument, '=');
    if (wanted)
        *wanted++ = '\0';
    char *path = strdup(argument);
    to_text(look_up(root, path), text, sizeof text);
    free(path);
    if (!wanted) {
        puts(text);
        return 0;
    }
    if (strcmp(text, wanted) == 0)
        return 0;
    printf("%s is %s, not %s\n", argument, text, wanted);
    return 1;
}

int main(int argc, char **argv)
{
    json_error_t error;
    int failed = 0;
    if (argc < 2)
        return 64;
    json_t *root = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        printf("%s:%d: %s\n", argv[1], error.line, error.text);
        return 1;
    }
    for (int i = 2; i < argc; i++)
        failed |= check_one(root, argv[i]);
    json_decref(root);
    return failed;
}
