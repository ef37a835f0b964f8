# PostgreSQL 18 measures its connections itself (log_connections = setup_durations). What the tracer
# tells of each connection is held against the server's own log line.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	LAB_PG_ROOT=$("$LAB_HOME/pgroot" 18) lab_pg_create main log_connections=setup_durations
	lab_pg_start main
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	trace=$LAB_DIR/trace.jsonl
	rm -f "$trace"
}

teardown() {
	lab_trace_kill
}

# trace_reconnects CLIENTS COUNT: a trace of pgbench's connections.
trace_reconnects() {
	: >"$(lab_pg_home main)/log"
	lab_trace_start -D "$(lab_pg_home main)/data" -v -q -o "$trace"
	lab_reconnect 7 "$1" "$2"
	lab_trace_wait_conns "$trace" $(($1 * $2 + 1))
	lab_trace_stop
}

# One line a connection: PID, then the server's total, fork and authentication in us.
server_says() {
	sed -nE 's/.*\[([0-9]+)\].*setup total=([0-9.]+) ms, fork=([0-9.]+) ms, authentication=([0-9.]+) ms.*/\1 \2 \3 \4/p' \
		"$(lab_pg_home main)/log" | awk '{ print $1, 1000 * $2, 1000 * $3, 1000 * $4 }' | sort -k 1,1
}

# PID, then total, fork, fork with child, and auth.
we_say() {
	jq -r 'select(.type == "conn" and .outcome == "ready") | "\(.pid) \(.total_us) \(.phases_us.fork)" +
		" \(.phases_us.fork + .phases_us.child) \(.phases_us.auth)"' "$trace" | sort -k 1,1
}

# The gaps of total and of authentication, and whether total, authentication and fork are in reach.
gaps() {
	join <(server_says) <(we_say) | awk '
		function abs(x) { return x < 0 ? -x : x }
		function reach(us, value) { return us > 0.02 * value ? us : 0.02 * value }
		{
			total = abs($2 - $5); auth = abs($4 - $8)
			print total, auth, (total <= reach(150, $2)), (auth <= reach(30, $4)), ($3 >= $6 - 1 && $3 <= $7 + 30)
		}'
}

# median COLUMN: of the file's numbers.
median() {
	cut -d ' ' -f "$1" "$LAB_DIR/gaps" | sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

# share COLUMN: per mille of the lines that are in reach.
share() {
	awk -v column="$1" '{ sum += $column } END { print int(1000 * sum / NR) }' "$LAB_DIR/gaps"
}

# at_most LIMIT VALUE, in numbers with a fraction.
at_most() {
	awk -v limit="$1" -v value="$2" 'BEGIN { exit !(value <= limit) }'
}

# agrees COUNT: so many pairs, and the design's figures. Those out of reach were preempted between two
# readings of the clock.
agrees() {
	gaps >"$LAB_DIR/gaps"
	echo "# median gap: total $(median 1) us, auth $(median 2) us; in reach, of 1000: total $(share 3)," \
		"auth $(share 4), fork $(share 5)" >&3
	lab_same "$1" "$(wc -l <"$LAB_DIR/gaps")"
	at_most 100 "$(median 1)"
	at_most 15 "$(median 2)"
	(($(share 3) >= 900))
	(($(share 4) >= 980))
	(($(share 5) >= 980))
}

@test "200 connections of one client agree with the server's own timings" {
	trace_reconnects 1 200
	agrees 201
}

@test "400 connections of four clients agree with the server's own timings" {
	trace_reconnects 4 100
	agrees 401
}

@test "the trace holds the server's fork and authentication as its log has them" {
	trace_reconnects 1 20
	server_says | awk '{ print $1, $3, $4 }' >"$LAB_DIR/theirs"
	jq -r 'select(.pg_us) | "\(.pid) \(.pg_us.fork) \(.pg_us.authentication)"' "$trace" |
		sort -k 1,1 >"$LAB_DIR/ours"
	lab_same 21 "$(wc -l <"$LAB_DIR/ours")"
	diff "$LAB_DIR/ours" "$LAB_DIR/theirs"
	grep "PostgreSQL's own timings of 21 connections" "$LAB_DIR/trace.err"
}
