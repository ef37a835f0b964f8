# shellcheck shell=bash
# The server's memory: a uprobe gives each process that has the file mapped a private copy of its page.

readonly idle=300

# code_pages NAME: private pages of code, of the executable and libraries, in all its backends: "sum count".
code_pages() {
	local pids
	pids=$(<"/proc/$(lab_pg_pid "$1")/task/$(lab_pg_pid "$1")/children")
	# shellcheck disable=SC2046,SC2086 # a file a word
	cat $(printf '/proc/%s/smaps ' $pids) 2>/dev/null | awk -v count="$(wc -w <<<"$pids")" '
		/^[0-9a-f]+-[0-9a-f]+ / { code = $2 ~ /x/ && $6 ~ /^\// }
		code && $1 == "Anonymous:" { kb += $2 }
		END { print kb + 0, count }'
}

part_memory() {
	local before during after late pid
	lab_say 'memory of idle sessions'
	sessions_hold pg15a "$idle"
	before=$(code_pages pg15a)
	lab_trace_start -q -p "$(lab_pg_pid pg15a)"
	pid=$(lab_trace_pid)
	during=$(code_pages pg15a)
	head_line "Memory of the server, $idle idle sessions (PostgreSQL 15)"
	row 'private code pages before, kB in all' "${before% *}"
	row 'while traced, kB in all' "${during% *}" 'older than the tracer'
	row 'the same a session, kB' "$(calc "(${during% *} - ${before% *}) / ${during#* }" %.1f)"
	lab_trace_stop INT
	after=$(code_pages pg15a)
	row 'after the tracer, kB in all' "${after% *}" 'until sessions end'
	sessions_release pg15a
	lab_trace_start -q -p "$(lab_pg_pid pg15a)"
	sessions_hold pg15a "$idle"
	row 'begun while traced, kB of their own' "$(own_pages pg15a)" 'the rest is shared'
	lab_trace_stop INT
	sessions_release pg15a
}

# own_pages NAME: the same, but what a process shares with the postmaster left out.
own_pages() {
	local pids
	pids=$(<"/proc/$(lab_pg_pid "$1")/task/$(lab_pg_pid "$1")/children")
	# shellcheck disable=SC2046,SC2086 # a file a word
	cat $(printf '/proc/%s/smaps ' $pids) 2>/dev/null | awk '
		/^[0-9a-f]+-[0-9a-f]+ / { code = $2 ~ /x/ && $6 ~ /^\// }
		code && $1 == "Private_Dirty:" { kb += $2 }
		END { print kb + 0 }'
}
