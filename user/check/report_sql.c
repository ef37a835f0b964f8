/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "check/report.h"

/* Reads only: what changes something is a comment. Valid on PostgreSQL 13 to 18. */
static const char sql[] =
	"-- For a server that cannot be reached as a process. Run as a superuser, or as a member\n"
	"-- of pg_monitor; paste into psql. Nothing here changes anything.\n"
	"\n"
	"-- Does each connection wait for a lookup, and who shows the name?\n"
	"SELECT name, setting, source, pending_restart\n"
	"  FROM pg_settings\n"
	" WHERE name IN ('log_hostname', 'log_line_prefix', 'log_connections', 'log_disconnections',\n"
	"                'log_destination', 'update_process_title', 'authentication_timeout',\n"
	"                'pre_auth_delay', 'session_preload_libraries', 'shared_preload_libraries')\n"
	" ORDER BY name;\n"
	"\n"
	"-- Rules with host names, which make lookups of their own (superusers only).\n"
	"SELECT line_number, type, address, auth_method\n"
	"  FROM pg_hba_file_rules\n"
	" WHERE netmask IS NULL AND address NOT IN ('all', 'samehost', 'samenet')\n"
	" ORDER BY line_number;\n"
	"\n"
	"-- Who is connected, under which name. Names are not verified by the server.\n"
	"SELECT client_addr, client_hostname, count(*)\n"
	"  FROM pg_stat_activity\n"
	" WHERE client_addr IS NOT NULL\n"
	" GROUP BY client_addr, client_hostname\n"
	" ORDER BY count(*) DESC\n"
	" LIMIT 20;\n"
	"\n"
	"-- To switch it off without a restart; connections that wait already wait on:\n"
	"--   ALTER SYSTEM SET log_hostname = off;\n"
	"--   SELECT pg_reload_conf();\n"
	"-- Patroni:          patronictl edit-config -p log_hostname=off\n"
	"-- Managed services: log_hostname in the parameter group or flags\n";

int report_sql(FILE *out)
{
	errno = EIO;
	return fputs(sql, out) < 0 || fflush(out) ? -errno : 0;
}
