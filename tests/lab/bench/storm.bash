# shellcheck shell=bash
# Reconnecting as fast as the machine allows: what is told of what was made.

# sessions_made NAME: the server's own count of the sessions of database storm.
sessions_made() {
	sql "$1" -c "SELECT sessions FROM pg_stat_database WHERE datname = 'storm'"
}

# storm TITLE SECONDS PGBENCH_OPTION...: told are the ready connections of that database.
storm() {
	local title=$1 seconds=$2 before made pid ticks from trace=$LAB_DIR/storm.jsonl
	shift 2
	lab_say "$title"
	rm -f "$trace"
	lab_trace_start --text -o "$trace" -p "$(lab_pg_pid pg15a)"
	[[ -z ${hang:-} ]] || hang_hold "$hang"
	before=$(sessions_made pg15a)
	pid=$(lab_trace_pid)
	ticks=$(cpu_ticks "$pid") from=$(now_us)
	PGDATABASE=storm bench_client pg15a -C -T "$seconds" -f "$LAB_DIR/select.sql" "$@"
	ticks=$(($(cpu_ticks "$pid") - ticks)) from=$(($(now_us) - from))
	[[ -z ${hang:-} ]] || hanging=$(hang_count)
	storm_memory=$(memory_kb "$pid" VmRSS)
	[[ -z ${hang:-} ]] || hang_release
	server_settle pg15a
	wait_for 20 sessions_settled pg15a
	lab_trace_stop INT
	made=$(($(sessions_made pg15a) - before))
	storm_rows "$title" "$made" "$trace" "$(calc "$ticks * 10000 * 100 / $from" %.2f)"
}

# Statistics arrive some time after the session's end.
sessions_settled() {
	local before
	before=$(sessions_made "$1")
	sleep 1
	[[ $(sessions_made "$1") == "$before" ]]
}

storm_rows() {
	head_line "$1"
	row 'connections/s' "$(reported tps | cut -d . -f 1)"
	row "made (the server's count of sessions)" "$2"
	row 'told' "$(lab_trace_count "$3" '.outcome == "ready" and .database == "storm"')"
	row 'lost' "$(lab_trace_line "$3" end .lost)"
	[[ -z ${hang:-} ]] || row 'hanging in DNS at the end' "$hanging" 'when the storm ended'
	row 'pgdnstrace: resident memory, MB' "$(calc "$storm_memory / 1024" %.1f)"
	row 'pgdnstrace: CPU, % of a core' "$4" 'with -o, text view'
}

# hang_hold COUNT: as many connections of client 9, whose name server does not answer. One process holds all.
hang_hold() {
	lab_dns_start >/dev/null
	lab_dns drop@'9[.]0[.]42[.]10[.]in-addr'
	lab_resolver 'nameserver 127.0.0.1' 'options timeout:30 attempts:3'
	lab_pg_set pg15a 'log_hostname = on'
	# shellcheck disable=SC2016 # expanded by the inner shell
	lab_in bash -c 'for ((i = 0; i < $0; i++)); do exec {fd}<>"/dev/tcp/$1/5432"; done; exec sleep 600' \
		"$1" "$(lab_server 9)" >/dev/null 2>&1 3>&- &
	hang_pid=$!
	wait_for 60 hang_complete "$1"
}

hang_complete() {
	(($(hang_count) >= $1))
}

# Backends in the lookup still carry the postmaster's own title.
hang_pids() {
	local children pid line
	read -ra children <"/proc/$(lab_pg_pid pg15a)/task/$(lab_pg_pid pg15a)/children"
	for pid in "${children[@]}"; do
		{ read -rd '' line <"/proc/$pid/cmdline"; } 2>/dev/null || continue
		[[ $line == postgres:* ]] || echo "$pid"
	done
}

hang_count() {
	hang_pids | wc -l
}

hang_release() {
	lab_pg_set pg15a 'log_hostname = off'
	end_background "$hang_pid"
	hang_pids | xargs -r kill -TERM 2>/dev/null || true
	lab_resolver
}

part_storm() {
	local hang=''
	sql pg15a -c 'CREATE DATABASE storm'
	storm "300 connections/s for $((storm_s / 3))s" $((storm_s / 3)) -c 8 -R 300
	storm "64 clients at the full rate for ${storm_s}s" "$storm_s" -c 64 -j 2
	hang=500
	storm "The same while 500 connections hang in DNS" "$storm_s" -c 64 -j 2
}
