# shellcheck shell=bash
# BPF programs: how often each runs for a connection, and how long, from the kernel's statistics.

# program_figures PID: "name type run_cnt run_time_ns" of each program that the process holds.
program_figures() {
	local ids
	ids=$(cat "/proc/$1/fdinfo"/* 2>/dev/null | awk '/^prog_id:/ { print $2 }' | jq -s unique)
	"$(command -v bpftool || echo /usr/sbin/bpftool)" -j prog show | jq -r --argjson ids "$ids" '.[] |
		select(.id | IN($ids[])) | "\(.name) \(.type) \(.run_cnt // 0) \(.run_time_ns // 0)"' |
		awk '{ count[$1 " " $2] += $3; time[$1 " " $2] += $4 }
			END { for (key in count) print key, count[key], time[key] }' | sort
}

# program_table CONNECTIONS: the difference of two such lists, a line a program that ran.
program_table() {
	join "$LAB_DIR/programs.before" "$LAB_DIR/programs.after" | awk -v made="$1" '
		$6 > $3 {
			runs = $6 - $3; ns = $7 - $4
			printf "  %-22s %-12s %8.2f %8.0f\n", $1, $2 == "kprobe" ? "uprobe" : "tracepoint", runs / made, ns / runs
			if ($2 == "kprobe" && $1 !~ /getaddrinfo/) hits += runs
			all += ns
		}
		END { printf "  %-35s %8.2f\n  %-35s %17.2f\n", "uprobe hits a connection", hits / made,
			"all programs, us a connection", all / made / 1000 }'
}

# Programs of one connection, on an otherwise quiet server.
programs_of() {
	local name=$1 count=$2 pid
	lab_trace_start -q -v -p "$(lab_pg_pid "$name")"
	pid=$(lab_trace_pid)
	program_figures "$pid" >"$LAB_DIR/programs.before"
	bench_client "$name" -C -c 1 -t "$count" -f "$LAB_DIR/select.sql"
	server_settle "$name"
	program_figures "$pid" >"$LAB_DIR/programs.after"
	program_table $((count + 1))
	lab_trace_stop INT
	single_stepped "$LAB_DIR/trace.err"
}

# What -v says of each probe's place.
single_stepped() {
	local stepped
	stepped=$(sed -nE 's/.*probe ([A-Za-z_]+( \(return\))?( in [^ ]*)?) at offset .*single-stepped/\1/p' "$1" |
		paste -sd ';')
	echo "  single-stepped: ${stepped:-none} of $(grep -c 'probe .* at offset' "$1") probes"
}

part_programs() {
	local version
	lab_say 'BPF programs'
	lab_bpf_stats
	for version in 15 18; do
		head_line "BPF programs, PostgreSQL $version, plain TCP connection"
		printf '  %-22s %-12s %8s %8s\n' '' '' 'runs' 'ns a run'
		programs_of "pg${version}a" "$each"
	done
	lab_bpf_stats_restore
	echo '  Tracepoints count what the whole host did meanwhile, the client included.'
}

# What a hit costs here, without any program.
part_machine() {
	local ns
	lab_say 'what a uprobe hit costs on this machine'
	gcc -O1 -o "$LAB_DIR/uprobe" "$LAB_HOME/bench/uprobe.c"
	read -ra ns < <("$LAB_DIR/uprobe")
	head_line 'A uprobe hit on this machine, without a program'
	row 'on an instruction that the kernel emulates, ns' "${ns[0]}" 'ours are'
	row 'the same and a return probe, ns' "${ns[1]}"
	row 'on one that it single-steps, ns' "${ns[2]}" 'none of ours'
}
