# shellcheck shell=bash
# Connection time and CPU time per connection, traced against untraced, in interleaved pairs. In half
# of the pairs the roles of the two clusters are changed, so that no difference of theirs stays.

# block NAME COUNT: COUNT connections one after the other. Leaves block_ms, the mean time of a
# connection as its client saw it, and block_ticks, the CPU time of the server.
block() {
	local pid before
	pid=$(lab_pg_pid "$1")
	before=$(family_ticks "$pid")
	bench_client "$1" -C -c 1 -t "$2" -f "$LAB_DIR/select.sql"
	server_settle "$1"
	block_ms=$(reported 'average connection time')
	block_ticks=$(($(family_ticks "$pid") - before))
}

# pair TRACED OTHER COUNT ORDER: one line: both times, both CPU times.
pair() {
	local name ms=() ticks=()
	for name in $( (($4 % 2)) && echo "$1 $2" || echo "$2 $1"); do
		block "$name" "$3"
		if [[ $name == "$1" ]]; then ms[0]=$block_ms ticks[0]=$block_ticks
		else ms[1]=$block_ms ticks[1]=$block_ticks; fi
	done
	echo "${ms[@]} ${ticks[@]}"
}

# half TOOL VERSION TRACED OTHER PAIRS COUNT: the tool stays attached all the while.
half() {
	local i=0 before=0 after=0
	tool_start "$3" "$1" "$2" || return 1
	block "$3" 10
	block "$4" 10
	[[ -z $tool_pid ]] || before=$(tool_ticks)
	while ((i++ < $5)); do pair "$3" "$4" "$6" "$i"; done >>"$LAB_DIR/pairs"
	[[ -z $tool_pid ]] || after=$(tool_ticks)
	tool_used=$((tool_used + after - before))
	tool_stop "$3" "$1" "$2"
}

tool_ticks() {
	cpu_ticks "$tool_pid"
}

# compare TOOL VERSION PAIRS COUNT: one line of the table.
compare() {
	local tool=$1 version=$2 pairs=$3 count=$4 time cpu
	lab_say "PostgreSQL $version, $tool: $pairs pairs of 2 x $count connections"
	: >"$LAB_DIR/pairs"
	tool_used=0
	half "$tool" "$version" "pg${version}a" "pg${version}b" $((pairs / 2)) "$count" &&
		half "$tool" "$version" "pg${version}b" "pg${version}a" $((pairs - pairs / 2)) "$count" || {
		printf '%-2s %-15s not measured: standard error says why\n' "$version" "$tool"
		return
	}
	read -ra time < <(awk '{ print $1 / $2 }' "$LAB_DIR/pairs" | median_ci)
	read -ra cpu < <(awk '$4 { print $3 / $4 }' "$LAB_DIR/pairs" | median_ci)
	printf '%-2s %-15s %5s %5s [%s, %s] %5s %s [%s, %s] %5s\n' "$version" "$tool" \
		"$(awk '{ print $2 }' "$LAB_DIR/pairs" | median %.2f)" "${time[@]}" \
		"$(cpu_ms 4 "$count")" "$(cpu_sums)" "${cpu[1]}" "${cpu[2]}" "$(tool_ms $((pairs * count)))"
}

# cpu_ms COLUMN COUNT: milliseconds of CPU a connection (ticks are 10 ms; pgbench makes one more).
cpu_ms() {
	awk -v c="$1" -v n="$2" '{ sum += $c } END { printf "%.2f", sum * 10 / (NR * (n + 1)) }' "$LAB_DIR/pairs"
}

cpu_sums() {
	awk '{ traced += $3; other += $4 } END { printf "%.3f", traced / other }' "$LAB_DIR/pairs"
}

tool_ms() {
	if [[ -z $tool_pid ]]; then echo -; else calc "$tool_used * 10 / $1" %.2f; fi
}

part_connections() {
	local tool
	head_line "Connection time and server CPU, traced : untraced ($pairs pairs a line, TCP, trust)"
	printf '%-18s %5s %-20s %5s %-20s %5s\n' '' ms 'ratio [95 %]' 'CPU' 'ratio [95 %]' tool
	for tool in none pgdnstrace 'pgdnstrace -o' bpftrace; do compare "$tool" 15 "$pairs" "$each"; done
	compare log_connections 15 "$pairs" "$each"
	compare 'strace -f' 15 "$pairs" $((each / 3))
	for tool in none pgdnstrace bpftrace log_connections; do compare "$tool" 18 "$pairs" "$each"; done
	cat <<-END
	  none: two untraced servers, to show the noise. ms: median connection time,
	  untraced. CPU: ms of the server's CPU a connection, untraced; its ratio is of
	  the sums, the interval that of the pairs' median.
	  tool: ms of CPU of the tool itself a connection.
	END
}
