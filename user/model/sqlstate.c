/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/sqlstate.h"

#include <stddef.h>
#include <string.h>

/* Whole codes first; two characters are a class. Names as in PostgreSQL 18's errcodes.txt. */
static const struct {
	const char *code, *name;
} names[] = {
	{ "08000", "connection_exception" },
	{ "08004", "sqlserver_rejected_establishment_of_sqlconnection" },
	{ "08006", "connection_failure" },
	{ "08P01", "protocol_violation" },
	{ "0A000", "feature_not_supported" },
	{ "22023", "invalid_parameter_value" },
	{ "26000", "invalid_sql_statement_name" },
	{ "28000", "invalid_authorization_specification" },
	{ "28P01", "invalid_password" },
	{ "3D000", "invalid_catalog_name" },
	{ "42501", "insufficient_privilege" },
	{ "42601", "syntax_error" },
	{ "42704", "undefined_object" },
	{ "53000", "insufficient_resources" },
	{ "53100", "disk_full" },
	{ "53200", "out_of_memory" },
	{ "53300", "too_many_connections" },
	{ "55000", "object_not_in_prerequisite_state" },
	{ "55006", "object_in_use" },
	{ "57014", "query_canceled" },
	{ "57P01", "admin_shutdown" },
	{ "57P02", "crash_shutdown" },
	{ "57P03", "cannot_connect_now" },
	{ "57P04", "database_dropped" },
	{ "57P05", "idle_session_timeout" },
	{ "58000", "system_error" },
	{ "58030", "io_error" },
	{ "58P01", "undefined_file" },
	{ "F0000", "config_file_error" },
	{ "XX000", "internal_error" },
	{ "XX001", "data_corrupted" },
	{ "08", "a connection exception" },
	{ "0A", "a feature not supported" },
	{ "0P", "an invalid role specification" },
	{ "22", "a data exception" },
	{ "25", "an invalid transaction state" },
	{ "28", "an invalid authorization specification" },
	{ "42", "a syntax error or access rule violation" },
	{ "53", "insufficient resources" },
	{ "54", "a program limit exceeded" },
	{ "55", "an object not in prerequisite state" },
	{ "57", "an operator intervention" },
	{ "58", "a system error" },
	{ "P0", "raised by PL/pgSQL" },
	{ "XX", "an internal error" },
};

const char *sqlstate_name(const char *sqlstate)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(names[i].code, sqlstate, strlen(names[i].code)) == 0)
			return names[i].name;
	return "";
}
