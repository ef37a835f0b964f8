# pgdnstrace check: what it says of the host and of a server's settings.
# shellcheck disable=SC2154 # stderr and output are set by run

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
	lab_pg_create main log_hostname=on
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
}

check() {
	"$LAB_ROOT/pgdnstrace" check "$@"
}

# The text report as one line: where it is wrapped does not matter.
told() {
	check -p "$(lab_pg_pid main)" "$@" | tr -s ' \n' ' '
}

# json FILTER ARGUMENT...: what a jq FILTER says of check --json on the main server.
json() {
	local filter=$1
	shift
	check --json -p "$(lab_pg_pid main)" "$@" | jq -c "$filter"
}

# A reload is over when the server's memory says so.
set_and_see() {
	local filter=$1
	shift
	lab_pg_set main "$@"
	wait_for 10 sees "$filter"
}

sees() {
	[[ $(json "$1") == true ]]
}

# A client that stays connected until its descriptor is closed.
hold_client() {
	lab_client "$1" psql -Xqc 'SELECT pg_sleep(30)' >/dev/null 2>&1 3>&- &
	held=$!
	wait_for 10 is_connected
}

is_connected() {
	[[ $(lab_psql main -c "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)'
		AND client_addr IS NOT NULL") == 1 ]]
}

teardown() {
	[[ -z ${held:-} ]] || kill "$held" 2>/dev/null || true
	lab_psql main -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE client_addr IS NOT NULL" >/dev/null
}

@test "where all is there it can trace, and says so in text and in JSON" {
	run -0 check -p "$(lab_pg_pid main)"
	[[ $output == 'Can it trace here?'* ]]
	[[ $output != *missing* ]]
	[ "$(awk 'length > 80' <<<"$output")" = '' ]
	[ "$(json '.can_trace')" = true ]
	[ "$(json '[.checks[].state] | unique')" = '["ok"]' ]
}

@test "a user without privileges gets exit code 3, the privileges by name, and a securityContext" {
	run -3 setpriv --reuid=nobody --regid=nogroup --clear-groups \
		"$LAB_ROOT/pgdnstrace" check -p "$(lab_pg_pid main)"
	[[ $output == *CAP_BPF*CAP_PERFMON*CAP_SYS_PTRACE* ]]
	[[ $output == *securityContext:*'add: [BPF, PERFMON, SYS_PTRACE, SYS_ADMIN]'* ]]
}

@test "without the kernel's types it cannot trace, and names the file and the option" {
	run -3 check -p "$(lab_pg_pid main)" --btf /nonexistent/vmlinux
	[[ $output == *'btf '*'missing:'*/nonexistent/vmlinux* ]]
	[ "$(json '[.checks[] | select(.state == "missing") | .name]' --btf /nonexistent/vmlinux)" = '["btf"]' ]
}

@test "a server without the one symbol that is needed cannot be traced, without others it can" {
	local dir=$LAB_DIR/tree real pid
	real=$(lab_pg_bin)
	mkdir -p "$dir$real" "$dir/usr/share"
	cp "$real"/{postgres,pg_ctl} "$dir$real"
	ln -s "${real%/bin}/lib" "$dir${real%/bin}/lib"
	ln -s /usr/share/postgresql "$dir/usr/share/postgresql"
	sed -i 's/\x00pg_getnameinfo_all\x00/\x00pg_getnameinfo_not\x00/; s/\x00InitProcess\x00/\x00InitProcexx\x00/
		s/\x00log_hostname\x00/\x00log_hostxxxx\x00/' "$dir$real/postgres"
	LAB_PORT=5440 lab_pg_create mute
	lab_pg_run mute "$dir$real/pg_ctl" -w -D "$LAB_DIR/mute/data" -l "$LAB_DIR/mute/log" start >/dev/null 3>&-
	pid=$(lab_pg_pid mute)
	run -3 check --json -p "$pid"
	[ "$(jq '.can_trace' <<<"$output")" = false ]
	jq -e '.checks[] | select(.name == "symbols" and .state == "missing" and
		(.text | test("pg_getnameinfo_all")))' <<<"$output"
	jq -e '.checks[] | select(.name == "symbols" and .state == "degraded" and
		(.text | test("InitProcess.*join")))' <<<"$output"
	jq -e '.server.settings | has("log_hostname") | not' <<<"$output"
	lab_pg_stop mute
}

@test "log_hostname on and nothing printing it is said, and who does print it otherwise" {
	set_and_see '.server.settings.name_shown_by == []' "log_line_prefix = '%m %%h [%p] '" \
		update_process_title=off log_connections=off log_disconnections=off
	[ "$(json '.server.settings.prefix_uses')" = '[]' ]
	run -0 told
	[[ $output == *'nothing that can be seen from here'* ]]
	[[ $output == *'the log does not even show the name'* ]]
	[[ $output == *'ALTER SYSTEM SET log_hostname = off;'* ]]
	set_and_see '.server.settings.name_shown_by == ["log_connections","log_disconnections","csvlog","process title"]' \
		"log_line_prefix = '%m [%p] %-10h '" log_connections=on log_disconnections=on \
		"log_destination = 'stderr,csvlog'" update_process_title=on
	[ "$(json '.server.settings.prefix_uses')" = '["%h"]' ]
}

@test "host name rules are named with file and line" {
	lab_pg_hba main 'host all all 10.0.0.0/8 trust' 'host all all app.example trust' 'host all all all trust'
	[ "$(json '.server.pg_hba.host_name_rules[] | .name, .line')" = $'"app.example"\n4' ]
	run -0 told
	[[ $output == *"app.example ($LAB_DIR/main/data/pg_hba.conf:4)"* ]]
	[[ $output == *pg_hba_file_rules* ]]
	lab_pg_hba main 'host all all all trust'
}

@test "with log_hostname off and no host names nothing is to be changed" {
	set_and_see '.server.settings.log_hostname == false' log_hostname=off
	[[ $(told) == *'Nothing to change'* ]]
	set_and_see '.server.settings.log_hostname == true' log_hostname=on
}

@test "the longest wait is the resolver's own arithmetic" {
	[ "$(json '.server.resolver.longest_wait_us')" = 10000000 ]
	lab_resolver 'nameserver 127.0.0.1' 'options timeout:1 attempts:1'
	[ "$(json '.server.resolver.longest_wait_us')" = 1000000 ]
}

@test "a measured lookup gives the name, by the server's own resolver" {
	hold_client 7
	[ "$(json '.server.measured[] | select(.address == "10.42.0.7") | .result, .name' --measure)" = \
		$'"name"\n"client-7.example"' ]
}

@test "a measured lookup takes as long as the server's would, and tells a failure" {
	hold_client 8
	lab_resolver 'nameserver 127.0.0.1' 'options timeout:1 attempts:1'
	lab_dns drop
	[ "$(json '.server.measured[] | select(.address == "10.42.0.8") | .result, .code, (.dur_us >= 1000000)' \
		--measure)" = $'"failed"\n-3\ntrue' ]
	[[ $(told --measure) == *'10.42.0.8 1.0s, failed (EAI_AGAIN)'* ]]
}

@test "includes of PostgreSQL 16 and later are read behind the server's own root" {
	local data
	LAB_PORT=5450 LAB_PG_ROOT=$("$LAB_HOME/pgroot" 18) lab_pg_create new log_hostname=on
	data=$(lab_pg_home new)/data
	mkdir "$data/hba.d"
	echo 'host all all included.example trust' >"$data/hba.d/one.conf"
	chown -R postgres: "$data/hba.d"
	lab_pg_hba new 'include_dir hba.d' 'host all all all trust'
	lab_pg_start new
	run -0 check --json -p "$(lab_pg_pid new)"
	[ "$(jq -r '.server.pg_hba.host_name_rules[] | "\(.name) \(.file)"' <<<"$output")" = \
		"included.example $LAB_DIR/new/data/hba.d/one.conf" ]
	LAB_PORT=5450 lab_psql new -f - <<<"$(check --sql)"
	lab_pg_stop new
}

@test "the queries for managed servers run, and change nothing" {
	run -0 check --sql
	run -0 lab_psql main -f - <<<"$output"
	[[ $output == *'log_hostname|on|'* ]]
}

@test "no such server is exit code 4, a wrong option 2" {
	run -4 check -p 4194303
	run -2 check --measured
	run -2 check 5017
}
