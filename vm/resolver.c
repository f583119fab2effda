/* resolver.c -- see resolver.h.
 *
 * The locals of all functions around the current place stand in one array, outermost
 * first; each function has a run of it, at most RESOLVER_MAX_LOCALS long, which is searched
 * backwards.  A name that is in no run is a global.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/resolver.h"

#include "base/insist.h"
#include "vm/counted_loop.h"
#include "vm/names.h"

#include <stdlib.h>

#define UNDEFINED (-1) /* the depth of a local whose initializer is being resolved */

struct local {
    struct variable *variable;
    int32_t depth; /* of its scope, 0 = the function itself */
};

struct function_scope {
    struct function_node *node;
    struct function_scope *around;
    size_t first_local, local_count; /* in the resolver's array */
    int32_t depth;                   /* of the innermost scope; 0 = globals are declared here */
    size_t capture_capacity;
    uint64_t calls; /* in the function itself, so far */
};

struct class_scope {
    struct class_node *node;
    struct class_scope *around;
    struct object **fields; /* names assigned as this.NAME, with duplicates */
    size_t field_count, field_capacity;
};

/* A loop that is counted if its limit turns out not to be captured, which is known only
 * when the limit's whole scope has been seen. */
struct pending_loop {
    struct stmt *loop;
    struct variable *limit;
    struct pending_loop *next;
};

struct resolver {
    struct arena *arena;
    struct diagnostics *diagnostics;
    bool is_panicking; /* an error was said in the innermost declaration */
    struct local *locals;
    size_t local_capacity;
    struct function_scope *function;
    struct class_scope *class;
    struct pending_loop *pending;
    struct object *this_name, *super_name;
};

static void resolve_expr(struct resolver *resolver, struct expr *expr);
static void resolve_stmt(struct resolver *resolver, struct stmt *stmt);

static void error(struct resolver *resolver, struct token token, const char *message)
{
    if (resolver->is_panicking)
        return;
    resolver->is_panicking = true;
    diagnostics_add(resolver->diagnostics, token, message);
}

/* --- scopes ------------------------------------------------------------------------ */

static struct variable *new_variable(struct resolver *resolver, struct token token,
                                     struct object *name)
{
    struct variable *variable = ARENA_NEW(resolver->arena, struct variable);
    variable->token = token;
    variable->name = name;
    variable->owner = resolver->function->node;
    return variable;
}

/* As in the book a function without `this` keeps itself in slot 0. */
static size_t slots_used(const struct function_scope *scope)
{
    return scope->local_count + (scope->node->receiver ? 0 : 1);
}

static void add_local(struct resolver *resolver, struct variable *variable, int32_t depth)
{
    struct function_scope *scope = resolver->function;
    if (slots_used(scope) == RESOLVER_MAX_LOCALS) {
        error(resolver, variable->token, "Too many local variables in function.");
        return;
    }
    size_t at = scope->first_local + scope->local_count++;
    resolver->locals = arena_grow(resolver->arena, resolver->locals, at, &resolver->local_capacity,
                                  sizeof *resolver->locals);
    resolver->locals[at] = (struct local){ variable, depth };
}

static void declare_local(struct resolver *resolver, struct variable *variable)
{
    struct function_scope *scope = resolver->function;
    const struct local *locals = resolver->locals + scope->first_local;
    for (size_t i = scope->local_count; i-- > 0;) {
        if (locals[i].depth != UNDEFINED && locals[i].depth < scope->depth)
            break;
        if (locals[i].variable->name == variable->name)
            error(resolver, variable->token, "Already a variable with this name in this scope.");
    }
    add_local(resolver, variable, UNDEFINED);
}

static void declare(struct resolver *resolver, struct declared *declared)
{
    if (resolver->function->depth == 0)
        return;
    declared->variable = new_variable(resolver, declared->token, declared->name);
    declare_local(resolver, declared->variable);
}

/* What was declared last may be used from here on. */
static void define(struct resolver *resolver)
{
    struct function_scope *scope = resolver->function;
    if (scope->depth > 0 && scope->local_count > 0)
        resolver->locals[scope->first_local + scope->local_count - 1].depth = scope->depth;
}

static void begin_scope(struct resolver *resolver) { resolver->function->depth++; }

static void end_scope(struct resolver *resolver)
{
    struct function_scope *scope = resolver->function;
    const struct local *locals = resolver->locals + scope->first_local;
    scope->depth--;
    while (scope->local_count > 0 && locals[scope->local_count - 1].depth > scope->depth)
        scope->local_count--;
}

/* --- names ------------------------------------------------------------------------- */

static struct variable *find_local(struct resolver *resolver, const struct function_scope *scope,
                                   const struct reference *reference)
{
    const struct local *locals = resolver->locals + scope->first_local;
    for (size_t i = scope->local_count; i-- > 0;)
        if (locals[i].variable->name == reference->name) {
            if (locals[i].depth == UNDEFINED)
                error(resolver, reference->token,
                      "Can't read local variable in its own initializer.");
            return locals[i].variable;
        }
    return NULL;
}

static int32_t add_capture(struct resolver *resolver, struct function_scope *scope,
                           const struct reference *reference, struct capture_node capture)
{
    struct function_node *node = scope->node;
    for (uint32_t i = 0; i < node->capture_count; i++)
        if (node->captures[i].variable == capture.variable)
            return (int32_t)i;
    if (node->capture_count == RESOLVER_MAX_CAPTURES) {
        error(resolver, reference->token, "Too many closure variables in function.");
        return 0;
    }
    node->captures = arena_grow(resolver->arena, node->captures, node->capture_count,
                                &scope->capture_capacity, sizeof *node->captures);
    node->captures[node->capture_count] = capture;
    return (int32_t)node->capture_count++;
}

/* The scope's capture of a variable of some function around it; -1 = a global. */
static int32_t find_capture(struct resolver *resolver, struct function_scope *scope,
                            const struct reference *reference)
{
    struct function_scope *around = scope->around;
    if (!around)
        return -1;
    struct variable *variable = find_local(resolver, around, reference);
    if (variable) {
        variable->is_captured = true;
        return add_capture(resolver, scope, reference, (struct capture_node){ variable, true, 0 });
    }
    int32_t index = find_capture(resolver, around, reference);
    if (index < 0)
        return -1;
    variable = around->node->captures[index].variable;
    return add_capture(resolver, scope, reference,
                       (struct capture_node){ variable, false, (uint32_t)index });
}

static void resolve_name(struct resolver *resolver, struct reference *reference)
{
    struct function_scope *scope = resolver->function;
    reference->capture = -1;
    reference->variable = find_local(resolver, scope, reference);
    if (reference->variable)
        return;
    reference->capture = find_capture(resolver, scope, reference);
    if (reference->capture >= 0)
        reference->variable = scope->node->captures[reference->capture].variable;
}

/* --- expressions ------------------------------------------------------------------- */

/* The parser has seen to it that `this` is in a class, and `super` in one with a superclass. */
static void resolve_this(struct resolver *resolver, struct expr *expr)
{
    ASSERT(resolver->class, "this outside of a class");
    resolve_name(resolver, &expr->receiver);
}

static void resolve_super(struct resolver *resolver, struct expr *expr)
{
    ASSERT(resolver->class && resolver->class->node->has_superclass, "super without superclass");
    resolve_name(resolver, &expr->super.receiver);
    resolve_name(resolver, &expr->super.superclass);
}

static void resolve_assign(struct resolver *resolver, struct expr *expr)
{
    resolve_name(resolver, &expr->assign.target);
    if (expr->assign.target.variable)
        expr->assign.target.variable->assignments++;
    resolve_expr(resolver, expr->assign.value);
}

static void resolve_chain(struct resolver *resolver, struct expr *expr)
{
    resolve_expr(resolver, expr->chain.first);
    for (struct link *link = expr->chain.links; link; link = link->next)
        resolve_expr(resolver, link->right);
}

static void resolve_call(struct resolver *resolver, struct expr *expr)
{
    resolver->function->calls++;
    resolve_expr(resolver, expr->call.callee);
    for (uint32_t i = 0; i < expr->call.argument_count; i++)
        resolve_expr(resolver, expr->call.arguments[i]);
}

static void note_field(struct resolver *resolver, const struct expr *set)
{
    struct class_scope *class = resolver->class;
    if (set->property.object->kind != EXPR_THIS || !class)
        return;
    class->fields = arena_grow(resolver->arena, class->fields, class->field_count,
                               &class->field_capacity, sizeof(struct object *));
    class->fields[class->field_count++] = set->property.name;
}

static void resolve_expr(struct resolver *resolver, struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_NIL:
    case EXPR_TRUE:
    case EXPR_FALSE:
    case EXPR_NUMBER:
    case EXPR_STRING:
        return;
    case EXPR_VARIABLE:
        return resolve_name(resolver, &expr->variable);
    case EXPR_ASSIGN:
        return resolve_assign(resolver, expr);
    case EXPR_UNARY:
        return resolve_expr(resolver, expr->unary.right);
    case EXPR_CHAIN:
        return resolve_chain(resolver, expr);
    case EXPR_AND:
    case EXPR_OR:
        resolve_expr(resolver, expr->logical.left);
        return resolve_expr(resolver, expr->logical.right);
    case EXPR_CALL:
        return resolve_call(resolver, expr);
    case EXPR_GET:
        return resolve_expr(resolver, expr->property.object);
    case EXPR_SET:
        note_field(resolver, expr);
        resolve_expr(resolver, expr->property.object);
        return resolve_expr(resolver, expr->property.value);
    case EXPR_INDEX:
    case EXPR_SET_INDEX:
        resolve_expr(resolver, expr->index.object);
        resolve_expr(resolver, expr->index.index);
        if (expr->kind == EXPR_SET_INDEX)
            resolve_expr(resolver, expr->index.value);
        return;
    case EXPR_THIS:
        return resolve_this(resolver, expr);
    case EXPR_SUPER:
        return resolve_super(resolver, expr);
    }
}

/* --- counted loops ----------------------------------------------------------------- */

static void add_pending(struct resolver *resolver, struct stmt *loop, struct variable *limit)
{
    struct pending_loop *pending = ARENA_NEW(resolver->arena, struct pending_loop);
    *pending = (struct pending_loop){ loop, limit, resolver->pending };
    resolver->pending = pending;
}

/* Calls in functions that the body declares do not count: nobody calls these without a call
 * in the body. */
static void resolve_body(struct resolver *resolver, struct stmt *loop)
{
    struct counted_head head = counted_loop_head(loop);
    uint64_t calls = resolver->function->calls;
    uint32_t limit_assignments = head.limit ? head.limit->assignments : 0;

    resolve_stmt(resolver, loop->loop_for.body);

    bool is_counted = head.counter && head.counter->assignments == 1 &&
                      !head.counter->is_captured && resolver->function->calls == calls;
    if (!head.limit)
        loop->loop_for.is_counted = is_counted;
    else if (is_counted && head.limit->assignments == limit_assignments)
        add_pending(resolver, loop, head.limit);
}

static void resolve_for(struct resolver *resolver, struct stmt *loop)
{
    begin_scope(resolver);
    if (loop->loop_for.initializer)
        resolve_stmt(resolver, loop->loop_for.initializer);
    if (loop->loop_for.condition)
        resolve_expr(resolver, loop->loop_for.condition);
    if (loop->loop_for.increment)
        resolve_expr(resolver, loop->loop_for.increment);
    resolve_body(resolver, loop);
    end_scope(resolver);
}

static void settle_pending(struct resolver *resolver)
{
    for (struct pending_loop *p = resolver->pending; p; p = p->next)
        p->loop->loop_for.is_counted = !p->limit->is_captured;
}

/* --- statements -------------------------------------------------------------------- */

/* The items of a block are declarations: each may have its own error. */
static void resolve_list(struct resolver *resolver, struct stmt *list)
{
    for (struct stmt *stmt = list; stmt; stmt = stmt->next) {
        resolve_stmt(resolver, stmt);
        resolver->is_panicking = false;
    }
}

static void resolve_function(struct resolver *resolver, struct function_node *node)
{
    struct function_scope *around = resolver->function;
    struct function_scope scope = { .node = node, .around = around };
    if (around)
        scope.first_local = around->first_local + around->local_count;
    resolver->function = &scope;
    if (node->kind == FUNCTION_METHOD || node->kind == FUNCTION_INITIALIZER) {
        node->receiver = new_variable(resolver, node->token, resolver->this_name);
        add_local(resolver, node->receiver, 0);
    }
    if (node->kind != FUNCTION_SCRIPT)
        begin_scope(resolver); /* of the parameters and the body, both */
    for (uint32_t i = 0; i < node->parameter_count; i++) {
        declare_local(resolver, node->parameters[i]);
        define(resolver);
    }
    resolve_list(resolver, node->body);
    resolver->function = around;
}

/* The hidden variable that methods find their superclass in. */
static void resolve_superclass(struct resolver *resolver, struct class_node *class)
{
    resolve_name(resolver, &class->superclass);
    begin_scope(resolver);
    class->super = new_variable(resolver, class->superclass.token, resolver->super_name);
    add_local(resolver, class->super, resolver->function->depth);
}

static int compare_addresses(const void *a, const void *b)
{
    uintptr_t a_address = *(const uintptr_t *)a, b_address = *(const uintptr_t *)b;
    return (a_address > b_address) - (a_address < b_address);
}

static uint32_t count_distinct(struct object **names, size_t count)
{
    uint32_t distinct = 0;
    if (count > 0)
        qsort(names, count, sizeof(struct object *), compare_addresses);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || names[i] != names[i - 1];
    return distinct;
}

static void resolve_class(struct resolver *resolver, struct class_node *class)
{
    struct class_scope scope = { .node = class, .around = resolver->class };
    declare(resolver, &class->declared);
    define(resolver);
    resolver->class = &scope;
    if (class->has_superclass)
        resolve_superclass(resolver, class);
    resolve_name(resolver, &class->self);
    for (uint32_t i = 0; i < class->method_count; i++)
        resolve_function(resolver, class->methods[i]);
    if (class->has_superclass)
        end_scope(resolver);
    class->field_hint = count_distinct(scope.fields, scope.field_count);
    resolver->class = scope.around;
}

static void resolve_var(struct resolver *resolver, struct stmt *stmt)
{
    declare(resolver, &stmt->var.declared);
    if (stmt->var.initializer)
        resolve_expr(resolver, stmt->var.initializer);
    define(resolver);
}

static void resolve_stmt(struct resolver *resolver, struct stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_EXPRESSION:
    case STMT_PRINT:
        return resolve_expr(resolver, stmt->expression);
    case STMT_RETURN:
        if (stmt->expression)
            resolve_expr(resolver, stmt->expression);
        return;
    case STMT_VAR:
        return resolve_var(resolver, stmt);
    case STMT_FUNCTION:
        declare(resolver, &stmt->function.declared);
        define(resolver); /* before the body, which may call it */
        return resolve_function(resolver, stmt->function.function);
    case STMT_CLASS:
        return resolve_class(resolver, stmt->class);
    case STMT_BLOCK:
        begin_scope(resolver);
        resolve_list(resolver, stmt->block.first);
        return end_scope(resolver);
    case STMT_IF:
        resolve_expr(resolver, stmt->branch.condition);
        resolve_stmt(resolver, stmt->branch.then);
        if (stmt->branch.otherwise)
            resolve_stmt(resolver, stmt->branch.otherwise);
        return;
    case STMT_WHILE:
        resolve_expr(resolver, stmt->loop.condition);
        return resolve_stmt(resolver, stmt->loop.body);
    case STMT_FOR:
        return resolve_for(resolver, stmt);
    }
}

static struct object *intern(struct arena *arena, const char *name, size_t length)
{
    struct object *object = names_intern(name, length);
    if (!object)
        longjmp(*arena->out_of_memory, 1);
    return object;
}

#define FIRST_LOCALS 16

void resolver_resolve(struct function_node *script, struct arena *arena,
                      struct diagnostics *diagnostics)
{
    struct resolver resolver = { .arena = arena,
                                 .diagnostics = diagnostics,
                                 .this_name = intern(arena, "this", 4),
                                 .super_name = intern(arena, "super", 5),
                                 .local_capacity = FIRST_LOCALS };
    /* Never NULL: a function without locals computes an address in it, too. */
    resolver.locals = arena_allocate(arena, FIRST_LOCALS * sizeof *resolver.locals);
    resolve_function(&resolver, script);
    settle_pending(&resolver);
}
