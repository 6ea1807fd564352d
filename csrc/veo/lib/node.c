/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/node.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ve_offload.h"
#include "veo/lib/environment.h"
#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veosoft.h"

/* Number of simulated nodes, 1 to 1024. */
static int node_count(void)
{
    return (int)veolib_env_value(VEOLIB_ID_VEO_SOFT_NODES);
}

VEO_EXPORT int veosoft_node_count(void)
{
    return veolib_env_check() ? node_count() : -1;
}

/* -1 if TEXT is not a node number. */
static int parse_node(const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 0 || value > 1 << 20)
        return -1;
    return (int)value;
}

/* The entry of LIST with index N, or the entry equal to VALUE if VALUE is not negative. */
static int find_in_list(const char *list, int n, int value)
{
    char copy[1024];
    char *rest = copy;
    if (strlen(list) >= sizeof copy)
        return -1;
    strcpy(copy, list);

    int index = 0;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL; index++) {
        int node = parse_node(word);
        if (node < 0)
            return -1;
        if (value >= 0 ? node == value : index == n)
            return node;
    }
    return -1;
}

/* The node in VE_NODE_NUMBER, which counts if the caller named none (-1); -1 if it does not. False
 * (error set) if it is not a number. */
static bool read_wanted_node(int venode, int *value)
{
    *value = -1;
    const char *wanted = veolib_env_text("VE_NODE_NUMBER");
    if (venode != -1 || wanted == NULL)
        return true;

    *value = parse_node(wanted);
    if (*value < 0)
        veolib_fail(EINVAL, "VE_NODE_NUMBER='%s' is not a VE node number", wanted);
    return *value >= 0;
}

int veolib_node_resolve(int venode)
{
    int value;
    if (venode < -1) {
        veolib_fail(EINVAL, "%d is not a VE node number", venode);
        return -1;
    }
    if (!read_wanted_node(venode, &value))
        return -1;

    int node = venode;
    const char *list = veolib_env_text("_VENODELIST");
    if (list != NULL) {
        node = find_in_list(list, venode == -1 ? 0 : venode, value);
        if (node < 0) {
            veolib_fail(ENODEV, "_VENODELIST='%s' has no entry for VE node %d", list,
                        value >= 0 ? value : venode);
            return -1;
        }
    } else if (venode == -1) {
        node = value >= 0 ? value : 0;
    }

    if (node >= node_count()) {
        veolib_fail(ENODEV,
                    "VE node %d does not exist: %d simulated (VEO_SOFT_NODES sets the number)",
                    node, node_count());
        return -1;
    }
    return node;
}

VEO_EXPORT int veo_get_ve_arch(int venode)
{
    if (venode < 0)
        return 0;
    if (!veolib_env_check() || venode >= node_count())
        return -1;
    return veolib_env_value(VEOLIB_ID_VEO_SOFT_ARCH) == 1 ? 3 : 1;
}
