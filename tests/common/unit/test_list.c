/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build:
 *
 * The intrusive list against an array that is kept in the same order, and by cases.
 */
#include "common/list.h"

#include <string.h>

#include "tests/support/check.h"

#define OBJECTS 16
#define STEPS 20000

struct object {
    int value;
    struct list_node node; /* not the first member, so that LIST_ENTRY() has something to do */
};

static struct object *object_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct object, node);
}

/* --- cases --- */

static void an_empty_list_is_all_zeros(void)
{
    struct list list = {0};
    CHECK(list_is_empty(&list));
    CHECK(list_pop(&list) == NULL);

    struct list taken = list_take_all(&list);
    CHECK(list_is_empty(&taken));
    CHECK(list_is_empty(&list));
}

static void the_only_node_can_be_removed(void)
{
    struct list list = {0};
    struct object object = {.value = 1};
    list_append(&list, &object.node);
    CHECK(!list_is_empty(&list));
    CHECK(object_of(list.first) == &object);
    CHECK(list.last == list.first);

    list_remove(&list, &object.node);
    CHECK(list_is_empty(&list));
    CHECK(list.last == NULL);
    CHECK(object.node.next == NULL && object.node.previous == NULL);

    list_prepend(&list, &object.node);
    CHECK(list_pop(&list) == &object.node);
    CHECK(list_is_empty(&list));
}

static void taking_all_keeps_the_order(void)
{
    struct list list = {0};
    struct object objects[3] = {{.value = 0}, {.value = 1}, {.value = 2}};
    list_append(&list, &objects[1].node);
    list_append(&list, &objects[2].node);
    list_prepend(&list, &objects[0].node);

    struct list all = list_take_all(&list);
    CHECK(list_is_empty(&list));
    for (int i = 0; i < 3; i++)
        CHECK(object_of(list_pop(&all))->value == i);
    CHECK(list_is_empty(&all));
}

/* --- against a model --- */

struct model {
    struct object *objects[OBJECTS];
    size_t count;
};

static void model_insert(struct model *model, size_t at, struct object *object)
{
    memmove(model->objects + at + 1, model->objects + at,
            (model->count - at) * sizeof(model->objects[0]));
    model->objects[at] = object;
    model->count++;
}

static bool model_remove(struct model *model, const struct object *object)
{
    for (size_t i = 0; i < model->count; i++)
        if (model->objects[i] == object) {
            model->count--;
            memmove(model->objects + i, model->objects + i + 1,
                    (model->count - i) * sizeof(model->objects[0]));
            return true;
        }
    return false;
}

/* Forwards and backwards. */
static void check_same(const struct list *list, const struct model *model)
{
    size_t i = 0;
    for (struct list_node *at = list->first; at != NULL; at = at->next)
        CHECK(i < model->count && object_of(at) == model->objects[i++]);
    CHECK(i == model->count);

    for (struct list_node *at = list->last; at != NULL; at = at->previous)
        CHECK(i > 0 && object_of(at) == model->objects[--i]);
    CHECK(i == 0);
}

static void random_steps_are_those_of_an_array(void)
{
    static struct object objects[OBJECTS];
    struct list list = {0};
    struct model model = {.count = 0};
    uint64_t state = check_seed(1);
    for (int step = 0; step < STEPS; step++) {
        struct object *object = &objects[check_random_below(&state, OBJECTS)];
        if (model_remove(&model, object)) {
            list_remove(&list, &object->node);
        } else if (check_random_below(&state, 2) == 0) {
            list_append(&list, &object->node);
            model_insert(&model, model.count, object);
        } else {
            list_prepend(&list, &object->node);
            model_insert(&model, 0, object);
        }
        check_same(&list, &model);
    }
}

int main(void)
{
    an_empty_list_is_all_zeros();
    the_only_node_can_be_removed();
    taking_all_keeps_the_order();
    random_steps_are_those_of_an_array();
    return 0;
}
