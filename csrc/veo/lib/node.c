/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated nodes: how many there are, and which one is meant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "veo/lib/host.h"

size_t veolib_env_size(const char *name, size_t otherwise)
{
    const char *text = secure_getenv(name);
    if (!text || !*text)
        return otherwise;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    unsigned shift = *end == 'K' || *end == 'k'   ? 10
                     : *end == 'M' || *end == 'm' ? 20
                     : *end == 'G' || *end == 'g' ? 30
                                                  : 0;
    end += shift != 0;
    if (errno || *end || *text == '-' || value > (SIZE_MAX >> shift)) {
        veolib_fail(
            EINVAL,
            "%s='%s' is no size and is ignored; use a number, with K, M or G behind it if need be",
            name, text);
        return otherwise;
    }
    return (size_t)value << shift;
}

int veolib_node_count(void)
{
    size_t n = veolib_env_size("VEO_SOFT_NODES", 1);
    return n < 1 ? 1 : n > 1024 ? 1024 : (int)n;
}

VEO_EXPORT int veosoft_node_count(void)
{
    return veolib_node_count();
}

/* -1 for text that is no node number. */
static int parse_node(const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 0 || value > 1 << 20)
        return -1;
    return (int)value;
}

/* The n-th entry of a list, or the entry equal to VALUE where VALUE is not negative. */
static int from_list(const char *list, int n, int value)
{
    char copy[1024];
    char *rest = copy;
    if (strlen(list) >= sizeof copy)
        return -1;
    strcpy(copy, list);
    int index = 0;
    for (char *word; (word = strtok_r(rest, " ", &rest)); index++) {
        int node = parse_node(word);
        if (node < 0)
            return -1;
        if (value >= 0 ? node == value : index == n)
            return node;
    }
    return -1;
}

int veolib_node_resolve(int venode)
{
    const char *list = secure_getenv("_VENODELIST");
    const char *wanted = secure_getenv("VE_NODE_NUMBER");
    int node = venode;
    if (venode < -1) {
        veolib_fail(EINVAL, "%d is no VE node number", venode);
        return -1;
    }
    int value = -1;
    if (venode == -1 && wanted && *wanted) {
        value = parse_node(wanted);
        if (value < 0) {
            veolib_fail(EINVAL, "VE_NODE_NUMBER='%s' is no VE node number", wanted);
            return -1;
        }
    }
    if (list && *list) {
        node = from_list(list, venode == -1 ? 0 : venode, value);
        if (node < 0) {
            veolib_fail(ENODEV, "_VENODELIST='%s' has no entry for VE node %d", list,
                        value >= 0 ? value : venode);
            return -1;
        }
    } else if (venode == -1) {
        node = value >= 0 ? value : 0;
    }
    if (node >= veolib_node_count()) {
        veolib_fail(ENODEV, "there is no VE node %d: %d simulated (VEO_SOFT_NODES sets how many)",
                    node, veolib_node_count());
        return -1;
    }
    return node;
}

VEO_EXPORT int veo_get_ve_arch(int venode)
{
    if (venode < 0)
        return 0;
    if (venode >= veolib_node_count())
        return -1;
    return veolib_env_size("VEO_SOFT_ARCH", 1) == 3 ? 3 : 1;
}
