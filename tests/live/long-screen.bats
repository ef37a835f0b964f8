# A person stares at the screen for ten minutes, at 200 connections a second (LONG_S seconds).

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
	lab_pg_create long log_hostname=on
	POSTMASTER=$(lab_pg_start long)
	export POSTMASTER LONG_S=${LONG_S:-600}
}

teardown_file() {
	load ../lab/lab.bash
	term kill-server 2>/dev/null || true
	lab_end
}

setup() {
	load ../lab/lab.bash
}

term() {
	env -u TMUX LC_ALL=C.UTF-8 tmux -L "${LAB_DIR##*/}" -f /dev/null "$@" 3>&-
}

tracer() {
	pgrep -P "$(term display-message -p '#{pane_pid}')"
}

ready_count() {
	term capture-pane -p | sed -En 's/.* ([0-9]+) ready.*/\1/p'
}

# cpu_ticks PID, rss_kb PID
cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

rss_kb() {
	awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"
}

storm() {
	echo 'SELECT 1;' >"$LAB_DIR/select.sql"
	lab_client 1 pgbench -n -C -c 8 -j 1 -R 200 -T "$LONG_S" -f "$LAB_DIR/select.sql" \
		>"$LAB_DIR/pgbench.out" 2>&1 3>&-
}

attached() {
	term capture-pane -p | grep -q '^PostgreSQL'
}

@test "200 connections a second on the screen: below 3 % of a core, memory flat, none lost" {
	local pid rss_before rss ticks storm
	term new-session -d -x 120 -y 40 'bash --norc'
	term send-keys "$LAB_ROOT/pgdnstrace -p $POSTMASTER" Enter
	wait_for 20 attached
	pid=$(tracer)
	storm &
	storm=$!
	sleep "$((LONG_S * 6 / 10))" # what fills up in the first five minutes has done so
	rss_before=$(rss_kb "$pid")
	ticks=$(cpu_ticks "$pid")
	wait "$storm"
	ticks=$(($(cpu_ticks "$pid") - ticks))
	rss=$(rss_kb "$pid")
	term capture-pane -p >&3
	echo "# $(ready_count) ready, rss $rss_before to $rss kB, $ticks ticks in $((LONG_S * 4 / 10)) s" >&3
	(($(ready_count) >= LONG_S * 100))
	((rss <= rss_before + 512))
	((ticks * 100 < 3 * (LONG_S * 4 / 10) * $(getconf CLK_TCK)))
	term capture-pane -p | grep -q 'lost 0'
}
