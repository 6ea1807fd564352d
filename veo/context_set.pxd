# SPDX-License-Identifier: BSD-3-Clause
"""C declarations: csrc/veo/package/contexts.h, which explains them. All need the GIL."""


cdef extern from "veo/package/contexts.h":
    struct veopkg_context:
        void *owner         # a ContextBase, borrowed

    struct veopkg_contexts:
        void *main          # the ContextBase of the main context, borrowed, or NULL

    void veopkg_context_add(veopkg_contexts *set, veopkg_context *context, void *owner)
    void veopkg_context_remove(veopkg_contexts *set, veopkg_context *context)
    veopkg_context *veopkg_contexts_first(const veopkg_contexts *set)
    veopkg_context *veopkg_context_next(const veopkg_context *context)
