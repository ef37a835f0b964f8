# The verdict on a live server: names that lie, a reload under way, and the same words everywhere.
# shellcheck disable=SC2154 # output is set by run

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
	lab_pg_create main log_hostname=on log_connections=on "log_line_prefix = '%m [%p] %h '"
	lab_pg_start main
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	lab_dns
	lab_resolver
	trace=$LAB_DIR/trace-$BATS_TEST_NUMBER.jsonl
	log=$(lab_pg_home main)/log
}

trace_start() {
	lab_trace_start -q -o "$trace" -p "$(lab_pg_pid main)"
}

verdict() {
	jq -r 'select(.type == "end") | .verdict[]' "$trace"
}

# told FILTER: what a jq FILTER says of each connection told.
told() {
	lab_trace_line "$trace" conn "$1"
}

@test "the log believes a PTR that holds another address, the trace knows the client and says whose word it is" {
	trace_start
	lab_client 66 psql -Xqc 'SELECT 1' >/dev/null
	lab_trace_wait_conns "$trace" 1
	lab_trace_stop
	grep -q ' 10\.0\.0\.5 .*host=10\.0\.0\.5 port=' "$log"
	run ! grep -q '10\.42\.0\.66' "$log"
	[ "$(told '.client, .lookups[0].address, .lookups[0].name, .lookups[0].result')" = \
		$'10.42.0.66\n10.42.0.66\n10.0.0.5\nname' ]
	[[ $(verdict) == *'NAMES UNVERIFIED: The PTR record of 10.42.0.66 says "10.0.0.5", and so does the log'* ]]
	[[ $(verdict) == *'The server does not verify names'* ]]
}

@test "a name that leads to nobody is told as the name that the log has" {
	trace_start
	lab_client 67 psql -Xqc 'SELECT 1' >/dev/null
	lab_trace_wait_conns "$trace" 1
	lab_trace_stop
	grep -q 'host=elsewhere\.example port=' "$log"
	[ "$(told '.client, .lookups[0].name')" = $'10.42.0.67\nelsewhere.example' ]
	[[ $(verdict) != *'NAMES UNVERIFIED'* ]]
}

@test "the advice that is shown, pasted as it is, ends the wait, and the figures stand side by side" {
	lab_dns delay:300
	trace_start
	for _ in 1 2 3; do lab_client 1 psql -Xqc 'SELECT 1' >/dev/null; done
	lab_trace_wait_conns "$trace" 3
	# the trace still grows: a replay of it says that it was cut off
	run -1 "$LAB_ROOT/pgdnstrace" replay --text "$trace"
	# the lines of the command, without the user it asks for
	command=$(sed -n '/Now: /,/pg_reload_conf/p' <<<"$output" | sed 's/.*Now: sudo -u postgres //')
	[[ $command == *"-h $LAB_DIR/main"* ]]
	PGUSER=postgres PATH="$(lab_pg_bin):$PATH" bash -c "$command"
	wait_for 10 grep -q '"changed":{"log_hostname":false}' "$trace"
	for _ in 1 2 3; do lab_client 1 psql -Xqc 'SELECT 1' >/dev/null; done
	lab_trace_wait_conns "$trace" 6
	lab_trace_stop
	[ "$(told 'select(.lookup_count > 0) | .pid' | wc -l)" -eq 3 ]
	[[ $(verdict) =~ ^'SINCE THE RELOAD: log_hostname is off since '.*'Wait before: p50 '[0-9]{3}ms.*'(3); since: p50 '[0-9.]+ms.*'(3)' ]]
	lab_psql main -c 'ALTER SYSTEM RESET log_hostname' -c 'SELECT pg_reload_conf()' >/dev/null
}

@test "the summary and the end of the trace say the same words, and a replay says them again" {
	local words
	wait_for 10 log_hostname_on
	lab_dns refused
	lab_trace_start --text -o "$trace" -p "$(lab_pg_pid main)"
	for _ in 1 2; do lab_client 2 psql -Xqc 'SELECT 1' >/dev/null; done
	lab_trace_wait_conns "$trace" 2
	lab_trace_stop
	words=$(verdict | head -n 1)
	[[ $words == 'FAILED LOOKUPS: 2 of 2 log_hostname lookups failed (EAI_AGAIN 2)'* ]]
	[[ $(tr -s ' \n' ' ' <"$LAB_DIR/trace.out") == *"$words"* ]]
	[[ $("$LAB_ROOT/pgdnstrace" replay --text "$trace" | tr -s ' \n' ' ') == *"$words"* ]]
}

log_hostname_on() {
	[[ $("$LAB_ROOT/pgdnstrace" check --json -p "$(lab_pg_pid main)" | jq '.server.settings.log_hostname') == true ]]
}
