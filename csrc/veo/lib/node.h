/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node.h: the numbers of the simulated VE nodes.
 *
 * VEO_SOFT_NODES says how many there are; VE_NODE_NUMBER and _VENODELIST select one as they do for
 * the vendor's library. No function blocks; all may be called by any thread.
 */
#ifndef VEOLIB_NODE_H
#define VEOLIB_NODE_H

/* The node that veo_proc_create(VENODE) means; -1 (error set) if there is no such node. */
int veolib_node_resolve(int venode);

#endif
