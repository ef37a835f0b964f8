# What a package upgrade does to a running server: its files are deleted or replaced under it, and it
# is restarted with others.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
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
	lab_pg_destroy_all
	[[ -z ${root:-} ]] || rm -rf --one-file-system "$root"
}

# replace FILE: by a copy under the same name, as dpkg does it.
replace() {
	cp -p "$1" "$1.new"
	mv "$1.new" "$1"
}

@test "a server whose executable is gone and whose libc was replaced is traced in full" {
	local base lib
	base=$("$LAB_HOME/pgroot" 15)
	root=$(mktemp -d "$LAB_CACHE/upgrade.XXXXXX") # next to it: its files are linked, not copied
	cp -al "$base/." "$root"
	LAB_PG_ROOT=$root lab_pg_create old log_hostname=on
	lab_pg_hba old 'host all all client-7.example trust'
	postmaster=$(lab_pg_start old)
	for lib in "$root"/usr/lib/x86_64-linux-gnu/libc.so.6 "$root"/usr/lib/x86_64-linux-gnu/libldap*.so.2; do
		[[ ! -f $lib || -L $lib ]] || replace "$lib"
	done
	rm "$root$(lab_pg_bin "$root")/postgres"

	lab_trace_start -p "$postmaster" -q -o "$trace"
	lab_client 7 psql -c 'SELECT 1'
	run ! lab_client 8 psql -c 'SELECT 1'
	lab_trace_wait_conns "$trace" 2
	lab_trace_stop
	lab_same '2 1 1' "$(lab_trace_line "$trace" end '"\(.connections) \(.ready) \(.failed)"')"
	lab_trace_adds_up "$trace"
	lab_same 0 "$(lab_trace_line "$trace" start '(.missing_phases | length) + (.missing_lookups | length)')"
	# libc's getaddrinfo is probed in the file that the server has mapped
	lab_same client-7.example "$(jq -r 'select(.client == "10.42.0.7") | .lookups[] |
		select(.kind == "forward") | .name' "$trace")"
}

tracing() {
	(($(grep -c tracing "$LAB_DIR/trace.err") == $1))
}

@test "--follow goes on with the next postmaster, which runs another executable" {
	lab_pg_create main
	lab_pg_own_executable main
	lab_pg_start main >/dev/null
	lab_trace_start -D "$(lab_pg_home main)/data" --follow -q -o "$trace"
	lab_reconnect 7 1 4

	lab_pg_stop main
	wait_for 10 grep -q 'waiting for the next one' "$LAB_DIR/trace.err"
	replace "$(lab_pg_home main)/postgres"
	lab_pg_start main >/dev/null
	wait_for 20 tracing 2
	lab_reconnect 8 1 6
	lab_trace_wait_conns "$trace" 12
	lab_trace_stop

	lab_same 'start end start end' "$(jq -rs '[.[] | select(.type == "start" or .type == "end").type] | join(" ")' "$trace")"
	lab_same '5 server_ended 7 interrupted' \
		"$(lab_trace_line "$trace" end '"\(.connections) \(.reason)"' | paste -sd ' ')"
	lab_trace_adds_up "$trace"
	run -0 "$LAB_ROOT/pgdnstrace" replay --text "$trace"
	[[ $output == *'12 connections: 12 ready'* ]]
	[[ $output != *'cut off'* ]]
}

@test "stopped while it waits for the next postmaster, it prints the summary and leaves a whole trace" {
	lab_pg_create main
	lab_pg_start main >/dev/null
	lab_trace_start -D "$(lab_pg_home main)/data" --follow --text -o "$trace"
	lab_reconnect 7 1 4
	lab_pg_stop main
	wait_for 10 grep -q 'waiting for the next one' "$LAB_DIR/trace.err"
	lab_trace_stop
	lab_same 'start end' "$(jq -rs '[.[] | select(.type == "start" or .type == "end").type] | join(" ")' "$trace")"
	grep -q '5 connections: 5 ready' "$LAB_DIR/trace.out"
}

@test "--follow without a data directory is refused" {
	run -2 "$LAB_ROOT/pgdnstrace" --follow -p 1
	[[ $output == *'-D DIR'* ]]
}
