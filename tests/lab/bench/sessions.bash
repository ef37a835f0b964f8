# shellcheck shell=bash
# Established sessions: queries, and the two things on them that do meet a probe.

readonly sessions=8

# queries NAME TRANSACTIONS: as many a session, over eight sessions that stay.
queries() {
	bench_client "$1" -S -c "$sessions" -j 2 -t "$2"
}

# runs_of COMMAND...: uprobe program runs while it ran.
runs_of() {
	local before
	before=$(lab_trace_runs)
	"$@"
	echo $(($(lab_trace_runs) - before))
}

# Sessions are the same in number both times, so what is left is the queries'.
runs_per_query() {
	local few many
	few=$(runs_of queries "$1" 1)
	many=$(runs_of queries "$1" 1001)
	calc "($many - $few) / (1000 * $sessions)" %.4f
}

# rates TRACED OTHER PAIRS: queries a second of both, a line a pair.
rates() {
	local i=0 name rate=()
	while ((i++ < $3)); do
		for name in $( ((i % 2)) && echo "$1 $2" || echo "$2 $1"); do
			queries "$name" "$transactions"
			if [[ $name == "$1" ]]; then rate[0]=$(reported tps); else rate[1]=$(reported tps); fi
		done
		echo "${rate[@]}"
	done
}

# timed_ms NAME SQL: what one statement takes, over one TCP connection.
timed_ms() {
	on "$1" 1 psql -XAtq -c '\timing on' -c "$2" | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p'
}

# added_us SQL HITS: what a hit adds to the statement on the traced server; the median over some turns.
added_us() {
	local i=0 traced other
	while ((i++ < 7)); do
		traced=$(timed_ms pg15a "$1")
		other=$(timed_ms pg15b "$1")
		calc "($traced - $other) * 1000 / $2"
		echo
	done | median %.2f
}

# loop COUNT STATEMENT
loop() {
	echo "DO \$\$ BEGIN FOR i IN 1..$1 LOOP $2 END LOOP; END \$\$"
}

# sessions_hold NAME COUNT: idle sessions over TCP, until sessions_release.
sessions_hold() {
	echo 'SELECT pg_sleep(3600);' >"$LAB_DIR/sleep.sql"
	on "$1" 2 pgbench -n -c "$2" -T 3600 -f "$LAB_DIR/sleep.sql" >/dev/null 2>&1 3>&- &
	wait_for 60 sessions_held "$1" "$2"
}

sessions_held() {
	(($(sql "$1" -c "SELECT count(*) FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'") >= $2))
}

sessions_release() {
	sql "$1" -c "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE query ~ '^SELECT pg_sleep'" >/dev/null
	server_settle "$1"
}

part_sessions() {
	local name ratio rows=10 n=2000
	lab_say 'established sessions'
	for name in pg15a pg15b; do on "$name" 1 pgbench -i -q postgres >/dev/null 2>&1; done
	tool_start pg15b pgdnstrace 15
	rates pg15b pg15a $((pairs / 2)) >"$LAB_DIR/rates"
	tool_stop pg15b pgdnstrace 15
	lab_trace_start -q -p "$(lab_pg_pid pg15a)"
	rates pg15a pg15b $((pairs - pairs / 2)) >>"$LAB_DIR/rates"
	read -ra ratio < <(awk '{ print $1 / $2 }' "$LAB_DIR/rates" | median_ci)
	head_line "Established sessions (PostgreSQL 15, pgbench -S, $sessions sessions, $pairs pairs)"
	row 'queries/s, traced : untraced' "${ratio[0]}" "[${ratio[1]}, ${ratio[2]}]"
	row 'queries/s, untraced' "$(awk '{ print $2 }' "$LAB_DIR/rates" | median %.0f)"
	for name in pg15a pg15b; do sessions_hold "$name" "$rows"; done
	row 'a TCP row of pg_stat_activity, us more' \
		"$(added_us "$(loop "$n" 'PERFORM count(*) FROM pg_stat_activity;')" $((n * (rows + 1))))" 'two hits'
	row 'a caught error, us more' "$(added_us "$(loop 10000 \
		'BEGIN PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN NULL; END;')" 10000)" 'one hit'
	for name in pg15a pg15b; do sessions_release "$name"; done
	lab_bpf_stats
	row 'uprobe program runs per query' "$(runs_per_query pg15a)"
	lab_bpf_stats_restore
	lab_trace_stop INT
}
