# shellcheck shell=bash
# What one would write without pgdnstrace: the same probes and a histogram a phase, for bpftrace.

# bpftrace_phase WHERE FROM: the phase FROM ends here.
bpftrace_phase() {
	printf '%s /@mark[pid]/ { @%s = hist((nsecs - @mark[pid]) / 1000); @mark[pid] = nsecs; }\n' "$1" "$2"
}

# bpftrace_ready WHERE FROM: so does the whole.
bpftrace_ready() {
	cat <<-END
	$1 /@mark[pid]/ {
		@$2 = hist((nsecs - @mark[pid]) / 1000);
		@total = hist((nsecs - @accepted[pid]) / 1000);
		printf("record %d\\n", pid);
		delete(@mark[pid]); delete(@accepted[pid]);
	}
	END
}

# bpftrace_script EXECUTABLE POSTMASTER VERSION. The first probe is attached last.
bpftrace_script() {
	local exe=$1 pid=$2 accept=StreamConnection
	(($3 < 17)) || accept=AcceptConnection
	cat <<-END
	interval:ms:20 /!@up/ { @up = 1; printf("attached\\n"); }
	tracepoint:sock:inet_sock_set_state /args->oldstate == 3 && args->newstate == 1/ {
		@handshake[args->dport, args->sport] = nsecs; }
	uretprobe:$exe:$accept /pid == $pid/ { @accept = nsecs; }
	tracepoint:sched:sched_process_fork /args->parent_pid == $pid && @accept/ {
		@fork = hist((nsecs - @accept) / 1000);
		@mark[args->child_pid] = nsecs; @accepted[args->child_pid] = @accept; }
	tracepoint:sched:sched_process_exit /@mark[pid]/ { delete(@mark[pid]); delete(@accepted[pid]); }
	uprobe:$exe:secure_open_server /@mark[pid]/ { @tls_from[pid] = nsecs; }
	uretprobe:$exe:secure_open_server /@tls_from[pid]/ {
		@tls = hist((nsecs - @tls_from[pid]) / 1000); delete(@tls_from[pid]); }
	uprobe:$exe:InitPostgres /@mark[pid]/ { @databases[str(arg0)] = count(); @users[str(arg2)] = count(); }
	uprobe:$exe:errcode /@mark[pid]/ { @errors[arg0] = count(); }
	END
	bpftrace_phase "uprobe:$exe:pg_getnameinfo_all" child
	bpftrace_phase "uretprobe:$exe:pg_getnameinfo_all" hostname
	bpftrace_phase "uprobe:$exe:InitProcess" startup
	bpftrace_phase "uprobe:$exe:ClientAuthentication" join
	bpftrace_phase "uretprobe:$exe:ClientAuthentication" auth
	if (($3 < 17)); then
		bpftrace_ready "uprobe:$exe:pgstat_report_connect" prepare
	else
		bpftrace_phase "uprobe:$exe:EventTriggerOnLogin" prepare
		bpftrace_ready "uretprobe:$exe:EventTriggerOnLogin" login
	fi
}

# The command, to which a script is added. It needs tracefs, which not every host mounts.
bpftrace_command=(unshare --mount sh -c
	'[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
	exec bpftrace -B line "$0"')

# bpftrace_file NAME VERSION: the script of a cluster in a file; prints its path.
bpftrace_file() {
	local name=$1
	bpftrace_script "$(lab_pg_home "$name")/postgres" "$(lab_pg_pid "$name")" "$2" >"$LAB_DIR/$name.bt"
	echo "$LAB_DIR/$name.bt"
}
