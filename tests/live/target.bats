# Which server is traced, how a wrong choice is refused, and what is said of the right one.
# shellcheck disable=SC2154 # stderr, stderr_lines and output are set by run

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_pg_create main log_hostname=on "cluster_name='main'" "log_timezone='Europe/Berlin'"
	lab_pg_start main
	# searched for by its port, among all servers of the machine
	export SECOND_PORT=$((20000 + RANDOM % 10000))
	LAB_PORT=$SECOND_PORT lab_pg_create second
	lab_pg_start second
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
}

teardown() {
	[[ -z ${stand_in:-} ]] || kill "$stand_in" 2>/dev/null || true
}

tracer() {
	"$LAB_ROOT/pgdnstrace" "$@"
}

# start_line FILTER ARGUMENT...: what a jq FILTER says of a short trace's first line.
start_line() {
	local filter=$1
	shift
	tracer -q -o - -d 0.1 "$@" 2>/dev/null | jq -r "select(.type == \"start\") | $filter"
}

# refused CODE ARGUMENT...: the tracer ends with CODE and a single line, which is left in $stderr.
refused() {
	local code=$1
	shift
	run --separate-stderr -"$code" tracer -q "$@"
	[ "$output" = '' ]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

# own_server NAME [OLD NEW]: a copy of the server's executable with the symbol OLD renamed, and
# a cluster whose server runs it. Names are of one length, and calls in the file go by address.
own_server() {
	local name=$1 real dir=$LAB_DIR/$1.tree
	real=$(lab_pg_bin)
	mkdir -p "$dir$real" "$dir/usr/share"
	cp "$real"/{postgres,pg_ctl} "$dir$real"
	ln -s "${real%/bin}/lib" "$dir${real%/bin}/lib"
	ln -s /usr/share/postgresql "$dir/usr/share/postgresql"
	(($# == 1)) || sed -i "s/\\x00$2\\x00/\\x00$3\\x00/g" "$dir$real/postgres"
	LAB_PORT=5440 lab_pg_create "$name"
	lab_pg_run "$name" "$dir$real/pg_ctl" -w -D "$LAB_DIR/$name/data" -l "$LAB_DIR/$name/log" \
		start >/dev/null 3>&-
}

@test "the first line of a trace says which server it is" {
	pid=$(lab_pg_pid main)
	line=$(start_line '[.postmaster, .port, .cluster_name, .time_zone, .data_directory, .server_version, .host,
		.kernel, .container, .settings.log_hostname, .settings.log_line_prefix]
		| map(tostring) | join("|")' -p "$pid")
	version=$(lab_psql main -c 'SHOW server_version' | cut -d' ' -f1)
	[ "$line" = "$pid|5432|main|Europe/Berlin|$LAB_DIR/main/data|$version|$(uname -n)|$(uname -r)|null|true|%m [%p] " ]
}

@test "the resolver is the one of the server's own files, not of the tracer's" {
	lab_resolver 'nameserver 10.9.8.7' 'search lab.example' 'options timeout:1 attempts:4 rotate'
	[ "$(start_line '.resolver | [.hosts[], .nameservers[], .timeout_s, .attempts, .rotate] | @csv' \
		-p "$(lab_pg_pid main)")" = '"files","dns","10.9.8.7",1,4,true' ]
	lab_resolver
}

@test "a child's PID is refused with its postmaster's" {
	pid=$(lab_pg_pid main)
	child=$(cut -d' ' -f1 "/proc/$pid/task/$pid/children")
	refused 4 -p "$child"
	[[ $stderr == *"$child is a child of postmaster $pid"*"-p $pid" ]]
}

@test "a port given as a PID is refused with the PID of who listens there" {
	pid=$(lab_pg_pid second)
	refused 4 -p "$SECOND_PORT"
	[[ $stderr == *"$SECOND_PORT is not a postmaster's PID but the port of postmaster $pid: use -p $pid or --port $SECOND_PORT" ]]
}

@test "the PID of another program is refused with its name" {
	sleep infinity 3>&- &
	stand_in=$!
	refused 4 -p "$stand_in"
	[[ $stderr == *"process $stand_in is sleep, not a PostgreSQL postmaster"* ]]
}

@test "a number that is no process is refused" {
	sleep 0 &
	gone=$!
	wait "$gone"
	refused 4 -p "$gone"
	[[ $stderr == *"there is no process $gone"* ]]
}

@test "a data directory finds its server, by another name too" {
	pid=$(lab_pg_pid main)
	ln -s main/data "$LAB_DIR/link"
	[ "$(start_line .postmaster -D "$LAB_DIR/link/")" = "$pid" ]
}

@test "a data directory without a server is refused" {
	refused 4 -D "$LAB_DIR"
	[[ $stderr == *'there is no postmaster.pid'* ]]
	refused 4 -D "$LAB_DIR/nowhere"
	[[ $stderr == *'No such file or directory'* ]]
}

@test "a postmaster.pid that is no file does not hold the tracer up" {
	mkdir "$BATS_TEST_TMPDIR/fifo"
	mkfifo "$BATS_TEST_TMPDIR/fifo/postmaster.pid"
	run -4 timeout 20 "$LAB_ROOT/pgdnstrace" -D "$BATS_TEST_TMPDIR/fifo"
}

@test "a postmaster.pid that a dead server left is not believed" {
	mkdir -p "$LAB_DIR/stale"
	lab_pg_pid main >"$LAB_DIR/stale/postmaster.pid"
	refused 4 -D "$LAB_DIR/stale"
	[[ $stderr == *"postmaster.pid names $(lab_pg_pid main), which is left over"* ]]
}

@test "a port finds its server, and one that nobody has is refused" {
	[ "$(start_line .postmaster --port "$SECOND_PORT")" = "$(lab_pg_pid second)" ]
	refused 4 --port 1
	[[ $stderr == *'no postmaster has port 1 '* ]]
}

@test "where several run they are listed and one has to be named" {
	run --separate-stderr -2 tracer -q
	[ "$output" = '' ]
	[[ $stderr == *'more than one postmaster runs'* ]]
	[[ $stderr =~ $(lab_pg_pid main)\ +5432\ +[0-9.]+\ +main\ +$LAB_DIR/main/data\ +- ]]
	[[ $stderr =~ $(lab_pg_pid second)\ +$SECOND_PORT\ +[0-9.]+\ +-\ +$LAB_DIR/second/data ]]
}

@test "a user who is not root is told so" {
	run --separate-stderr -3 setpriv --reuid=nobody --regid=nogroup --clear-groups \
		"$LAB_ROOT/pgdnstrace" -p "$(lab_pg_pid main)"
	[[ $stderr == *'run pgdnstrace as root'* ]]
	run --separate-stderr -3 setpriv --reuid=postgres --regid=postgres --clear-groups \
		"$LAB_ROOT/pgdnstrace" -p "$(lab_pg_pid main)"
	[[ $stderr == *CAP_BPF*'run pgdnstrace as root'* ]]
}

@test "a kernel without its types is told of, and where else they may be" {
	refused 3 -p "$(lab_pg_pid main)" --btf /nonexistent/vmlinux
	[[ $stderr == *'/nonexistent/vmlinux (No such file or directory)'* ]]
	refused 3 -p "$(lab_pg_pid main)" --btf /etc/passwd
	[[ $stderr == *'/etc/passwd (no BTF in it)'* ]]
}

@test "without pg_getnameinfo_all nothing is attached and the symbol is named" {
	own_server mute pg_getnameinfo_all pg_getnameinfo_not
	refused 3 -D "$LAB_DIR/mute/data"
	[[ $stderr == *"pg_getnameinfo_all is not in $LAB_DIR/mute.tree"*hostname* ]]
	lab_pg_stop mute
}

@test "without another function the trace goes on and names the phase that is missing" {
	own_server hazy InitProcess InitProcexx
	run --separate-stderr -0 tracer -q -o - -d 0.1 -D "$LAB_DIR/hazy/data"
	[[ $stderr == *InitProcess*join* ]]
	[ "$(jq -c 'select(.type == "start") | .missing_phases' <<<"$output")" = '["join"]' ]
	lab_pg_stop hazy
}

@test "a server whose executable was replaced on disk is traced on" {
	own_server upgraded
	exe=$LAB_DIR/upgraded.tree$(lab_pg_bin)/postgres
	cp "$exe" "$exe.new"
	mv "$exe.new" "$exe"
	pid=$(lab_pg_pid upgraded)
	[[ $(readlink "/proc/$pid/exe") == *'postgres (deleted)' ]]
	lab_trace_start -q -o "$LAB_DIR/upgraded.jsonl" -p "$pid"
	for _ in 1 2 3; do LAB_PORT=5440 lab_psql upgraded -c 'SELECT 1' >/dev/null; done
	lab_trace_wait_conns "$LAB_DIR/upgraded.jsonl" 3
	lab_trace_stop
	[ "$(lab_trace_count "$LAB_DIR/upgraded.jsonl" '.outcome == "ready"')" -eq 3 ]
	lab_pg_stop upgraded
}

standalone_pid() {
	pgrep -f "^[^ ]*postgres --single -D $LAB_DIR/alone/data"
}

@test "a standalone backend is no postmaster" {
	LAB_PORT=5440 lab_pg_create alone
	mkfifo "$LAB_DIR/alone.in"
	lab_pg_run alone postgres --single -D "$LAB_DIR/alone/data" postgres \
		<>"$LAB_DIR/alone.in" >"$LAB_DIR/alone.out" 2>&1 3>&- &
	wait_for 10 grep -q 'backend>' "$LAB_DIR/alone.out"
	stand_in=$(standalone_pid)
	refused 4 -p "$stand_in"
	[[ $stderr == *"process $stand_in runs postgres but is not a postmaster"* ]]
	run --separate-stderr -2 tracer
	[[ $stderr != *"$LAB_DIR/alone/data"* ]]
}

# The postmaster is the only child of the unshare that made its namespaces.
inner_pid() {
	cut -d' ' -f1 "/proc/$1/task/$1/children"
}

inner_ready() {
	grep -q 'ready to accept' "$LAB_DIR/inner.log"
}

@test "a server in other user, PID, network, mount and UTS namespaces is found and described" {
	lab_pg_create inner "cluster_name='inside'"
	# its postmaster.pid will say 1: nobody but this test may stop it
	rm "$LAB_DIR/inner.cluster"
	# shellcheck disable=SC2016 # expanded by the inner shell
	setpriv --reuid=postgres --regid=postgres --init-groups \
		unshare --user --map-current-user --keep-caps --pid --fork --mount-proc --net --uts \
		--kill-child sh -c 'hostname inner.example; exec "$0"/postgres -D "$1"' \
		"$(lab_pg_bin)" "$LAB_DIR/inner/data" >"$LAB_DIR/inner.log" 2>&1 3>&- &
	stand_in=$!
	wait_for 20 inner_ready
	pid=$(inner_pid "$stand_in")
	[ "$(head -n 1 "$LAB_DIR/inner/data/postmaster.pid")" = 1 ]
	[ "$(start_line '[.postmaster, .port, .cluster_name, .host] | @csv' -D "$LAB_DIR/inner/data")" = \
		"$pid,5432,\"inside\",\"inner.example\"" ]

	lab_trace_start -q -o "$LAB_DIR/inner.jsonl" -p "$pid"
	psql -h "$LAB_DIR/inner" -U postgres -Atc 'SELECT pg_backend_pid()' postgres >"$LAB_DIR/inner.pid"
	lab_trace_wait_conns "$LAB_DIR/inner.jsonl" 1
	lab_trace_stop
	[ "$(lab_trace_line "$LAB_DIR/inner.jsonl" conn .pid)" = "$(<"$LAB_DIR/inner.pid")" ]
	[ "$(lab_trace_line "$LAB_DIR/inner.jsonl" conn '.host_pid > .pid')" = true ]
	# its accept queue is read in its own network namespace
	[ "$(lab_trace_line "$LAB_DIR/inner.jsonl" tick .accept_queue_limit | head -n 1)" -gt 0 ]
	# main has that port too, in another one
	run --separate-stderr -2 tracer --port 5432
	[[ $stderr == *'more than one postmaster has port 5432'* ]]
	[[ $stderr =~ $pid\ +5432\ +[0-9.]+\ +inside ]]
}
