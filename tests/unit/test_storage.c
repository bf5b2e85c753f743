// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that each server gets the storage system of the first rule that matches its name or one of its addresses,
 * and no other one. */
#include "unit.h"
#include "commands/options.h"
#include "snapshot.h"

static struct storage_rules rules;

BEFORE_EACH()
{
	rules = (struct storage_rules){};
}

static void rule(const char *text)
{
	assert_null(storage_rules_add(&rules, text));
}

static void add_mount(const char *server, const char *address)
{
	struct nfs_mount mount = { .export = "/x", .mountpoint = "/mnt", .version = "4.2" };

	snprintf(mount.server, sizeof(mount.server), "%s", server);
	snprintf(mount.remote.address, sizeof(mount.remote.address), "%s", address);
	assert_non_null(snapshot_mount(&now.calls, &mount));
}

static void add_server(const char *server)
{
	assert_non_null(snapshot_server(&now.calls, server));
}

static void add_transport(const char *server, const char *name, const char *address)
{
	strcpy(snapshot_transport(&now.calls, server, name)->remote.address, address);
}

/* Applies the rules: the servers' storage systems in their order, as "server=storage", separated by blanks. */
static void assert_storages(const char *expected)
{
	char found[512] = "";

	storage_rules_apply(&rules, &now);
	for (size_t i = 0; i < now.calls.storage_count; i++)
		append_text(found, "%s%s=%s", i ? " " : "", now.calls.storages[i].server,
			    now.calls.storages[i].storage);
	assert_string_equal(found, expected);
}

TEST(two_addresses_are_one_storage)
{
	rule("scratch=10.0.1.*");
	rule("home=fd00:*");
	add_mount("10.0.1.1", "10.0.1.1");
	add_mount("10.0.1.2", "10.0.1.2");
	add_mount("fd00::7", "fd00::7");
	add_mount("192.0.2.1", "192.0.2.1");
	assert_storages("10.0.1.1=scratch 10.0.1.2=scratch fd00::7=home");
}

TEST(a_name_matches_in_any_case_and_an_address_of_any_transport)
{
	rule("a=NAS-?.example.com");
	rule("b=10.0.0.2");
	add_server("nas-1.Example.com");
	add_server("nas-10.example.com");
	add_transport("nas-10.example.com", "tcp/0", "10.0.0.1");
	add_transport("nas-10.example.com", "tcp/1", "10.0.0.2");
	add_transport("another", "tcp/1", "10.0.0.2"); /* it has neither calls nor a mount */
	assert_storages("nas-1.Example.com=a nas-10.example.com=b");
}

TEST(a_network_namespace_behind_the_name_may_be_left_out)
{
	rule("a=nas-1");
	rule("b=nas-2@40*");
	rule("c=x@nas");
	add_server("nas-1@4026532281");
	add_server("nas-2@4026532281");
	add_server("x@nas@4026532281");
	add_server("y@nas@4026532281");
	assert_storages("nas-1@4026532281=a nas-2@4026532281=b x@nas@4026532281=c");
}

TEST(the_first_rule_wins_whatever_it_matches)
{
	rule("by_address=10.0.0.1");
	rule("by_name=nas");
	rule("by_address=never");
	add_mount("nas", "10.0.0.1");
	add_mount("nas", "10.0.0.9");
	assert_storages("nas=by_address");
}

TEST(an_unknown_address_matches_nothing)
{
	rule("all=*");
	add_mount("", "");
	assert_storages("");
}

TEST(a_rule_needs_both_parts)
{
	struct storage_rules before = rules;

	NONE_ACCEPTED(text, !storage_rules_add(&rules, text), "", "=", "=x", "x", "x=");
	assert_memory_equal(&rules, &before, sizeof(rules));
	rule("a==b"); /* the pattern may hold one */
	assert_string_equal(rules.rules[0].pattern, "=b");
	rule("\xff=b");
	assert_string_equal(rules.rules[1].name, "\\xff");
}

TEST(rules_beyond_the_table_are_refused)
{
	for (int i = 0; i < STORAGE_RULES_MAX; i++)
		rule("a=b");
	assert_non_null(storage_rules_add(&rules, "a=b"));
	assert_int_equal(rules.count, STORAGE_RULES_MAX);
}
